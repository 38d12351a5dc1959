//! Tests of a driver through its C table: errors, samples and loans.

mod contract;
mod memory;

use std::{ptr, sync::mpsc, time::Duration};

use driver_kit::{Qos, abi};
use driver_testing::{
    CountingAllocator, EndpointSpec, ParticipantSpec, Writer, allocations, shipped::failed,
};
use memory::{RawWriter, entity, last_error, open, table};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn panic_becomes_an_error_and_the_driver_continues() {
    let (status, text) =
        failed(open(ParticipantSpec { options: &[("mood", "bad")], ..ParticipantSpec::default() }));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("panicked: in a bad mood"), "{text}");

    let participant = open(ParticipantSpec::default()).expect("open");
    let mut writer = participant.writer(&entity()).expect("a writer");
    let (status, text) = failed(writer.write(&[1]));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("panicked: one is too few"), "{text}");
    writer.write(&[5; 5]).expect("written");
    assert_eq!(writer.counters().get("bytes_sent"), Some(5));

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
        failed(open(ParticipantSpec { options: &[("mood", "sad")], ..ParticipantSpec::default() }));
    assert_eq!((status, text.as_str()), (abi::ERROR, "it is sad; hint: be kind"));
    let participant = open(ParticipantSpec::default()).expect("open");
    let mut writer = participant.writer(&entity()).expect("a writer");
    assert_eq!((writer.write_status(&[2]), last_error().as_str()), (abi::REFUSED, "no room; hint: wait"));
    assert_eq!(failed(writer.connect("x")).1, "nothing at `x`");
    writer.write(&[0; 99]).expect("written");
    assert_eq!(failed(writer.close()), (abi::ERROR, "closed with 99".to_owned()));
    participant.close().expect("closed");
}

#[test]
fn read_back_qos_outlives_the_call() {
    let participant = open(ParticipantSpec::default()).expect("open");
    let qos = Qos { partitions: Some(vec!["a".to_owned(), "b*".to_owned()]), ..Qos::default() };
    let how = EndpointSpec { qos: qos.clone(), ..entity() };
    let (writer, reader) =
        (participant.writer(&how).expect("a writer"), participant.reader(&how).expect("a reader"));
    assert_eq!(writer.qos(), Ok(qos.clone()));
    assert_eq!(reader.qos(), Ok(qos));
    assert_eq!((writer.matched(), reader.matched()), (Ok(7), Ok(7)));
    for state in [writer.match_state(), reader.match_state()] {
        assert_eq!(state.expect("a state").changed_ns, Some(70));
    }
    assert_eq!(reader.counters().get("samples_lost"), None);
}

#[test]
fn loans_stay_where_they_are_and_are_checked() {
    let participant = open(ParticipantSpec::default()).expect("open");
    let without = participant.writer(&entity()).expect("a writer");
    assert_eq!(failed(without.loan(1).map(|_| ())).0, abi::BAD_ARGUMENT);
    let writer = participant.writer(&EndpointSpec { loans: true, ..entity() }).expect("a writer");
    let error = |size| failed(writer.loan(size).map(|_| ()));
    assert_eq!(error(65), (abi::ERROR, "the driver returned a loan smaller than requested".to_owned()));
    assert_eq!(error(2000).0, abi::TOO_LARGE);
    let mut loans: Vec<_> = (0..16).map(|_| writer.loan(64).expect("no error").expect("a loan")).collect();
    assert!(writer.loan(1).expect("no error").is_none(), "no room");
    for loan in &mut loans {
        loan.bytes().fill(2);
    }
    let mut kept = loans.remove(3).publish(0).expect("no error").expect("not accepted");
    assert_eq!(kept.bytes()[0], 3, "the driver returned the loan, refilled");
    let address = kept.bytes().as_mut_ptr();
    assert!(kept.publish(0).expect("no error").is_none(), "accepted");
    assert_eq!(writer.counters().get("bytes_sent"), Some(64));
    loans.remove(4).discard().expect("discarded");

    let writer = RawWriter::open();
    let (publish, loan) = (table().writer_publish.expect("entry"), table().writer_loan.expect("entry"));
    let mut lent = ptr::null_mut();
    // SAFETY: a driver made with driver-kit distinguishes its loans from other pointers.
    unsafe {
        assert_eq!(publish(writer.writer, 0, address, 64), abi::BAD_ARGUMENT);
        assert_eq!(last_error(), "the pointer is not a loan of this writer");
        assert_eq!(loan(writer.writer, 64, &raw mut lent), abi::OK);
        assert_eq!(publish(writer.writer, 0, lent, 65), abi::BAD_ARGUMENT);
        assert_eq!(last_error(), "writer_publish() was called with a size larger than the loan");
        let discard = table().writer_discard.expect("entry");
        assert_eq!(discard(writer.writer, ptr::null_mut()), abi::BAD_ARGUMENT);
    }
}

#[test]
fn listener_is_called_until_close() {
    let participant = open(ParticipantSpec::default()).expect("open");
    let (send, received) = mpsc::channel();
    let reader = participant
        .listener(&entity(), move |payload| send.send(payload.to_vec()).expect("sent"))
        .expect("open");
    for index in 0..3 {
        assert_eq!(received.recv_timeout(Duration::from_secs(20)), Ok(vec![index; 4]));
    }
    drop(reader.close().expect("closed"));
    assert_eq!(received.try_recv(), Err(mpsc::TryRecvError::Disconnected));
}

#[test]
fn tokens_come_back_within_the_sink() {
    let participant = open(ParticipantSpec::default()).expect("open");
    let reader = participant.reader(&entity()).expect("a reader");
    let mut intact = Vec::new();
    let taken = reader.into_host().receive(0, 3, |sample| intact.push(sample.is_intact()));
    assert_eq!((taken, intact), (Ok(3), vec![true, false, true]));
}

#[test]
fn the_hot_path_allocates_nothing() {
    let participant = open(ParticipantSpec::default()).expect("open");
    let mut writer = participant.writer(&EndpointSpec { loans: true, ..entity() }).expect("a writer");
    let mut reader = participant.reader(&entity()).expect("a reader");
    let refused = |writer: &mut Writer| assert_eq!(writer.write_status(&[2]), abi::REFUSED);
    refused(&mut writer);
    let before = allocations();
    for _ in 0..1000 {
        assert_eq!(writer.write_status(&[0; 10]), abi::OK);
        refused(&mut writer);
        let loan = writer.loan(64).expect("no error").expect("a loan");
        assert!(loan.publish(0).expect("no error").is_none(), "published");
        assert_eq!(reader.receive(0, 2, |_| {}), Ok(2));
        assert_eq!(reader.receive(0, 0, |_| {}), Ok(0));
    }
    assert_eq!(allocations() - before, 0);
    assert!(Box::new(before) == Box::new(before) && allocations() > before, "the allocator counts");
}
