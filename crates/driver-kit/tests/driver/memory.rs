//! In-memory driver with faults on request.

use std::{
    ffi::CStr,
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use driver_kit::*;
use driver_testing::{EndpointSpec, ParticipantSpec};

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
            variables: &[],
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
    fn matched(&self) -> Result<MatchState> {
        Ok(MatchState { count: 7, changed_ns: Some(70) })
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

/// Loan with inline storage: its bytes move with it.
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

/// Returns the C functions.
pub fn table() -> &'static abi::Driver {
    // SAFETY: the entry returns a table that is never freed.
    unsafe { &*ddsmark_driver_entry() }
}

/// Returns the text of the last error on this thread.
pub fn last_error() -> String {
    // SAFETY: the driver returns a C string.
    let text = unsafe { CStr::from_ptr(table().last_error.expect("entry")()) };
    text.to_str().expect("UTF-8").to_owned()
}

/// Returns the driver above, as its host uses it.
pub fn driver() -> &'static driver_testing::Driver {
    static DRIVER: OnceLock<driver_testing::Driver> = OnceLock::new();
    unsafe extern "C" fn entry() -> *const abi::Driver {
        ddsmark_driver_entry()
    }
    // SAFETY: the driver above.
    DRIVER.get_or_init(|| unsafe { driver_testing::own_driver(entry) })
}

/// Opens a participant.
pub fn open(spec: ParticipantSpec<'_>) -> driver_testing::Outcome<driver_testing::Participant> {
    driver_testing::open(driver(), spec)
}

pub fn entity() -> EndpointSpec {
    EndpointSpec { max_payload_bytes: 100, ..EndpointSpec::default() }
}

/// Open writer with loans, without the checks of a host.
pub struct RawWriter {
    pub participant: *mut abi::Participant,
    pub writer: *mut abi::Writer,
}

impl RawWriter {
    pub fn open() -> Self {
        Self::open_with(|_| ()).expect("a writer")
    }

    /// Opens a writer with a change of its configuration. Returns the status of the driver if it fails.
    pub fn open_with(change: impl FnOnce(&mut abi::WriterConfig)) -> Result<Self, abi::Status> {
        let mut raw = Self { participant: ptr::null_mut(), writer: ptr::null_mut() };
        // SAFETY: the functions of the driver above get all that the contract requires; NULL and 0 are values of the rest.
        unsafe {
            let config = abi::ParticipantConfig {
                struct_size: size_of::<abi::ParticipantConfig>() as u32,
                run_name: c"raw".as_ptr(),
                ..std::mem::zeroed()
            };
            let open = table().participant_open.expect("entry");
            assert_eq!(open(&raw const config, &raw mut raw.participant), abi::OK);
            let mut config = abi::WriterConfig {
                struct_size: size_of::<abi::WriterConfig>() as u32,
                topic: c"Topic".as_ptr(),
                max_payload_bytes: 100,
                loans: 1,
                ..std::mem::zeroed()
            };
            change(&mut config);
            match table().writer_open.expect("entry")(raw.participant, &raw const config, &raw mut raw.writer)
            {
                abi::OK => Ok(raw),
                status => Err(status),
            }
        }
    }
}

impl Drop for RawWriter {
    fn drop(&mut self) {
        // SAFETY: both are open, and closed once; the driver rejects NULL.
        unsafe {
            table().writer_close.expect("entry")(self.writer);
            table().participant_close.expect("entry")(self.participant);
        }
    }
}
