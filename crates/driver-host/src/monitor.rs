//! Monitors: state of a writer or reader that any thread can read while the entity is open.

use std::{
    ffi::CStr,
    fmt, ptr,
    ptr::NonNull,
    sync::{Arc, PoisonError, RwLock},
};

use driver_abi::{
    self as abi,
    policies::{Qos, empty},
};
use serde::{Deserialize, Serialize};

use crate::{
    config::{Counters, Settings},
    error::DriverError,
    participant_handle::ParticipantInner,
    qos::effective,
    table::{c_string, call, named_counters, visit},
};

/// Matched peers of a writer or reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchState {
    /// Number of peers that are matched now.
    pub count: u32,
    /// Time of the last change of the number, in ns of `CLOCK_MONOTONIC`, recorded by the driver when it changed.
    /// `None`: the number has not changed since the entity was opened, or the driver does not know the time.
    pub changed_ns: Option<u64>,
}

/// Handle of an entity.
#[derive(Clone, Copy)]
pub(crate) enum Handle {
    Writer(NonNull<abi::Writer>),
    Reader(NonNull<abi::Reader>),
}

/// Entity, and whether it is open. The lock keeps queries and close apart; the hot path does not use it.
struct Gate {
    participant: Arc<ParticipantInner>,
    handle: Handle,
    open: RwLock<bool>,
}

// SAFETY: a gate gives access only to functions that the contract (section 3) allows at any time, and to close,
// which the lock separates from them.
unsafe impl Send for Gate {}
// SAFETY: as above.
unsafe impl Sync for Gate {}

/// State of a writer or reader that any thread can read. Each function returns the driver's error, or an error if the entity is
/// closed.
#[derive(Clone)]
pub struct Monitor(Arc<Gate>);

/// Calls the function of a writer or that of a reader, and returns a value that is made while the entity is still open.
macro_rules! ask {
    ($monitor:ident, $writer:ident, $reader:ident($($argument:expr),*) => $value:expr) => {{
        let Gate { participant, handle, open } = &*$monitor.0;
        let open = open.read().unwrap_or_else(PoisonError::into_inner);
        let called = match handle {
            _ if !*open => {
                let operation = $monitor.of_kind(stringify!($writer), stringify!($reader));
                Err(DriverError::new(operation, abi::BAD_ARGUMENT, "the entity is closed"))
            }
            Handle::Writer(handle) => call!(participant.table, $writer(handle.as_ptr(), $($argument),*)),
            Handle::Reader(handle) => call!(participant.table, $reader(handle.as_ptr(), $($argument),*)),
        };
        called.map(|()| $value)
    }};
}

impl Monitor {
    pub(crate) fn new(participant: &Arc<ParticipantInner>, handle: Handle) -> Self {
        Self(Arc::new(Gate { participant: Arc::clone(participant), handle, open: RwLock::new(true) }))
    }

    /// Returns the value of the kind of this entity.
    fn of_kind<T>(&self, writer: T, reader: T) -> T {
        match self.0.handle {
            Handle::Writer(_) => writer,
            Handle::Reader(_) => reader,
        }
    }

    /// Returns the matched peers, and when their number last changed.
    pub fn match_state(&self) -> Result<MatchState, DriverError> {
        let struct_size = size_of::<abi::Match>() as u32;
        let mut raw = abi::Match { struct_size, count: 0, changed_ns: 0 };
        // SAFETY: the handle is open.
        unsafe { ask!(self, writer_matched, reader_matched(&raw mut raw) => ()) }?;
        Ok(MatchState { count: raw.count, changed_ns: (raw.changed_ns > 0).then_some(raw.changed_ns) })
    }

    /// Returns the current number of matched peers.
    pub fn matched(&self) -> Result<u32, DriverError> {
        Ok(self.match_state()?.count)
    }

    /// Returns the effective QoS.
    pub fn qos(&self) -> Result<Qos, DriverError> {
        let mut raw = empty();
        let writes = self.of_kind(true, false);
        // SAFETY: the handle stays open until the result has been copied.
        unsafe { ask!(self, writer_qos, reader_qos(&raw mut raw) => effective(&raw, writes)) }
    }

    /// Returns the effective settings.
    pub fn settings(&self) -> Result<Settings, DriverError> {
        let mut settings = Settings::new();
        let context = ptr::from_mut(&mut settings).cast();
        // SAFETY: the handle is open; the visitor is called during the call only.
        unsafe { ask!(self, writer_settings, reader_settings(visit, context) => ()) }?;
        Ok(settings)
    }

    /// Returns the valid counters.
    pub fn counters(&self) -> Result<Counters, DriverError> {
        // SAFETY: all fields are integers.
        let mut raw: abi::Counters = unsafe { std::mem::zeroed() };
        raw.struct_size = size_of::<abi::Counters>() as u32;
        // SAFETY: the handle is open.
        unsafe { ask!(self, writer_counters, reader_counters(&raw mut raw) => ()) }?;
        Ok(named_counters(&raw))
    }

    /// Returns the locator, for a driver without discovery.
    pub fn locator(&self) -> Result<String, DriverError> {
        let mut buffer = [0_u8; 256];
        let (text, capacity) = (buffer.as_mut_ptr().cast(), buffer.len() as u64);
        // SAFETY: the handle is open; the buffer has the given capacity.
        unsafe { ask!(self, writer_locator, reader_locator(text, capacity) => ()) }?;
        let text = CStr::from_bytes_until_nul(&buffer).map(|text| text.to_string_lossy().into_owned());
        let operation = self.of_kind("writer_locator", "reader_locator");
        text.map_err(|_| DriverError::new(operation, abi::ERROR, "the text lacks a terminating NUL"))
    }

    /// Connects the entity with a peer's locator before the traffic starts, for a driver without discovery.
    pub fn connect(&self, locator: &str) -> Result<(), DriverError> {
        let locator = c_string(locator)?;
        // SAFETY: the handle is open; the text is valid for the call.
        unsafe { ask!(self, writer_connect, reader_connect(locator.as_ptr()) => ()) }
    }

    /// Closes the entity; has no effect on a closed one.
    pub(crate) fn close(&self) -> Result<(), DriverError> {
        let Gate { participant, handle, open } = &*self.0;
        let was_open = std::mem::replace(&mut *open.write().unwrap_or_else(PoisonError::into_inner), false);
        if !was_open {
            return Ok(());
        }
        // SAFETY: the entity is closed once; no query is running, and none follows.
        unsafe {
            match handle {
                Handle::Writer(handle) => call!(participant.table, writer_close(handle.as_ptr())),
                Handle::Reader(handle) => call!(participant.table, reader_close(handle.as_ptr())),
            }
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.of_kind("Monitor of a writer", "Monitor of a reader"))
    }
}
