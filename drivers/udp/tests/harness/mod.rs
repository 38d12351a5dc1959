//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
use std::process::Command;

pub use driver_testing::shipped::*;
use driver_testing::{Participant, ParticipantSpec};

driver_testing::shipped!("libddsmark_udp.so");

/// Environment variable of a test that runs again in a network namespace.
const WITHIN: &str = "DDSMARK_TEST_WITHIN";

/// Returns the transports with their maximum payload. Panics on a host without IPv6, because half of the tests need
/// it.
pub fn transports() -> [(&'static str, u64); 2] {
    if let Err(error) = std::net::UdpSocket::bind("[::1]:0") {
        panic!("udp6 cannot be tested, as this host has no IPv6 on loopback: {error}");
    }
    [("udp4", 65_507), ("udp6", 65_527)]
}

pub fn open(transport: &str) -> Participant {
    SHIPPED.open(ParticipantSpec { transport: Some(transport), ..ParticipantSpec::default() })
}

/// Runs the test of this name again in a network namespace of its own, after the commands `prepare`.
pub fn within_namespace(test: &str, prepare: &str) {
    let itself = std::env::current_exe().expect("a path");
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-ec", &format!("{prepare}; exec \"$0\" \"$@\"")])
        .arg(itself)
        .args(["--exact", test, "--nocapture"])
        .env(WITHIN, "1")
        .output()
        .expect("`unshare` of util-linux runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "in a network namespace of its own (which this host must allow; see `man unshare`):\n{text}"
    );
}

pub fn is_within() -> bool {
    std::env::var_os(WITHIN).is_some()
}
