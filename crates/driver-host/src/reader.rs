//! Readers: the hot path of receiving.

use std::{
    ffi::c_void,
    fmt,
    ptr::{self, NonNull},
    sync::{
        Arc,
        atomic::{
            AtomicPtr,
            Ordering::{Acquire, Release},
        },
    },
};

use driver_abi as abi;

use crate::{
    DriverError, ReaderMonitor, Sample,
    config::Loan,
    participant::ParticipantInner,
    table::{Table, failure},
};

/// A reader that is asked for samples. Closed when dropped, whatever monitors are left.
pub struct Reader {
    table: Table,
    handle: NonNull<abi::Reader>,
    receive:
        unsafe extern "C" fn(*mut abi::Reader, u64, u32, abi::Sink, *mut c_void, *mut u32) -> abi::Status,
    monitor: ReaderMonitor,
}

// SAFETY: the contract lets an entity be used from any thread, one at a time; the type is not `Sync`.
unsafe impl Send for Reader {}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // an error was reported by `close`, or nobody asked for it
        let _ = self.monitor.close();
    }
}

impl Reader {
    pub(crate) fn new(participant: &Arc<ParticipantInner>, handle: NonNull<abi::Reader>) -> Self {
        let table = participant.table;
        Self {
            table,
            handle,
            receive: table.reader_receive.expect("checked when loaded"),
            monitor: ReaderMonitor::new(participant, handle),
        }
    }

    /// For questions at any time, from any thread.
    #[must_use]
    pub fn monitor(&self) -> ReaderMonitor {
        self.monitor.clone()
    }

    /// Closes it.
    ///
    /// # Errors
    /// In the driver's words.
    pub fn close(self) -> Result<(), DriverError> {
        self.monitor.close()
    }

    /// Waits for at most `timeout_ns` (0: does not wait) and gives samples to `sink`, about `max_samples` at most.
    /// Returns how many it gave.
    ///
    /// # Errors
    /// In the driver's words.
    #[inline]
    pub fn receive<F: FnMut(Sample<'_>)>(
        &mut self,
        timeout_ns: u64,
        max_samples: u32,
        sink: F,
    ) -> Result<u32, DriverError> {
        let mut taken = 0;
        let mut giving =
            Giving { sink, intact: self.table.reader_sample_intact, reader: self.handle.as_ptr() };
        let context = ptr::from_mut(&mut giving).cast();
        // SAFETY: the handle is open; `give` and its context match, and both are used during the call only.
        let status = unsafe {
            (self.receive)(self.handle.as_ptr(), timeout_ns, max_samples, give::<F>, context, &raw mut taken)
        };
        if status == abi::OK { Ok(taken) } else { Err(failure(self.table, "reader_receive", status)) }
    }
}

/// A closure, and whom to ask for what it was given.
struct Giving<F> {
    sink: F,
    intact: Option<Intact>,
    reader: *mut abi::Reader,
}

/// As of the table.
pub(crate) type Intact = unsafe extern "C" fn(*mut abi::Reader, *const abi::Sample) -> u32;

/// A sink's state, the sink, and whom to ask for what it was given.
pub(crate) struct Listening<S> {
    pub(crate) state: S,
    pub(crate) sink: fn(&mut S, Sample<'_>),
    pub(crate) intact: Option<Intact>,
    /// Null until the reader's open has returned: what comes before that cannot be asked for.
    pub(crate) reader: AtomicPtr<abi::Reader>,
}

/// A reader whose driver calls a sink from a thread of its own. Dropped without `close`, its state is lost.
pub struct ListeningReader<S> {
    reader: Reader,
    state: *mut Listening<S>,
}

// SAFETY: the state is `Send`, and reached by the driver's thread only until the reader is closed.
unsafe impl<S: Send> Send for ListeningReader<S> {}

impl<S> ListeningReader<S> {
    pub(crate) fn new(reader: Reader, state: *mut Listening<S>) -> Self {
        // SAFETY: the state lives until `close`; the driver's thread reads this field only, which is atomic.
        let handle = unsafe { &*ptr::addr_of!((*state).reader) };
        handle.store(reader.handle.as_ptr(), Release);
        Self { reader, state }
    }

    /// For questions at any time, from any thread.
    #[must_use]
    pub fn monitor(&self) -> ReaderMonitor {
        self.reader.monitor()
    }

    /// Closes it, and gives the state back.
    ///
    /// # Errors
    /// In the driver's words. The state is then lost: the driver might still use it.
    pub fn close(self) -> Result<S, DriverError> {
        self.reader.close()?;
        // SAFETY: the driver calls the sink no more (contract, section 3), so the state is ours again; taken once.
        let state = unsafe { Box::from_raw(self.state) };
        Ok(state.state)
    }
}

impl<S> fmt::Debug for ListeningReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListeningReader")
    }
}

/// Gives a sample to a closure of [`Reader::receive`].
unsafe extern "C" fn give<F: FnMut(Sample<'_>)>(context: *mut c_void, sample: *const abi::Sample) {
    // SAFETY: the context is made by the call that is under way; the sample is lent for this call.
    unsafe {
        let giving = &mut *context.cast::<Giving<F>>();
        (giving.sink)(lent(&*sample, giving.intact, giving.reader));
    }
}

/// Gives a sample to the sink of a [`ListeningReader`].
pub(crate) unsafe extern "C" fn listen<S>(context: *mut c_void, sample: *const abi::Sample) {
    // SAFETY: the context is the pair made in `listening_reader`; a driver never calls twice at once for one reader.
    unsafe {
        let context = context.cast::<Listening<S>>();
        let reader = (*ptr::addr_of!((*context).reader)).load(Acquire);
        let intact = if reader.is_null() { None } else { (*context).intact };
        ((*context).sink)(&mut *ptr::addr_of_mut!((*context).state), lent(&*sample, intact, reader));
    }
}

/// # Safety
/// The payload is valid for `'a`.
#[inline]
unsafe fn lent<'a>(sample: &abi::Sample, intact: Option<Intact>, reader: *mut abi::Reader) -> Sample<'a> {
    let payload = if sample.payload.is_null() {
        &[]
    } else {
        // SAFETY: the driver vouches for `size` bytes at `payload`.
        unsafe { std::slice::from_raw_parts(sample.payload, sample.size as usize) }
    };
    Sample::of_loan(payload, sample.key, intact.map(|intact| Loan { intact, reader, sample }))
}
