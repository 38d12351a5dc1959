//! Reader, through the table.
use std::{ffi::c_void, ptr};

use driver_abi as abi;

use super::{CounterValues, Outcome, Table, c, locator, read_counters, read_qos, settings};
use crate::qos::Qos;

pub(super) type Listen = Box<dyn FnMut(&[u8]) + Send>;

/// Returns the payload of a sample.
///
/// # Safety
/// `sample` is valid for `'a`.
unsafe fn payload<'a>(sample: *const abi::Sample) -> &'a [u8] {
    // SAFETY: the caller guarantees it.
    let sample = unsafe { &*sample };
    if sample.size == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees it.
    unsafe { std::slice::from_raw_parts(sample.payload, sample.size as usize) }
}

pub(super) unsafe extern "C" fn on_sample(context: *mut c_void, sample: *const abi::Sample) {
    // SAFETY: the context is the listener, and the driver makes one call at a time; the sample is valid for the
    // call.
    unsafe { (*context.cast::<Listen>())(payload(sample)) }
}

/// Open reader.
pub struct Reader {
    pub(super) table: Table,
    pub(super) raw: *mut abi::Reader,
    pub(super) listener: *mut Listen,
}

// SAFETY: the contract allows any thread to use a reader, one at a time; the listener is `Send`.
unsafe impl Send for Reader {}

#[allow(missing_docs, reason = "as in the header")]
impl Reader {
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
        self.table.check(unsafe { self.table.0.reader_matched.expect("entry")(self.raw, &raw mut state) })?;
        Ok(state)
    }

    pub fn qos(&self) -> Outcome<Qos> {
        // SAFETY: the contract.
        read_qos(self.table, |out| unsafe { self.table.0.reader_qos.expect("entry")(self.raw, out) })
    }

    pub fn settings(&self) -> Outcome<Vec<(String, String)>> {
        // SAFETY: the contract.
        settings(self.table, |visit, context| unsafe {
            self.table.0.reader_settings.expect("entry")(self.raw, visit, context)
        })
    }

    pub fn counters(&self) -> CounterValues {
        // SAFETY: the contract.
        read_counters(self.table, |out| unsafe {
            self.table.0.reader_counters.expect("entry")(self.raw, out)
        })
        .expect("counters")
    }

    pub fn locator(&self) -> Outcome<String> {
        // SAFETY: the contract.
        locator(self.table, |buffer, capacity| unsafe {
            self.table.0.reader_locator.expect("entry")(self.raw, buffer, capacity)
        })
    }

    pub fn connect(&mut self, locator: &str) -> Outcome {
        let locator = c(locator);
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.reader_connect.expect("entry")(self.raw, locator.as_ptr()) })
    }

    /// Calls `reader_receive` once; `sink` gets every payload.
    #[inline]
    pub fn receive<F: FnMut(&[u8])>(
        &mut self,
        timeout_ns: u64,
        max_samples: u32,
        mut sink: F,
    ) -> Outcome<u32> {
        unsafe extern "C" fn give<F: FnMut(&[u8])>(context: *mut c_void, sample: *const abi::Sample) {
            // SAFETY: the context is the closure below; the sample is valid for the call.
            unsafe { (*context.cast::<F>())(payload(sample)) }
        }
        let mut taken = u32::MAX;
        // SAFETY: the contract.
        let status = unsafe {
            self.table.0.reader_receive.expect("entry")(
                self.raw,
                timeout_ns,
                max_samples,
                give::<F>,
                (&raw mut sink).cast(),
                &raw mut taken,
            )
        };
        self.table.check(status).map(|()| taken)
    }

    pub fn raw(&self) -> *mut abi::Reader {
        self.raw
    }

    pub fn close(mut self) -> Outcome {
        self.end()
    }

    fn end(&mut self) -> Outcome {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        let status = if raw.is_null() {
            abi::OK
        } else {
            // SAFETY: the contract.
            unsafe { self.table.0.reader_close.expect("entry")(raw) }
        };
        let listener = std::mem::replace(&mut self.listener, ptr::null_mut());
        if !listener.is_null() {
            // SAFETY: allocated by any_reader; no thread of the driver calls it any longer.
            drop(unsafe { Box::from_raw(listener) });
        }
        self.table.check(status)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
