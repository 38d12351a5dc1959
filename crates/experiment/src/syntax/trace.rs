//! Trace files: recorded send times of the samples of a flow.
//!
//! Each line is one time in seconds from the start, a plain decimal number, in ascending order. Empty lines and
//! lines that start with `#` are ignored. Digits below 1 ns are cut off.

use crate::syntax::input_file::FileError;

/// Maximum number of times in a run, over all of its trace files.
pub const MAX_TRACE_SAMPLES: usize = 4_000_000;
/// Upper limit of a time, exclusive, in seconds: the longest measured time of a run.
const MAX_SECONDS: u64 = 3_600;
const NS_DIGITS: usize = 9;

const FORM: &str = "write one time in seconds per line, such as `0.0125`; empty lines and those that start with `#` are ignored";
const ASCENDING: &str = "sort the times; those of a burst may be equal";
const LATEST: &str = "use times up to 3600 s from the start of the measurement";
const FEWER: &str = "use a part of the file: a run takes 4,000,000 times at most";

/// Returns the times of a trace file in ns, in the order of the file.
///
/// # Errors
/// Returns an error if a line is not a valid time, if the times are not ascending, or if there are none or too
/// many.
pub fn trace_times(text: &str) -> Result<Vec<u64>, FileError> {
    times_up_to(MAX_TRACE_SAMPLES, text)
}

fn times_up_to(most: usize, text: &str) -> Result<Vec<u64>, FileError> {
    let mut times: Vec<u64> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let trimmed = content.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        // Column of a byte of the trimmed line.
        let column = |byte: usize| {
            let begin = content.len() - content.trim_start().len();
            content[..begin + byte].chars().count() + 1
        };
        let fault =
            |words, hint: &'static str| FileError { line, column: column(0), words, hint: hint.into() };
        let time = seconds(trimmed).map_err(|at| FileError {
            line,
            column: column(at),
            words: format!("`{}` is not a time", shortened(trimmed)),
            hint: FORM.into(),
        })?;
        let Some(time) = time else {
            return Err(fault(format!("{} s is out of range", shortened(trimmed)), LATEST));
        };
        if times.last().is_some_and(|last| *last > time) {
            return Err(fault(
                format!("{} s is earlier than the previous time", shortened(trimmed)),
                ASCENDING,
            ));
        }
        if times.len() == most {
            return Err(fault(format!("more than {most} times"), FEWER));
        }
        times.push(time);
    }
    if times.is_empty() {
        return Err(FileError { line: 0, column: 0, words: "no times found".to_owned(), hint: FORM.into() });
    }
    Ok(times)
}

/// Parses a plain decimal number of seconds into ns; returns `None` if it is out of range. The error is the index
/// of the first invalid byte.
fn seconds(text: &str) -> Result<Option<u64>, usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let integer = digits(text);
    if integer == 0 {
        return Err(0);
    }
    let (integer, rest) = text.split_at(integer);
    let fraction = match rest.strip_prefix('.') {
        None if rest.is_empty() => "",
        None => return Err(integer.len()),
        Some(fraction) => {
            let end = digits(fraction);
            if end < fraction.len() || end == 0 {
                return Err(integer.len() + 1 + end);
            }
            fraction
        }
    };
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(NS_DIGITS);
    let ns = digits.fold(0, |ns, digit| ns * 10 + u64::from(digit - b'0'));
    let integer = integer.parse::<u64>().ok().filter(|integer| *integer < MAX_SECONDS);
    Ok(integer.map(|integer| integer * 1_000_000_000 + ns))
}

/// Shortens a text to the length that an error shows.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn rejected(text: &str) -> (usize, usize, String, String) {
        let FileError { line, column, words, hint } = trace_times(text).expect_err("it is refused");
        (line, column, words, hint.into_owned())
    }

    #[test]
    fn times_are_seconds_and_become_ns() {
        let text =
            "# from a capture\n\n0\n0.5\r\n  0.500000001\n1.23456789012\n3599.999999999\n3599.999999999";
        let times = [0, 500_000_000, 500_000_001, 1_234_567_890, 3_599_999_999_999, 3_599_999_999_999];
        assert_eq!(trace_times(text).expect("times"), times);
    }

    #[test]
    fn invalid_time_is_rejected_with_its_position() {
        for (text, place, words) in [
            ("0\n  1.5x\n", (2, 6), "`1.5x` is not a time"),
            ("-1", (1, 1), "`-1` is not a time"),
            ("NaN", (1, 1), "`NaN` is not a time"),
            ("inf", (1, 1), "`inf` is not a time"),
            ("1e-5", (1, 2), "`1e-5` is not a time"),
            ("1.", (1, 3), "`1.` is not a time"),
            (".5", (1, 1), "`.5` is not a time"),
            ("0,5", (1, 2), "`0,5` is not a time"),
            ("1.5.5", (1, 4), "`1.5.5` is not a time"),
            ("\u{e9}", (1, 1), "`\u{e9}` is not a time"),
        ] {
            assert_eq!(rejected(text), (place.0, place.1, words.to_owned(), FORM.to_owned()), "{text}");
        }
        assert_eq!(
            rejected("0\n1\n\n0.9\n"),
            (4, 1, "0.9 s is earlier than the previous time".to_owned(), ASCENDING.to_owned())
        );
        for late in ["3600", "99999999999999999999999"] {
            assert_eq!(rejected(late).3, LATEST, "{late}");
        }
        for empty in ["", "\n# nothing\n"] {
            assert_eq!(rejected(empty), (0, 0, "no times found".to_owned(), FORM.to_owned()));
        }
    }

    #[test]
    fn too_many_times_are_rejected() {
        assert_eq!(times_up_to(3, "0\n0\n0\n"), Ok(vec![0; 3]));
        let fault = times_up_to(3, "0\n0\n0\n\n0\n").expect_err("it is refused");
        assert_eq!((fault.line, fault.words.as_str()), (5, "more than 3 times"));
        assert!(fault.hint.contains("4,000,000") && MAX_TRACE_SAMPLES == 4_000_000);
    }

    proptest! {
        #[test]
        fn any_text_parses_without_panic(text in "\\PC{0,60}", near in "([0-9.]{0,12}[\\n#e -]?){0,6}") {
            for text in [text, near] {
                match trace_times(&text) {
                    Ok(times) => prop_assert!(!times.is_empty() && times.is_sorted()),
                    Err(fault) => {
                        prop_assert!(fault.line <= text.lines().count() && !fault.words.is_empty());
                        let line = text.lines().nth(fault.line.saturating_sub(1)).unwrap_or_default();
                        prop_assert!(fault.column <= line.chars().count() + 1);
                    }
                }
            }
        }

        #[test]
        fn text_form_parses_back(mut times in prop::collection::vec(0..3_600_000_000_000_u64, 1..50)) {
            times.sort_unstable();
            let text: String =
                times.iter().map(|ns| format!("{}.{:09}\n", ns / 1_000_000_000, ns % 1_000_000_000)).collect();
            prop_assert_eq!(trace_times(&text), Ok(times));
        }
    }
}
