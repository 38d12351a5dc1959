//! The driver as it ships: the shared library, loaded as an agent loads it.
#![allow(dead_code, unused_imports, reason = "not every test needs all of it")]
pub use driver_kit::testing::shipped::*;
use driver_kit::testing::{Open, Participant};

driver_kit::shipped!("libddsmark_tcp.so");

/// The transports. Fails on a host without IPv6, where half of this cannot be tested.
pub fn transports() -> [&'static str; 2] {
    if let Err(error) = std::net::TcpListener::bind("[::1]:0") {
        panic!("tcp6 cannot be tested, as this host has no IPv6 on loopback: {error}");
    }
    ["tcp4", "tcp6"]
}

pub fn open(transport: &str) -> Participant {
    SHIPPED.open(Open { transport: Some(transport), ..Open::default() })
}
