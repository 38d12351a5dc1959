//! A driver that lives in memory and misbehaves on request, through its C table.
use std::{
    ffi::{CStr, c_void},
    mem::offset_of,
    ptr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use driver_kit::{
    abi,
    testing::{CountingAllocator, Entity, Failure, Open, Table, allocations, value_of},
    *,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

struct Memory;

impl Driver for Memory {
    type Participant = Here;
    const FEATURES: Features = Features::LOCATORS.and(Features::WRITER_LOANS).and(Features::READER_LOANS);
    const KEPT_THREADS: &'static [&'static str] = &["mem.keeper", "mem.other"];

    fn describe() -> Description {
        Description {
            name: "memory",
            driver_version: "1.2.3",
            middleware: "Memory",
            middleware_version: "4".to_owned(),
            version_source: VersionSource::Library,
            build: Some("test".to_owned()),
            licence: "Apache-2.0",
            receive_modes: &[ReceiveMode::Waitset, ReceiveMode::Listener],
            type_kinds: &[TypeKind::Octets, TypeKind::Plain],
            transports: vec![
                Transport { name: "heap", max_payload_bytes: 1000, note: Some("warm") },
                Transport { name: "stack", max_payload_bytes: 10, note: None },
            ],
            options: vec![DriverOption { name: "mood", default: None, help: "how it is today" }],
            policies: Policies::none()
                .with(Policy::Partition, Support::Enforced, Some("by name"))
                .fixed(Qos { reliability: Some(Reliability::Reliable), ..Qos::default() }),
        }
    }

    fn open(config: &ParticipantConfig<'_>) -> Result<Here> {
        match config.option("mood") {
            Some("bad") => panic!("in a bad {}", "mood"),
            Some("sad") => Err(Error::failed("it is sad").hint("be kind")),
            _ => Ok(Here { transport: config.transport, interface: config.interface.map(str::to_owned) }),
        }
    }
}

struct Here {
    transport: &'static str,
    interface: Option<String>,
}

impl Participant for Here {
    type Writer = MemoryWriter;
    type Reader = MemoryReader;

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("transport", self.transport);
        settings.set("interface", self.interface.as_deref().unwrap_or("none"));
        Ok(())
    }

    fn open_writer(&self, config: WriterConfig<'_>) -> Result<MemoryWriter> {
        Ok(MemoryWriter { monitor: Arc::new(MemoryMonitor { qos: config.qos, ..MemoryMonitor::default() }) })
    }

    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<MemoryReader> {
        let monitor = Arc::new(MemoryMonitor { qos: config.qos, ..MemoryMonitor::default() });
        let thread = match config.receive {
            Receive::Listener(mut sink) => {
                if config.max_payload_bytes == 666 {
                    panic!("opened with a sink");
                }
                let stop = Arc::new(AtomicBool::new(false));
                let stopped = stop.clone();
                let run = move || {
                    for index in 0..3u8 {
                        sink.deliver(Sample::new(&[index; 4]));
                    }
                    while !stopped.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(1));
                    }
                };
                Some((stop, thread::spawn(run)))
            }
            Receive::Waitset | Receive::Polling => None,
        };
        Ok(MemoryReader { monitor, thread })
    }
}

#[derive(Default)]
struct MemoryMonitor {
    qos: Qos,
    written: Count,
}

impl Monitor for MemoryMonitor {
    fn matched(&self) -> Result<u32> {
        Ok(7)
    }

    fn qos(&self) -> Result<Qos> {
        Ok(self.qos.clone())
    }

    fn counters(&self) -> Counters {
        Counters::new().with(Counter::BytesSent, self.written.get())
    }

    fn sample_intact(&self, token: usize) -> bool {
        token != 13
    }
}

struct MemoryWriter {
    monitor: Arc<MemoryMonitor>,
}

/// Its bytes are inside, so that they move with it.
struct Inline([u8; 64]);

impl AsMut<[u8]> for Inline {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Writer for MemoryWriter {
    type Monitor = MemoryMonitor;
    type Loan = Inline;

    fn monitor(&self) -> Arc<MemoryMonitor> {
        self.monitor.clone()
    }

    fn write(&mut self, _key: u32, payload: &[u8]) -> Result<()> {
        match payload {
            [1] => panic!("one is too few"),
            [2] => Err(Error::new(Status::Refused, "no room").hint("wait")),
            _ => {
                self.monitor.written.add(payload.len() as u64);
                Ok(())
            }
        }
    }

    fn locator(&mut self) -> Result<String> {
        Ok("memory:1".to_owned())
    }

    fn connect(&mut self, locator: &str) -> Result<()> {
        Err(Error::bad_argument(format!("nothing at `{locator}`")))
    }

    fn loan(&mut self, size: usize) -> Result<Inline> {
        if size > 1000 {
            return Err(Error::too_large("too much"));
        }
        Ok(Inline([0; 64]))
    }

    fn publish(&mut self, _key: u32, loan: Inline, size: usize) -> Result<(), Unpublished<Inline>> {
        if loan.0[0] == 2 {
            let error = Error::new(Status::Refused, "no room");
            return Err(Unpublished { error, loan: Some(Inline([3; 64])) });
        }
        self.monitor.written.add(size as u64);
        Ok(())
    }

    fn close(self) -> Result<()> {
        if self.monitor.written.get() == 99 { Err(Error::failed("closed with 99")) } else { Ok(()) }
    }
}

struct MemoryReader {
    monitor: Arc<MemoryMonitor>,
    thread: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Reader for MemoryReader {
    type Monitor = MemoryMonitor;

    fn monitor(&self) -> Arc<MemoryMonitor> {
        self.monitor.clone()
    }

    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut Samples<'_>) -> Result<()> {
        if timeout_ns == 1 {
            to.deliver(Sample::new(b"first"));
            panic!("in the middle");
        }
        for index in 0..max_samples.min(3) {
            to.deliver(Sample { payload: b"payload", key: index, token: 12 + index as usize });
        }
        Ok(())
    }

    fn close(self) -> Result<()> {
        if let Some((stop, thread)) = self.thread {
            stop.store(true, Ordering::Relaxed);
            thread.join().map_err(|_| Error::failed("the listener panicked"))?;
        }
        Ok(())
    }
}

export!(Memory);

fn driver() -> Table {
    unsafe extern "C" fn entry() -> *const abi::Driver {
        ddsmark_driver_entry()
    }
    // SAFETY: the driver above.
    unsafe { Table::new(entry) }
}

fn entity() -> Entity {
    Entity { max_payload_bytes: 100, ..Entity::default() }
}

fn failed<T>(outcome: Result<T, Failure>) -> (abi::Status, String) {
    let failure = outcome.err().expect("a failure");
    (failure.status, failure.text)
}

#[test]
fn the_table_has_what_the_features_say_and_is_always_the_same() {
    let table = driver().raw();
    assert!(ptr::eq(table, driver().raw()));
    assert!(table.writer_loan.is_some() && table.writer_locator.is_some());
    assert!(table.reader_sample_intact.is_some() && table.reader_connect.is_some());
    assert!(table.writer_wait_acked.is_none() && table.writer_dispose.is_none());
    assert!(table.writer_unregister.is_none() && table.writer_assert_liveliness.is_some());
}

#[test]
fn the_description_arrives() {
    let description = driver().description();
    assert!(ptr::eq(description, driver().description()));
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
    // SAFETY: as many transports as it says.
    let transports = unsafe { std::slice::from_raw_parts(description.transports, 2) };
    assert_eq!((text(transports[0].name), transports[0].max_payload_bytes), ("heap", 1000));
    assert!(transports[1].note.is_null());
    let partition = &description.policies[abi::POLICY_PARTITION as usize];
    assert_eq!((partition.support, text(partition.note)), (abi::SUPPORT_ENFORCED, "by name"));
    assert_eq!(description.policies[abi::POLICY_HISTORY as usize].support, abi::SUPPORT_UNSUPPORTED);
    assert_eq!(description.kept_thread_count, 2);
    // SAFETY: as many names as it says.
    let kept = unsafe { std::slice::from_raw_parts(description.kept_threads, 2) };
    assert_eq!([text(kept[0]), text(kept[1])], ["mem.keeper", "mem.other"]);
}

#[test]
fn a_panic_becomes_an_error_and_the_driver_goes_on() {
    let (status, text) = failed(driver().open(Open { options: &[("mood", "bad")], ..Open::default() }));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("panicked: in a bad mood"), "{text}");

    let participant = driver().open(Open::default()).expect("open");
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

    let big = Entity { max_payload_bytes: 666, ..entity() };
    let (status, text) = failed(participant.listener(&big, |_| {}));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("opened with a sink"), "{text}");
}

#[test]
fn errors_carry_their_hint_and_close_may_fail() {
    let (status, text) = failed(driver().open(Open { options: &[("mood", "sad")], ..Open::default() }));
    assert_eq!((status, text.as_str()), (abi::ERROR, "it is sad; hint: be kind"));
    let participant = driver().open(Open::default()).expect("open");
    let mut writer = participant.writer(&entity()).expect("a writer");
    assert_eq!(failed(writer.write(&[2])), (abi::REFUSED, "no room; hint: wait".to_owned()));
    assert_eq!(failed(writer.connect("x")).1, "nothing at `x`");
    writer.write(&[0; 99]).expect("written");
    assert_eq!(failed(writer.close()), (abi::ERROR, "closed with 99".to_owned()));
    participant.close().expect("closed");
}

#[test]
fn what_the_description_excludes_is_refused_before_the_driver_sees_it() {
    let driver = driver();
    let open = |how| failed(driver.open(how));
    assert_eq!(
        open(Open { transport: Some("tin"), ..Open::default() }),
        (abi::BAD_ARGUMENT, "driver `memory` has no transport `tin`; hint: it has heap, stack".to_owned())
    );
    assert_eq!(
        open(Open { options: &[("colour", "1")], ..Open::default() }),
        (abi::BAD_ARGUMENT, "driver `memory` has no option `colour`; hint: it has mood".to_owned())
    );
    assert_eq!(
        open(Open { options: &[("mood", "1"), ("mood", "2")], ..Open::default() }).0,
        abi::BAD_ARGUMENT
    );
    assert_eq!(open(Open { multicast: true, ..Open::default() }).0, abi::UNSUPPORTED);

    let participant = driver.open(Open { transport: Some("stack"), ..Open::default() }).expect("open");
    let settings = participant.settings().expect("settings");
    assert_eq!(value_of(&settings, "transport"), Some("stack"));
    let small = Entity { max_payload_bytes: 10, ..Entity::default() };
    let writer = |how: Entity| failed(participant.writer(&how)).0;
    let reader = |how: Entity| failed(participant.reader(&how)).0;
    assert_eq!(writer(Entity { max_payload_bytes: 11, ..small.clone() }), abi::TOO_LARGE);
    assert_eq!(writer(Entity { max_payload_bytes: 0, ..small.clone() }), abi::BAD_ARGUMENT);
    assert_eq!(writer(Entity { type_kind: abi::TYPE_KEYED, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(writer(Entity { type_kind: 9, ..small.clone() }), abi::BAD_ARGUMENT);
    assert_eq!(writer(Entity { batch_bytes: 9, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(writer(Entity { async_write: true, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(reader(Entity { receive_mode: abi::RECEIVE_POLLING, ..small.clone() }), abi::UNSUPPORTED);
    assert_eq!(reader(Entity { receive_mode: abi::RECEIVE_LISTENER, ..small.clone() }), abi::BAD_ARGUMENT);
    assert_eq!(reader(Entity { content_filter: Some("key = 1"), ..small.clone() }), abi::UNSUPPORTED);
    let asks = |qos| Entity { qos: Some(qos), ..small.clone() };
    let kind = |kind| Qos { reliability: Some(kind), max_blocking_ns: Some(3), ..Qos::default() };
    assert_eq!(writer(asks(kind(Reliability::BestEffort))), abi::UNSUPPORTED);
    participant.writer(&asks(kind(Reliability::Reliable))).expect("what is there anyway");
    assert_eq!(reader(asks(Qos { deadline_ns: Some(1), ..Qos::default() })), abi::UNSUPPORTED);
}

#[test]
fn null_is_told_not_followed() {
    let table = driver().raw();
    // SAFETY: a driver made here looks before it leaps.
    unsafe {
        assert_eq!(table.writer_write.expect("entry")(ptr::null_mut(), 0, ptr::null(), 0), abi::BAD_ARGUMENT);
        assert_eq!(driver().last_error(), "`writer` is NULL");
        assert_eq!(table.reader_close.expect("entry")(ptr::null_mut()), abi::BAD_ARGUMENT);
        assert_eq!(table.participant_close.expect("entry")(ptr::null_mut()), abi::BAD_ARGUMENT);
        let mut out = ptr::null_mut();
        let open = table.participant_open.expect("entry");
        assert_eq!(open(ptr::null(), &raw mut out), abi::BAD_ARGUMENT);
        assert_eq!(driver().last_error(), "`config` is NULL");
    }
    let participant = driver().open(Open::default()).expect("open");
    let writer = participant.writer(&entity()).expect("a writer");
    // SAFETY: as above.
    unsafe {
        let write = table.writer_write.expect("entry");
        assert_eq!(write(writer.raw(), 0, ptr::null(), 1), abi::BAD_ARGUMENT);
        assert_eq!(write(writer.raw(), 0, ptr::null(), 0), abi::OK);
        assert_eq!(table.writer_matched.expect("entry")(writer.raw(), ptr::null_mut()), abi::BAD_ARGUMENT);
        assert_eq!(table.writer_qos.expect("entry")(writer.raw(), ptr::null_mut()), abi::BAD_ARGUMENT);
    }
}

#[test]
fn structs_of_another_size_are_read_and_written_as_far_as_they_go() {
    let table = driver().raw();
    // An older host: its struct ends before `interface`; what lies behind must not be looked at.
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
    };
    let open = table.participant_open.expect("entry");
    let mut out = ptr::null_mut();
    // SAFETY: the struct is valid up to its size.
    unsafe {
        assert_eq!(open(&raw const config, &raw mut out), abi::OK);
        assert_eq!(table.participant_close.expect("entry")(out), abi::OK);
        for (change, text) in [
            (abi::ParticipantConfig { struct_size: 0, ..config }, "`struct_size` of `config` is 0"),
            (abi::ParticipantConfig { domain: 0, ..config }, "domain 0; it is from 1 to 100"),
            (abi::ParticipantConfig { run_name: ptr::null(), ..config }, "`run_name` is NULL"),
            (abi::ParticipantConfig { run_name: c"../x".as_ptr(), ..config }, "the run name `../x` is not"),
            (abi::ParticipantConfig { transport: c"\xff".as_ptr(), ..config }, "`transport` is not UTF-8"),
        ] {
            out = ptr::dangling_mut();
            assert_eq!(open(&raw const change, &raw mut out), abi::BAD_ARGUMENT, "{text}");
            assert_eq!(out, ptr::dangling_mut(), "`out` is left untouched");
            assert!(driver().last_error().starts_with(text), "{}", driver().last_error());
        }
    }

    let participant = driver().open(Open::default()).expect("open");
    let writer = participant.writer(&entity()).expect("a writer");
    let mut counters =
        abi::Counters { struct_size: 16, reserved: 9, valid: 9, values: [9; abi::COUNTER_COUNT] };
    // SAFETY: the struct is valid.
    let status = unsafe { table.writer_counters.expect("entry")(writer.raw(), &raw mut counters) };
    assert_eq!((status, counters.struct_size), (abi::OK, 16));
    assert_eq!((counters.valid, counters.values[0]), (1 << abi::COUNTER_BYTES_SENT, 9));

    // A newer host: its struct is longer than ours.
    #[repr(C)]
    struct Longer(abi::Counters, [u64; 4]);
    let mut longer = Longer(abi::Counters { struct_size: size_of::<Longer>() as u32, ..counters }, [9; 4]);
    // SAFETY: the struct is valid.
    let status = unsafe { table.writer_counters.expect("entry")(writer.raw(), (&raw mut longer).cast()) };
    assert_eq!((status, longer.0.struct_size as usize), (abi::OK, size_of::<abi::Counters>()));
    assert_eq!((longer.0.valid, longer.1), (1 << abi::COUNTER_BYTES_SENT, [9; 4]));
}

#[test]
fn qos_comes_back_and_its_texts_live_on() {
    let participant = driver().open(Open::default()).expect("open");
    let qos = Qos { partitions: Some(vec!["a".to_owned(), "b*".to_owned()]), ..Qos::default() };
    let how = Entity { qos: Some(qos.clone()), ..entity() };
    let (writer, reader) =
        (participant.writer(&how).expect("a writer"), participant.reader(&how).expect("a reader"));
    assert_eq!(writer.qos(), Ok(qos.clone()));
    assert_eq!(reader.qos(), Ok(qos));
    assert_eq!((writer.matched(), reader.matched()), (Ok(7), Ok(7)));
    assert_eq!(reader.counters().get(abi::COUNTER_SAMPLES_LOST), None);
}

#[test]
fn loans_stay_where_they_are_and_are_checked() {
    let participant = driver().open(Open::default()).expect("open");
    let mut without = participant.writer(&entity()).expect("a writer");
    assert_eq!(failed(without.loan(1)).0, abi::BAD_ARGUMENT);
    let mut writer = participant.writer(&Entity { loans: true, ..entity() }).expect("a writer");
    assert_eq!(failed(writer.loan(65)), (abi::ERROR, "the driver lent less than was asked for".to_owned()));
    assert_eq!(failed(writer.loan(2000)).0, abi::TOO_LARGE);
    let loans: Vec<_> = (0..16).map(|_| writer.loan(64).expect("a loan")).collect();
    assert_eq!(failed(writer.loan(1)).0, abi::REFUSED);
    for loan in &loans {
        // SAFETY: 64 bytes were lent.
        unsafe { loan.write_bytes(2, 64) };
    }
    // SAFETY: a driver made with driver-kit knows its loans from other pointers.
    let publish = |writer: &mut testing::Writer, loan, size| unsafe { writer.publish(loan, size) };
    assert_eq!(failed(publish(&mut writer, loans[3], 64)).0, abi::REFUSED);
    // SAFETY: it was given back, refilled by the driver.
    assert_eq!(unsafe { loans[3].read() }, 3);
    assert_eq!(publish(&mut writer, loans[3], 64), Ok(()));
    assert_eq!(writer.counters().get(abi::COUNTER_BYTES_SENT), Some(64));
    assert_eq!(failed(publish(&mut writer, loans[3], 64)).1, "not a loan of this writer");
    assert_eq!(failed(publish(&mut writer, loans[4], 65)).1, "more is published than was lent");
    // SAFETY: as above.
    unsafe {
        assert_eq!(writer.discard(loans[5]), Ok(()));
        assert_eq!(failed(writer.discard(ptr::null_mut())).0, abi::BAD_ARGUMENT);
    }
    writer.close().expect("closed, with loans out");
}

#[test]
fn a_listener_hears_and_is_gone_after_close() {
    let participant = driver().open(Open::default()).expect("open");
    let (send, heard) = mpsc::channel();
    let reader = participant
        .listener(&entity(), move |payload| send.send(payload.to_vec()).expect("sent"))
        .expect("open");
    for index in 0..3 {
        assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(vec![index; 4]));
    }
    let mut reader = reader;
    assert_eq!(failed(reader.receive(0, 1, |_| {})).0, abi::BAD_ARGUMENT);
    reader.close().expect("closed");
    assert_eq!(heard.try_recv(), Err(mpsc::TryRecvError::Disconnected));
}

#[test]
fn tokens_come_back_within_the_sink() {
    static INTACT: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    unsafe extern "C" fn sink(context: *mut c_void, sample: *const abi::Sample) {
        let intact = driver().raw().reader_sample_intact.expect("entry");
        // SAFETY: the context is the reader, the sample is the driver's.
        INTACT.lock().expect("lock").push(unsafe { intact(context.cast(), sample) });
    }
    let participant = driver().open(Open::default()).expect("open");
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
    let participant = driver().open(Open::default()).expect("open");
    let mut writer = participant.writer(&Entity { loans: true, ..entity() }).expect("a writer");
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
