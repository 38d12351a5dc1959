//! Loads of the workload `paced`: validation, and conversion for each sample size.

use std::collections::BTreeMap;

use crate::{
    factors::{
        FactorValues, Workload,
        load::{Arrival, Load, Trace},
        rate::RateSpec,
    },
    plan::{experiment_file::ExperimentFile, plan_inputs::PlanInputs},
    syntax::{
        one_or_many::{Located, Span},
        spanned_error::{SpannedError, contradiction, of_file},
        trace::trace_samples,
    },
};

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
    pub(crate) measure_ns: u64,
    read: BTreeMap<String, Trace>,
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
            return file.refused(format!("trace `{name}` was not read"), "name a file that is there");
        };
        let samples =
            trace_samples(&read.text).map_err(|fault| of_file("trace", name, &fault).at(file.span()))?;
        let length_ns = samples.times_ns.last().copied().unwrap_or_default();
        if length_ns >= self.measure_ns {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let words = format!(
                "trace `{name}` has its last sample at {} s, after the measured time of {} s",
                seconds(length_ns),
                seconds(self.measure_ns)
            );
            return file.refused(words, "give `measure` under `[design]` more than that");
        }
        Ok(Trace {
            file: read.path.clone(),
            sha256: read.sha256.clone(),
            samples: samples.times_ns.len() as u64,
            length_ns,
            sizes: samples.sizes(),
        })
    }

    pub(crate) fn trace(&self, file: &str) -> Trace {
        self.read.get(file).cloned().expect("all that are written were read")
    }

    /// Returns a note if a trace ends early.
    pub(crate) fn note(&self, trace: &Trace) -> Option<String> {
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
        for file in &axes.all::<String>("trace").0 {
            let trace = self.trace(file.get());
            if trace.sizes.is_some() {
                let words = format!("trace `{}` has sizes, beside the factor `size`", file.get());
                let hint = "write `[[flows]]` with this `trace`, or remove the sizes from the file";
                return file.refused(words, hint);
            }
            plans.notes.extend(self.note(&trace));
            plans.loads.push(Load::Trace { trace });
        }
        Ok(plans)
    }
}

/// Converts a rate and an arrival to a load.
pub(crate) fn load(
    rate: &Located<RateSpec>,
    arrival: Arrival,
    size_bytes: u64,
    notes: &mut Vec<String>,
) -> Result<Load, SpannedError> {
    if let RateSpec::PerWriter(rates) = rate.get() {
        let of_writer =
            |own: &RateSpec| load(&Located::at(rate.span(), own.clone()), arrival, size_bytes, notes);
        let loads: Result<Vec<Load>, SpannedError> = rates.iter().map(of_writer).collect();
        return loads.map(Load::per_writer);
    }
    if let Some(words) = rate.get().fault(size_bytes) {
        let hint = if matches!(rate.get(), RateSpec::Share(_)) { SHARES } else { RATES };
        return rate.refused(words, hint);
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

/// Rejects rates, flows and threads that have no effect, and contradictions between rates.
pub(crate) fn check(file: &ExperimentFile, axes: &[&FactorValues]) -> Result<(), SpannedError> {
    let factors = &file.factors.values;
    let some_paced = axes.iter().any(|axes| axes.has_workload(Workload::Paced));
    let named = |at: Option<Span>, name| at.map(|at| (at, name));
    let searches = axes.iter().any(|axes| axes.has_workload(Workload::Search));
    let spin = file.design.spin.as_ref().map(Located::span).filter(|_| !searches);
    let threads = file.design.threads.as_ref().map(Located::span);
    let flows = file.flows.first().map(Located::span);
    let searches_flows = searches && flows.is_some();
    let load = [
        named(factors.span("rate"), "rate"),
        named(factors.span("arrival"), "arrival"),
        named(factors.span("trace"), "trace"),
        named(spin, "spin"),
        named(threads.clone().filter(|_| !searches_flows), "threads"),
        named(flows.filter(|_| !searches_flows), "flows"),
    ];
    if !some_paced && let Some((at, name)) = load.into_iter().flatten().next() {
        let words = format!("`{name}` has no effect without the workload `paced`");
        return Err(contradiction(words, "use the workload `paced`, or remove this").at(at));
    }
    if !file.flows.is_empty() {
        return Ok(());
    }
    if let Some(at) = threads {
        let words = "`threads` has no effect without `[[flows]]`";
        return Err(contradiction(words, "add `[[flows]]`, or remove `threads`").at(at));
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
