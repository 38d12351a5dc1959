//! The hot path allocates nothing. Here, not in `tests/`: the allocator of a loaded library cannot be watched from
//! outside.
#![allow(unsafe_code)]
use driver_kit::{
    abi,
    testing::{CountingAllocator, Entity, Open, Table, allocations},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn driver() -> Table {
    unsafe extern "C" fn entry() -> *const abi::Driver {
        crate::ddsmark_driver_entry()
    }
    // SAFETY: the driver of this crate.
    unsafe { Table::new(entry) }
}

#[test]
fn nothing_is_allocated_for_a_sample() {
    const WAIT: u64 = 20_000_000_000;
    let participant = driver().open(Open::default()).expect("open");
    for batch_bytes in [0, 1000] {
        for readers in [1, 2] {
            let entity = Entity { max_payload_bytes: 1000, batch_bytes, ..Entity::default() };
            let mut writer = participant.writer(&entity).expect("a writer");
            let mut all: Vec<_> = (0..readers).map(|_| participant.reader(&entity).expect("open")).collect();
            for reader in &all {
                writer.connect(&reader.locator().expect("a locator")).expect("connected");
            }
            let before = allocations();
            let mut bytes = 0;
            for _ in 0..200 {
                for _ in 0..5 {
                    assert_eq!(writer.write_status(&[7; 200]), abi::OK);
                }
                writer.flush().expect("flushed");
                for reader in &mut all {
                    let (mut seen, mut calls) = (0, 0);
                    while seen < 5 && calls < 100 {
                        seen += reader.receive(WAIT, 10, |payload| bytes += payload.len()).expect("received");
                        calls += 1;
                    }
                    assert_eq!(reader.receive(0, 10, |_| {}), Ok(0));
                }
            }
            assert_eq!(allocations() - before, 0, "batch of {batch_bytes}, {readers} readers");
            assert_eq!(bytes, 200 * 5 * 200 * readers);
        }
    }
}
