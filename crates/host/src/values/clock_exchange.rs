//! Clock exchange between two hosts: its parameters and what it measures.

use std::{fmt, net::SocketAddr, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// Number of bytes of a key.
pub const KEY_BYTES: usize = 16;

/// Random key of one exchange. Both sides ignore packets without it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExchangeKey(pub(crate) [u8; KEY_BYTES]);

impl ExchangeKey {
    /// Returns a random key.
    ///
    /// # Errors
    /// Returns an error if the kernel has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; KEY_BYTES];
        std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl From<[u8; KEY_BYTES]> for ExchangeKey {
    fn from(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }
}

impl From<ExchangeKey> for String {
    fn from(key: ExchangeKey) -> Self {
        format!("{:032x}", u128::from_be_bytes(key.0))
    }
}

impl FromStr for ExchangeKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.len() == 2 * KEY_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = digits.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(|| "not a key of 32 digits".to_owned())
    }
}

impl TryFrom<String> for ExchangeKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Debug for ExchangeKey {
    /// A key is not for logs.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ExchangeKey")
    }
}

/// Responder of an exchange. It lives until its hold is dropped, and no longer than its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockResponder {
    /// Network interface to which it is bound.
    pub interface: String,
    /// Key of the exchange.
    pub key: ExchangeKey,
    /// Maximum lifetime.
    pub limit: Duration,
}

/// Client of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockClient {
    /// Network interface to which it is bound.
    pub interface: String,
    /// Address of the responder.
    pub responder: SocketAddr,
    /// Key of the exchange.
    pub key: ExchangeKey,
    /// Maximum number of packets to send.
    pub count: u32,
    /// Maximum duration.
    pub limit: Duration,
}

/// Times of one packet and its reply. `sent_ns` and `returned_ns` are of the client's clock, the other two of the
/// responder's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockExchange {
    /// Time before the packet was sent.
    pub sent_ns: u64,
    /// Time after the responder received it.
    pub received_ns: u64,
    /// Time before the responder sent the reply.
    pub replied_ns: u64,
    /// Time after the client received it.
    pub returned_ns: u64,
}

/// Reading of the clocks of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// Time of the clock of the agents, `CLOCK_MONOTONIC`, in ns.
    pub monotonic_ns: u64,
    /// `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC` in ns. It grows by the duration of each suspension.
    pub suspended_ns: i64,
    /// Maximum error of `suspended_ns`, in ns.
    pub uncertainty_ns: u64,
}
