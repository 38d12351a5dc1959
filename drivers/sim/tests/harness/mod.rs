//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_testing::shipped::*;
use driver_testing::{Participant, ParticipantSpec};

driver_testing::shipped!("libddsmark_sim.so");

pub fn open(options: &[(&str, &str)]) -> Participant {
    SHIPPED.open(ParticipantSpec { options, ..ParticipantSpec::default() })
}
