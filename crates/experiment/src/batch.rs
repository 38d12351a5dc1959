//! Batches of samples: the factors `batch_bytes` and `batch_samples`.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    Batching, FactorValues, Factors,
    many::At,
    units::{Size, textual},
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

textual!(
    BatchSamples,
    true,
    json_schema!({
        "description": "Samples of a batch: a number (1 is unbatched), `turbo`, or `turbo` with a ceiling in bytes, as in `turbo 16KiB`.",
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
            { "type": "string", "pattern": "^ *([0-9]+|turbo( +[0-9]+ *([KMG]iB|[kMG]B|B)?)?) *$" },
        ],
    })
);

/// Batch setting, independent of the sample size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// Maximum payload in bytes; 0 disables batching.
    Bytes(u64),
    /// Number of samples.
    Samples(u64),
    /// The samples that are due, up to a maximum payload in bytes.
    Turbo(u64),
}

impl Batch {
    /// Returns the batch settings of the two factors with their positions. Equal settings, such as 0 bytes and 1
    /// sample, are returned once.
    pub(crate) fn all(axes: &FactorValues) -> Vec<(Self, crate::Span)> {
        let of_bytes = |size: &At<Size>| (Self::Bytes(size.get().0), size.span());
        let of_samples = |samples: &At<BatchSamples>| match *samples.get() {
            BatchSamples::Fixed(1) => (Self::Bytes(0), samples.span()),
            BatchSamples::Fixed(number) => (Self::Samples(number), samples.span()),
            BatchSamples::Turbo(Size(ceiling)) => (Self::Turbo(ceiling), samples.span()),
        };
        let mut all: Vec<(Self, crate::Span)> = Vec::new();
        let (bytes, samples) = (axes.all::<Size>("batch_bytes"), axes.all::<BatchSamples>("batch_samples"));
        for (batch, at) in bytes.0.iter().map(of_bytes).chain(samples.0.iter().map(of_samples)) {
            if all.iter().all(|(known, _)| *known != batch) {
                all.push((batch, at));
            }
        }
        all
    }

    pub(crate) fn is_unbatched(self) -> bool {
        self == Self::Bytes(0)
    }

    /// Returns the maximum payload of a batch in bytes, for samples of this size.
    pub(crate) const fn ceiling(self, size_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) | Self::Turbo(bytes) => bytes,
            Self::Samples(samples) => samples.saturating_mul(size_bytes),
        }
    }

    /// Returns the component that packs this batch, given the one that packs fixed batches for the driver.
    pub(crate) const fn by(self, driver: Batching) -> Batching {
        match (self, driver) {
            (Self::Bytes(0), _) => Batching::None,
            (Self::Turbo(_), Batching::Native) => Batching::TurboNative,
            (Self::Turbo(_), Batching::Application) => Batching::TurboApplication,
            _ => driver,
        }
    }
}

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
    fn what_is_written_reads_back() {
        for batch in [BatchSamples::Fixed(2), BatchSamples::Turbo(Size(8192)), BatchSamples::Turbo(Size(7))] {
            assert_eq!(BatchSamples::parse(&batch.to_string()), Some(batch));
        }
    }

    #[test]
    fn a_batch_of_samples_grows_with_their_size() {
        assert_eq!(Batch::Samples(4).ceiling(200), 800);
        assert_eq!((Batch::Bytes(8192).ceiling(200), Batch::Turbo(9).ceiling(200)), (8192, 9));
        assert_eq!(Batch::Turbo(9).by(Batching::Native), Batching::TurboNative);
        assert_eq!(Batch::Samples(2).by(Batching::Application), Batching::Application);
        assert_eq!(Batch::Bytes(0).by(Batching::Native), Batching::None);
    }
}
