//! Writers: the hot path of writing.

use std::{cell::Cell, fmt, ptr::NonNull, sync::Arc};

use driver_abi as abi;

use crate::{
    config::WriteOutcome,
    error::DriverError,
    monitor::{Handle, Monitor},
    participant_handle::ParticipantInner,
    table::{Table, call, failure, opened},
};

/// Writer. Closed when dropped, even if monitors still exist.
pub struct Writer {
    table: Table,
    handle: NonNull<abi::Writer>,
    write: unsafe extern "C" fn(*mut abi::Writer, u32, *const u8, u64) -> abi::Status,
    flush: unsafe extern "C" fn(*mut abi::Writer) -> abi::Status,
    /// Loan that was not accepted yet: its memory and size.
    kept: Cell<Option<(NonNull<u8>, usize)>>,
    monitor: Monitor,
}

// SAFETY: the contract allows an entity to be used from any thread, one at a time; the type is not `Sync`.
unsafe impl Send for Writer {}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // `close` returns the errors; after an implicit close there is no caller to return them to
        drop(self.kept());
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
            kept: Cell::new(None),
            monitor: Monitor::new(participant, Handle::Writer(handle)),
        }
    }

    /// Returns a monitor that any thread can use at any time.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// Closes the writer. A loan that was not accepted ends before.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails.
    pub fn close(self) -> Result<(), DriverError> {
        let discarded = self.kept().map_or(Ok(()), Loan::discard);
        self.monitor.close().and(discarded)
    }

    /// Writes one sample.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space, which are outcomes.
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

    /// Sends the samples that batching holds back. Samples that cannot be sent because of a timeout or a lack of
    /// space stay in the batch.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space, which are outcomes.
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

    /// Disposes of the instance of a key.
    ///
    /// # Errors
    /// Returns the driver's error, or that the driver lacks this function.
    pub fn dispose(&self, key: u32) -> Result<(), DriverError> {
        // SAFETY: the handle is open.
        unsafe { call!(self.table, writer_dispose(self.handle.as_ptr(), key)) }
    }

    /// Unregisters the instance of a key.
    ///
    /// # Errors
    /// Returns the driver's error, or that the driver lacks this function.
    pub fn unregister(&self, key: u32) -> Result<(), DriverError> {
        // SAFETY: the handle is open.
        unsafe { call!(self.table, writer_unregister(self.handle.as_ptr(), key)) }
    }

    /// Writes one sample of this size in memory that the driver lends, which `fill` completes. A loan that is not accepted
    /// is kept for the next call, and filled again.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space, which are outcomes.
    #[inline]
    pub fn write_lent(
        &self,
        key: u32,
        size: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<WriteOutcome, DriverError> {
        let lent = match self.kept().filter(|loan| loan.size == size) {
            Some(loan) => Ok(loan),
            None => self.lend(size as u64)?,
        };
        let mut loan = match lent {
            Ok(loan) => loan,
            Err(outcome) => return Ok(outcome),
        };
        fill(loan.bytes());
        Ok(match loan.offer(key)? {
            None => WriteOutcome::Accepted,
            Some((loan, outcome)) => {
                self.kept.set(Some((loan.memory, loan.size)));
                std::mem::forget(loan);
                outcome
            }
        })
    }

    /// Returns memory of the driver for one sample; `None` if there is no space at the moment.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space.
    pub fn loan(&self, size: u64) -> Result<Option<Loan<'_>>, DriverError> {
        Ok(self.lend(size)?.ok())
    }

    /// Returns memory of the driver for one sample, or the outcome of an attempt without success.
    #[inline]
    fn lend(&self, size: u64) -> Result<Result<Loan<'_>, WriteOutcome>, DriverError> {
        let function = self.table.writer_loan.ok_or_else(|| DriverError::missing("writer_loan"))?;
        let mut memory = std::ptr::null_mut();
        // SAFETY: the handle is open.
        match unsafe { function(self.handle.as_ptr(), size, &raw mut memory) } {
            abi::OK => {
                let memory = opened("writer_loan", memory)?;
                Ok(Ok(Loan { writer: self, memory, size: size as usize }))
            }
            abi::TIMED_OUT => Ok(Err(WriteOutcome::TimedOut)),
            abi::REFUSED => Ok(Err(WriteOutcome::Refused)),
            status => Err(failure(self.table, "writer_loan", status)),
        }
    }

    /// Takes the loan that was not accepted yet.
    #[inline]
    fn kept(&self) -> Option<Loan<'_>> {
        self.kept.take().map(|(memory, size)| Loan { writer: self, memory, size })
    }

    /// Waits until all samples are acknowledged. Returns false after a timeout.
    pub fn wait_acked(&self, timeout_ns: u64) -> Result<bool, DriverError> {
        // SAFETY: the handle is open.
        match unsafe { call!(self.table, writer_wait_acked(self.handle.as_ptr(), timeout_ns)) } {
            Ok(()) => Ok(true),
            Err(error) if error.status == abi::TIMED_OUT => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Loaned memory for one sample. Discarded when dropped.
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
        // `discard` returns the error; after an implicit discard there is no caller to return it to
        let _ = self.give_back();
    }
}

impl Loan<'_> {
    /// Returns the loaned memory.
    #[must_use]
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the driver guarantees `size` bytes, which belong to the caller until the loan ends.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.size) }
    }

    /// Writes the loan as a sample. Returns the loan if a timeout or a lack of space prevented it, for another
    /// attempt.
    ///
    /// # Errors
    /// Returns the driver's error, except a timeout or a lack of space. The loan has then ended.
    pub fn publish(self, key: u32) -> Result<Option<Self>, DriverError> {
        Ok(self.offer(key)?.map(|(loan, _)| loan))
    }

    /// Writes the loan as a sample. Returns the loan and the outcome if it was not accepted.
    #[inline]
    fn offer(self, key: u32) -> Result<Option<(Self, WriteOutcome)>, DriverError> {
        let table = self.writer.table;
        let function = table.writer_publish.ok_or_else(|| DriverError::missing("writer_publish"))?;
        let (handle, memory) = (self.writer.handle.as_ptr(), self.memory.as_ptr());
        // SAFETY: the handle is open; the loan is ours until the driver has accepted it.
        let status = unsafe { function(handle, key, memory, self.size as u64) };
        match status {
            abi::TIMED_OUT => return Ok(Some((self, WriteOutcome::TimedOut))),
            abi::REFUSED => return Ok(Some((self, WriteOutcome::Refused))),
            _ => {}
        }
        // it belongs to the driver
        std::mem::forget(self);
        if status == abi::OK { Ok(None) } else { Err(failure(table, "writer_publish", status)) }
    }

    /// Ends the loan without writing it.
    ///
    /// # Errors
    /// Returns the driver's error. The loan has then ended nevertheless.
    pub fn discard(self) -> Result<(), DriverError> {
        let done = self.give_back();
        std::mem::forget(self);
        done
    }

    fn give_back(&self) -> Result<(), DriverError> {
        // SAFETY: the handle is open; called once, by `discard` or by drop, so the loan is still ours.
        unsafe { call!(self.writer.table, writer_discard(self.writer.handle.as_ptr(), self.memory.as_ptr())) }
    }
}
