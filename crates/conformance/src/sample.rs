//! Received samples, and payloads that carry a number.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use driver_host::Sample;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Received sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedSample {
    /// Key of its instance.
    pub key: u32,
    /// Content.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub payload: Vec<u8>,
}

impl ReceivedSample {
    /// Copies a sample that is valid during a call of the driver only.
    pub fn copy_of(sample: Sample<'_>) -> Self {
        Self { key: sample.key, payload: sample.payload.to_vec() }
    }

    /// Returns the number that [`numbered`] wrote into the payload.
    pub fn number(&self) -> Option<u64> {
        Some(u64::from_le_bytes(self.payload.get(..8)?.try_into().ok()?))
    }
}

/// Creates a payload of at least 8 bytes that starts with its number; every further byte depends on the number.
pub fn numbered(number: u64, size: usize) -> Vec<u8> {
    let mut payload: Vec<u8> = (0..size)
        .map(|at| (at as u64).wrapping_mul(31).wrapping_add(number) as u8 ^ (at >> 8) as u8)
        .collect();
    payload[..8].copy_from_slice(&number.to_le_bytes());
    payload
}

/// Serializes a payload as base64: an array of numbers takes too long to parse.
fn to_base64<S: Serializer>(payload: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(payload))
}

/// Deserializes a payload from base64.
fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
