//! Table entries of readers.
use std::{
    cell::UnsafeCell,
    ffi::c_void,
    sync::{Arc, Mutex},
};

use driver_abi::{self as abi, policies::RawQos};

use super::{Exported, check_out, described, endpoint::endpoint_entries, give, null, participant_at};
use crate::{
    Driver, Monitor, Participant, Reader, c_data,
    config::{self, Receive},
    error::{Error, Result, guard},
    sink::{Lease, Samples},
};

type ReaderOf<D> = <<D as Driver>::Participant as Participant>::Reader;

/// Target of a reader handle, like that of a writer, with the lease of the sink in listener mode.
struct ReaderHandle<R: Reader> {
    monitor: Arc<R::Monitor>,
    qos: Mutex<Option<RawQos>>,
    reader: UnsafeCell<R>,
    lease: Option<Lease>,
}

/// Returns the target of a handle.
///
/// # Safety
/// `handle` is NULL or a live reader of `D`.
#[inline]
unsafe fn reader_at<'a, D: Driver>(handle: *mut abi::Reader) -> Result<&'a ReaderHandle<ReaderOf<D>>> {
    // SAFETY: the caller guarantees it; only shared references to a handle exist, its cells are for one thread at a
    // time.
    unsafe { handle.cast::<ReaderHandle<ReaderOf<D>>>().as_ref() }.ok_or_else(|| null("`reader` is NULL"))
}

/// Returns the reader of a handle.
///
/// # Safety
/// Same as for [`reader_at`], and no other call on this reader is in progress, except on its monitor.
#[inline]
#[allow(clippy::mut_from_ref, reason = "the contract hands a reader to one thread at a time")]
unsafe fn reader_in<'a, D: Driver>(handle: *mut abi::Reader) -> Result<&'a mut ReaderOf<D>> {
    // SAFETY: the caller guarantees it.
    let handle = unsafe { reader_at::<D>(handle) }?;
    // SAFETY: one call at a time, so this is the only reference.
    Ok(unsafe { &mut *handle.reader.get() })
}

pub(super) unsafe extern "C" fn reader_open<D: Driver + Exported>(
    participant: *mut abi::Participant,
    from: *const abi::ReaderConfig,
    out: *mut *mut abi::Reader,
) -> abi::Status {
    let mut held = None;
    let status = guard(|| {
        check_out(out, "`out` is NULL")?;
        // SAFETY: the contract.
        let handle = unsafe { participant_at::<D>(participant) }?;
        // SAFETY: the contract; if this fails, `held` ensures that the sink is dropped, otherwise reader_close
        // does.
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

pub(super) unsafe extern "C" fn reader_close<D: Driver>(reader: *mut abi::Reader) -> abi::Status {
    let mut held = None;
    let status = guard(|| {
        // SAFETY: the contract.
        unsafe { reader_at::<D>(reader) }?;
        // SAFETY: created by reader_open and not closed before; not used again.
        let handle = *unsafe { Box::from_raw(reader.cast::<ReaderHandle<ReaderOf<D>>>()) };
        held = handle.lease;
        handle.reader.into_inner().close()
    });
    if let Some(lease) = held {
        lease.end();
    }
    status
}

endpoint_entries! {
    Reader, reader_at, reader_in, "writer_locator";
    reader_matched, reader_qos, reader_settings, reader_counters, reader_locator, reader_connect
}

pub(super) unsafe extern "C" fn reader_receive<D: Driver>(
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
            return Err(Error::bad_argument("reader_receive() was called on a reader with a listener")
                .hint("open the reader with the receive mode `waitset` or `polling`"));
        }
        // SAFETY: the contract.
        let mut samples = unsafe { Samples::new(sink, context) };
        if max_samples > 0 {
            // SAFETY: one call at a time on this reader; `sample_intact`, which the sink may call, uses only the
            // monitor.
            unsafe { &mut *handle.reader.get() }.receive(timeout_ns, max_samples, &mut samples)?;
        }
        // SAFETY: the contract.
        unsafe { give(taken, samples.taken(), "`taken` is NULL") }
    })
}

pub(super) unsafe extern "C" fn reader_sample_intact<D: Driver>(
    reader: *mut abi::Reader,
    sample: *const abi::Sample,
) -> u32 {
    let mut intact = 0;
    guard(|| {
        // SAFETY: the contract; called during receive, so it uses the monitor, not the reader.
        let handle = unsafe { reader_at::<D>(reader) }?;
        // SAFETY: the contract.
        let sample = unsafe { sample.as_ref() }.ok_or_else(|| null("`sample` is NULL"))?;
        intact = u32::from(handle.monitor.sample_intact(sample.token.addr()));
        Ok(())
    });
    intact
}
