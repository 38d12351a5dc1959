//! Mailbox over a reliable, transient-local, keep-all topic of a middleware. An agent of its own has the participant, so that
//! the measured processes do not.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use control::{Exchanged, MailboxMessage, OpenMailbox, PROTOCOL, Reply, Request};
use experiment::{ParticipantSpec, Variables};
use host::{Agent, AgentCommand, AgentLog, ChannelEnd, DriverFile, LocalSite, Site as _};

use super::{
    MAX_SAMPLE_BYTES, Mailbox, Waker, check_length, closed,
    exchange_queue::{ExchangeQueue, WAIT, invalid},
};
use crate::error::RendezvousError;

/// Topic of control samples. No other topic of ddsmark has this name.
pub const CONTROL_TOPIC: &str = "ddsmark_perftest_control";

/// Maximum time for a reply, beyond the wait: the middleware may block each write for 100 ms.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);
/// Interval in which a mailbox that closes looks whether all is sent.
const LOOK: Duration = Duration::from_millis(20);
/// Maximum time for the exit of an agent that is dropped or has ended.
const END: Duration = Duration::from_secs(2);

/// Parameters of a mailbox over a topic.
#[derive(Clone, Debug)]
pub struct AgentMailboxSpec {
    /// Driver of the middleware.
    pub driver: DriverFile,
    /// DDS domain.
    pub domain: u32,
    /// Participant: transport, interface, peers and options.
    pub participant: ParticipantSpec,
    /// Maximum time to load the driver, and to open the participant.
    pub limit: Duration,
}

/// Mailbox over a topic.
pub struct AgentMailbox {
    site: LocalSite,
    /// Name of everything that the agent creates.
    name: String,
    agent: Box<dyn Agent>,
    events: Receiver<Event>,
    waker: Waker,
    woken: Arc<AtomicBool>,
    /// Transport of the participant, as the middleware says.
    transport: Option<String>,
    queue: ExchangeQueue,
    received: VecDeque<Vec<u8>>,
    matched: u32,
    ignored: u64,
    closed: bool,
}

enum Event {
    Reply(Result<Box<Reply>, ChannelEnd>),
    Wake,
}

impl AgentMailbox {
    /// Starts an agent and opens the topic. The agent ends no later than the calling thread.
    ///
    /// # Errors
    /// Returns an error if the agent cannot be started, or if the topic cannot be reliable, transient-local and keep-all.
    pub fn open(site: &LocalSite, spec: &AgentMailboxSpec) -> Result<Self, RendezvousError> {
        let (events, agent) = Self::launch(site, spec)?;
        let (sender, events) = events;
        let woken = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&woken);
        let waker = Waker::new(move || {
            if !set.swap(true, Ordering::AcqRel) {
                // Without a receiver, the mailbox is gone.
                let _ = sender.send(Event::Wake);
            }
        });
        let mut mailbox = Self {
            site: site.clone(),
            name: unique_name(site),
            agent,
            events,
            waker,
            woken,
            transport: None,
            queue: ExchangeQueue::default(),
            received: VecDeque::new(),
            matched: 0,
            ignored: 0,
            closed: false,
        };
        mailbox.configure(spec)?;
        Ok(mailbox)
    }

    #[expect(clippy::type_complexity, reason = "both ends of the channel, used once")]
    fn launch(
        site: &LocalSite,
        spec: &AgentMailboxSpec,
    ) -> Result<((Sender<Event>, Receiver<Event>), Box<dyn Agent>), RendezvousError> {
        let (sender, events) = channel();
        let replies = sender.clone();
        let sink = Box::new(move |_, reply| {
            // Without a receiver, the mailbox is gone.
            let _ = replies.send(Event::Reply(reply));
        });
        let (driver, variables) = (spec.driver.clone(), Variables::new());
        let command = AgentCommand { driver, variables, padding_bytes: 0, channels: 1 };
        let launched = AgentLog::in_memory().and_then(|log| site.launch(&command, log, sink));
        let agent = launched.map_err(|error| {
            let text = format!("cannot start the agent of the control topic: {error}");
            RendezvousError::with(text, error.hint())
        })?;
        Ok(((sender, events), agent))
    }

    /// Waits for the hello, and opens the topic.
    fn configure(&mut self, spec: &AgentMailboxSpec) -> Result<(), RendezvousError> {
        match self.reply("hello", spec.limit)? {
            Reply::Hello(hello) if hello.protocol == PROTOCOL => {}
            Reply::Hello(hello) => {
                let theirs = hello.protocol;
                let error = format!("version {theirs} of the control channel, not {PROTOCOL}");
                return Err(invalid(&error));
            }
            other => return Err(unexpected(&other)),
        }
        let request = Request::OpenMailbox(Box::new(OpenMailbox {
            domain: spec.domain,
            run_name: self.name.clone(),
            participant: spec.participant.clone(),
            topic: CONTROL_TOPIC.to_owned(),
            max_message_bytes: MAX_SAMPLE_BYTES as u32,
        }));
        self.send(&request)?;
        match self.reply(request.phase(), spec.limit)? {
            Reply::MailboxOpened(configured) => {
                self.transport =
                    configured.settings.get("participant").and_then(|own| own.get("transport")).cloned();
                Ok(())
            }
            other => Err(unexpected(&other)),
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), RendezvousError> {
        match self.agent.send(0, request) {
            // The end of the channel carries the cause.
            Ok(()) | Err(ChannelEnd::Gone(_)) => Ok(()),
            Err(error) => Err(invalid(&error)),
        }
    }

    /// Waits for one reply.
    fn reply(&mut self, request: &'static str, limit: Duration) -> Result<Reply, RendezvousError> {
        let deadline = Instant::now() + limit;
        loop {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::Reply(reply)) => return self.check(reply),
                Ok(Event::Wake) => self.woken.store(false, Ordering::Release),
                Err(_) => return Err(no_answer(request, limit)),
            }
        }
    }

    /// Returns the reply, or why there is none.
    fn check(&mut self, reply: Result<Box<Reply>, ChannelEnd>) -> Result<Reply, RendezvousError> {
        match reply.map(|reply| *reply) {
            Ok(Reply::Failed { error, hint, refused }) => {
                let text = format!("the control topic cannot be used: {error}");
                let mut failed = RendezvousError::with(text, hint);
                failed.refused = refused.then_some(error);
                Err(failed)
            }
            Ok(reply) => Ok(reply),
            Err(ChannelEnd::Invalid(error)) => Err(invalid(&error)),
            Err(ChannelEnd::Gone(_) | ChannelEnd::Lost(_)) => {
                let exit = self.agent.end(END);
                let lines = self.agent.last_log_lines();
                let lines = if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" / ")) };
                Err(RendezvousError::with(format!("the agent of the control topic {exit}{lines}"), None))
            }
        }
    }

    /// Sends the samples that wait, and asks for samples of others.
    fn ask(&mut self) -> Result<(), RendezvousError> {
        for exchange in self.queue.requests(Instant::now()) {
            self.send(&Request::Exchange(exchange))?;
        }
        Ok(())
    }

    /// Processes a reply to the oldest request.
    fn exchanged(&mut self, exchanged: Exchanged) -> Result<(), RendezvousError> {
        self.queue.replied(Instant::now(), &exchanged)?;
        (self.matched, self.ignored) = (exchanged.matched, exchanged.ignored);
        self.received.extend(exchanged.received.into_iter().map(|MailboxMessage(bytes)| bytes));
        Ok(())
    }

    fn check_answers(&self) -> Result<(), RendezvousError> {
        match self.queue.oldest() {
            Some(since) if since.elapsed() > WAIT + ANSWER_LIMIT => Err(no_answer("exchange", ANSWER_LIMIT)),
            _ => Ok(()),
        }
    }
}

impl Mailbox for AgentMailbox {
    fn post(&mut self, sample: &[u8]) -> Result<(), RendezvousError> {
        if self.closed {
            return Err(closed());
        }
        check_length(sample)?;
        self.queue.push(sample)?;
        self.ask()
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>, RendezvousError> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(sample) = self.received.pop_front() {
                return Ok(Some(sample));
            }
            if self.closed {
                return Err(closed());
            }
            self.ask()?;
            self.check_answers()?;
            let now = Instant::now();
            let until = self.queue.retry_at(now).map_or(deadline, |at| at.min(deadline));
            match self.events.recv_timeout(until.saturating_duration_since(now)) {
                Ok(Event::Reply(reply)) => match self.check(reply)? {
                    Reply::Exchanged(exchanged) => self.exchanged(exchanged)?,
                    other => return Err(unexpected(&other)),
                },
                Ok(Event::Wake) => {
                    self.woken.store(false, Ordering::Release);
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) if until < deadline => {}
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }

    fn diagnosis(&self) -> Vec<String> {
        let over = self.transport.as_ref().map(|transport| format!(" over {transport}")).unwrap_or_default();
        vec![format!("the control topic{over} has {} other readers", self.matched)]
    }

    fn close(&mut self, limit: Duration) -> Result<(), RendezvousError> {
        let deadline = Instant::now() + limit;
        // What waits is sent first.
        while !self.closed && self.queue.has_samples() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            // A sample that arrives now has no receiver.
            self.receive(left.min(LOOK))?;
        }
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        self.send(&Request::Exit)?;
        let exit = Request::Exit.phase();
        loop {
            match self.reply(exit, deadline.saturating_duration_since(Instant::now()))? {
                Reply::Bye => break,
                Reply::Exchanged(_) => {}
                other => return Err(unexpected(&other)),
            }
        }
        self.agent.end(END);
        Ok(())
    }
}

impl Drop for AgentMailbox {
    fn drop(&mut self) {
        self.agent.hang_up();
        self.agent.end(Duration::ZERO);
        self.site.clean(&self.name);
    }
}

/// Returns a name of a mailbox that is unique on this host, and names its owner.
fn unique_name(site: &LocalSite) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let [prefix, _] = site.owner().prefixes();
    format!("{prefix}-mailbox-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn unexpected(reply: &Reply) -> RendezvousError {
    invalid(&format_args!("an unexpected reply `{}`", reply.phase()))
}

fn no_answer(request: &str, limit: Duration) -> RendezvousError {
    let limit = limit.as_secs();
    RendezvousError::new(
        format!("the agent of the control topic did not answer `{request}` within {limit} s"),
        "a call of the driver hangs, or the host is too busy: check it with `top`",
    )
}
