//! Shared memory of a reader: a sealed memfd, which its writers open through `/proc`. It has no name in any file system,
//! so nothing remains of it when the last process that uses it has ended.
#![allow(unsafe_code)]
use std::{
    fs::{File, Metadata, OpenOptions},
    num::NonZeroUsize,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    process,
    ptr::NonNull,
    sync::atomic::Ordering,
};

use driver_kit::{Error, Result};
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    libc::{c_void, off_t},
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap},
    },
};

use crate::{
    layout::{Control, DATA_OFFSET, MAGIC, MAX_CAPACITY, MIN_CAPACITY, RINGS, VERSION, record, total_bytes},
    locator::ReaderLocator,
};

/// Seals that keep the size of a memory: otherwise an access could be one after its end.
const SEALS: SealFlag = SealFlag::F_SEAL_SHRINK.union(SealFlag::F_SEAL_GROW);
/// Maximum capacity of rings whose pages are allocated when they are mapped, so that no sample waits for one.
const MAX_POPULATED: usize = 16 << 20;
/// Maximum length of the name of a memfd in bytes.
const MAX_NAME: usize = 249;

/// Shared memory: that of a reader of this process, or of a peer.
#[derive(Debug)]
pub(crate) struct Segment {
    file: File,
    inode: u64,
    control: NonNull<Control>,
    /// Capacity of a ring in bytes.
    pub(crate) capacity: usize,
    pub(crate) max_payload: usize,
}

// SAFETY: `control` points to memory that lives until the segment is dropped and has atomics only.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Creates the memory of a reader. The capacity is a power of two from [`MIN_CAPACITY`] to [`MAX_CAPACITY`], and has
    /// room for a record of `max_payload` bytes.
    pub(crate) fn create(name: &str, capacity: u64, max_payload: usize) -> Result<Self> {
        let failed = |error: std::io::Error| Error::os("cannot create shared memory", error);
        let name: String = name.chars().filter(char::is_ascii).take(MAX_NAME).collect();
        let descriptor = memfd_create(name.as_str(), MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)
            .map_err(|errno| failed(errno.into()))?;
        let file = File::from(descriptor);
        file.set_len(total_bytes(capacity)).map_err(failed)?;
        fcntl(&file, FcntlArg::F_ADD_SEALS(SEALS | SealFlag::F_SEAL_SEAL))
            .map_err(|errno| failed(errno.into()))?;
        let inode = file.metadata().map_err(failed)?.ino();
        let control = map_control(&file)?;
        let segment = Self { file, inode, control, capacity: capacity as usize, max_payload };
        let shape = &segment.control().shape;
        shape.version.store(VERSION, Ordering::Relaxed);
        shape.rings.store(RINGS as u32, Ordering::Relaxed);
        shape.capacity.store(capacity, Ordering::Relaxed);
        shape.max_payload.store(max_payload as u64, Ordering::Relaxed);
        shape.magic.store(MAGIC, Ordering::Release);
        Ok(segment)
    }

    /// Opens the memory of a reader, and checks that it is one.
    pub(crate) fn attach(reader: &ReaderLocator) -> Result<Self> {
        let path = format!("/proc/{}/fd/{}", reader.pid, reader.descriptor);
        let failed = |what: &str, error: std::io::Error| {
            Error::os(&format!("cannot open the memory of reader `{reader}`: {what} failed"), error)
                .hint("open the reader first, and both in processes of one host, PID namespace and user")
        };
        let other = |what: &str| {
            Error::failed(format!("`{path}` is not the memory of reader `{reader}`: {what}"))
                .hint("open the reader first, and both with the same version of this driver")
        };
        let is_memory = |metadata: &Metadata| metadata.is_file() && metadata.ino() == reader.inode;
        // Before the open, which could have an effect on another kind of file.
        if !is_memory(&std::fs::metadata(&path).map_err(|error| failed("stat()", error))?) {
            return Err(other("another inode"));
        }
        let file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(|error| failed("open()", error))?;
        let metadata = file.metadata().map_err(|error| failed("fstat()", error))?;
        if !is_memory(&metadata) {
            return Err(other("another inode"));
        }
        // fails for other files than memfds
        let seals =
            fcntl(&file, FcntlArg::F_GET_SEALS).map_or(SealFlag::empty(), SealFlag::from_bits_truncate);
        if !seals.contains(SEALS) {
            return Err(other("its size is not sealed"));
        }
        if metadata.len() < DATA_OFFSET as u64 {
            return Err(other("too small"));
        }
        let control = map_control(&file)?;
        let mut segment = Self { file, inode: reader.inode, control, capacity: 0, max_payload: 0 };
        let shape = &segment.control().shape;
        if shape.magic.load(Ordering::Acquire) != MAGIC {
            return Err(other("no header"));
        }
        let (version, rings) = (shape.version.load(Ordering::Relaxed), shape.rings.load(Ordering::Relaxed));
        if (version, rings) != (VERSION, RINGS as u32) {
            return Err(other("another version"));
        }
        // read once: a faulty reader may change them
        let capacity = shape.capacity.load(Ordering::Relaxed);
        let max_payload = shape.max_payload.load(Ordering::Relaxed);
        let is_valid = capacity.is_power_of_two() && (MIN_CAPACITY..=MAX_CAPACITY).contains(&capacity);
        if !is_valid || metadata.len() != total_bytes(capacity) {
            return Err(other("invalid size"));
        }
        if max_payload > capacity || record(max_payload as usize) as u64 > capacity {
            return Err(other("invalid maximum payload"));
        }
        segment.capacity = capacity as usize;
        segment.max_payload = max_payload as usize;
        Ok(segment)
    }

    /// Returns the locator of this memory, which belongs to a reader of this process.
    pub(crate) fn locator(&self) -> ReaderLocator {
        let descriptor = self.file.as_raw_fd().cast_unsigned();
        ReaderLocator { pid: process::id(), descriptor, inode: self.inode }
    }

    #[inline]
    pub(crate) fn control(&self) -> &Control {
        // SAFETY: `map_control` mapped at least as many bytes, page-aligned, until the segment is dropped. The size is
        // sealed. The type has atomics only, for which every value is valid and which other processes may change.
        unsafe { self.control.as_ref() }
    }

    /// Maps the bytes of a ring.
    pub(crate) fn map_ring(&self, index: usize, writes: bool) -> Result<Mirror> {
        assert!(index < RINGS, "the ring exists");
        let offset = DATA_OFFSET + index * self.capacity;
        Mirror::map(&self.file, offset, self.capacity, writes)
    }

    /// Returns the file, to forge a memory.
    #[cfg(test)]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: mapped by `map_control` with this length; references to it borrow the segment.
        let _ = unsafe { munmap(self.control.cast(), DATA_OFFSET) };
    }
}

fn map_failed(errno: nix::Error) -> Error {
    Error::os("cannot map shared memory: mmap() failed", errno)
}

/// Maps the header and the control blocks of a file that has at least as many bytes.
fn map_control(file: &File) -> Result<NonNull<Control>> {
    let length = NonZeroUsize::new(DATA_OFFSET).unwrap_or(NonZeroUsize::MIN);
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: the kernel chooses free addresses, so no other memory is affected.
    let start = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, file, 0) };
    Ok(start.map_err(map_failed)?.cast())
}

/// Bytes of a ring, mapped twice in a row: bytes that wrap around are contiguous, too.
#[derive(Debug)]
pub(crate) struct Mirror {
    start: NonNull<u8>,
    capacity: usize,
}

// SAFETY: the mapping belongs to the value, which lets one thread at a time access it.
unsafe impl Send for Mirror {}

impl Mirror {
    fn map(file: &File, offset: usize, capacity: usize, writes: bool) -> Result<Self> {
        let (Some(twice), Some(once)) = (NonZeroUsize::new(2 * capacity), NonZeroUsize::new(capacity)) else {
            return Err(Error::failed("a ring without bytes cannot be mapped"));
        };
        // SAFETY: the kernel chooses free addresses, so no other memory is affected.
        let start = unsafe {
            mmap_anonymous(None, twice, ProtFlags::PROT_NONE, MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE)
        };
        // from here on, `drop` unmaps it
        let mirror = Self { start: start.map_err(map_failed)?.cast(), capacity };
        let mut access = ProtFlags::PROT_READ;
        access.set(ProtFlags::PROT_WRITE, writes);
        let mut flags = MapFlags::MAP_SHARED | MapFlags::MAP_FIXED;
        flags.set(MapFlags::MAP_POPULATE, capacity <= MAX_POPULATED);
        for half in 0..2 {
            let address = NonZeroUsize::new(mirror.start.addr().get() + half * capacity);
            // SAFETY: replaces a half of the mapping above, which belongs to `mirror` and is not used yet.
            unsafe { mmap::<&File>(address, once, access, flags, file, offset as off_t) }
                .map_err(map_failed)?;
        }
        Ok(mirror)
    }

    /// Returns the address of the byte at a position of the ring, from which on `length` bytes are mapped.
    #[inline]
    fn at(&self, position: u64, length: usize) -> *mut u8 {
        assert!(length <= self.capacity, "no more than the ring has");
        let offset = position as usize & (self.capacity - 1);
        // SAFETY: `offset` is below the capacity, and twice the capacity is mapped.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Copies bytes to a position of the ring, of a mapping for writing.
    #[inline]
    pub(crate) fn write(&mut self, position: u64, bytes: &[u8]) {
        let to = self.at(position, bytes.len());
        // SAFETY: `at` checked the length. The bytes are those between head and tail, which the reader does not read
        // before they are published. The source is not in the mapping, to which no reference of this process exists
        // except `&mut self`, unless the reader lends it from another mapping: those bytes are published, so they are
        // others. A faulty process may access them anyway; then the bytes are arbitrary, which every `u8` may be.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Returns 8 bytes at a position of the ring as a number.
    #[inline]
    pub(crate) fn word(&self, position: u64) -> u64 {
        let from = self.at(position, size_of::<u64>());
        // SAFETY: `at` checked the length, and `read_unaligned` has no other condition. Volatile, so that the value is
        // read once: a faulty writer may change it after it was checked.
        u64::from_le_bytes(unsafe { from.cast::<[u8; 8]>().read_volatile() })
    }

    /// Returns bytes at a position of the ring.
    #[inline]
    pub(crate) fn bytes(&self, position: u64, length: usize) -> &[u8] {
        let from = self.at(position, length);
        // SAFETY: `at` checked the length. The bytes are published and not released, so their writer does not change
        // them while the reference, which borrows the ring from its reader, exists. A faulty writer, in another
        // process, may change them anyway: they go only to the sink of the host, for which every byte is valid.
        unsafe { std::slice::from_raw_parts(from, length) }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; references to it borrow the value.
        let _ = unsafe { munmap(self.start.cast::<c_void>(), 2 * self.capacity) };
    }
}

const _: () = assert!(size_of::<off_t>() == 8, "offsets of large rings fit");
