//! HdrHistogram interval log of any origin: what loads can be merged, and stored and read again unchanged.

use std::{sync::Arc, time::SystemTime};

use results::{EncodedWindows, IntervalLog, QUANTILES};

pub fn run(text: &[u8]) {
    let Ok(windows) = IntervalLog::read(text) else { return };
    let mut log = IntervalLog::new();
    for (kind, _, histogram) in &windows {
        let windows = EncodedWindows::encode(1_000_000, std::slice::from_ref(histogram));
        log.add_encoded(kind, Arc::new(windows));
    }
    for histogram in log.merged().values() {
        for quantile in QUANTILES {
            assert!(histogram.value_at_quantile(quantile) <= histogram.max());
        }
    }
    // not every kind that can be read is a tag that can be written
    let Ok(text) = log.write(SystemTime::UNIX_EPOCH, "") else { return };
    let again = IntervalLog::read(&text).expect("what was written loads");
    assert!(again.iter().map(|(.., read)| read).eq(windows.iter().map(|(.., written)| written)));
}
