//! Layout of a reader's shared memory: a header, the control block of each ring, and the bytes of each ring.
//!
//! Every field is an atomic, because both processes access it at any time. The other process may be faulty: whatever
//! is read here is checked before it is used.
use std::{
    ops::Deref,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

use crate::futex;

/// First bytes of the memory.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"ddsmkshm");
/// Version of this layout.
pub(crate) const VERSION: u32 = 1;
/// Number of rings, which is the maximum number of writers of a reader.
pub(crate) const RINGS: usize = 256;
/// Offset of the bytes of the first ring: a multiple of every page size of Linux up to 64 KiB.
pub(crate) const DATA_OFFSET: usize = 256 << 10;
/// Smallest capacity of a ring: a multiple of every such page size.
pub(crate) const MIN_CAPACITY: u64 = 64 << 10;
/// Largest capacity of a ring.
pub(crate) const MAX_CAPACITY: u64 = 1 << 30;
/// Length of the header of a record, which contains the length of the payload.
pub(crate) const RECORD_HEADER: usize = size_of::<u64>();

/// Returns the length of the record of a payload: header and payload, up to the next multiple of 8.
#[inline]
pub(crate) const fn record(payload: usize) -> usize {
    RECORD_HEADER + payload.next_multiple_of(RECORD_HEADER)
}

/// Returns the size of the memory with rings of this capacity.
pub(crate) const fn total_bytes(capacity: u64) -> u64 {
    DATA_OFFSET as u64 + RINGS as u64 * capacity
}

/// Cache lines of their own: two, which processors fetch as a pair.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Line<T>(T);

impl<T> Deref for Line<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Header and control blocks.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Control {
    pub(crate) shape: Line<Shape>,
    pub(crate) bell: Line<Bell>,
    /// Number of claims so far: the reader looks for new writers when it changes.
    pub(crate) claims: Line<AtomicU32>,
    pub(crate) rings: [RingControl; RINGS],
}

const _: () = assert!(size_of::<Control>() <= DATA_OFFSET, "the control blocks precede the rings");

/// Constants of the memory. The reader sets them before it gives away its locator.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Shape {
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU32,
    pub(crate) rings: AtomicU32,
    pub(crate) capacity: AtomicU64,
    pub(crate) max_payload: AtomicU64,
}

/// State of the reader.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Bell {
    /// 1 while the reader sleeps, or is about to; a futex.
    sleeping: AtomicU32,
    /// 1 when the reader is closed.
    closed: AtomicU32,
}

impl Bell {
    /// Wakes the reader if it sleeps. Call it after a change that the reader waits for.
    #[inline]
    pub(crate) fn ring(&self) {
        // With the fence in `sleep`: either the reader sees the change, or this thread sees that it sleeps.
        fence(Ordering::SeqCst);
        wake_if_set(&self.sleeping);
    }

    /// Sleeps until the bell rings, unless there is work. Returns false after the timeout.
    pub(crate) fn sleep(&self, timeout_ns: u64, has_work: impl FnOnce() -> bool) -> bool {
        wait_unless(&self.sleeping, timeout_ns, has_work)
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) != 0
    }

    fn close(&self) {
        self.closed.store(1, Ordering::Release);
        self.ring();
    }
}

impl Control {
    /// Marks the reader as closed, and wakes it and its writers.
    pub(crate) fn close(&self) {
        self.bell.close();
        for ring in &self.rings {
            ring.tail.wake_writer();
        }
    }
}

/// Control block of a ring.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RingControl {
    pub(crate) claim: Line<Claim>,
    /// Number of bytes written so far, set by the writer.
    pub(crate) head: Line<AtomicU64>,
    pub(crate) tail: Line<Tail>,
}

/// Owner of a ring.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Claim {
    /// The writer, as in [`WriterId::bits`](crate::locator::WriterId::bits); 0 without one.
    pub(crate) owner: AtomicU64,
    /// 1 when the writer is closed.
    pub(crate) closed: AtomicU32,
}

/// Read end of a ring.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tail {
    /// Number of bytes taken so far, set by the reader.
    pub(crate) position: AtomicU64,
    /// 1 while the writer waits for room, or is about to; a futex.
    pub(crate) waiting: AtomicU32,
}

impl Tail {
    /// Wakes the writer if it waits. Call it after a change that the writer waits for.
    pub(crate) fn wake_writer(&self) {
        fence(Ordering::SeqCst);
        wake_if_set(&self.waiting);
    }

    /// Waits until the reader wakes the writer, unless there is room. Returns false after the timeout.
    pub(crate) fn wait(&self, timeout_ns: u64, has_room: impl FnOnce() -> bool) -> bool {
        wait_unless(&self.waiting, timeout_ns, has_room)
    }
}

/// Wakes the thread that waits on this word. Of several threads, only the one that clears the word makes the system
/// call.
#[inline]
fn wake_if_set(word: &AtomicU32) {
    if word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Relaxed) != 0 {
        futex::wake(word);
    }
}

/// Waits on this word unless `ready` returns true after it was set. Returns false after the timeout.
fn wait_unless(word: &AtomicU32, timeout_ns: u64, ready: impl FnOnce() -> bool) -> bool {
    word.store(1, Ordering::Relaxed);
    // With the fence of the waking thread: either `ready` sees its change, or that thread sees the word.
    fence(Ordering::SeqCst);
    let woken = ready() || futex::wait(word, 1, timeout_ns);
    word.store(0, Ordering::Relaxed);
    woken
}
