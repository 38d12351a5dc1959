//! Test that the hot path allocates no memory.
#![allow(unsafe_code)]
use driver_testing::{CountingAllocator, Participant, ParticipantSpec, own_driver, suite};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Opens a participant of the driver with this packing.
fn open(packing: &str) -> Participant {
    // SAFETY: the driver of this crate.
    let driver = unsafe { own_driver(crate::ddsmark_driver_entry) };
    let options = [(crate::PACKING, packing)];
    driver_testing::open(&driver, ParticipantSpec { options: &options, ..ParticipantSpec::default() })
        .expect("open")
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
