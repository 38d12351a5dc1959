//! Writers: the hot path of writing.

use std::{fmt, ptr::NonNull, sync::Arc};

use driver_abi as abi;

use crate::{
    DriverError, WriteOutcome, WriterMonitor,
    participant::ParticipantInner,
    table::{Table, call, failure},
};

/// A writer. Closed when dropped, whatever monitors are left.
pub struct Writer {
    table: Table,
    handle: NonNull<abi::Writer>,
    write: unsafe extern "C" fn(*mut abi::Writer, u32, *const u8, u64) -> abi::Status,
    flush: unsafe extern "C" fn(*mut abi::Writer) -> abi::Status,
    monitor: WriterMonitor,
}

// SAFETY: the contract lets an entity be used from any thread, one at a time; the type is not `Sync`.
unsafe impl Send for Writer {}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // an error was reported by `close`, or nobody asked for it
        let _ = self.monitor.close();
    }
}

impl Writer {
    pub(crate) fn new(participant: &Arc<ParticipantInner>, handle: NonNull<abi::Writer>) -> Self {
        let table = participant.table;
        Self {
            table,
            handle,
            write: table.writer_write.expect("checked when loaded"),
            flush: table.writer_flush.expect("checked when loaded"),
            monitor: WriterMonitor::new(participant, handle),
        }
    }

    /// For questions at any time, from any thread.
    #[must_use]
    pub fn monitor(&self) -> WriterMonitor {
        self.monitor.clone()
    }

    /// Closes it.
    ///
    /// # Errors
    /// In the driver's words.
    pub fn close(self) -> Result<(), DriverError> {
        self.monitor.close()
    }

    /// Writes one sample.
    ///
    /// # Errors
    /// Anything but lack of room or time, in the driver's words.
    #[inline]
    pub fn write(&self, key: u32, payload: &[u8]) -> Result<WriteOutcome, DriverError> {
        // SAFETY: the handle is open; the payload is valid for the call.
        match unsafe { (self.write)(self.handle.as_ptr(), key, payload.as_ptr(), payload.len() as u64) } {
            abi::OK => Ok(WriteOutcome::Accepted),
            abi::TIMED_OUT => Ok(WriteOutcome::TimedOut),
            abi::REFUSED => Ok(WriteOutcome::Refused),
            status => Err(failure(self.table, "writer_write", status)),
        }
    }

    /// Sends what batching holds back. What could not be sent for want of room or time stays held back.
    ///
    /// # Errors
    /// Anything but lack of room or time, in the driver's words.
    #[inline]
    pub fn flush(&self) -> Result<WriteOutcome, DriverError> {
        // SAFETY: the handle is open.
        match unsafe { (self.flush)(self.handle.as_ptr()) } {
            abi::OK => Ok(WriteOutcome::Accepted),
            abi::TIMED_OUT => Ok(WriteOutcome::TimedOut),
            abi::REFUSED => Ok(WriteOutcome::Refused),
            status => Err(failure(self.table, "writer_flush", status)),
        }
    }

    /// Waits until all is acknowledged. False: not within the time.
    ///
    /// # Errors
    /// In the driver's words.
    pub fn wait_acked(&self, timeout_ns: u64) -> Result<bool, DriverError> {
        // SAFETY: the handle is open.
        match unsafe { call!(self.table, writer_wait_acked(self.handle.as_ptr(), timeout_ns)) } {
            Ok(()) => Ok(true),
            Err(error) if error.status == abi::TIMED_OUT => Ok(false),
            Err(error) => Err(error),
        }
    }
}
