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

/// Handle of an entity until it is closed. The lock keeps queries and close apart; the hot path does not use it.
struct Gate<T> {
    participant: Arc<ParticipantInner>,
    handle: RwLock<Option<NonNull<T>>>,
}

// SAFETY: a gate gives access only to functions that the contract (section 3) allows at any time, and to close,
// which the lock separates from them.
unsafe impl<T> Send for Gate<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Gate<T> {}

macro_rules! monitor {
    (
        $(#[$doc:meta])*
        $type:ident, $handle:ty, $matched:ident, $qos:ident, $settings:ident, $counters:ident, $locator:ident,
        $connect:ident, $close:ident, $writes:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $type(Arc<Gate<$handle>>);

        impl $type {
            pub(crate) fn new(participant: &Arc<ParticipantInner>, handle: NonNull<$handle>) -> Self {
                Self(Arc::new(Gate { participant: Arc::clone(participant), handle: RwLock::new(Some(handle)) }))
            }

            fn ask(
                &self,
                operation: &'static str,
                ask: impl FnOnce(*mut $handle) -> Result<(), DriverError>,
            ) -> Result<(), DriverError> {
                let handle = self.0.handle.read().unwrap_or_else(PoisonError::into_inner);
                match *handle {
                    Some(handle) => ask(handle.as_ptr()),
                    None => Err(DriverError::new(operation, abi::BAD_ARGUMENT, "the entity is closed")),
                }
            }

            /// Returns the matched peers, and when their number last changed.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn match_state(&self) -> Result<MatchState, DriverError> {
                let struct_size = size_of::<abi::Match>() as u32;
                let mut raw = abi::Match { struct_size, count: 0, changed_ns: 0 };
                // SAFETY: the handle is open.
                self.ask(stringify!($matched), |handle| unsafe {
                    call!(self.0.participant.table, $matched(handle, &raw mut raw))
                })?;
                let changed_ns = (raw.changed_ns > 0).then_some(raw.changed_ns);
                Ok(MatchState { count: raw.count, changed_ns })
            }

            /// Returns the current number of matched peers.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn matched(&self) -> Result<u32, DriverError> {
                Ok(self.match_state()?.count)
            }

            /// Returns the effective QoS.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn qos(&self) -> Result<Qos, DriverError> {
                let mut found = Qos::default();
                // SAFETY: the handle stays open until the result has been copied.
                self.ask(stringify!($qos), |handle| unsafe {
                    let mut raw = empty();
                    call!(self.0.participant.table, $qos(handle, &raw mut raw))?;
                    found = effective(&raw, $writes);
                    Ok(())
                })?;
                Ok(found)
            }

            /// Returns the effective settings.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn settings(&self) -> Result<Settings, DriverError> {
                let mut settings = Settings::new();
                let context = ptr::from_mut(&mut settings).cast();
                // SAFETY: the handle is open; the visitor is called during the call only.
                self.ask(stringify!($settings), |handle| unsafe {
                    call!(self.0.participant.table, $settings(handle, visit, context))
                })?;
                Ok(settings)
            }

            /// Returns the valid counters.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn counters(&self) -> Result<Counters, DriverError> {
                // SAFETY: all fields are integers.
                let mut raw: abi::Counters = unsafe { std::mem::zeroed() };
                raw.struct_size = size_of::<abi::Counters>() as u32;
                // SAFETY: the handle is open.
                self.ask(stringify!($counters), |handle| unsafe {
                    call!(self.0.participant.table, $counters(handle, &raw mut raw))
                })?;
                Ok(named_counters(&raw))
            }

            /// Returns the locator, for a driver without discovery.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn locator(&self) -> Result<String, DriverError> {
                let mut buffer = [0_u8; 256];
                let (text, capacity) = (buffer.as_mut_ptr().cast(), buffer.len() as u64);
                // SAFETY: the handle is open; the buffer has the given capacity.
                self.ask(stringify!($locator), |handle| unsafe {
                    call!(self.0.participant.table, $locator(handle, text, capacity))
                })?;
                CStr::from_bytes_until_nul(&buffer)
                    .map(|text| text.to_string_lossy().into_owned())
                    .map_err(|_| DriverError::new(stringify!($locator), abi::ERROR, "the text lacks a terminating NUL"))
            }

            /// Connects the entity with a peer's locator before the traffic starts, for a driver without discovery.
            ///
            /// # Errors
            /// Returns the driver's error, or an error if the entity is closed.
            pub fn connect(&self, locator: &str) -> Result<(), DriverError> {
                let locator = c_string(locator)?;
                // SAFETY: the handle is open; the text is valid for the call.
                self.ask(stringify!($connect), |handle| unsafe {
                    call!(self.0.participant.table, $connect(handle, locator.as_ptr()))
                })
            }

            /// Closes the entity; has no effect on a closed one.
            pub(crate) fn close(&self) -> Result<(), DriverError> {
                let handle = self.0.handle.write().unwrap_or_else(PoisonError::into_inner).take();
                match handle {
                    // SAFETY: the handle was taken, so it is closed once; no query is running, and none follows.
                    Some(handle) => unsafe { call!(self.0.participant.table, $close(handle.as_ptr())) },
                    None => Ok(()),
                }
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}

monitor!(
    /// State of a writer that any thread can read.
    WriterMonitor,
    abi::Writer,
    writer_matched,
    writer_qos,
    writer_settings,
    writer_counters,
    writer_locator,
    writer_connect,
    writer_close,
    true
);
monitor!(
    /// State of a reader that any thread can read.
    ReaderMonitor,
    abi::Reader,
    reader_matched,
    reader_qos,
    reader_settings,
    reader_counters,
    reader_locator,
    reader_connect,
    reader_close,
    false
);
