//! Values of options, from text.

use std::fmt;

use experiment::KeyFilter;
use serde::{Deserialize, Serialize};

use crate::{
    error::Cause,
    generation::Generation,
    table::{Edition, Kind, OptionRow, Range},
};

/// Maximum length of a text.
const MAX_TEXT: usize = 4096;
/// Maximum number of sizes of a scan.
const MAX_SIZES: usize = 1000;
/// Nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// Value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Flag.
    Flag(bool),
    /// Whole number.
    Integer(i64),
    /// Whole number that can be left out.
    OptionalInteger(Option<i64>),
    /// Text.
    Text(String),
    /// One of several words, as the table has it.
    Choice(&'static str),
    /// Sizes in bytes; without any, the usual ones.
    Sizes(Vec<u64>),
    /// Number per second.
    Rate(Rate),
    /// Period in ns.
    Period(u64),
    /// Priorities of the main thread, the receiving thread, and the threads of events.
    Priorities([Priority; 3]),
    /// Keys.
    Keys(KeyFilter),
    /// Host of the other side.
    Peer(Peer),
}

/// Number per second, and how to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Number per second.
    pub per_second: u64,
    /// Method of waiting.
    pub method: WaitMethod,
}

/// Method of waiting for the next send time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitMethod {
    /// Busy loop.
    Spin,
    /// Sleep.
    Sleep,
}

/// Largest priority of SCHED_FIFO.
const MAX_PRIORITY: u32 = 99;

/// Priority of a thread, of the policy SCHED_FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// High.
    High,
    /// Normal.
    Normal,
    /// Low.
    Low,
    /// Number; 0: as the process has it.
    Number(u32),
}

impl Priority {
    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::High => MAX_PRIORITY,
            Self::Normal => MAX_PRIORITY.div_ceil(2),
            Self::Low => 1,
            Self::Number(number) => number,
        }
    }
}

/// Host of the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Address or name of the host.
    pub address: String,
    /// Number of the process on that host.
    pub number: Option<u32>,
}

/// Returns the value of an option on the command line; `None` for a value that was left out.
pub(crate) fn on_command_line(
    row: &OptionRow,
    edition: &Edition,
    generation: Generation,
    text: Option<&str>,
) -> Result<OptionValue, Cause> {
    let Some(text) = text else {
        return Ok(match row.kind {
            Kind::Flag => OptionValue::Flag(true),
            Kind::OptionalInteger(_) => OptionValue::OptionalInteger(None),
            Kind::Sizes => OptionValue::Sizes(Vec::new()),
            _ => return Err(Cause::new("has no value", format!("use `{}`", row.usage(generation)))),
        });
    };
    let in_range = |number| check_range(number, row, edition.range);
    match row.kind {
        Kind::Flag => Err(Cause::stray()),
        Kind::Integer(_) => Ok(OptionValue::Integer(in_range(integer(text)?)?)),
        Kind::OptionalInteger(_) => Ok(OptionValue::OptionalInteger(Some(in_range(integer(text)?)?))),
        Kind::Text(_) => Ok(OptionValue::Text(plain_text(text)?.to_owned())),
        Kind::Choice(words) => {
            let found = words.iter().find(|word| word.eq_ignore_ascii_case(text));
            found
                .map(|word| OptionValue::Choice(word))
                .ok_or_else(|| Cause::invalid(&format!("one of: {}", words.join(", "))))
        }
        Kind::Sizes => sizes(text, in_range).map(OptionValue::Sizes),
        Kind::Rate => {
            let words = "a number and a method, such as `1000:spin` or `1000:sleep`";
            let (number, method) = text.split_once(':').unwrap_or((text, "spin"));
            let method = match method.to_ascii_lowercase().as_str() {
                "spin" => WaitMethod::Spin,
                "sleep" => WaitMethod::Sleep,
                _ => return Err(Cause::invalid(words)),
            };
            let number = in_range(integer(number).map_err(|_| Cause::invalid(words))?)?;
            Ok(OptionValue::Rate(Rate { per_second: number.unsigned_abs(), method }))
        }
        Kind::Period => {
            let words = "seconds and nanoseconds, such as `0:10000000`";
            let (seconds, nanoseconds) = text.split_once(':').ok_or_else(|| Cause::invalid(words))?;
            period(row, edition, seconds, nanoseconds).map(OptionValue::Period)
        }
        Kind::Priorities => {
            let words = "three priorities such as `80:50:0` or `h:n:0`: numbers from 0 to 99, or h, n or l";
            let mut parts = text.split(':').map(priority);
            let mut next = || parts.next().flatten();
            match (next(), next(), next(), next()) {
                (Some(main), Some(receive), Some(event), None) if text.matches(':').count() == 2 => {
                    Ok(OptionValue::Priorities([main, receive, event]))
                }
                _ => Err(Cause::invalid(words)),
            }
        }
        Kind::Keys => {
            let (first, last) = text.split_once(':').unwrap_or((text, text));
            let key = |text: &str| {
                u32::try_from(in_range(integer(text)?)?)
                    .map_err(|_| Cause::invalid("keys such as `3` or `3:5`"))
            };
            let (first, last) = (key(first)?, key(last)?);
            let sorted = first <= last;
            sorted
                .then_some(OptionValue::Keys(KeyFilter { first, last }))
                .ok_or_else(|| Cause::invalid("the lower key first, such as `3:5`"))
        }
        Kind::Peer => peer(text).map(OptionValue::Peer),
    }
}

/// Returns the value of a flag in a file.
pub(crate) fn boolean(text: &str) -> Result<bool, Cause> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Cause::invalid("`true` or `false`")),
    }
}

/// Returns a period in ns; 0 leaves it to the QoS.
pub(crate) fn period(
    row: &OptionRow,
    edition: &Edition,
    seconds: &str,
    nanoseconds: &str,
) -> Result<u64, Cause> {
    let seconds = check_range(integer(seconds)?, row, edition.range)?.unsigned_abs();
    let below_second = Range { min: 0, max: 999_999_999, also: None };
    let nanoseconds = check_range(integer(nanoseconds)?, row, Some(below_second))?.unsigned_abs();
    // The range ends with a whole second.
    let longest = edition.range.map_or(u64::MAX, |range| range.max.unsigned_abs().saturating_mul(SECOND_NS));
    let total = seconds.saturating_mul(SECOND_NS).saturating_add(nanoseconds);
    if total > longest {
        return Err(Cause::invalid("1 ns to 1 year"));
    }
    Ok(total)
}

fn integer(text: &str) -> Result<i64, Cause> {
    text.parse().map_err(|_| Cause::invalid("a whole number"))
}

fn check_range(number: i64, row: &OptionRow, range: Option<Range>) -> Result<i64, Cause> {
    match (range, row.limit) {
        (Some(range), _) if !range.contains(number) => {
            Err(Cause::new("is out of range", format!("use {range}")))
        }
        (_, Some(limit)) if number > limit.max => {
            Err(Cause::unsupported(limit.reason, format!("use at most {}", limit.max)))
        }
        _ => Ok(number),
    }
}

fn plain_text(text: &str) -> Result<&str, Cause> {
    let valid = !text.trim().is_empty() && text.len() <= MAX_TEXT && !text.chars().any(char::is_control);
    valid
        .then_some(text)
        .ok_or_else(|| Cause::invalid(&format!("text of 1 to {MAX_TEXT} bytes without control characters")))
}

fn sizes(text: &str, in_range: impl Fn(i64) -> Result<i64, Cause>) -> Result<Vec<u64>, Cause> {
    let size = |text| {
        let number = integer(text).map_err(|_| Cause::invalid("sizes such as `32:64:128`"))?;
        Ok(in_range(number)?.unsigned_abs())
    };
    if text.split(':').count() > MAX_SIZES {
        return Err(Cause::invalid(&format!("at most {MAX_SIZES} sizes")));
    }
    text.split(':').map(size).collect()
}

fn priority(text: &str) -> Option<Priority> {
    match text.to_ascii_lowercase().as_str() {
        "h" => Some(Priority::High),
        "n" => Some(Priority::Normal),
        "l" => Some(Priority::Low),
        number => number.parse().ok().filter(|number| *number <= MAX_PRIORITY).map(Priority::Number),
    }
}

fn peer(text: &str) -> Result<Peer, Cause> {
    let text = plain_text(text)?;
    if text.contains("://") || text.contains('@') {
        let instead = "use the address or the name of a host";
        return Err(Cause::unsupported("it is a locator of one middleware", instead));
    }
    let invalid = || Cause::invalid("an address such as `10.0.0.2` or `10.0.0.2:1`");
    // An IPv6 address has several colons, and needs brackets before a number.
    let (address, number) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((address, ""))) => (address, None),
        Some(Some((address, rest))) => (address, Some(rest.strip_prefix(':').ok_or_else(invalid)?)),
        Some(None) => return Err(invalid()),
        None if text.matches(':').count() > 1 => (text, None),
        None => text.split_once(':').map_or((text, None), |(address, number)| (address, Some(number))),
    };
    let number = number.map(str::parse).transpose().map_err(|_| invalid())?;
    let valid = !address.is_empty() && !address.contains([' ', ',', '/', '[', ']']);
    valid.then(|| Peer { address: address.to_owned(), number }).ok_or_else(invalid)
}

impl fmt::Display for OptionValue {
    /// Writes the value as the command line takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(on) => write!(f, "{on}"),
            Self::Integer(number) | Self::OptionalInteger(Some(number)) => write!(f, "{number}"),
            Self::OptionalInteger(None) => Ok(()),
            Self::Text(text) => f.write_str(text),
            Self::Choice(word) => f.write_str(word),
            Self::Sizes(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                f.write_str(&sizes.join(":"))
            }
            Self::Rate(rate) => write!(f, "{rate}"),
            Self::Period(ns) => write!(f, "{}:{}", ns / SECOND_NS, ns % SECOND_NS),
            Self::Priorities([main, receive, event]) => write!(f, "{main}:{receive}:{event}"),
            Self::Keys(KeyFilter { first, last }) if first == last => write!(f, "{first}"),
            Self::Keys(KeyFilter { first, last }) => write!(f, "{first}:{last}"),
            Self::Peer(peer) => write!(f, "{peer}"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.method {
            WaitMethod::Spin => "spin",
            WaitMethod::Sleep => "sleep",
        };
        write!(f, "{}:{method}", self.per_second)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::High => f.write_str("h"),
            Self::Normal => f.write_str("n"),
            Self::Low => f.write_str("l"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = self.address.contains(':');
        match self.number {
            None => f.write_str(&self.address),
            Some(number) if brackets => write!(f, "[{}]:{number}", self.address),
            Some(number) => write!(f, "{}:{number}", self.address),
        }
    }
}
