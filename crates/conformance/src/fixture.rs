//! Matched pair of writer and reader, in one process or in two.

use std::{
    cell::Cell,
    ops::Range,
    thread,
    time::{Duration, Instant},
};

use control::OpenOptions;
use driver_abi::FEATURE_LOCATORS;
use driver_host::{Driver, Participant, ParticipantConfig, TypeKind, WriteOutcome, Writer};
use experiment::{History, Policy, Qos, QosDuration, ReceiveMode, Reliability, Support, TransportInfo};

use crate::{
    CaseResult, Stop, broken,
    endpoint::{End, PairConfig, writer_config},
    inlet::Inlet,
    remote_reader::{Ask, RemoteReader, SpawnPeer},
    sample::numbered,
    values::Side,
};

/// Time limit for writer and reader to match.
const MATCH_PATIENCE: Duration = Duration::from_secs(15);
/// Time limit for a sample to arrive, and for a write to be accepted.
pub const TIME_LIMIT: Duration = Duration::from_secs(8);
/// Driver under test, with the parameters of a case.
pub struct Fixture<'a> {
    /// Driver under test.
    pub driver: &'a Driver,
    /// Transport and options with which the driver is opened.
    pub way: &'a OpenOptions,
    /// Part of the names of all topics and files.
    pub name: &'a str,
    /// DDS domain of all participants.
    pub domain: u32,
    topics: Cell<u32>,
    /// Starts the process of the reader; `None`: the reader is in this process.
    start: Option<&'a SpawnPeer<'a>>,
    /// Whether effects are observed that the driver does not declare.
    pub probes: bool,
}

/// Matched writer and reader.
pub struct Pair {
    /// Writer in this process.
    pub writer: Writer,
    /// Reader.
    pub inlet: Inlet,
}

/// Writers and readers of one topic, each writer matched with each reader.
pub struct Peers {
    /// Writers in this process.
    pub writers: Vec<Writer>,
    /// Readers.
    pub readers: Vec<Inlet>,
}

impl<'a> Fixture<'a> {
    /// Creates the fixture of a case.
    pub const fn new(
        driver: &'a Driver,
        way: &'a OpenOptions,
        name: &'a str,
        domain: u32,
        start: Option<&'a SpawnPeer<'a>>,
        probes: bool,
    ) -> Self {
        Self { driver, way, name, domain, topics: Cell::new(0), start, probes }
    }

    /// Returns the configuration of a participant over loopback.
    pub fn config(&self) -> ParticipantConfig {
        ParticipantConfig {
            domain: self.domain,
            run_name: self.name.to_owned(),
            interface: Some("lo".to_owned()),
            transport: self.way.transport.clone(),
            options: self.way.options.clone(),
            ..ParticipantConfig::default()
        }
    }

    /// Opens a participant over loopback.
    pub fn open(&self) -> Result<Participant, Stop> {
        Ok(self.driver.open(&self.config())?)
    }

    /// Returns an unused topic name of letters, digits and `_`: not every implementation accepts other characters.
    pub fn topic(&self) -> String {
        self.topics.set(self.topics.get() + 1);
        format!("{}_{}", self.name.replace('-', "_"), self.topics.get())
    }

    /// Returns the support of a policy by writers and readers together.
    pub fn support(&self, policy: Policy) -> Support {
        self.driver.description().support(policy)
    }

    /// Returns the support of a policy by one kind of endpoint.
    pub fn support_of(&self, side: Side, policy: Policy) -> Support {
        let [of_writers, of_readers] = self.driver.description().support_of_ends(policy);
        if side == Side::Writer { of_writers } else { of_readers }
    }

    /// Returns whether the driver can guarantee delivery.
    pub fn reliable(&self) -> bool {
        [Policy::Reliability, Policy::History].iter().all(|&policy| self.support(policy) == Support::Enforced)
    }

    /// Returns the history that late joiners receive, if a policy decides on it: all samples.
    pub fn service_history(&self) -> Option<History> {
        (self.support(Policy::DurabilityService) == Support::Enforced).then_some(History::KeepAll)
    }

    /// Returns the transport under test.
    pub fn transport(&self) -> &TransportInfo {
        let description = self.driver.description();
        description.transport(self.way.transport.as_deref()).unwrap_or(&description.transports[0])
    }

    /// Returns whether the transport under test is the first one of the driver.
    pub fn is_default_transport(&self) -> bool {
        self.transport().name == self.driver.description().transports[0].name
    }

    /// Returns the largest payload of the transport under test, in bytes.
    pub fn largest(&self) -> u64 {
        self.transport().max_payload_bytes
    }

    /// Returns whether the driver has a receive mode.
    pub fn receives_by(&self, mode: ReceiveMode) -> bool {
        self.driver.description().receive_modes.contains(&mode)
    }

    /// Returns the configuration of a pair for payloads up to that size, with the strongest delivery guarantee of the driver.
    pub fn pair_config(&self, max_payload_bytes: u64) -> PairConfig {
        let mut qos = Qos::default();
        if self.reliable() {
            qos.reliability = Some(Reliability::Reliable);
            qos.max_blocking_ns = Some(QosDuration::Ns(100_000_000));
            qos.history = Some(History::KeepAll);
        }
        let mode = self.driver.description().receive_modes[0];
        let mut pair_config = PairConfig {
            qos,
            mode,
            type_kind: TypeKind::Octets,
            max_payload_bytes,
            batch_bytes: 0,
            loans: false,
            content_filter: None,
        };
        if !self.driver.description().type_kinds.iter().any(|kind| kind == "octets") {
            pair_config.type_kind = TypeKind::Keyed;
        }
        pair_config
    }

    /// Opens a writer.
    pub fn writer(
        &self,
        participant: &Participant,
        topic: &str,
        pair_config: &PairConfig,
    ) -> Result<Writer, Stop> {
        Ok(participant.writer(&writer_config(topic, pair_config))?)
    }

    /// Opens a reader, in the second process if the case has one.
    pub fn inlet(
        &self,
        participant: &Participant,
        topic: &str,
        pair_config: &PairConfig,
    ) -> Result<Inlet, Stop> {
        if let Some(start) = self.start {
            return Ok(Inlet::Far(RemoteReader::open(start, &self.request(topic, pair_config))?));
        }
        Inlet::open(participant, topic, pair_config)
    }

    /// Returns the request that opens a reader in the second process.
    fn request(&self, topic: &str, pair_config: &PairConfig) -> Ask {
        Ask::Open {
            way: self.way.clone(),
            name: self.name.to_owned(),
            domain: self.domain,
            topic: topic.to_owned(),
            pair_config: Box::new(pair_config.clone()),
        }
    }

    /// Connects both endpoints if there is no discovery, and waits until they are matched.
    pub fn match_up(&self, writer: &dyn End, reader: &dyn End) -> Result<(), Stop> {
        self.connect(writer, reader)?;
        self.wait_matched(writer, 1, reader, 1)
    }

    /// Waits until a further reader is matched with the writer, which then has `all_readers`.
    pub fn match_further(&self, writer: &dyn End, all_readers: u32, reader: &dyn End) -> Result<(), Stop> {
        self.connect(writer, reader)?;
        self.wait_matched(writer, all_readers, reader, 1)
    }

    fn connect(&self, writer: &dyn End, reader: &dyn End) -> Result<(), Stop> {
        if self.driver.has(FEATURE_LOCATORS) {
            writer.connect(&reader.locator()?)?;
            reader.connect(&writer.locator()?)?;
        }
        Ok(())
    }

    fn wait_matched(
        &self,
        writer: &dyn End,
        all_readers: u32,
        reader: &dyn End,
        all_writers: u32,
    ) -> Result<(), Stop> {
        until(MATCH_PATIENCE, || {
            let (readers, writers) = (writer.matched()?, reader.matched()?);
            Ok(((readers, writers) == (all_readers, all_writers)).then_some(()).ok_or_else(|| {
                format!(
                    "no match within {} s: the writer is matched with {readers} of {all_readers} readers, the reader \
                     with {writers} of {all_writers} writers",
                    MATCH_PATIENCE.as_secs()
                )
            }))
        })
    }

    /// Creates writers and readers on a topic of their own, each writer matched with each reader.
    pub fn peers(
        &self,
        participant: &Participant,
        pair_config: &PairConfig,
        writers: usize,
        readers: usize,
    ) -> Result<Peers, Stop> {
        let topic = self.topic();
        let readers: Vec<_> =
            (0..readers).map(|_| self.inlet(participant, &topic, pair_config)).collect::<Result<_, _>>()?;
        let writers: Vec<_> =
            (0..writers).map(|_| self.writer(participant, &topic, pair_config)).collect::<Result<_, _>>()?;
        let pairs = || writers.iter().flat_map(|writer| readers.iter().map(move |reader| (writer, reader)));
        for (writer, reader) in pairs() {
            self.connect(&writer.monitor(), &*reader.end())?;
        }
        for (writer, reader) in pairs() {
            let (all_readers, all_writers) = (readers.len() as u32, writers.len() as u32);
            self.wait_matched(&writer.monitor(), all_readers, &*reader.end(), all_writers)?;
        }
        Ok(Peers { writers, readers })
    }

    /// Creates a matched pair on a topic of its own.
    pub fn pair(&self, participant: &Participant, pair_config: &PairConfig) -> Result<Pair, Stop> {
        self.pair_of((participant, pair_config), (participant, pair_config))
    }

    /// Creates a matched pair on a topic of its own, with the participant and configuration of writer and reader.
    pub fn pair_of(
        &self,
        writer: (&Participant, &PairConfig),
        reader: (&Participant, &PairConfig),
    ) -> Result<Pair, Stop> {
        let topic = self.topic();
        let inlet = self.inlet(reader.0, &topic, reader.1)?;
        let writer = self.writer(writer.0, &topic, writer.1)?;
        self.match_up(&writer.monitor(), &*inlet.end())?;
        Ok(Pair { writer, inlet })
    }

    /// Ends the case as not applicable unless delivery can be reliable.
    pub fn needs_reliable(&self) -> CaseResult {
        skip_if!(!self.reliable(), "reliable delivery is not declared as enforced");
        Ok(())
    }

    /// Ends the case as not applicable unless there is a type with a key.
    pub fn needs_keys(&self) -> CaseResult {
        let is_keyed = self.driver.description().type_kinds.iter().any(|kind| kind == "keyed");
        skip_if!(!is_keyed, "the driver declares no type with a key");
        Ok(())
    }

    /// Ends the case as not applicable if endpoints match because they are connected.
    pub fn needs_discovery(&self) -> CaseResult {
        let connects = self.driver.has(FEATURE_LOCATORS);
        skip_if!(connects, "without discovery, connected endpoints match");
        Ok(())
    }

    /// Returns how long a case waits for the next sample of those that it wrote: best effort may lose them.
    pub fn patience(&self) -> Duration {
        if self.reliable() { TIME_LIMIT } else { Duration::from_millis(100) }
    }
}

impl Peers {
    /// Closes all writers, then all readers.
    pub fn close(self) -> Result<(), Stop> {
        self.writers.into_iter().try_for_each(Writer::close)?;
        self.readers.into_iter().try_for_each(Inlet::close)
    }
}

impl Pair {
    /// Closes the writer, then the reader.
    pub fn close(self) -> Result<(), Stop> {
        self.writer.close()?;
        self.inlet.close()
    }
}

/// Repeats the call until it is accepted; fails with `what` after [`TIME_LIMIT`].
pub fn until_accepted(
    what: &str,
    mut call: impl FnMut() -> Result<WriteOutcome, driver_host::DriverError>,
) -> Result<(), Stop> {
    until_some(what, || Ok((call()? == WriteOutcome::Accepted).then_some(())))
}

/// Repeats the call until it returns a value; fails with `what` after [`TIME_LIMIT`].
pub fn until_some<T>(
    what: &str,
    mut call: impl FnMut() -> Result<Option<T>, driver_host::DriverError>,
) -> Result<T, Stop> {
    until(TIME_LIMIT, || Ok(call()?.ok_or_else(|| format!("{what} within {} s", TIME_LIMIT.as_secs()))))
}

/// Repeats the query of an endpoint until it returns a value; fails after [`MATCH_PATIENCE`].
pub fn until_matched<T>(what: &str, mut query: impl FnMut() -> Result<Option<T>, Stop>) -> Result<T, Stop> {
    let missing = || format!("no match of the {what} within {} s", MATCH_PATIENCE.as_secs());
    until(MATCH_PATIENCE, || Ok(query()?.ok_or_else(missing)))
}

/// Repeats the query until it returns a value; after the limit, fails with the text that it returns instead.
pub fn until<T>(
    limit: Duration,
    mut query: impl FnMut() -> Result<Result<T, String>, Stop>,
) -> Result<T, Stop> {
    let begin = Instant::now();
    loop {
        match query()? {
            Ok(found) => return Ok(found),
            Err(how) if begin.elapsed() > limit => return broken(how),
            Err(_) => thread::sleep(Duration::from_micros(100)),
        }
    }
}

/// Writes one sample, and retries until it is accepted.
pub fn write(writer: &Writer, key: u32, payload: &[u8]) -> Result<(), Stop> {
    until_accepted("a write was not accepted", || writer.write(key, payload))
}

/// Writes samples of this size with these numbers.
pub fn write_all(writer: &Writer, mut numbers: Range<u64>, size: usize) -> Result<(), Stop> {
    numbers.try_for_each(|number| write(writer, 0, &numbered(number, size)))
}

/// Writes up to this many samples: the first one until it is accepted, the others until one is not. Returns the number
/// of accepted ones: without a reader that takes them, a short queue may be full before.
pub fn write_until_full(writer: &Writer, samples: u64) -> Result<u64, Stop> {
    write(writer, 0, &numbered(0, 64))?;
    let mut written = 1;
    while written < samples && writer.write(0, &numbered(written, 64))? == WriteOutcome::Accepted {
        written += 1;
    }
    Ok(written)
}
