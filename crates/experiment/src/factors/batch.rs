//! Batches of samples: the factors `batch_bytes` and `batch_samples`.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::{
    factors::{Batching, Factors},
    syntax::{
        scalar::{from_text, schema},
        units::Size,
    },
};

/// Default maximum of a turbo batch in bytes.
pub const TURBO_BYTES: u64 = 8192;
/// Maximum number of samples of a batch.
const MAX_SAMPLES: u64 = 1_000_000;

/// Batch size in samples: a fixed number, or the samples that are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSamples {
    /// Number of samples; 1 disables batching.
    Fixed(u64),
    /// The samples that are due when the batch is sent, up to a maximum payload.
    Turbo(Size),
}

impl BatchSamples {
    const EXPECTED: &str =
        "a number of samples such as `4`, or `\"turbo\"`, or `\"turbo 16KiB\"` with a ceiling of its own";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(ceiling) = text.strip_prefix("turbo") {
            return match ceiling.trim_start() {
                "" => Some(Self::Turbo(Size(TURBO_BYTES))),
                _ if !ceiling.starts_with(' ') => None,
                ceiling => Size::parse(ceiling).filter(|size| size.0 > 0).map(Self::Turbo),
            };
        }
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let samples = digits.then(|| text.parse().ok()).flatten()?;
        (1..=MAX_SAMPLES).contains(&samples).then_some(Self::Fixed(samples))
    }
}

impl fmt::Display for BatchSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(samples) => samples.fmt(f),
            Self::Turbo(Size(TURBO_BYTES)) => f.write_str("turbo"),
            Self::Turbo(ceiling) => write!(f, "turbo {ceiling}"),
        }
    }
}

impl Serialize for BatchSamples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(samples) => serializer.serialize_u64(*samples),
            Self::Turbo(_) => serializer.collect_str(self),
        }
    }
}

from_text!(BatchSamples, Valid);
schema!(
    BatchSamples,
    "BatchSamples",
    {
        "description": "Samples of a batch: a number (1 is unbatched), `turbo`, or `turbo` with a ceiling in bytes, as in `turbo 16KiB`.",
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
            { "type": "string", "pattern": "^ *([0-9]+|turbo( +[0-9]+ *([KMG]iB|[kMG]B|B)?)?) *$" },
        ],
    }
);

impl BatchSamples {
    /// Returns whether a cell has this batch size.
    pub(crate) fn is_of(&self, factors: &Factors) -> bool {
        let bytes = factors.batch_bytes;
        match *self {
            Self::Fixed(1) => bytes == 0,
            Self::Fixed(samples) => {
                !factors.batching.is_turbo() && bytes == samples.saturating_mul(factors.size_bytes)
            }
            Self::Turbo(Size(ceiling)) => factors.batching.is_turbo() && bytes == ceiling,
        }
    }
}

impl Batching {
    /// Returns whether a batch is sent as soon as the next sample is not due yet.
    #[must_use]
    pub const fn is_turbo(self) -> bool {
        matches!(self, Self::TurboNative | Self::TurboApplication)
    }
}

impl Factors {
    /// Returns the batch setting for tables: `none`, a maximum in bytes, or `turbo (native) 8192`.
    #[must_use]
    pub fn batch(&self) -> String {
        match self.batch_bytes {
            0 => "none".to_owned(),
            bytes if self.batching.is_turbo() => format!("{} {bytes}", self.batching),
            bytes => bytes.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_a_number_or_turbo() {
        let parse = BatchSamples::parse;
        assert_eq!(parse("4"), Some(BatchSamples::Fixed(4)));
        assert_eq!(parse(" turbo "), Some(BatchSamples::Turbo(Size(TURBO_BYTES))));
        assert_eq!(parse("turbo 16KiB"), Some(BatchSamples::Turbo(Size(16_384))));
        for wrong in
            ["", "0", "-1", "1.5", "1000001", "turbo16KiB", "turbo 0", "turbo x", "turb", "4 samples"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn text_form_parses_back() {
        for batch in [BatchSamples::Fixed(2), BatchSamples::Turbo(Size(8192)), BatchSamples::Turbo(Size(7))] {
            assert_eq!(BatchSamples::parse(&batch.to_string()), Some(batch));
        }
    }
}
