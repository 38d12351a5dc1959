//! The driver as it ships: the shared library, loaded as an agent loads it.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
use std::path::Path;

pub use driver_kit::testing::shipped::*;
use driver_kit::testing::{Open, Participant, Table};

static SHIPPED: Shipped = Shipped::new(env!("CARGO_MANIFEST_DIR"), "libddsmark_sim.so");

pub fn library() -> &'static Path {
    SHIPPED.library()
}

pub fn driver() -> Table {
    SHIPPED.table()
}

pub fn open(options: &[(&str, &str)]) -> Participant {
    SHIPPED.open(Open { options, ..Open::default() })
}
