//! `ddsmark drivers check`: the drivers of this tree keep the contract; a driver that crashes or hangs fails only
//! the case.

use std::thread;

use crate::support::{Outcome, Scene, driver_in_c, drivers, root, violating_driver};

/// Returns the line of this case in the table.
#[track_caller]
fn line<'a>(outcome: &'a Outcome, case: &str) -> &'a str {
    let mut lines = outcome.stdout.lines();
    lines.find(|line| line.split_whitespace().next() == Some(case)).unwrap_or_else(|| panic!("{outcome:?}"))
}

/// Returns the line of this policy in the table of declared policies, which is below the table of cases.
#[track_caller]
fn state<'a>(outcome: &'a Outcome, policy: &str) -> &'a str {
    let mut lines = outcome.stdout.lines().skip_while(|line| !line.contains("Declared as enforced"));
    lines.find(|line| line.split_whitespace().next() == Some(policy)).unwrap_or_else(|| panic!("{outcome:?}"))
}

/// Asserts that a driver of this tree passes every case over a transport, the default one if it is empty.
#[track_caller]
fn assert_passes(driver: &str, transport: &str) -> Outcome {
    let scene = Scene::new();
    let over = ["--transport", transport];
    let over = if transport.is_empty() { &over[..0] } else { &over[..] };
    let outcome = scene.ddsmark(&[&["drivers", "check", driver, "--jobs", "4"], over].concat());
    outcome.assert_status(0);
    assert!(line(&outcome, "delivery-across").contains("pass             2 "), "{}", outcome.stdout);
    assert!(line(&outcome, "delivery").contains("pass"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(" 0 failed"), "{}", outcome.stdout);
    outcome
}

#[test]
fn udp_passes_every_case() {
    assert_passes("udp", "");
}

#[test]
fn tcp_passes_every_case() {
    assert_passes("tcp", "");
}

#[test]
fn shm_passes_every_case() {
    assert_passes("shm", "");
}

#[test]
fn sim_passes_every_case() {
    assert_passes("sim", "");
}

#[test]
fn fastdds_passes_every_case_over_udp() {
    assert_passes("fastdds", "udp4");
}

#[test]
fn fastdds_passes_every_case_over_shared_memory() {
    assert_passes("fastdds", "shm");
}

#[test]
fn fastdds_passes_every_case_over_data_sharing() {
    assert_passes("fastdds", "data_sharing");
}

/// No other driver of this tree enforces all of these policies.
#[test]
fn cyclonedds_passes_every_case_and_its_policies_are_observed() {
    let outcome = assert_passes("cyclonedds", "");
    for policy in ["reliability", "history", "durability", "deadline", "lifespan", "time_based_filter"] {
        let words: Vec<&str> = state(&outcome, policy).split_whitespace().collect();
        assert_eq!(words[1..4], ["enforced", "observed", "by"], "{}", outcome.stdout);
    }
    // declared as enforced, but no case can observe it
    assert!(state(&outcome, "user_data").contains("unknown"), "{}", outcome.stdout);
    for case in ["deadline", "lifespan", "time-based-filter", "partition", "ownership", "liveliness"] {
        assert!(line(&outcome, case).contains("pass"), "{}", outcome.stdout);
    }
}

/// A driver declares what at least one of its transports supports. Over another transport it rejects the request,
/// which violates no promise.
#[test]
fn case_is_not_applicable_without_support_of_the_transport() {
    let scene = Scene::new();
    let check = ["drivers", "check", "cyclonedds", "--transport", "tcp4", "--case", "multicast"];
    let outcome = scene.ddsmark(&check);
    outcome.assert_status(0);
    assert!(line(&outcome, "multicast").contains("n/a"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("multicast is not supported over `tcp4`"), "{}", outcome.stdout);
    let outcome =
        scene.ddsmark(&["drivers", "check", "fastdds", "--transport", "data_sharing", "--case", "keys"]);
    outcome.assert_status(0);
    assert!(line(&outcome, "keys").contains("n/a"), "{}", outcome.stdout);
}

/// Violations of `faulty_across.c`, which exist only with writer and reader in two processes; the case that detects
/// each, and a part of its message.
const VIOLATIONS_ACROSS: [(&str, &str, &str); 9] = [
    ("never_unmatches", "match", "the reader was closed, but its peer still counted 1 as matched after 8 s"),
    (
        "never_unmatches",
        "peer-killed",
        "the reader's process was killed, but its peer still counted 1 as matched after 40 s",
    ),
    ("cuts_large_samples", "delivery", "arrived with 60000 B"),
    ("loses_one", "order", "sample 1999 did not arrive"),
    ("sends_what_it_refuses", "back-pressure", "is duplicate or late"),
    ("never_flushes", "flush", "arrived after the flush"),
    ("never_acknowledges", "wait-acked", "all samples were received, but not acknowledged"),
    ("shortens_keys", "keys", "key 16909060 arrived as 4"),
    ("forgets_history", "late-joiner", "did not receive the last sample"),
];

#[test]
fn violation_between_two_processes_is_detected() {
    let scene = Scene::new();
    let real = format!("-DREAL=\"{}\"", drivers().join("libddsmark_cyclonedds.so").display());
    let source = root().join("tests/e2e/faulty_across.c");
    let is_found = |(violation, case, expected): (&str, &str, &str)| {
        let driver = driver_in_c(
            &scene,
            &format!("{violation}_{case}").replace('-', "_"),
            &source,
            &[&real, &format!("-DVIOLATION={violation}")],
        );
        let of_two = if case == "peer-killed" { case.to_owned() } else { format!("{case}-across") };
        let tried = if case == "peer-killed" { of_two.clone() } else { format!("{case},{of_two}") };
        let outcome = scene.ddsmark(&["drivers", "check", &driver, "--case", &tried]);
        outcome.assert_status(1);
        assert!(line(&outcome, &of_two).contains("FAIL             2 "), "{violation}: {}", outcome.stdout);
        let found = outcome.stdout.split_once("found: ").expect("what was found").1;
        let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(expected), "{violation}: {}", outcome.stdout);
        assert_eq!(
            outcome.stdout.contains("1 passed, 1 failed"),
            case != "peer-killed",
            "{violation}: {}",
            outcome.stdout
        );
    };
    // they mostly wait
    thread::scope(|threads| {
        for violations in VIOLATIONS_ACROSS.chunks(3) {
            threads.spawn(move || violations.iter().copied().for_each(is_found));
        }
    });
    // a second process that hangs is ended with the first: the scene checks that none is left
    let driver = driver_in_c(&scene, "hangs", &source, &[&real, "-DVIOLATION=hangs"]);
    let outcome = scene.ddsmark(&["drivers", "check", &driver, "--case", "delivery-across", "--limit", "3s"]);
    outcome.assert_status(1);
    assert!(outcome.stdout.contains("found: no answer within 3 s"), "{}", outcome.stdout);
    // the driver does not declare that it does not reach beyond its process
    let driver = violating_driver(&scene, "hides_its_limits", "");
    let outcome = scene.ddsmark(&["drivers", "check", &driver, "--case", "match-across"]);
    outcome.assert_status(1);
    assert!(outcome.stdout.contains("the writer is matched with 0"), "{}", outcome.stdout);
    let rejected =
        scene.ddsmark(&["characterize", "--driver", &violating_driver(&scene, "nothing", ""), "--quick"]);
    rejected.assert_status(2);
    assert!(rejected.stderr.contains("does not reach from one process to another"), "{}", rejected.stderr);
}

#[test]
fn failed_case_names_promise_and_observation() {
    let scene = Scene::new();
    let driver = violating_driver(&scene, "shortens_keys", "");
    let outcome = scene.ddsmark(&["drivers", "check", &driver, "--case", "keys,settings"]);
    outcome.assert_status(1);
    assert!(outcome.stdout.contains("1 passed, 1 failed, 0 not applicable"), "{}", outcome.stdout);
    assert!(line(&outcome, "settings").contains("pass"), "{}", outcome.stdout);
    assert!(line(&outcome, "keys").contains("FAIL"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("  promised: the key of a keyed sample arrives unchanged"));
    assert!(outcome.stdout.contains("  found: key 16909060 arrived as 4"), "{}", outcome.stdout);
}

#[test]
fn policy_without_an_observed_effect_is_unknown() {
    let scene = Scene::new();
    let driver = violating_driver(&scene, "declares_unobserved", "");
    let check = |cases: &str| {
        let outcome = scene.ddsmark(&["drivers", "check", &driver, "--case", cases]);
        outcome.assert_status(0);
        outcome
    };
    let outcome = check("ownership,late-joiner");
    for (policy, words) in [
        ("presentation", "unknown   presentation-order was not tried"),
        (
            "ownership",
            "unknown   ownership is not applicable: ownership_strength is not declared as enforced",
        ),
        ("reliability", "unknown   back-pressure was not tried"),
        ("durability", "enforced  observed by late-joiner"),
    ] {
        assert!(state(&outcome, policy).ends_with(words), "{}", outcome.stdout);
    }
    let failing = violating_driver(&scene, "forgets_history", "");
    let outcome = scene.ddsmark(&["drivers", "check", &failing, "--case", "late-joiner"]);
    outcome.assert_status(1);
    let words = "FAIL     late-joiner: the late reader did not receive the last sample";
    assert!(state(&outcome, "durability").contains(words), "{}", outcome.stdout);
}

/// Returns the words of a policy in the matrix of one driver.
#[track_caller]
fn in_matrix<'a>(outcome: &'a Outcome, policy: &str) -> &'a str {
    let line = outcome.stdout.lines().find_map(|line| line.trim_start().strip_prefix(policy));
    line.unwrap_or_else(|| panic!("{outcome:?}")).trim()
}

#[test]
fn support_shows_what_was_observed_and_what_contradicts_the_driver() {
    let scene = Scene::new();
    let support = |driver: &str| scene.ddsmark(&["drivers", "support", driver, "--limit", "30s"]);
    let honest = support(&violating_driver(&scene, "nothing", ""));
    honest.assert_status(0);
    for (policy, state) in [
        ("reliability", "enforced"),
        ("history", "enforced"),
        ("durability  ", "enforced"),
        ("durability (transient or persistent)", "needs a service"),
        ("deadline", "unsupported"),
    ] {
        assert_eq!(in_matrix(&honest, policy), state, "{}", honest.stdout);
    }
    assert!(honest.stderr.contains("probing "), "{}", honest.stderr);
    // the effect of a policy that is declared as ignored
    let hidden = support(&violating_driver(&scene, "hides_an_effect", ""));
    hidden.assert_status(1);
    assert_eq!(in_matrix(&hidden, "durability  "), "enforced");
    assert!(
        hidden.stdout.contains("durability: declared as ignored, but found enforced"),
        "{}",
        hidden.stdout
    );
    // no effect of one that is declared as enforced
    let ignoring = support(&violating_driver(&scene, "forgets_history", ""));
    ignoring.assert_status(1);
    assert_eq!(in_matrix(&ignoring, "durability  "), "ignored", "{}", ignoring.stdout);
    // a request that is accepted, although it is declared as unsupported
    let swallowing = support(&violating_driver(&scene, "swallows_a_policy", ""));
    swallowing.assert_status(1);
    assert_eq!(in_matrix(&swallowing, "deadline"), "unknown", "{}", swallowing.stdout);
    // a probe that does not end shows nothing
    let hanging = violating_driver(
        &scene,
        "hangs_now",
        "static ddsmark_status hang(ddsmark_reader *r, uint64_t t, uint32_t m, ddsmark_sink s, void *c, uint32_t *n) \
         { (void)r, (void)t, (void)m, (void)s, (void)c, (void)n; sleep(600); return DDSMARK_OK; }\n\
         VIOLATION(hangs_now) { lying.reader_receive = hang; }\n",
    );
    let hung = scene.ddsmark(&["drivers", "support", &hanging, "--limit", "2s"]);
    hung.assert_status(1);
    assert_eq!(in_matrix(&hung, "history"), "unknown", "{}", hung.stdout);
    assert!(hung.stdout.contains("no answer within 2 s"), "{}", hung.stdout);
}

#[test]
fn support_of_bare_sockets_is_unsupported_in_csv_and_json() {
    let scene = Scene::new();
    let csv = scene.ddsmark(&["drivers", "support", "udp", "tcp", "--csv"]);
    csv.assert_status(0);
    let mut rows = csv.stdout.lines();
    assert_eq!(rows.next(), Some("Policy,udp,tcp"));
    assert_eq!(rows.next(), Some("reliability,unsupported,enforced"));
    assert_eq!(rows.next(), Some("history,unsupported,enforced"));
    assert!(rows.all(|row| row.ends_with(",unsupported,unsupported")), "{}", csv.stdout);
    let json = scene.ddsmark(&["drivers", "support", "udp", "--json"]);
    json.assert_status(0);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let policies = document["drivers"][0]["policies"].as_array().expect("policies");
    assert!(policies.iter().all(|policy| policy["state"] == "unsupported"), "{document:#}");
    scene.ddsmark(&["drivers", "support", "udp", "udp"]).assert_status(2);
    scene.ddsmark(&["drivers", "support", "cyclonedds+fastdds"]).assert_status(2);
}

/// The matrix of the page is what the drivers of this tree show.
#[test]
fn support_of_built_drivers_is_that_of_the_page() {
    let scene = Scene::new();
    let page = std::fs::read_to_string(root().join("docs/explain/data/qos-support.csv")).expect("the data");
    let cells = |text: &str| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let page = cells(&page);
    for driver in ["cyclonedds", "fastdds", "udp", "shm", "sim"] {
        let found = scene.ddsmark(&["drivers", "support", driver, "--csv"]);
        let found = cells(&found.stdout);
        let column = page[0].iter().position(|title| *title == found[0][1]);
        let column = column.unwrap_or_else(|| panic!("no `{}` in {:?}", found[0][1], page[0]));
        let of_page: Vec<[&String; 2]> = page.iter().map(|row| [&row[0], &row[column]]).collect();
        let found: Vec<[&String; 2]> = found.iter().map(|row| [&row[0], &row[1]]).collect();
        assert_eq!(found, of_page, "`ddsmark drivers support` differs from docs/explain/qos-support.md");
    }
}

#[test]
fn driver_that_hangs_crashes_or_exits_fails_one_case() {
    let scene = Scene::new();
    let overriding = |name: &str, body: &str| {
        let code = "static ddsmark_status BODY(ddsmark_reader *r, uint64_t t, uint32_t m, ddsmark_sink s, void *c, \
                    uint32_t *n) { (void)r, (void)t, (void)m, (void)s, (void)c, (void)n; BODY_IS; return DDSMARK_OK; }\n"
            .replace("BODY_IS", body)
            .replace("BODY", &format!("{name}_now"));
        violating_driver(
            &scene,
            name,
            &format!("{code}VIOLATION({name}) {{ lying.reader_receive = {name}_now; }}\n"),
        )
    };
    for (driver, expected) in [
        (violating_driver(&scene, "waits_when_polled", ""), "found: no answer within 3 s"),
        (overriding("crashes", "abort()"), "found: the agent's process was killed by signal 6 (SIGABRT)"),
        (overriding("exits", "exit(0)"), "found: the agent's process exited with status 0"),
    ] {
        let outcome = scene.ddsmark(&[
            "drivers",
            "check",
            &driver,
            "--limit",
            "3s",
            "--case",
            "describe,receive-polling,settings",
        ]);
        outcome.assert_status(1);
        assert!(outcome.stdout.contains("2 passed, 1 failed"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains(expected), "{expected}:\n{}", outcome.stdout);
    }
}

#[test]
fn check_uses_the_given_transport_and_options() {
    let scene = Scene::new();
    let tried = |arguments: &[&str]| {
        scene.ddsmark(&[&["drivers", "check", "fastdds", "--case", "settings"], arguments].concat())
    };
    tried(&["--transport", "shm", "--option", "publish_mode=async"]).assert_status(0);
    for (wrong, expected) in [
        (&["--transport", "pigeon"], "has no transport `pigeon`"),
        (&["--option", "speed=high"], "has no option `speed`"),
    ] {
        let rejected = tried(wrong);
        rejected.assert_status(2);
        assert!(
            rejected.stderr.contains(expected) && rejected.stderr.contains("hint: available: "),
            "{}",
            rejected.stderr
        );
    }
    // the driver itself checks the value
    let outcome = tried(&["--option", "publish_mode=never"]);
    outcome.assert_status(1);
    assert!(outcome.stdout.contains("publish_mode"), "{}", outcome.stdout);
}

#[test]
fn file_that_is_no_driver_is_rejected() {
    let scene = Scene::new();
    std::fs::write(scene.path("text.so"), "not a library").expect("a file");
    let outcome = scene.ddsmark(&["drivers", "check", "./text.so"]);
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("as a shared library"), "{}", outcome.stderr);
    let outcome = scene.ddsmark(&["drivers", "check", "udp", "--case", "nonesuch"]);
    outcome.assert_status(2);
    assert!(outcome.stderr.contains("hint: available: describe, "), "{}", outcome.stderr);
}
