//! Short forms for tests.

use perftest::{
    CommandLine, Defaults, DriverAbilities, Generation, IniFile, PerftestError, Settings, Warning,
};

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
pub fn able() -> DriverAbilities {
    DriverAbilities {
        name: "able".to_owned(),
        discovery: true,
        batching: true,
        keyed_type: true,
        content_filter: true,
        loans: true,
        async_write: true,
        multicast: true,
        waitset: true,
        listener: true,
        reliability: true,
        durability: true,
        history: true,
        queue_limits: true,
        transports: ["udp4", "udp6", "shm", "tcp4"].map(|name| (name.to_owned(), u64::MAX)).to_vec(),
        domains: Some((0, 230)),
    }
}

/// Returns a bare socket.
pub fn socket() -> DriverAbilities {
    DriverAbilities {
        name: "socket".to_owned(),
        discovery: false,
        batching: false,
        keyed_type: false,
        content_filter: false,
        loans: false,
        async_write: false,
        multicast: false,
        waitset: true,
        listener: false,
        reliability: false,
        durability: false,
        history: false,
        queue_limits: false,
        transports: vec![("udp4".to_owned(), 65_507)],
        domains: None,
    }
}
