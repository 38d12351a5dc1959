//! Receive groups: samples that a reader's application gets together.

use std::{fmt, ops::RangeInclusive};

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    factors::Factors,
    syntax::{
        named::named,
        scalar::{from_text, schema},
        units::{Time, integer, short},
    },
};

/// Maximum number of samples of a group. The reader keeps them until the group is complete.
pub const MAX_GROUP: u32 = 4096;
/// Valid number of samples of a group.
const SAMPLES: RangeInclusive<u64> = 2..=MAX_GROUP as u64;
/// Valid range of the wait of the first sample, in ns. It is short because a run ends only when its reader is idle.
const DELAY_NS: RangeInclusive<u64> = 1_000..=100_000_000;
/// Maximum payload of a group in bytes.
pub const MAX_GROUP_BYTES: u64 = 64 << 20;

/// Group of samples that the reader's application gets together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReceiveGroup {
    /// Number of samples of a complete group.
    pub samples: u32,
    /// Time after the first sample at which an incomplete group is passed on, in ns.
    pub delay_ns: u64,
    /// Component that forms groups.
    pub by: Grouping,
}

/// Component that forms groups of received samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The application, which is ddsmark's own reader; works with any middleware.
    Application,
}

named!(Grouping { Application = "application" });

impl ReceiveGroup {
    /// Creates a group that ddsmark forms.
    #[must_use]
    pub const fn new(samples: u32, delay_ns: u64) -> Self {
        Self { samples, delay_ns, by: Grouping::Application }
    }

    /// Returns the part of a cell's id.
    pub(crate) fn id(self) -> String {
        format!("group-{}", GroupSpec(Some(self)))
    }
}

impl fmt::Display for ReceiveGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "groups of {} or what comes within {} ({})", self.samples, short(self.delay_ns), self.by)
    }
}

/// Receive group in an experiment file: a number of samples and a time; `None`: each sample is passed on when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSpec(pub Option<ReceiveGroup>);

impl GroupSpec {
    const EXPECTED: &str = "a group of 2 to 4096 samples and the longest that the first one waits, 1us to 100ms, such as `\"8/5ms\"`; or `1`";

    fn parse(text: &str) -> Option<Self> {
        let Some((samples, delay)) = text.split_once('/') else {
            return (integer(text)? == 1).then_some(Self(None));
        };
        let (samples, Time(delay_ns)) = (integer(samples)?, Time::parse(delay.trim())?);
        let samples = u32::try_from(samples).ok().filter(|_| SAMPLES.contains(&samples))?;
        DELAY_NS.contains(&delay_ns).then(|| Self(Some(ReceiveGroup::new(samples, delay_ns))))
    }

    /// Returns an error text if the group is too large for samples of this size.
    pub(crate) fn fault(self, size_bytes: u64) -> Option<String> {
        let ReceiveGroup { samples, .. } = self.0?;
        let bytes = u64::from(samples).saturating_mul(size_bytes);
        (bytes > MAX_GROUP_BYTES).then(|| {
            format!("a group of {samples} samples of {size_bytes} bytes takes more than the {MAX_GROUP_BYTES} bytes of a reader")
        })
    }
}

impl fmt::Display for GroupSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("1"),
            Some(group) => write!(f, "{}/{}", group.samples, short(group.delay_ns)),
        }
    }
}

impl Serialize for GroupSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_u64(1),
            Some(_) => serializer.collect_str(self),
        }
    }
}

from_text!(GroupSpec, Valid);
schema!(
    GroupSpec,
    "GroupSpec",
    {
        "description": "Samples that a reader's application is given together: `8/5ms` is 8, or what came 5 ms after the first. `1` is each by itself.",
        "anyOf": [
            { "type": "integer", "const": 1 },
            { "type": "string", "pattern": "^ *(1|[0-9]+ */.+) *$" },
        ],
    }
);

impl Factors {
    /// Returns the receive mode, with its group or delay, for tables.
    #[must_use]
    pub fn reception(&self) -> String {
        let group = self.queues.receive_group.map(|group| format!(" in {group}"));
        let delay = self.queues.polling_delay_ns.map(|ns| format!(" with a delay of {}", short(ns)));
        format!("{}{}{}", self.receive, group.unwrap_or_default(), delay.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn group(samples: u32, delay_ns: u64) -> GroupSpec {
        GroupSpec(Some(ReceiveGroup::new(samples, delay_ns)))
    }

    #[test]
    fn a_group_has_a_number_and_a_time() {
        for (text, expected) in [
            ("8/5ms", group(8, 5_000_000)),
            (" 2 / 1us ", group(2, 1_000)),
            ("4096/100ms", group(4096, 100_000_000)),
            ("1", GroupSpec(None)),
        ] {
            assert_eq!(GroupSpec::parse(text), Some(expected), "{text}");
        }
        for wrong in [
            "", "0", "2", "8", "/5ms", "8/", "8/5", "1/5ms", "4097/5ms", "8/101ms", "8/0ms", "8/999ns",
            "-8/5ms", "8/5ms/1",
        ] {
            assert_eq!(GroupSpec::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn group_beyond_the_memory_limit_is_rejected() {
        assert_eq!(group(64, 1_000).fault(1 << 20), None);
        assert!(
            group(64, 1_000).fault((1 << 20) + 1).expect("a fault").contains("64 samples of 1048577 bytes")
        );
        assert_eq!(GroupSpec(None).fault(u64::MAX), None);
        assert!(group(2, 1_000).fault(u64::MAX).is_some());
    }

    proptest! {
        #[test]
        fn text_form_parses_back(samples in 2_u32..=4096, delay_ns in 1_000_u64..=100_000_000) {
            let spec = group(samples, delay_ns);
            prop_assert_eq!(GroupSpec::parse(&spec.to_string()), Some(spec));
        }

        #[test]
        fn any_text_parses_without_panic(text in "\\PC{0,24}", near in "[0-9/ .+-]{0,8}([mnu]?s|min)?") {
            for text in [text, near] {
                if let Some(GroupSpec(Some(ReceiveGroup { samples, delay_ns, .. }))) = GroupSpec::parse(&text) {
                    prop_assert!((2..=4096).contains(&samples) && (1_000..=100_000_000).contains(&delay_ns));
                }
            }
        }
    }
}
