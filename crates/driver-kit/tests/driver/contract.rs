//! Table and description of a driver, and the requests that are rejected before they reach it.

use std::{
    ffi::{CStr, c_void},
    mem::offset_of,
    ptr,
};

use driver_kit::{Qos, QosDuration, Reliability, TypeKind, abi, abi::policies::empty};
use driver_testing::{EndpointSpec, ParticipantSpec, shipped::failed, value_of};

use crate::memory::{RawWriter, last_error, open, table};

#[test]
fn the_table_has_what_the_features_say_and_is_always_the_same() {
    let table = table();
    assert!(ptr::eq(table, crate::memory::table()));
    assert!(table.writer_loan.is_some() && table.writer_locator.is_some());
    assert!(table.reader_sample_intact.is_some() && table.reader_connect.is_some());
    assert!(table.writer_wait_acked.is_none() && table.writer_dispose.is_none());
    assert!(table.writer_unregister.is_none() && table.writer_assert_liveliness.is_some());
}

#[test]
fn the_description_arrives() {
    let describe = table().describe.expect("entry");
    // SAFETY: it is valid as long as the library.
    let description = unsafe { &*describe() };
    // SAFETY: as above.
    assert!(ptr::eq(description, unsafe { describe() }));
    // SAFETY: texts of a description are C strings that live as long as the library.
    let text = |text| unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8");
    assert_eq!(description.struct_size as usize, size_of::<abi::Description>());
    assert_eq!(
        description.features,
        abi::FEATURE_LOCATORS | abi::FEATURE_WRITER_LOANS | abi::FEATURE_READER_LOANS
    );
    assert_eq!(text(description.name), "memory");
    assert_eq!(text(description.version_source), "library");
    assert_eq!(text(description.build), "test");
    assert_eq!(description.receive_modes, 0b101);
    assert_eq!(description.type_kinds, 0b101);
    assert_eq!((description.transport_count, description.option_count), (2, 1));
    // SAFETY: the array has as many transports as stated.
    let transports = unsafe { std::slice::from_raw_parts(description.transports, 2) };
    assert_eq!((text(transports[0].name), transports[0].max_payload_bytes), ("heap", 1000));
    assert!(transports[1].note.is_null());
    let partition = &description.policies[abi::POLICY_PARTITION as usize];
    assert_eq!((partition.writer, text(partition.note)), (abi::SUPPORT_ENFORCED, "by name"));
    assert_eq!(description.policies[abi::POLICY_HISTORY as usize].reader, abi::SUPPORT_UNSUPPORTED);
    assert_eq!(description.kept_thread_count, 2);
    // SAFETY: the array has as many names as stated.
    let kept = unsafe { std::slice::from_raw_parts(description.kept_threads, 2) };
    assert_eq!([text(kept[0]), text(kept[1])], ["mem.keeper", "mem.other"]);
}

#[test]
fn undeclared_features_are_rejected_before_the_driver_is_called() {
    let rejected = |how| failed(open(how));
    assert_eq!(
        rejected(ParticipantSpec { transport: Some("tin"), ..ParticipantSpec::default() }),
        (
            abi::BAD_ARGUMENT,
            "driver `memory` has no transport `tin`; hint: available: heap, stack".to_owned()
        )
    );
    assert_eq!(
        rejected(ParticipantSpec { options: &[("colour", "1")], ..ParticipantSpec::default() }),
        (abi::BAD_ARGUMENT, "driver `memory` has no option `colour`; hint: available: mood".to_owned())
    );
    assert_eq!(
        rejected(ParticipantSpec { multicast: true, ..ParticipantSpec::default() }).0,
        abi::UNSUPPORTED
    );

    let participant =
        open(ParticipantSpec { transport: Some("stack"), ..ParticipantSpec::default() }).expect("open");
    let settings = participant.settings().expect("settings");
    assert_eq!(value_of(&settings, "transport"), Some("stack"));
    let small = EndpointSpec { max_payload_bytes: 10, ..EndpointSpec::default() };
    let writer = |how: EndpointSpec| failed(participant.writer(&how)).0;
    let reader = |how: EndpointSpec| failed(participant.reader(&how)).0;
    assert_eq!(writer(EndpointSpec { max_payload_bytes: 11, ..small.clone() }), abi::TOO_LARGE);
    assert_eq!(writer(EndpointSpec { max_payload_bytes: 0, ..small.clone() }), abi::BAD_ARGUMENT);
    assert_eq!(writer(EndpointSpec { type_kind: TypeKind::Keyed, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(writer(EndpointSpec { batch_bytes: 9, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(writer(EndpointSpec { async_write: true, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(reader(EndpointSpec { polling: true, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(reader(EndpointSpec { content_filter: Some("key = 1"), ..small.clone() }), abi::UNSUPPORTED);
    let asks = |qos| EndpointSpec { qos, ..small.clone() };
    let kind =
        |kind| Qos { reliability: Some(kind), max_blocking_ns: Some(QosDuration::Ns(3)), ..Qos::default() };
    assert_eq!(writer(asks(kind(Reliability::BestEffort))), abi::UNSUPPORTED);
    participant.writer(&asks(kind(Reliability::Reliable))).expect("what is there anyway");
    assert_eq!(
        reader(asks(Qos { deadline_ns: Some(QosDuration::Ns(1)), ..Qos::default() })),
        abi::UNSUPPORTED
    );
}

#[test]
fn values_that_the_contract_does_not_define_are_rejected() {
    let with = |qos: abi::Qos| RawWriter::open_with(|config| config.qos = &raw const qos).err();
    assert_eq!(RawWriter::open_with(|config| config.type_kind = 9).err(), Some(abi::BAD_ARGUMENT));
    let partition = 1 << abi::POLICY_PARTITION;
    assert_eq!(with(abi::Qos { present: partition, ..empty() }), None, "no partitions");
    assert_eq!(with(abi::Qos { present: 1 << 40, ..empty() }), Some(abi::UNSUPPORTED));
    let null = abi::Qos { present: partition, partition_count: 3, ..empty() };
    assert_eq!(with(null), Some(abi::BAD_ARGUMENT));

    let (writer, mut out) = (RawWriter::open(), ptr::null_mut());
    for (receive_mode, sink) in
        [(abi::RECEIVE_LISTENER, None), (abi::RECEIVE_WAITSET, Some(ignore as abi::Sink))]
    {
        // SAFETY: NULL and 0 are values of all fields that are not set.
        let config = abi::ReaderConfig {
            struct_size: size_of::<abi::ReaderConfig>() as u32,
            topic: c"Topic".as_ptr(),
            max_payload_bytes: 100,
            receive_mode,
            sink,
            ..unsafe { std::mem::zeroed() }
        };
        // SAFETY: the participant is open, and the configuration is valid for the call.
        let status = unsafe {
            table().reader_open.expect("entry")(writer.participant, &raw const config, &raw mut out)
        };
        assert_eq!(status, abi::BAD_ARGUMENT);
    }
}

unsafe extern "C" fn ignore(_: *mut c_void, _: *const abi::Sample) {}

#[test]
fn null_pointer_is_reported_not_dereferenced() {
    let table = table();
    // SAFETY: a driver made with this crate checks its arguments for NULL.
    unsafe {
        assert_eq!(table.writer_write.expect("entry")(ptr::null_mut(), 0, ptr::null(), 0), abi::BAD_ARGUMENT);
        assert_eq!(last_error(), "`writer` is NULL");
        assert_eq!(table.reader_close.expect("entry")(ptr::null_mut()), abi::BAD_ARGUMENT);
        assert_eq!(table.participant_close.expect("entry")(ptr::null_mut()), abi::BAD_ARGUMENT);
        let mut out = ptr::null_mut();
        let open = table.participant_open.expect("entry");
        assert_eq!(open(ptr::null(), &raw mut out), abi::BAD_ARGUMENT);
        assert_eq!(last_error(), "`config` is NULL");
    }
    let writer = RawWriter::open();
    // SAFETY: as above.
    unsafe {
        let write = table.writer_write.expect("entry");
        assert_eq!(write(writer.writer, 0, ptr::null(), 1), abi::BAD_ARGUMENT);
        assert_eq!(write(writer.writer, 0, ptr::null(), 0), abi::OK);
        assert_eq!(table.writer_matched.expect("entry")(writer.writer, ptr::null_mut()), abi::BAD_ARGUMENT);
        assert_eq!(table.writer_qos.expect("entry")(writer.writer, ptr::null_mut()), abi::BAD_ARGUMENT);
        let mut buffer = [1; 8];
        let locator = table.writer_locator.expect("entry");
        assert_eq!(locator(writer.writer, buffer.as_mut_ptr().cast(), 8), abi::BAD_ARGUMENT);
        assert_eq!(buffer, [1; 8], "`memory:1` and its NUL need one byte more");
    }
}

#[test]
fn structs_of_another_size_are_read_and_written_as_far_as_they_go() {
    let table = table();
    // An older host: its struct ends before `interface`; the fields after that must not be read.
    let config = abi::ParticipantConfig {
        struct_size: offset_of!(abi::ParticipantConfig, interface) as u32,
        domain: 1,
        run_name: c"run".as_ptr(),
        transport: ptr::null(),
        interface: ptr::dangling(),
        peers: ptr::dangling(),
        options: ptr::dangling(),
        peer_count: 1000,
        option_count: 1000,
        multicast: 1,
        vendor_defaults: 1,
        send_buffer_bytes: 1,
        receive_buffer_bytes: 1,
        send_queue_bytes: 1,
        participant_count: 1,
        reserved: 0,
    };
    let open = table.participant_open.expect("entry");
    let mut out = ptr::null_mut();
    let twice = [abi::DriverOption { name: c"mood".as_ptr(), value: c"1".as_ptr() }; 2];
    // SAFETY: the struct is valid up to its size.
    unsafe {
        assert_eq!(open(&raw const config, &raw mut out), abi::OK);
        assert_eq!(table.participant_close.expect("entry")(out), abi::OK);
        for (change, text) in [
            (abi::ParticipantConfig { struct_size: 0, ..config }, "invalid `struct_size` of `config`: 0"),
            (
                abi::ParticipantConfig { domain: 233, ..config },
                "domain 233 is out of range; hint: use a domain from 0 to 232",
            ),
            (abi::ParticipantConfig { run_name: ptr::null(), ..config }, "`run_name` is NULL"),
            (
                abi::ParticipantConfig {
                    struct_size: size_of::<abi::ParticipantConfig>() as u32,
                    interface: ptr::null(),
                    peer_count: 0,
                    options: twice.as_ptr(),
                    option_count: 2,
                    ..config
                },
                "option `mood` is given twice; hint: give it once",
            ),
            (
                abi::ParticipantConfig { run_name: c"../x".as_ptr(), ..config },
                "invalid run name `../x`; hint: ",
            ),
            (abi::ParticipantConfig { transport: c"\xff".as_ptr(), ..config }, "`transport` is not UTF-8"),
        ] {
            out = ptr::dangling_mut();
            assert_eq!(open(&raw const change, &raw mut out), abi::BAD_ARGUMENT, "{text}");
            assert_eq!(out, ptr::dangling_mut(), "`out` is left untouched");
            assert!(last_error().starts_with(text), "{}", last_error());
        }
    }

    let writer = RawWriter::open();
    let mut counters =
        abi::Counters { struct_size: 16, reserved: 9, valid: 9, values: [9; abi::COUNTER_COUNT] };
    // SAFETY: the struct is valid.
    let status = unsafe { table.writer_counters.expect("entry")(writer.writer, &raw mut counters) };
    assert_eq!((status, counters.struct_size), (abi::OK, 16));
    assert_eq!((counters.valid, counters.values[0]), (1 << abi::COUNTER_BYTES_SENT, 9));

    // A newer host: its struct is longer than ours.
    #[repr(C)]
    struct Longer(abi::Counters, [u64; 4]);
    let mut longer = Longer(abi::Counters { struct_size: size_of::<Longer>() as u32, ..counters }, [9; 4]);
    // SAFETY: the struct is valid.
    let status = unsafe { table.writer_counters.expect("entry")(writer.writer, (&raw mut longer).cast()) };
    assert_eq!((status, longer.0.struct_size as usize), (abi::OK, size_of::<abi::Counters>()));
    assert_eq!((longer.0.valid, longer.1), (1 << abi::COUNTER_BYTES_SENT, [9; 4]));
}
