//! Helpers for tests with the library as it is shipped, loaded as an agent loads it.
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::{Duration, Instant},
};

use driver_abi as abi;
use driver_host::{Driver, DriverError, Monitor};

use super::{EndpointSpec, Participant, ParticipantSpec, Reader, Writer};

/// Maximum wait; no wait is expected to take nearly as long.
pub const WAIT: Duration = Duration::from_secs(20);
/// Maximum wait in ns.
pub const WAIT_NS: u64 = 20_000_000_000;

/// Library of a driver's crate, built and loaded once per process, on first use.
#[derive(Debug)]
pub struct BuiltDriver {
    directory: &'static str,
    file: &'static str,
    driver: OnceLock<Driver>,
}

impl BuiltDriver {
    /// Describes the library `file` of the crate in `directory`.
    #[must_use]
    pub const fn new(directory: &'static str, file: &'static str) -> Self {
        Self { directory, file, driver: OnceLock::new() }
    }

    /// Returns the driver, as an agent loads it; builds it first.
    pub fn driver(&self) -> &Driver {
        self.driver.get_or_init(|| Driver::load(&build(self.directory, self.file)).expect("the driver loads"))
    }

    /// Opens a participant.
    ///
    /// # Panics
    /// Panics if the driver returns an error.
    pub fn open(&self, spec: ParticipantSpec<'_>) -> Participant {
        super::open(self.driver(), spec).expect("a participant")
    }
}

/// Defines the static `SHIPPED` and the function `driver`, which returns the loaded library of the tested crate, for the
/// `tests/harness` of the crate.
#[macro_export]
macro_rules! shipped {
    ($file:literal) => {
        static SHIPPED: $crate::shipped::BuiltDriver =
            $crate::shipped::BuiltDriver::new(env!("CARGO_MANIFEST_DIR"), $file);

        pub fn driver() -> &'static $crate::Driver {
            SHIPPED.driver()
        }
    };
}

/// Builds the library of the crate in `directory` as it is shipped, in the target directory of the running tests,
/// and returns its path. `cargo test` does not build it, because no test links it.
fn build(directory: &str, library: &str) -> PathBuf {
    // target/<profile>/deps/<test>
    let test = std::env::current_exe().expect("a path");
    let profile = test.ancestors().nth(2).expect("a profile");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--lib", "--locked", "--offline", "--manifest-path"])
        .arg(Path::new(directory).join("Cargo.toml"))
        .args(["--profile", if cfg!(debug_assertions) { "dev" } else { "release" }, "--target-dir"])
        .arg(profile.parent().expect("a target directory"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    profile.join(library)
}

/// Asserts that the library exports the entry of the contract, and no other symbol.
///
/// # Panics
/// Panics if it exports another symbol.
pub fn assert_exports_the_entry_only(library: &Path) {
    assert_eq!(exported(library), [abi::ENTRY_SYMBOL]);
}

/// Returns the exported symbols of a library.
fn exported(library: &Path) -> Vec<String> {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

/// Returns the configuration of an octet type with this maximum size in bytes, otherwise with defaults.
#[must_use]
pub fn sized(max_payload_bytes: u64) -> EndpointSpec {
    EndpointSpec { max_payload_bytes, ..EndpointSpec::default() }
}

/// Opens a writer and a reader and matches them.
#[must_use]
pub fn pair(participant: &Participant, entity: &EndpointSpec) -> (Writer, Reader) {
    let writer = participant.writer(entity).expect("a writer");
    let reader = participant.reader(entity).expect("a reader");
    connect(&writer, &reader);
    (writer, reader)
}

/// Matches the two by their locators.
///
/// # Panics
/// Panics if one rejects the other.
pub fn connect(writer: &Monitor, reader: &Monitor) {
    writer.connect(&reader.locator().expect("a locator")).expect("connected");
    reader.connect(&writer.locator().expect("a locator")).expect("connected");
}

/// Receives until there are `count` samples or a time limit is reached.
#[must_use]
pub fn receive(reader: &mut Reader, count: usize) -> Vec<Vec<u8>> {
    receive_by(reader, count, 1_000_000_000)
}

/// Receives like [`receive`], with this timeout for each call.
#[must_use]
pub fn receive_by(reader: &mut Reader, count: usize, timeout_ns: u64) -> Vec<Vec<u8>> {
    let (mut samples, begun) = (Vec::new(), Instant::now());
    while samples.len() < count && begun.elapsed() < WAIT {
        reader.receive(timeout_ns, 100, |payload| samples.push(payload.to_vec())).expect("received");
    }
    samples
}

/// Returns the status and the text of an expected error, with its hint.
///
/// # Panics
/// Panics if there is no error.
#[must_use]
pub fn failed<T>(outcome: Result<T, DriverError>) -> (abi::Status, String) {
    let error = outcome.err().expect("a failure");
    // without the name of the status
    let text = error.text.rsplit_once(" (").map_or(error.text.as_str(), |(text, _)| text);
    (error.status, error.hint.map_or(text.to_owned(), |hint| format!("{text}; hint: {hint}")))
}

/// Returns bytes that differ from their neighbours and from those of other seeds.
#[must_use]
pub fn pattern(size: usize, seed: u8) -> Vec<u8> {
    (0..size).map(|index| (index as u8).wrapping_mul(31).wrapping_add((index >> 8) as u8) ^ seed).collect()
}
