//! Tests of a driver through its C table: errors, samples and loans.

mod contract;
mod memory;

use std::{
    ffi::c_void,
    ptr,
    sync::{Mutex, mpsc},
    time::Duration,
};

use driver_kit::{
    abi,
    testing::{CountingAllocator, EndpointSpec, ParticipantSpec, allocations},
    *,
};
use memory::{driver, entity, failed};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn panic_becomes_an_error_and_the_driver_continues() {
    let (status, text) =
        failed(driver().open(ParticipantSpec { options: &[("mood", "bad")], ..ParticipantSpec::default() }));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("panicked: in a bad mood"), "{text}");

    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let mut writer = participant.writer(&entity()).expect("a writer");
    let (status, text) = failed(writer.write(&[1]));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("panicked: one is too few"), "{text}");
    writer.write(&[5; 5]).expect("written");
    assert_eq!(writer.counters().get(abi::COUNTER_BYTES_SENT), Some(5));

    let mut reader = participant.reader(&entity()).expect("a reader");
    let mut seen = 0;
    let (status, text) = failed(reader.receive(1, 1, |_| seen += 1));
    assert_eq!((status, seen), (abi::ERROR, 1));
    assert!(text.contains("in the middle"), "{text}");

    let big = EndpointSpec { max_payload_bytes: 666, ..entity() };
    let (status, text) = failed(participant.listener(&big, |_| {}));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("opened with a sink"), "{text}");
}

#[test]
fn errors_carry_their_hint_and_close_may_fail() {
    let (status, text) =
        failed(driver().open(ParticipantSpec { options: &[("mood", "sad")], ..ParticipantSpec::default() }));
    assert_eq!((status, text.as_str()), (abi::ERROR, "it is sad; hint: be kind"));
    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let mut writer = participant.writer(&entity()).expect("a writer");
    assert_eq!(failed(writer.write(&[2])), (abi::REFUSED, "no room; hint: wait".to_owned()));
    assert_eq!(failed(writer.connect("x")).1, "nothing at `x`");
    writer.write(&[0; 99]).expect("written");
    assert_eq!(failed(writer.close()), (abi::ERROR, "closed with 99".to_owned()));
    participant.close().expect("closed");
}

#[test]
fn read_back_qos_outlives_the_call() {
    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let qos = Qos { partitions: Some(vec!["a".to_owned(), "b*".to_owned()]), ..Qos::default() };
    let how = EndpointSpec { qos: Some(qos.clone()), ..entity() };
    let (writer, reader) =
        (participant.writer(&how).expect("a writer"), participant.reader(&how).expect("a reader"));
    assert_eq!(writer.qos(), Ok(qos.clone()));
    assert_eq!(reader.qos(), Ok(qos));
    assert_eq!((writer.matched(), reader.matched()), (Ok(7), Ok(7)));
    assert_eq!((writer.matched_at(), reader.matched_at()), (Ok(70), Ok(70)));
    assert_eq!(reader.counters().get(abi::COUNTER_SAMPLES_LOST), None);
}

#[test]
fn loans_stay_where_they_are_and_are_checked() {
    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let mut without = participant.writer(&entity()).expect("a writer");
    assert_eq!(failed(without.loan(1)).0, abi::BAD_ARGUMENT);
    let mut writer = participant.writer(&EndpointSpec { loans: true, ..entity() }).expect("a writer");
    assert_eq!(
        failed(writer.loan(65)),
        (abi::ERROR, "the driver returned a loan smaller than requested".to_owned())
    );
    assert_eq!(failed(writer.loan(2000)).0, abi::TOO_LARGE);
    let loans: Vec<_> = (0..16).map(|_| writer.loan(64).expect("a loan")).collect();
    assert_eq!(failed(writer.loan(1)).0, abi::REFUSED);
    for loan in &loans {
        // SAFETY: 64 bytes were lent.
        unsafe { loan.write_bytes(2, 64) };
    }
    // SAFETY: a driver made with driver-kit distinguishes its loans from other pointers.
    let publish = |writer: &mut testing::Writer, loan, size| unsafe { writer.publish(loan, size) };
    assert_eq!(failed(publish(&mut writer, loans[3], 64)).0, abi::REFUSED);
    // SAFETY: the driver returned the loan, refilled.
    assert_eq!(unsafe { loans[3].read() }, 3);
    assert_eq!(publish(&mut writer, loans[3], 64), Ok(()));
    assert_eq!(writer.counters().get(abi::COUNTER_BYTES_SENT), Some(64));
    assert_eq!(failed(publish(&mut writer, loans[3], 64)).1, "the pointer is not a loan of this writer");
    assert_eq!(
        failed(publish(&mut writer, loans[4], 65)).1,
        "writer_publish() was called with a size larger than the loan"
    );
    // SAFETY: as above.
    unsafe {
        assert_eq!(writer.discard(loans[5]), Ok(()));
        assert_eq!(failed(writer.discard(ptr::null_mut())).0, abi::BAD_ARGUMENT);
    }
    writer.close().expect("closed, with loans out");
}

#[test]
fn listener_is_called_until_close() {
    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let (send, received) = mpsc::channel();
    let reader = participant
        .listener(&entity(), move |payload| send.send(payload.to_vec()).expect("sent"))
        .expect("open");
    for index in 0..3 {
        assert_eq!(received.recv_timeout(Duration::from_secs(20)), Ok(vec![index; 4]));
    }
    let mut reader = reader;
    assert_eq!(failed(reader.receive(0, 1, |_| {})).0, abi::BAD_ARGUMENT);
    reader.close().expect("closed");
    assert_eq!(received.try_recv(), Err(mpsc::TryRecvError::Disconnected));
}

#[test]
fn tokens_come_back_within_the_sink() {
    static INTACT: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    unsafe extern "C" fn sink(context: *mut c_void, sample: *const abi::Sample) {
        let intact = driver().raw().reader_sample_intact.expect("entry");
        // SAFETY: the context is the reader, the sample belongs to the driver.
        INTACT.lock().expect("lock").push(unsafe { intact(context.cast(), sample) });
    }
    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let reader = participant.reader(&entity()).expect("a reader");
    let receive = driver().raw().reader_receive.expect("entry");
    let mut taken = 0;
    // SAFETY: the contract.
    let status = unsafe { receive(reader.raw(), 0, 3, sink, reader.raw().cast(), &raw mut taken) };
    assert_eq!((status, taken), (abi::OK, 3));
    assert_eq!(*INTACT.lock().expect("lock"), [1, 0, 1]);
}

#[test]
fn the_hot_path_allocates_nothing() {
    let participant = driver().open(ParticipantSpec::default()).expect("open");
    let mut writer = participant.writer(&EndpointSpec { loans: true, ..entity() }).expect("a writer");
    let mut reader = participant.reader(&entity()).expect("a reader");
    let refused = |writer: &mut testing::Writer| assert_eq!(writer.write_status(&[2]), abi::REFUSED);
    refused(&mut writer);
    let before = allocations();
    for _ in 0..1000 {
        assert_eq!(writer.write_status(&[0; 10]), abi::OK);
        refused(&mut writer);
        let loan = writer.loan(64).expect("a loan");
        // SAFETY: the loan of the line above.
        unsafe { writer.publish(loan, 64) }.expect("published");
        assert_eq!(reader.receive(0, 2, |_| {}), Ok(2));
        assert_eq!(reader.receive(0, 0, |_| {}), Ok(0));
    }
    assert_eq!(allocations() - before, 0);
    assert!(Box::new(before) == Box::new(before) && allocations() > before, "the allocator counts");
}
