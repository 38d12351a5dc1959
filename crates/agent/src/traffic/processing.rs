//! Processing time of a slow application: what a reader does with each sample before it takes the next one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use crate::base::clock::now_ns;

/// Processing time of each sample while traffic flows, as a sleep. Afterwards there is none: what is still queued is
/// counted at full speed, so that a run ends in time.
#[derive(Clone, Debug)]
pub struct Processing {
    each: Duration,
    /// End of the traffic in ns; 0: no traffic yet.
    end_ns: Arc<AtomicU64>,
}

impl Processing {
    /// Creates the processing time of a reader; `None` without one.
    #[must_use]
    pub fn of_each(ns: Option<u64>) -> Option<Self> {
        ns.map(|ns| Self { each: Duration::from_nanos(ns), end_ns: Arc::default() })
    }

    /// Begins traffic that ends at this time.
    pub fn until(&self, end_ns: u64) {
        self.end_ns.store(end_ns, Relaxed);
    }

    /// Spends the processing time of one sample.
    #[cold]
    pub fn spend(&self) {
        if now_ns() < self.end_ns.load(Relaxed) {
            thread::sleep(self.each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_spent_only_while_traffic_flows() {
        let each = Duration::from_millis(2);
        let processing = Processing::of_each(Some(each.as_nanos() as u64)).expect("a time");
        let spent = |times: u32| {
            let begin = now_ns();
            (0..times).for_each(|_| processing.spend());
            Duration::from_nanos(now_ns() - begin)
        };
        processing.until(u64::MAX);
        let busy = spent(5);
        assert!(busy >= each * 5, "{busy:?}");
        processing.until(now_ns());
        // A thousand times as many samples as would take half as long.
        let idle = spent(2_500);
        assert!(idle < each * 2_500, "{idle:?}");
        assert!(Processing::of_each(None).is_none());
    }
}
