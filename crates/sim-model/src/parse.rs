//! Parsers of option values.

use std::ops::RangeInclusive;

use crate::{
    distribution::{Component, Mixture},
    shape::{Shape, Stall},
    values::{Mode, OverflowPolicy, POLICIES},
};

/// Maximum of a time, in ns.
const LONGEST: f64 = 100e9;
const FACTORS: RangeInclusive<f64> = 0.001..=1000.0;

type Parsed<T> = Result<T, String>;

fn number(text: &str) -> Parsed<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| plain).ok_or_else(|| format!("`{text}` is not a number"))
}

fn within(what: &str, value: f64, range: &RangeInclusive<f64>) -> Parsed<f64> {
    let (least, most) = (range.start(), range.end());
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(format!("{what} {value} is not within {least} to {most}"))
    }
}

fn factor(text: &str) -> Parsed<f64> {
    within("the factor", number(text)?, &FACTORS)
}

/// Splits `1.5ms` into number and unit.
fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()))
}

/// Parses a time such as `50us` into ns.
pub fn time(text: &str) -> Parsed<f64> {
    let (digits, unit) = split_unit(text);
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ if text == "0" => 1.0,
        _ => return Err(format!("`{text}` is not a time: a number with ns, us, ms or s")),
    };
    let ns = number(digits)? * scale;
    if ns <= LONGEST { Ok(ns) } else { Err(format!("`{text}` is longer than 100s")) }
}

/// Parses a time with its unit, rounded to whole ns.
pub fn whole_ns(text: &str) -> Parsed<u64> {
    time(text).map(|ns| ns.round() as u64)
}

fn time_above_0(text: &str) -> Parsed<f64> {
    let ns = time(text)?;
    if ns >= 1.0 { Ok(ns) } else { Err(format!("`{text}` is under 1ns")) }
}

/// Parses a probability such as `0.01` or `1%`.
pub fn probability(text: &str) -> Parsed<f64> {
    let value = match text.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(text)?,
    };
    within("the probability", value, &(0.0..=1.0))
}

/// Parses the relative spread of a latency, 0 to 3.
pub fn jitter(text: &str) -> Parsed<f64> {
    within("the spread", number(text)?, &(0.0..=3.0))
}

/// Parses the change of latency per second, such as `2%` or `-0.5`.
pub fn drift(text: &str) -> Parsed<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let value = match digits.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(digits)?,
    };
    within("the drift", sign * value, &(-100.0..=100.0))
}

/// Parses a bandwidth such as `100Mbit` into bit/s; `off` gives `None`.
pub fn bandwidth(text: &str) -> Parsed<Option<f64>> {
    if text == "off" {
        return Ok(None);
    }
    let (digits, unit) = split_unit(text);
    let scale = match unit {
        "kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        _ => {
            return Err(format!(
                "`{text}` is not a rate: a number with kbit, Mbit or Gbit (a second), or `off`"
            ));
        }
    };
    within("the rate in bit/s", number(digits)? * scale, &(1e3..=1e13)).map(Some)
}

/// Parses the length of a queue in samples, 1 to 1,000,000.
pub fn queue(text: &str) -> Parsed<usize> {
    let count = text.parse().map_err(|_| format!("`{text}` is not a whole number"))?;
    if (1..=1_000_000).contains(&count) {
        Ok(count)
    } else {
        Err(format!("{count} is not within 1 to 1000000"))
    }
}

/// Parses the size of a fragment in bytes; `off` is `None`.
pub fn fragment(text: &str) -> Parsed<Option<u64>> {
    if text == "off" {
        return Ok(None);
    }
    let bytes = text.parse().map_err(|_| format!("`{text}` is neither a whole number nor `off`"))?;
    if (1..=1_000_000).contains(&bytes) {
        Ok(Some(bytes))
    } else {
        Err(format!("{bytes} is not within 1 to 1000000"))
    }
}

/// Parses what a full queue does: `block` or `drop`.
pub fn when_full(text: &str) -> Parsed<OverflowPolicy> {
    match text {
        "block" => Ok(OverflowPolicy::Block),
        "drop" => Ok(OverflowPolicy::Drop),
        _ => Err(format!("`{text}` is neither `block` nor `drop`")),
    }
}

/// Splits two values at the comma.
fn two<'t>(what: &str, text: &'t str) -> Parsed<(&'t str, &'t str)> {
    text.split_once(',').ok_or_else(|| format!("`{what}` takes two values with a comma between"))
}

fn component(text: &str) -> Parsed<Component> {
    let Some((name, arguments)) = text.split_once(':') else { return Ok(Component::Constant(time(text)?)) };
    if name == "constant" {
        return Ok(Component::Constant(time(arguments)?));
    }
    if !["normal", "lognormal", "gamma"].contains(&name) {
        return Err(format!("there is no distribution `{name}`"));
    }
    let (first, second) = two(name, arguments)?;
    let first = time(first)?;
    Ok(match name {
        "normal" => Component::Normal { mean: first, sd: time(second)? },
        "lognormal" => {
            Component::Lognormal { median: first, sigma: within("sigma", number(second)?, &(0.0..=3.0))? }
        }
        _ => {
            Component::Gamma { mean: first, shape: within("the shape", number(second)?, &(0.05..=10_000.0))? }
        }
    })
}

/// Parses weighted parts such as `0.9*A+0.1*B`, or one part without a weight.
fn weighted<T>(text: &str, part: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<(f64, T)>> {
    let mut parts = Vec::new();
    for piece in text.split('+') {
        let (weight, rest) = match piece.split_once('*') {
            Some((weight, rest)) => (within("the weight", number(weight)?, &(0.0..=1.0))?, rest),
            None if text.contains('+') => return Err(format!("`{piece}` has no weight")),
            None => (1.0, piece),
        };
        parts.push((weight, part(rest)?));
    }
    let sum: f64 = parts.iter().map(|(weight, _)| weight).sum();
    if (sum - 1.0).abs() < 1e-9 { Ok(parts) } else { Err(format!("the weights add up to {sum}, not to 1")) }
}

/// Parses a distribution of times from weighted components.
pub fn mixture(text: &str) -> Parsed<Mixture> {
    weighted(text, component).map(Mixture)
}

/// Parses the modes of runs such as `0.7*1+0.3*1.5`.
pub fn modes(text: &str) -> Parsed<Vec<Mode>> {
    let modes = weighted(text, factor)?;
    Ok(modes.into_iter().map(|(weight, factor)| Mode { weight, factor }).collect())
}

/// Parses a stall such as `100ms,5ms`; `off` gives `None`.
pub fn stall(text: &str) -> Parsed<Option<Stall>> {
    if text == "off" {
        return Ok(None);
    }
    let (period, length) = two("stall", text)?;
    let (period_ns, length_ns) = (whole_ns(period)?, whole_ns(length)?);
    if length_ns < period_ns {
        Ok(Some(Stall { period_ns, length_ns }))
    } else {
        Err(format!("a stall of {length} does not fit into a period of {period}"))
    }
}

/// Parses a shape such as `flat` or `ramp:2,100ms`.
pub fn shape(text: &str) -> Parsed<Shape> {
    if text == "flat" {
        return Ok(Shape::Flat);
    }
    let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
    if !["ramp", "step", "cycle", "slowdown"].contains(&name) {
        return Err(format!("there is no shape `{name}`"));
    }
    let (first, second) = two(name, arguments)?;
    let (factor, ns) = (factor(first)?, time_above_0(second)?);
    Ok(match name {
        "ramp" => Shape::Ramp { factor, ns },
        "step" => Shape::Step { factor, ns },
        "cycle" => Shape::Cycle { factor, ns },
        _ => Shape::Slowdown { factor, ns },
    })
}

/// Parses the latency that policies add, such as `reliability:5us,deadline:1us`; the result is in the order of
/// [`POLICIES`].
pub fn effects(text: &str) -> Parsed<[f64; POLICIES.len()]> {
    let mut effects = [0.0; POLICIES.len()];
    if text == "none" {
        return Ok(effects);
    }
    for piece in text.split(',') {
        let (name, cost) =
            piece.split_once(':').ok_or_else(|| format!("`{piece}` is not a policy, a colon and a time"))?;
        let index = POLICIES.iter().position(|policy| *policy == name);
        effects[index.ok_or_else(|| format!("there is no policy `{name}`"))?] = time(cost)?;
    }
    Ok(effects)
}
