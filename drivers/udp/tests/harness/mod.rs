//! The driver as it ships: the shared library, loaded as an agent loads it.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

pub use driver_kit::testing::shipped::*;
use driver_kit::{
    abi,
    testing::{Open, Participant, Table},
};

pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| build(env!("CARGO_MANIFEST_DIR"), "libddsmark_udp.so"))
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
