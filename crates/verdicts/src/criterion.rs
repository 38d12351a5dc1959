//! Criteria such as `p99 > +5%`: changes that fail a comparison.

use std::ops::Range;

use results::MetricSelector;
use stats::GateBound;

/// Criterion: a forbidden change of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Text as given on the command line.
    pub text: String,
    /// Metric, by the workload of a cell.
    pub wanted: MetricSelector,
    /// Forbidden range of the change.
    pub forbidden: GateBound,
}

/// Syntax error in a criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionError {
    /// Error message.
    pub error: String,
    /// Byte range of the error in the text.
    pub at: Range<usize>,
    /// Suggested next step.
    pub hint: String,
}

const FORM: &str =
    "write a metric, `>` or `<`, and a change in percent, such as `p99 > +5%` or `goodput < -5%`";

impl Criterion {
    /// Parses a criterion: a metric, `>` or `<`, and a change in percent with or without a sign.
    ///
    /// # Errors
    /// Returns an error with its position for any other text.
    pub fn parse(text: &str) -> Result<Self, CriterionError> {
        let fault = |error: &str, at: Range<usize>, hint: &str| CriterionError {
            error: error.to_owned(),
            at,
            hint: hint.to_owned(),
        };
        // the trimmed part between two positions, and its range
        let part = |from: usize, to: usize| {
            let part = &text[from..to];
            let begin = from + part.len() - part.trim_start().len();
            (part.trim(), begin..begin + part.trim().len())
        };
        let Some(sign_at) = text.find(['<', '>']) else {
            return Err(fault("there is no `>` or `<` in it", 0..text.len(), FORM));
        };
        let (name, at) = part(0, sign_at);
        let Some(wanted) = MetricSelector::by_word(name) else {
            let all: Vec<&str> = MetricSelector::all().map(MetricSelector::word).collect();
            let error = if name.is_empty() {
                "there is no metric before the sign".to_owned()
            } else {
                format!("there is no metric `{name}`")
            };
            return Err(fault(&error, at, &format!("the metrics are {}", all.join(", "))));
        };
        let (change, at) = part(sign_at + 1, text.len());
        let Some(number) = change.strip_suffix('%') else {
            let error = if change.is_empty() {
                "there is no change after the sign"
            } else {
                "not a change in percent"
            };
            return Err(fault(error, at, "a bound is a change relative to the baseline, such as `+5%`"));
        };
        let number = number.trim_end();
        let at = at.start..at.start + number.len();
        let Some(percent) = decimal(number) else {
            return Err(fault("not a number", at, "write digits, such as `+5%` or `-2.5%`"));
        };
        if percent <= -100.0 {
            return Err(fault("no metric can fall by 100 % or more", at, "a bound is more than -100%"));
        }
        let share = percent / 100.0;
        let above = text[sign_at..].starts_with('>');
        let forbidden = if above { GateBound::Above(share) } else { GateBound::Below(share) };
        Ok(Self { text: text.trim().to_owned(), wanted, forbidden })
    }

    /// Returns the change that is allowed, such as `at most +5 %`.
    #[must_use]
    pub fn allowed(&self) -> String {
        let percent = |share: f64| (share * 1e8).round() / 1e6;
        match self.forbidden {
            GateBound::Above(share) => format!("at most {:+} %", percent(share)),
            GateBound::Below(share) => format!("at least {:+} %", percent(share)),
        }
    }
}

/// Parses a decimal number: digits with an optional sign and decimal point, without other float notations.
fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = text.parse().ok()?;
    (is_plain && number.is_finite()).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use results::Metric;

    use super::*;

    #[test]
    fn criterion_parses() {
        let read =
            |text: &str| Criterion::parse(text).map(|criterion| (criterion.wanted, criterion.forbidden));
        assert_eq!(read("rtt-p99 > +5%"), Ok((Metric::RttP99.into(), GateBound::Above(0.05))));
        assert_eq!(read("  rtt-p99.9>5 % "), Ok((Metric::RttP999.into(), GateBound::Above(0.05))));
        let main = read("p99 > +5%").map(|(wanted, _)| wanted).expect("a criterion");
        assert!(main.means(Metric::RttP99) && main.means(Metric::ResponseP99));
        assert_eq!(read("throughput < -2.5%"), Ok((Metric::Goodput.into(), GateBound::Below(-0.025))));
        assert_eq!(read("response-p99 > +5%"), Ok((Metric::ResponseP99.into(), GateBound::Above(0.05))));
        assert_eq!(read("cpu-writer > 0%"), Ok((Metric::CpuWriter.into(), GateBound::Above(0.0))));
    }

    #[test]
    fn errors_point_at_their_position() {
        for (text, error, pointed) in [
            ("p99 +5%", "there is no `>` or `<` in it", "p99 +5%"),
            ("p42 > +5%", "there is no metric `p42`", "p42"),
            (" > +5%", "there is no metric before the sign", ""),
            ("p99 > 2ms", "not a change in percent", "2ms"),
            ("p99 >", "there is no change after the sign", ""),
            ("p99 > five%", "not a number", "five"),
            ("p99 > 1e3%", "not a number", "1e3"),
            ("p99 > +-5%", "not a number", "+-5"),
            ("p99 > inf%", "not a number", "inf"),
            ("p99 >= 5%", "not a number", "= 5"),
            ("goodput < -100 %", "no metric can fall by 100 % or more", "-100"),
        ] {
            let fault = Criterion::parse(text).expect_err(text);
            assert_eq!((fault.error.as_str(), &text[fault.at.clone()]), (error, pointed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn criterion_text_parses_back(
            metric in prop::sample::select(Metric::ALL.to_vec()),
            above: bool,
            tenths in -999_i32..10_000,
            blanks in prop::collection::vec(" {0,3}", 5),
        ) {
            let [a, b, c, d, e] = &blanks[..] else { unreachable!() };
            let sign = if above { '>' } else { '<' };
            let plus = if tenths > 0 { "+" } else { "" };
            let percent = f64::from(tenths) / 10.0;
            let text = format!("{a}{}{b}{sign}{c}{plus}{percent}{d}%{e}", metric.name());
            let read = Criterion::parse(&text).expect("it is well formed");
            let share = percent / 100.0;
            let forbidden = if above { GateBound::Above(share) } else { GateBound::Below(share) };
            prop_assert_eq!((read.wanted, read.forbidden), (MetricSelector::from(metric), forbidden));
        }

        #[test]
        fn any_text_is_read_or_pointed_into(text in "\\PC{0,20}|[p9.<>+%0-9 -]{0,12}") {
            match Criterion::parse(&text) {
                Ok(criterion) => prop_assert!(Criterion::parse(&criterion.text) == Ok(criterion)),
                Err(fault) => prop_assert!(text.get(fault.at).is_some()),
            }
        }
    }
}
