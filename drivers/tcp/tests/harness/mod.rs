//! The release library, loaded as by an agent.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_testing::shipped::*;
use driver_testing::{Participant, ParticipantSpec};

driver_testing::shipped!("libddsmark_tcp.so");

/// Returns the transports. Panics on a host without IPv6, because half of the tests need it.
pub fn transports() -> [&'static str; 2] {
    if let Err(error) = std::net::TcpListener::bind("[::1]:0") {
        panic!("tcp6 cannot be tested, as this host has no IPv6 on loopback: {error}");
    }
    ["tcp4", "tcp6"]
}

pub fn open(transport: &str) -> Participant {
    SHIPPED.open(ParticipantSpec { transport: Some(transport), ..ParticipantSpec::default() })
}
