//! Readers: the hot path of reception.

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
    config::{Loan, Sample},
    error::DriverError,
    monitor::{Handle, Monitor},
    participant_handle::ParticipantInner,
    table::{Table, failure},
};

/// Reader in waitset or polling mode. Closed when dropped, even if monitors still exist.
pub struct Reader {
    table: Table,
    handle: NonNull<abi::Reader>,
    receive:
        unsafe extern "C" fn(*mut abi::Reader, u64, u32, abi::Sink, *mut c_void, *mut u32) -> abi::Status,
    monitor: Monitor,
}

// SAFETY: the contract allows an entity to be used from any thread, one at a time; the type is not `Sync`.
unsafe impl Send for Reader {}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // `close` returns the error; after an implicit close there is no caller to return it to
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
            monitor: Monitor::new(participant, Handle::Reader(handle)),
        }
    }

    /// Returns a monitor that any thread can use at any time.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// Closes the reader.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails.
    pub fn close(self) -> Result<(), DriverError> {
        self.monitor.close()
    }

    /// Waits for at most `timeout_ns` (0: does not wait) and passes about `max_samples` samples at most to `sink`.
    /// Returns the number of samples.
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

/// Closure that receives samples, with the means to check their integrity.
struct Giving<F> {
    sink: F,
    intact: Option<Intact>,
    reader: *mut abi::Reader,
}

/// Function type of `reader_sample_intact`.
pub(crate) type Intact = unsafe extern "C" fn(*mut abi::Reader, *const abi::Sample) -> u32;

/// Sink of a listener and its state, with the means to check the integrity of samples.
pub(crate) struct Listening<S> {
    pub(crate) state: S,
    pub(crate) sink: fn(&mut S, Sample<'_>),
    pub(crate) intact: Option<Intact>,
    /// Null until the reader is open. The integrity of earlier samples cannot be checked.
    pub(crate) reader: AtomicPtr<abi::Reader>,
}

/// Reader in listener mode: the driver calls a sink from its own thread. If dropped without `close`, the state
/// leaks.
pub struct ListeningReader<S> {
    reader: Reader,
    state: *mut Listening<S>,
}

// SAFETY: the state is `Send`, and only the driver's thread accesses it until the reader is closed.
unsafe impl<S: Send> Send for ListeningReader<S> {}

impl<S> ListeningReader<S> {
    pub(crate) fn new(reader: Reader, state: *mut Listening<S>) -> Self {
        // SAFETY: the state lives until `close`; the driver's thread only reads this field, which is atomic.
        let handle = unsafe { &*ptr::addr_of!((*state).reader) };
        handle.store(reader.handle.as_ptr(), Release);
        Self { reader, state }
    }

    /// Returns a monitor that any thread can use at any time.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        self.reader.monitor()
    }

    /// Closes the reader and returns the state.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails. The state then leaks, because the driver might still use it.
    pub fn close(self) -> Result<S, DriverError> {
        self.reader.close()?;
        // SAFETY: the driver no longer calls the sink (contract, section 3), so the state is ours again; taken
        // once.
        let state = unsafe { Box::from_raw(self.state) };
        Ok(state.state)
    }
}

impl<S> fmt::Debug for ListeningReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListeningReader")
    }
}

/// Passes a sample to the closure of [`Reader::receive`].
unsafe extern "C" fn give<F: FnMut(Sample<'_>)>(context: *mut c_void, sample: *const abi::Sample) {
    // SAFETY: the context was created by the current call; the sample is valid for this call.
    unsafe {
        let giving = &mut *context.cast::<Giving<F>>();
        (giving.sink)(lent(&*sample, giving.intact, giving.reader));
    }
}

/// Passes a sample to the sink of a [`ListeningReader`].
pub(crate) unsafe extern "C" fn listen<S>(context: *mut c_void, sample: *const abi::Sample) {
    // SAFETY: the context was created in `listening_reader`; a driver never makes two concurrent calls for one
    // reader.
    unsafe {
        let context = context.cast::<Listening<S>>();
        let reader = (*ptr::addr_of!((*context).reader)).load(Acquire);
        let intact = if reader.is_null() { None } else { (*context).intact };
        ((*context).sink)(&mut *ptr::addr_of_mut!((*context).state), lent(&*sample, intact, reader));
    }
}

/// Creates a sample of a loan.
///
/// # Safety
/// The payload is valid for `'a`.
#[inline]
unsafe fn lent<'a>(sample: &abi::Sample, intact: Option<Intact>, reader: *mut abi::Reader) -> Sample<'a> {
    let payload = if sample.payload.is_null() {
        &[]
    } else {
        // SAFETY: the driver guarantees `size` bytes at `payload`.
        unsafe { std::slice::from_raw_parts(sample.payload, sample.size as usize) }
    };
    Sample::of_loan(payload, sample.key, intact.map(|intact| Loan { intact, reader, sample }))
}
