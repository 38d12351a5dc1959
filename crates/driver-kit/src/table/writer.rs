//! Table entries of writers.
use std::{
    cell::UnsafeCell,
    slice,
    sync::{Arc, Mutex},
};

use driver_abi::{self as abi, policies::RawQos};

use super::{
    Exported, check_out, described,
    endpoint::endpoint_entries,
    give,
    loans::{LOANS, Loans, Unpublished},
    null, participant_at,
};
use crate::{
    Driver, Monitor, Participant, Writer, c_data, config,
    error::{Error, Result, guard},
};

type WriterOf<D> = <<D as Driver>::Participant as Participant>::Writer;

/// Target of a writer handle. Any thread uses the monitor at any time; one thread at a time uses the other fields.
struct WriterHandle<W: Writer> {
    monitor: Arc<W::Monitor>,
    qos: Mutex<Option<RawQos>>,
    writer: UnsafeCell<W>,
    loans: UnsafeCell<Loans<W::Loan>>,
    max_payload: u64,
}

/// Returns the target of a handle.
///
/// # Safety
/// `handle` is NULL or a live writer of `D`.
#[inline]
unsafe fn writer_at<'a, D: Driver>(handle: *mut abi::Writer) -> Result<&'a WriterHandle<WriterOf<D>>> {
    // SAFETY: the caller guarantees it; only shared references to a handle exist, its cells are for one thread at a
    // time.
    unsafe { handle.cast::<WriterHandle<WriterOf<D>>>().as_ref() }.ok_or_else(|| null("`writer` is NULL"))
}

/// Returns the writer of a handle.
///
/// # Safety
/// Same as for [`writer_at`], and no other call on this writer is in progress, except on its monitor.
#[inline]
#[allow(clippy::mut_from_ref, reason = "the contract hands a writer to one thread at a time")]
unsafe fn writer_in<'a, D: Driver>(handle: *mut abi::Writer) -> Result<&'a mut WriterOf<D>> {
    // SAFETY: the caller guarantees it.
    let handle = unsafe { writer_at::<D>(handle) }?;
    // SAFETY: one call at a time, so this is the only reference.
    Ok(unsafe { &mut *handle.writer.get() })
}

pub(super) unsafe extern "C" fn writer_open<D: Driver + Exported>(
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
        let (slots, max_payload) = (if config.loans { LOANS } else { 0 }, config.max_payload_bytes);
        let writer = handle.participant.open_writer(config)?;
        let opened = WriterHandle::<WriterOf<D>> {
            monitor: writer.monitor(),
            qos: Mutex::new(None),
            writer: UnsafeCell::new(writer),
            loans: UnsafeCell::new(Loans::new(slots)),
            max_payload,
        };
        // SAFETY: the contract.
        unsafe { give(out, Box::into_raw(Box::new(opened)).cast(), "`out` is NULL") }
    })
}

pub(super) unsafe extern "C" fn writer_close<D: Driver>(writer: *mut abi::Writer) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        unsafe { writer_at::<D>(writer) }?;
        // SAFETY: created by writer_open and not closed before; not used again.
        let handle = *unsafe { Box::from_raw(writer.cast::<WriterHandle<WriterOf<D>>>()) };
        drop(handle.loans);
        handle.writer.into_inner().close()
    })
}

endpoint_entries! {
    Writer, writer_at, writer_in, "reader_locator";
    writer_matched, writer_qos, writer_settings, writer_counters, writer_locator, writer_connect
}

pub(super) unsafe extern "C" fn writer_write<D: Driver>(
    writer: *mut abi::Writer,
    key: u32,
    payload: *const u8,
    size: u64,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { writer_at::<D>(writer) }?;
        if size > handle.max_payload {
            return Err(Error::too_large("a sample exceeds the maximum size of its writer")
                .hint("open the writer with a larger `max_payload_bytes`"));
        }
        let payload = if size == 0 {
            &[]
        } else if payload.is_null() || size > isize::MAX as u64 {
            return Err(null("`payload` is NULL, or its size exceeds the address space"));
        } else {
            // SAFETY: not NULL, no longer than memory, and valid according to the contract.
            unsafe { slice::from_raw_parts(payload, size as usize) }
        };
        // SAFETY: one call at a time on this writer.
        unsafe { &mut *handle.writer.get() }.write(key, payload)
    })
}

pub(super) unsafe extern "C" fn writer_loan<D: Driver>(
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
            return Err(null("writer_loan() was called on a writer that was opened without `loans`"));
        }
        let slot = loans.free()?;
        let size =
            usize::try_from(size).map_err(|_| null("the size of the loan exceeds the address space"))?;
        let bytes = loans.put(slot, writer.loan(size)?, size)?;
        // SAFETY: the contract.
        unsafe { give(out, bytes, "`out` is NULL") }
    })
}

pub(super) unsafe extern "C" fn writer_publish<D: Driver>(
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
            return Err(null("writer_publish() was called with a size larger than the loan"));
        }
        match writer.publish(key, taken, size) {
            Ok(()) => Ok(()),
            Err(Unpublished { error, loan: Some(back) })
                if matches!(
                    error.status(),
                    crate::error::Status::Refused | crate::error::Status::TimedOut
                ) =>
            {
                // The host keeps the address that it has: a loan that moved cannot be returned.
                if loans.put(slot, back, 0)? != loan {
                    loans.take(loans.bytes[slot])?;
                    return Err(Error::failed("the driver moved the loan while publishing it"));
                }
                Err(error)
            }
            Err(Unpublished { error, .. }) => Err(error),
        }
    })
}

pub(super) unsafe extern "C" fn writer_discard<D: Driver>(
    writer: *mut abi::Writer,
    loan: *mut u8,
) -> abi::Status {
    guard(|| {
        // SAFETY: the contract.
        let handle = unsafe { writer_at::<D>(writer) }?;
        // SAFETY: one call at a time on this writer.
        let loans = unsafe { &mut *handle.loans.get() };
        loans.take(loan).map(drop)
    })
}

/// Defines the entries that only pass their arguments on to the writer.
macro_rules! writer_entries {
    ($($entry:ident => $method:ident($($argument:ident: $type:ty)?);)+) => {
        $(
            pub(super) unsafe extern "C" fn $entry<D: Driver>(
                writer: *mut abi::Writer,
                $($argument: $type,)?
            ) -> abi::Status {
                // SAFETY: the contract.
                guard(|| unsafe { writer_in::<D>(writer) }?.$method($($argument)?))
            }
        )+
    };
}

writer_entries! {
    writer_flush => flush();
    writer_wait_acked => wait_acked(timeout_ns: u64);
    writer_dispose => dispose(key: u32);
    writer_unregister => unregister(key: u32);
    writer_assert_liveliness => assert_liveliness();
}
