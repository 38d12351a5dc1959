//! The C side: one `extern "C"` function for each entry of the table, generic over the driver. Together with
//! `c_data`, `config`, `sink` and `qos` it contains all `unsafe` code of a driver in Rust.
//!
//! Every function relies on the contract: handles are live and of this driver, arguments are valid for the call,
//! and an entity is used by one thread at a time, except for its monitor.
mod endpoint;
mod loans;
mod reader;
mod settings;
mod writer;

use std::{
    ffi::{c_char, c_void},
    sync::{Mutex, OnceLock, PoisonError},
};

use driver_abi::{self as abi, policies::RawQos};

use crate::{
    Driver, Monitor, Participant, c_data, config,
    description::{Described, Features, Transport},
    error::{Error, Result, guard, last_error},
};
pub use loans::Unpublished;
pub use settings::Settings;

/// Addition of [`export!`](crate::export) to a driver: storage for its description.
pub trait Exported {
    /// Returns the storage.
    fn storage() -> &'static OnceLock<Described>;
}

struct ParticipantHandle<P> {
    participant: P,
    transport: &'static Transport,
}

#[cold]
fn null(what: &'static str) -> Error {
    Error::bad_argument(what)
}

/// Returns the participant of a handle.
///
/// # Safety
/// `handle` is NULL or a live participant of `D`.
unsafe fn participant_at<'a, D: Driver>(
    handle: *mut abi::Participant,
) -> Result<&'a ParticipantHandle<D::Participant>> {
    // SAFETY: the caller guarantees it; a participant is shared (`Sync`).
    unsafe { handle.cast::<ParticipantHandle<D::Participant>>().as_ref() }
        .ok_or_else(|| null("`participant` is NULL"))
}

/// Stores a result at `out`, with an error for NULL.
///
/// # Safety
/// `out` is NULL or writable.
unsafe fn give<T>(out: *mut T, value: T, what: &'static str) -> Result<()> {
    check_out(out, what)?;
    // SAFETY: not NULL, and the caller guarantees the rest.
    unsafe { out.write(value) };
    Ok(())
}

fn check_out<T>(out: *mut T, what: &'static str) -> Result<()> {
    if out.is_null() { Err(null(what)) } else { Ok(()) }
}

fn described<D: Driver + Exported>() -> &'static Described {
    D::storage().get_or_init(|| Described::new(D::FEATURES, D::KEPT_THREADS, D::describe()))
}

/// Copies a locator into the host's buffer.
///
/// # Safety
/// `capacity` bytes are writable at `buffer`.
unsafe fn give_text(text: &str, buffer: *mut c_char, capacity: u64) -> Result<()> {
    check_out(buffer, "`buffer` is NULL")?;
    if text.len() as u64 >= capacity {
        return Err(Error::bad_argument(format!(
            "locator `{text}` does not fit into a buffer of {capacity} bytes"
        ))
        .hint(format!("pass a buffer of at least {} bytes", text.len() + 1)));
    }
    // SAFETY: the buffer has room for the text and its NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

/// Stores a QoS and keeps its strings alive.
///
/// # Safety
/// `out` is valid according to the contract.
unsafe fn give_qos<M: Monitor>(monitor: &M, kept: &Mutex<Option<RawQos>>, out: *mut abi::Qos) -> Result<()> {
    let report = monitor.qos()?.to_raw();
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the caller guarantees it.
    unsafe { c_data::write(out, report.get(), "out") }?;
    // Moving the report does not move its strings; those of the previous report are freed here.
    *kept = Some(report);
    Ok(())
}

// -- description -----------------------------------------------------------------------------------------------------

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
        // SAFETY: created by participant_open and not closed before; not used again.
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
/// Returns the table of a driver.
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
        writer_open: Some(writer::writer_open::<D>),
        writer_close: Some(writer::writer_close::<D>),
        writer_matched: Some(writer::writer_matched::<D>),
        writer_qos: Some(writer::writer_qos::<D>),
        writer_settings: Some(writer::writer_settings::<D>),
        writer_counters: Some(writer::writer_counters::<D>),
        writer_locator: if locators { Some(writer::writer_locator::<D>) } else { None },
        writer_connect: if locators { Some(writer::writer_connect::<D>) } else { None },
        writer_write: Some(writer::writer_write::<D>),
        writer_loan: if loans { Some(writer::writer_loan::<D>) } else { None },
        writer_publish: if loans { Some(writer::writer_publish::<D>) } else { None },
        writer_discard: if loans { Some(writer::writer_discard::<D>) } else { None },
        writer_flush: Some(writer::writer_flush::<D>),
        writer_wait_acked: if acked { Some(writer::writer_wait_acked::<D>) } else { None },
        writer_dispose: if instances { Some(writer::writer_dispose::<D>) } else { None },
        writer_unregister: if instances { Some(writer::writer_unregister::<D>) } else { None },
        writer_assert_liveliness: Some(writer::writer_assert_liveliness::<D>),
        reader_open: Some(reader::reader_open::<D>),
        reader_close: Some(reader::reader_close::<D>),
        reader_matched: Some(reader::reader_matched::<D>),
        reader_qos: Some(reader::reader_qos::<D>),
        reader_settings: Some(reader::reader_settings::<D>),
        reader_counters: Some(reader::reader_counters::<D>),
        reader_locator: if locators { Some(reader::reader_locator::<D>) } else { None },
        reader_connect: if locators { Some(reader::reader_connect::<D>) } else { None },
        reader_receive: Some(reader::reader_receive::<D>),
        reader_sample_intact: if lent { Some(reader::reader_sample_intact::<D>) } else { None },
    }
}
