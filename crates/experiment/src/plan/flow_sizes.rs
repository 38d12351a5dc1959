//! Size of the samples of a flow in a file: one, or a distribution.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IntoDeserializer as _, value::MapAccessDeserializer},
};

use crate::{
    factors::sizes::SizeDistribution,
    syntax::{
        one_or_many::Located,
        spanned_error::{PlanError, SpannedError},
        units::{MIN_SIZE_BYTES, Size},
    },
};

/// Maximum number of values of a distribution.
pub const MAX_SIZE_VALUES: usize = 64;
/// Highest weight of a value.
const MAX_WEIGHT: i64 = 1_000_000;
/// Highest 99 % quantile of a log-normal distribution, as a multiple of its median.
const MAX_RATIO: u64 = 1_000;

const FORMS: &str =
    "write `{ values = [64, 1024], weights = [9, 1] }` or `{ median = \"200kB\", p99 = \"450kB\" }`";

/// Size of the samples of a flow in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SizeSpec {
    /// One size of all samples.
    One(Size),
    /// A distribution.
    Drawn(DrawnSizes),
}

/// Distribution of sizes in a file: `values`, with or without `weights`, or `median` and `p99`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DrawnSizes {
    /// Sizes of which each sample has one, 2 to 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<Size>,
    /// Relative frequencies of `values`, whole numbers from 1 to 1,000,000. Default: all equal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<i64>,
    /// Median of a log-normal distribution. Samples have at least 16 bytes, and at most the 99.95 % quantile.
    median: Option<Size>,
    /// Its 99 % quantile, more than `median` and at most 1000 times as much.
    p99: Option<Size>,
}

impl SizeSpec {
    /// Returns the distribution, unvalidated; `None` for one size.
    fn distribution(&self) -> Option<SizeDistribution> {
        let Self::Drawn(DrawnSizes { values, weights, median, p99 }) = self else { return None };
        Some(match (median, p99) {
            (Some(Size(median_bytes)), Some(Size(p99_bytes))) => {
                SizeDistribution::LogNormal { median_bytes: *median_bytes, p99_bytes: *p99_bytes }
            }
            _ => {
                let weight = |weight: &i64| u32::try_from(*weight).unwrap_or(0);
                let weights: Vec<u32> = weights.iter().map(weight).collect();
                let weights = if weights.is_empty() { vec![1; values.len()] } else { weights };
                SizeDistribution::Values { values: values.iter().map(|size| size.0).collect(), weights }
            }
        })
    }

    /// Returns the largest size.
    pub(crate) fn largest(&self) -> Size {
        match (self, self.distribution()) {
            (Self::One(size), _) => *size,
            (Self::Drawn(_), distribution) => Size(distribution.map_or(0, |of| of.largest_bytes())),
        }
    }
}

impl Located<SizeSpec> {
    /// Returns the largest size in bytes, and the distribution if it is not one size.
    pub(crate) fn checked(&self) -> Result<(u64, Option<SizeDistribution>), SpannedError> {
        let too_small = |size: u64| Err(PlanError::too_small(size).at(self.span()));
        let drawn = match self.get() {
            SizeSpec::One(Size(bytes)) if *bytes < MIN_SIZE_BYTES => return too_small(*bytes),
            SizeSpec::One(Size(bytes)) => return Ok((*bytes, None)),
            SizeSpec::Drawn(drawn) => drawn,
        };
        if let Some(Size(bytes)) = drawn.values.iter().chain(&drawn.median).min()
            && *bytes < MIN_SIZE_BYTES
        {
            return too_small(*bytes);
        }
        if let Some((words, hint)) = drawn.fault() {
            return self.refused(words, hint);
        }
        let Size(largest) = self.get().largest();
        Ok((largest, self.get().distribution()))
    }
}

impl SizeDistribution {
    /// Creates a log-normal distribution.
    ///
    /// # Errors
    /// Returns what is wrong with it, and what to write.
    pub fn log_normal(median: Size, p99: Size) -> Result<Self, (String, &'static str)> {
        match log_normal_fault(median, p99) {
            Some(fault) => Err(fault),
            None => Ok(Self::LogNormal { median_bytes: median.0, p99_bytes: p99.0 }),
        }
    }
}

impl DrawnSizes {
    /// Returns what is wrong with a distribution, and what to write.
    fn fault(&self) -> Option<(String, &'static str)> {
        let Self { values, weights, median, p99 } = self;
        match (values.is_empty(), median, p99) {
            (true, Some(median), Some(p99)) if weights.is_empty() => log_normal_fault(*median, *p99),
            (false, None, None) => values_fault(values.len(), weights),
            _ => {
                Some(("a distribution of sizes has either `values`, or `median` and `p99`".to_owned(), FORMS))
            }
        }
    }
}

fn log_normal_fault(Size(median): Size, Size(p99): Size) -> Option<(String, &'static str)> {
    if median < MIN_SIZE_BYTES {
        let words = format!("a median of {median} bytes is less than the header of {MIN_SIZE_BYTES} bytes");
        return Some((words, "give sizes from 16 bytes on"));
    }
    if p99 <= median {
        let words = format!("the 99 % quantile of {p99} bytes is not more than the median of {median} bytes");
        return Some((words, "give `p99` more than `median`; a single size is `size = 1024`"));
    }
    (p99 > median.saturating_mul(MAX_RATIO)).then(|| {
        let words =
            format!("the 99 % quantile of {p99} bytes is more than 1000 times the median of {median} bytes");
        (words, "such sizes are not log-normal: write the frequent ones as `values`, with `weights`")
    })
}

fn values_fault(values: usize, weights: &[i64]) -> Option<(String, &'static str)> {
    if !(2..=MAX_SIZE_VALUES).contains(&values) {
        let words = format!("a distribution of {values} sizes is not supported");
        return Some((words, "give 2 to 64 `values`; a single size is `size = 1024`"));
    }
    if !weights.is_empty() && weights.len() != values {
        let words = format!("{values} `values` have {} `weights`", weights.len());
        return Some((words, "give each value one weight, or leave out `weights`"));
    }
    let wrong = weights.iter().find(|weight| !(1..=MAX_WEIGHT).contains(*weight))?;
    Some((format!("the weight {wrong} is out of range"), "use whole numbers from 1 to 1000000"))
}

impl<'de> Deserialize<'de> for SizeSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = SizeSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as `1024` or `\"64KiB\"`, or a table with a distribution of sizes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeSpec, E> {
                Size::deserialize(text.into_deserializer()).map(SizeSpec::One)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<SizeSpec, E> {
                Size::deserialize(number.into_deserializer()).map(SizeSpec::One)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<SizeSpec, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<SizeSpec, A::Error> {
                DrawnSizes::deserialize(MapAccessDeserializer::new(map)).map(SizeSpec::Drawn)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for SizeSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SizeOfFlow".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The size of all samples, or a distribution of sizes.",
            "anyOf": [generator.subschema_for::<Size>(), generator.subschema_for::<DrawnSizes>()],
        })
    }
}
