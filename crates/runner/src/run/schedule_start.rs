//! Start of a schedule: chosen before the agents are asked, so a busy host may not be ready for it.

/// Number of starts that are tried. A host that is ready for none of them has no core to keep a schedule.
const STARTS: u32 = 3;
/// Maximum time from the choice of a later start to the start, in ns.
const MAX_LEAD_NS: u64 = 4_000_000_000;
/// Multiple of the time that the agents took for one start, which the next one is later.
const LATER: u64 = 2;

/// Time until a schedule starts, and how often it may be put off.
#[derive(Debug)]
pub(super) struct ScheduleStart {
    /// Time in ns from the choice of a start to the start.
    pub(super) lead_ns: u64,
    left: u32,
}

impl ScheduleStart {
    /// Creates the choice of a start in `lead_ns`.
    pub(super) const fn new(lead_ns: u64) -> Self {
        Self { lead_ns, left: STARTS - 1 }
    }

    /// Returns whether enough time is left for the driving agents after the serving ones took `took_ns`: half of it.
    /// Otherwise puts the start off, if it can be.
    pub(super) fn is_kept(&mut self, took_ns: u64) -> bool {
        took_ns <= self.lead_ns / 2 || !self.put_off(took_ns)
    }

    /// Puts the start off, after all driving agents were ready `late_ns` after it. Returns whether there is another one.
    pub(super) fn is_put_off(&mut self, late_ns: u64) -> bool {
        self.put_off(self.lead_ns.saturating_add(late_ns))
    }

    fn put_off(&mut self, took_ns: u64) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        self.lead_ns = self.lead_ns.max(took_ns.saturating_mul(LATER).min(MAX_LEAD_NS));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn start_is_kept_while_half_of_its_time_is_left() {
        let mut start = ScheduleStart::new(250 * MS);
        assert!(start.is_kept(0) && start.is_kept(125 * MS));
        assert_eq!(start.lead_ns, 250 * MS, "a quiet host pays nothing");
    }

    #[test]
    fn later_start_follows_the_time_that_was_taken() {
        let mut start = ScheduleStart::new(250 * MS);
        assert!(!start.is_kept(300 * MS));
        assert_eq!(start.lead_ns, 600 * MS);
        assert!(start.is_put_off(740 * MS));
        assert_eq!(start.lead_ns, 2_680 * MS);
        // The third one is the last.
        assert!(start.is_kept(10_000 * MS) && !start.is_put_off(0));
        assert_eq!(start.lead_ns, 2_680 * MS);
    }

    #[test]
    fn later_start_has_a_limit() {
        let mut start = ScheduleStart::new(1_000 * MS);
        assert!(start.is_put_off(u64::MAX));
        assert_eq!(start.lead_ns, MAX_LEAD_NS);
    }
}
