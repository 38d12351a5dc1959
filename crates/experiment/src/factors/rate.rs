//! Rates with units: `1000`, `"10k/s"`, `"10/100ms"`, `"100Mbit/s"`, `"50%"`, `"max"`.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    factors::percent_of_max::PercentOfMax,
    syntax::{
        scalar::textual,
        units::{Time, integer},
    },
};

const SECOND_NS: u64 = 1_000_000_000;
/// Maximum mean rate in samples/s.
const MAX_SPS: u64 = 100_000_000;
/// Default queue of a throttled rate in samples, if neither the rate nor `send_queue` gives one.
pub(crate) const THROTTLE_QUEUE: u64 = 4_000;
/// Maximum period in ns.
const MAX_PERIOD_NS: u64 = 3_600 * SECOND_NS;

/// Rate in an experiment file: samples per period, payload bits per second, a percentage of the measured maximum
/// rate, as fast as possible, or a rate of each writing endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateSpec {
    /// Samples per period.
    Samples {
        /// Samples in a period.
        samples: u64,
        /// Period in ns.
        period_ns: u64,
    },
    /// Payload bits per second.
    Bits(u64),
    /// Percentage of the maximum rate, which is measured.
    Share(PercentOfMax),
    /// Each sample as soon as the previous one is written.
    Max,
    /// Like `Max`, but throttled to the rate that the reader follows, by the filling of a queue of this many
    /// samples. Without a number, it is the writer's send queue.
    Throttled(Option<u64>),
    /// Rates of the writing endpoints, in their order.
    PerWriter(Arc<[Self]>),
}

/// Rate as a fraction: samples per period. Sample `i` of a constant rate is due at `i * period_ns / samples`,
/// without accumulated rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Samples per period, at least 1.
    pub samples: u64,
    /// Period in ns, at least 1.
    pub period_ns: u64,
}

/// Sign between the rates of several writing endpoints.
const BETWEEN_WRITERS: char = '+';
/// Unit prefixes of a number of samples.
const COUNT_UNITS: &[(&str, u64)] = &[("k", 1_000), ("M", 1_000_000)];
/// Units of a bit rate, in bit/s.
const BIT_UNITS: &[(&str, u64)] =
    &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)];

impl RateSpec {
    const EXPECTED: &str = "a rate in whole numbers, such as `1000` (a second), `\"10k/s\"`, `\"30Hz\"`, `\"10/100ms\"`, `\"100Mbit/s\"`, `\"50%\"` (of the maximum), `\"max\"`, `\"throttled\"`, or one for each writer, such as `\"1000+max\"`";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.contains(BETWEEN_WRITERS) {
            let rates: Option<Arc<[Self]>> = text.split(BETWEEN_WRITERS).map(Self::parse).collect();
            return rates.map(Self::PerWriter);
        }
        if text == "max" {
            return Some(Self::Max);
        }
        if let Some(queue) = text.strip_prefix("throttled") {
            return match queue {
                "" => Some(Self::Throttled(None)),
                _ => match queue.strip_prefix(' ').and_then(integer)? {
                    0 => None,
                    queue => Some(Self::Throttled(Some(queue))),
                },
            };
        }
        if text.ends_with('%') {
            return PercentOfMax::parse(text).map(Self::Share);
        }
        if let Some((number, unit)) = with_unit(text, BIT_UNITS) {
            return integer(number)?.checked_mul(unit).map(Self::Bits);
        }
        // Hz are samples a second.
        let hertz = ["Hz", "hz", "HZ"].iter().find_map(|unit| text.strip_suffix(unit));
        let text = hertz.filter(|number| !number.contains('/')).map_or(text, str::trim_end);
        let (count, period) = text.split_once('/').unwrap_or((text, "s"));
        let (number, unit) = with_unit(count.trim(), COUNT_UNITS).unwrap_or((count, 1));
        let samples = integer(number)?.checked_mul(unit)?;
        let period = period.trim();
        // `/ms` is the same as `/1ms`.
        let period = if period.starts_with(|c: char| c.is_ascii_digit()) {
            Cow::from(period)
        } else {
            format!("1{period}").into()
        };
        let Time(period_ns) = Time::parse(&period)?;
        Some(Self::Samples { samples, period_ns })
    }

    /// Returns samples and ns as a fraction, for samples of this size; `None` for a rate that is measured or not
    /// limited.
    fn fraction(&self, size_bytes: u64) -> Option<(u128, u128)> {
        match *self {
            Self::Samples { samples, period_ns } => Some((samples.into(), period_ns.into())),
            Self::Bits(bits) => Some((bits.into(), u128::from(size_bytes) * 8 * u128::from(SECOND_NS))),
            Self::Share(_) | Self::Max | Self::Throttled(_) | Self::PerWriter(_) => None,
        }
    }

    /// Returns the rate for samples of this size; `None` if it is not absolute, or out of range. Equal rates have
    /// one form: samples per second if that is a whole number, else the fraction in lowest terms.
    pub(crate) fn of_size(&self, size_bytes: u64) -> Option<Rate> {
        let (samples, period_ns) = self.fraction(size_bytes)?;
        let in_second = samples.checked_mul(SECOND_NS.into())?;
        let (samples, period_ns) = if in_second.checked_rem(period_ns)? == 0 {
            (in_second / period_ns, SECOND_NS.into())
        } else {
            let common = common_divisor(samples, period_ns);
            (samples / common, period_ns / common)
        };
        Some(Rate { samples: samples.try_into().ok()?, period_ns: period_ns.try_into().ok()? })
    }

    /// Returns the samples per burst and the period; `None` for a rate without a number of samples.
    pub(crate) const fn bursts(&self) -> Option<Rate> {
        match *self {
            Self::Samples { samples, period_ns } => Some(Rate { samples, period_ns }),
            Self::Bits(_) | Self::Share(_) | Self::Max | Self::Throttled(_) | Self::PerWriter(_) => None,
        }
    }

    /// Returns an error text if the rate is out of range for samples of this size.
    pub(crate) fn fault(&self, size_bytes: u64) -> Option<String> {
        if let Self::PerWriter(rates) = self {
            return rates.iter().find_map(|rate| rate.fault(size_bytes));
        }
        if let Self::Share(share) = self {
            return (!share.is_in_range()).then(|| format!("the rate `{self}` is out of range"));
        }
        let (samples, period_ns) = self.fraction(size_bytes)?;
        let of_second = samples.saturating_mul(SECOND_NS.into());
        let slow = period_ns > samples.saturating_mul(MAX_PERIOD_NS.into())
            || matches!(*self, Self::Samples { period_ns, .. } if period_ns > MAX_PERIOD_NS);
        let fast = of_second > period_ns.saturating_mul(MAX_SPS.into());
        (slow || fast || self.of_size(size_bytes).is_none()).then(|| {
            let of_size = if matches!(self, Self::Bits(_)) {
                format!(", for samples of {size_bytes} bytes")
            } else {
                String::new()
            };
            format!("the rate `{self}` is out of range{of_size}")
        })
    }
}

impl Rate {
    /// Creates a rate of this many samples per second.
    #[must_use]
    pub const fn per_second(samples: u64) -> Self {
        Self { samples, period_ns: 1_000_000_000 }
    }

    /// Creates a rate of one sample per period.
    #[must_use]
    pub const fn every(period_ns: u64) -> Self {
        Self { samples: 1, period_ns }
    }

    /// Creates the nearest rate to `sps` samples/s, with a resolution of 1e-6 samples/s.
    #[must_use]
    pub fn nearest(sps: f64) -> Self {
        Self { samples: ((sps * 1e6).round() as u64).max(1), period_ns: 1_000_000_000_000_000 }
    }

    /// Returns the mean rate in samples/s.
    #[must_use]
    pub fn sps(self) -> f64 {
        let Self { samples, period_ns } = self;
        samples as f64 * 1e9 / period_ns as f64
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sps = self.sps();
        // Enough digits to distinguish neighbouring rates.
        let digits = if sps >= 1000.0 { 0 } else { 3 };
        let text = format!("{sps:.digits$}");
        let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        write!(f, "{text}/s")
    }
}

/// Splits a number and its unit; returns the number and the factor of the unit.
fn with_unit<'t>(text: &'t str, units: &[(&str, u64)]) -> Option<(&'t str, u64)> {
    units.iter().find_map(|(name, factor)| Some((text.strip_suffix(name)?, *factor)))
}

const fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for RateSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PerWriter(ref rates) => {
                rates.iter().enumerate().try_for_each(|(writer, rate)| match writer {
                    0 => rate.fmt(f),
                    _ => write!(f, "{BETWEEN_WRITERS}{rate}"),
                })
            }
            Self::Max => f.write_str("max"),
            Self::Share(share) => share.fmt(f),
            Self::Throttled(None) => f.write_str("throttled"),
            Self::Throttled(Some(queue)) => write!(f, "throttled {queue}"),
            Self::Samples { samples, period_ns: SECOND_NS } => write!(f, "{samples}/s"),
            Self::Samples { samples, period_ns } => {
                let period = Time(period_ns).to_string();
                write!(f, "{samples}/{}", period.replace(' ', ""))
            }
            Self::Bits(bits) => {
                let fits = |(_, factor): &&(&str, u64)| bits > 0 && bits % factor == 0;
                let (unit, factor) = BIT_UNITS.iter().find(fits).unwrap_or(&("bit/s", 1));
                write!(f, "{}{unit}", bits / factor)
            }
        }
    }
}

textual!(
    RateSpec,
    Valid,
    {
        "description": "A rate, in whole numbers: samples a second (`1000`, `10k/s`, `2M/s`, `30Hz`) or in another period (`10/100ms`), bits of payload a second (`100Mbit/s`), percent of what the same cell has without a plan, measured before the first block (`50%`), `max`, or `throttled` (by the send queue, or with a queue of its own in samples: `throttled 5000`). Several writers may have different rates, with `+` between them: `1000+3000/s+max`.",
        "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": "^ *(max|throttled( +0*[1-9][0-9]*)?|[0-9]+ *[kM]?(/[^+]+| *[Hh][Zz])?|[0-9]+ *[kMG]?bit/s|[0-9]+(\\.[0-9]{1,2})? *%) *(\\+ *(max|throttled( +0*[1-9][0-9]*)?|[0-9]+ *[kM]?(/[^+]+| *[Hh][Zz])?|[0-9]+ *[kMG]?bit/s|[0-9]+(\\.[0-9]{1,2})? *%) *)*$" },
        ],
    }
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn samples(samples: u64, period_ns: u64) -> RateSpec {
        RateSpec::Samples { samples, period_ns }
    }

    #[test]
    fn rates_are_numbers_or_have_a_period_or_are_bits() {
        let cases = [
            ("1000", samples(1000, SECOND_NS)),
            ("1000/s", samples(1000, SECOND_NS)),
            (" 10k / s ", samples(10_000, SECOND_NS)),
            ("2M/s", samples(2_000_000, SECOND_NS)),
            ("30Hz", samples(30, SECOND_NS)),
            ("10 kHz", samples(10_000, SECOND_NS)),
            ("5/ms", samples(5, 1_000_000)),
            ("10/100ms", samples(10, 100_000_000)),
            ("1/1min", samples(1, 60 * SECOND_NS)),
            ("100Mbit/s", RateSpec::Bits(100_000_000)),
            ("7 bit/s", RateSpec::Bits(7)),
            ("max", RateSpec::Max),
            ("throttled", RateSpec::Throttled(None)),
            ("throttled 5000", RateSpec::Throttled(Some(5_000))),
            (
                "1000+3k/s + max",
                RateSpec::PerWriter(
                    [samples(1000, SECOND_NS), samples(3000, SECOND_NS), RateSpec::Max].into(),
                ),
            ),
            (" 99.5 %", RateSpec::Share(PercentOfMax::parse("99.5%").expect("a share"))),
        ];
        for (text, rate) in cases {
            assert_eq!(RateSpec::parse(text), Some(rate), "{text}");
        }
        for wrong in [
            "",
            "-1",
            "+1",
            "1000+",
            "1000++3000",
            "0.5",
            "1e3",
            "k/s",
            "/s",
            "10/",
            "10/100",
            "10/s/s",
            "1Tbit/s",
            "Max",
            "99999999999999M",
            "10mbit/s",
            "throttled 0",
            "throttled5",
            "50%/s",
            "%",
            "-50%",
        ] {
            assert_eq!(RateSpec::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bits_are_exact_in_whole_samples_and_ns() {
        // Samples of 1 KiB: 12,207.03125 per second.
        let rate = RateSpec::Bits(100_000_000).of_size(1024).expect("a rate");
        assert_eq!(rate, Rate { samples: 1, period_ns: 81_920 });
        assert_eq!(RateSpec::Bits(8_000_000).of_size(1000), Some(Rate::per_second(1000)));
        // One sample in years is below the minimum rate.
        assert_eq!(RateSpec::Bits(1).of_size(u64::from(u32::MAX)), None);
        assert_eq!(RateSpec::Max.of_size(64), None);
    }

    #[test]
    fn the_same_rate_is_one() {
        for same in [samples(1, 1_000_000), samples(500, SECOND_NS / 2), samples(60_000, 60 * SECOND_NS)] {
            assert_eq!(same.of_size(64), Some(Rate::per_second(1000)));
        }
        assert_eq!(
            samples(2, 6 * SECOND_NS).of_size(64),
            Some(Rate { samples: 1, period_ns: 3 * SECOND_NS })
        );
    }

    #[test]
    fn zero_and_too_high_rates_are_rejected() {
        for good in [
            samples(100_000_000, SECOND_NS),
            samples(1, MAX_PERIOD_NS),
            RateSpec::Bits(1_000_000_000),
            RateSpec::Max,
        ] {
            assert_eq!(good.fault(64), None);
        }
        for wrong in [
            samples(0, SECOND_NS),
            samples(1, 0),
            samples(1, 1),
            samples(100_000_001, SECOND_NS),
            samples(1, MAX_PERIOD_NS + 1),
            samples(7_200, 2 * MAX_PERIOD_NS),
            samples(u64::MAX, MAX_PERIOD_NS),
        ] {
            assert_eq!(wrong.fault(64), Some(format!("the rate `{wrong}` is out of range")));
        }
        for wrong in [RateSpec::Bits(0), RateSpec::Bits(1), RateSpec::Bits(u64::MAX)] {
            let words = wrong.fault(1 << 20).expect("it is refused");
            assert!(words.ends_with("is out of range, for samples of 1048576 bytes"), "{words}");
        }
    }

    proptest! {
        #[test]
        fn text_form_parses_back(count: u64, period_ns in 1_u64..=MAX_PERIOD_NS, bits: u64) {
            let throttled = [None, Some(count.max(1))].map(RateSpec::Throttled);
            let written = [samples(count, period_ns), samples(count, SECOND_NS), RateSpec::Bits(bits), RateSpec::Max];
            let per_writer = RateSpec::PerWriter(written.clone().into());
            for rate in written.into_iter().chain(throttled).chain([per_writer]) {
                prop_assert_eq!(RateSpec::parse(&rate.to_string()), Some(rate));
            }
        }

        #[test]
        fn any_text_parses_without_panic(text in "\\PC{0,24}", near in "[0-9kMG/. +-]{0,12}(m?s|bit/s|max|min)?") {
            for text in [text, near] {
                if let Some(rate) = RateSpec::parse(&text) {
                    let measured = matches!(
                        rate, RateSpec::Max | RateSpec::Throttled(_) | RateSpec::Share(_) | RateSpec::PerWriter(_)
                    );
                    prop_assert!(measured || rate.fault(1024).is_some() || rate.of_size(1024).is_some());
                }
            }
        }

        /// A bit rate has exactly that many payload bits per second, for any sample size.
        #[test]
        fn bits_are_bits(bits in 1_u64..1 << 40, size in 16_u64..1 << 26) {
            let rate = RateSpec::Bits(bits).of_size(size).expect("a rate");
            let (left, right) = (u128::from(rate.samples) * u128::from(size) * 8 * u128::from(SECOND_NS), u128::from(bits) * u128::from(rate.period_ns));
            prop_assert_eq!(left, right);
        }
    }
}
