//! Short forms for tests.

use experiment::{DriverDescription, Policy, PolicySupport, ReceiveMode, Support, TransportInfo};
use perftest::{CommandLine, Defaults, Generation, IniFile, PerftestError, Settings, Warning};

pub const DEFAULTS: Defaults<'static> = Defaults { driver: "dds", raw_drivers: ["udp", "tcp", "shm"] };

/// Beginning of the cause of an option that ddsmark does not honour.
pub const UNSUPPORTED: &str = "is not supported: ";

/// Returns the arguments of a command line.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns the settings and warnings of a command line.
pub fn parse(line: &str, generation: Generation) -> Result<(Settings, Vec<Warning>), PerftestError> {
    CommandLine::parse(&words(line), Some(generation.name()))?.settings(None, &DEFAULTS)
}

/// Returns the settings and warnings of a valid command line.
#[track_caller]
pub fn valid(line: &str, generation: Generation) -> (Settings, Vec<Warning>) {
    parse(line, generation).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Returns the settings of a valid command line without warnings.
#[track_caller]
pub fn quiet(line: &str, generation: Generation) -> Settings {
    let (settings, warnings) = valid(line, generation);
    assert_eq!(warnings, [], "{line}");
    settings
}

/// Returns the error of a command line.
#[track_caller]
pub fn error(line: &str, generation: Generation) -> PerftestError {
    match parse(line, generation) {
        Ok(_) => panic!("{line}: accepted"),
        Err(error) => error,
    }
}

/// Returns an error as the command prints it.
pub fn text(error: &PerftestError) -> String {
    format!("error: {error}\nhint: {}", error.hint())
}

/// Returns the settings and warnings of a command line with a file.
pub fn with_file(line: &str, file: &str) -> Result<(Settings, Vec<Warning>), PerftestError> {
    let line = CommandLine::parse(&words(line), Some("5.1"))?;
    line.settings(Some(IniFile { path: "perftest.ini", text: file }), &DEFAULTS)
}

/// Returns the names of the options in warnings.
pub fn options(warnings: &[Warning]) -> Vec<&'static str> {
    warnings.iter().map(|warning| warning.option).collect()
}

/// Returns a driver that has everything.
pub fn able() -> DriverDescription {
    let features = ["native_batching", "content_filter", "writer_loans", "async_write", "multicast"];
    let policies = [Policy::Reliability, Policy::Durability, Policy::History, Policy::ResourceLimits];
    DriverDescription {
        name: "able".to_owned(),
        features: features.map(str::to_owned).to_vec(),
        type_kinds: vec!["keyed".to_owned()],
        receive_modes: vec![ReceiveMode::Waitset, ReceiveMode::Listener],
        policies: policies.map(|policy| (policy, PolicySupport::of_both(Support::Enforced, None))).into(),
        transports: ["udp4", "udp6", "shm", "tcp4"].map(|name| transport(name, u64::MAX)).to_vec(),
        ..DriverDescription::default()
    }
}

/// Returns a bare socket.
pub fn socket() -> DriverDescription {
    DriverDescription {
        name: "socket".to_owned(),
        features: vec!["locators".to_owned()],
        receive_modes: vec![ReceiveMode::Waitset],
        transports: vec![transport("udp4", 65_507)],
        ..DriverDescription::default()
    }
}

fn transport(name: &str, max_payload_bytes: u64) -> TransportInfo {
    TransportInfo { name: name.to_owned(), max_payload_bytes, note: None }
}
