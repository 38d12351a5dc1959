//! Parsers of argument values.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use experiment::{HostFlag, Percent};
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

/// Parses a host: `pi1=ssh:user@pi1`.
pub fn host(text: &str) -> Result<HostFlag, String> {
    HostFlag::parse(text)
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

/// Words of `--qos`, with the policies that they are a kind of.
const QOS_WORDS: [(&str, &str); 10] = [
    ("reliable", "reliability"),
    ("best_effort", "reliability"),
    ("strongest", "reliability"),
    ("keep_all", "history"),
    ("keep_last", "history"),
    ("volatile", "durability"),
    ("transient_local", "durability"),
    ("transient", "durability"),
    ("persistent", "durability"),
    ("best-effort", "reliability"),
];

/// Returns the policy that a word of `--qos` is a kind of.
pub fn policy_of(word: &str) -> Option<&'static str> {
    QOS_WORDS.iter().find(|(known, _)| *known == word).map(|(_, policy)| *policy)
}

/// Returns whether a value of `--qos` is the name of a profile: a preset, or a profile of a file.
pub fn is_profile(text: &str) -> bool {
    text.contains([':', '/', '#']) || (text.contains('.') && !text.contains('='))
}

/// Checks the words of `--qos`. The policies of the form `KEY=VALUE` are checked with the experiment file.
pub fn qos(text: &str) -> Result<String, String> {
    let mut words = text.split(',').map(str::trim).filter(|word| !word.contains('='));
    match words.find(|word| policy_of(word).is_none()) {
        Some(unknown) if !is_profile(text) => {
            let known: Vec<&str> = QOS_WORDS.iter().map(|(word, _)| *word).collect();
            let near = known
                .iter()
                .max_by(|a, b| strsim::jaro_winkler(a, unknown).total_cmp(&strsim::jaro_winkler(b, unknown)));
            let near = near.copied().unwrap_or_default();
            let known = known[..known.len() - 1].join(", ");
            Err(format!(
                "unknown word `{unknown}`, did you mean `{near}`? Words are {known}; write other policies as KEY=VALUE"
            ))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Parses the name of a metric.
pub fn metric() -> impl TypedValueParser<Value = MetricSelector> {
    let names: Vec<&'static str> = MetricSelector::all().map(MetricSelector::word).collect();
    PossibleValuesParser::new(names)
        .map(|word| MetricSelector::by_word(&word).expect("only names of metrics are let through"))
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
}
