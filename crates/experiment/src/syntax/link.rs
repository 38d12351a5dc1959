//! Virtual hosts and their links, as text: `lab:4,rate=100mbit,delay=1ms,loss=0.1%,mtu=1500`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::spanned_error::{PlanError, contradiction};

/// Link of each host: what a frame on its way from one host to another experiences.
///
/// The text has the units of `tc`: `rate=100mbit,delay=1ms,loss=0.1%,mtu=9000`. What is not given is absent: no limit, no
/// delay, no loss, and the MTU of Ethernet, 1500. A rate above what the CPU carries is allowed, but no link becomes faster than the CPU: a frame costs some
/// microseconds, so 1 Gbit/s needs most of a core, and a busy or slow host stays below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Rate of each direction in bit/s on the wire, with preamble, headers, checksum and gap of each Ethernet frame.
    pub rate_bit_per_s: Option<u64>,
    /// Delay from one host to another in ns, in addition to that of the rate. A round trip has twice the delay.
    pub delay_ns: u64,
    /// Lost IP packets or fragments of 1,000,000, from one host to another.
    pub loss_ppm: u32,
    /// Longest IP packet that fits into a frame, in bytes. Longer datagrams are fragmented.
    pub mtu_bytes: u32,
}

impl Default for LinkSpec {
    fn default() -> Self {
        Self { rate_bit_per_s: None, delay_ns: 0, loss_ppm: 0, mtu_bytes: DEFAULT_MTU }
    }
}

/// Number of virtual hosts, and their links: `lab:4`, `lab:4,rate=100mbit`. The prefix `lab:` may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabSpec {
    /// Number of hosts.
    pub hosts: u32,
    /// Link of each host.
    pub link: LinkSpec,
}

/// Minimum number of hosts.
pub const MIN_HOSTS: u32 = 2;
/// Maximum number of hosts.
pub const MAX_HOSTS: u32 = 200;
/// Minimum MTU in bytes: IPv6 needs it.
pub const MIN_MTU: u32 = 1_280;
/// Maximum MTU in bytes: that of jumbo frames.
pub const MAX_MTU: u32 = 9_000;
/// MTU of Ethernet in bytes.
pub const DEFAULT_MTU: u32 = 1_500;
/// Prefix of the text of a lab.
const PREFIX: &str = "lab:";
const MIN_RATE: u64 = 10_000;
const MAX_RATE: u64 = 100_000_000_000;
const MAX_DELAY_NS: u64 = 10_000_000_000;
/// Units, each with its multiple of the smallest one, from the largest.
pub(super) const RATE_UNITS: &[(&str, u64)] =
    &[("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
const TIME_UNITS: &[(&str, u64)] =
    &[("ms", 1_000_000), ("us", 1_000), ("µs", 1_000), ("ns", 1), ("s", 1_000_000_000)];
/// Units of a printed time, from the largest.
pub(super) const PRINTED_TIME_UNITS: &[(&str, u64)] =
    &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const LOSS_UNITS: &[(&str, u64)] = &[("%", 10_000)];

/// Returns a decimal number with a unit in the smallest unit, exactly. `None` if it has no known unit, is not a number, or
/// is not a multiple of the smallest unit.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))?;
    let number = number.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits =
        |text: &str| !text.is_empty() && text.len() <= 18 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(decimals.len()).ok()?);
    let part = decimals.parse::<u128>().ok()? * u128::from(factor);
    if part % scale != 0 {
        return None;
    }
    u64::try_from(whole.parse::<u128>().ok()? * u128::from(factor) + part / scale).ok()
}

/// Formats a quantity in the largest unit in which it is whole.
pub(super) fn in_largest(value: u64, units: &[(&str, u64)]) -> String {
    let (unit, factor) =
        units.iter().find(|(_, factor)| value.is_multiple_of(*factor)).expect("the last unit is 1");
    format!("{}{unit}", value / factor)
}

/// Formats parts of 1,000,000 in percent, without the sign.
pub(super) fn percent(ppm: u32) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl LinkSpec {
    /// Parses a rate such as `100mbit`.
    ///
    /// # Errors
    /// Returns an error if the text is not a rate from 10 kbit/s to 100 Gbit/s.
    pub fn parse_rate(text: &str) -> Result<u64, PlanError> {
        quantity(&text.to_ascii_lowercase(), RATE_UNITS)
            .filter(|rate| (MIN_RATE..=MAX_RATE).contains(rate))
            .ok_or_else(|| {
                // `tc` takes `mbps` for bytes.
                let hint = if text.ends_with("bps") || text.contains('/') {
                    "write bits per second as `kbit`, `mbit` or `gbit`, such as `100mbit`"
                } else {
                    "write 10kbit to 100gbit, such as `100mbit`"
                };
                contradiction(format!("invalid rate `{text}`"), hint)
            })
    }

    /// Parses a delay such as `1ms`. Returns ns.
    ///
    /// # Errors
    /// Returns an error if the text is not a time of at most 10 s.
    pub fn parse_delay(text: &str) -> Result<u64, PlanError> {
        let zero = (text.trim() == "0").then_some(0);
        zero.or_else(|| quantity(text, TIME_UNITS)).filter(|delay| *delay <= MAX_DELAY_NS).ok_or_else(|| {
            let hint = "write at most 10s, with its unit, such as `500us` or `1ms`";
            contradiction(format!("invalid delay `{text}`"), hint)
        })
    }

    /// Parses a loss such as `0.1%`. Returns parts of 1,000,000.
    ///
    /// # Errors
    /// Returns an error if the text is not a percentage up to 100 with at most four decimals.
    pub fn parse_loss(text: &str) -> Result<u32, PlanError> {
        quantity(text, LOSS_UNITS)
            .filter(|ppm| *ppm <= 1_000_000)
            .and_then(|ppm| u32::try_from(ppm).ok())
            .ok_or_else(|| {
                let hint = "write 0% to 100%, with at most four decimals, such as `0.1%`";
                contradiction(format!("invalid loss `{text}`"), hint)
            })
    }

    /// Parses an MTU such as `9000`. Returns bytes.
    ///
    /// # Errors
    /// Returns an error if the text is not a whole number from [`MIN_MTU`] to [`MAX_MTU`].
    pub fn parse_mtu(text: &str) -> Result<u32, PlanError> {
        super::units::integer(text)
            .and_then(|mtu| u32::try_from(mtu).ok())
            .filter(|mtu| (MIN_MTU..=MAX_MTU).contains(mtu))
            .ok_or_else(|| {
                let hint = format!("write {MIN_MTU} to {MAX_MTU} bytes without a unit, such as `1500`");
                contradiction(format!("invalid MTU `{text}`"), hint)
            })
    }

    /// Returns the properties that are given, as they are written.
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(rate) = self.rate_bit_per_s {
            parts.push(format!("rate={}", in_largest(rate, RATE_UNITS)));
        }
        if self.delay_ns > 0 {
            parts.push(format!("delay={}", in_largest(self.delay_ns, PRINTED_TIME_UNITS)));
        }
        if self.loss_ppm > 0 {
            parts.push(format!("loss={}%", percent(self.loss_ppm)));
        }
        if self.mtu_bytes != DEFAULT_MTU {
            parts.push(format!("mtu={}", self.mtu_bytes));
        }
        parts
    }
}

/// Returns the error of a part that is not a property.
fn unknown(part: &str) -> PlanError {
    let hint = "available: rate, delay, loss, mtu, as in `rate=100mbit,delay=1ms,loss=0.1%,mtu=9000`";
    contradiction(format!("unknown property of a link: `{}`", part.trim()), hint)
}

impl FromStr for LinkSpec {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let (mut rate, mut delay, mut loss, mut mtu) = (None, None, None, None);
        for part in text.split(',').filter(|_| !text.trim().is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| unknown(part))?;
            let (is_again, key) = match key.trim() {
                "rate" => (rate.replace(Self::parse_rate(value)?).is_some(), "rate"),
                "delay" => (delay.replace(Self::parse_delay(value)?).is_some(), "delay"),
                "loss" => (loss.replace(Self::parse_loss(value)?).is_some(), "loss"),
                "mtu" => (mtu.replace(Self::parse_mtu(value)?).is_some(), "mtu"),
                _ => return Err(unknown(part)),
            };
            if is_again {
                return Err(contradiction(format!("`{key}` is given twice"), format!("remove one `{key}`")));
            }
        }
        Ok(Self {
            rate_bit_per_s: rate,
            delay_ns: delay.unwrap_or(0),
            loss_ppm: loss.unwrap_or(0),
            mtu_bytes: mtu.unwrap_or(DEFAULT_MTU),
        })
    }
}

impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts().join(","))
    }
}

impl LabSpec {
    /// Parses a number of hosts.
    ///
    /// # Errors
    /// Returns an error if the text is not a whole number from [`MIN_HOSTS`] to [`MAX_HOSTS`].
    pub fn parse_hosts(text: &str) -> Result<u32, PlanError> {
        super::units::integer(text)
            .and_then(|hosts| u32::try_from(hosts).ok())
            .filter(|hosts| (MIN_HOSTS..=MAX_HOSTS).contains(hosts))
            .ok_or_else(|| {
                let hint = format!("write a whole number from {MIN_HOSTS} to {MAX_HOSTS}");
                contradiction(format!("invalid number of hosts `{}`", text.trim()), hint)
            })
    }
}

impl FromStr for LabSpec {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let text = text.trim_start();
        let text = text.strip_prefix(PREFIX).unwrap_or(text);
        let (hosts, link) = text.split_once(',').unwrap_or((text, ""));
        if text.contains(',') && link.trim().is_empty() {
            return Err(unknown(link));
        }
        Ok(Self { hosts: Self::parse_hosts(hosts)?, link: link.parse()? })
    }
}

impl fmt::Display for LabSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = std::iter::once(format!("{PREFIX}{}", self.hosts)).chain(self.link.parts());
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
