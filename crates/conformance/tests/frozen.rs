//! A driver built against version 1 of the contract works with the current host.

mod support;

use std::{
    fs, io,
    os::fd::{AsFd as _, OwnedFd},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use conformance::Verdict;
use driver_host::{Driver, LoadError};
use support::{compile, tests};

/// Checksums of the files in `abi-v1/`. Never change them: a change of the contract that breaks an old driver is a
/// new `DDSMARK_ABI_VERSION`, with a frozen driver of its own.
const FROZEN: [(&str, &str); 2] = [
    ("driver.c", "e9d583c12d8d7f1459846f9f0700f8fd1d7a5bfdd22494f9ba569484391bfe05"),
    ("ddsmark/driver.h", "b5d80e33dc1a3977b7bd7b9cbe3c1a653ed83ee97899f706b43249ec81e16b52"),
];

/// Source that changes the table of the frozen driver as an older or newer contract would.
const AGED: &str = "
    #define ddsmark_driver_entry frozen_entry
    #include \"driver.c\"
    #undef ddsmark_driver_entry
    #include <stddef.h>
    static struct { ddsmark_driver table; void *later[8]; } aged;
    static const char *const kept[] = {\"keeper\"};
    static struct { ddsmark_description first; const char *const *kept; uint32_t count, reserved; void *later[8]; }
        described = {.kept = kept, .count = 1};
    static const ddsmark_description *describe_aged(void) { return &described.first; }
    DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void) {
      for (unsigned i = 0; i < 8; i++)
        aged.later[i] = &aged;
      aged.table = *frozen_entry();
      aged.table.describe = describe_aged;
      described.first = *frozen_entry()->describe();
      CHANGE;
      return &aged.table;
    }
";

fn frozen() -> PathBuf {
    tests().join("abi-v1")
}

fn sha256(file: &str) -> String {
    let output = Command::new("sha256sum").arg(frozen().join(file)).output().expect("sha256sum runs");
    let text = String::from_utf8(output.stdout).expect("a sum");
    text.split_whitespace().next().expect("a sum").to_owned()
}

const DRIVER: &str = "DDSMARK_TEST_DRIVER";

/// Starts this program again as the second process, with the driver of the case.
fn second_process(driver: &Driver) -> impl Fn(OwnedFd) -> io::Result<Child> {
    move |channel| {
        Command::new(std::env::current_exe()?)
            .args(["--ignored", "--exact", "the_second_process_of_a_case"])
            .env(DRIVER, driver.path())
            .stdin(channel)
            .stdout(Stdio::null())
            .spawn()
    }
}

#[test]
#[ignore = "started by the test below"]
fn the_second_process_of_a_case() {
    let driver = std::env::var_os(DRIVER).expect("started by the test below");
    let driver = Driver::load(driver.as_ref()).expect("the driver loads here too");
    let channel = io::stdin().as_fd().try_clone_to_owned().expect("a channel");
    conformance::serve(&driver, channel, || std::process::exit(1)).expect("orders until the last");
}

/// The cases count the threads and descriptors of this process, so this is the only test of its file.
#[test]
fn a_driver_of_version_1_loads_and_keeps_its_promises_and_those_of_other_times_are_told_apart() {
    for (file, expected) in FROZEN {
        assert_eq!(sha256(file), expected, "{file} is frozen: put it back as it was");
    }

    let directory = tempfile::tempdir().expect("a temporary directory");
    let built = |name: &str, include: PathBuf| {
        Driver::load(&compile(directory.path(), name, &frozen().join("driver.c"), &include, &[]))
    };
    let driver = built("frozen", frozen()).expect("the frozen driver loads");
    let description = driver.description();
    assert_eq!((description.name.as_str(), description.driver_version.as_str()), ("frozen", "1"));
    assert_eq!(description.transports[0].max_payload_bytes, 60_000);
    assert!(description.has("locators"), "{:?}", description.features);
    assert_eq!(description.kept_threads, Vec::<String>::new(), "it knew of none");
    for case in conformance::cases() {
        let name = format!("frozen-{}-{}", std::process::id(), case.id);
        let verdict = case.run(&driver, &conformance::Way::default(), &name, 1, &second_process(&driver));
        assert!(!matches!(verdict, Verdict::Failed(_)), "{}: {verdict:?}", case.id);
        let must = ["describe", "clean-close", "match", "delivery", "order", "receive-waitset", "counters"]
            .map(|id| [id.to_owned(), format!("{id}-across")])
            .concat();
        assert!(
            verdict == Verdict::Passed || !must.contains(&case.id.clone().into_owned()),
            "{}: {verdict:?}",
            case.id
        );
    }

    // its source, built against the current header
    built("thawed", tests().join("../../../include"))
        .expect("the old source builds against the present header");

    // the same table, as an older or newer contract would have it
    let aged = |name: &str, change: &str| {
        let source = directory.path().join(format!("{name}.c"));
        fs::write(&source, AGED.replace("CHANGE", change)).expect("a file");
        let source_of_frozen = format!("-I{}", frozen().display());
        Driver::load(&compile(directory.path(), name, &source, &frozen(), &[&source_of_frozen]))
    };
    aged("longer", "aged.table.struct_size = sizeof aged").expect("a longer table is one of a later time");
    aged("shorter", "aged.table.struct_size = offsetof(ddsmark_driver, reader_sample_intact)")
        .expect("the last function may be missing");
    let cut = aged("cut", "aged.table.struct_size = offsetof(ddsmark_driver, reader_receive)").unwrap_err();
    assert!(cut.to_string().contains("its table is cut short"), "{cut}");
    let later = aged("later", "aged.table.abi_version = DDSMARK_ABI_VERSION + 1").unwrap_err();
    assert!(matches!(later, LoadError::Version { found: 2, .. }), "{later}");
    assert!(later.to_string().contains("has ABI version 2; this ddsmark knows version 1"), "{later}");
    assert!(later.hint().contains("build the driver again"), "{}", later.hint());

    // the same for the description: content beyond its size is ignored
    let described = |name: &str, size: &str| aged(name, &format!("described.first.struct_size = {size}"));
    for (name, size, kept) in [
        ("first", "sizeof described.first", 0),
        ("half", "sizeof described.first + sizeof(void *)", 0),
        ("present", "sizeof described.first + 2 * sizeof(void *)", 1),
        ("future", "sizeof described", 1),
    ] {
        let driver = described(name, size).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(driver.description().kept_threads, ["keeper"; 1][..kept], "{name}");
    }
    let cut = described("cut-words", "sizeof described.first - 1").unwrap_err();
    assert!(cut.to_string().contains("describe(): is cut short"), "{cut}");
}
