//! Test that the hot path allocates no memory.
#![allow(unsafe_code)]
use driver_kit::{
    abi,
    testing::{CountingAllocator, ParticipantSpec, Table, suite},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn samples_cause_no_allocation() {
    unsafe extern "C" fn entry() -> *const abi::Driver {
        crate::ddsmark_driver_entry()
    }
    // SAFETY: the driver of this crate.
    let driver = unsafe { Table::new(entry) };
    suite::samples_cause_no_allocation(&driver.open(ParticipantSpec::default()).expect("open"));
}
