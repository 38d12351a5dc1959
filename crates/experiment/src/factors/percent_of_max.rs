//! Rates in percent of a measured maximum, such as `50%`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::syntax::scalar::schema;

/// 100 %, in hundredths of a percent.
const HUNDRED_PERCENT: u32 = 100 * 100;
/// 200 %, the largest valid share, in hundredths of a percent. A plan above it shows nothing that its start does
/// not show.
const MOST: u32 = 2 * HUNDRED_PERCENT;

/// Percentage of a maximum rate, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PercentOfMax(u32);

impl PercentOfMax {
    /// Parses digits with up to two decimal places, followed by `%`. Does not check the range.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.strip_suffix('%')?.trim();
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        if !digits(whole) || !digits(part) || part.is_empty() || part.len() > 2 {
            return None;
        }
        let part: u32 = format!("{part:0<2}").parse().ok()?;
        whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(part).map(Self)
    }

    /// Rounds to the nearest hundredth of a percent; returns `None` outside 0.01 to 200.
    #[must_use]
    pub fn of_percent(percent: f64) -> Option<Self> {
        Some(Self((percent * 100.0).round() as u32)).filter(|share| share.is_in_range())
    }

    /// Returns whether the share is 0.01 % to 200 %.
    pub(crate) fn is_in_range(self) -> bool {
        (1..=MOST).contains(&self.0)
    }

    /// Returns the share in percent.
    #[must_use]
    pub fn percent(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// Returns this share of a rate in samples/s.
    #[must_use]
    pub fn rate_sps(self, sps: f64) -> f64 {
        sps * f64::from(self.0) / f64::from(HUNDRED_PERCENT)
    }
}

impl fmt::Display for PercentOfMax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.percent())
    }
}

impl Serialize for PercentOfMax {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.percent())
    }
}

impl<'de> Deserialize<'de> for PercentOfMax {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let error = || de::Error::custom("a share of a maximum lies within 0.01 and 200 percent");
        Self::of_percent(f64::deserialize(deserializer)?).ok_or_else(error)
    }
}

schema!(PercentOfMax, "Share", {
    "description": "In percent of a maximum, to a hundredth.",
    "type": "number",
    "minimum": 0.01,
    "maximum": 200,
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_are_percents_to_a_hundredth() {
        for (text, percent) in
            [("10%", 10.0), ("99.5 %", 99.5), ("0.01%", 0.01), ("120%", 120.0), ("05.50%", 5.5)]
        {
            let share = PercentOfMax::parse(text).expect(text);
            assert!((share.percent() - percent).abs() < 1e-12 && share.is_in_range(), "{text}");
        }
        for wrong in
            ["", "%", "10", "-1%", "+1%", "1e1%", "1.%", ".5%", "0.001%", "1,5%", "inf%", "50%%", "5 0%"]
        {
            assert_eq!(PercentOfMax::parse(wrong), None, "{wrong}");
        }
        for beyond in ["0%", "0.0%", "200.01%", "4294967%"] {
            assert!(!PercentOfMax::parse(beyond).is_some_and(PercentOfMax::is_in_range), "{beyond}");
        }
        assert!((PercentOfMax::parse("50%").expect("a share").rate_sps(412_000.0) - 206_000.0).abs() < 1e-9);
    }

    #[test]
    fn files_have_them_as_numbers() {
        let read = |text: &str| serde_json::from_str::<PercentOfMax>(text);
        assert_eq!(read("50").expect("a whole number"), PercentOfMax(5_000));
        assert_eq!(read("99.5").expect("a number"), PercentOfMax(9_950));
        for wrong in ["0", "-1", "200.02", "1e300", "\"50\"", "null"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn text_form_parses_back(hundredths in 1..=MOST) {
            let share = PercentOfMax(hundredths);
            prop_assert_eq!(PercentOfMax::parse(&share.to_string()), Some(share));
            let json = serde_json::to_string(&share).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<PercentOfMax>(&json).expect("a share"), share);
        }

        #[test]
        fn any_text_parses_without_panic(text in "\\PC{0,12}", near in "[0-9.+ -]{0,12}%") {
            for text in [text, near] {
                if let Some(share) = PercentOfMax::parse(&text) {
                    prop_assert!(share.percent() >= 0.0);
                }
            }
        }
    }
}
