//! Parsers of argument values.

use std::{fmt, time::Duration};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use experiment::{Percent, PlanError};
use results::MetricSelector;

/// Returns the text of an invalid value, with the next step on a line of its own, as in every error of the command.
fn invalid(error: impl fmt::Display, hint: impl fmt::Display) -> String {
    format!("{error}\nhint: {hint}")
}

/// Option of a driver, `D.KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverOption {
    pub driver: String,
    pub key: String,
    pub value: String,
}

/// Parses a time with its unit.
pub fn time(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| {
        let is_number = text.trim().parse().is_ok_and(f64::is_finite);
        let error = if is_number { format!("`{text}` has no unit") } else { error.to_string() };
        invalid(error, "write for instance `800ms`, `5s` or `5m`")
    })
}

/// Returns a parser of another crate with its hint on a line of its own.
pub fn hinted<T>(parse: fn(&str) -> Result<T, PlanError>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| parse(text).map_err(|error| invalid(&error, error.hint()))
}

/// Parses a percentage.
pub fn percent(text: &str) -> Result<Percent, String> {
    Percent::parse(text).ok_or_else(|| invalid("not a percentage", "write for instance `2%`"))
}

/// Parses an option of a driver. The name of the driver may be a path with dots.
pub fn driver_option(text: &str) -> Result<DriverOption, String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.rsplit_once('.')?, value)));
    match parts {
        Some(((driver, key), value)) if !driver.is_empty() && !key.is_empty() => {
            Ok(DriverOption { driver: driver.to_owned(), key: key.to_owned(), value: value.to_owned() })
        }
        _ => Err(invalid("not an option of a driver", "write for instance `udp.batching=off`")),
    }
}

/// Parses an option without the name of its driver: `batching=off`.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(invalid("not a key with its value", "write for instance `batching=off`")),
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
    text == "shipped" || text.contains([':', '/', '#']) || (text.contains('.') && !text.contains('='))
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
            let hint =
                format!("did you mean `{near}`? available: {known}; write other policies as KEY=VALUE");
            Err(invalid(format!("unknown word `{unknown}`"), hint))
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
    use experiment::{HostFlag, LinkSpec};

    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("0.3s"), Ok(Duration::from_millis(300)));
        assert_eq!(time("2min 5s"), Ok(Duration::from_secs(125)));
        let without = time("5").unwrap_err();
        assert!(without.starts_with("`5` has no unit\nhint: ") && without.contains("`5m`"), "{without}");
        assert!(time("-1s").is_err() && time("").is_err());
    }

    #[test]
    fn invalid_value_has_its_hint_on_a_line_of_its_own() {
        let (host, link_rate) = (hinted(HostFlag::parse), hinted(LinkSpec::parse_rate));
        for (found, expected) in [
            (host("lab:1").unwrap_err(), "invalid number of hosts `1`\nhint: write a whole"),
            (host("pi1").unwrap_err(), "the host has no name\nhint: write for instance"),
            (link_rate("5").unwrap_err(), "invalid rate `5`\nhint: write 10kbit"),
            (qos("reliabel").unwrap_err(), "unknown word `reliabel`\nhint: did you mean `reliable`?"),
            (percent("2").unwrap_err(), "not a percentage\nhint: write for instance `2%`"),
        ] {
            assert!(found.starts_with(expected), "{found}");
        }
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
