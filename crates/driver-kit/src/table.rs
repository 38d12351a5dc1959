//! The C side: one `extern "C"` function for each entry of the table, generic over the driver. With `config`, `sink`
//! and `qos` this is where all `unsafe` of a driver in Rust lives.
//!
//! Every function here relies on the contract: handles are live and of this driver, arguments are valid for the call,
//! and one entity is used by one thread at a time, but for its monitor.
use std::{
    cell::UnsafeCell,
    ffi::{c_char, c_void},
    marker::PhantomData,
    slice,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use driver_abi as abi;

use crate::{
    Driver, Monitor, Participant, Reader, Writer,
    config::{self, Receive},
    description::{Described, Features, Transport},
    error::{Error, Result, guard, last_error},
    qos::QosReport,
    sink::{Lease, Samples},
};

/// What [`export!`](crate::export) adds to a driver: a place for its description.
pub trait Exported {
    /// The place.
    fn place() -> &'static OnceLock<Described>;
}

type WriterOf<D> = <<D as Driver>::Participant as Participant>::Writer;
type ReaderOf<D> = <<D as Driver>::Participant as Participant>::Reader;

struct ParticipantHandle<P> {
    participant: P,
    transport: &'static Transport,
}

/// What a handle of a writer leads to. The monitor is used by any thread at any time, all else by one at a time.
struct WriterHandle<W: Writer> {
    monitor: Arc<W::Monitor>,
    qos: Mutex<Option<QosReport>>,
    writer: UnsafeCell<W>,
    loans: UnsafeCell<Loans<W::Loan>>,
}

/// As above, with the lease of the sink in listener mode.
struct ReaderHandle<R: Reader> {
    monitor: Arc<R::Monitor>,
    qos: Mutex<Option<QosReport>>,
    reader: UnsafeCell<R>,
    lease: Option<Lease>,
}

/// Loans that the host holds. A loan stays in its slot, so that its bytes stay where the host writes them.
struct Loans<L> {
    slots: Box<[Option<L>]>,
    bytes: Box<[*mut u8]>,
}

/// How many loans of one writer may be out at once.
const LOANS: usize = 16;

impl<L: AsMut<[u8]>> Loans<L> {
    fn new(slots: usize) -> Self {
        Self { slots: (0..slots).map(|_| None).collect(), bytes: vec![std::ptr::null_mut(); slots].into() }
    }

    fn free(&self) -> Result<usize> {
        self.bytes
            .iter()
            .position(|bytes| bytes.is_null())
            .ok_or_else(|| Error::new(crate::Status::Refused, "16 loans of this writer are out"))
    }

    fn put(&mut self, slot: usize, loan: L, size: usize) -> Result<*mut u8> {
        let bytes = self.slots[slot].insert(loan).as_mut();
        if bytes.len() < size {
            self.slots[slot] = None;
            return Err(Error::failed("the driver lent less than was asked for"));
        }
        self.bytes[slot] = bytes.as_mut_ptr();
        Ok(self.bytes[slot])
    }

    fn take(&mut self, bytes: *mut u8) -> Result<(usize, L)> {
        let slot = self.bytes.iter().position(|known| !bytes.is_null() && *known == bytes);
        let loan = slot.and_then(|slot| Some((slot, self.slots[slot].take()?)));
        let (slot, loan) = loan.ok_or_else(|| Error::bad_argument("not a loan of this writer"))?;
        self.bytes[slot] = std::ptr::null_mut();
        Ok((slot, loan))
    }
}

#[cold]
fn null(what: &'static str) -> Error {
    Error::bad_argument(what)
}

/// # Safety
/// `handle` is NULL or a live participant of `D`.
unsafe fn participant_at<'a, D: Driver>(
    handle: *mut abi::Participant,
) -> Result<&'a ParticipantHandle<D::Participant>> {
    // SAFETY: the caller's promise; a participant is shared (`Sync`).
    unsafe { handle.cast::<ParticipantHandle<D::Participant>>().as_ref() }
        .ok_or_else(|| null("`participant` is NULL"))
}

/// # Safety
/// `handle` is NULL or a live writer of `D`.
#[inline]
unsafe fn writer_at<'a, D: Driver>(handle: *mut abi::Writer) -> Result<&'a WriterHandle<WriterOf<D>>> {
    // SAFETY: the caller's promise; only shared references to a handle exist, its cells are for one thread at a time.
    unsafe { handle.cast::<WriterHandle<WriterOf<D>>>().as_ref() }.ok_or_else(|| null("`writer` is NULL"))
}

/// # Safety
/// As [`writer_at`], and no other call on this writer is under way, but of its monitor.
#[inline]
#[allow(clippy::mut_from_ref, reason = "the contract hands a writer to one thread at a time")]
unsafe fn writer_in<'a, D: Driver>(handle: *mut abi::Writer) -> Result<&'a mut WriterOf<D>> {
    // SAFETY: the caller's promise.
    let handle = unsafe { writer_at::<D>(handle) }?;
    // SAFETY: one call at a time, so this is the only reference.
    Ok(unsafe { &mut *handle.writer.get() })
}

/// # Safety
/// As [`writer_at`], for a reader.
#[inline]
unsafe fn reader_at<'a, D: Driver>(handle: *mut abi::Reader) -> Result<&'a ReaderHandle<ReaderOf<D>>> {
    // SAFETY: the caller's promise; as in writer_at.
    unsafe { handle.cast::<ReaderHandle<ReaderOf<D>>>().as_ref() }.ok_or_else(|| null("`reader` is NULL"))
}

/// # Safety
/// As [`writer_in`], for a reader.
#[inline]
#[allow(clippy::mut_from_ref, reason = "the contract hands a reader to one thread at a time")]
unsafe fn reader_in<'a, D: Driver>(handle: *mut abi::Reader) -> Result<&'a mut ReaderOf<D>> {
    // SAFETY: the caller's promise.
    let handle = unsafe { reader_at::<D>(handle) }?;
    // SAFETY: one call at a time, so this is the only reference.
    Ok(unsafe { &mut *handle.reader.get() })
}

/// Stores a result, where there is a place for it.
///
/// # Safety
/// `out` is NULL or may be written.
unsafe fn give<T>(out: *mut T, value: T, what: &'static str) -> Result<()> {
    check_out(out, what)?;
    // SAFETY: not NULL, and the caller's promise.
    unsafe { out.write(value) };
    Ok(())
}

fn check_out<T>(out: *mut T, what: &'static str) -> Result<()> {
    if out.is_null() { Err(null(what)) } else { Ok(()) }
}

fn described<D: Driver + Exported>() -> &'static Described {
    D::place().get_or_init(|| Described::new(D::FEATURES, D::describe()))
}

/// Shows settings to the host.
pub struct Settings<'a> {
    visit: abi::Visitor,
    context: *mut c_void,
    _of_this_call: PhantomData<&'a mut ()>,
}

impl Settings<'_> {
    /// # Safety
    /// `visit` may be called with `context` as long as the result lives.
    unsafe fn new(visit: abi::Visitor, context: *mut c_void) -> Self {
        Self { visit, context, _of_this_call: PhantomData }
    }

    /// One setting that is in force.
    pub fn set(&mut self, name: &str, value: &(impl ToString + ?Sized)) {
        let (name, value) = (crate::error::c_text(name), crate::error::c_text(&value.to_string()));
        // SAFETY: the promise of `new`; C strings.
        unsafe { (self.visit)(self.context, name.as_ptr(), value.as_ptr()) };
    }
}

impl std::fmt::Debug for Settings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

/// Copies a locator into the host's buffer.
///
/// # Safety
/// `capacity` bytes may be written at `buffer`.
unsafe fn give_text(text: &str, buffer: *mut c_char, capacity: u64) -> Result<()> {
    check_out(buffer, "`buffer` is NULL")?;
    if text.len() as u64 >= capacity {
        return Err(Error::bad_argument(format!("`{text}` does not fit into {capacity} bytes")));
    }
    // SAFETY: there is room for the text and its NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

/// Stores a QoS and keeps its texts alive.
///
/// # Safety
/// `out` is as the contract says.
unsafe fn give_qos<M: Monitor>(
    monitor: &M,
    kept: &Mutex<Option<QosReport>>,
    out: *mut abi::Qos,
) -> Result<()> {
    let report = QosReport::new(monitor.qos()?)?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the caller's promise.
    unsafe { config::write(out, &report.to_abi(), "out") }?;
    // The texts do not move with their owner; those given before end here.
    *kept = Some(report);
    Ok(())
}

// -- what a driver is ------------------------------------------------------------------------------------------------

extern "C" fn describe<D: Driver + Exported>() -> *const abi::Description {
    described::<D>().raw()
}

extern "C" fn error_text() -> *const c_char {
    last_error()
}

// -- participant -----------------------------------------------------------------------------------------------------

unsafe extern "C" fn participant_open<D: Driver + Exported>(
    from: *const abi::ParticipantConfig,
    out: *mut *mut abi::Participant,
) -> abi::Status {
    guard(|| {
        check_out(out, "`out` is NULL")?;
        // SAFETY: the contract.
        let (config, transport) = unsafe { config::participant(from, described::<D>()) }?;
        let handle = ParticipantHandle { participant: D::open(&config)?, transport };
        // SAFETY: the contract.
        unsafe { give(out, Box::into_raw(Box::new(handle)).cast(), "`out` is NULL") }
    })
}

unsafe extern "C" fn participant_close<D: Driver>(participant: *mut abi::Participant) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        unsafe { participant_at::<D>(participant) }?;
        // SAFETY: made by participant_open and not closed before; not used again.
        let handle = unsafe { Box::from_raw(participant.cast::<ParticipantHandle<D::Participant>>()) };
        handle.participant.close()
    })
}

unsafe extern "C" fn participant_settings<D: Driver>(
    participant: *mut abi::Participant,
    visit: abi::Visitor,
    context: *mut c_void,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { participant_at::<D>(participant) }?;
        // SAFETY: the contract.
        handle.participant.settings(&mut unsafe { Settings::new(visit, context) })
    })
}

// -- writer ----------------------------------------------------------------------------------------------------------

unsafe extern "C" fn writer_open<D: Driver + Exported>(
    participant: *mut abi::Participant,
    from: *const abi::WriterConfig,
    out: *mut *mut abi::Writer,
) -> abi::Status {
    guard(|| {
        check_out(out, "`out` is NULL")?;
        // SAFETY: the contract.
        let handle = unsafe { participant_at::<D>(participant) }?;
        // SAFETY: the contract.
        let config = unsafe { config::writer(from, described::<D>(), handle.transport) }?;
        let slots = if config.loans { LOANS } else { 0 };
        let writer = handle.participant.open_writer(config)?;
        let opened = WriterHandle::<WriterOf<D>> {
            monitor: writer.monitor(),
            qos: Mutex::new(None),
            writer: UnsafeCell::new(writer),
            loans: UnsafeCell::new(Loans::new(slots)),
        };
        // SAFETY: the contract.
        unsafe { give(out, Box::into_raw(Box::new(opened)).cast(), "`out` is NULL") }
    })
}

unsafe extern "C" fn writer_close<D: Driver>(writer: *mut abi::Writer) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        unsafe { writer_at::<D>(writer) }?;
        // SAFETY: made by writer_open and not closed before; not used again.
        let handle = *unsafe { Box::from_raw(writer.cast::<WriterHandle<WriterOf<D>>>()) };
        drop(handle.loans);
        handle.writer.into_inner().close()
    })
}

unsafe extern "C" fn writer_matched<D: Driver>(writer: *mut abi::Writer, count: *mut u32) -> abi::Status {
    // SAFETY: the contract, here and below.
    guard(|| unsafe { give(count, writer_at::<D>(writer)?.monitor.matched()?, "`count` is NULL") })
}

unsafe extern "C" fn writer_qos<D: Driver>(writer: *mut abi::Writer, out: *mut abi::Qos) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { writer_at::<D>(writer) }?;
        // SAFETY: the contract.
        unsafe { give_qos(&*handle.monitor, &handle.qos, out) }
    })
}

unsafe extern "C" fn writer_settings<D: Driver>(
    writer: *mut abi::Writer,
    visit: abi::Visitor,
    context: *mut c_void,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let writer = unsafe { writer_in::<D>(writer) }?;
        // SAFETY: the contract.
        writer.settings(&mut unsafe { Settings::new(visit, context) })
    })
}

unsafe extern "C" fn writer_counters<D: Driver>(
    writer: *mut abi::Writer,
    out: *mut abi::Counters,
) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { config::write(out, &writer_at::<D>(writer)?.monitor.counters().to_abi(), "out") })
}

unsafe extern "C" fn writer_locator<D: Driver>(
    writer: *mut abi::Writer,
    buffer: *mut c_char,
    capacity: u64,
) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { give_text(&writer_in::<D>(writer)?.locator()?, buffer, capacity) })
}

unsafe extern "C" fn writer_connect<D: Driver>(
    writer: *mut abi::Writer,
    locator: *const c_char,
) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { writer_in::<D>(writer)?.connect(config::required(locator, "reader_locator")?) })
}

unsafe extern "C" fn writer_write<D: Driver>(
    writer: *mut abi::Writer,
    key: u32,
    payload: *const u8,
    size: u64,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let writer = unsafe { writer_in::<D>(writer) }?;
        let payload = if size == 0 {
            &[]
        } else if payload.is_null() || size > isize::MAX as u64 {
            return Err(null("`payload` is NULL or longer than memory"));
        } else {
            // SAFETY: not NULL, no longer than memory, and the contract.
            unsafe { slice::from_raw_parts(payload, size as usize) }
        };
        writer.write(key, payload)
    })
}

unsafe extern "C" fn writer_loan<D: Driver>(
    writer: *mut abi::Writer,
    size: u64,
    out: *mut *mut u8,
) -> abi::Status {
    guard(|| {
        check_out(out, "`out` is NULL")?;
        // SAFETY: the contract.
        let handle = unsafe { writer_at::<D>(writer) }?;
        // SAFETY: one call at a time on this writer.
        let (writer, loans) = unsafe { (&mut *handle.writer.get(), &mut *handle.loans.get()) };
        if loans.slots.is_empty() {
            return Err(null("the writer was not opened with `loans`"));
        }
        let slot = loans.free()?;
        let size = usize::try_from(size).map_err(|_| null("a loan longer than memory"))?;
        let bytes = loans.put(slot, writer.loan(size)?, size)?;
        // SAFETY: the contract.
        unsafe { give(out, bytes, "`out` is NULL") }
    })
}

unsafe extern "C" fn writer_publish<D: Driver>(
    writer: *mut abi::Writer,
    key: u32,
    loan: *mut u8,
    size: u64,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { writer_at::<D>(writer) }?;
        // SAFETY: one call at a time on this writer.
        let (writer, loans) = unsafe { (&mut *handle.writer.get(), &mut *handle.loans.get()) };
        let (slot, mut taken) = loans.take(loan)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > taken.as_mut().len() {
            return Err(null("more is published than was lent"));
        }
        match writer.publish(key, taken, size) {
            Ok(()) => Ok(()),
            Err(Unpublished { error, loan: Some(back) })
                if matches!(error.status(), crate::Status::Refused | crate::Status::TimedOut) =>
            {
                // The host keeps the address that it has: a loan that moved cannot be given back.
                if loans.put(slot, back, 0)? != loan {
                    loans.take(loans.bytes[slot])?;
                    return Err(Error::failed("the loan moved while it was published"));
                }
                Err(error)
            }
            Err(Unpublished { error, .. }) => Err(error),
        }
    })
}

unsafe extern "C" fn writer_discard<D: Driver>(writer: *mut abi::Writer, loan: *mut u8) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { writer_at::<D>(writer) }?;
        // SAFETY: one call at a time on this writer.
        let loans = unsafe { &mut *handle.loans.get() };
        loans.take(loan).map(drop)
    })
}

unsafe extern "C" fn writer_flush<D: Driver>(writer: *mut abi::Writer) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { writer_in::<D>(writer) }?.flush())
}

unsafe extern "C" fn writer_wait_acked<D: Driver>(writer: *mut abi::Writer, timeout_ns: u64) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { writer_in::<D>(writer) }?.wait_acked(timeout_ns))
}

unsafe extern "C" fn writer_dispose<D: Driver>(writer: *mut abi::Writer, key: u32) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { writer_in::<D>(writer) }?.dispose(key))
}

unsafe extern "C" fn writer_unregister<D: Driver>(writer: *mut abi::Writer, key: u32) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { writer_in::<D>(writer) }?.unregister(key))
}

unsafe extern "C" fn writer_assert_liveliness<D: Driver>(writer: *mut abi::Writer) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { writer_in::<D>(writer) }?.assert_liveliness())
}

// -- reader ----------------------------------------------------------------------------------------------------------

unsafe extern "C" fn reader_open<D: Driver + Exported>(
    participant: *mut abi::Participant,
    from: *const abi::ReaderConfig,
    out: *mut *mut abi::Reader,
) -> abi::Status {
    let mut held = None;
    let status = guard(|| {
        check_out(out, "`out` is NULL")?;
        // SAFETY: the contract.
        let handle = unsafe { participant_at::<D>(participant) }?;
        // SAFETY: the contract; `held` sees to it that the sink is gone when this fails, else reader_close.
        let (config, lease) = unsafe { config::reader(from, described::<D>(), handle.transport) }?;
        held = lease;
        debug_assert_eq!(matches!(config.receive, Receive::Listener(_)), held.is_some());
        let reader = handle.participant.open_reader(config)?;
        let opened = ReaderHandle::<ReaderOf<D>> {
            monitor: reader.monitor(),
            qos: Mutex::new(None),
            reader: UnsafeCell::new(reader),
            lease: held.take(),
        };
        // SAFETY: the contract.
        unsafe { give(out, Box::into_raw(Box::new(opened)).cast(), "`out` is NULL") }
    });
    if let Some(lease) = held {
        lease.end();
    }
    status
}

unsafe extern "C" fn reader_close<D: Driver>(reader: *mut abi::Reader) -> abi::Status {
    let mut held = None;
    let status = guard(|| {
        // SAFETY: the contract.
        unsafe { reader_at::<D>(reader) }?;
        // SAFETY: made by reader_open and not closed before; not used again.
        let handle = *unsafe { Box::from_raw(reader.cast::<ReaderHandle<ReaderOf<D>>>()) };
        held = handle.lease;
        handle.reader.into_inner().close()
    });
    if let Some(lease) = held {
        lease.end();
    }
    status
}

unsafe extern "C" fn reader_matched<D: Driver>(reader: *mut abi::Reader, count: *mut u32) -> abi::Status {
    // SAFETY: the contract, here and below.
    guard(|| unsafe { give(count, reader_at::<D>(reader)?.monitor.matched()?, "`count` is NULL") })
}

unsafe extern "C" fn reader_qos<D: Driver>(reader: *mut abi::Reader, out: *mut abi::Qos) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { reader_at::<D>(reader) }?;
        // SAFETY: the contract.
        unsafe { give_qos(&*handle.monitor, &handle.qos, out) }
    })
}

unsafe extern "C" fn reader_settings<D: Driver>(
    reader: *mut abi::Reader,
    visit: abi::Visitor,
    context: *mut c_void,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let reader = unsafe { reader_in::<D>(reader) }?;
        // SAFETY: the contract.
        reader.settings(&mut unsafe { Settings::new(visit, context) })
    })
}

unsafe extern "C" fn reader_counters<D: Driver>(
    reader: *mut abi::Reader,
    out: *mut abi::Counters,
) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { config::write(out, &reader_at::<D>(reader)?.monitor.counters().to_abi(), "out") })
}

unsafe extern "C" fn reader_locator<D: Driver>(
    reader: *mut abi::Reader,
    buffer: *mut c_char,
    capacity: u64,
) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { give_text(&reader_in::<D>(reader)?.locator()?, buffer, capacity) })
}

unsafe extern "C" fn reader_connect<D: Driver>(
    reader: *mut abi::Reader,
    locator: *const c_char,
) -> abi::Status {
    // SAFETY: the contract.
    guard(|| unsafe { reader_in::<D>(reader)?.connect(config::required(locator, "writer_locator")?) })
}

unsafe extern "C" fn reader_receive<D: Driver>(
    reader: *mut abi::Reader,
    timeout_ns: u64,
    max_samples: u32,
    sink: abi::Sink,
    context: *mut c_void,
    taken: *mut u32,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { reader_at::<D>(reader) }?;
        if handle.lease.is_some() {
            return Err(null("the reader was opened with a listener: its samples go to its sink"));
        }
        // SAFETY: the contract.
        let mut samples = unsafe { Samples::new(sink, context) };
        if max_samples > 0 {
            // SAFETY: one call at a time on this reader; what the sink may call, sample_intact, uses the monitor.
            unsafe { &mut *handle.reader.get() }.receive(timeout_ns, max_samples, &mut samples)?;
        }
        // SAFETY: the contract.
        unsafe { give(taken, samples.taken(), "`taken` is NULL") }
    })
}

unsafe extern "C" fn reader_sample_intact<D: Driver>(
    reader: *mut abi::Reader,
    sample: *const abi::Sample,
) -> u32 {
    let mut intact = 0;
    guard(|| {
        // SAFETY: the contract; called while receive is under way, so the monitor answers, not the reader.
        let handle = unsafe { reader_at::<D>(reader) }?;
        // SAFETY: the contract.
        let sample = unsafe { sample.as_ref() }.ok_or_else(|| null("`sample` is NULL"))?;
        intact = u32::from(handle.monitor.sample_intact(sample.token.addr()));
        Ok(())
    });
    intact
}

/// A loan that was not published.
#[derive(Debug)]
pub struct Unpublished<L> {
    /// Why not.
    pub error: Error,
    /// With [`Status::Refused`](crate::Status::Refused) and [`Status::TimedOut`](crate::Status::TimedOut) the loan, to
    /// be published again; its bytes must not have moved.
    pub loan: Option<L>,
}

/// The table of a driver.
pub const fn table<D: Driver + Exported>() -> abi::Driver {
    let locators = D::FEATURES.any(Features::LOCATORS);
    let loans = D::FEATURES.any(Features::WRITER_LOANS);
    let instances = D::FEATURES.any(Features::INSTANCES);
    let acked = D::FEATURES.any(Features::WAIT_ACKED);
    let lent = D::FEATURES.any(Features::READER_LOANS);
    abi::Driver {
        abi_version: abi::ABI_VERSION,
        struct_size: size_of::<abi::Driver>() as u32,
        describe: Some(describe::<D>),
        last_error: Some(error_text),
        participant_open: Some(participant_open::<D>),
        participant_close: Some(participant_close::<D>),
        participant_settings: Some(participant_settings::<D>),
        writer_open: Some(writer_open::<D>),
        writer_close: Some(writer_close::<D>),
        writer_matched: Some(writer_matched::<D>),
        writer_qos: Some(writer_qos::<D>),
        writer_settings: Some(writer_settings::<D>),
        writer_counters: Some(writer_counters::<D>),
        writer_locator: if locators { Some(writer_locator::<D>) } else { None },
        writer_connect: if locators { Some(writer_connect::<D>) } else { None },
        writer_write: Some(writer_write::<D>),
        writer_loan: if loans { Some(writer_loan::<D>) } else { None },
        writer_publish: if loans { Some(writer_publish::<D>) } else { None },
        writer_discard: if loans { Some(writer_discard::<D>) } else { None },
        writer_flush: Some(writer_flush::<D>),
        writer_wait_acked: if acked { Some(writer_wait_acked::<D>) } else { None },
        writer_dispose: if instances { Some(writer_dispose::<D>) } else { None },
        writer_unregister: if instances { Some(writer_unregister::<D>) } else { None },
        writer_assert_liveliness: Some(writer_assert_liveliness::<D>),
        reader_open: Some(reader_open::<D>),
        reader_close: Some(reader_close::<D>),
        reader_matched: Some(reader_matched::<D>),
        reader_qos: Some(reader_qos::<D>),
        reader_settings: Some(reader_settings::<D>),
        reader_counters: Some(reader_counters::<D>),
        reader_locator: if locators { Some(reader_locator::<D>) } else { None },
        reader_connect: if locators { Some(reader_connect::<D>) } else { None },
        reader_receive: Some(reader_receive::<D>),
        reader_sample_intact: if lent { Some(reader_sample_intact::<D>) } else { None },
    }
}
