//! Trace file of any origin: its times ascend and are within an hour, all samples have a size or none has, or the error has a position
//! in the text. Samples that were read can be written and read again unchanged.

use experiment::{MAX_TRACE_SAMPLES, trace_samples};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match trace_samples(text) {
        Ok(samples) => {
            let (times, sizes) = (&samples.times_ns, &samples.sizes_bytes);
            assert!(!times.is_empty() && times.len() <= MAX_TRACE_SAMPLES && times.is_sorted());
            assert!(times.iter().all(|ns| *ns < 3_600_000_000_000));
            assert!(sizes.is_empty() || sizes.len() == times.len());
            assert!(sizes.iter().all(|size| (16..=u64::from(u32::MAX)).contains(size)));
            let written: String = (0..times.len())
                .map(|index| {
                    let size = sizes.get(index).map_or_else(String::new, |size| format!(" {size}"));
                    let ns = times[index];
                    format!("{}.{:09}{size}\n", ns / 1_000_000_000, ns % 1_000_000_000)
                })
                .collect();
            assert_eq!(trace_samples(&written), Ok(samples), "what was written reads back");
        }
        Err(fault) => {
            assert!(!fault.words.is_empty() && !fault.hint.is_empty());
            let line = text.lines().nth(fault.line.saturating_sub(1)).unwrap_or_default();
            assert!(fault.line <= text.lines().count() && fault.column <= line.chars().count() + 1);
        }
    }
}
