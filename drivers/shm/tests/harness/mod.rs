//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_testing::shipped::*;
use driver_testing::{Participant, ParticipantSpec};

driver_testing::shipped!("libddsmark_shm.so");

pub fn open() -> Participant {
    SHIPPED.open(ParticipantSpec::default())
}
