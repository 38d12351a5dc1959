//! Flows of an experiment: validation, groups, phases, deadlines, and the threads that write them.

use std::collections::BTreeSet;

use crate::{
    factors::{
        Value, Workload,
        flow::{Deadline, Flow, FlowKind, READING_PROCESS, WRITING_PROCESS, random_phase_ns, seed_of_sizes},
        load::{Arrival, Load},
        rate::RateSpec,
        sizes::{SizeDistribution, Sizes},
    },
    plan::{
        experiment::Plan,
        experiment_file::{ExperimentFile, FlowSection},
        loads::{Traces, load},
        processes::{self, check_name},
        system_factors,
        threads::WritingThreads,
    },
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError, contradiction},
        trace::MAX_TRACE_SAMPLES,
        units::{Size, Time},
    },
};

/// Maximum number of flows of a run.
pub const MAX_FLOWS: usize = 1_000;
/// Shortest and longest deadline of a flow, in ns.
const DEADLINES_NS: std::ops::RangeInclusive<u64> = 1_000..=3_600_000_000_000;
/// Highest rate of all flows together at which several writing threads spin before each send, in samples/s: a spin of 60 µs then
/// takes about a tenth of a core.
const SPIN_SPS: f64 = 2_000.0;

impl FlowSection {
    /// Returns the number of flows of the entry.
    pub(crate) fn number(&self) -> usize {
        self.count.as_ref().map_or(1, |count| *count.get() as usize)
    }

    /// Names its writers and readers.
    pub(crate) fn ends_text(&self) -> String {
        let names = |of: &OneOrMany<String>, default: &str| {
            let names: Vec<&str> = of.values().map(String::as_str).collect();
            if names.is_empty() { default.to_owned() } else { names.join("`, `") }
        };
        let (from, to) = (names(&self.from, WRITING_PROCESS), names(&self.to, READING_PROCESS));
        format!("flow `{}`: the writer in `{from}` and the reader in `{to}`", self.name.get())
    }
}

impl ExperimentFile {
    /// Sets the threads that write the flows, and whether they spin before each send: one does, several only at a low rate.
    pub(crate) fn set_threads(&self, plan: &mut Plan) {
        let Some(flows) = plan.cells.first().map(|cell| &cell.factors.flows).filter(|flows| flows.len() > 1)
        else {
            return;
        };
        let threads = self.design.threads.as_ref().map(|threads| threads.get().clone());
        plan.design.threads = threads.unwrap_or(WritingThreads::PerTopic);
        // The trials of a search have other rates, and wait in the same way.
        let is_searched = plan.cells.iter().any(|cell| cell.factors.workload == Workload::Search);
        let is_slow =
            flows.iter().filter_map(|flow| flow.load.mean_sps()).sum::<f64>() <= SPIN_SPS && !is_searched;
        if self.design.spin.is_none() && !plan.design.threads.is_one() {
            plan.design.spin = is_slow;
        }
    }
}

impl Traces<'_> {
    /// Validates the flows and converts them.
    pub(crate) fn flows(&self, file: &ExperimentFile) -> Result<(Vec<Flow>, Vec<String>), SpannedError> {
        let (mut flows, mut notes) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for section in &file.flows {
            let FlowSection { name, count, .. } = section.get();
            check_name(name, "flow")?;
            if let Some(count) = count
                && !(1..=MAX_FLOWS).contains(&section.get().number())
            {
                let words = format!("`count = {}` is out of range", count.get());
                return count.refused(words, "use 1 to 1000");
            }
            let number = section.get().number();
            if flows.len() + number > MAX_FLOWS {
                let count = file.flows.iter().map(|section| section.get().number()).sum();
                return Err(PlanError::too_many("flows", count, MAX_FLOWS).at(section.span()));
            }
            let (size_bytes, distribution) = self.sizes_of(section.get())?;
            check_beside_sizes(file, section.get(), distribution.is_some())?;
            let mean_bytes = distribution.as_ref().map_or(size_bytes, SizeDistribution::mean_bytes);
            let load = self.load_of(section.get(), mean_bytes, &mut notes)?;
            let deadline = deadline(section.get(), &load)?;
            let phase_ns = self.phase_ns(section.get())?;
            if count.is_some() && !names.insert(name.get().clone()) {
                return Err(PlanError::twice("flow", name.get()).at(name.span()));
            }
            for index in 1..=number {
                let group = count.is_some().then(|| name.get().clone());
                let name =
                    group.as_ref().map_or_else(|| name.get().clone(), |group| format!("{group}-{index}"));
                if !names.insert(name.clone()) {
                    return Err(PlanError::twice("flow", name).at(section.get().name.span()));
                }
                let seed = file.design.seed.unwrap_or(0);
                let drawn = || random_phase_ns(&name, &load, seed);
                let sizes = distribution.clone();
                let sizes =
                    sizes.map(|distribution| Sizes { distribution, seed: seed_of_sizes(&name, seed) });
                // The QoS is set per driver.
                flows.push(Flow {
                    group,
                    phase_ns: phase_ns.unwrap_or_else(drawn),
                    deadline,
                    sizes,
                    from: section.get().from.values().cloned().collect(),
                    to: section.get().to.values().cloned().collect(),
                    background: section.get().kind == Some(FlowKind::Background),
                    ..Flow::new(&name, size_bytes, load.clone())
                });
            }
        }
        let times = flows.iter().filter_map(|flow| flow.load.trace()).map(|trace| trace.samples);
        let times = times.sum::<u64>() as usize;
        if times > MAX_TRACE_SAMPLES {
            let error = PlanError::too_many("times of a run", times, MAX_TRACE_SAMPLES);
            return Err(error.at(file.flows[0].span()));
        }
        if let Some(threads) = &file.design.threads {
            check_threads(threads, &flows)?;
        }
        Ok((flows, notes))
    }

    /// Returns the size of the largest sample of a flow, and the distribution of its sizes if they are drawn.
    fn sizes_of(&self, flow: &FlowSection) -> Result<(u64, Option<SizeDistribution>), SpannedError> {
        let name = flow.name.get();
        match (&flow.size, self.largest_recorded(flow)) {
            (Some(size), None) => size.checked(),
            (None, Some(largest)) => Ok((largest.get().0, None)),
            (Some(size), Some(_)) => {
                let words = format!("flow `{name}` has a `size`, and its trace has the size of each sample");
                size.refused(words, "remove `size`, or the sizes in the trace")
            }
            (None, None) => {
                let words = format!("flow `{name}` has no `size`");
                let hint = "add for example `size = 1024`, or the size of each sample to its trace";
                flow.name.refused(words, hint)
            }
        }
    }

    /// Returns the size of the largest sample of the trace of a flow, if it has sizes.
    pub(crate) fn largest_recorded(&self, flow: &FlowSection) -> Option<Located<Size>> {
        let file = flow.trace.as_ref()?;
        let sizes = self.trace(file.get()).sizes?;
        Some(Located::at(file.span(), Size(sizes.largest_bytes)))
    }

    /// Returns the load of a flow with samples of this mean size.
    fn load_of(
        &self,
        flow: &FlowSection,
        mean_bytes: u64,
        notes: &mut Vec<String>,
    ) -> Result<Load, SpannedError> {
        let FlowSection { name, rate, arrival, trace, .. } = flow;
        match (rate, trace) {
            (Some(rate), None) => {
                if let RateSpec::Share(share) = rate.get() {
                    let words =
                        format!("flow `{}` at {share}: several flows have no maximum rate", name.get());
                    return rate.refused(words, "give each flow a rate in samples/s, such as `1000`");
                }
                if matches!(rate.get(), RateSpec::Max | RateSpec::Throttled(_)) {
                    let words = format!("flow `{}` at `max` is not supported beside other flows", name.get());
                    return rate.refused(words, "give each flow a rate");
                }
                if matches!(rate.get(), RateSpec::PerWriter(_)) {
                    let words = format!("flow `{}` has different rates of its writers", name.get());
                    return rate.refused(words, "give each flow one rate, which all writers have");
                }
                let arrival = arrival.as_ref().map_or(Arrival::Constant, |arrival| *arrival.get());
                load(rate, arrival, mean_bytes, notes)
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
                Ok(Load::Trace { trace })
            }
            _ => {
                let words = format!("flow `{}` needs one of `rate` and `trace`", name.get());
                name.refused(words, "add for example `rate = 1000`")
            }
        }
    }

    /// Returns the phase that the file gives to a flow.
    fn phase_ns(&self, flow: &FlowSection) -> Result<Option<u64>, SpannedError> {
        let Some(phase) = &flow.phase else { return Ok(None) };
        if flow.trace.is_some() {
            let words = "`phase` has no effect on a trace, which contains the send times";
            return phase.refused(words, "remove `phase`");
        }
        let Time(ns) = *phase.get();
        if ns >= self.measure_ns {
            let words = format!("the phase of flow `{}` is not within the measured time", flow.name.get());
            return phase.refused(words, "give a time below `measure` under `[design]`");
        }
        Ok(Some(ns))
    }
}

fn deadline(flow: &FlowSection, load: &Load) -> Result<Option<Deadline>, SpannedError> {
    if let Some(deadline) = &flow.deadline
        && !DEADLINES_NS.contains(&deadline.get().0)
    {
        let (ns, range) = (deadline.get().0, "1 µs to 1 hour");
        return Err(PlanError::time("the deadline of a flow", ns, range).at(deadline.span()));
    }
    if let Some(missed) = &flow.missed
        && missed.get().0 >= 100.0
    {
        let words = format!("the limit of missed samples of flow `{}` is out of range", flow.name.get());
        return missed.refused(words, "give a share from `0%` to less than `100%`");
    }
    let missed_ppm = flow.missed.as_ref().map(|missed| (missed.get().0 * 1e4).round() as u32);
    Ok(Deadline::new(load, flow.deadline.as_ref().map(|deadline| deadline.get().0), missed_ppm))
}

/// Rejects factors that need samples of one size beside a flow whose sizes are drawn or recorded.
fn check_beside_sizes(
    file: &ExperimentFile,
    flow: &FlowSection,
    are_drawn: bool,
) -> Result<(), SpannedError> {
    let size = flow.size.as_ref().map(Located::span).filter(|_| are_drawn);
    let recorded = flow.trace.as_ref().map(Located::span).filter(|_| flow.size.is_none());
    let Some(at) = size.or(recorded) else { return Ok(()) };
    let is_given = |key| {
        file.all_values().any(|values| {
            let given = values.get(key).into_iter().flat_map(|values| values.0.iter());
            given.into_iter().any(|value| *value.get() != Value::from(false))
        })
    };
    let needs_one_size = [
        ("loans", "middleware lends memory for samples of one size"),
        ("content_filter", "the bytes of a part of the samples are not known before the run"),
    ];
    match needs_one_size.into_iter().find(|(key, _)| is_given(key)) {
        Some((key, why)) => {
            let words = format!("samples of different sizes are not supported with `{key}`: {why}");
            Err(contradiction(words, "give the flow one size, or remove the factor").at(at))
        }
        None => Ok(()),
    }
}

/// Rejects threads of a process that writes no flow, and groups that name a flow twice, or one that does not exist or that another
/// process writes.
fn check_threads(threads: &Located<WritingThreads>, flows: &[Flow]) -> Result<(), SpannedError> {
    match threads.get() {
        WritingThreads::Groups(groups) => check_groups(groups, &flows.iter().collect::<Vec<_>>(), ""),
        WritingThreads::Processes(processes) => processes.iter().try_for_each(|(process, threads)| {
            let written = |flow: &&Flow| flow.writing_processes().any(|name| name == process);
            if !flows.iter().any(|flow| written(&flow)) {
                let words = format!("`threads` names the process `{process}`, which writes no flow");
                return Err(contradiction(words, "use the names in `from` of `[[flows]]`"));
            }
            match threads {
                WritingThreads::Groups(groups) => {
                    let whose = format!(" of process `{process}`");
                    check_groups(groups, &flows.iter().filter(written).collect::<Vec<_>>(), &whose)
                }
                _ => Ok(()),
            }
        }),
        WritingThreads::One | WritingThreads::PerTopic => Ok(()),
    }
    .map_err(|error| error.at(threads.span()))
}

fn check_groups(groups: &[Vec<String>], flows: &[&Flow], whose: &str) -> Result<(), PlanError> {
    let mut named = BTreeSet::new();
    for name in groups.iter().flatten() {
        let is_of = |flow: &Flow| flow.name == *name || flow.group.as_ref() == Some(name);
        if !flows.iter().any(|flow| is_of(flow)) {
            let words = format!("`threads` names `{name}`, which is not a flow{whose}");
            return Err(contradiction(words, "use the names in `[[flows]]`"));
        }
        if !named.insert(name) {
            let words = format!("`threads` names `{name}` twice");
            return Err(contradiction(words, "name each flow in one group"));
        }
    }
    Ok(())
}

/// Rejects other workloads beside flows, and factors that the flows replace.
pub(crate) fn check(file: &ExperimentFile) -> Result<(), SpannedError> {
    system_factors::check(file)?;
    if file.flows.is_empty() {
        return Ok(());
    }
    let has_flows = |workload: &Workload| matches!(workload, Workload::Paced | Workload::Search);
    if !file.workload.values().all(has_flows) {
        let words = "flows are supported by the workloads `paced` and `search` only";
        let hint = "use `workload = \"paced\"`, and another file for the other workloads";
        return Err(contradiction(words, hint).at(file.workload.span()));
    }
    if let Some((at, name)) = file.first_given(&["workload", "size", "rate", "arrival", "trace", "topics"]) {
        let words = format!("`{name}` is given both for all flows and in flows");
        return Err(contradiction(words, "remove it, or remove `[[flows]]`").at(at));
    }
    processes::check(file)
}
