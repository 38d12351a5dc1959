//! Opening of a role's entities.

use control::{Configure, Role as Name};
use driver_abi::{FEATURE_ECHO_IN_LISTENER, FEATURE_WAIT_ACKED};
use driver_host::{Driver, Participant, ReaderConfig};
use experiment::{ReceiveMode, Workload};
use results::WindowCounts;

use crate::{
    base::{clock::now_ns, error::AgentError, role::Role},
    roles::{
        echo::{self, Echoing, HandingOver, Pings, PongerRole},
        open_loop_reader::{self, Arrivals, Begin, PacedReader},
        open_loop_writer::{FlowWriter, PacedWriter},
        pinger::{self, Echoes, PingerRole},
        throughput_reader::{self, ReaderRole},
        throughput_writer::WriterRole,
    },
    session::endpoints::{Monitors, reader_config, writer_config},
    traffic::{
        flow_spec::Plan,
        grouped_reader::Taker,
        identity::{Identity, WRITER},
        payload::Payloads,
        poll_policy::Asking,
        probes::{Echo, Probes, Returns},
        receive_stats::Tally,
        timestamps::stamps_for,
    },
};

/// An opened role, and the monitors of its endpoints.
type Cast = (Box<dyn Role>, Monitors);

/// Inputs for opening a role.
struct Stage<'a> {
    configure: &'a Configure,
    participant: &'a Participant,
    /// Identity of the samples of the only writer.
    identity: Identity,
    wait_acked: bool,
    echo_in_listener: bool,
}

/// Opens the entities of the configured role.
pub fn open_role(
    driver: &Driver,
    configure: &Configure,
    participant: &Participant,
) -> Result<Cast, AgentError> {
    let stage = Stage {
        configure,
        participant,
        identity: Identity {
            tag: configure.run_tag,
            writer: WRITER,
            size: configure.factors.size_bytes as usize,
            since_ns: now_ns(),
        },
        wait_acked: driver.has(FEATURE_WAIT_ACKED),
        echo_in_listener: driver.has(FEATURE_ECHO_IN_LISTENER),
    };
    match (configure.role, configure.factors.workload) {
        (Name::Writer, Workload::Paced) => stage.paced_writer(),
        (Name::Reader, Workload::Paced) => stage.paced_reader(),
        (Name::Writer, _) => stage.writer(),
        (Name::Reader, _) => stage.reader(),
        (Name::Pinger, _) => stage.pinger(),
        (Name::Ponger, _) => stage.ponger(),
    }
}

impl Stage<'_> {
    fn receives(&self, mode: ReceiveMode) -> bool {
        self.configure.factors.receive == mode
    }

    fn open_writer(&self, topic: &str, batched: bool) -> Result<driver_host::Writer, AgentError> {
        let size_bytes = self.configure.factors.size_bytes;
        Ok(self.participant.writer(&writer_config(self.configure, 0, topic, size_bytes, batched))?)
    }

    fn of_reader(&self, topic: &str, batched: bool) -> ReaderConfig {
        reader_config(self.configure, 0, topic, self.configure.factors.size_bytes, batched)
    }

    fn writer(&self) -> Result<Cast, AgentError> {
        let writer = self.open_writer(&self.configure.topic, true)?;
        let mut monitors = Monitors { writers: vec![writer.monitor()], readers: Vec::new() };
        let probes = self.probes(&mut monitors)?;
        Ok((Box::new(WriterRole::new(self.configure, writer, self.wait_acked, probes)), monitors))
    }

    /// Starts the thread that receives the echoes of probes; `None` without probes.
    fn probes(&self, monitors: &mut Monitors) -> Result<Option<Probes>, AgentError> {
        let Some(every) = self.configure.probe_every else { return Ok(None) };
        // always by waitset, whatever the stream's own reader does: a polling thread would occupy its core
        let config = ReaderConfig { polling: false, ..self.of_reader(&self.configure.topic_back, false) };
        let reader = self.participant.reader(&config)?;
        monitors.readers.push(reader.monitor());
        Ok(Some(Probes::start(reader, Returns::new(self.identity, self.configure, every))))
    }

    /// Opens the writer that sends probes back; `None` without probes.
    fn echo(&self, monitors: &mut Monitors) -> Result<Option<Echo>, AgentError> {
        let Some(every) = self.configure.probe_every else { return Ok(None) };
        let writer = self.open_writer(&self.configure.topic_back, false)?;
        monitors.writers.push(writer.monitor());
        Ok(Some(Echo::new(writer, every)))
    }

    fn reader(&self) -> Result<Cast, AgentError> {
        let Self { configure, participant, identity, .. } = *self;
        let config = self.of_reader(&configure.topic, true);
        let payloads = Payloads::new(configure.seed, identity.size);
        let windows = WindowCounts::new(configure.windows, configure.measure_ns);
        let mut monitors = Monitors::default();
        let echo = self.echo(&mut monitors)?;
        let tally = Tally::new(identity, payloads, configure.check_every, windows).echoing(echo);
        let progress = tally.progress();
        let (inlet, monitor) = if self.receives(ReceiveMode::Listener) {
            let reader = participant.listening_reader(&config, tally, Tally::alone)?;
            let monitor = reader.monitor();
            (throughput_reader::Inlet::Listening(reader), monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let asking = Asking::of(&configure.factors);
            let reader = Taker::new(reader, &configure.factors, configure.factors.size_bytes);
            (throughput_reader::Inlet::Asked { reader, tally: Box::new(tally), asking }, monitor)
        };
        monitors.readers.push(monitor);
        Ok((Box::new(ReaderRole::new(inlet, progress)), monitors))
    }

    fn pinger(&self) -> Result<Cast, AgentError> {
        let Self { configure, participant, identity, .. } = *self;
        let writer = self.open_writer(&configure.topic, false)?;
        let writer_monitor = writer.monitor();
        let config = self.of_reader(&configure.topic_back, false);
        let echoes = Echoes::new(identity, configure.seed, configure.check_every);
        let flight = echoes.flight();
        let (inlet, monitor) = if self.receives(ReceiveMode::Listener) {
            let reader = participant.listening_reader(&config, echoes, Echoes::heard)?;
            let monitor = reader.monitor();
            (pinger::Inlet::Listening(reader), monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let polling = self.receives(ReceiveMode::Polling);
            (pinger::Inlet::Asked { reader, echoes: Box::new(echoes), polling }, monitor)
        };
        let monitors = Monitors { writers: vec![writer_monitor], readers: vec![monitor] };
        Ok((Box::new(PingerRole::new(configure, writer, inlet, flight)), monitors))
    }

    fn ponger(&self) -> Result<Cast, AgentError> {
        let Self { configure, participant, identity, .. } = *self;
        let writer = self.open_writer(&configure.topic_back, false)?;
        let writer_monitor = writer.monitor();
        let config = self.of_reader(&configure.topic, false);
        let pings = Pings::new(identity, stamps_for(configure.measure_ns));
        let progress = pings.progress();
        let echoing = Echoing::new(writer, pings);
        let listening = self.receives(ReceiveMode::Listener);
        let (inlet, monitor) = if listening && self.echo_in_listener {
            let reader = participant.listening_reader(&config, echoing, Echoing::heard)?;
            let monitor = reader.monitor();
            (echo::Inlet::Listening(reader), monitor)
        } else if listening {
            let (listener, handed, give_back) = HandingOver::new(identity);
            let reader = participant.listening_reader(&config, listener, HandingOver::heard)?;
            let monitor = reader.monitor();
            (echo::Inlet::HandedOver { reader, echoing: Box::new(echoing), handed, give_back }, monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let polling = self.receives(ReceiveMode::Polling);
            (echo::Inlet::Asked { reader, echoing: Box::new(echoing), polling }, monitor)
        };
        let monitors = Monitors { writers: vec![writer_monitor], readers: vec![monitor] };
        Ok((Box::new(PongerRole::new(inlet, progress)), monitors))
    }

    fn paced_writer(&self) -> Result<Cast, AgentError> {
        let configure = self.configure;
        let (mut flows, mut monitors) = (Vec::new(), Monitors::default());
        for plan in Plan::all(configure)? {
            let topic = flow_topic(&configure.topic, plan.index());
            let config = writer_config(configure, plan.index(), &topic, plan.size_bytes(), true);
            let writer = self.participant.writer(&config)?;
            monitors.writers.push(writer.monitor());
            flows.push(FlowWriter::new(configure, plan, writer));
        }
        let probes = self.probes(&mut monitors)?;
        for (flow, probes) in flows.iter_mut().zip(&probes) {
            flow.throttle(&probes.known());
        }
        Ok((Box::new(PacedWriter::new(configure, flows, self.wait_acked, probes)), monitors))
    }

    fn paced_reader(&self) -> Result<Cast, AgentError> {
        let configure = self.configure;
        let begin = Begin::default();
        let mut monitors = Monitors::default();
        // belongs to the only flow: the planner rejects probes with several flows
        let mut echo = self.echo(&mut monitors)?;
        let (mut listening, mut asked, mut progress) = (Vec::new(), Vec::new(), Vec::new());
        for plan in Plan::all(configure)? {
            let topic = flow_topic(&configure.topic, plan.index());
            let config = reader_config(configure, plan.index(), &topic, plan.size_bytes(), true);
            let arrivals = Arrivals::new(configure, &plan, self.identity.since_ns, &begin, echo.take());
            progress.push(arrivals.progress());
            if self.receives(ReceiveMode::Listener) {
                let reader = self.participant.listening_reader(&config, arrivals, Arrivals::arrived)?;
                monitors.readers.push(reader.monitor());
                listening.push(reader);
            } else {
                let reader = self.participant.reader(&config)?;
                monitors.readers.push(reader.monitor());
                let reader = Taker::new(reader, &configure.factors, plan.size_bytes());
                asked.push((reader, Box::new(arrivals)));
            }
        }
        let inlet = if asked.is_empty() {
            open_loop_reader::Inlet::Listening(listening)
        } else {
            open_loop_reader::Inlet::asked(asked, Asking::of(&configure.factors))
        };
        Ok((Box::new(PacedReader::new(inlet, progress, begin)), monitors))
    }
}

/// Returns the topic of a flow: the topic of the run, with a number appended from the second flow on.
fn flow_topic(topic: &str, index: usize) -> String {
    if index == 0 { topic.to_owned() } else { format!("{topic}_{}", index + 1) }
}
