//! Bytes of a file that samples carry instead of a pattern.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, de};

/// Bytes that the samples of each writer carry after their headers, in turn: each sample continues where the one before it
/// ends, and after the last byte comes the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Encoded", into = "Encoded")]
#[cfg_attr(feature = "schema", schemars(with = "Encoded"))]
pub struct PayloadBytes(Arc<[u8]>);

impl PayloadBytes {
    /// Maximum number of bytes. As base64 they fit into a request.
    pub const MAX: usize = 16 << 20;
    /// Maximum number of samples that they fill.
    pub const MAX_SAMPLES: usize = 1 << 18;

    /// Creates the payload of these bytes; `None` if there are none, or more than [`PayloadBytes::MAX`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (1..=Self::MAX).contains(&bytes.len()).then(|| Self(bytes.into()))
    }

    /// Returns the number of samples after which the first one is repeated, if each carries this many bytes.
    #[must_use]
    pub fn samples(&self, bytes_of_each: usize) -> usize {
        self.0.len().div_ceil(bytes_of_each.max(1))
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

/// Serialized form of the bytes of a file.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PayloadBytes"))]
struct Encoded {
    /// The bytes.
    base64: String,
}

impl From<PayloadBytes> for Encoded {
    fn from(payload: PayloadBytes) -> Self {
        Self { base64: STANDARD.encode(&payload.0) }
    }
}

impl TryFrom<Encoded> for PayloadBytes {
    type Error = de::value::Error;

    fn try_from(encoded: Encoded) -> Result<Self, Self::Error> {
        let bytes = STANDARD.decode(&encoded.base64).map_err(de::Error::custom)?;
        Self::new(&bytes).ok_or_else(|| de::Error::custom("number of bytes out of range"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_return_unchanged_and_are_limited() {
        let payload = PayloadBytes::new(&[0, 255, 7]).expect("bytes");
        let text = serde_json::to_string(&payload).expect("JSON");
        assert_eq!(serde_json::from_str::<PayloadBytes>(&text).expect("what was sent"), payload);
        assert_eq!([1, 2, 3, 4, 0].map(|each| payload.samples(each)), [3, 2, 1, 1, 3]);
        assert!(PayloadBytes::new(&[]).is_none());
        assert!(PayloadBytes::new(&vec![0; PayloadBytes::MAX + 1]).is_none());
        for wrong in [r#"{"base64":""}"#, r#"{"base64":"?"}"#] {
            assert!(serde_json::from_str::<PayloadBytes>(wrong).is_err(), "{wrong}");
        }
    }
}
