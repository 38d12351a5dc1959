//! The driver as it ships: the shared library, loaded as an agent loads it.
#![allow(dead_code, reason = "not every test needs all of it")]
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::{Duration, Instant},
};

use driver_kit::{
    abi,
    testing::{Entity, Failure, Open, Participant, Reader, Table, Writer},
};

/// No wait is longer; none is expected to be nearly as long.
pub const WAIT: Duration = Duration::from_secs(20);
pub const WAIT_NS: u64 = 20_000_000_000;

/// Builds the library as it ships, beside the tests: `cargo test` does not, as no test links it.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // target/<profile>/deps/<test>
        let test = std::env::current_exe().expect("a path");
        let profile = test.ancestors().nth(2).expect("a profile");
        let output = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--lib", "--locked", "--offline", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .args(["--profile", if cfg!(debug_assertions) { "dev" } else { "release" }, "--target-dir"])
            .arg(profile.parent().expect("a target directory"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        profile.join("libddsmark_udp.so")
    })
}

pub fn driver() -> Table {
    static TABLE: OnceLock<usize> = OnceLock::new();
    let entry = *TABLE.get_or_init(|| {
        // SAFETY: our own library, which runs no code when loaded.
        let library = unsafe { libloading::Library::new(library()) }.expect("the driver loads");
        // SAFETY: the type is that of the contract.
        let entry: abi::Entry = *unsafe { library.get(abi::ENTRY_SYMBOL.as_bytes()) }.expect("the symbol");
        std::mem::forget(library);
        entry as usize
    });
    // SAFETY: an `Entry` of a library that is never unloaded.
    unsafe { Table::new(std::mem::transmute::<usize, abi::Entry>(entry)) }
}

/// The transports, and what each carries. Fails on a host without IPv6, where half of this cannot be tested.
pub fn transports() -> [(&'static str, u64); 2] {
    if let Err(error) = std::net::UdpSocket::bind("[::1]:0") {
        panic!("udp6 cannot be tested, as this host has no IPv6 on loopback: {error}");
    }
    [("udp4", 65_507), ("udp6", 65_527)]
}

pub fn open(transport: &str) -> Participant {
    driver().open(Open { transport: Some(transport), ..Open::default() }).expect("a participant")
}

pub fn sized(max_payload_bytes: u64) -> Entity {
    Entity { max_payload_bytes, ..Entity::default() }
}

/// A writer and a reader that are matched.
pub fn pair(participant: &Participant, entity: &Entity) -> (Writer, Reader) {
    let mut writer = participant.writer(entity).expect("a writer");
    let mut reader = participant.reader(entity).expect("a reader");
    connect(&mut writer, &mut reader);
    (writer, reader)
}

pub fn connect(writer: &mut Writer, reader: &mut Reader) {
    writer.connect(&reader.locator().expect("a locator")).expect("connected");
    reader.connect(&writer.locator().expect("a locator")).expect("connected");
}

/// Receives until there are `count` samples or the time limit is reached.
pub fn receive(reader: &mut Reader, count: usize) -> Vec<Vec<u8>> {
    receive_by(reader, count, 1_000_000_000)
}

pub fn receive_by(reader: &mut Reader, count: usize, timeout_ns: u64) -> Vec<Vec<u8>> {
    let (mut samples, begun) = (Vec::new(), Instant::now());
    while samples.len() < count && begun.elapsed() < WAIT {
        reader.receive(timeout_ns, 100, |payload| samples.push(payload.to_vec())).expect("received");
    }
    samples
}

pub fn failed<T>(outcome: Result<T, Failure>) -> (abi::Status, String) {
    let failure = outcome.err().expect("a failure");
    (failure.status, failure.text)
}

/// Bytes that differ from their neighbours and from those of other seeds.
pub fn pattern(size: usize, seed: u8) -> Vec<u8> {
    (0..size).map(|index| (index as u8).wrapping_mul(31).wrapping_add((index >> 8) as u8) ^ seed).collect()
}
