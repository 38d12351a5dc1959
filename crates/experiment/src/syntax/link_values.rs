//! Values of the factors of links: rate, delay and loss, with the units of `tc`.

use std::fmt;

use super::{
    link::{LinkSpec, PRINTED_TIME_UNITS, RATE_UNITS, in_largest, percent},
    scalar::textual,
};

/// Text of a link without a limit of its rate.
const UNLIMITED: &str = "unlimited";

/// Rate of each link in bit/s on the wire; `None`: unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRate(pub Option<u64>);

/// Delay from one host to another in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDelay(pub u64);

/// Lost IP packets or fragments of 1,000,000, from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLoss(pub u32);

impl LinkRate {
    const EXPECTED: &str = "`\"unlimited\"`, or a rate from 10kbit to 100gbit, such as `\"100mbit\"`";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            UNLIMITED => Some(Self(None)),
            text => LinkSpec::parse_rate(text).ok().map(|rate| Self(Some(rate))),
        }
    }
}

impl LinkDelay {
    const EXPECTED: &str = "0, or a time with its unit of at most 10s, such as `\"1ms\"`";

    fn parse(text: &str) -> Option<Self> {
        LinkSpec::parse_delay(text).ok().map(Self)
    }
}

impl LinkLoss {
    const EXPECTED: &str = "0, or a share up to 100% with at most four decimals, such as `\"0.1%\"`";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "0" => Some(Self(0)),
            text => LinkSpec::parse_loss(text).ok().map(Self),
        }
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str(UNLIMITED),
            Some(rate) => f.write_str(&in_largest(rate, RATE_UNITS)),
        }
    }
}

impl fmt::Display for LinkDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            ns => f.write_str(&in_largest(ns, PRINTED_TIME_UNITS)),
        }
    }
}

impl fmt::Display for LinkLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", percent(self.0))
    }
}

textual!(
    LinkRate,
    WithoutUnit,
    {
        "description": "Rate of a link: `unlimited`, or bit/s with `kbit`, `mbit` or `gbit`, such as `100mbit`.",
        "type": "string",
        "pattern": "^ *(unlimited|[0-9.]+ *[kKmMgG]?[bB][iI][tT]) *$",
    }
);
textual!(
    LinkDelay,
    Valid,
    {
        "description": "Delay of a link: a time with `ns`, `us`, `ms` or `s`, such as `1ms`; or 0.",
        "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": 0 },
            { "type": "string", "pattern": "^ *(0|[0-9.]+ *(ns|us|µs|ms|s)) *$" },
        ],
    }
);
textual!(
    LinkLoss,
    Valid,
    {
        "description": "Loss of a link in percent, such as `0.1%`; or 0.",
        "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": 0 },
            { "type": "string", "pattern": "^ *(0|[0-9.]+ *%) *$" },
        ],
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_links_are_printed_in_one_form() {
        for (text, printed) in [("0.1gbit", "100mbit"), ("unlimited", "unlimited"), ("1500kbit", "1500kbit")]
        {
            assert_eq!(LinkRate::parse(text).expect(text).to_string(), printed);
        }
        for (text, printed) in [("0", "0"), ("0ms", "0"), ("1000us", "1ms"), ("1.5ms", "1500us")] {
            assert_eq!(LinkDelay::parse(text).expect(text).to_string(), printed);
        }
        for (text, printed) in [("0", "0%"), ("0%", "0%"), ("0.10%", "0.1%"), ("100 %", "100%")] {
            assert_eq!(LinkLoss::parse(text).expect(text).to_string(), printed);
        }
        for wrong in ["", "100", "-1mbit", "none", "100mbps"] {
            assert_eq!(LinkRate::parse(wrong), None, "{wrong}");
        }
        for wrong in ["", "1", "-1ms", "11s"] {
            assert_eq!(LinkDelay::parse(wrong), None, "{wrong}");
        }
        for wrong in ["", "1", "101%", "0.00001%"] {
            assert_eq!(LinkLoss::parse(wrong), None, "{wrong}");
        }
    }
}
