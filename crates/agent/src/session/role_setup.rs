//! Opening of a role's entities.

use std::sync::Arc;

use control::{Configure, LateJoin as Part};
use driver_abi::{FEATURE_ECHO_IN_LISTENER, FEATURE_WAIT_ACKED};
use driver_host::{Driver, Participant, Reader, Writer};
use experiment::{ReaderSpec, ReceiveMode, Role as Name, StreamSpec, WriterSpec};
use results::WindowCounts;

use crate::{
    base::{clock::now_ns, error::AgentError, role::AgentRole},
    roles::{
        echo::{self, Echo},
        echo_listener::EchoListener,
        echo_recorder::EchoRecorder,
        echo_return::{EchoReturn, ReturnInput},
        echo_sender::EchoSender,
        flow_writer::FlowWriter,
        paced_reader::FlowRecorder,
        paced_writer::PacedWriter,
        participant::IdleParticipant,
        pinger::Pinger,
        pipelined_pinger::PipelinedPinger,
        pipelined_recorder::PipelinedRecorder,
        stream_reader::{ReaderInput, StartTime, StreamReader, StreamRecorder},
        throughput_writer::ThroughputWriter,
    },
    session::endpoints::{Monitors, reader_config, writer_config},
    traffic::{
        awaited_echoes::AwaitedEchoes,
        filtered::FilteredStream,
        flow_spec::FlowSpec,
        grouped_reader::GroupedReader,
        identity::{Identity, PayloadSize},
        keys::Keys,
        late_join::{LateJoin, ReceptionLog},
        payload::Payloads,
        per_writer::PerWriter,
        poll_policy::PollPolicy,
        probes::{ProbeReceiver, ProbeRecorder, ProbeResponder},
        processing::Processing,
        receive_stats::ReceiveStats,
        sample_input::SampleInput,
        timestamps::stamps_for,
    },
};

/// An opened role, and the monitors of its endpoints.
type OpenedRole = (Box<dyn AgentRole>, Monitors);

/// Inputs for opening a role.
struct RoleSetup<'a> {
    driver: &'a Driver,
    configure: &'a Configure,
    participant: &'a Participant,
    join: Option<&'a Arc<LateJoin>>,
    /// Start of this agent in ns.
    since_ns: u64,
    wait_acked: bool,
    echo_in_listener: bool,
}

/// Opens the entities of the configured role.
pub fn open_role(
    driver: &Driver,
    configure: &Configure,
    participant: &Participant,
    join: Option<&Arc<LateJoin>>,
) -> Result<OpenedRole, AgentError> {
    let setup = RoleSetup {
        driver,
        configure,
        participant,
        join,
        since_ns: now_ns(),
        wait_acked: driver.has(FEATURE_WAIT_ACKED),
        echo_in_listener: driver.has(FEATURE_ECHO_IN_LISTENER),
    };
    match configure.role {
        Name::Writer if configure.is_paced() => setup.paced_writer(),
        Name::Reader if configure.is_paced() => setup.paced_reader(),
        Name::Writer => setup.writer(),
        Name::Reader => setup.reader(),
        Name::Pinger if configure.is_pipelined() => setup.pipelined_pinger(),
        Name::Pinger => setup.pinger(),
        Name::Echo | Name::Relay => setup.echo(),
        Name::Participant => setup.participant(),
    }
}

impl RoleSetup<'_> {
    /// Opens the first writer. Returns it with its specification.
    fn first_writer(&self) -> Result<(&WriterSpec, Writer), AgentError> {
        let spec = self.configure.writers.first().ok_or(AgentError::Missing("writer"))?;
        Ok((spec, self.participant.writer(&writer_config(self.driver, spec))?))
    }

    /// Returns the specifications of the first reader and of the stream that it expects.
    fn first_reader(&self) -> Result<(&ReaderSpec, &StreamSpec), AgentError> {
        let spec = self.configure.readers.first().ok_or(AgentError::Missing("reader"))?;
        Ok((spec, spec.streams.first().ok_or(AgentError::Missing("stream of the reader"))?))
    }

    /// Returns the properties of the samples of a stream.
    fn identity(&self, stream: &StreamSpec) -> Identity {
        Identity {
            tag: self.configure.run_tag,
            writer: stream.writer,
            size: PayloadSize::of_stream(stream, &self.configure.trace_of(stream)),
            since_ns: self.since_ns,
            keys: Keys::of_stream(stream),
            slack_ns: self.configure.clock_slack_ns,
        }
    }

    /// Returns empty counts of a stream for its reader. With an `echo`, probes are sent back.
    fn stats(&self, spec: &ReaderSpec, stream: &StreamSpec, echo: Option<ProbeResponder>) -> ReceiveStats {
        let configure = self.configure;
        let payloads = Payloads::of_stream(configure, stream);
        let windows = WindowCounts::new(configure.windows, configure.measure_ns);
        let mut stats = ReceiveStats::new(self.identity(stream), payloads, configure.check_every, windows);
        stats.filtered = spec.content_filter.map(|filter| FilteredStream::new(stream, filter));
        stats.echo = echo;
        stats.join = self.join.map(ReceptionLog::new);
        stats
    }

    fn participant(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, .. } = *self;
        let writers =
            configure.writers.iter().map(|spec| participant.writer(&writer_config(self.driver, spec)));
        let writers = writers.collect::<Result<Vec<_>, _>>()?;
        let readers =
            configure.readers.iter().map(|spec| participant.reader(&reader_config(self.driver, spec)));
        let readers = readers.collect::<Result<Vec<_>, _>>()?;
        let monitors = Monitors {
            writers: writers.iter().map(Writer::monitor).collect(),
            readers: readers.iter().map(Reader::monitor).collect(),
        };
        Ok((Box::new(IdleParticipant::new(writers, readers)), monitors))
    }

    fn writer(&self) -> Result<OpenedRole, AgentError> {
        let (spec, writer) = self.first_writer()?;
        let mut monitors = Monitors { writers: vec![writer.monitor()], readers: Vec::new() };
        let probes = self.probes(&mut monitors)?;
        let role = ThroughputWriter::new(self.configure, spec, writer, self.wait_acked, probes, self.join);
        Ok((Box::new(role), monitors))
    }

    /// Starts the thread that receives the echoes of probes; `None` without probes.
    fn probes(&self, monitors: &mut Monitors) -> Result<Option<ProbeRecorder>, AgentError> {
        let Some(every) = self.configure.probe_every else { return Ok(None) };
        let (spec, stream) = self.first_reader()?;
        let reader = self.participant.reader(&reader_config(self.driver, spec))?;
        monitors.readers.push(reader.monitor());
        let receiver = ProbeReceiver::new(self.identity(stream), self.configure, stream, every);
        Ok(Some(ProbeRecorder::start(reader, receiver)))
    }

    /// Opens the writer that sends probes back; `None` without probes.
    fn probe_responder(&self, monitors: &mut Monitors) -> Result<Option<ProbeResponder>, AgentError> {
        let Some(every) = self.configure.probe_every else { return Ok(None) };
        let (_, writer) = self.first_writer()?;
        monitors.writers.push(writer.monitor());
        Ok(Some(ProbeResponder::new(writer, every)))
    }

    fn reader(&self) -> Result<OpenedRole, AgentError> {
        let (spec, _) = self.first_reader()?;
        let mut monitors = Monitors::default();
        // belongs to the first stream, that of the first writer
        let mut echo = self.probe_responder(&mut monitors)?;
        let stats = |stream: &StreamSpec| (stream.writer, self.stats(spec, stream, echo.take()));
        let processing = Processing::of_each(spec.processing_ns);
        let stats = PerWriter::new(spec.streams.iter().map(stats).collect()).processing(processing.clone());
        self.stream_reader([(spec, stats)], None, processing, monitors)
    }

    fn pinger(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, .. } = *self;
        let (writer_spec, writer) = self.first_writer()?;
        let mut monitors = Monitors { writers: vec![writer.monitor()], readers: Vec::new() };
        let mut returns = Vec::new();
        for spec in &configure.readers {
            let stream = spec.streams.first().ok_or(AgentError::Missing("stream of the reader"))?;
            let config = reader_config(self.driver, spec);
            let payloads = Payloads::of_stream(configure, stream);
            let echoes = EchoRecorder::new(self.identity(stream), payloads, configure.check_every);
            let flight = echoes.flight();
            let on_sample = EchoRecorder::on_sample;
            let (inlet, monitor) = SampleInput::open(participant, &config, spec.receive, echoes, on_sample)?;
            monitors.readers.push(monitor);
            let inlet = match inlet {
                SampleInput::Asked { reader, recorder, polling: false } if !returns.is_empty() => {
                    ReturnInput::waiting(reader, recorder)
                }
                inlet => ReturnInput::Direct(inlet),
            };
            let mut of_endpoint = EchoReturn::new(configure, inlet, flight);
            of_endpoint.filter = spec.content_filter;
            returns.push(of_endpoint);
        }
        Ok((Box::new(Pinger::new(configure, &writer_spec.stream, writer, returns)), monitors))
    }

    fn pipelined_pinger(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, .. } = *self;
        let (writer_spec, writer) = self.first_writer()?;
        let (spec, stream) = self.first_reader()?;
        let config = reader_config(self.driver, spec);
        let payloads = Payloads::of_stream(configure, stream);
        let in_flight = stream.in_flight.unwrap_or(1) as usize;
        let (recorder, arrivals) =
            PipelinedRecorder::new(self.identity(stream), payloads, configure.check_every, in_flight);
        let on_sample = PipelinedRecorder::on_sample;
        let (inlet, monitor) = SampleInput::open(participant, &config, spec.receive, recorder, on_sample)?;
        let monitors = Monitors { writers: vec![writer.monitor()], readers: vec![monitor] };
        Ok((
            Box::new(PipelinedPinger::new(configure, &writer_spec.stream, writer, inlet, arrivals)),
            monitors,
        ))
    }

    /// Opens an echo or a relay.
    fn echo(&self) -> Result<OpenedRole, AgentError> {
        let Self { configure, participant, .. } = *self;
        let (_, writer) = self.first_writer()?;
        let writer_monitor = writer.monitor();
        let (spec, stream) = self.first_reader()?;
        let identity = self.identity(stream);
        let config = reader_config(self.driver, spec);
        let relays = configure.role == Name::Relay;
        let listening = spec.receive == ReceiveMode::Listener;
        let stamps = stamps_for(configure.measure_ns, 1);
        // With a listener, the writer does not block.
        let sender = EchoSender::new(writer, identity.clone(), stamps, relays || listening);
        let progress = Arc::clone(&sender.progress);
        let (inlet, monitor) = if listening {
            let in_flight = stream.in_flight.unwrap_or(1) as usize;
            let (listener, handed) = EchoListener::new(sender, identity, self.echo_in_listener, in_flight);
            let reader = participant.listening_reader(&config, listener, EchoListener::on_sample)?;
            let monitor = reader.monitor();
            (echo::EchoInput::Listening { reader, handed }, monitor)
        } else {
            let reader = participant.reader(&config)?;
            let monitor = reader.monitor();
            let polling = spec.receive == ReceiveMode::Polling;
            (echo::EchoInput::Asked { reader, sender: Box::new(sender), polling }, monitor)
        };
        let monitors = Monitors { writers: vec![writer_monitor], readers: vec![monitor] };
        Ok((Box::new(Echo::new(inlet, progress, relays)), monitors))
    }

    fn paced_writer(&self) -> Result<OpenedRole, AgentError> {
        let configure = self.configure;
        let (mut flows, mut monitors) = (Vec::new(), Monitors::default());
        for spec in &configure.writers {
            let plan = FlowSpec::new(configure, &spec.stream)?;
            let writer = self.participant.writer(&writer_config(self.driver, spec))?;
            monitors.writers.push(writer.monitor());
            flows.push(FlowWriter::new(configure, spec, plan, writer, self.join));
        }
        let probes = self.probes(&mut monitors)?;
        for ((flow, probes), spec) in flows.iter_mut().zip(&probes).zip(&configure.writers) {
            flow.throttle(&probes.progress());
            flow.await_echoes(AwaitedEchoes::of(configure, spec, probes));
        }
        let role = PacedWriter::new(configure, flows, self.wait_acked, probes, self.join.cloned());
        Ok((Box::new(role), monitors))
    }

    fn paced_reader(&self) -> Result<OpenedRole, AgentError> {
        let configure = self.configure;
        let begin = StartTime::default();
        if let Some(Part::Late { schedule_ns: Some(schedule_ns), .. }) = configure.late_join {
            begin.set(schedule_ns);
        }
        // All readers of an endpoint are of one application.
        let processing =
            Processing::of_each(configure.readers.iter().find_map(|reader| reader.processing_ns));
        let mut monitors = Monitors::default();
        // belongs to the first writer's flow: the planner rejects probes with several flows
        let mut echo = self.probe_responder(&mut monitors)?;
        let readers = configure.readers.iter().map(|spec| {
            let recorder = |stream: &StreamSpec| {
                let plan = FlowSpec::new(configure, stream)?;
                let stats = self.stats(spec, stream, echo.take());
                let recorder = FlowRecorder::new(configure, &plan, stats, &begin)
                    .with_gaps(spec.qos.deadline_ns.filter(|_| stream.instances.is_none()));
                Ok((stream.writer, recorder))
            };
            let recorders = spec.streams.iter().map(recorder).collect::<Result<Vec<_>, AgentError>>()?;
            Ok((spec, PerWriter::new(recorders).processing(processing.clone())))
        });
        let readers = readers.collect::<Result<Vec<_>, AgentError>>()?;
        self.stream_reader(readers, Some(begin), processing, monitors)
    }

    /// Opens readers, each with the recorders of its streams.
    fn stream_reader<'s, R: StreamRecorder>(
        &self,
        readers: impl IntoIterator<Item = (&'s ReaderSpec, PerWriter<R>)>,
        begin: Option<StartTime>,
        processing: Option<Processing>,
        mut monitors: Monitors,
    ) -> Result<OpenedRole, AgentError> {
        let (mut listening, mut polled, mut progress) = (Vec::new(), Vec::new(), Vec::new());
        let mut poll_policy = None;
        for (spec, mut recorders) in readers {
            progress.extend(recorders.recorders.iter_mut().map(|recorder| recorder.stats().progress()));
            let config = reader_config(self.driver, spec);
            let (inlet, monitor) =
                SampleInput::open(self.participant, &config, spec.receive, recorders, R::on_sample)?;
            monitors.readers.push(monitor);
            match inlet {
                SampleInput::Listening(reader) => listening.push(reader),
                SampleInput::Asked { reader, recorder, .. } => {
                    poll_policy.get_or_insert_with(|| PollPolicy::of_reader(spec));
                    polled.push((GroupedReader::new(reader, spec), recorder));
                }
            }
        }
        let inlet = match poll_policy {
            Some(poll_policy) => ReaderInput::polled(polled, poll_policy),
            None => ReaderInput::Listening(listening),
        };
        Ok((Box::new(StreamReader::new(inlet, progress, begin, processing)), monitors))
    }
}
