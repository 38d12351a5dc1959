//! Set of sequence numbers compared with a hash set that stores all of them.
use std::collections::HashSet;

use proptest::prelude::*;
use recording::SequenceSet;

/// Distance up to which the set stores single numbers, as documented.
const REACH: u64 = 1 << 20;

#[derive(Default)]
struct Oracle {
    seen: HashSet<u64>,
    next: u64,
    duplicate: u64,
    out_of_order: u64,
    beyond_reach: u64,
}

impl Oracle {
    fn insert(&mut self, sequence: u64) -> bool {
        if sequence >= self.next {
            self.next = sequence + 1;
            return self.seen.insert(sequence);
        }
        if self.next - sequence > REACH {
            self.beyond_reach += 1;
            return false;
        }
        let new = self.seen.insert(sequence);
        *if new { &mut self.out_of_order } else { &mut self.duplicate } += 1;
        new
    }
}

fn agree(set: &SequenceSet, oracle: &Oracle) -> Result<(), TestCaseError> {
    let received = set.received(3);
    prop_assert_eq!(received.delivered, oracle.seen.len() as u64);
    prop_assert_eq!(received.missing, oracle.next - oracle.seen.len() as u64);
    prop_assert_eq!(received.delivered + received.missing, received.next);
    prop_assert_eq!(
        (received.writer, received.next, received.duplicate, received.out_of_order, received.beyond_reach),
        (3, oracle.next, oracle.duplicate, oracle.out_of_order, oracle.beyond_reach)
    );
    Ok(())
}

/// Returns steps relative to the next expected number: mostly forward, some back, few far away.
fn steps() -> impl Strategy<Value = Vec<i64>> {
    let reach = REACH as i64;
    let step = prop_oneof![
        20 => Just(0_i64),
        6 => 1_i64..50,
        8 => -50_i64..0,
        2 => -3000_i64..3000,
        1 => -reach - 2..=-reach + 2,
        1 => reach - 2..=reach + 2,
        1 => -3 * reach..3 * reach,
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    #[test]
    fn counts_are_those_of_a_hash_set(start in 0_u64..3 * REACH, steps in steps()) {
        let (mut set, mut oracle) = (SequenceSet::new(), Oracle::default());
        set.insert(start);
        oracle.insert(start);
        for step in steps {
            let sequence = oracle.next.saturating_add_signed(step);
            prop_assert_eq!(set.insert(sequence), oracle.insert(sequence));
            agree(&set, &oracle)?;
        }
    }

    #[test]
    fn thirty_two_bits_are_enough_across_their_wrap(
        start in (u64::from(u32::MAX) - 200)..(u64::from(u32::MAX) + 200),
        steps in steps(),
    ) {
        let (mut set, mut oracle) = (SequenceSet::new(), Oracle::default());
        set.insert(start);
        oracle.insert(start);
        for step in steps {
            let sequence = oracle.next.saturating_add_signed(step);
            let unwrapped = set.unwrap(sequence as u32);
            prop_assert_eq!(unwrapped, sequence);
            prop_assert_eq!(set.insert(unwrapped), oracle.insert(sequence));
        }
        agree(&set, &oracle)?;
    }

    #[test]
    fn loss_duplication_and_reordering_are_distinguished(
        fates in prop::collection::vec(0_u8..10, 1..2000),
        swaps in prop::collection::vec(any::<prop::sample::Index>(), 0..50),
    ) {
        // 0 and 1: lost; 2: arrives twice; otherwise once
        let mut arrivals = Vec::new();
        for (sequence, fate) in fates.iter().enumerate() {
            let copies = match fate { 0 | 1 => 0, 2 => 2, _ => 1 };
            arrivals.extend(std::iter::repeat_n(sequence as u64, copies));
        }
        for swap in swaps {
            if arrivals.len() > 1 {
                let index = swap.index(arrivals.len() - 1);
                arrivals.swap(index, index + 1);
            }
        }
        let mut set = SequenceSet::new();
        let new = arrivals.iter().filter(|sequence| set.insert(**sequence)).count();
        let twice = fates.iter().filter(|fate| **fate == 2).count();
        let there = fates.iter().filter(|fate| **fate > 1).count();
        let last = fates.iter().rposition(|fate| *fate > 1).map_or(0, |last| last as u64 + 1);
        prop_assert_eq!(new, there);
        let received = set.received(1);
        prop_assert_eq!(received.delivered, there as u64);
        prop_assert_eq!(received.duplicate, twice as u64);
        prop_assert_eq!(received.next, last);
        prop_assert_eq!(received.missing, last - there as u64);
        prop_assert_eq!(received.beyond_reach, 0);
    }
}

#[test]
fn largest_detectable_loss_is_detected_and_a_larger_one_is_not() {
    let mut set = SequenceSet::new();
    set.insert(REACH);
    assert!(set.insert(1), "exactly within reach: late");
    assert!(!set.insert(1), "exactly within reach: again");
    assert!(!set.insert(0), "beyond");
    let received = set.received(0);
    assert_eq!((received.out_of_order, received.duplicate, received.beyond_reach), (1, 1, 1));
    assert_eq!(received.missing, REACH - 1);
}

#[test]
fn gap_forgets_only_numbers_outside_the_window() {
    // REACH is a multiple of 64, so the gap starts at the edge of a word and ends within one
    for gap in [1, 60, 63, 64, 100] {
        let mut set = SequenceSet::new();
        for sequence in 0..REACH {
            set.insert(sequence);
        }
        assert!(set.insert(REACH + gap));
        assert!(!set.insert(gap), "out of reach");
        for old in gap + 1..gap + 200 {
            assert!(!set.insert(old), "{old} comes again, after a gap of {gap}");
        }
        let received = set.received(0);
        assert_eq!((received.beyond_reach, received.duplicate, received.missing), (1, 199, gap));
        for late in REACH..REACH + gap {
            assert!(set.insert(late), "{late} is late, not a duplicate");
        }
        assert_eq!(set.received(0).missing, 0);
    }
}
