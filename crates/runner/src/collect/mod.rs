//! Evaluation of a run: joins the reports of its agents, checks their consistency and fills in the result.

mod batching;
mod buffers;
mod delivery;
mod latency;
mod multicast;
mod paced;
mod probes;
mod throughput;

use std::collections::BTreeMap;

use crate::{
    pair::{DRIVING, Evidence, SERVING, Testimony},
    traces::Times,
};
use experiment::{Design, Factors, Qos, Workload};
use results::{
    AgentRecord, Counted, Cpu, Distribution, HistogramError, Idle, IdleCost, IntervalLog, Latency, Paced,
    PingRetries, Run, RunState, SteadyState, Takes, Throughput, Warning, WarningKind, WireBytes, WritingTime,
    format_value, steady_latency,
};

/// Number of samples below which one sample changes a rate by more than 5 %.
const FEW: u64 = 20;
/// Inverse of the share of samples after the last write above which a warning is given.
const TAIL: u64 = 10;

/// Evaluation of a run.
#[derive(Default)]
struct Figures {
    latency: BTreeMap<String, Latency>,
    throughput: Option<Throughput>,
    paced: Option<Paced>,
    steady_state: BTreeMap<String, SteadyState>,
    ping_retries: Option<PingRetries>,
    counted: Vec<Counted>,
    cpu: Option<Cpu>,
    warnings: Vec<Warning>,
    /// Failed consistency checks, as text.
    contradictions: Vec<String>,
    log: IntervalLog,
}

impl Figures {
    fn warn(&mut self, kind: WarningKind, text: String) {
        self.warnings.push(Warning { kind, text });
    }

    /// Records a contradiction if `holds` is false.
    fn check(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.contradictions.push(otherwise());
        }
    }

    /// Adds a distribution under its kind. Its windows are decoded once, for the metrics, the steady state and the
    /// log.
    fn add(&mut self, kind: &str, distribution: &Distribution) {
        self.add_with_lost(kind, distribution, 0);
    }

    /// Adds a distribution of round trips, of which `lost` are missing.
    fn add_with_lost(&mut self, kind: &str, distribution: &Distribution, lost: u64) {
        if distribution.n == 0 {
            return;
        }
        let decoded = distribution.histograms().and_then(|windows| {
            let latency = Latency::of_windows(distribution, &windows, lost)?;
            Ok((latency, windows))
        });
        match decoded {
            Ok((latency, windows)) => {
                self.latency.insert(kind.to_owned(), latency);
                if let "rtt" | "response" = kind {
                    self.steady_state = steady_latency(kind, &windows, distribution.window_ns);
                }
                self.log.add_windows(kind, distribution.window_ns, windows);
            }
            Err(error) => self.unreadable(kind, &error),
        }
    }

    /// Checks that the samples taken equal the samples delivered, and that no receive group is larger than requested.
    fn check_takes(&mut self, whose: &str, factors: &Factors, takes: Option<&Takes>, delivered: u64) {
        let (samples, most) = takes.map_or((delivered, 0), |takes| (takes.samples, takes.max_samples));
        self.check(samples == delivered, || {
            format!("{whose}{delivered} samples came, but {samples} were taken")
        });
        let Some(group) = factors.queues.receive_group else { return };
        self.check(takes.is_some() && most <= group.samples.into(), || {
            format!(
                "{whose}groups of up to {} samples were asked for, and of {most} were taken",
                group.samples
            )
        });
    }

    fn unreadable(&mut self, kind: &str, error: &HistogramError) {
        self.contradictions.push(format!("the histograms of `{kind}` cannot be read: {error}"));
    }

    /// Warns of lost, undelivered, corrupt, foreign, duplicate and reordered samples.
    fn warn_of_counts(&mut self, what: &str) {
        let counted = Counted::sum(&self.counted);
        if counted.lost > 0 {
            let percent = percent(counted.lost, counted.sent);
            let text = format!(
                "{} of {} {what} were lost ({} %)",
                counted.lost,
                counted.sent,
                format_value(percent)
            );
            self.warn(WarningKind::Loss, text);
        }
        if counted.undelivered > 0 {
            let text = format!(
                "{} {what} were still under way when the time limit of the drain was reached",
                counted.undelivered
            );
            self.warn(WarningKind::Incomplete, text);
        }
        if counted.corrupt > 0 {
            self.warn(WarningKind::Corrupt, format!("{} {what} came damaged", counted.corrupt));
            self.contradictions.push(format!("{} {what} came damaged", counted.corrupt));
        }
        if counted.foreign > 0 {
            let text = format!("{} samples came that are not of this run", counted.foreign);
            self.warn(WarningKind::Foreign, text);
        }
        if counted.duplicate > 0 || counted.out_of_order > 0 {
            let text =
                format!("{} {what} came again, {} out of order", counted.duplicate, counted.out_of_order);
            self.warn(WarningKind::Order, text);
        }
    }

    /// Warns of rates that are based on few samples.
    fn warn_of_few(&mut self) {
        let Counted { sent, delivered, .. } = Counted::sum(&self.counted);
        let what = match delivered {
            FEW.. => return,
            0 => "there is no rate".to_owned(),
            few => {
                format!(
                    "one more or less would change the rate by {} %; raise `measure`",
                    format_value(percent(1, few))
                )
            }
        };
        let text = format!("{delivered} of {sent} samples were delivered: {what}");
        self.warn(WarningKind::FewSamples, text);
    }

    /// Warns of samples that arrived too late for the rate, and of a rate whose period starts much later than the
    /// writing.
    fn warn_of_tail(&mut self, writing: WritingTime, quickest_ns: u64) {
        let Some(Throughput { delivered, tail, .. }) = self.throughput else { return };
        let half_ns = writing.ns() / 2;
        if tail.samples.saturating_mul(TAIL) > delivered || (tail.samples > 0 && tail.ns > half_ns) {
            let text = format!(
                "{} of {delivered} samples ({} %) came after the writing had ended, up to {} ms later: they are not in the \
                 delivered rate",
                tail.samples,
                format_value(percent(tail.samples, delivered)),
                format_value(tail.ns as f64 / 1e6)
            );
            self.warn(WarningKind::Tail, text);
        }
        if quickest_ns > half_ns && delivered > 0 {
            let text = format!(
                "even the quickest sample took {} ms, of a measured time of {} ms: the delivered rate is of a time that \
                 much later; raise `measure`",
                format_value(quickest_ns as f64 / 1e6),
                format_value(writing.ns() as f64 / 1e6)
            );
            self.warn(WarningKind::Tail, text);
        }
    }

    /// Warns of missing acknowledgments, and of writes that timed out or were rejected.
    fn warn_of_writes(&mut self, evidence: &Evidence, reliable: bool, timed_out: u64, refused: u64) {
        if reliable && evidence.arrived && !evidence.acknowledged {
            let text = "all samples arrived, but were not acknowledged within the time limit of the drain";
            self.warn(WarningKind::Incomplete, text.to_owned());
        }
        if timed_out > 0 || refused > 0 {
            let text = format!(
                "{timed_out} writes timed out and {refused} were refused for want of room; they were tried again"
            );
            self.warn(WarningKind::WritesRefused, text);
        }
    }
}

/// Fills in the record of a run from the reports and returns its histograms. `sysctls` are those of the host.
pub(crate) fn collect(
    run: &mut Run,
    factors: &Factors,
    design: &Design,
    evidence: &Evidence,
    times: &Times,
    one_clock: bool,
    sysctls: &BTreeMap<String, String>,
) -> IntervalLog {
    let mut figures = match factors.workload {
        Workload::Latency => latency::figures(evidence, design, one_clock),
        Workload::Throughput => throughput::figures(evidence, factors, design),
        // The trials of a search are paced runs.
        Workload::Paced | Workload::Search => paced::figures(evidence, factors, design, times),
    };
    buffers::check(&mut figures, evidence, factors, sysctls);
    batching::check(&mut figures, evidence, factors);
    if factors.multicast {
        multicast::check(&mut figures, evidence, factors);
    }
    run.agents = evidence.agents.iter().rev().map(agent_record).collect();
    run.effective_qos = effective_qos(evidence);
    let serving = &evidence.agents[SERVING].report;
    run.wire = serving.interface.as_ref().map(|interface| WireBytes {
        interface: interface.name.clone(),
        rx_bytes: interface.rx_bytes,
        rx_packets: interface.rx_packets,
        tx_bytes: interface.tx_bytes,
        tx_packets: interface.tx_packets,
    });
    run.udp_buffer_drops = serving.sockets.as_ref().map(|sockets| sockets.receive_buffer_errors);
    if let Some(drops @ 1..) = run.udp_buffer_drops {
        let lost = Counted::sum(&figures.counted).lost;
        let text = format!(
            "lost {lost} samples; the kernel dropped {drops} datagrams at a full socket buffer; raise net.core.rmem_max"
        );
        figures.warn(WarningKind::BufferDrops, text);
    }
    if !evidence.unverified.is_empty() {
        let text = format!("the driver cannot read back {}", evidence.unverified.join(", "));
        figures.warn(WarningKind::Incomplete, text);
    }
    run.state = if figures.contradictions.is_empty() { RunState::Valid } else { RunState::Invalid };
    // Warnings that make the run invalid come first.
    run.warnings = figures
        .contradictions
        .into_iter()
        .map(|text| Warning { kind: WarningKind::RunsInvalid, text })
        .chain(figures.warnings)
        .collect();
    run.latency = figures.latency;
    run.throughput = figures.throughput;
    run.paced = figures.paced;
    run.steady_state = figures.steady_state;
    run.ping_retries = figures.ping_retries;
    run.counted = figures.counted;
    run.cpu_ns_per_sample = figures.cpu;
    figures.log
}

fn agent_record(agent: &Testimony) -> AgentRecord {
    AgentRecord {
        role: agent.role.name().to_owned(),
        pid: agent.pid,
        cpus: agent.configured.cpus.clone(),
        usage: agent.report.usage.clone(),
        sockets: agent.report.sockets.clone(),
        interface: agent.report.interface.clone(),
        counters: agent.report.counters.clone(),
        settings: agent.configured.settings.clone(),
    }
}

/// Returns the effective QoS of the driving agent's writers and the serving agent's readers: both ends of each flow.
fn effective_qos(evidence: &Evidence) -> BTreeMap<String, Qos> {
    [(DRIVING, "writer"), (SERVING, "reader")]
        .into_iter()
        .flat_map(|(agent, kind)| {
            let in_force = &evidence.agents[agent].configured.effective_qos;
            in_force.iter().filter(move |(entity, _)| entity.starts_with(kind))
        })
        .map(|(entity, qos)| (entity.clone(), qos.clone()))
        .collect()
}

/// Adds the CPU time per sample of both agents, with warnings about their idle cost. The metered samples of an agent
/// must not exceed its counted ones: `driven` and `served`.
fn cpu(figures: &mut Figures, evidence: &Evidence, driven: u64, served: u64) {
    for (number, counted) in [(DRIVING, driven), (SERVING, served)] {
        let Testimony { role, report, .. } = &evidence.agents[number];
        let (role, usage) = (role.name(), &report.usage);
        figures.check(usage.samples <= counted, || {
            format!("the {role} metered {} samples, and counted {counted}", usage.samples)
        });
        let idle = 100.0 * usage.idle.as_ref().map_or(0.0, Idle::used);
        let text = match usage.idle_cost() {
            IdleCost::Negligible => continue,
            IdleCost::Share(share) if share < 1.0 => format!(
                "the {role}'s process used {idle:.1} % of a core without traffic: {:.0} % of its CPU time was subtracted from its CPU \
                 per sample",
                100.0 * share
            ),
            IdleCost::Share(_) => format!(
                "the {role}'s process used {idle:.1} % of a core without traffic, and no more with it: its CPU per sample is n/a"
            ),
            IdleCost::BusyWait => format!(
                "the {role}'s process waits by using its core ({idle:.0} % without traffic): its CPU per sample is the core's time, and \
                 no idle cost was subtracted"
            ),
        };
        figures.warn(WarningKind::IdleCpu, text);
    }
    let [driving, serving] = [DRIVING, SERVING].map(|number| &evidence.agents[number].report.usage);
    figures.cpu = Cpu::of(driving, serving);
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
