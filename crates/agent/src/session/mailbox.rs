//! Mailbox: messages that this agent exchanges with agents of other hosts over a topic, instead of a run.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read as _},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use control::{
    ChannelError, Configured, Exchange, Exchanged, Inbox, MAILBOX_TAG_BYTES, MAX_RECEIVED, MailboxMessage,
    OpenMailbox, Reply, Request,
};
use driver_host::{Driver, Participant, Reader, ReaderConfig, WriteOutcome, Writer, WriterConfig};
use experiment::{Durability, History, Policy, Qos, QosDuration, Reliability, Support};

use super::{
    FOR_EVER,
    endpoints::{Monitors, open_participant},
};
use crate::base::error::AgentError;

/// Longest wait of the driver for a message: the end of the mailbox is noticed after it at the latest.
const WAIT: Duration = Duration::from_millis(250);
/// Maximum time that a write may block: the middleware has no room while a peer does not acknowledge.
const MAX_BLOCKING: QosDuration = QosDuration::Ns(100_000_000);
/// Maximum number of messages that wait for a request. The rest stays in the middleware.
const MAX_QUEUED: usize = 4 * MAX_RECEIVED;
/// Maximum wait for the acknowledgment of the last messages, in ns.
const LINGER_NS: u64 = 2_000_000_000;

/// Random bytes before each message on the topic, which identify its agent.
type Tag = [u8; MAILBOX_TAG_BYTES];

/// Open mailbox.
pub struct Mailbox {
    participant: Participant,
    writer: Writer,
    reader: Reader,
    tag: Tag,
    max_message_bytes: usize,
    /// Whether the driver can wait for acknowledgments.
    waits_for_acks: bool,
}

impl Mailbox {
    /// Opens the participant, the writer and the reader. Returns their effective configuration, too.
    pub fn open(driver: &Driver, request: &OpenMailbox) -> Result<(Self, Configured), AgentError> {
        check_driver(driver)?;
        let participant = open_participant(driver, request.domain, &request.run_name, &request.participant)?;
        let max_payload_bytes = u64::from(request.max_message_bytes) + MAILBOX_TAG_BYTES as u64;
        let (topic, service) = (&request.topic, driver.description().support(Policy::DurabilityService));
        let qos = mailbox_qos(service != Support::Unsupported);
        let writer = participant.writer(&WriterConfig {
            topic: topic.clone(),
            qos: qos.clone().of_writers(),
            max_payload_bytes,
            ..WriterConfig::default()
        })?;
        let reader = participant.reader(&ReaderConfig {
            topic: topic.clone(),
            qos: qos.of_readers(),
            max_payload_bytes,
            ..ReaderConfig::default()
        })?;
        let monitors = Monitors { writers: vec![writer.monitor()], readers: vec![reader.monitor()] };
        let configured = monitors.configured(driver, &participant)?;
        for (entity, effective) in &configured.effective_qos {
            check_qos(driver, entity, effective)?;
        }
        let mailbox = Self {
            participant,
            writer,
            reader,
            tag: random_tag().map_err(ChannelError::Broken)?,
            max_message_bytes: request.max_message_bytes as usize,
            waits_for_acks: driver.has(driver_abi::FEATURE_WAIT_ACKED),
        };
        Ok((mailbox, configured))
    }

    /// Answers requests until `exit`, and closes the entities.
    pub fn serve(self, orders: &Inbox<Request>, replies: &mut File) -> Result<(), AgentError> {
        let Self { participant, writer, reader, tag, max_message_bytes, waits_for_acks } = self;
        let shared = Shared { state: Mutex::new(State::new(replies)), changed: Condvar::new() };
        let poster = Poster { writer: &writer, tag, max_message_bytes, shared: &shared };
        let reader = thread::scope(|scope| {
            let receiving = scope.spawn(|| shared.receive_all(reader, tag, max_message_bytes));
            let answered = poster.answer_all(orders);
            shared.lock().closing = true;
            shared.changed.notify_all();
            let reader = receiving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            answered.map(|()| reader)
        })?;
        if waits_for_acks {
            // A peer that has gone acknowledges nothing: the rest of it is lost.
            let _ = writer.wait_acked(LINGER_NS)?;
        }
        writer.close()?;
        reader.close()?;
        Ok(participant.close()?)
    }
}

/// Returns the QoS of both endpoints: reliable, transient-local and keep-all, without limits.
fn mailbox_qos(has_durability_service: bool) -> Qos {
    Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(MAX_BLOCKING),
        history: Some(History::KeepAll),
        max_samples: Some(-1),
        max_instances: Some(-1),
        max_samples_per_instance: Some(-1),
        durability: Some(Durability::TransientLocal),
        service_history: has_durability_service.then_some(History::KeepAll),
        ..Qos::default()
    }
}

/// Checks that the driver has discovery, and delivers everything to readers that join later.
fn check_driver(driver: &Driver) -> Result<(), AgentError> {
    let description = driver.description();
    if driver.has(driver_abi::FEATURE_LOCATORS) {
        return Err(cannot_carry(driver, "it has no discovery".to_owned()));
    }
    for policy in [Policy::Reliability, Policy::History, Policy::Durability] {
        if description.support(policy) != Support::Enforced {
            let note = description.policies.get(&policy).and_then(|state| state.note.as_deref());
            let note = note.map(|note| format!(": {note}")).unwrap_or_default();
            return Err(cannot_carry(driver, format!("it does not enforce the policy `{policy}`{note}")));
        }
    }
    Ok(())
}

/// Checks that the effective QoS is that which was requested.
fn check_qos(driver: &Driver, entity: &str, effective: &Qos) -> Result<(), AgentError> {
    let needed = Qos {
        reliability: Some(Reliability::Reliable),
        history: Some(History::KeepAll),
        durability: Some(Durability::TransientLocal),
        ..Qos::default()
    };
    match needed.differences(effective).first() {
        None => Ok(()),
        Some((policy, requested, found)) => Err(cannot_carry(
            driver,
            format!("the policy `{policy}` of its {entity} is {found}, not {requested}"),
        )),
    }
}

fn cannot_carry(driver: &Driver, reason: String) -> AgentError {
    AgentError::NoMailbox { driver: driver.description().name.clone(), reason }
}

fn random_tag() -> io::Result<Tag> {
    let mut tag = Tag::default();
    File::open("/dev/urandom")?.read_exact(&mut tag)?;
    Ok(tag)
}

/// Messages that have arrived, and the request that waits for them. The thread that ends the wait sends the reply.
struct Shared<'a> {
    state: Mutex<State<'a>>,
    /// Signalled when messages are taken from the queue, and at the end.
    changed: Condvar,
}

struct State<'a> {
    replies: &'a mut File,
    received: VecDeque<Vec<u8>>,
    /// Number of samples that are no messages.
    ignored: u64,
    /// Request that waits: the number of messages that it posted, and of matched readers.
    waiting: Option<(u32, u32)>,
    failure: Option<AgentError>,
    closing: bool,
}

impl<'a> State<'a> {
    fn new(replies: &'a mut File) -> Self {
        Self { replies, received: VecDeque::new(), ignored: 0, waiting: None, failure: None, closing: false }
    }

    /// Answers the waiting request, if there is one.
    fn answer(&mut self) -> Result<(), AgentError> {
        let Some((posted, matched)) = self.waiting.take() else { return Ok(()) };
        let count = self.received.len().min(MAX_RECEIVED);
        let received = self.received.drain(..count).map(MailboxMessage).collect();
        let exchanged = Exchanged { posted, received, matched, ignored: self.ignored };
        Ok(control::send(self.replies, &Reply::Exchanged(exchanged))?)
    }
}

impl<'a> Shared<'a> {
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives messages of other agents until the mailbox closes, and returns the reader.
    fn receive_all(&self, mut reader: Reader, own: Tag, max_message_bytes: usize) -> Reader {
        loop {
            let (mut arrived, mut ignored) = (Vec::new(), 0);
            let received = reader.receive(WAIT.as_nanos() as u64, MAX_RECEIVED as u32, |sample| match sample
                .payload
                .split_first_chunk()
            {
                Some((tag, _)) if *tag == own => {}
                Some((_, message)) if message.len() <= max_message_bytes => {
                    let message = message.to_vec();
                    if sample.is_intact() { arrived.push(message) } else { ignored += 1 }
                }
                _ => ignored += 1,
            });
            let mut state = self.lock();
            let answered = received.map_err(AgentError::from).and_then(|_| {
                state.received.extend(arrived);
                state.ignored += ignored;
                if state.received.is_empty() { Ok(()) } else { state.answer() }
            });
            if let Err(error) = answered {
                state.failure.get_or_insert(error);
                return reader;
            }
            self.changed.notify_all();
            while state.received.len() >= MAX_QUEUED && !state.closing {
                let waited = self.changed.wait_timeout(state, WAIT);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.closing {
                return reader;
            }
        }
    }
}

/// Side of the requests: posts messages.
struct Poster<'a, 's> {
    writer: &'a Writer,
    tag: Tag,
    max_message_bytes: usize,
    shared: &'a Shared<'s>,
}

impl Poster<'_, '_> {
    /// Answers requests until `exit`.
    fn answer_all(&self, orders: &Inbox<Request>) -> Result<(), AgentError> {
        let mut deadline: Option<Instant> = None;
        loop {
            let limit =
                deadline.map_or(FOR_EVER, |deadline| deadline.saturating_duration_since(Instant::now()));
            let order = match orders.receive(limit) {
                Ok(order) => Some(order),
                Err(ChannelError::TimedOut(_)) => None,
                Err(error) => return Err(error.into()),
            };
            let mut state = self.shared.lock();
            if let Some(failure) = state.failure.take() {
                return Err(failure);
            }
            state.answer()?;
            drop(state);
            self.shared.changed.notify_all();
            deadline = match order {
                None => None,
                Some(Request::Exit) => return Ok(()),
                Some(Request::Exchange(exchange)) => {
                    let began = Instant::now();
                    let posted = self.post(&exchange)?;
                    let matched = self.writer.monitor().matched()?;
                    let mut state = self.shared.lock();
                    // Its own reader is one of them.
                    state.waiting = Some((posted, matched.saturating_sub(1)));
                    if !state.received.is_empty() || exchange.wait_ns == 0 {
                        state.answer()?;
                        self.shared.changed.notify_all();
                    }
                    state.waiting.map(|_| began + Duration::from_nanos(exchange.wait_ns).min(FOR_EVER))
                }
                Some(other) => return Err(AgentError::OutOfTurn(other.phase())),
            };
        }
    }

    /// Posts messages up to the first one that the middleware does not accept. Returns the number of those before it.
    fn post(&self, exchange: &Exchange) -> Result<u32, AgentError> {
        let mut payload = Vec::new();
        for (posted, MailboxMessage(message)) in (0..).zip(&exchange.post) {
            if message.len() > self.max_message_bytes {
                return Err(AgentError::MessageTooLong { bytes: message.len(), max: self.max_message_bytes });
            }
            payload.clear();
            payload.extend(self.tag);
            payload.extend(message);
            if self.writer.write(0, &payload)? != WriteOutcome::Accepted {
                return Ok(posted);
            }
        }
        Ok(exchange.post.len() as u32)
    }
}
