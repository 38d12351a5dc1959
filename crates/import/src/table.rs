//! Tables of topics: CSV with a heading, one topic in a row.

use std::{collections::BTreeMap, fmt::Display};

use experiment::{Percent, Rate, RateSpec, Size, SizeDistribution, Time};
use serde::de::{DeserializeOwned, IntoDeserializer, value::Error as ValueError};

use crate::{
    error::{ImportError, Position},
    qos::{DURABILITIES, EndpointQos, History, RELIABILITIES, TopicQos, kind, names},
    system::{Sends, System, Topic},
};

/// Columns, the required ones first.
const COLUMNS: [&str; 12] = [
    "topic",
    "size",
    "rate",
    "count",
    "from",
    "to",
    "reliability",
    "depth",
    "durability",
    "deadline",
    "missed",
    "kind",
];
const REQUIRED: usize = 3;

/// Reads a table.
///
/// # Errors
/// Returns an error if a column is missing or unknown, or if a value is not valid.
pub fn table(text: &str) -> Result<System, ImportError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    let next = |record: Option<Result<csv::StringRecord, csv::Error>>| record.transpose().map_err(malformed);
    let Some(heading) = next(records.next())? else {
        return Err(ImportError::new("the table is empty", columns_hint()));
    };
    let columns = columns(&heading)?;
    let mut system =
        System { question: "Which middleware carries this system?".to_owned(), ..System::default() };
    while let Some(record) = next(records.next())? {
        let row = Row { columns: &columns, record: &record };
        row.check_length()?;
        system.topics.push(row.topic()?);
    }
    if system.topics.is_empty() {
        return Err(ImportError::new(
            "the table has no topics",
            "write a row for each topic, such as `camera,2MB,30/s`",
        ));
    }
    Ok(system)
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn malformed(error: csv::Error) -> ImportError {
    let line = error.position().map_or(1, csv::Position::line);
    let position = Position { line: line as usize, column: 1 };
    ImportError::new(format!("not a row of a table: {error}"), "separate values by commas").at(position)
}

fn columns_hint() -> String {
    let (required, optional) = COLUMNS.split_at(REQUIRED);
    format!("required columns: {}; optional: {}", required.join(", "), optional.join(", "))
}

fn line(record: &csv::StringRecord) -> usize {
    record.position().map_or(1, csv::Position::line) as usize
}

/// Returns the index of each column by its name.
fn columns(heading: &csv::StringRecord) -> Result<BTreeMap<&'static str, usize>, ImportError> {
    let mut columns = BTreeMap::new();
    let at = |column| Position { line: line(heading), column };
    for (index, name) in heading.iter().enumerate() {
        let Some(known) = COLUMNS.iter().find(|known| **known == name) else {
            return Err(
                ImportError::new(format!("unknown column `{name}`"), columns_hint()).at(at(index + 1))
            );
        };
        if columns.insert(*known, index).is_some() {
            return Err(
                ImportError::new(format!("column `{name}` is given twice"), "remove one").at(at(index + 1))
            );
        }
    }
    match COLUMNS[..REQUIRED].iter().find(|name| !columns.contains_key(**name)) {
        Some(missing) => {
            Err(ImportError::new(format!("column `{missing}` not found"), columns_hint()).at(at(1)))
        }
        None => Ok(columns),
    }
}

/// Row of a table. Positions count columns of the table, not characters.
struct Row<'a> {
    columns: &'a BTreeMap<&'static str, usize>,
    record: &'a csv::StringRecord,
}

impl Row<'_> {
    fn position(&self, column: &str) -> Position {
        Position { line: line(self.record), column: self.columns.get(column).map_or(1, |index| index + 1) }
    }

    fn check_length(&self) -> Result<(), ImportError> {
        let (found, expected) = (self.record.len(), self.columns.len());
        if found == expected {
            return Ok(());
        }
        let message = format!("the row has {found} values, the heading {expected}");
        let hint = "write one value in each column; a value may be empty";
        Err(ImportError::new(message, hint)
            .at(Position { line: line(self.record), column: found.min(expected) }))
    }

    /// Returns the value of a column, unless it is empty.
    fn text(&self, column: &str) -> Option<&str> {
        self.record.get(*self.columns.get(column)?).filter(|text| !text.is_empty())
    }

    fn required(&self, column: &str) -> Result<&str, ImportError> {
        let missing = || ImportError::new(format!("no value of `{column}`"), "each topic needs one");
        self.text(column).ok_or_else(|| missing().at(self.position(column)))
    }

    fn fault(&self, column: &str, text: &str, hint: &str) -> ImportError {
        ImportError::new(format!("`{text}` is not a valid `{column}`"), hint).at(self.position(column))
    }

    /// Parses a value as an experiment file does.
    fn value<T: DeserializeOwned>(&self, column: &str, text: &str, hint: &str) -> Result<T, ImportError> {
        let parsed = T::deserialize(IntoDeserializer::<ValueError>::into_deserializer(text));
        parsed.map_err(|_| self.fault(column, text, hint))
    }

    /// Returns the kind of a policy in an optional column.
    fn kind<T: Copy + Display>(&self, column: &str, kinds: &[T]) -> Result<Option<T>, ImportError> {
        self.word(column, |text| kind(kinds, text), &format!("available: {}", names(kinds)))
    }

    /// Returns the value of an optional column with these words.
    fn word<T>(
        &self,
        column: &str,
        of: impl Fn(&str) -> Option<T>,
        hint: &str,
    ) -> Result<Option<T>, ImportError> {
        self.text(column).map(|text| of(text).ok_or_else(|| self.fault(column, text, hint))).transpose()
    }

    fn topic(&self) -> Result<Topic, ImportError> {
        const SIZE: &str =
            "write a size such as `1024` or `64KiB`, or median and 99 % quantile such as `200kB..450kB`";
        let size = self.required("size")?;
        let name = self.required("topic")?;
        let mut topic = if let Some((median, p99)) = size.split_once("..") {
            let bound = |text: &str| {
                self.value::<Size>("size", text, SIZE).map_err(|_| self.fault("size", size, SIZE))
            };
            let [median, p99] = [bound(median)?, bound(p99)?];
            let sizes = SizeDistribution::log_normal(median, p99);
            let sizes =
                sizes.map_err(|(words, hint)| ImportError::new(words, hint).at(self.position("size")))?;
            let sends = Sends::Rate(self.rate(sizes.mean_bytes())?);
            Topic::with_sizes(name, sizes, sends)
        } else {
            let Size(size_bytes) = self.value("size", size, SIZE)?;
            Topic::new(name, size_bytes, Sends::Rate(self.rate(size_bytes)?))
        };
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        topic.count = self.word("count", number, "write a number from 1")?;
        topic.from = self.list("from");
        topic.to = self.list("to");
        let mut qos = EndpointQos {
            reliability: self.kind("reliability", &RELIABILITIES)?,
            durability: self.kind("durability", &DURABILITIES)?,
            ..EndpointQos::default()
        };
        const DEPTH: &str = "write a number of samples from 1, or `all`";
        if self.text("depth") == Some("all") {
            qos.history = Some(History::KeepAll);
        } else if let Some(depth) = self.word("depth", number, DEPTH)? {
            qos.keep_last(depth);
        }
        topic.qos = TopicQos::both(qos);
        if let Some(text) = self.text("deadline") {
            let Time(ns) = self.value("deadline", text, "write a time such as `20ms`")?;
            topic.deadline_ns = Some(ns);
        }
        if let Some(text) = self.text("missed") {
            const MISSED: &str = "write a share such as `1%`, less than `100%`";
            let Percent(pct) = self.value("missed", text, MISSED)?;
            if pct >= 100.0 {
                return Err(self.fault("missed", text, MISSED));
            }
            topic.missed_pct = Some(pct);
        }
        let kind = |text: &str| match text {
            "foreground" => Some(false),
            "background" => Some(true),
            _ => None,
        };
        topic.is_background = self.word("kind", kind, "available: foreground, background")?.unwrap_or(false);
        Ok(topic)
    }

    /// Returns the rate: samples/s with or without a fraction, or a rate of an experiment file.
    fn rate(&self, size_bytes: u64) -> Result<Rate, ImportError> {
        const RATE: &str = "write samples/s such as `30` or `12.5`, or a rate such as `1/5s` or `2Mbit/s`";
        let text = self.required("rate")?;
        let fault = || self.fault("rate", text, RATE);
        let rate = if let Some(rate) = decimal_rate(text) {
            rate
        } else {
            match self.value::<RateSpec>("rate", text, RATE)? {
                RateSpec::Samples { samples, period_ns } => Rate { samples, period_ns },
                RateSpec::Bits(bits) => rate_of_bits(bits, size_bytes).ok_or_else(fault)?,
                _ => return Err(fault()),
            }
        };
        let is_in_range =
            rate.samples > 0 && rate.period_ns > 0 && (1.0 / 3_600.0..=1e8).contains(&rate.sps());
        // The text of the experiment file multiplies them.
        let is_small = rate.samples < 1_000_000_000 && rate.period_ns <= 3_600_000_000_000;
        (is_in_range && is_small).then_some(rate).ok_or_else(fault)
    }

    /// Returns the names in a column, separated by spaces or `;`.
    fn list(&self, column: &str) -> Vec<String> {
        let names = self.text(column).unwrap_or_default().split([' ', ';']);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

/// Parses samples/s with a decimal point, such as `12.5`, without rounding.
fn decimal_rate(text: &str) -> Option<Rate> {
    let (whole, fraction) = text.split_once('.')?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let scale = 10_u64.pow(fraction.len() as u32);
    let samples = whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(fraction.parse().ok()?)?;
    reduced(samples, scale.checked_mul(1_000_000_000)?)
}

/// Returns the rate of samples of this size that has this many bits/s.
fn rate_of_bits(bits: u64, size_bytes: u64) -> Option<Rate> {
    reduced(bits, size_bytes.checked_mul(8_000_000_000)?)
}

/// Returns a rate in lowest terms.
fn reduced(samples: u64, period_ns: u64) -> Option<Rate> {
    let (mut a, mut b) = (samples, period_ns);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (samples > 0).then(|| Rate { samples: samples / a, period_ns: period_ns / a })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::qos::{Durability, Reliability};

    fn one(columns: &str, row: &str) -> Topic {
        let system = table(&format!("topic,size,rate{columns}\n{row}\n")).expect("a table");
        assert_eq!(system.topics.len(), 1);
        system.topics[0].clone()
    }

    #[track_caller]
    fn rejected(text: &str) -> (Position, String, String) {
        let error = table(text).expect_err("it is rejected");
        let crate::error::Place::Text(position) = error.place else { panic!("{error:?}") };
        (position, error.message, error.hint)
    }

    #[test]
    fn each_column_is_mapped() {
        assert_eq!(
            one("", "imu,300,400"),
            Topic::new("imu", 300, Sends::Rate(Rate { samples: 400, period_ns: 1_000_000_000 }))
        );
        assert_eq!(one(",count", "small,64,50,100").count, Some(100));
        let topic = one(",from,to", "camera,2MB,30/s,sensors,control logger;ui");
        assert_eq!(
            (topic.from, topic.to),
            (vec!["sensors".to_owned()], vec!["control".to_owned(), "logger".into(), "ui".into()])
        );
        assert_eq!(topic.size_bytes, 2_000_000);
        let topic = one(",reliability,depth,durability", "map,2MB,1/5s,reliable,3,transient_local");
        let qos = topic.qos.writer;
        assert_eq!(qos.reliability, Some(Reliability::Reliable));
        assert_eq!((qos.history, qos.depth), (Some(History::KeepLast), Some(3)));
        assert_eq!(
            (qos.durability, topic.sends),
            (Some(Durability::TransientLocal), Sends::Rate(Rate { samples: 1, period_ns: 5_000_000_000 }))
        );
        let topic = one("", "scan,200kB..450kB,10");
        let image = SizeDistribution::LogNormal { median_bytes: 200_000, p99_bytes: 450_000 };
        assert_eq!((topic.size_bytes, topic.sizes), (image.mean_bytes(), Some(image)));
        for (wrong, words) in [
            ("450kB..200kB", "the 99 % quantile of 200000 bytes is not more than the median of 450000 bytes"),
            ("8..200", "a median of 8 bytes is less than the header of 16 bytes"),
            ("200kB..", "`200kB..` is not a valid `size`"),
        ] {
            let (position, message, _) = rejected(&format!("topic,size,rate\nscan,{wrong},10\n"));
            assert_eq!((position.line, position.column), (2, 2), "{wrong}");
            assert!(message.contains(words), "{message}");
        }
        assert_eq!(one(",depth", "map,16,1,all").qos.reader.history, Some(History::KeepAll));
        let topic = one(",deadline,missed", "cmd,48,20,5ms,0.5%");
        assert_eq!((topic.deadline_ns, topic.missed_pct), (Some(5_000_000), Some(0.5)));
        assert!(
            one(",kind", "map,2MB,1,background").is_background && !one(",kind", "map,2MB,1,").is_background
        );
    }

    #[test]
    fn rates_are_exact() {
        let rate = |text| one("", &format!("a,1000,{text}")).sends;
        assert_eq!(rate("12.5"), Sends::Rate(Rate { samples: 1, period_ns: 80_000_000 }));
        assert_eq!(rate("8Mbit/s"), Sends::Rate(Rate { samples: 1, period_ns: 1_000_000 }));
        assert_eq!(rate("29.97"), Sends::Rate(Rate { samples: 2_997, period_ns: 100_000_000_000 }));
        for wrong in ["0", "max", "50%", "-1", "1e3", "x", "0.0", "1.2.3", "999999999999"] {
            let (position, message, hint) = rejected(&format!("topic,size,rate\na,16,{wrong}\n"));
            assert_eq!(
                (position, message),
                (Position { line: 2, column: 3 }, format!("`{wrong}` is not a valid `rate`"))
            );
            assert!(hint.contains("1/5s"));
        }
    }

    #[test]
    fn comments_blank_lines_and_empty_values_are_skipped() {
        let system =
            table("\u{feff}# robot\ntopic, size, rate, deadline\n\nimu, 300, 400,\n").expect("a table");
        assert_eq!(system.topics[0].deadline_ns, None);
    }

    #[test]
    fn error_has_its_position_and_lists_the_columns() {
        let (position, message, hint) = rejected("topic,size,rate,speed\n");
        assert_eq!((position, message.as_str()), (Position { line: 1, column: 4 }, "unknown column `speed`"));
        assert_eq!(
            hint,
            "required columns: topic, size, rate; optional: count, from, to, reliability, depth, durability, deadline, missed, kind"
        );
        assert_eq!(rejected("topic,size\na,1\n").1, "column `rate` not found");
        assert_eq!(rejected("topic,size,rate,rate\n").1, "column `rate` is given twice");
        let (position, message, _) = rejected("topic,size,rate\na,16,1\nb,16\n");
        assert_eq!((position.line, message.as_str()), (3, "the row has 2 values, the heading 3"));
        assert_eq!(rejected("topic,size,rate\n,16,1\n").1, "no value of `topic`");
        for (column, value) in [
            ("count", "0"),
            ("reliability", "yes"),
            ("depth", "0"),
            ("durability", "1"),
            ("deadline", "5"),
            ("missed", "100%"),
            ("kind", "both"),
        ] {
            let (position, message, _) = rejected(&format!("topic,size,rate,{column}\na,16,1,{value}\n"));
            assert_eq!((position.column, message), (4, format!("`{value}` is not a valid `{column}`")));
        }
        assert!(table("").is_err() && table("topic,size,rate\n").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_rejected(text in "\\PC{0,80}", rows in "(([a-z0-9./%\"#-]{0,5},){2}[0-9a-zM./]{0,6}\n){0,4}") {
            for text in [text, format!("topic,size,rate\n{rows}")] {
                if let Err(error) = table(&text) {
                    prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
                }
            }
        }
    }
}
