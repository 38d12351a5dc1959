//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_kit::testing::shipped::*;
use driver_kit::testing::{Participant, ParticipantSpec};

driver_kit::shipped!("libddsmark_shm.so");

pub fn open() -> Participant {
    SHIPPED.open(ParticipantSpec::default())
}
