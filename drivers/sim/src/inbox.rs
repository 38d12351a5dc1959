//! Samples that have come and are not due yet.
use std::{cmp::Reverse, collections::BinaryHeap, mem};

/// Samples are held in the order in which they are due; of those due at once, as they came. Memory is used again: in the
/// long run nothing is allocated.
pub(crate) struct Inbox {
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
    rooms: Vec<Vec<u8>>,
    free: Vec<usize>,
    came: u64,
}

/// How many samples wait here at most; the others wait in the socket, and at last the writer does.
const MOST: usize = 1 << 16;
/// How many bytes.
const MOST_BYTES: usize = 256 << 20;

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { waiting: BinaryHeap::with_capacity(1024), rooms: Vec::new(), free: Vec::new(), came: 0 }
    }

    pub(crate) fn is_full(&self, max_payload: usize) -> bool {
        self.waiting.len() >= MOST.min(MOST_BYTES / max_payload.max(1))
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

    /// When the next one is due.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse((due_ns, ..))| *due_ns)
    }

    /// Gives the next one, if it is due; whether it was.
    #[inline]
    pub(crate) fn give_due(&mut self, now_ns: u64, give: impl FnOnce(&[u8])) -> bool {
        if self.next_due_ns().is_none_or(|due_ns| due_ns > now_ns) {
            return false;
        }
        let Some(Reverse((.., index))) = self.waiting.pop() else { return false };
        // what is given may lead to anything, but not back here
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
        let mut inbox = Inbox::new();
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
    fn it_has_an_end() {
        let mut inbox = Inbox::new();
        let mut held = 0;
        while !inbox.is_full(128 << 10) {
            inbox.push(0, b"x");
            held += 1;
        }
        assert_eq!(held, 2048);
    }
}
