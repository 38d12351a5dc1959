//! Loads of the workload `paced`: validation, and conversion for each sample size.

use std::collections::BTreeMap;

use crate::{
    FactorValues, Flow, Load, MIN_SIZE_BYTES, PlanError, Span, SpannedError, Trace, Workload,
    factors::{load::Arrival, rate::RateSpec},
    plan::{
        experiment_file::{ExperimentFile, FlowSection},
        plan_inputs::PlanInputs,
    },
    syntax::{
        one_or_many::Located,
        trace::{MAX_TRACE_SAMPLES, trace_times},
    },
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
    inputs: &'a PlanInputs<'a>,
    measure_ns: u64,
    read: BTreeMap<String, Trace>,
}

fn contradiction(words: impl Into<String>, hint: &'static str) -> PlanError {
    PlanError::Contradiction { words: words.into(), hint }
}

impl<'a> Traces<'a> {
    /// Parses the trace files of factors, flows and included cells.
    pub(crate) fn read(
        file: &ExperimentFile,
        inputs: &'a PlanInputs<'a>,
        measure_ns: u64,
    ) -> Result<Self, SpannedError> {
        let mut traces = Self { inputs, measure_ns, read: BTreeMap::new() };
        for trace_file in file.traces() {
            if !traces.read.contains_key(trace_file.get()) {
                let trace = traces.read_one(&trace_file)?;
                traces.read.insert(trace_file.get().clone(), trace);
            }
        }
        Ok(traces)
    }

    fn read_one(&self, file: &Located<String>) -> Result<Trace, SpannedError> {
        let name = file.get();
        let Some(read) = self.inputs.files.get(name) else {
            let error = contradiction(format!("trace `{name}` was not read"), "name a file that is there");
            return Err(error.at(file.span()));
        };
        let times = trace_times(&read.text)
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
            file: read.path.clone(),
            sha256: read.sha256.clone(),
            samples: times.len() as u64,
            length_ns,
        })
    }

    fn trace(&self, file: &str) -> Trace {
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
    pub(crate) fn plans(&self, axes: &FactorValues, size_bytes: u64) -> Result<Plans, SpannedError> {
        let mut plans = Plans::default();
        for rate in &axes.all::<RateSpec>("rate").0 {
            for arrival in &axes.all::<Arrival>("arrival").0 {
                let load = load(rate, *arrival.get(), size_bytes, &mut plans.notes)?;
                if !plans.loads.contains(&load) {
                    plans.loads.push(load);
                }
            }
        }
        for file in axes.all::<String>("trace").values() {
            let trace = self.trace(file);
            plans.notes.extend(self.note(&trace));
            plans.loads.push(Load::Trace { trace });
        }
        Ok(plans)
    }

    /// Validates the flows and converts them.
    pub(crate) fn flows(
        &self,
        file: &[Located<FlowSection>],
    ) -> Result<(Vec<Flow>, Vec<String>), SpannedError> {
        let mut flows: Vec<Flow> = Vec::new();
        let mut notes = Vec::new();
        if let Some(beyond) = file.get(MAX_FLOWS) {
            let error = PlanError::TooMany { what: "flows", count: file.len(), max: MAX_FLOWS };
            return Err(error.at(beyond.span()));
        }
        for flow in file {
            let FlowSection { name, size, rate, arrival, trace, qos: _ } = flow.get();
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
                    if let RateSpec::Share(share) = rate.get() {
                        let words =
                            format!("flow `{}` at {share}: several flows have no maximum rate", name.get());
                        let hint = "give each flow a rate in samples/s, such as `1000`";
                        return Err(contradiction(words, hint).at(rate.span()));
                    }
                    if matches!(rate.get(), RateSpec::Max | RateSpec::Throttled(_)) {
                        let words =
                            format!("flow `{}` at `max` is not supported beside other flows", name.get());
                        let hint = "give each flow a rate";
                        return Err(contradiction(words, hint).at(rate.span()));
                    }
                    let arrival = arrival.as_ref().map_or(Arrival::Constant, |arrival| *arrival.get());
                    load(rate, arrival, size_bytes, &mut notes)?
                }
                (None, Some(file)) => {
                    if let Some(arrival) = arrival {
                        return Err(contradiction(
                            "`arrival` has no effect on a trace, which contains the send times",
                            "remove `arrival`",
                        )
                        .at(arrival.span()));
                    }
                    let trace = self.trace(file.get());
                    notes.extend(self.note(&trace));
                    Load::Trace { trace }
                }
                _ => {
                    let words = format!("flow `{}` needs one of `rate` and `trace`", name.get());
                    return Err(contradiction(words, "add for example `rate = 1000`").at(name.span()));
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
            return Err(error.at(file[0].span()));
        }
        Ok((flows, notes))
    }
}

/// Converts a rate and an arrival to a load.
fn load(
    rate: &Located<RateSpec>,
    arrival: Arrival,
    size_bytes: u64,
    notes: &mut Vec<String>,
) -> Result<Load, SpannedError> {
    if let Some(words) = rate.get().fault(size_bytes) {
        let hint = if matches!(rate.get(), RateSpec::Share(_)) { SHARES } else { RATES };
        return Err(contradiction(words, hint).at(rate.span()));
    }
    let burst_of_what = || {
        let words = format!("the rate `{}` has no number of samples per burst", rate.get());
        contradiction(words, BURSTS).at(rate.span())
    };
    let Some(of_size) = rate.get().of_size(size_bytes) else {
        return match *rate.get() {
            RateSpec::Throttled(queue) => Ok(Load::throttled(queue)),
            RateSpec::Share(_) if arrival == Arrival::Burst => Err(burst_of_what()),
            RateSpec::Share(percent) => Ok(Load::Share { percent, arrival, rate: None }),
            _ => Ok(Load::Max),
        };
    };
    Ok(match arrival {
        Arrival::Constant => Load::Constant { rate: of_size },
        Arrival::Poisson => Load::Poisson { rate: of_size },
        Arrival::Burst => match rate.get().bursts() {
            Some(bursts) if bursts.samples == 1 => {
                notes.push(format!("bursts of 1 sample: `{}` is measured as a constant rate", rate.get()));
                Load::Constant { rate: of_size }
            }
            Some(bursts) => Load::Burst { rate: bursts },
            None => return Err(burst_of_what()),
        },
    })
}

/// Rejects rates and flows that have no effect or contradict each other.
pub(crate) fn check(file: &ExperimentFile, axes: &[&FactorValues]) -> Result<(), SpannedError> {
    let factors = &file.factors.values;
    let some_paced = axes.iter().any(|axes| axes.has_workload(Workload::Paced));
    let named = |at: Option<Span>, name| at.map(|at| (at, name));
    let searches = axes.iter().any(|axes| axes.has_workload(Workload::Search));
    let spin = file.design.spin.as_ref().map(Located::span).filter(|_| !searches);
    let load = [
        named(factors.span("rate"), "rate"),
        named(factors.span("arrival"), "arrival"),
        named(factors.span("trace"), "trace"),
        named(spin, "spin"),
        named(file.flows.first().map(Located::span), "flows"),
    ];
    if !some_paced && let Some((at, name)) = load.into_iter().flatten().next() {
        let words = format!("`{name}` has no effect without the workload `paced`");
        return Err(contradiction(words, "use the workload `paced`, or remove this").at(at));
    }
    if !file.flows.is_empty() {
        return check_flows(file);
    }
    for values in file.all_values() {
        let none = values.get("rate").or(factors.get("rate")).is_none_or(|rate| rate.0.is_empty());
        if let Some(at) = values.span("arrival").filter(|_| none) {
            let words = "`arrival` has no effect without `rate`";
            return Err(contradiction(words, "add `rate`, or remove `arrival`").at(at));
        }
    }
    for axes in axes {
        if axes.has_workload(Workload::Paced) && axes.count("rate") + axes.count("trace") == 0 {
            let workloads = axes.all::<Workload>("workload").0;
            let paced = workloads.iter().find(|workload| *workload.get() == Workload::Paced);
            let words = "the workload `paced` needs a rate";
            let hint = "add `rate` or `trace`, or write `[[flows]]`";
            return Err(contradiction(words, hint).at(paced.map_or(0..0, Located::span)));
        }
    }
    Ok(())
}

/// Returns a note if searches are combined with arrivals that they do not use.
pub(crate) fn searches_note(axes: &[&FactorValues]) -> Option<String> {
    let both =
        axes.iter().filter(|axes| axes.has_workload(Workload::Paced) && axes.has_workload(Workload::Search));
    let arrivals = both.flat_map(|axes| axes.all::<Arrival>("arrival").0);
    let arrival = arrivals.map(|arrival| *arrival.get()).find(|arrival| *arrival != Arrival::Constant)?;
    Some(format!(
        "`arrival = \"{arrival}\"` is of the workload `paced`: the trials of `search` are at constant rates"
    ))
}

/// Rejects other workloads, and factors that the flows replace.
fn check_flows(file: &ExperimentFile) -> Result<(), SpannedError> {
    if file.workload.values().any(|workload| *workload != Workload::Paced) {
        let words = "flows are supported by the workload `paced` only";
        let hint = "use `workload = \"paced\"`, and another file for the other workloads";
        return Err(contradiction(words, hint).at(file.workload.span()));
    }
    let replaced = ["size", "rate", "arrival", "trace", "topics"];
    let of_factors = replaced.iter().filter_map(|key| Some((file.factors.values.span(key)?, *key)));
    let of_included = file.factors.include.iter().flat_map(|values| {
        let keys = ["workload"].into_iter().chain(replaced);
        keys.filter_map(|key| Some((values.get().span(key)?, key)))
    });
    if let Some((at, name)) = of_factors.chain(of_included).next() {
        let words = format!("`{name}` is given both for all flows and in flows");
        return Err(contradiction(words, "remove it, or remove `[[flows]]`").at(at));
    }
    Ok(())
}
