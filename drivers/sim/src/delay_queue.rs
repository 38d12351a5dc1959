//! Queue of received samples that are not due yet.
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque, binary_heap::PeekMut},
    mem,
};

/// Queue of samples in the order of their due times, and of arrival for equal ones. Buffers are reused, so a steady
/// state needs no allocation.
pub(crate) struct DelayQueue {
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
    due: VecDeque<usize>,
    rooms: Vec<Vec<u8>>,
    free: Vec<usize>,
    came: u64,
    /// Maximum number of due samples; older ones are dropped.
    depth: usize,
}

/// Maximum number of queued samples. Further ones wait in the socket, and finally the writer blocks.
const MOST: usize = 1 << 16;
/// Maximum size of the queue in bytes.
const MOST_BYTES: usize = 256 << 20;

impl DelayQueue {
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            waiting: BinaryHeap::with_capacity(1024),
            due: VecDeque::new(),
            rooms: Vec::new(),
            free: Vec::new(),
            came: 0,
            depth,
        }
    }

    pub(crate) fn is_full(&self, max_payload: usize) -> bool {
        self.waiting.len() + self.due.len() >= MOST.min(MOST_BYTES / max_payload.max(1))
    }

    #[inline]
    pub(crate) fn push(&mut self, due_ns: u64, payload: &[u8]) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.rooms.push(Vec::with_capacity(payload.len()));
            self.rooms.len() - 1
        });
        self.rooms[index].clear();
        self.rooms[index].extend_from_slice(payload);
        self.waiting.push(Reverse((due_ns, self.came, index)));
        self.came += 1;
    }

    /// Returns the due time of the next sample; 0 if it is already due.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        if self.due.is_empty() { self.waiting.peek().map(|Reverse((due_ns, ..))| *due_ns) } else { Some(0) }
    }

    /// Passes the next sample to `give` if it is due. Returns whether it was.
    #[inline]
    pub(crate) fn give_due(&mut self, now_ns: u64, give: impl FnOnce(&[u8])) -> bool {
        while let Some(next) = self.waiting.peek_mut().filter(|next| next.0.0 <= now_ns) {
            let Reverse((.., index)) = PeekMut::pop(next);
            self.due.push_back(index);
            if self.due.len() > self.depth {
                self.free.extend(self.due.pop_front());
            }
        }
        let Some(index) = self.due.pop_front() else { return false };
        // `give` may call anything, but not this queue
        let room = mem::take(&mut self.rooms[index]);
        give(&room);
        self.rooms[index] = room;
        self.free.push(index);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_given_when_due_in_the_order_of_their_times() {
        let mut inbox = DelayQueue::new(usize::MAX);
        for (due, text) in [(30, "late"), (10, "first"), (10, "second"), (20, "third")] {
            inbox.push(due, text.as_bytes());
        }
        let mut given = Vec::new();
        for now in [9, 10, 10, 10, 29, 30, 31] {
            inbox.give_due(now, |payload| given.push((now, String::from_utf8_lossy(payload).into_owned())));
        }
        let expected = [(10, "first"), (10, "second"), (29, "third"), (30, "late")];
        assert_eq!(given, expected.map(|(now, text)| (now, text.to_owned())));
        assert_eq!((inbox.next_due_ns(), inbox.rooms.len(), inbox.free.len()), (None, 4, 4));
        inbox.push(1, b"again");
        assert_eq!(inbox.rooms.len(), 4, "rooms are used again");
    }

    #[test]
    fn of_what_is_due_the_last_are_kept() {
        let mut inbox = DelayQueue::new(2);
        for due in [10, 20, 30, 40, 50] {
            inbox.push(due, &[due as u8]);
        }
        let mut given = Vec::new();
        for now in [35, 35, 35, 60, 60] {
            inbox.give_due(now, |payload| given.push(payload[0]));
        }
        assert_eq!(given, [20, 30, 40, 50], "10 was not taken in time");
        assert_eq!(inbox.free.len(), 5);
    }

    #[test]
    fn it_has_an_end() {
        let mut inbox = DelayQueue::new(usize::MAX);
        let mut held = 0;
        while !inbox.is_full(128 << 10) {
            inbox.push(0, b"x");
            held += 1;
        }
        assert_eq!(held, 2048);
    }
}
