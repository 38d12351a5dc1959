//! Delivery of received samples to the host.
use std::{
    ffi::c_void,
    marker::PhantomData,
    ptr,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use driver_abi as abi;

/// Received sample, borrowed for the duration of the call.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Payload.
    pub payload: &'a [u8],
    /// Key, with [`TypeKind::Keyed`](crate::TypeKind::Keyed).
    pub key: u32,
    /// Token that is passed to [`Monitor::sample_intact`](crate::Monitor::sample_intact).
    pub token: usize,
}

impl<'a> Sample<'a> {
    /// Creates a sample without key and token.
    #[inline]
    pub fn new(payload: &'a [u8]) -> Self {
        Self { payload, key: 0, token: 0 }
    }

    fn to_abi(self) -> abi::Sample {
        abi::Sample {
            payload: self.payload.as_ptr(),
            size: self.payload.len() as u64,
            key: self.key,
            reserved: 0,
            token: ptr::without_provenance(self.token),
        }
    }
}

/// Destination of samples: [`Samples`] within `receive`, [`Sink`] in a thread of the driver.
pub trait Deliver {
    /// Delivers one sample to the host.
    fn deliver(&mut self, sample: Sample<'_>);
}

/// The host's function and its context.
#[derive(Debug)]
struct Target {
    call: abi::Sink,
    context: *mut c_void,
}

impl Target {
    #[inline]
    fn deliver(&self, sample: Sample<'_>) {
        let raw = sample.to_abi();
        // SAFETY: the creator of this target guarantees that `call` may be called with `context` during its
        // lifetime; the sample is valid for the duration of the call.
        unsafe { (self.call)(self.context, &raw const raw) };
    }
}

/// Destination of the samples of one call of [`Reader::receive`](crate::Reader::receive); counts them.
#[derive(Debug)]
pub struct Samples<'a> {
    target: Target,
    taken: u32,
    _of_this_call: PhantomData<&'a mut ()>,
}

impl Samples<'_> {
    /// Creates the destination of one call.
    ///
    /// # Safety
    /// `call` may be called with `context`, on this thread, during the lifetime of the result.
    pub(crate) unsafe fn new(call: abi::Sink, context: *mut c_void) -> Self {
        Self { target: Target { call, context }, taken: 0, _of_this_call: PhantomData }
    }

    /// Returns the number of samples delivered in this call.
    pub fn taken(&self) -> u32 {
        self.taken
    }
}

impl Deliver for Samples<'_> {
    #[inline]
    fn deliver(&mut self, sample: Sample<'_>) {
        self.target.deliver(sample);
        self.taken += 1;
    }
}

/// Destination of the samples of a reader in listener mode. Any thread may use it, one at a time: it cannot be
/// cloned or shared.
///
/// Its owner must drop it before `Reader::close` returns, by stopping and joining its thread: after that the host
/// may free the context.
#[derive(Debug)]
pub struct Sink {
    target: Target,
    _held: Arc<()>,
}

// SAFETY: the contract allows any thread of the driver to call a listener's sink, one at a time.
unsafe impl Send for Sink {}

impl Sink {
    /// Creates a sink, and a lease to wait for its end.
    ///
    /// # Safety
    /// `call` may be called with `context`, from any thread, until [`Lease::end`] returns.
    pub(crate) unsafe fn new(call: abi::Sink, context: *mut c_void) -> (Self, Lease) {
        let held = Arc::new(());
        let lease = Lease(Arc::downgrade(&held));
        (Self { target: Target { call, context }, _held: held }, lease)
    }
}

impl Deliver for Sink {
    #[inline]
    fn deliver(&mut self, sample: Sample<'_>) {
        self.target.deliver(sample);
    }
}

/// Observer of the lifetime of a sink.
pub(crate) struct Lease(Weak<()>);

impl Lease {
    /// Waits until the sink is dropped. A driver that keeps it longer than its reader would write to freed memory
    /// of the host: the process is then aborted with a message.
    pub(crate) fn end(self) {
        const LIMIT: Duration = Duration::from_secs(10);
        let begun = Instant::now();
        while self.0.strong_count() > 0 {
            if begun.elapsed() > LIMIT {
                eprintln!(
                    "error: the driver still holds the sink of a reader {LIMIT:?} after its close: its thread has not ended"
                );
                std::process::abort();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
