//! Writer, through the table.
use std::ptr;

use driver_abi as abi;

use super::{CounterValues, Outcome, Table, c, locator, read_counters, read_qos, settings};
use crate::qos::Qos;

/// Open writer.
pub struct Writer {
    pub(super) table: Table,
    pub(super) raw: *mut abi::Writer,
}

// SAFETY: the contract allows any thread to use a writer, one at a time.
unsafe impl Send for Writer {}

#[allow(missing_docs, reason = "as in the header")]
impl Writer {
    pub fn matched(&self) -> Outcome<u32> {
        Ok(self.match_state()?.count)
    }

    /// Returns the time of the last change of [`Self::matched`]; 0 without one.
    pub fn matched_at(&self) -> Outcome<u64> {
        Ok(self.match_state()?.changed_ns)
    }

    fn match_state(&self) -> Outcome<abi::Match> {
        let struct_size = size_of::<abi::Match>() as u32;
        let mut state = abi::Match { struct_size, count: u32::MAX, changed_ns: u64::MAX };
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.writer_matched.expect("entry")(self.raw, &raw mut state) })?;
        Ok(state)
    }

    pub fn qos(&self) -> Outcome<Qos> {
        // SAFETY: the contract.
        read_qos(self.table, |out| unsafe { self.table.0.writer_qos.expect("entry")(self.raw, out) })
    }

    pub fn settings(&self) -> Outcome<Vec<(String, String)>> {
        // SAFETY: the contract.
        settings(self.table, |visit, context| unsafe {
            self.table.0.writer_settings.expect("entry")(self.raw, visit, context)
        })
    }

    pub fn counters(&self) -> CounterValues {
        // SAFETY: the contract.
        read_counters(self.table, |out| unsafe {
            self.table.0.writer_counters.expect("entry")(self.raw, out)
        })
        .expect("counters")
    }

    pub fn locator(&self) -> Outcome<String> {
        // SAFETY: the contract.
        locator(self.table, |buffer, capacity| unsafe {
            self.table.0.writer_locator.expect("entry")(self.raw, buffer, capacity)
        })
    }

    pub fn connect(&mut self, locator: &str) -> Outcome {
        let locator = c(locator);
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.writer_connect.expect("entry")(self.raw, locator.as_ptr()) })
    }

    #[inline]
    pub fn write_status(&mut self, payload: &[u8]) -> abi::Status {
        // SAFETY: the contract.
        unsafe {
            self.table.0.writer_write.expect("entry")(self.raw, 0, payload.as_ptr(), payload.len() as u64)
        }
    }

    pub fn write(&mut self, payload: &[u8]) -> Outcome {
        let status = self.write_status(payload);
        self.table.check(status)
    }

    pub fn flush(&mut self) -> Outcome {
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.writer_flush.expect("entry")(self.raw) })
    }

    pub fn wait_acked(&mut self, timeout_ns: u64) -> abi::Status {
        // SAFETY: the contract.
        unsafe { self.table.0.writer_wait_acked.expect("the feature")(self.raw, timeout_ns) }
    }

    pub fn loan(&mut self, size: u64) -> Outcome<*mut u8> {
        let mut out = ptr::null_mut();
        // SAFETY: the contract.
        let status = unsafe { self.table.0.writer_loan.expect("entry")(self.raw, size, &raw mut out) };
        self.table.check(status).map(|()| out)
    }

    /// Publishes a loan.
    ///
    /// # Safety
    /// `loan` belongs to this writer, or the driver detects that it does not.
    pub unsafe fn publish(&mut self, loan: *mut u8, size: u64) -> Outcome {
        // SAFETY: the caller guarantees it.
        self.table.check(unsafe { self.table.0.writer_publish.expect("entry")(self.raw, 0, loan, size) })
    }

    /// Discards a loan.
    ///
    /// # Safety
    /// Same as for [`Self::publish`].
    pub unsafe fn discard(&mut self, loan: *mut u8) -> Outcome {
        // SAFETY: the caller guarantees it.
        self.table.check(unsafe { self.table.0.writer_discard.expect("entry")(self.raw, loan) })
    }

    pub fn raw(&self) -> *mut abi::Writer {
        self.raw
    }

    pub fn close(mut self) -> Outcome {
        self.end()
    }

    fn end(&mut self) -> Outcome {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.writer_close.expect("entry")(raw) })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
