//! Ring of records: one writer, one reader. Positions count bytes since the ring was created, modulo 2^64.
use std::sync::{Arc, atomic::Ordering};

use driver_kit::{Error, Result};

use crate::{
    layout::{RECORD_HEADER, RingControl, record},
    locator::WriterId,
    segment::{Mirror, Segment},
};

/// Write end of a ring, which a writer has claimed. Dropping it publishes everything and gives the ring back.
#[derive(Debug)]
pub(crate) struct Producer {
    segment: Arc<Segment>,
    index: usize,
    bytes: Mirror,
    /// Position of the next record.
    head: u64,
    /// Head as the reader sees it.
    published: u64,
    /// Payload bytes that are not published.
    payload: u64,
    /// Tail as last seen: the ring has at least as much room.
    tail: u64,
}

impl Producer {
    /// Claims a free ring.
    pub(crate) fn claim(segment: &Arc<Segment>, writer: WriterId) -> Result<Self> {
        let control = segment.control();
        let is_free = |ring: &RingControl| {
            let owner = &ring.claim.owner;
            owner.compare_exchange(0, writer.bits(), Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let Some(index) = control.rings.iter().position(is_free) else {
            let count = control.rings.len();
            return Err(Error::failed(format!("all {count} rings of the reader have a writer"))
                .hint("use fewer writers for each reader"));
        };
        let ring = &control.rings[index];
        let bytes = segment.map_ring(index, true).inspect_err(|_| {
            ring.claim.owner.store(0, Ordering::Release);
        })?;
        // a free ring is empty
        let tail = ring.tail.position.load(Ordering::Acquire);
        ring.head.store(tail, Ordering::Release);
        control.claims.fetch_add(1, Ordering::AcqRel);
        control.bell.ring();
        Ok(Self { segment: segment.clone(), index, bytes, head: tail, published: tail, payload: 0, tail })
    }

    #[inline]
    fn control(&self) -> &RingControl {
        &self.segment.control().rings[self.index]
    }

    /// Returns whether there is room for a record of this many bytes.
    #[inline]
    pub(crate) fn has_room(&mut self, record: usize) -> bool {
        self.room() >= record || {
            self.look();
            self.room() >= record
        }
    }

    #[inline]
    fn room(&self) -> usize {
        self.segment.capacity - self.head.wrapping_sub(self.tail) as usize
    }

    /// Reads the tail. A position that was not published is that of a faulty reader, and ignored.
    fn look(&mut self) {
        let tail = self.control().tail.position.load(Ordering::Acquire);
        if tail.wrapping_sub(self.tail) <= self.published.wrapping_sub(self.tail) {
            self.tail = tail;
        }
    }

    /// Copies a payload into the ring, which must have room.
    #[inline]
    pub(crate) fn push(&mut self, payload: &[u8]) {
        let length = record(payload.len());
        assert!(length <= self.room(), "the ring has room");
        self.bytes.write(self.head, &(payload.len() as u64).to_le_bytes());
        self.bytes.write(self.head.wrapping_add(RECORD_HEADER as u64), payload);
        self.head = self.head.wrapping_add(length as u64);
        self.payload += payload.len() as u64;
    }

    /// Publishes all records, and wakes the reader if it sleeps. Returns their payload bytes; `None` without a record.
    #[inline]
    pub(crate) fn publish(&mut self) -> Option<u64> {
        if self.head == self.published {
            return None;
        }
        self.published = self.head;
        let control = self.segment.control();
        control.rings[self.index].head.store(self.head, Ordering::Release);
        control.bell.ring();
        Some(std::mem::take(&mut self.payload))
    }

    /// Returns whether the reader has released all published records.
    pub(crate) fn is_taken(&mut self) -> bool {
        self.look();
        self.tail == self.published
    }

    /// Waits until `is_ready` returns true, or the reader makes room, is closed, or the timeout ends. Returns false in
    /// the last case.
    #[cold]
    pub(crate) fn wait(&mut self, timeout_ns: u64, is_ready: impl FnOnce(&mut Self) -> bool) -> bool {
        let segment = self.segment.clone();
        let control = segment.control();
        let ring = &control.rings[self.index];
        ring.tail.wait(timeout_ns, || control.bell.is_closed() || is_ready(self))
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.publish();
        self.control().claim.closed.store(1, Ordering::Release);
        self.segment.control().bell.ring();
    }
}

/// Read end of a ring.
#[derive(Debug)]
pub(crate) struct Consumer {
    segment: Arc<Segment>,
    index: usize,
    bytes: Mirror,
    tail: u64,
    /// Head as last seen.
    head: u64,
    /// Tail when the writer was last woken for room, or could have been.
    offered: u64,
    /// Whether the ring contains what no writer of this driver can have written.
    pub(crate) broken: bool,
}

/// Contents of a ring that no writer of this driver can have written.
struct Broken;

impl Consumer {
    /// Opens a ring that a writer has claimed.
    pub(crate) fn open(segment: &Arc<Segment>, index: usize) -> Result<Self> {
        let bytes = segment.map_ring(index, false)?;
        let tail = segment.control().rings[index].tail.position.load(Ordering::Relaxed);
        Ok(Self { segment: segment.clone(), index, bytes, tail, head: tail, offered: tail, broken: false })
    }

    #[inline]
    fn control(&self) -> &RingControl {
        &self.segment.control().rings[self.index]
    }

    /// Returns whether the ring has a record, or is broken and was not known to be.
    pub(crate) fn has_news(&self) -> bool {
        !self.broken && self.control().head.load(Ordering::Acquire) != self.tail
    }

    /// Returns whether the writer was closed.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.control().claim.closed.load(Ordering::Acquire) != 0
    }

    /// Returns whether all records that were seen are released.
    #[inline]
    pub(crate) const fn is_drained(&self) -> bool {
        self.broken || self.tail == self.head
    }

    /// Returns the number of bytes that are not released.
    pub(crate) fn left(&self) -> usize {
        (self.head.wrapping_sub(self.tail) as usize).min(self.segment.capacity)
    }

    /// Reads the head.
    #[inline]
    fn look(&mut self) -> Result<(), Broken> {
        self.head = self.control().head.load(Ordering::Acquire);
        if self.head.wrapping_sub(self.tail) > self.segment.capacity as u64 { Err(Broken) } else { Ok(()) }
    }

    /// Returns the payload size of the record at a position before the head.
    #[inline]
    fn size_at(&self, position: u64) -> Result<usize, Broken> {
        let available = self.head.wrapping_sub(position);
        if available < RECORD_HEADER as u64 {
            return Err(Broken);
        }
        let size = self.bytes.word(position);
        // the first condition limits the size, so the length of the record does not overflow
        if size > self.segment.max_payload as u64 || record(size as usize) as u64 > available {
            return Err(Broken);
        }
        Ok(size as usize)
    }

    /// Passes the records to `give`, at most `most`, and releases each afterwards. Returns their number.
    #[inline]
    pub(crate) fn drain(&mut self, most: u32, give: impl FnMut(&[u8])) -> u32 {
        if self.broken {
            return 0;
        }
        let before = self.tail;
        let given = self.pass(most, give).unwrap_or_else(|(given, Broken)| {
            self.broken = true;
            given
        });
        if self.tail != before {
            self.offer_room();
        }
        given
    }

    #[inline]
    fn pass(&mut self, most: u32, mut give: impl FnMut(&[u8])) -> Result<u32, (u32, Broken)> {
        let (mut given, mut looked) = (0, false);
        while given < most {
            if self.tail == self.head {
                // once, because a writer may be faster
                if looked {
                    break;
                }
                looked = true;
                self.look().map_err(|broken| (given, broken))?;
                if self.tail == self.head {
                    break;
                }
            }
            let size = self.size_at(self.tail).map_err(|broken| (given, broken))?;
            give(self.bytes.bytes(self.tail.wrapping_add(RECORD_HEADER as u64), size));
            self.release(record(size));
            given += 1;
        }
        Ok(given)
    }

    #[inline]
    fn release(&mut self, bytes: usize) {
        self.tail = self.tail.wrapping_add(bytes as u64);
        self.control().tail.position.store(self.tail, Ordering::Release);
        if self.tail.wrapping_sub(self.offered) as usize >= self.segment.capacity / 4 {
            self.offer_room();
        }
    }

    /// Wakes the writer if it waits, and there is room for more than a few records: half of the ring is free.
    #[inline]
    fn offer_room(&mut self) {
        self.offered = self.tail;
        if self.head.wrapping_sub(self.tail) as usize <= self.segment.capacity / 2 {
            self.control().tail.wake_writer();
        }
    }

    /// Returns the number of records.
    pub(crate) fn count(&mut self) -> usize {
        if self.broken {
            return 0;
        }
        self.walk().unwrap_or_else(|Broken| {
            self.broken = true;
            0
        })
    }

    fn walk(&mut self) -> Result<usize, Broken> {
        self.look()?;
        let (mut count, mut position) = (0, self.tail);
        while position != self.head {
            position = position.wrapping_add(record(self.size_at(position)?) as u64);
            count += 1;
        }
        Ok(count)
    }

    /// Gives the ring back, so that another writer can claim it.
    pub(crate) fn free(self) {
        let ring = self.control();
        ring.tail.position.store(self.tail, Ordering::Relaxed);
        ring.head.store(self.tail, Ordering::Relaxed);
        ring.tail.waiting.store(0, Ordering::Relaxed);
        ring.claim.closed.store(0, Ordering::Relaxed);
        ring.claim.owner.store(0, Ordering::Release);
    }
}
