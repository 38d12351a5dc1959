//! Runs each case with a driver that violates its promise, and nothing else. The reference is the teaching driver.

use std::{
    env, fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
};

use conformance::{Case, CaseOutcome};
use driver_host::Driver;

/// Violations of `faulty_driver.c`, each with the case that detects it and a part of the message.
const VIOLATIONS: &[(&str, &str, &str)] = &[
    ("odd_source", "describe", "`version_source` is `hearsay`"),
    ("leaves_thread", "clean-close", "after the first close remains: 1 thread(s): leftover"),
    (
        "keeps_two_of_a_name",
        "clean-close",
        "after the first close remains: 2 thread(s): teach.keeper, teach.keeper",
    ),
    (
        "keeps_one_more_each_time",
        "clean-close",
        "after the second close remains: 2 thread(s): teach.keeper, teach.keeper",
    ),
    ("keeps_another_later", "clean-close", "after the second close remains: 1 thread(s): teach.later"),
    ("keeps_what_it_names_not", "clean-close", "after the first close remains: 1 thread(s): leftover"),
    ("keeps_a_nameless_thread", "describe", "kept thread ``: duplicate name, or not 1 to 15 bytes"),
    ("keeps_a_thread_of_no_such_name", "describe", "kept thread `of-16-bytes-none`: duplicate name, or not"),
    ("keeps_a_thread_by_two_names", "describe", "kept thread `one`: duplicate name, or"),
    ("leaves_descriptor", "clean-close", "after the first close remains: descriptor"),
    ("leaves_file", "clean-close", "after the first close remains: /dev/shm/liar-"),
    ("takes_unknown_options", "bad-arguments", "an unknown option was accepted"),
    ("fails_halfway", "bad-arguments", "after an unknown transport remains: descriptor"),
    (
        "fails_vaguely",
        "bad-arguments",
        "an unknown transport failed with another status than DDSMARK_BAD_ARGUMENT",
    ),
    ("takes_undeclared_types", "undeclared-refused", "a writer of the undeclared type `plain` was accepted"),
    ("promises_any_size", "too-large", "a writer larger than the transport allows was accepted"),
    ("cuts_large_samples", "too-large", "a sample larger than its writer allows was accepted"),
    ("says_nothing", "error-text", "last_error() is empty"),
    ("matches_nobody", "match", "a writer without a peer is matched with 1"),
    ("never_unmatches", "match", "the writer was closed, but its peer still counted"),
    ("times_the_open", "match-time", "but its peer was opened after"),
    ("times_the_query", "match-time", "the time of the match of the writer is that of the query"),
    ("moves_the_time", "match-time", "later, although no peer came or went, 1 since"),
    ("keeps_the_time", "match-time", "but its match ended at"),
    ("forgets_third_reader", "three-readers", "reader 3 of 3 did not receive sample 0"),
    (
        "doubles_for_second_reader",
        "three-readers",
        "at reader 2 of 3: sample 0 is duplicate or late: expected 1",
    ),
    ("forgets_third_writer", "three-writers", "sample 0 of writer 3 of 3 did not arrive"),
    ("stops_at_join", "reader-joins", "the first reader did not receive sample"),
    ("stops_at_leave", "reader-leaves", "closed: reader 1 of 3 did not receive sample 10"),
    ("counts_the_closed", "reader-leaves", "its peer still counted 3 as matched"),
    ("drops_all_at_leave", "reader-leaves", "but the writer is matched with 0"),
    ("forgets_third_reader", "wait-acked-readers", "are acknowledged, but reader 3 of 3 has 0"),
    ("acknowledges_never_to_three", "wait-acked-readers", "but they are not acknowledged within 8 s"),
    (
        "opens_only_one",
        "two-participants",
        "one failed: participant_open: a participant is already open in this process",
    ),
    ("closes_all", "two-participants", "its own reader did not receive sample 0"),
    ("separates_participants", "two-participants", "the writer is matched with 0 of 1 readers"),
    ("damages_large_samples", "delivery", "arrived with another byte at offset 62999"),
    ("loses_one", "order", "sample 4999 did not arrive"),
    ("doubles_one", "order", "sample 4999 is duplicate or late"),
    ("swaps_two", "order", "sample 5001 arrived: expected 5000"),
    ("accepts_what_it_drops", "back-pressure", "arrived: expected"),
    ("sends_what_it_refuses", "back-pressure", "is duplicate or late"),
    ("never_flushes", "flush", "0 of 10 samples arrived after the flush"),
    ("acknowledges_the_lost", "wait-acked", "all 100 samples are acknowledged, but the reader has 50"),
    ("never_acknowledges", "wait-acked", "all samples were received, but not acknowledged"),
    ("shortens_keys", "keys", "key 16909060 arrived as 4"),
    ("rounds_keys", "instances", "sample 2 with key 1 arrived with key 0"),
    ("swaps_within_an_instance", "instances", "sample 84 of instance 42 arrived after sample 85"),
    ("filters_undeclared", "content-filter", "an undeclared content filter was accepted"),
    ("filters_nothing", "content-filter", "filter `key = 3`: a sample with key 0 arrived"),
    (
        "filters_too_much",
        "content-filter",
        "filter `key BETWEEN 3 AND 5`: sample 5 with key 5 did not arrive",
    ),
    ("filters_too_little", "content-filter", "filter `key >= 8 AND key <= 9`: a sample with key 7 arrived"),
    ("forgets_history", "late-joiner", "did not receive the last sample"),
    ("takes_undeclared_loans", "loans", "a writer with undeclared loans was accepted"),
    ("lends_undeclared", "loans", "an undeclared loan was accepted"),
    ("promises_loans", "loans", "writer_loan: the driver lacks this function"),
    ("lends_any_size", "loans", "a loan larger than its writer allows was accepted"),
    ("lends_overlapping", "loans", "a write to a loan changed another loan"),
    ("never_takes_back", "loans", "no loan was available within 8 s"),
    ("publishes_nothing", "loans", "sample 0 was published, but did not arrive"),
    ("damages_loans", "loans", "sample 0 was published, but arrived changed"),
    ("keeps_one_more", "history-depth", "a reader of depth 3 received [6, 7, 8, 9] of samples 0 to 9"),
    ("ignores_deadline", "deadline", "`deadline_missed` of the reader is 0, 8 s after a deadline of 100"),
    ("counts_at_one_end", "deadline", "`deadline_missed` of the reader is 0, 8 s after a deadline of 100"),
    ("always_misses", "deadline", "`deadline_missed` of the reader is 7 without the policy"),
    ("ignores_lifespan", "lifespan", "samples [0, 1, 2] with a lifespan of 50 ms were delivered"),
    ("expires_everything", "lifespan", "fresh samples with a lifespan of 50 ms was delivered within 8 s"),
    ("ignores_time_based_filter", "time-based-filter", "of 20 samples within a separation of 60 s"),
    ("ignores_partition", "partition", "the writer is matched with 2 of 1 readers"),
    ("ignores_ownership", "ownership", "the reader received [1, 100"),
    (
        "ignores_liveliness",
        "liveliness",
        "`liveliness_lost` of the reader is 0, 8 s after a lease of 200 ms passed",
    ),
    (
        "ignores_limits",
        "reader-limit",
        "with `max_samples` 8, a reader that takes late received 60 of 60 samples",
    ),
    ("ignores_limits", "writer-limit", "a writer accepted 60 of 60 samples"),
    (
        "ignores_limits",
        "reader-instances",
        "with `max_instances` 4, a reader that takes late received 12 of 12 instances",
    ),
    ("limits_what_it_ignores", "writer-limit", "are declared as ignored, but with `max_samples` 8"),
    ("always_misses", "liveliness", "`liveliness_lost` of the reader is 7 without the policy"),
    ("always_misses", "liveliness-asserted", "of a writer is 7, although it wrote within its lease"),
    (
        "ignores_durability_service",
        "durability-service",
        "with a depth of 2, a late joiner received [0, 1, 2, 3, 4]",
    ),
    ("serves_no_history", "durability-service", "with a depth of 5, a late joiner received []"),
    ("stores_nothing", "durable-store", "opened after the writer was closed received nothing"),
    ("ignores_destination_order", "destination-order", "the samples of two writers as ["),
    ("groups_by_instance", "presentation-order", "arrived as [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]"),
    ("never_autodisposes", "autodispose", "instance was not disposed of: its samples remained"),
    ("always_autodisposes", "autodispose", "an unregistered instance was disposed of, too"),
    ("keeps_deadlines", "autodispose", "instance was not disposed of: its deadline was still missed"),
    ("ignores_reader_data_lifecycle", "autopurge", "3 of 3 samples remained for 1.2 s"),
    ("ignores_reliability", "match-reliability", "the writer is matched with 2 readers, of which 1 requests"),
    ("ignores_durability", "match-durability", "the writer is matched with 2 readers, of which 1 requests"),
    ("ignores_deadline", "match-deadline", "the writer is matched with 2 readers, of which 1 requests"),
    ("ignores_latency_budget", "match-latency-budget", "the writer is matched with 2 readers, of which 1"),
    ("ignores_liveliness", "match-liveliness", "the writer is matched with 2 readers, of which 1 requests"),
    ("ignores_ownership", "match-ownership", "the writer is matched with 2 readers, of which 1 requests"),
    ("ignores_presentation", "match-presentation", "the writer is matched with 2 readers, of which 1"),
    (
        "ignores_destination_order",
        "match-destination-order",
        "the writer is matched with 2 readers, of which 1",
    ),
    ("leaks_samples", "memory", "closed pairs and 5000 samples"),
    ("leaks_readers", "memory", "in each series of 10 opened and closed pairs"),
    ("miscounts", "receive-waitset", "1 samples were taken before any was written"),
    ("miscounts", "delivery", "reader_receive returned 2, but passed 1"),
    ("miscounts", "receive-polling", "1 samples were taken before any was written"),
    ("never_listens", "receive-listener", "sample 0 was written, but not passed to the listener"),
    ("doubles_heard", "receive-listener", "50 samples were written, but 51 passed to the listener"),
    ("calls_after_close", "receive-listener", "the sink was called 50 times after reader_close()"),
    (
        "waits_in_a_listener",
        "echo-in-listener",
        "sample 0 was passed to the listener, but its echo is not written",
    ),
    ("accepts_what_it_drops", "echo-in-listener", "echoes were accepted, but"),
    ("requests_what_it_has_not", "settings", "`as_requested` names `speed`, which is not a setting"),
    ("hides_the_transport", "settings", "the settings of the participant lack `transport`"),
    ("names_another_transport", "settings", "the effective transport is `pigeon`"),
    ("has_another_depth", "qos-read-back", "history of a reader: history_depth requested 7, effective 1"),
    ("echoes_what_it_ignores", "qos-read-back", "deadline of a writer is declared as ignored, but"),
    ("swallows_a_policy", "qos-refused", "deadline of a writer is declared as unsupported, but was accepted"),
    ("counts_back", "counters", "`packets_sent` of the writer decreased from"),
    ("hides_timeouts", "counters", "`write_timed_out` is 0, but"),
    ("takes_undeclared_multicast", "multicast", "undeclared multicast was accepted"),
    ("hides_multicast", "multicast", "the settings of the participant lack `multicast`"),
    ("claims_multicast", "multicast", "`multicast` is `on`, but the kernel sent"),
    (
        "always_claims_multicast",
        "multicast",
        "multicast was not requested, but the setting `multicast` is `on`",
    ),
    ("counts_no_bytes", "counters", "but `bytes_sent` is 0"),
];

/// Cases on policies that the teaching driver does not declare. A middleware passes them in tests/e2e.
const BEYOND_TEACHING: [&str; 22] = [
    "deadline",
    "lifespan",
    "time-based-filter",
    "partition",
    "ownership",
    "liveliness",
    "reader-limit",
    "writer-limit",
    "reader-instances",
    "liveliness-asserted",
    "durability-service",
    "durable-store",
    "destination-order",
    "presentation-order",
    "autopurge",
    "autodispose",
    "match-deadline",
    "match-latency-budget",
    "match-liveliness",
    "match-ownership",
    "match-presentation",
    "match-destination-order",
];

/// Builds the library that is a driver with any of the violations, depending on its file name, and returns its path.
fn compile(directory: &Path) -> PathBuf {
    let library = directory.join("faulty_driver.so");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let status = Command::new("cc")
        .args(["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", "-shared", "-fPIC"])
        .args(["-fvisibility=hidden", "-I"])
        .arg(tests.join("../../../include"))
        .arg(tests.join("faulty_driver.c"))
        .arg("-o")
        .arg(&library)
        .status()
        .expect("the C compiler runs");
    assert!(status.success(), "faulty_driver.c does not compile");
    library
}

/// Loads a driver with this violation. Each is a library of its own, with its own state.
fn faulty_driver(directory: &Path, violation: &str) -> Driver {
    let library = directory.join(format!("libddsmark_{violation}.so"));
    if !library.exists() {
        let compiled = env::var_os(LIBRARY).expect("the compiled library");
        fs::copy(compiled, &library).expect("a copy of the library");
    }
    Driver::load(&library).unwrap_or_else(|error| panic!("{violation}: {error}"))
}

/// Starts no process: the teaching driver declares that it does not reach beyond one process.
fn alone(_: OwnedFd) -> io::Result<Child> {
    Err(io::Error::other("no second process is needed"))
}

/// Runs a case with the defaults of the driver.
fn run(case: &Case, driver: &Driver, name: &str) -> CaseOutcome {
    case.run(driver, &conformance::OpenOptions::default(), (name, 1), &alone, false)
}

/// Variable with the part of the cases that a process executes.
const PART: &str = "DDSMARK_TEST_PART";
/// Variable with the path of the compiled library.
const LIBRARY: &str = "DDSMARK_TEST_LIBRARY";
/// Number of processes at the same time. The cases mostly wait.
const PARTS: usize = 6;

/// Cases count the threads and descriptors of their process, so each part is executed in a process of its own: this
/// program, with this test only.
#[test]
fn each_violation_fails_its_case_and_the_correct_driver_passes() {
    if let Ok(part) = env::var(PART) {
        let part = part.parse().expect("the number of a part");
        honest_driver_passes(part);
        lies_are_found(part);
        return;
    }
    for case in conformance::cases().iter().filter(|case| case.processes == 1) {
        assert!(VIOLATIONS.iter().any(|(_, found_by, _)| *found_by == case.id), "no lie for `{}`", case.id);
    }
    let name = thread::current().name().expect("the name of the test").to_owned();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let library = compile(directory.path());
    let start = |part: usize| {
        let program = env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args([&name, "--exact", "--nocapture"]).env(PART, part.to_string()).env(LIBRARY, &library);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
    };
    let parts: Vec<Child> = (0..PARTS).map(start).collect();
    let ended: Vec<Output> =
        parts.into_iter().map(|part| part.wait_with_output().expect("an ended process")).collect();
    for output in ended {
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{}", printed.concat());
        assert!(printed[0].contains("1 passed"), "{}", printed.concat());
    }
}

/// Returns the items that a process of this part is responsible for.
fn of_part<T>(items: impl IntoIterator<Item = T>, part: usize) -> impl Iterator<Item = T> {
    items.into_iter().skip(part).step_by(PARTS)
}

fn name(case: &str, violation: &str) -> String {
    format!("conformance-{}-{case}-{}", std::process::id(), violation.replace('_', "-"))
}

fn honest_driver_passes(part: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let honest = faulty_driver(directory.path(), "nothing");
    for case in of_part(conformance::cases(), part) {
        let verdict = run(&case, &honest, &name(&case.id, "honest"));
        if case.processes == 1 && !BEYOND_TEACHING.contains(&&*case.id) {
            assert_eq!(verdict, CaseOutcome::Passed, "{}", case.id);
        } else {
            assert!(matches!(verdict, CaseOutcome::NotApplicable { .. }), "{}: {verdict:?}", case.id);
        }
    }

    // Features that the teaching driver lacks, in a driver that has them. Violations across two processes are
    // tested in tests/e2e.
    let with_features = [
        ("lends", "loans"),
        ("filters", "content-filter"),
        ("keeps_thread", "clean-close"),
        ("expires_three", "lifespan"),
        ("disposes", "autodispose"),
        ("ends_deadlines", "autodispose"),
    ];
    for (way, id) in of_part(with_features, part) {
        let driver = faulty_driver(directory.path(), way);
        let case = conformance::case(id).expect("a case");
        let verdict = run(&case, &driver, &name(id, way));
        assert_eq!(verdict, CaseOutcome::Passed, "{way}");
    }

    // a case needs all policies that it observes: here the ownership strength is not declared
    let driver = faulty_driver(directory.path(), "declares_unobserved");
    let case = conformance::case("ownership").expect("a case");
    let verdict = run(&case, &driver, &name("ownership", "declares-unobserved"));
    let reason = "ownership_strength is not declared as enforced".to_owned();
    assert_eq!(verdict, CaseOutcome::NotApplicable { reason });
}

fn lies_are_found(part: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut missed = Vec::new();
    for (violation, id, expected) in of_part(VIOLATIONS, part) {
        let driver = faulty_driver(directory.path(), violation);
        let name = name(id, violation);
        let verdict = run(&conformance::case(id).expect("a case"), &driver, &name);
        if *violation == "leaves_file" {
            fs::remove_file(format!("/dev/shm/liar-{name}")).expect("the file that was left");
        }
        match verdict {
            CaseOutcome::Failed { reason } | CaseOutcome::NoEffect { reason }
                if reason.contains(expected) => {}
            other => {
                missed.push(format!(
                    "{violation} by {id}: expected a failure with `{expected}`, found {other:?}"
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
