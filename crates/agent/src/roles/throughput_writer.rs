//! Throughput writer: as fast as back-pressure allows.

use std::sync::Arc;

use control::{Configure, Drain, FlowWriterReport, RoleReport, WriterReport};
use driver_host::{WriteOutcome, Writer};
use experiment::WriterSpec;
use results::{COARSE_WINDOWS, Windows};

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::TrafficMeter,
        priority::NamedThread,
        progress::ProgressSource,
        role::{AgentRole, TrafficLimit},
    },
    traffic::{
        awaited_echoes::AwaitedEchoes,
        batch_flusher::BatchFlusher,
        late_join::{LateJoin, SendLog},
        probes::ProbeRecorder,
        retry::{FIRST_BACKOFF, LONGEST_BACKOFF, RetryCounts},
        sample_writer::SampleWriter,
    },
};

/// Role of a throughput writer.
#[derive(Debug)]
pub struct ThroughputWriter {
    samples: SampleWriter,
    packing: BatchFlusher,
    wait_acked: bool,
    probes: Option<ProbeRecorder>,
    /// Echoes for which it waits.
    awaited: Option<AwaitedEchoes>,
    call: Windows,
    /// Samples accepted in the warm-up.
    warm_up: u64,
    recorded: Recorded,
    /// Late join of a reader, and the times of writes while it joins.
    join: Option<(Arc<LateJoin>, SendLog)>,
}

/// Counts of one phase of traffic.
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    offered: u64,
    accepted: u64,
    tries: RetryCounts,
    begin_ns: u64,
    end_ns: u64,
}

impl ThroughputWriter {
    /// Creates the role with this writer.
    #[must_use]
    pub fn new(
        configure: &Configure,
        spec: &WriterSpec,
        writer: Writer,
        wait_acked: bool,
        probes: Option<ProbeRecorder>,
        join: Option<&Arc<LateJoin>>,
    ) -> Self {
        Self {
            samples: SampleWriter::new(configure, &spec.stream, writer),
            packing: BatchFlusher::new(spec),
            wait_acked,
            awaited: probes.as_ref().and_then(|probes| AwaitedEchoes::of(configure, spec, probes)),
            probes,
            call: Windows::new(configure.windows.min(COARSE_WINDOWS), configure.measure_ns),
            warm_up: 0,
            recorded: Recorded::default(),
            join: join.map(|join| (Arc::clone(join), SendLog::new(join))),
        }
    }
}

impl AgentRole for ThroughputWriter {
    fn progress(&self) -> ProgressSource {
        ProgressSource {
            round_trips: self.probes.iter().map(ProbeRecorder::round_trips).collect(),
            ..ProgressSource::default()
        }
    }

    fn receiving_threads(&self) -> Vec<NamedThread<'_>> {
        self.probes.iter().filter_map(ProbeRecorder::thread).collect()
    }

    fn recorded(&self) -> u64 {
        self.recorded.accepted
    }

    /// Writes up to this limit. One clock read per sample: the end of a write is the start of the next.
    fn run(&mut self, limit: TrafficLimit, mut meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        let warm_up = meter.is_none();
        self.call.begin(now_ns());
        if let Some(meter) = &mut meter {
            meter.begin();
        }
        let begin_ns = now_ns();
        if let Some(probes) = &self.probes {
            probes.progress().begin(begin_ns, warm_up);
        }
        let (end_ns, most) = (begin_ns.saturating_add(limit.duration_ns), limit.most());
        let mut counts = Recorded { begin_ns, ..Recorded::default() };
        self.packing.policy.begin();
        if let Some((_, log)) = &mut self.join {
            log.begin();
        }
        let mut sequence = 0_u64;
        let mut backoff = FIRST_BACKOFF;
        // time of the first attempt of a sample that was not accepted at once
        let mut first_tried_ns = None;
        let mut now = begin_ns;
        while now < end_ns && sequence < most {
            if let Some((join, _)) = self.join.as_ref().filter(|(join, _)| join.is_waiting()) {
                join.connect(std::iter::once(self.samples.writer()?))?;
            }
            let outcome = self.samples.write(sequence, warm_up, now)?;
            let writer = self.samples.writer()?;
            if counts.tries.accepts(outcome) {
                // the next sample is due at once, so a turbo batch is also flushed only when it is full
                if self.packing.policy.took() {
                    self.packing.flush(writer, &mut counts.tries)?;
                }
                let end_call_ns = now_ns();
                self.call.record(end_call_ns, end_call_ns - first_tried_ns.take().unwrap_or(now));
                if let Some((_, log)) = &mut self.join {
                    log.record(now);
                }
                (now, backoff) = (end_call_ns, FIRST_BACKOFF);
                if let Some(awaited) = self.awaited.as_ref().filter(|awaited| awaited.has(sequence)) {
                    self.packing.flush(writer, &mut counts.tries)?;
                    awaited.wait(sequence, end_call_ns, end_ns);
                    now = now_ns();
                }
                sequence += 1;
                continue;
            }
            first_tried_ns.get_or_insert(now);
            self.packing.make_room(writer, &mut counts.tries)?;
            if outcome == WriteOutcome::Refused {
                std::thread::sleep(backoff);
                backoff = (backoff * 2).min(LONGEST_BACKOFF);
            }
            now = now_ns();
        }
        counts.offered = sequence + u64::from(first_tried_ns.is_some());
        counts.accepted = sequence;
        self.packing.flush(self.samples.writer()?, &mut counts.tries)?;
        counts.end_ns = now_ns();
        match meter {
            Some(meter) => meter.end(counts.accepted),
            None => self.warm_up = counts.accepted,
        }
        self.recorded = counts;
        Ok(())
    }

    fn drain(&mut self, drain: &Drain, _meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        if self.wait_acked { Ok(self.samples.writer()?.wait_acked(drain.timeout_ns)?) } else { Ok(true) }
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let counts = self.recorded;
        let flow = FlowWriterReport {
            planned: counts.offered,
            offered: counts.offered,
            accepted: counts.accepted,
            warm_up: self.warm_up,
            before_join: self.join.as_ref().map(|(_, log)| log.before_join(counts.accepted)),
            timed_out: counts.tries.timed_out,
            refused: counts.tries.refused,
            write_call: self.call.distribution(),
            batches: self.packing.policy.batches(),
            ..FlowWriterReport::default()
        };
        Ok(RoleReport::Writer(WriterReport {
            begin_ns: counts.begin_ns,
            end_ns: counts.end_ns,
            flows: vec![flow],
            probes: self.probes.as_mut().map(|probes| probes.report(counts.accepted)).transpose()?,
            ..WriterReport::default()
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.probes.as_mut().map_or(Ok(()), ProbeRecorder::close)?;
        self.samples.close()
    }
}
