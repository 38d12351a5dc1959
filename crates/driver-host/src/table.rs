//! Calls through a driver's function table, and their results.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    ptr::NonNull,
};

use driver_abi as abi;

use crate::{
    config::{Counters, Settings},
    describe::text_of,
    error::DriverError,
};

pub type Table = &'static abi::Driver;

/// Returns the text of the last error on this thread.
fn last_error(table: Table) -> String {
    let Some(function) = table.last_error else { return String::new() };
    // SAFETY: the text is valid until the next call on this thread, and is copied at once.
    unsafe {
        let text = function();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// Creates the error for a status other than OK.
#[cold]
pub fn failure(table: Table, operation: &'static str, status: abi::Status) -> DriverError {
    DriverError::new(operation, status, &last_error(table))
}

/// Calls a function of the table; a status other than OK becomes an error.
macro_rules! call {
    ($table:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let table: $crate::table::Table = $table;
        match table.$function {
            None => Err($crate::DriverError::missing(stringify!($function))),
            Some(function) => match function($($argument),*) {
                driver_abi::OK => Ok(()),
                status => Err($crate::table::failure(table, stringify!($function), status)),
            },
        }
    }};
}

pub fn c_string(text: &str) -> Result<CString, DriverError> {
    CString::new(text)
        .map_err(|_| DriverError::new("configuration", abi::BAD_ARGUMENT, "text contains a NUL byte"))
}

pub(crate) use call;

pub fn opened<T>(operation: &'static str, handle: *mut T) -> Result<NonNull<T>, DriverError> {
    NonNull::new(handle).ok_or_else(|| DriverError::new(operation, abi::OK, "no handle was returned"))
}

/// Adds one setting to the map.
pub unsafe extern "C" fn visit(context: *mut c_void, name: *const c_char, value: *const c_char) {
    // SAFETY: the context is the map of the current call; the texts are valid for this call.
    unsafe {
        let settings = &mut *context.cast::<Settings>();
        if let (Some(name), Some(value)) = (text_of(name), text_of(value)) {
            settings.insert(name, value);
        }
    }
}

const COUNTER_NAMES: [(u32, &str); abi::COUNTER_COUNT] = [
    (abi::COUNTER_WRITE_BLOCKED, "write_blocked"),
    (abi::COUNTER_WRITE_TIMED_OUT, "write_timed_out"),
    (abi::COUNTER_WRITE_REFUSED, "write_refused"),
    (abi::COUNTER_RETRANSMITTED, "retransmitted"),
    (abi::COUNTER_RETRANSMITTED_BYTES, "retransmitted_bytes"),
    (abi::COUNTER_PACKETS_SENT, "packets_sent"),
    (abi::COUNTER_BYTES_SENT, "bytes_sent"),
    (abi::COUNTER_PACKETS_RECEIVED, "packets_received"),
    (abi::COUNTER_BYTES_RECEIVED, "bytes_received"),
    (abi::COUNTER_SAMPLES_REJECTED, "samples_rejected"),
    (abi::COUNTER_SAMPLES_LOST, "samples_lost"),
    (abi::COUNTER_BYTES_DISCARDED, "bytes_discarded"),
    (abi::COUNTER_SAMPLES_OVERWRITTEN, "samples_overwritten"),
    (abi::COUNTER_DEADLINE_MISSED, "deadline_missed"),
    (abi::COUNTER_LIVELINESS_LOST, "liveliness_lost"),
    (abi::COUNTER_INCOMPATIBLE_QOS, "incompatible_qos"),
    (abi::COUNTER_WRITE_BLOCKED_NS, "write_blocked_ns"),
    (abi::COUNTER_MALFORMED, "malformed"),
];

pub fn named_counters(raw: &abi::Counters) -> Counters {
    COUNTER_NAMES
        .iter()
        .filter(|(counter, _)| raw.valid & (1 << counter) != 0)
        .map(|(counter, name)| ((*name).to_owned(), raw.values[*counter as usize]))
        .collect()
}
