//! Trace file of any origin: its times ascend and are within an hour, or the error has a position in the text.
//! Times that were read can be written and read again unchanged.
#![no_main]

use experiment::{MAX_TRACE_SAMPLES, trace_times};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match trace_times(text) {
        Ok(times) => {
            assert!(!times.is_empty() && times.len() <= MAX_TRACE_SAMPLES && times.is_sorted());
            assert!(times.iter().all(|ns| *ns < 3_600_000_000_000));
            let written: String = times
                .iter()
                .map(|ns| format!("{}.{:09}\n", ns / 1_000_000_000, ns % 1_000_000_000))
                .collect();
            assert_eq!(trace_times(&written), Ok(times), "what was written reads back");
        }
        Err(fault) => {
            assert!(!fault.words.is_empty() && !fault.hint.is_empty());
            let line = text.lines().nth(fault.line.saturating_sub(1)).unwrap_or_default();
            assert!(fault.line <= text.lines().count() && fault.column <= line.chars().count() + 1);
        }
    }
});
