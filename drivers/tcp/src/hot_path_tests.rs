//! Test that the hot path allocates no memory.
#![allow(unsafe_code)]
use driver_testing::{CountingAllocator, ParticipantSpec, open, own_driver, suite};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn samples_cause_no_allocation() {
    // SAFETY: the driver of this crate.
    let driver = unsafe { own_driver(crate::ddsmark_driver_entry) };
    suite::samples_cause_no_allocation(&open(&driver, ParticipantSpec::default()).expect("open"));
}
