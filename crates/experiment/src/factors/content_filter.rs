//! Content filters of readers: conditions on the key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::syntax::scalar::textual;

/// Keys of the samples that a reader receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyFilter {
    /// Lowest key.
    pub first: u32,
    /// Highest key.
    pub last: u32,
}

impl KeyFilter {
    /// Returns whether the reader receives samples with this key.
    #[inline]
    #[must_use]
    pub const fn includes(self, key: u32) -> bool {
        self.first <= key && key <= self.last
    }

    /// Reads a condition in the form of DDS 1.4, annex B.
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is = |word: &str, keyword: &str| word.eq_ignore_ascii_case(keyword);
        let key = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (first, last) = match words[..] {
            ["key", "=", only] => (key(only)?, key(only)?),
            ["key", between, first, and, last] if is(between, "BETWEEN") && is(and, "AND") => {
                (key(first)?, key(last)?)
            }
            ["key", ">=", first, and, "key", "<=", last] if is(and, "AND") => (key(first)?, key(last)?),
            _ => return None,
        };
        (first <= last).then_some(Self { first, last })
    }

    /// Returns the part of a cell's id.
    pub(crate) fn id(self) -> String {
        match self {
            Self { first, last } if first == last => format!("filter-{first}"),
            Self { first, last } => format!("filter-{first}-{last}"),
        }
    }
}

impl fmt::Display for KeyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { first, last } if first == last => write!(f, "key = {first}"),
            Self { first, last } => write!(f, "key BETWEEN {first} AND {last}"),
        }
    }
}

/// Content filter in an experiment file: the keys that readers receive; `None`: they receive all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterSpec(pub Option<KeyFilter>);

impl FilterSpec {
    const EXPECTED: &str = "a condition on the key such as `\"key = 3\"`, `\"key BETWEEN 3 AND 5\"` or `\"key >= 3 AND key <= 5\"`; or `\"none\"`";

    fn parse(text: &str) -> Option<Self> {
        if text.trim() == "none" {
            Some(Self(None))
        } else {
            KeyFilter::parse(text).map(|keys| Self(Some(keys)))
        }
    }
}

impl fmt::Display for FilterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(keys) => keys.fmt(f),
        }
    }
}

textual!(
    FilterSpec,
    Invalid,
    {
        "description": "Condition on the key of the samples that a reader receives, in the form of DDS 1.4, annex B; with `none` it receives all.",
        "type": "string",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_has_a_key_or_a_range() {
        let keys = |first, last| Some(FilterSpec(Some(KeyFilter { first, last })));
        for (text, expected) in [
            ("key = 3", keys(3, 3)),
            (" key  BETWEEN 3 AND 5 ", keys(3, 5)),
            ("key between 0 and 4294967295", keys(0, u32::MAX)),
            ("key >= 3 AND key <= 5", keys(3, 5)),
            ("none", Some(FilterSpec(None))),
        ] {
            let filter = FilterSpec::parse(text);
            assert_eq!(filter, expected, "{text}");
            assert_eq!(FilterSpec::parse(&filter.expect("a filter").to_string()), expected, "{text}");
        }
        for wrong in [
            "",
            "key",
            "key = ",
            "key = -1",
            "key = +1",
            "key = 4294967296",
            "key=3",
            "size = 3",
            "key > 3",
            "key BETWEEN 5 AND 3",
            "key >= 3 OR key <= 5",
            "key = 3 AND key = 3",
            "3",
            "None",
        ] {
            assert_eq!(FilterSpec::parse(wrong), None, "{wrong}");
        }
    }
}
