//! Execution of the runner's orders.

mod check;
mod discovery;
mod endpoints;
mod mailbox;
mod process_participant;
mod progress_responder;
mod role_setup;

use std::{
    fs::File,
    sync::Arc,
    time::{Duration, Instant},
};

use control::{
    AgentReport, ChannelError, Configure, Configured, Hello, IDLE_NS, Inbox, MAX_WINDOWS, MeasureReply,
    MonotonicClock, OpenMailbox, PROTOCOL, Reply, Request, loaded_libraries,
};
use driver_host::Driver;
use experiment::Role;

pub use self::process_participant::ProcessParticipant;
use self::{
    discovery::DiscoveryRecorder,
    endpoints::{Monitors, open_participant, pin, prioritize},
    mailbox::Mailbox,
    process_participant::OpenParticipant,
    progress_responder::{ProgressResponder, matched},
    role_setup::open_role,
};
use crate::base::{
    clock::{now_ns, set_timeline},
    error::AgentError,
    meters::{LONGEST_WAIT_NS, ResourceSnapshot, TrafficMeter},
    progress::{MeasurementStart, ProgressSource},
    role::{AgentRole, TrafficLimit},
    threads,
};
use crate::traffic::late_join::LateJoin;

/// Duration for which a serving role serves before it checks for an order.
const SLICE: Duration = Duration::from_millis(2);
/// Duration of the idle measurement after the drain.
const IDLE: Duration = Duration::from_nanos(IDLE_NS);
/// Interval of the checks whether all entities are matched.
const POLL: Duration = Duration::from_millis(1);
/// Interval of these checks in a measurement of discovery. The driver records the times, so the checks need not be
/// frequent, and those of many agents would delay the discovery.
const POLL_OF_DISCOVERY: Duration = Duration::from_millis(20);
/// Wait without a limit of its own: the end of the channel ends the process.
const FOR_EVER: Duration = Duration::from_secs(86_400);

/// Session with a runner: a driver, a role, and the orders.
pub struct AgentSession {
    driver: Driver,
    process: ProcessParticipant,
    orders: Inbox<Request>,
    replies: File,
}

/// State between `configure` and `exit`.
struct Open {
    participant: OpenParticipant,
    monitors: Monitors,
    role: Box<dyn AgentRole>,
    progress: ProgressSource,
    /// Start of the measurement, once it was requested.
    start: Option<MeasurementStart>,
    drives: bool,
    interface: String,
    /// Measurement of discovery, for a participant with a common start.
    discovery: Option<DiscoveryRecorder>,
    /// Late join of a reader; `None` if all join together.
    join: Option<Arc<LateJoin>>,
    /// Meter; `None` before the order to measure.
    meter: Option<TrafficMeter>,
    /// Whether the drain left no sample outstanding, as far as this agent knows.
    drained: bool,
}

impl Open {
    /// Serves for a slice, and updates the meter.
    fn serve(&mut self, slice: Duration) -> Result<(), AgentError> {
        self.role.serve(slice, self.meter.as_ref().map_or(LONGEST_WAIT_NS, TrafficMeter::wait_ns))?;
        if let Some(meter) = &mut self.meter {
            meter.look(self.role.recorded(), now_ns());
        }
        Ok(())
    }

    /// Measures the resource usage of the process while it waits without traffic. Skipped if a driving role has
    /// samples outstanding.
    fn wait_idle(&mut self) -> Result<(), AgentError> {
        let Some(meter) = self.meter.as_mut().filter(|_| self.drained || !self.drives) else { return Ok(()) };
        let recorded = self.role.recorded();
        let slice = if self.drives { IDLE } else { SLICE };
        let since = ResourceSnapshot::before();
        let begin = Instant::now();
        while begin.elapsed() < IDLE {
            // a wait that ends without a sample does not occur under traffic
            self.role.serve(slice, IDLE_NS)?;
        }
        if self.role.recorded() == recorded {
            meter.idle_since(&since);
        }
        Ok(())
    }
}

impl AgentSession {
    /// Starts the session: sends `hello`.
    ///
    /// # Errors
    /// Returns an error if the runner is gone.
    pub fn begin(
        driver: Driver,
        process: ProcessParticipant,
        orders: File,
        mut replies: File,
    ) -> Result<Self, AgentError> {
        let orders = Inbox::start(orders, crate::end_at_once);
        control::send(&mut replies, &Reply::Hello(Box::new(hello(&driver))))?;
        Ok(Self { driver, process, orders, replies })
    }

    /// Executes orders until `exit`.
    ///
    /// # Errors
    /// Returns the error that ended the run, after sending it to the runner.
    pub fn run(mut self) -> Result<(), AgentError> {
        let outcome = self.answer_all();
        if let Err(error) = &outcome {
            let refused = error.is_refusal();
            let failed = Reply::Failed { error: error.to_string(), hint: error.hint(), refused };
            // if the runner is gone it sees its end of the channel close
            let _ = control::send(&mut self.replies, &failed);
        }
        outcome
    }

    fn answer_all(&mut self) -> Result<(), AgentError> {
        let mut open = match self.orders.receive(FOR_EVER)? {
            Request::Configure(configure) => {
                let (open, configured) = self.configure(&configure)?;
                control::send(&mut self.replies, &Reply::Configured(Box::new(configured)))?;
                open
            }
            Request::Exit => return Ok(control::send(&mut self.replies, &Reply::Bye)?),
            order @ (Request::Cases | Request::Check { .. }) => return self.try_cases(order),
            Request::OpenMailbox(open) => return self.exchange_messages(&open),
            order => return Err(AgentError::OutOfTurn(order.phase())),
        };
        loop {
            let order = self.next_order(&mut open)?;
            if order == Request::Exit {
                open.role.close()?;
                open.monitors = Monitors::default();
                open.participant.close()?;
                return Ok(control::send(&mut self.replies, &Reply::Bye)?);
            }
            let reply = self.answer(&mut open, order)?;
            control::send(&mut self.replies, &reply)?;
        }
    }

    /// Lists and runs conformance cases, from this order until `exit`.
    fn try_cases(&mut self, mut order: Request) -> Result<(), AgentError> {
        loop {
            let reply = match &order {
                Request::Cases => check::cases(),
                Request::Check { case, name, domain, way, probes } => {
                    Reply::Checked(check::check(&self.driver, case, way, (name, *domain), *probes)?)
                }
                Request::Exit => Reply::Bye,
                order => return Err(AgentError::OutOfTurn(order.phase())),
            };
            control::send(&mut self.replies, &reply)?;
            if order == Request::Exit {
                return Ok(());
            }
            order = self.orders.receive(FOR_EVER)?;
        }
    }

    /// Opens a mailbox, and answers requests of it until `exit`.
    fn exchange_messages(&mut self, open: &OpenMailbox) -> Result<(), AgentError> {
        let (mailbox, configured) = Mailbox::open(&self.driver, open)?;
        control::send(&mut self.replies, &Reply::MailboxOpened(Box::new(configured)))?;
        mailbox.serve(&self.orders, &mut self.replies)?;
        Ok(control::send(&mut self.replies, &Reply::Bye)?)
    }

    fn next_order(&self, open: &mut Open) -> Result<Request, AgentError> {
        if open.drives {
            return Ok(self.orders.receive(FOR_EVER)?);
        }
        loop {
            match self.orders.receive(Duration::ZERO) {
                Err(ChannelError::TimedOut(_)) => open.serve(SLICE)?,
                order => return Ok(order?),
            }
        }
    }

    fn configure(&self, configure: &Configure) -> Result<(Open, Configured), AgentError> {
        if configure.windows > MAX_WINDOWS {
            return Err(AgentError::TooManyWindows { found: configure.windows });
        }
        if configure.timeline.is_some_and(|timeline| !set_timeline(&timeline)) {
            return Err(AgentError::OutOfTurn("configure"));
        }
        if let Some(cpus) = &configure.cpus {
            pin(cpus)?;
        }
        let interface = &configure.participant.interface;
        let mut discovery =
            configure.begin_ns.map(|begin_ns| DiscoveryRecorder::wait_until(begin_ns, interface));
        let Configure { domain, run_name, participant: spec, .. } = configure;
        let open_own = || open_participant(&self.driver, *domain, run_name, spec);
        let participant =
            if spec.shared { self.process.join(open_own)? } else { OpenParticipant::new(open_own()?) };
        discovery.iter_mut().for_each(DiscoveryRecorder::opened_participant);
        let join = LateJoin::of(configure);
        let (role, monitors, mut configured) = {
            let participant = participant.lock();
            let (role, monitors) = open_role(&self.driver, configure, &participant, join.as_ref())?;
            discovery.iter_mut().for_each(DiscoveryRecorder::opened_entities);
            let configured = monitors.configured(&self.driver, &participant)?;
            (role, monitors, configured)
        };
        if let Some(priorities) = configure.priorities {
            let scheduling = prioritize(priorities, configure.role.drives(), &*role)?;
            configured.settings.insert("agent".to_owned(), scheduling);
        }
        configured.settings.insert("process".to_owned(), threads::scheduling());
        let open = Open {
            participant,
            monitors,
            progress: role.progress(),
            start: None,
            role,
            drives: configure.role.drives(),
            interface: interface.clone(),
            discovery,
            join,
            meter: None,
            drained: false,
        };
        Ok((open, configured))
    }

    fn answer(&mut self, open: &mut Open, order: Request) -> Result<Reply, AgentError> {
        match order {
            Request::Measure { duration_ns, samples, begin_ns, progress, join } => {
                let limit = TrafficLimit { duration_ns, samples, begin_ns };
                let late = open.join.clone().zip(join);
                if let Some((late, times)) = &late {
                    late.set_times(*times);
                }
                let meter = open.meter.insert(TrafficMeter::new(&open.interface, duration_ns, begin_ns));
                let (role, drives) = (&mut open.role, open.drives);
                let start = &*open.start.insert(MeasurementStart::requested(begin_ns));
                let responder = ProgressResponder {
                    monitors: &open.monitors,
                    join: late.as_ref().map(|(late, _)| &**late).filter(|_| drives),
                    progress: (progress && drives).then_some((&open.progress, start)),
                };
                let Self { orders, replies, .. } = self;
                let measured = responder.run(orders, replies, || role.run(limit, Some(meter)));
                if let Err(AgentError::MissedBegin { late_ns }) = measured {
                    // Nothing was written: the runner may choose a later start.
                    return Ok(Reply::Missed { late_ns });
                }
                measured?;
                if let Some(meter) = open.meter.as_mut().filter(|_| drives) {
                    meter.finish(open.role.recorded());
                }
                let sent = if drives { open.role.recorded() } else { 0 };
                Ok(Reply::Measured(MeasureReply { sent }))
            }
            order => answer(open, order),
        }
    }
}

/// Returns the identity of this agent: its process, its clock, its libraries and its driver.
fn hello(driver: &Driver) -> Hello {
    Hello {
        protocol: PROTOCOL,
        pid: std::process::id(),
        roles: Role::ALL.into(),
        clock: MonotonicClock::of_this_process(),
        libraries: loaded_libraries(),
        driver: driver.description().clone(),
    }
}

fn answer(open: &mut Open, order: Request) -> Result<Reply, AgentError> {
    Ok(match order {
        Request::Match(order) if open.join.is_some() && !open.drives => {
            // What it gets before it is matched arrives when it does.
            let monitors = open.monitors.clone();
            monitors.connect(&order)?;
            let reply = matched(&monitors, &order, || open.serve(SLICE))?;
            if let Some(discovery) = &mut open.discovery {
                discovery.matched(&monitors)?;
            }
            reply
        }
        Request::Match(order) => {
            let poll = if open.discovery.is_some() { POLL_OF_DISCOVERY } else { POLL };
            if let Some((discovery, begin_ns)) = open.discovery.as_mut().zip(order.begin_ns) {
                discovery.restart(begin_ns);
            }
            open.monitors.connect(&order)?;
            let reply = matched(&open.monitors, &order, || {
                std::thread::sleep(poll);
                Ok(())
            })?;
            if let Some(discovery) = &mut open.discovery {
                discovery.matched(&open.monitors)?;
            }
            reply
        }
        Request::WarmUp { duration_ns, samples } => {
            open.discovery.iter_mut().for_each(DiscoveryRecorder::settled);
            open.role.run(TrafficLimit { duration_ns, samples, begin_ns: None }, None)?;
            Reply::WarmedUp
        }
        Request::Progress => Reply::Progress(open.progress.read(now_ns(), open.start.as_ref())),
        Request::Drain(drain) => {
            let Some(meter) = &mut open.meter else { return Err(AgentError::OutOfTurn("drain")) };
            if let Some((join, joined_ns)) = open.join.as_ref().zip(drain.joined_ns) {
                join.set_joined(joined_ns);
            }
            meter.drains(open.role.recorded());
            let complete = open.role.drain(&drain, meter)?;
            if !open.drives {
                meter.finish(open.role.recorded());
            }
            open.drained = complete;
            Reply::Drained { complete }
        }
        Request::Report => {
            open.wait_idle()?;
            Reply::Report(Box::new(report(open)?))
        }
        order @ (Request::Configure(_)
        | Request::Measure { .. }
        | Request::Exit
        | Request::Cases
        | Request::Check { .. }
        | Request::OpenMailbox(_)
        | Request::Exchange(_)) => {
            return Err(AgentError::OutOfTurn(order.phase()));
        }
    })
}

fn report(open: &mut Open) -> Result<AgentReport, AgentError> {
    let Some((usage, sockets, interface)) = open.meter.as_ref().and_then(TrafficMeter::report) else {
        return Err(AgentError::OutOfTurn("report"));
    };
    let counters = open.monitors.counters()?;
    // Before the report of the role, which closes its entities.
    let discovery = open.discovery.as_ref().map(|discovery| discovery.report(&open.monitors)).transpose()?;
    let role = open.role.report()?;
    Ok(AgentReport { usage, sockets, interface, counters, role, participant: discovery })
}
