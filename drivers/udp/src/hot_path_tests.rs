//! Test that the hot path allocates no memory.
#![allow(unsafe_code)]
use driver_kit::{
    abi,
    testing::{CountingAllocator, Participant, ParticipantSpec, Table, suite},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Opens a participant of the driver with this packing.
fn open(packing: &str) -> Participant {
    unsafe extern "C" fn entry() -> *const abi::Driver {
        crate::ddsmark_driver_entry()
    }
    // SAFETY: the driver of this crate.
    let driver = unsafe { Table::new(entry) };
    let options = [(crate::PACKING, packing)];
    driver.open(ParticipantSpec { options: &options, ..ParticipantSpec::default() }).expect("open")
}

#[test]
fn samples_cause_no_allocation() {
    suite::samples_cause_no_allocation(&open("datagram"));
}

#[test]
fn segments_cause_no_allocation() {
    // Its samples are smaller than the largest of the writer, so the calls have a control message.
    suite::samples_cause_no_allocation(&open("segments"));
}
