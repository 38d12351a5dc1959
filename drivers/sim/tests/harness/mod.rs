//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_kit::testing::shipped::*;
use driver_kit::testing::{Open, Participant};

driver_kit::shipped!("libddsmark_sim.so");

pub fn open(options: &[(&str, &str)]) -> Participant {
    SHIPPED.open(Open { options, ..Open::default() })
}
