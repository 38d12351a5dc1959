//! Opening of a role's entities.

use control::{Configure, Role as Name};
use driver_abi::{FEATURE_ECHO_IN_LISTENER, FEATURE_WAIT_ACKED};
use driver_host::{Driver, Participant, ReaderConfig};
use experiment::{ReceiveMode, Workload};
use results::WindowCounts;

use crate::{
    base::{clock::now_ns, error::AgentError, role::AgentRole},
    roles::{
        echo::{self, Echo, EchoListener, HandoffListener, PingRecorder},
        open_loop_reader::{self, FlowRecorder, OpenLoopReader, StartTime},
        open_loop_writer::{FlowWriter, OpenLoopWriter},
        pinger::{self, EchoRecorder, Pinger},
        throughput_reader::{self, ThroughputReader},
        throughput_writer::ThroughputWriter,
    },
    session::endpoints::{Monitors, reader_config, writer_config},
    traffic::{
        flow_spec::FlowSpec,
        grouped_reader::GroupedReader,
        identity::{Identity, WRITER},
        payload::Payloads,
        poll_policy::PollPolicy,
        probes::{ProbeReceiver, ProbeRecorder, ProbeResponder},
        receive_stats::ReceiveStats,
        timestamps::stamps_for,
    },
};

/// An opened role, and the monitors of its endpoints.
type OpenedRole = (Box<dyn AgentRole>, Monitors);

/// Inputs for opening a role.
struct RoleSetup<'a> {
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
) -> Result<OpenedRole, AgentError> {
    let stage = RoleSetup {
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
        (Name::Echo, _) => stage.echo(),
    }
}

impl RoleSetup<'_> {
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

    fn writer(&self) -> Result<OpenedRole, AgentError> {
        let writer = self.open_writer(&self.configure.topic, true)?;
        let mut monitors = Monitors { writers: vec![writer.monitor()], readers: Vec::new() };
        let probes = self.probes(&mut monitors)?;
        Ok((Box::new(ThroughputWriter::new(self.configure, writer, self.wait_acked, probes)), monitors))
    }

    /// Starts the thread that receives the echoes of probes; `None` without probes.
    fn probes(&self, monitors: &mut Monitors) -> Result<Option<ProbeRecorder>, AgentError> {
        let Some(every) = self.configure.probe_every else { return Ok(None) };
        // always by waitset, whatever the stream's own reader does: a polling thread would occupy its core
        let config = ReaderConfig { polling: false, ..self.of_reader(&self.configure.topic_back, false) };
        let reader = self.participant.reader(&config)?;
        monitors.readers.push(reader.monitor());
        Ok(Some(ProbeRecorder::start(reader, ProbeReceiver::new(self.identity, self.configure, every))))
    }

    /// Opens the writer that sends probes back; `None` without probes.
    fn probe_responder(&self, monitors: &mut Monitors) -> Result<Option<ProbeResponder>, AgentError> {
        let Some(every) = self.configure.probe_every else { return Ok(None) };
        let writer = self.open_writer(&self.configure.topic_back, false)?;
        monitors.writers.push(writer.monitor());
        Ok(Some(ProbeResponder::new(writer, every)))
    }

    fn reader(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, identity, .. } = *self;
        let config = self.of_reader(&configure.topic, true);
        let payloads = Payloads::new(configure.seed, identity.size);
        let windows = WindowCounts::new(configure.windows, configure.measure_ns);
        let mut monitors = Monitors::default();
        let echo = self.probe_responder(&mut monitors)?;
        let stats = ReceiveStats::new(identity, payloads, configure.check_every, windows).echoing(echo);
        let progress = stats.progress();
        let (inlet, monitor) = if self.receives(ReceiveMode::Listener) {
            let reader = participant.listening_reader(&config, stats, ReceiveStats::alone)?;
            let monitor = reader.monitor();
            (throughput_reader::ReaderInput::Listening(reader), monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let poll_policy = PollPolicy::from_factors(&configure.factors);
            let reader = GroupedReader::new(reader, &configure.factors, configure.factors.size_bytes);
            (throughput_reader::ReaderInput::Asked { reader, stats: Box::new(stats), poll_policy }, monitor)
        };
        monitors.readers.push(monitor);
        Ok((Box::new(ThroughputReader::new(inlet, progress)), monitors))
    }

    fn pinger(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, identity, .. } = *self;
        let writer = self.open_writer(&configure.topic, false)?;
        let writer_monitor = writer.monitor();
        let config = self.of_reader(&configure.topic_back, false);
        let echoes = EchoRecorder::new(identity, configure.seed, configure.check_every);
        let flight = echoes.flight();
        let (inlet, monitor) = if self.receives(ReceiveMode::Listener) {
            let reader = participant.listening_reader(&config, echoes, EchoRecorder::on_sample)?;
            let monitor = reader.monitor();
            (pinger::PingerInput::Listening(reader), monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let polling = self.receives(ReceiveMode::Polling);
            (pinger::PingerInput::Asked { reader, echoes: Box::new(echoes), polling }, monitor)
        };
        let monitors = Monitors { writers: vec![writer_monitor], readers: vec![monitor] };
        Ok((Box::new(Pinger::new(configure, writer, inlet, flight)), monitors))
    }

    fn echo(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, identity, .. } = *self;
        let writer = self.open_writer(&configure.topic_back, false)?;
        let writer_monitor = writer.monitor();
        let config = self.of_reader(&configure.topic, false);
        let pings = PingRecorder::new(identity, stamps_for(configure.measure_ns));
        let progress = pings.progress();
        let echoing = EchoListener::new(writer, pings);
        let listening = self.receives(ReceiveMode::Listener);
        let (inlet, monitor) = if listening && self.echo_in_listener {
            let reader = participant.listening_reader(&config, echoing, EchoListener::on_sample)?;
            let monitor = reader.monitor();
            (echo::EchoInput::Listening(reader), monitor)
        } else if listening {
            let (listener, handed, give_back) = HandoffListener::new(identity);
            let reader = participant.listening_reader(&config, listener, HandoffListener::on_sample)?;
            let monitor = reader.monitor();
            (echo::EchoInput::HandedOver { reader, echoing: Box::new(echoing), handed, give_back }, monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let polling = self.receives(ReceiveMode::Polling);
            (echo::EchoInput::Asked { reader, echoing: Box::new(echoing), polling }, monitor)
        };
        let monitors = Monitors { writers: vec![writer_monitor], readers: vec![monitor] };
        Ok((Box::new(Echo::new(inlet, progress)), monitors))
    }

    fn paced_writer(&self) -> Result<OpenedRole, AgentError> {
        let configure = self.configure;
        let (mut flows, mut monitors) = (Vec::new(), Monitors::default());
        for plan in FlowSpec::all(configure)? {
            let topic = flow_topic(&configure.topic, plan.index());
            let config = writer_config(configure, plan.index(), &topic, plan.size_bytes(), true);
            let writer = self.participant.writer(&config)?;
            monitors.writers.push(writer.monitor());
            flows.push(FlowWriter::new(configure, plan, writer));
        }
        let probes = self.probes(&mut monitors)?;
        for (flow, probes) in flows.iter_mut().zip(&probes) {
            flow.throttle(&probes.progress());
        }
        Ok((Box::new(OpenLoopWriter::new(configure, flows, self.wait_acked, probes)), monitors))
    }

    fn paced_reader(&self) -> Result<OpenedRole, AgentError> {
        let configure = self.configure;
        let begin = StartTime::default();
        let mut monitors = Monitors::default();
        // belongs to the only flow: the planner rejects probes with several flows
        let mut echo = self.probe_responder(&mut monitors)?;
        let (mut listening, mut polled, mut progress) = (Vec::new(), Vec::new(), Vec::new());
        for plan in FlowSpec::all(configure)? {
            let topic = flow_topic(&configure.topic, plan.index());
            let config = reader_config(configure, plan.index(), &topic, plan.size_bytes(), true);
            let arrivals = FlowRecorder::new(configure, &plan, self.identity.since_ns, &begin, echo.take());
            progress.push(arrivals.progress());
            if self.receives(ReceiveMode::Listener) {
                let reader = self.participant.listening_reader(&config, arrivals, FlowRecorder::arrived)?;
                monitors.readers.push(reader.monitor());
                listening.push(reader);
            } else {
                let reader = self.participant.reader(&config)?;
                monitors.readers.push(reader.monitor());
                let reader = GroupedReader::new(reader, &configure.factors, plan.size_bytes());
                polled.push((reader, Box::new(arrivals)));
            }
        }
        let inlet = if polled.is_empty() {
            open_loop_reader::FlowInput::Listening(listening)
        } else {
            open_loop_reader::FlowInput::polled(polled, PollPolicy::from_factors(&configure.factors))
        };
        Ok((Box::new(OpenLoopReader::new(inlet, progress, begin)), monitors))
    }
}

/// Returns the topic of a flow: the topic of the run, with a number appended from the second flow on.
fn flow_topic(topic: &str, index: usize) -> String {
    if index == 0 { topic.to_owned() } else { format!("{topic}_{}", index + 1) }
}
