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
    LIBRARY.get_or_init(|| build(env!("CARGO_MANIFEST_DIR"), "libddsmark_sim.so"))
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

pub fn open(options: &[(&str, &str)]) -> Participant {
    driver().open(Open { options, ..Open::default() }).expect("a participant")
}
