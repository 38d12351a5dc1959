//! Safe client of a driver's table, for the tests of drivers in Rust. Everything goes through the C functions.
//!
//! Entities borrow nothing and close when dropped: declare a participant before its writers and readers, so that it
//! is closed after them. [`shipped`] has helpers for tests of the release library, [`suite`] has tests for every
//! driver that is matched by locators.

mod allocator;
mod reader;
pub mod shipped;
pub mod suite;
mod writer;

use std::{
    ffi::{CStr, CString, c_char, c_void},
    fmt, ptr,
};

use driver_abi as abi;

use self::reader::{Listen, on_sample};
pub use self::{
    allocator::{CountingAllocator, allocations},
    reader::Reader,
    writer::Writer,
};
use crate::qos::{Qos, QosReport, empty};

/// Status other than OK, with the text of `last_error`.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// `ddsmark_status`.
    pub status: abi::Status,
    /// Error message with its hint.
    pub text: String,
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}: {}", self.status, self.text)
    }
}

/// Result type of this module.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Function table of a driver.
#[derive(Clone, Copy)]
pub struct Table(&'static abi::Driver);

/// Configuration of a participant.
#[derive(Clone, Copy, Default)]
#[allow(missing_docs, reason = "as in the header")]
pub struct ParticipantSpec<'a> {
    pub transport: Option<&'a str>,
    pub interface: Option<&'a str>,
    pub options: &'a [(&'a str, &'a str)],
    pub vendor_defaults: bool,
    pub multicast: bool,
    pub send_buffer_bytes: u64,
    pub receive_buffer_bytes: u64,
}

/// Configuration of a writer or a reader.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "as in the header")]
pub struct EndpointSpec {
    pub type_kind: u32,
    pub qos: Option<Qos>,
    pub max_payload_bytes: u64,
    /// Batch size of a writer in bytes; a reader is `batched` if it is not 0.
    pub batch_bytes: u64,
    pub loans: bool,
    pub async_write: bool,
    pub receive_mode: u32,
    pub content_filter: Option<&'static str>,
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

/// Copies a C string; empty for NULL.
fn rust(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the driver guarantees a C string.
    unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8").to_owned()
}

impl Table {
    /// Creates a client.
    ///
    /// # Safety
    /// `entry` is the `ddsmark_driver_entry` of a driver that keeps the contract, and its library stays loaded.
    pub unsafe fn new(entry: abi::Entry) -> Self {
        // SAFETY: the caller guarantees it.
        let table = unsafe { &*entry() };
        assert_eq!(table.abi_version, abi::ABI_VERSION);
        assert_eq!(table.struct_size as usize, size_of::<abi::Driver>());
        Self(table)
    }

    /// Returns the C functions.
    pub fn raw(self) -> &'static abi::Driver {
        self.0
    }

    /// Returns the description.
    pub fn description(self) -> &'static abi::Description {
        // SAFETY: it is valid as long as the library.
        unsafe { &*self.0.describe.expect("describe")() }
    }

    /// Returns the text of the last error on this thread.
    pub fn last_error(self) -> String {
        // SAFETY: the contract.
        rust(unsafe { self.0.last_error.expect("last_error")() })
    }

    fn check(self, status: abi::Status) -> Outcome {
        if status == abi::OK { Ok(()) } else { Err(Failure { status, text: self.last_error() }) }
    }

    /// Opens a participant.
    pub fn open(self, how: ParticipantSpec<'_>) -> Outcome<Participant> {
        let (transport, interface) = (how.transport.map(c), how.interface.map(c));
        let texts: Vec<_> = how.options.iter().map(|(name, value)| (c(name), c(value))).collect();
        let options: Vec<_> = texts
            .iter()
            .map(|(name, value)| abi::DriverOption { name: name.as_ptr(), value: value.as_ptr() })
            .collect();
        let or_null = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let config = abi::ParticipantConfig {
            struct_size: size_of::<abi::ParticipantConfig>() as u32,
            domain: 1,
            run_name: c"test-1".as_ptr(),
            transport: or_null(&transport),
            interface: or_null(&interface),
            peers: ptr::null(),
            options: options.as_ptr(),
            peer_count: 0,
            option_count: options.len() as u32,
            multicast: u32::from(how.multicast),
            vendor_defaults: u32::from(how.vendor_defaults),
            send_buffer_bytes: how.send_buffer_bytes,
            receive_buffer_bytes: how.receive_buffer_bytes,
            send_queue_bytes: 0,
            participant_count: 0,
            reserved: 0,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the contract.
        self.check(unsafe { self.0.participant_open.expect("entry")(&raw const config, &raw mut raw) })?;
        assert!(!raw.is_null());
        Ok(Participant { table: self, raw })
    }
}

/// Returns settings as rows of name and value.
fn settings(
    table: Table,
    call: impl FnOnce(abi::Visitor, *mut c_void) -> abi::Status,
) -> Outcome<Vec<(String, String)>> {
    unsafe extern "C" fn visit(context: *mut c_void, name: *const c_char, value: *const c_char) {
        // SAFETY: `context` is the vector below.
        unsafe { &mut *context.cast::<Vec<(String, String)>>() }.push((rust(name), rust(value)));
    }
    let mut rows = Vec::new();
    table.check(call(visit, (&raw mut rows).cast()))?;
    Ok(rows)
}

fn locator(table: Table, call: impl FnOnce(*mut c_char, u64) -> abi::Status) -> Outcome<String> {
    let mut buffer = [0xffu8; 256];
    table.check(call(buffer.as_mut_ptr().cast(), buffer.len() as u64))?;
    Ok(CStr::from_bytes_until_nul(&buffer).expect("a NUL").to_str().expect("UTF-8").to_owned())
}

fn read_qos(table: Table, call: impl FnOnce(*mut abi::Qos) -> abi::Status) -> Outcome<Qos> {
    let mut out = empty();
    table.check(call(&raw mut out))?;
    // SAFETY: the contract guarantees what a driver returns.
    Ok(unsafe { Qos::from_abi(&out) }.expect("a QoS"))
}

fn read_counters(
    table: Table,
    call: impl FnOnce(*mut abi::Counters) -> abi::Status,
) -> Outcome<CounterValues> {
    let mut out = abi::Counters {
        struct_size: size_of::<abi::Counters>() as u32,
        reserved: 0,
        valid: 0,
        values: [0; abi::COUNTER_COUNT],
    };
    table.check(call(&raw mut out))?;
    Ok(CounterValues(out))
}

/// Counters of an entity.
#[derive(Clone, Copy)]
pub struct CounterValues(abi::Counters);

impl CounterValues {
    /// Returns a counter, if it is valid.
    pub fn get(&self, counter: u32) -> Option<u64> {
        (self.0.valid >> counter & 1 == 1).then(|| self.0.values[counter as usize])
    }
}

/// Returns the value of a setting.
pub fn value_of<'a>(settings: &'a [(String, String)], name: &str) -> Option<&'a str> {
    settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Open participant.
pub struct Participant {
    table: Table,
    raw: *mut abi::Participant,
}

// SAFETY: the contract allows any thread to use a participant, one at a time.
unsafe impl Send for Participant {}

impl Participant {
    /// Returns the effective settings.
    pub fn settings(&self) -> Outcome<Vec<(String, String)>> {
        // SAFETY: the contract.
        settings(self.table, |visit, context| unsafe {
            self.table.0.participant_settings.expect("entry")(self.raw, visit, context)
        })
    }

    /// Opens a writer on topic `Topic`.
    pub fn writer(&self, how: &EndpointSpec) -> Outcome<Writer> {
        let report = how.qos.clone().map(|qos| QosReport::new(qos).expect("texts without NUL"));
        let qos = report.as_ref().map(QosReport::to_abi);
        let config = abi::WriterConfig {
            struct_size: size_of::<abi::WriterConfig>() as u32,
            type_kind: how.type_kind,
            topic: c"Topic".as_ptr(),
            qos: qos.as_ref().map_or(ptr::null(), ptr::from_ref),
            max_payload_bytes: how.max_payload_bytes,
            batch_bytes: how.batch_bytes,
            async_write: u32::from(how.async_write),
            loans: u32::from(how.loans),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the contract.
        self.table.check(unsafe {
            self.table.0.writer_open.expect("entry")(self.raw, &raw const config, &raw mut raw)
        })?;
        Ok(Writer { table: self.table, raw })
    }

    /// Opens a reader on topic `Topic`.
    pub fn reader(&self, how: &EndpointSpec) -> Outcome<Reader> {
        self.any_reader(how, None)
    }

    /// Opens a reader in listener mode; `listen` gets every payload.
    pub fn listener(
        &self,
        how: &EndpointSpec,
        listen: impl FnMut(&[u8]) + Send + 'static,
    ) -> Outcome<Reader> {
        let how = EndpointSpec { receive_mode: abi::RECEIVE_LISTENER, ..how.clone() };
        self.any_reader(&how, Some(Box::new(listen)))
    }

    fn any_reader(&self, how: &EndpointSpec, listen: Option<Listen>) -> Outcome<Reader> {
        let report = how.qos.clone().map(|qos| QosReport::new(qos).expect("texts without NUL"));
        let qos = report.as_ref().map(QosReport::to_abi);
        let filter = how.content_filter.map(c);
        let listener = listen.map_or(ptr::null_mut(), |listen| Box::into_raw(Box::new(listen)));
        let config = abi::ReaderConfig {
            struct_size: size_of::<abi::ReaderConfig>() as u32,
            type_kind: how.type_kind,
            topic: c"Topic".as_ptr(),
            qos: qos.as_ref().map_or(ptr::null(), ptr::from_ref),
            max_payload_bytes: how.max_payload_bytes,
            receive_mode: how.receive_mode,
            batched: u32::from(how.batch_bytes > 0),
            sink: (!listener.is_null()).then_some(on_sample as abi::Sink),
            sink_context: listener.cast(),
            content_filter: filter.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
        };
        // Created first, so that an error frees the listener, too.
        let mut reader = Reader { table: self.table, raw: ptr::null_mut(), listener };
        // SAFETY: the contract.
        self.table.check(unsafe {
            self.table.0.reader_open.expect("entry")(self.raw, &raw const config, &raw mut reader.raw)
        })?;
        assert!(!reader.raw.is_null());
        Ok(reader)
    }

    /// Closes the participant.
    pub fn close(mut self) -> Outcome {
        self.end()
    }

    fn end(&mut self) -> Outcome {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.participant_close.expect("entry")(raw) })
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
