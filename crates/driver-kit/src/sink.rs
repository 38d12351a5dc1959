//! Where received samples go.
use std::{
    ffi::c_void,
    fmt,
    marker::PhantomData,
    ptr,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use driver_abi as abi;

/// One sample on its way to the host, lent for the duration of the call.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Its bytes.
    pub payload: &'a [u8],
    /// With [`TypeKind::Keyed`](crate::TypeKind::Keyed).
    pub key: u32,
    /// Comes back in [`Monitor::sample_intact`](crate::Monitor::sample_intact).
    pub token: usize,
}

impl<'a> Sample<'a> {
    /// A sample without key and token.
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

/// What takes samples: [`Samples`] within `receive`, [`Sink`] in a thread of the driver's.
pub trait Deliver {
    /// Gives one sample to the host.
    fn deliver(&mut self, sample: Sample<'_>);
}

/// The host's function and its context.
struct Target {
    call: abi::Sink,
    context: *mut c_void,
}

impl Target {
    #[inline]
    fn deliver(&self, sample: Sample<'_>) {
        let raw = sample.to_abi();
        // SAFETY: who made this target promised that `call` may be called with `context` as long as it lives; the
        // sample is valid for the duration of the call.
        unsafe { (self.call)(self.context, &raw const raw) };
    }
}

/// Takes the samples of one call of [`Reader::receive`](crate::Reader::receive), and counts them.
pub struct Samples<'a> {
    target: Target,
    taken: u32,
    _of_this_call: PhantomData<&'a mut ()>,
}

impl Samples<'_> {
    /// # Safety
    /// `call` may be called with `context`, on this thread, as long as the result lives.
    pub(crate) unsafe fn new(call: abi::Sink, context: *mut c_void) -> Self {
        Self { target: Target { call, context }, taken: 0, _of_this_call: PhantomData }
    }

    /// How many were delivered in this call.
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

impl fmt::Debug for Samples<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Samples").field("taken", &self.taken).finish_non_exhaustive()
    }
}

/// Takes the samples of a reader in listener mode: from any thread, one at a time (it cannot be cloned or shared).
///
/// Whoever holds it must drop it before `Reader::close` returns, by stopping and joining its thread: the host may free
/// what lies behind it then.
pub struct Sink {
    target: Target,
    _held: Arc<()>,
}

// SAFETY: the contract lets any thread of the driver's call a listener's sink, one at a time.
unsafe impl Send for Sink {}

impl Sink {
    /// The sink and the means to know when it is gone.
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

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}

/// Tells whether the sink still exists.
pub(crate) struct Lease(Weak<()>);

impl Lease {
    /// Returns when the sink was dropped. A driver that keeps it beyond its reader has a bug that would have the host's
    /// memory written after it was freed: the process ends then, with a text.
    pub(crate) fn end(self) {
        const LIMIT: Duration = Duration::from_secs(10);
        let begun = Instant::now();
        while self.0.strong_count() > 0 {
            if begun.elapsed() > LIMIT {
                eprintln!(
                    "a driver still holds the sink of a reader that was closed {LIMIT:?} ago: its thread runs on"
                );
                std::process::abort();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
