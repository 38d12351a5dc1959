//! Values of an experiment file that are no factors: cores.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::{
    factors::driver_options::OptionValue,
    syntax::scalar::{schema, to_text},
};

/// CPU cores: `"auto"` (half of the available cores for each endpoint; a single core is not pinned), `"none"`, or
/// the cores of writer and reader, such as `"0,1"` or `"0-3,4-7"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinChoice {
    /// No pinning.
    None,
    /// Half of the available cores for each endpoint.
    Auto,
    /// Cores of the writer (or pinger), and cores of the reader (or echo).
    Cores(Vec<u32>, Vec<u32>),
}

impl PinChoice {
    /// Description of the accepted text, for error messages.
    pub const EXPECTED: &str = "`none`, `auto`, or cores for the two ends such as `0,1` or `0-3,4-7`";

    /// Parses the text of an experiment file or a flag; returns `None` if it is invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse::<u32>().ok()?);
            (first <= last && last < 4096).then(|| (first..=last).collect::<Vec<u32>>())
        };
        match text {
            "none" => Some(Self::None),
            "auto" => Some(Self::Auto),
            _ => {
                let (writer, reader) = text.split_once(',')?;
                Some(Self::Cores(range(writer)?, range(reader)?))
            }
        }
    }
}

impl fmt::Display for PinChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |cores: &[u32]| match cores {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        };
        match self {
            Self::None => f.write_str("none"),
            Self::Auto => f.write_str("auto"),
            Self::Cores(writer, reader) => write!(f, "{},{}", range(writer), range(reader)),
        }
    }
}

to_text!(PinChoice);

impl<'de> Deserialize<'de> for PinChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = PinChoice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(PinChoice::EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<PinChoice, E> {
                PinChoice::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            /// Accepts the list that `--set` makes of a value with commas.
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut parts: A) -> Result<PinChoice, A::Error> {
                let mut ends: Vec<String> = Vec::new();
                while let Some(OptionValue(end)) = parts.next_element()? {
                    ends.push(end);
                }
                self.visit_str(&ends.join(","))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

schema!(PinChoice, "Cores", {
    "description": "`auto` (half of the cores that may be used for each end; a single core is not pinned), `none`, or those of writer and reader, `0,1` or `0-3,4-7`.",
    "type": "string",
});
