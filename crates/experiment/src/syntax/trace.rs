//! Trace files: recorded send times of the samples of a flow, and their sizes.
//!
//! Each line is one time in seconds from the start, a plain decimal number, in ascending order, and may have the size of the sample in
//! bytes after it; then each line has. Empty lines and lines that start with `#` are ignored. Digits below 1 ns are cut off.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::syntax::{input_file::FileError, units::MIN_SIZE_BYTES};

/// Maximum number of times in a run, over all of its trace files.
pub const MAX_TRACE_SAMPLES: usize = 4_000_000;
/// Upper limit of a time, exclusive, in seconds: the longest measured time of a run.
const MAX_SECONDS: u64 = 3_600;
const NS_DIGITS: usize = 9;
/// Sizes that a sample may have, in bytes: lengths of sequences in DDS have 32 bits.
const SIZES_BYTES: std::ops::RangeInclusive<u64> = MIN_SIZE_BYTES..=0xffff_ffff;

const FORM: &str = "write one time in seconds per line, such as `0.0125`, or a time and a size in bytes, such as `0.0125 1024`; empty lines and those that start with `#` are ignored";
const ASCENDING: &str = "sort the times; those of a burst may be equal";
const LATEST: &str = "use times up to 3600 s from the start of the measurement";
const FEWER: &str = "use a part of the file: a run takes 4,000,000 times at most";
const ALL_SIZES: &str = "give each line a size, or none";
const SIZES: &str = "use sizes in bytes from 16, the header of a sample, to 4294967295";

/// Samples of a trace file, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceSamples {
    /// Send times in ns from the start, ascending.
    pub times_ns: Arc<[u64]>,
    /// Size of each sample in bytes. Empty if the file has times only.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub sizes_bytes: Arc<[u64]>,
}

/// Sizes of the samples of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedSizes {
    /// Sum over all samples in bytes.
    pub total_bytes: u64,
    /// Smallest size in bytes.
    pub smallest_bytes: u64,
    /// Largest size in bytes.
    pub largest_bytes: u64,
}

impl TraceSamples {
    /// Returns the sizes of the samples together; `None` without sizes.
    #[must_use]
    pub fn sizes(&self) -> Option<RecordedSizes> {
        let sizes = &self.sizes_bytes;
        Some(RecordedSizes {
            total_bytes: sizes.iter().fold(0, |sum, size| sum.saturating_add(*size)),
            smallest_bytes: *sizes.iter().min()?,
            largest_bytes: *sizes.iter().max()?,
        })
    }
}

/// Returns the samples of a trace file, with times in ns, in the order of the file.
///
/// # Errors
/// Returns an error if a line is not a valid time or size, if the times are not ascending, if only some lines have a size, or if there
/// are none or too many.
pub fn trace_samples(text: &str) -> Result<TraceSamples, FileError> {
    samples_up_to(MAX_TRACE_SAMPLES, text)
}

fn samples_up_to(most: usize, text: &str) -> Result<TraceSamples, FileError> {
    let (mut times, mut sizes): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let trimmed = content.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        // The error at a byte of the trimmed line.
        let fault = |byte: usize, words: String, hint: &'static str| {
            let begin = content.len() - content.trim_start().len();
            let column = content[..begin + byte].chars().count() + 1;
            FileError { line, column, words, hint: hint.into() }
        };
        let (time_text, size_text) = match trimmed.split_once(char::is_whitespace) {
            Some((time, size)) => (time, Some(size.trim_start())),
            None => (trimmed, None),
        };
        let time = seconds(time_text)
            .map_err(|at| fault(at, format!("`{}` is not a time", shortened(time_text)), FORM))?;
        let Some(time) = time else {
            return Err(fault(0, format!("{} s is out of range", shortened(time_text)), LATEST));
        };
        if times.last().is_some_and(|last| *last > time) {
            let words = format!("{} s is earlier than the previous time", shortened(time_text));
            return Err(fault(0, words, ASCENDING));
        }
        if times.len() == most {
            return Err(fault(0, format!("more than {most} times"), FEWER));
        }
        let size_at = trimmed.len() - size_text.map_or(0, str::len);
        match (size_text, sizes.len() == times.len()) {
            (Some(size), true) => {
                sizes.push(bytes(size).map_err(|(words, hint)| fault(size_at, words, hint))?);
            }
            (None, true) if !times.is_empty() => {
                return Err(fault(
                    0,
                    "the sample has no size, and those before it have".to_owned(),
                    ALL_SIZES,
                ));
            }
            (Some(size), false) => {
                bytes(size).map_err(|(words, hint)| fault(size_at, words, hint))?;
                let words = "the sample has a size, and those before it have none".to_owned();
                return Err(fault(size_at, words, ALL_SIZES));
            }
            (None, _) => {}
        }
        times.push(time);
    }
    if times.is_empty() {
        return Err(FileError { line: 0, column: 0, words: "no times found".to_owned(), hint: FORM.into() });
    }
    Ok(TraceSamples { times_ns: times.into(), sizes_bytes: sizes.into() })
}

/// Parses a size in bytes. Returns what is wrong with it, and what to write.
fn bytes(text: &str) -> Result<u64, (String, &'static str)> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err((format!("`{}` is not a size in bytes", shortened(text)), FORM));
    }
    let size = text.parse().ok().filter(|size| SIZES_BYTES.contains(size));
    size.ok_or_else(|| (format!("a sample of {} bytes is out of range", shortened(text)), SIZES))
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
        let FileError { line, column, words, hint } = trace_samples(text).expect_err("it is refused");
        (line, column, words, hint.into_owned())
    }

    fn of_times(times_ns: &[u64]) -> TraceSamples {
        TraceSamples { times_ns: times_ns.into(), ..TraceSamples::default() }
    }

    #[test]
    fn times_are_seconds_and_become_ns() {
        let text =
            "# from a capture\n\n0\n0.5\r\n  0.500000001\n1.23456789012\n3599.999999999\n3599.999999999";
        let times = [0, 500_000_000, 500_000_001, 1_234_567_890, 3_599_999_999_999, 3_599_999_999_999];
        assert_eq!(trace_samples(text), Ok(of_times(&times)));
    }

    #[test]
    fn samples_may_have_sizes_after_their_times() {
        let found = trace_samples("0 64\n# a burst\n0.5\t  1024\n 0.5 16\n").expect("samples");
        assert_eq!(
            (&found.times_ns[..], &found.sizes_bytes[..]),
            (&[0, 500_000_000, 500_000_000][..], &[64, 1_024, 16][..])
        );
        let sizes = RecordedSizes { total_bytes: 1_104, smallest_bytes: 16, largest_bytes: 1_024 };
        assert_eq!(found.sizes(), Some(sizes));
        assert_eq!(trace_samples("0\n1\n").expect("times").sizes(), None);
    }

    #[test]
    fn invalid_size_is_rejected_with_its_position() {
        let out_of_range = |size: &str| format!("a sample of {size} bytes is out of range");
        for (text, place, words, hint) in [
            ("0 64\n  1  1k\n", (2, 6), "`1k` is not a size in bytes".to_owned(), FORM),
            ("0 -1", (1, 3), "`-1` is not a size in bytes".to_owned(), FORM),
            ("0 64 7", (1, 3), "`64 7` is not a size in bytes".to_owned(), FORM),
            ("0 15", (1, 3), out_of_range("15"), SIZES),
            ("0 4294967296", (1, 3), out_of_range("4294967296"), SIZES),
            ("0 99999999999999999999", (1, 3), out_of_range("99999999999999999999"), SIZES),
            ("0 64\n1\n", (2, 1), "the sample has no size, and those before it have".to_owned(), ALL_SIZES),
            (
                "0\n1 64\n",
                (2, 3),
                "the sample has a size, and those before it have none".to_owned(),
                ALL_SIZES,
            ),
        ] {
            assert_eq!(rejected(text), (place.0, place.1, words, hint.to_owned()), "{text}");
        }
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
        assert_eq!(samples_up_to(3, "0\n0\n0\n"), Ok(of_times(&[0; 3])));
        let fault = samples_up_to(3, "0\n0\n0\n\n0\n").expect_err("it is refused");
        assert_eq!((fault.line, fault.words.as_str()), (5, "more than 3 times"));
        assert!(fault.hint.contains("4,000,000") && MAX_TRACE_SAMPLES == 4_000_000);
    }

    proptest! {
        #[test]
        fn any_text_parses_without_panic(text in "\\PC{0,60}", near in "([0-9.]{0,12}[\\n#e -]?){0,6}") {
            for text in [text, near] {
                match trace_samples(&text) {
                    Ok(TraceSamples { times_ns, sizes_bytes }) => {
                        prop_assert!(!times_ns.is_empty() && times_ns.is_sorted());
                        prop_assert!(sizes_bytes.is_empty() || sizes_bytes.len() == times_ns.len());
                    }
                    Err(fault) => {
                        prop_assert!(fault.line <= text.lines().count() && !fault.words.is_empty());
                        let line = text.lines().nth(fault.line.saturating_sub(1)).unwrap_or_default();
                        prop_assert!(fault.column <= line.chars().count() + 1);
                    }
                }
            }
        }

        #[test]
        fn text_form_parses_back(
            mut times in prop::collection::vec(0..3_600_000_000_000_u64, 1..50),
            sizes in prop::option::of(prop::collection::vec(SIZES_BYTES, 50)),
        ) {
            times.sort_unstable();
            let size = |index: usize| sizes.as_ref().map_or_else(String::new, |sizes| format!(" {}", sizes[index]));
            let line = |(index, ns): (usize, &u64)| {
                format!("{}.{:09}{}\n", ns / 1_000_000_000, ns % 1_000_000_000, size(index))
            };
            let text: String = times.iter().enumerate().map(line).collect();
            let sizes_bytes = sizes.map_or_else(Arc::default, |sizes| sizes[..times.len()].into());
            prop_assert_eq!(trace_samples(&text), Ok(TraceSamples { times_ns: times.into(), sizes_bytes }));
        }
    }
}
