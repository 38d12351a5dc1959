//! Loads of the workload `paced`: validation, and conversion for each sample size.

use std::collections::BTreeMap;

use crate::{
    Factors, Flow, Load, MIN_SIZE_BYTES, PlanError, Refusal, Trace,
    many::{At, Many},
    matrix::{Axes, all_distinct},
    planner::Given,
    rate::{Arrival, WrittenRate},
    trace::{MAX_TRACE_SAMPLES, trace_times},
    written::{Selection, Written, WrittenFlow},
};

/// Maximum number of flows of a run.
const MAX_FLOWS: usize = 100;
const MAX_NAME: usize = 64;

const RATES: &str = "up to 100M samples a second, and an hour from one sample to the next";
const SHARES: &str = "from 0.01% to 200% of the maximum";
const BURSTS: &str =
    "write a burst as a number and a period, such as `10/100ms`: 10 samples at once, every 100 ms";

/// Loads of the factors, and notes about changes.
#[derive(Default)]
pub(crate) struct Plans {
    pub(crate) loads: Vec<Load>,
    pub(crate) notes: Vec<String>,
}

/// All trace files that the experiment names, each parsed once.
pub(crate) struct Traces<'a> {
    given: &'a Given<'a>,
    measure_ns: u64,
    read: BTreeMap<String, Trace>,
}

fn contradiction(words: impl Into<String>, hint: &'static str) -> PlanError {
    PlanError::Contradiction { words: words.into(), hint }
}

impl<'a> Traces<'a> {
    /// Parses the trace files of factors, flows and included cells.
    pub(crate) fn read(written: &Written, given: &'a Given<'a>, measure_ns: u64) -> Result<Self, Refusal> {
        let mut traces = Self { given, measure_ns, read: BTreeMap::new() };
        for file in written.traces() {
            if !traces.read.contains_key(file.get()) {
                let trace = traces.read_one(file)?;
                traces.read.insert(file.get().clone(), trace);
            }
        }
        Ok(traces)
    }

    fn read_one(&self, file: &At<String>) -> Result<Trace, Refusal> {
        let name = file.get();
        let Some(given) = self.given.traces.get(name) else {
            let error = contradiction(format!("trace `{name}` was not read"), "name a file that is there");
            return Err(error.at(file.span()));
        };
        let times = trace_times(&given.text)
            .map_err(|fault| PlanError::Trace { file: name.clone(), fault }.at(file.span()))?;
        let length_ns = times.last().copied().unwrap_or_default();
        if length_ns >= self.measure_ns {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let words = format!(
                "trace `{name}` has its last sample at {} s, after the measured time of {} s",
                seconds(length_ns),
                seconds(self.measure_ns)
            );
            return Err(
                contradiction(words, "give `measure` under `[design]` more than that").at(file.span())
            );
        }
        Ok(Trace {
            file: given.path.clone(),
            sha256: given.sha256.clone(),
            samples: times.len() as u64,
            length_ns,
        })
    }

    fn of(&self, file: &str) -> Trace {
        self.read.get(file).cloned().expect("all that are written were read")
    }

    /// Returns a note if a trace ends early.
    fn note(&self, trace: &Trace) -> Option<String> {
        // A tenth of the measured time.
        let early = trace.length_ns < self.measure_ns / 10 * 9;
        early.then(|| {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let (end, all) = (seconds(trace.length_ns), seconds(self.measure_ns));
            format!("trace `{}` ends at {end} s of {all} s measured: nothing is sent after that", trace.file)
        })
    }

    /// Returns the loads of these factors for samples of this size.
    pub(crate) fn plans(&self, axes: &Axes, size_bytes: u64) -> Result<Plans, Refusal> {
        let mut plans = Plans::default();
        for rate in &axes.rate.0 {
            for arrival in &axes.arrival.0 {
                let load = load(rate, *arrival.get(), size_bytes, &mut plans.notes)?;
                if !plans.loads.contains(&load) {
                    plans.loads.push(load);
                }
            }
        }
        for file in axes.trace.values() {
            let trace = self.of(file);
            plans.notes.extend(self.note(&trace));
            plans.loads.push(Load::Trace { trace });
        }
        Ok(plans)
    }

    /// Validates the flows and converts them.
    pub(crate) fn flows(&self, written: &[At<WrittenFlow>]) -> Result<(Vec<Flow>, Vec<String>), Refusal> {
        let mut flows: Vec<Flow> = Vec::new();
        let mut notes = Vec::new();
        if let Some(beyond) = written.get(MAX_FLOWS) {
            let error = PlanError::TooMany { what: "flows", count: written.len(), max: MAX_FLOWS };
            return Err(error.at(beyond.span()));
        }
        for flow in written {
            let WrittenFlow { name, size, rate, arrival, trace, qos: _ } = flow.get();
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if name.get().is_empty() || name.get().len() > MAX_NAME || !name.get().chars().all(plain) {
                let words = format!("`{}` cannot be the name of a flow", name.get());
                return Err(contradiction(words, "use up to 64 letters, digits and `-`").at(name.span()));
            }
            if flows.iter().any(|known| known.name == *name.get()) {
                return Err(PlanError::Twice { what: "flow", value: name.get().clone() }.at(name.span()));
            }
            let size_bytes = size.get().0;
            if size_bytes < MIN_SIZE_BYTES {
                return Err(PlanError::TooSmall { size: size_bytes }.at(size.span()));
            }
            let load = match (rate, trace) {
                (Some(rate), None) => {
                    if let WrittenRate::Share(share) = rate.get() {
                        let words =
                            format!("flow `{}` at {share} of a maximum: several flows have none", name.get());
                        let hint = "give each flow a rate of its own, such as `1000`; percents are of the factor `rate`";
                        return Err(contradiction(words, hint).at(rate.span()));
                    }
                    if matches!(rate.get(), WrittenRate::Max | WrittenRate::Throttled(_)) {
                        let words = format!("flow `{}` at `max` leaves no time to the others", name.get());
                        let hint = "give each flow a rate; `max` is measured alone, as the factor `rate`";
                        return Err(contradiction(words, hint).at(rate.span()));
                    }
                    let arrival = arrival.as_ref().map_or(Arrival::Constant, |arrival| *arrival.get());
                    load(rate, arrival, size_bytes, &mut notes)?
                }
                (None, Some(file)) => {
                    if let Some(arrival) = arrival {
                        return Err(contradiction(
                            "`arrival` says nothing of a trace, which has times of its own",
                            "leave `arrival` out",
                        )
                        .at(arrival.span()));
                    }
                    let trace = self.of(file.get());
                    notes.extend(self.note(&trace));
                    Load::Trace { trace }
                }
                _ => {
                    let words = format!("flow `{}` needs one of `rate` and `trace`", name.get());
                    return Err(contradiction(words, "write for instance `rate = 1000`").at(name.span()));
                }
            };
            // The QoS is set per driver.
            flows.push(Flow { name: name.get().clone(), size_bytes, load, qos: None, qos_of_ends: None });
        }
        let times = flows.iter().map(|flow| match &flow.load {
            Load::Trace { trace } => trace.samples,
            _ => 0,
        });
        let times = times.sum::<u64>() as usize;
        if times > MAX_TRACE_SAMPLES {
            let error = PlanError::TooMany { what: "times of a run", count: times, max: MAX_TRACE_SAMPLES };
            return Err(error.at(written[0].span()));
        }
        Ok((flows, notes))
    }
}

/// Converts a rate and an arrival to a load.
fn load(
    rate: &At<WrittenRate>,
    arrival: Arrival,
    size_bytes: u64,
    notes: &mut Vec<String>,
) -> Result<Load, Refusal> {
    if let Some(words) = rate.get().fault(size_bytes) {
        let hint = if matches!(rate.get(), WrittenRate::Share(_)) { SHARES } else { RATES };
        return Err(contradiction(words, hint).at(rate.span()));
    }
    let burst_of_what = || {
        let words = format!("the rate `{}` does not say how many samples a burst has", rate.get());
        contradiction(words, BURSTS).at(rate.span())
    };
    let Some(of_size) = rate.get().of_size(size_bytes) else {
        return match *rate.get() {
            WrittenRate::Throttled(queue) => Ok(Load::throttled(queue)),
            WrittenRate::Share(_) if arrival == Arrival::Burst => Err(burst_of_what()),
            WrittenRate::Share(percent) => Ok(Load::Share { percent, arrival, rate: None }),
            _ => Ok(Load::Max),
        };
    };
    Ok(match arrival {
        Arrival::Constant => Load::Constant { rate: of_size },
        Arrival::Poisson => Load::Poisson { rate: of_size },
        Arrival::Burst => match rate.get().bursts() {
            Some(bursts) if bursts.samples == 1 => {
                notes.push(format!("bursts of 1 are a constant rate: `{}` is measured as such", rate.get()));
                Load::Constant { rate: of_size }
            }
            Some(bursts) => Load::Burst { rate: bursts },
            None => return Err(burst_of_what()),
        },
    })
}

/// Returns whether a selection matches the load of a cell.
pub(crate) fn selects(selection: &Selection, factors: &Factors, given: &Given<'_>) -> bool {
    let load = factors.load.as_ref();
    let rate_is = |asked: &WrittenRate| match load {
        Some(Load::Max) => *asked == WrittenRate::Max,
        Some(throttled @ Load::Throttled { .. }) => match *asked {
            WrittenRate::Throttled(queue) => {
                Load::throttled(queue).of_writer(factors.queues.send_samples) == *throttled
            }
            _ => false,
        },
        Some(Load::Burst { rate }) => asked.bursts() == Some(*rate),
        Some(Load::Share { percent, .. }) => *asked == WrittenRate::Share(*percent),
        load => load.and_then(Load::rate).is_some_and(|rate| asked.of_size(factors.size_bytes) == Some(rate)),
    };
    let arrival_is = |asked: &Arrival| {
        let arrival = match load {
            Some(Load::Constant { .. }) => Arrival::Constant,
            Some(Load::Poisson { .. }) => Arrival::Poisson,
            Some(Load::Burst { .. }) => Arrival::Burst,
            Some(Load::Share { arrival, .. }) => *arrival,
            Some(Load::Trace { .. } | Load::Max | Load::Throttled { .. }) | None => return false,
        };
        *asked == arrival
    };
    let trace_is = |asked: &String| match load {
        Some(Load::Trace { trace }) => given.traces.get(asked).is_some_and(|given| given.path == trace.file),
        _ => false,
    };
    selection.rate.as_ref().is_none_or(|asked| asked.values().any(rate_is))
        && selection.arrival.as_ref().is_none_or(|asked| asked.values().any(arrival_is))
        && selection.trace.as_ref().is_none_or(|asked| asked.values().any(trace_is))
}

/// Rejects rates and flows that have no effect or contradict each other.
pub(crate) fn check(written: &Written, axes: &[&Axes]) -> Result<(), Refusal> {
    use crate::Workload::{Paced, Search};
    let factors = &written.factors;
    let paced = |axes: &Axes| axes.workload.values().any(|workload| *workload == Paced);
    let some_paced = axes.iter().any(|axes| paced(axes));
    let said = |many: Option<crate::Span>, name| many.map(|at| (at, name));
    let searches = |axes: &&Axes| axes.workload.values().any(|workload| *workload == Search);
    let spin = written.design.spin.as_ref().map(At::span).filter(|_| !axes.iter().any(searches));
    let load = [
        said(span(factors.rate.as_ref()), "rate"),
        said(span(factors.arrival.as_ref()), "arrival"),
        said(span(factors.trace.as_ref()), "trace"),
        said(spin, "spin"),
        said(written.flows.first().map(At::span), "flows"),
    ];
    if !some_paced && let Some((at, name)) = load.into_iter().flatten().next() {
        let words = format!("`{name}` says nothing without the workload `paced`");
        return Err(contradiction(words, "add `paced` to `workload`, or leave this out").at(at));
    }
    if !written.flows.is_empty() {
        return check_flows(written);
    }
    let arrivals = std::iter::once((&factors.rate, &factors.arrival))
        .chain(factors.include.iter().map(|selection| (&selection.get().rate, &selection.get().arrival)));
    for (rate, arrival) in arrivals {
        let none = rate.as_ref().or(factors.rate.as_ref()).is_none_or(|rate| rate.0.is_empty());
        if let Some(arrival) = arrival.as_ref().filter(|_| none) {
            let words = "`arrival` says nothing without `rate`";
            return Err(contradiction(words, "add `rate`, or leave `arrival` out")
                .at(span(Some(arrival)).unwrap_or(0..0)));
        }
    }
    for axes in axes {
        if paced(axes) && axes.rate.0.is_empty() && axes.trace.0.is_empty() {
            let at = axes.workload.0.iter().find(|workload| *workload.get() == Paced).map_or(0..0, At::span);
            let words = "the workload `paced` needs a rate, and none is given";
            let hint = "add `rate` or `trace` under `[factors]`, or write `[[flows]]`";
            return Err(contradiction(words, hint).at(at));
        }
    }
    Ok(())
}

/// Returns a note if searches are combined with arrivals that they do not use.
pub(crate) fn searches_note(axes: &[&Axes]) -> Option<String> {
    use crate::Workload::{Paced, Search};
    let has = |axes: &&&Axes, workload| axes.workload.values().any(|known| *known == workload);
    let both = axes.iter().filter(|axes| has(axes, Paced) && has(axes, Search));
    let other = |arrival: &&Arrival| **arrival != Arrival::Constant;
    let arrival = both.flat_map(|axes| axes.arrival.values()).find(other)?;
    Some(format!(
        "`arrival = \"{arrival}\"` is of the workload `paced`: the trials of `search` are at constant rates"
    ))
}

/// Rejects other workloads, and factors that the flows replace.
fn check_flows(written: &Written) -> Result<(), Refusal> {
    if written.workload.values().any(|workload| *workload != crate::Workload::Paced) {
        let words = "flows are of the workload `paced` alone";
        let hint = "write `workload = \"paced\"`, and the other workloads in a file of their own";
        return Err(contradiction(words, hint).at(span(Some(&written.workload)).unwrap_or(0..0)));
    }
    let factors = &written.factors;
    let mut double = vec![
        span(factors.size.as_ref()).map(|at| (at, "size")),
        span(factors.rate.as_ref()).map(|at| (at, "rate")),
        span(factors.arrival.as_ref()).map(|at| (at, "arrival")),
        span(factors.trace.as_ref()).map(|at| (at, "trace")),
    ];
    for selection in factors.include.iter().map(At::get) {
        double.extend([
            span(selection.workload.as_ref()).map(|at| (at, "workload")),
            span(selection.size.as_ref()).map(|at| (at, "size")),
            span(selection.rate.as_ref()).map(|at| (at, "rate")),
            span(selection.arrival.as_ref()).map(|at| (at, "arrival")),
            span(selection.trace.as_ref()).map(|at| (at, "trace")),
        ]);
    }
    if let Some((at, name)) = double.into_iter().flatten().next() {
        let words = format!("`{name}` is given for all, and the flows have their own");
        return Err(contradiction(words, "leave it out, or leave `[[flows]]` out").at(at));
    }
    Ok(())
}

/// Returns the position of a factor, from its first to its last value.
fn span<T>(many: Option<&Many<T>>) -> Option<crate::Span> {
    let many = &many?.0;
    Some(many.first().map_or(0, |first| first.span().start)..many.last().map_or(0, |last| last.span().end))
}

/// Rejects loads that are given twice.
pub(crate) fn distinct(axes: &Axes) -> Result<(), Refusal> {
    all_distinct("rate", &axes.rate)?;
    all_distinct("arrival", &axes.arrival)?;
    all_distinct("trace", &axes.trace)
}
