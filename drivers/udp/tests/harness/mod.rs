//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_kit::testing::shipped::*;
use driver_kit::testing::{Participant, ParticipantSpec};

driver_kit::shipped!("libddsmark_udp.so");

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
