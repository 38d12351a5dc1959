//! What an experiment must be for echo probes.

use crate::{
    DriverDescription, PlanError, ReceiveMode, Refusal, Workload,
    exclusion::only,
    expansion::Expansion,
    many::{At, Span},
    matrix::Axes,
    rate::WrittenRate,
    written::{Selection, Written},
};

/// A probe in every so many samples is under 1 % of them.
const MIN_EVERY: u32 = 100;

/// A throttle's low mark is a tenth of its queue, and must be two probes wide at least.
const QUEUE_PROBES: u64 = 20;

/// Refuses a throttle that cannot see how far the reader is.
fn check_throttle(written: &Written, axes: &[&Axes]) -> Result<(), Refusal> {
    let paced =
        axes.iter().filter(|axes| axes.workload.values().any(|workload| *workload == Workload::Paced));
    for rate in paced.flat_map(|axes| &axes.rate.0) {
        let WrittenRate::Throttled(queue) = *rate.get() else { continue };
        let refuse = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(rate.span()));
        let Some(every) = &written.design.probe_every else {
            let words = "a throttled rate follows probes, and there are none".to_owned();
            return refuse(words, "add `probe_every = 100` under `[design]`");
        };
        if queue < QUEUE_PROBES * u64::from(*every.get()) {
            let words =
                format!("a queue of {queue} samples cannot be followed by one probe in {}", every.get());
            return refuse(
                words,
                "give a queue of at least 20 probes: `throttled 2000` with `probe_every = 100`",
            );
        }
    }
    Ok(())
}

/// Refuses probes that would be load of their own, or that nothing sends, and a throttle without them.
pub(crate) fn check(written: &Written, axes: &[&Axes]) -> Result<(), Refusal> {
    check_throttle(written, axes)?;
    let Some(every) = &written.design.probe_every else { return Ok(()) };
    let refuse = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(every.span()));
    if *every.get() < MIN_EVERY {
        let words = format!("a probe in every {} samples would be load of its own", every.get());
        return refuse(words, "write `probe_every = 100` or more: under 1 % of the samples");
    }
    let streams = |axes: &&Axes| axes.workload.values().any(|workload| *workload != Workload::Latency);
    if !axes.iter().any(streams) {
        let words = "`probe_every` says nothing of `latency`, where every sample is sent back".to_owned();
        return refuse(words, "add `throughput` or `paced` to `workload`, or leave this out");
    }
    if written.flows.len() > 1 {
        return refuse(
            "probes are of one stream, and there are several flows".to_owned(),
            "measure one flow alone",
        );
    }
    Ok(())
}

impl Expansion<'_> {
    /// Whether a driver can send probes back where it receives so.
    pub(crate) fn can_echo(
        &mut self,
        driver: &str,
        description: &DriverDescription,
        receive: &At<ReceiveMode>,
        axes: &Axes,
    ) -> Result<bool, Refusal> {
        let streams = axes.workload.values().any(|workload| *workload != Workload::Latency);
        let probed = streams && self.written.design.probe_every.is_some();
        if !probed || *receive.get() != ReceiveMode::Listener || description.has("echo_in_listener") {
            return Ok(true);
        }
        let words = format!("driver `{driver}` must not send from its listener, so probes have no echo");
        let hint = "receive by `waitset` or `polling`, or leave `probe_every` out";
        let at: Span = receive.span();
        let cells = Selection { receive: only(*receive.get()), ..Selection::default() };
        self.cannot(driver, cells, PlanError::Contradiction { words, hint }.at(at))?;
        Ok(false)
    }
}
