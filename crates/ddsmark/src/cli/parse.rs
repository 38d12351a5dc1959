//! Parsers of argument values.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use experiment::{Percent, PinChoice, ReceiveMode, Workload};
use results::MetricSelector;

/// Option of a driver, `D.KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverOption {
    pub driver: String,
    pub key: String,
    pub value: String,
}

/// Parses a time with its unit.
pub fn time(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write for instance `800ms` or `5s`"))
}

/// Parses a percentage.
pub fn percent(text: &str) -> Result<Percent, String> {
    Percent::parse(text).ok_or_else(|| "write for instance `2%`".to_owned())
}

/// Parses an option of a driver. The name of the driver may be a path with dots.
pub fn driver_option(text: &str) -> Result<DriverOption, String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.rsplit_once('.')?, value)));
    match parts {
        Some(((driver, key), value)) if !driver.is_empty() && !key.is_empty() => {
            Ok(DriverOption { driver: driver.to_owned(), key: key.to_owned(), value: value.to_owned() })
        }
        _ => Err("write for instance `udp.batching=off`".to_owned()),
    }
}

/// Parses an option without the name of its driver: `batching=off`.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write for instance `batching=off`".to_owned()),
    }
}

/// Parses CPU cores.
pub fn pin(text: &str) -> Result<PinChoice, String> {
    PinChoice::parse(text).ok_or_else(|| format!("write {}", PinChoice::EXPECTED))
}

/// Parses a workload that needs no load: `latency` or `throughput`.
pub fn workload() -> impl TypedValueParser<Value = Workload> {
    one_of(&[Workload::Latency, Workload::Throughput], Workload::name)
}

/// Parses the name of a metric.
pub fn metric() -> impl TypedValueParser<Value = MetricSelector> {
    let names: Vec<&'static str> = MetricSelector::all().map(MetricSelector::word).collect();
    PossibleValuesParser::new(names)
        .map(|word| MetricSelector::by_word(&word).expect("only names of metrics are let through"))
}

/// Parses a receive mode.
pub fn receive_mode() -> impl TypedValueParser<Value = ReceiveMode> {
    one_of(ReceiveMode::ALL, ReceiveMode::name)
}

fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names: Vec<&'static str> = all.iter().map(|&value| name(value)).collect();
    PossibleValuesParser::new(names).map(move |text| {
        let found = all.iter().copied().find(|&value| name(value) == text);
        found.expect("only names of values are let through")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("0.3s"), Ok(Duration::from_millis(300)));
        assert_eq!(time("2min 5s"), Ok(Duration::from_secs(125)));
        assert!(time("5").unwrap_err().contains("800ms"));
        assert!(time("-1s").is_err() && time("").is_err());
    }

    #[test]
    fn options_belong_to_a_driver() {
        let option = |driver: &str, key: &str, value: &str| {
            Ok(DriverOption { driver: driver.to_owned(), key: key.to_owned(), value: value.to_owned() })
        };
        assert_eq!(driver_option("udp.a=b"), option("udp", "a", "b"));
        assert_eq!(driver_option("./my.so.a=b.c=d"), option("./my.so", "a", "b.c=d"));
        assert_eq!(driver_option("udp.a="), option("udp", "a", ""));
        for wrong in ["udp", "udp.a", "a=b", ".a=b", "udp.=b", "udp=a.b"] {
            assert!(driver_option(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn options_of_one_driver_have_a_key() {
        assert_eq!(key_value("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(key_value("a="), Ok(("a".to_owned(), String::new())));
        for wrong in ["a", "=b", ""] {
            assert!(key_value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cores_come_in_twos() {
        assert_eq!(pin("none"), Ok(PinChoice::None));
        assert_eq!(pin("auto"), Ok(PinChoice::Auto));
        assert_eq!(pin("0, 3"), Ok(PinChoice::Cores(vec![0], vec![3])));
        assert_eq!(pin("0-2,5-6"), Ok(PinChoice::Cores(vec![0, 1, 2], vec![5, 6])));
        for wrong in ["", "0", "0,1,2", "-1,2", "a,b", "3-1,4", "0-99999999,1"] {
            assert!(pin(wrong).is_err(), "{wrong}");
        }
    }
}
