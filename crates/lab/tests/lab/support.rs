//! Helpers of these tests: sockets in hosts, and what is left of a lab.

use std::{
    fs,
    net::UdpSocket,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use lab::{Lab, LabSpec};
use testbed::wire;
pub use testbed::wire::{LIMIT, inside};

/// Creates a lab.
pub fn up(spec: &str) -> Lab {
    let spec: LabSpec = spec.parse().unwrap();
    Lab::up(&spec).unwrap_or_else(|error| {
        panic!("this test needs root, iproute2, nftables and ethtool: {error}\nhint: {}", error.hint())
    })
}

/// Opens a UDP socket in a host; see [`wire::socket`].
pub fn socket(lab: &Lab, host: usize) -> UdpSocket {
    wire::socket(lab, host).unwrap()
}

/// Returns the round-trip times of pings; see [`wire::round_trips`].
pub fn round_trips(lab: &Lab, size: usize, count: usize) -> Vec<Duration> {
    wire::round_trips(lab, size, count).unwrap()
}

/// Waits until a condition is true.
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_true() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that nothing of a lab is left: namespaces, its record, processes are the caller's.
pub fn assert_gone(lab: &str) {
    let left: Vec<String> = fs::read_dir("/run/netns")
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(&format!("{lab}.")))
        .collect();
    assert_eq!(left, [""; 0]);
    let files = fs::read_dir("/etc/netns").into_iter().flatten().flatten();
    let of_lab = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(&format!("{lab}."));
    assert!(files.map(|entry| entry.file_name()).all(|name| !of_lab(&name)));
    assert!(!Path::new("/run/ddsmark/labs").join(lab).exists());
    assert!(lab::list().unwrap().iter().all(|record| record.name != lab));
}
