//! Writers: the hot path of writing.

use std::{fmt, ptr::NonNull, sync::Arc};

use driver_abi as abi;

use crate::{
    DriverError, WriteOutcome, WriterMonitor,
    participant::ParticipantInner,
    table::{Table, call, failure, opened},
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

    /// Memory of the driver's for one sample. None: no room now.
    ///
    /// # Errors
    /// Anything but lack of room or time, in the driver's words.
    pub fn loan(&self, size: u64) -> Result<Option<Loan<'_>>, DriverError> {
        let mut memory = std::ptr::null_mut();
        // SAFETY: the handle is open.
        match unsafe { call!(self.table, writer_loan(self.handle.as_ptr(), size, &raw mut memory)) } {
            Ok(()) => {
                let memory = opened("writer_loan", memory)?;
                Ok(Some(Loan { writer: self, memory, size: size as usize }))
            }
            Err(error) if [abi::TIMED_OUT, abi::REFUSED].contains(&error.status) => Ok(None),
            Err(error) => Err(error),
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

/// A loan. Dropped, it is discarded.
pub struct Loan<'w> {
    writer: &'w Writer,
    memory: NonNull<u8>,
    size: usize,
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        // an error was reported by `discard`, or nobody asked for it
        let _ = self.give_back();
    }
}

impl Loan<'_> {
    /// What it holds.
    #[must_use]
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the driver vouches for `size` bytes, which are the caller's until the loan is given back.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.size) }
    }

    /// Writes it as a sample. Not accepted for want of room or time, it may be published again.
    ///
    /// # Errors
    /// Anything but lack of room or time, in the driver's words. The loan is then the driver's again.
    pub fn publish(self, key: u32) -> Result<Option<Self>, DriverError> {
        let (handle, memory) = (self.writer.handle.as_ptr(), self.memory.as_ptr());
        // SAFETY: the handle is open; the loan is ours until the driver has taken it.
        match unsafe { call!(self.writer.table, writer_publish(handle, key, memory, self.size as u64)) } {
            Err(error) if [abi::TIMED_OUT, abi::REFUSED].contains(&error.status) => Ok(Some(self)),
            done => {
                // it is the driver's
                std::mem::forget(self);
                done.map(|()| None)
            }
        }
    }

    /// Gives it back unwritten.
    ///
    /// # Errors
    /// In the driver's words. The loan is then the driver's all the same.
    pub fn discard(self) -> Result<(), DriverError> {
        let done = self.give_back();
        std::mem::forget(self);
        done
    }

    fn give_back(&self) -> Result<(), DriverError> {
        // SAFETY: the handle is open; called once, by `discard` or when dropped, so the loan is ours still.
        unsafe { call!(self.writer.table, writer_discard(self.writer.handle.as_ptr(), self.memory.as_ptr())) }
    }
}
