//! A safe client of a driver's table, for the tests of drivers in Rust. Everything goes through the C functions.
//!
//! Entities borrow nothing and close when dropped: declare a participant before its writers and readers, so that it is
//! closed after them. What tests do with a library as it ships is in [`shipped`].

pub mod shipped;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ffi::{CStr, CString, c_char, c_void},
    fmt, ptr,
};

use driver_abi as abi;

use crate::qos::{Qos, QosReport, empty};

/// A status that is not OK, and the text of `last_error`.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// A `ddsmark_status`.
    pub status: abi::Status,
    /// What failed, why, and the next step.
    pub text: String,
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}: {}", self.status, self.text)
    }
}

/// What the functions here return.
pub type Outcome<T = ()> = Result<T, Failure>;

/// The table of a driver.
#[derive(Clone, Copy)]
pub struct Table(&'static abi::Driver);

/// How to open a participant.
#[derive(Clone, Copy, Default)]
#[allow(missing_docs, reason = "as in the header")]
pub struct Open<'a> {
    pub transport: Option<&'a str>,
    pub interface: Option<&'a str>,
    pub options: &'a [(&'a str, &'a str)],
    pub vendor_defaults: bool,
    pub multicast: bool,
    pub send_buffer_bytes: u64,
    pub receive_buffer_bytes: u64,
}

/// How to open a writer or a reader.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "as in the header")]
pub struct Entity {
    pub type_kind: u32,
    pub qos: Option<Qos>,
    pub max_payload_bytes: u64,
    /// Of a writer; a reader is `batched` if it is not 0.
    pub batch_bytes: u64,
    pub loans: bool,
    pub async_write: bool,
    pub receive_mode: u32,
    pub content_filter: Option<&'static str>,
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

/// The C string, copied; "" for NULL.
fn rust(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the driver promises a C string.
    unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8").to_owned()
}

impl Table {
    /// # Safety
    /// `entry` is the `ddsmark_driver_entry` of a driver that keeps the contract, and stays loaded.
    pub unsafe fn new(entry: abi::Entry) -> Self {
        // SAFETY: the caller's promise.
        let table = unsafe { &*entry() };
        assert_eq!(table.abi_version, abi::ABI_VERSION);
        assert_eq!(table.struct_size as usize, size_of::<abi::Driver>());
        Self(table)
    }

    /// The functions themselves.
    pub fn raw(self) -> &'static abi::Driver {
        self.0
    }

    /// The description.
    pub fn description(self) -> &'static abi::Description {
        // SAFETY: it lives as long as the library.
        unsafe { &*self.0.describe.expect("describe")() }
    }

    /// The text of the last failure on this thread.
    pub fn last_error(self) -> String {
        // SAFETY: the contract.
        rust(unsafe { self.0.last_error.expect("last_error")() })
    }

    fn check(self, status: abi::Status) -> Outcome {
        if status == abi::OK { Ok(()) } else { Err(Failure { status, text: self.last_error() }) }
    }

    /// Opens a participant.
    pub fn open(self, how: Open<'_>) -> Outcome<Participant> {
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
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the contract.
        self.check(unsafe { self.0.participant_open.expect("entry")(&raw const config, &raw mut raw) })?;
        assert!(!raw.is_null());
        Ok(Participant { table: self, raw })
    }
}

/// Shows settings as rows of name and value.
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
    // SAFETY: what a driver returns is as the contract says.
    Ok(unsafe { Qos::from_abi(&out) }.expect("a QoS"))
}

fn read_counters(table: Table, call: impl FnOnce(*mut abi::Counters) -> abi::Status) -> Outcome<Counted> {
    let mut out = abi::Counters {
        struct_size: size_of::<abi::Counters>() as u32,
        reserved: 0,
        valid: 0,
        values: [0; abi::COUNTER_COUNT],
    };
    table.check(call(&raw mut out))?;
    Ok(Counted(out))
}

/// Counters that were read.
#[derive(Clone, Copy)]
pub struct Counted(abi::Counters);

impl Counted {
    /// One of them, where it is valid.
    pub fn get(&self, counter: u32) -> Option<u64> {
        (self.0.valid >> counter & 1 == 1).then(|| self.0.values[counter as usize])
    }
}

/// The value of a setting.
pub fn value_of<'a>(settings: &'a [(String, String)], name: &str) -> Option<&'a str> {
    settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// An open participant.
pub struct Participant {
    table: Table,
    raw: *mut abi::Participant,
}

// SAFETY: the contract lets any thread use a participant, one at a time.
unsafe impl Send for Participant {}

impl Participant {
    /// What is in force.
    pub fn settings(&self) -> Outcome<Vec<(String, String)>> {
        // SAFETY: the contract.
        settings(self.table, |visit, context| unsafe {
            self.table.0.participant_settings.expect("entry")(self.raw, visit, context)
        })
    }

    /// Opens a writer on topic `Topic`.
    pub fn writer(&self, how: &Entity) -> Outcome<Writer> {
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
    pub fn reader(&self, how: &Entity) -> Outcome<Reader> {
        self.any_reader(how, None)
    }

    /// Opens a reader in listener mode; `listen` gets every payload.
    pub fn listener(&self, how: &Entity, listen: impl FnMut(&[u8]) + Send + 'static) -> Outcome<Reader> {
        let how = Entity { receive_mode: abi::RECEIVE_LISTENER, ..how.clone() };
        self.any_reader(&how, Some(Box::new(listen)))
    }

    fn any_reader(&self, how: &Entity, listen: Option<Listen>) -> Outcome<Reader> {
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
            sink: (!listener.is_null()).then_some(heard as abi::Sink),
            sink_context: listener.cast(),
            content_filter: filter.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
        };
        // Made first, so that a failure frees the listener too.
        let mut reader = Reader { table: self.table, raw: ptr::null_mut(), listener };
        // SAFETY: the contract.
        self.table.check(unsafe {
            self.table.0.reader_open.expect("entry")(self.raw, &raw const config, &raw mut reader.raw)
        })?;
        assert!(!reader.raw.is_null());
        Ok(reader)
    }

    /// Closes it.
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

/// An open writer.
pub struct Writer {
    table: Table,
    raw: *mut abi::Writer,
}

// SAFETY: the contract lets any thread use a writer, one at a time.
unsafe impl Send for Writer {}

#[allow(missing_docs, reason = "as in the header")]
impl Writer {
    pub fn matched(&self) -> Outcome<u32> {
        let mut count = u32::MAX;
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.writer_matched.expect("entry")(self.raw, &raw mut count) })?;
        Ok(count)
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

    pub fn counters(&self) -> Counted {
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

    /// # Safety
    /// `loan` is one of this writer's, or the driver knows that it is not.
    pub unsafe fn publish(&mut self, loan: *mut u8, size: u64) -> Outcome {
        // SAFETY: the caller's promise.
        self.table.check(unsafe { self.table.0.writer_publish.expect("entry")(self.raw, 0, loan, size) })
    }

    /// # Safety
    /// As [`Self::publish`].
    pub unsafe fn discard(&mut self, loan: *mut u8) -> Outcome {
        // SAFETY: the caller's promise.
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

type Listen = Box<dyn FnMut(&[u8]) + Send>;

/// The payload of a sample.
///
/// # Safety
/// `sample` is valid for `'a`.
unsafe fn payload<'a>(sample: *const abi::Sample) -> &'a [u8] {
    // SAFETY: the caller's promise.
    let sample = unsafe { &*sample };
    if sample.size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(sample.payload, sample.size as usize) }
}

unsafe extern "C" fn heard(context: *mut c_void, sample: *const abi::Sample) {
    // SAFETY: the context is the listener, and the driver calls one at a time; the sample is valid for the call.
    unsafe { (*context.cast::<Listen>())(payload(sample)) }
}

/// An open reader.
pub struct Reader {
    table: Table,
    raw: *mut abi::Reader,
    listener: *mut Listen,
}

// SAFETY: the contract lets any thread use a reader, one at a time; the listener is `Send`.
unsafe impl Send for Reader {}

#[allow(missing_docs, reason = "as in the header")]
impl Reader {
    pub fn matched(&self) -> Outcome<u32> {
        let mut count = u32::MAX;
        // SAFETY: the contract.
        self.table.check(unsafe { self.table.0.reader_matched.expect("entry")(self.raw, &raw mut count) })?;
        Ok(count)
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

    pub fn counters(&self) -> Counted {
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

    /// One call of `reader_receive`; `sink` gets every payload.
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
            // SAFETY: made by any_reader; no thread of the driver's calls it any more.
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

/// The system's allocator, counting for each thread: `#[global_allocator] static A: CountingAllocator =
/// CountingAllocator;` in a test, then [`allocations`].
pub struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count_allocation() {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

/// How often this thread has allocated (or grown) memory until now.
pub fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}
