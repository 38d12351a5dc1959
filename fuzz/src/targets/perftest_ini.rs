//! File with options of `ddsmark perftest`: settings that can be offered, or an error with a line and a hint.

use perftest::{CommandLine, Defaults, IniFile, Source};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for role in ["-pub", "-sub"] {
        let line = CommandLine::parse(&[role], Some("5.1")).expect("a role");
        let file = IniFile { path: "perftest.ini", text };
        match line.settings(Some(file), &Defaults { driver: "dds", raw_drivers: ["udp", "tcp", "shm"] }) {
            Ok((settings, _)) => settings.offer().check().expect("valid settings"),
            Err(error) => {
                assert!(!error.hint().is_empty());
                let Source::File { line, .. } = error.source else { panic!("{error}") };
                assert!((1..=text.lines().count()).contains(&line), "{error}");
            }
        }
    }
}
