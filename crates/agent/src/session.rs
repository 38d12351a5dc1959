//! Answers the runner's orders, and plays the role in between.

use std::{io::Write, os::fd::OwnedFd, time::Duration};

use control::{
    ChannelError, Configure, Configured, Drain, Inbox, Measured, Order, PROTOCOL, Pinged, Ponged,
    ReaderReport, Reply, Report, Role as RoleName, Written,
};
use driver_abi::{FEATURE_ECHO_IN_LISTENER, FEATURE_WAIT_ACKED};
use driver_host::{Driver, DriverError, LoadError, Participant};
use experiment::ReceiveMode;
use results::WindowCounts;

use crate::{
    check,
    clock::now_ns,
    endpoints::{Monitors, open_participant, pin, reader_config, writer_config},
    incoming::{Identity, Tally},
    meters::Meters,
    payload::Payloads,
    pinger::{self, Echoes, PingerRole},
    ponger::{self, Echoing, HandingOver, Pings, PongerRole},
    reader::{self, ReaderRole},
    writer::{WRITER, WriterRole},
};

/// How long a serving role serves before it looks for an order.
const SLICE: Duration = Duration::from_millis(2);
/// A wait without a limit of its own: the channel's end ends the process.
const FOR_EVER: Duration = Duration::from_secs(86_400);

/// What a role does in each phase. Serving roles also serve while no order comes.
pub trait Role {
    /// Serves for about so long, or until something is to be said.
    ///
    /// # Errors
    /// The run cannot go on.
    fn serve(&mut self, slice: Duration) -> Result<(), AgentError>;
    /// Traffic that is not recorded.
    ///
    /// # Errors
    /// The run cannot go on.
    fn warm_up(&mut self, duration_ns: u64) -> Result<(), AgentError>;
    /// Traffic that is recorded.
    ///
    /// # Errors
    /// The run cannot go on.
    fn measure(&mut self, duration_ns: u64) -> Result<Measured, AgentError>;
    /// Brings what is under way to an end. False: not all of it, within the time.
    ///
    /// # Errors
    /// The run cannot go on.
    fn drain(&mut self, drain: &Drain) -> Result<bool, AgentError>;
    /// What was recorded.
    ///
    /// # Errors
    /// The run cannot go on.
    fn report(&mut self) -> Result<Part, AgentError>;
    /// Closes writer and reader.
    ///
    /// # Errors
    /// In the driver's words.
    fn close(&mut self) -> Result<(), AgentError>;
}

/// A role's part of the report.
#[derive(Debug)]
#[allow(missing_docs, reason = "as in the control messages")]
pub enum Part {
    Writer(Written),
    Reader(ReaderReport),
    Pinger(Pinged),
    Ponger(Ponged),
}

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The driver cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The runner is gone.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Nobody is there.
    #[error("{}", not_matched(*readers, *writers, *expected, *limit))]
    NotMatched {
        /// Readers that the writer is matched with.
        readers: Option<u32>,
        /// Writers that the reader is matched with.
        writers: Option<u32>,
        /// How many of each were to be.
        expected: u32,
        /// For how long was waited.
        limit: Duration,
    },
    /// Cores that cannot be had.
    #[error("cannot run on core {cpu}: {error}")]
    Pin {
        /// The core.
        cpu: u32,
        /// Why.
        error: nix::errno::Errno,
    },
    /// A batch that never leaves.
    #[error("the batch could not be flushed: there was no room for ten seconds")]
    CannotFlush,
    /// An order that makes no sense now.
    #[error("the order `{0}` came out of turn")]
    OutOfTurn(&'static str),
    /// A case of the contract that there is not.
    #[error("there is no case `{0}`")]
    NoCase(String),
    /// The entities are closed.
    #[error("the entities of this run are closed already")]
    Closed,
}

fn not_matched(readers: Option<u32>, writers: Option<u32>, expected: u32, limit: Duration) -> String {
    let part = |what: &str, whom: &str, count: Option<u32>| {
        count
            .filter(|count| *count < expected)
            .map(|count| format!("the {what} found {count} of {expected} {whom}"))
    };
    let parts: Vec<_> = [part("writer", "readers", readers), part("reader", "writers", writers)]
        .into_iter()
        .flatten()
        .collect();
    format!("no match: {} within {} s", parts.join(" and "), limit.as_secs_f64())
}

impl AgentError {
    /// The next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Load(error) => Some(error.hint()),
            Self::Driver(error) => error.hint.clone(),
            Self::NotMatched { .. } => Some(
                "check that both ends use the same interface and transport, and that no firewall is between them; \
                 `--match-timeout` gives discovery more time"
                    .to_owned(),
            ),
            Self::Pin { .. } => Some("`nproc` and `taskset -p $$` show which cores may be used; see `--pin`".to_owned()),
            Self::NoCase(_) => Some("use the agent that was built with this ddsmark".to_owned()),
            Self::CannotFlush | Self::Channel(_) | Self::OutOfTurn(_) | Self::Closed => None,
        }
    }
}

/// One run: a driver, a role, and the orders of a runner.
pub struct Session<W> {
    driver: Driver,
    orders: Inbox<Order>,
    replies: W,
}

/// What is open between `configure` and `exit`.
struct Open {
    participant: Participant,
    monitors: Monitors,
    role: Box<dyn Role>,
    drives: bool,
    interface: String,
    begin: Option<Meters>,
    end: Option<Meters>,
}

impl<W: Write> Session<W> {
    /// Says hello.
    ///
    /// # Errors
    /// The runner is gone.
    pub fn begin(driver: Driver, orders: OwnedFd, mut replies: W) -> Result<Self, AgentError> {
        let orders = Inbox::start(std::fs::File::from(orders), crate::end_at_once);
        let driver_description = Box::new(driver.description().clone());
        let hello = Reply::Hello { protocol: PROTOCOL, pid: std::process::id(), driver: driver_description };
        control::send(&mut replies, &hello)?;
        Ok(Self { driver, orders, replies })
    }

    /// Answers orders until the last.
    ///
    /// # Errors
    /// The run cannot go on; the runner has been told.
    pub fn run(mut self) -> Result<(), AgentError> {
        let outcome = self.answer_all();
        if let Err(error) = &outcome {
            let failed = Reply::Failed { error: error.to_string(), hint: error.hint() };
            // the runner may be gone; its own end of the channel tells it then
            let _ = control::send(&mut self.replies, &failed);
        }
        outcome
    }

    fn answer_all(&mut self) -> Result<(), AgentError> {
        let mut open = match self.orders.receive(FOR_EVER)? {
            Order::Configure(configure) => {
                let (open, configured) = self.configure(&configure)?;
                control::send(&mut self.replies, &Reply::Configured(Box::new(configured)))?;
                open
            }
            Order::Exit => return Ok(control::send(&mut self.replies, &Reply::Bye)?),
            order @ (Order::Cases | Order::Check { .. }) => return self.try_cases(order),
            order => return Err(AgentError::OutOfTurn(order.phase())),
        };
        loop {
            let order = self.next_order(&mut open)?;
            let last = order == Order::Exit;
            let reply = if last { close(&mut open).map(|()| Reply::Bye) } else { answer(&mut open, order) }?;
            if last {
                open.monitors = Monitors::default();
                open.participant.close()?;
                return Ok(control::send(&mut self.replies, &reply)?);
            }
            control::send(&mut self.replies, &reply)?;
        }
    }

    /// Names and tries cases of the contract, from this order until the last.
    fn try_cases(&mut self, mut order: Order) -> Result<(), AgentError> {
        loop {
            let reply = match &order {
                Order::Cases => Reply::Cases { cases: check::cases() },
                Order::Check { case, name, domain } => {
                    Reply::Checked(check::check(&self.driver, case, name, *domain)?)
                }
                Order::Exit => Reply::Bye,
                order => return Err(AgentError::OutOfTurn(order.phase())),
            };
            control::send(&mut self.replies, &reply)?;
            if order == Order::Exit {
                return Ok(());
            }
            order = self.orders.receive(FOR_EVER)?;
        }
    }

    fn next_order(&self, open: &mut Open) -> Result<Order, AgentError> {
        if open.drives {
            return Ok(self.orders.receive(FOR_EVER)?);
        }
        loop {
            match self.orders.receive(Duration::ZERO) {
                Err(ChannelError::TimedOut(_)) => open.role.serve(SLICE)?,
                order => return Ok(order?),
            }
        }
    }

    fn configure(&self, configure: &Configure) -> Result<(Open, Configured), AgentError> {
        if let Some(cpus) = &configure.cpus {
            pin(cpus)?;
        }
        let participant = open_participant(&self.driver, configure)?;
        let (role, monitors) = open_role(&self.driver, configure, &participant)?;
        let configured = monitors.configured(&self.driver, &participant)?;
        let open = Open {
            participant,
            monitors,
            role,
            drives: configure.role.drives(),
            interface: configure.factors.interface.clone(),
            begin: None,
            end: None,
        };
        Ok((open, configured))
    }
}

fn answer(open: &mut Open, order: Order) -> Result<Reply, AgentError> {
    Ok(match order {
        Order::Match(order) => {
            Reply::Matched { waited_ns: open.monitors.wait_matched(&order)?.as_nanos() as u64 }
        }
        Order::WarmUp { duration_ns } => {
            open.role.warm_up(duration_ns)?;
            Reply::WarmedUp
        }
        Order::Measure { duration_ns, .. } => {
            open.begin = Some(Meters::read(&open.interface));
            let measured = open.role.measure(duration_ns)?;
            if open.drives {
                open.end = Some(Meters::read(&open.interface));
            }
            Reply::Measured(measured)
        }
        Order::Drain(drain) => {
            let complete = open.role.drain(&drain)?;
            if !open.drives {
                open.end = Some(Meters::read(&open.interface));
            }
            Reply::Drained { complete }
        }
        Order::Report => Reply::Report(Box::new(report(open)?)),
        order @ (Order::Configure(_) | Order::Exit | Order::Cases | Order::Check { .. }) => {
            return Err(AgentError::OutOfTurn(order.phase()));
        }
    })
}

fn report(open: &mut Open) -> Result<Report, AgentError> {
    let (Some(begin), Some(end)) = (&open.begin, &open.end) else {
        return Err(AgentError::OutOfTurn("report"));
    };
    let (usage, sockets, interface) = begin.until(end);
    let counters = open.monitors.counters()?;
    let mut report = Report {
        usage,
        sockets,
        interface,
        counters,
        writer: None,
        reader: None,
        pinger: None,
        ponger: None,
        paced_writer: None,
        paced_reader: None,
    };
    match open.role.report()? {
        Part::Writer(part) => report.writer = Some(part),
        Part::Reader(part) => report.reader = Some(part),
        Part::Pinger(part) => report.pinger = Some(part),
        Part::Ponger(part) => report.ponger = Some(part),
    }
    Ok(report)
}

fn close(open: &mut Open) -> Result<(), AgentError> {
    open.role.close()
}

/// Opens what the role needs.
fn open_role(
    driver: &Driver,
    configure: &Configure,
    participant: &Participant,
) -> Result<(Box<dyn Role>, Monitors), AgentError> {
    let factors = &configure.factors;
    let identity = Identity {
        tag: configure.run_tag,
        writer: WRITER,
        size: factors.size_bytes as usize,
        since_ns: now_ns(),
    };
    let listening = factors.receive == ReceiveMode::Listener;
    let polling = factors.receive == ReceiveMode::Polling;
    let echo_in_listener = driver.has(FEATURE_ECHO_IN_LISTENER);
    Ok(match configure.role {
        RoleName::Writer => {
            let writer = participant.writer(&writer_config(configure, &configure.topic, true))?;
            let monitors = Monitors { writer: Some(writer.monitor()), reader: None };
            (Box::new(WriterRole::new(configure, writer, driver.has(FEATURE_WAIT_ACKED))), monitors)
        }
        RoleName::Reader => {
            let config = reader_config(configure, &configure.topic, true);
            let payloads = Payloads::new(configure.seed, identity.size);
            let windows = WindowCounts::new(configure.windows, configure.measure_ns);
            let tally = Tally::new(identity, payloads, configure.check_every, windows);
            let progress = tally.progress();
            let (inlet, monitor) = if listening {
                let reader = participant.listening_reader(&config, tally, Tally::alone)?;
                let monitor = reader.monitor();
                (reader::Inlet::Listening(reader), monitor)
            } else {
                let reader = participant.reader(&config)?;
                let monitor = reader.monitor();
                (reader::Inlet::Asked { reader, tally: Box::new(tally), polling }, monitor)
            };
            (Box::new(ReaderRole::new(inlet, progress)), Monitors { writer: None, reader: Some(monitor) })
        }
        RoleName::Pinger => {
            let writer = participant.writer(&writer_config(configure, &configure.topic, false))?;
            let writer_monitor = writer.monitor();
            let config = reader_config(configure, &configure.topic_back, false);
            let echoes = Echoes::new(identity, configure);
            let flight = echoes.flight();
            let (inlet, monitor) = if listening {
                let reader = participant.listening_reader(&config, echoes, Echoes::heard)?;
                let monitor = reader.monitor();
                (pinger::Inlet::Listening(reader), monitor)
            } else {
                let reader = participant.reader(&config)?;
                let monitor = reader.monitor();
                (pinger::Inlet::Asked { reader, echoes: Box::new(echoes), polling }, monitor)
            };
            let role = PingerRole::new(configure, writer, inlet, flight);
            (Box::new(role), Monitors { writer: Some(writer_monitor), reader: Some(monitor) })
        }
        RoleName::Ponger => {
            let writer = participant.writer(&writer_config(configure, &configure.topic_back, false))?;
            let writer_monitor = writer.monitor();
            let config = reader_config(configure, &configure.topic, false);
            let echoing = Echoing::new(writer, Pings::new(identity, configure));
            let (inlet, monitor) = if listening && echo_in_listener {
                let reader = participant.listening_reader(&config, echoing, Echoing::heard)?;
                let monitor = reader.monitor();
                (ponger::Inlet::Listening(reader), monitor)
            } else if listening {
                let (listener, handed, give_back) = HandingOver::new(identity);
                let reader = participant.listening_reader(&config, listener, HandingOver::heard)?;
                let monitor = reader.monitor();
                (ponger::Inlet::HandedOver { reader, echoing: Box::new(echoing), handed, give_back }, monitor)
            } else {
                let reader = participant.reader(&config)?;
                let monitor = reader.monitor();
                (ponger::Inlet::Asked { reader, echoing: Box::new(echoing), polling }, monitor)
            };
            (
                Box::new(PongerRole::new(inlet)),
                Monitors { writer: Some(writer_monitor), reader: Some(monitor) },
            )
        }
    })
}
