//! Expansion of the factors into cells, per driver, limited to what the driver supports.

use driver_abi::description::DriverDescription;

use crate::{
    factors::{
        FACTORS, Factor, FactorValues, Factors, SetValue, Value, Workload, driver_pair, flow::Flow,
        load::Load, variables,
    },
    gather::distinct,
    plan::{
        axes::{MAX_CELLS, count},
        batches::Batch,
        experiment_file::{ExperimentFile, FlowSection},
        loads::{Plans, Traces},
        plan_inputs::PlanInputs,
        queue_checks,
        requested_transport::RequestedTransport,
    },
    syntax::{
        driver_name::is_pair,
        one_or_many::{Located, OneOrMany, Span},
        spanned_error::{PlanError, SpannedError, contradiction},
    },
};

const UNBATCHED: Batch = Batch::Bytes(0);

/// State of the expansion.
pub(crate) struct Expansion<'a> {
    pub(crate) file: &'a ExperimentFile,
    /// Whether streams have echo probes.
    pub(crate) is_probed: bool,
    pub(crate) inputs: &'a PlanInputs<'a>,
    pub(crate) traces: &'a Traces<'a>,
    /// Flows of each paced run, if the experiment has flows.
    pub(crate) flows: &'a [Flow],
    /// Excluded cells, which drivers need not support.
    pub(crate) excludes: &'a [Located<FactorValues>],
    /// For each exclude, whether it covers a combination that a driver does not support.
    pub(crate) spared: Vec<bool>,
    /// Whether an unsupported combination is left out with a note, because no driver was named.
    pub(crate) lenient: bool,
    /// Factors of each cell, and whether it is excluded.
    pub(crate) factors: Vec<(Factors, bool)>,
    pub(crate) notes: Vec<Note>,
}

/// Expansion for a driver.
pub(crate) struct OfDriver<'e, 'a> {
    pub(crate) all: &'e mut Expansion<'a>,
    /// Name as given.
    pub(crate) driver: &'e str,
    pub(crate) description: &'e DriverDescription,
    pub(crate) axes: &'e FactorValues,
}

/// Change or omission for a driver.
#[derive(PartialEq)]
pub(crate) struct Note {
    pub(crate) driver: String,
    pub(crate) left_out: bool,
    pub(crate) words: String,
    /// Whether `words` is a policy that the driver accepts without effect.
    pub(crate) is_ignored_policy: bool,
}

impl Note {
    /// Returns the texts of notes; the policies that a driver accepts without effect are one text.
    pub(crate) fn in_words(notes: &[Self]) -> Vec<String> {
        let ignored_by = |driver: &str| {
            let of = notes.iter().filter(|note| note.is_ignored_policy && note.driver == driver);
            of.map(|note| note.words.as_str()).collect::<Vec<_>>()
        };
        let text = |note: &Self| match note.is_ignored_policy {
            false => note.words.clone(),
            true => {
                let policies = ignored_by(&note.driver);
                let noun = if policies.len() == 1 { "policy" } else { "policies" };
                format!("driver `{}` accepts {noun} {} without effect", note.driver, policies.join(", "))
            }
        };
        distinct(notes.iter().map(text))
    }
}

impl Expansion<'_> {
    fn add(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn expand(&mut self, axes: &FactorValues) -> Result<(), SpannedError> {
        let count = count(axes);
        if count > MAX_CELLS {
            return Err(PlanError::too_many("cells", count, MAX_CELLS).at(0..0));
        }
        for driver in &axes.all::<String>("driver").0 {
            let descriptions = &self.inputs.descriptions;
            let Some(description) = descriptions.get(driver.get()) else {
                let known: Vec<&str> = descriptions.keys().map(String::as_str).collect();
                let hint = match known.is_empty() {
                    true => "no driver is installed".to_owned(),
                    false => format!("there are {}", known.join(", ")),
                };
                return driver.refused(format!("driver `{}` not found", driver.get()), hint);
            };
            OfDriver { all: self, driver: driver.get(), description, axes }.expand(driver.span())?;
        }
        Ok(())
    }
}

impl OfDriver<'_, '_> {
    pub(crate) fn note(&mut self, left_out: bool, words: String) {
        self.all.add(Note { driver: self.driver.to_owned(), left_out, words, is_ignored_policy: false });
    }

    /// Notes a policy that the driver accepts without effect.
    pub(crate) fn note_ignored(&mut self, words: String) {
        let driver = self.driver.to_owned();
        self.all.add(Note { driver, left_out: false, words, is_ignored_policy: true });
    }

    fn expand(&mut self, at: Span) -> Result<(), SpannedError> {
        let Self { driver, description, axes, .. } = *self;
        driver_pair::check_installed(driver, self.all.inputs.descriptions)
            .map_err(|error| error.at(at.clone()))?;
        if let Some(error) = driver_pair::check_pair(driver, description) {
            return self.cannot(&FactorValues::default(), error.at(at));
        }
        if is_pair(driver) && self.all.flows.iter().any(Flow::names_processes) {
            let error = contradiction(
                format!("a process that writes and reads has one driver, and `{driver}` is two"),
                "measure each driver alone, or leave `from` and `to` out of the flows",
            );
            return self.cannot(&FactorValues::default(), error.at(at));
        }
        if description.has("one_process") {
            let error = contradiction(
                format!(
                    "driver `{driver}` cannot be measured: it does not reach from one process to another"
                ),
                "test it with `ddsmark drivers check`",
            );
            return self.cannot(&FactorValues::default(), error.at(at));
        }
        if axes.has_workload(Workload::Discovery) && description.has("locators") {
            let error = contradiction(
                format!("driver `{driver}` has no discovery: ddsmark passes it the locators of its peers"),
                "use a driver of DDS middleware; `ddsmark drivers list` shows those that are installed",
            );
            return self.cannot(&FactorValues::default(), error.at(at));
        }
        let transports = self.transports()?;
        let ways = self.ways()?;
        match queue_checks::check_support(axes, driver, description) {
            Ok(ignored) => ignored.into_iter().for_each(|policy| self.note_ignored(policy)),
            Err(error) => return self.cannot(&FactorValues::default(), error),
        }
        for name in variables::unread(&axes.env, description) {
            let words =
                format!("driver `{driver}` does not declare that it reads `{name}`: it may have no effect");
            self.note(false, words);
        }
        let environments = variables::combinations(&axes.env);
        let bases = self.bases()?;
        let flows = self.all.flows;
        let (batching, batches) = self.batching()?;
        let options = self.options()?;
        let count = transports.len().saturating_mul(options.len()).saturating_mul(count(axes));
        if count > 2 * MAX_CELLS {
            return Err(PlanError::too_many("cells", count, MAX_CELLS).at(0..0));
        }
        for transport in transports {
            let ways: Vec<&Factors> =
                ways.iter().filter(|way| transport.is_for(way.vendor_defaults)).collect();
            if ways.is_empty() {
                continue;
            }
            let sizes = self.payloads(&transport)?;
            sizes.iter().try_for_each(|(size, _)| queue_checks::have_room(axes, *size))?;
            for options in &options {
                for (way, env) in ways.iter().flat_map(|way| environments.iter().map(move |env| (way, env))) {
                    for profile in &bases[&way.base] {
                        for (size, plans) in &sizes {
                            let (size, shipped) = (*size, way.vendor_defaults);
                            let factors = |workload, load: Option<Load>, batch: Batch| {
                                let mut cell = Factors {
                                    driver: driver.to_owned(),
                                    transport: transport.name.clone(),
                                    workload,
                                    size_bytes: size,
                                    load: load.map(|load| load.of_writer(way.queues.send_samples)),
                                    flows: profile.flows(flows, description, shipped),
                                    batch_bytes: batch.ceiling(size),
                                    batching: batch.by(batching),
                                    profile: profile.name.clone(),
                                    qos: profile.of_cell.qos(description, size, shipped),
                                    qos_of_ends: profile.of_cell.qos_of_ends(description, size, shipped),
                                    options: options.clone(),
                                    env: env.clone(),
                                    ..(*way).clone()
                                };
                                FACTORS.iter().for_each(|row| row.settle(&mut cell));
                                cell.set_flows();
                                cell
                            };
                            self.workloads(&batches, size, plans, factors);
                        }
                    }
                }
            }
        }
        match self.all.factors.len() {
            count if count > MAX_CELLS => Err(PlanError::too_many("cells", count, MAX_CELLS).at(0..0)),
            _ => Ok(()),
        }
    }

    /// Returns every combination of the factors that do not depend on others, of the values that the driver
    /// supports.
    fn ways(&mut self) -> Result<Vec<Factors>, SpannedError> {
        let mut rows: Vec<(&Factor, SetValue)> =
            FACTORS.iter().filter_map(|row| Some((row, row.set?))).collect();
        rows.sort_by_key(|(row, _)| row.nesting);
        // Factors of links change the link of the lab.
        let mut ways = vec![Factors { link: self.all.inputs.link(), ..Factors::default() }];
        for (row, set) in rows {
            let Some(values) = self.axes.get(row.key) else { continue };
            let mut supported = Vec::new();
            for value in &values.0 {
                if let Some(error) = (row.unsupported)(self.driver, self.description, value.get()) {
                    let cells = FactorValues::only(row.key, value.get().clone());
                    self.cannot(&cells, error.at(value.span()))?;
                } else if row.key != "receive" || self.can_echo(value)? {
                    supported.push(value.get());
                }
            }
            let with = |way: &Factors, value: &Value| {
                let mut way = way.clone();
                set(&mut way, value);
                way
            };
            ways = ways.iter().flat_map(|way| supported.iter().map(move |value| with(way, value))).collect();
        }
        Ok(ways)
    }

    /// Returns the sizes that the transport carries, each with its loads. For flows: their largest size, if it
    /// carries all.
    fn payloads(&mut self, transport: &RequestedTransport) -> Result<Vec<(u64, Vec<Load>)>, SpannedError> {
        let Expansion { file, traces, flows, .. } = *self.all;
        if !flows.is_empty() {
            let largest = |flow: &FlowSection| {
                let written = flow.size.clone().map(|size| size.map(|size| size.largest()));
                written.or_else(|| traces.largest_recorded(flow))
            };
            let sizes = OneOrMany(file.flows.iter().filter_map(|flow| largest(flow.get())).collect());
            let carried = self.sizes(transport, &sizes)?;
            let largest = carried.iter().max().filter(|_| carried.len() == file.flows.len());
            return Ok(largest.map(|&size| (size, Vec::new())).into_iter().collect());
        }
        let paced = self.axes.has_workload(Workload::Paced);
        let mut sizes = Vec::new();
        for size in self.sizes(transport, &self.axes.all("size"))? {
            let Plans { loads, notes } =
                if paced { traces.plans(self.axes, size)? } else { Plans::default() };
            for words in notes {
                self.note(false, words);
            }
            sizes.push((size, loads));
        }
        Ok(sizes)
    }

    /// Adds the cells of a payload size; cells that exist already are not added again.
    fn workloads(
        &mut self,
        batches: &[Batch],
        size: u64,
        plans: &[Load],
        factors: impl Fn(Workload, Option<Load>, Batch) -> Factors,
    ) {
        // The smallest sample of a run decides whether batching has an effect.
        let flows = self.all.flows;
        let size = flows.iter().map(|flow| flow.size_bytes).min().unwrap_or(size);
        let mut found = Vec::new();
        for &workload in self.axes.all::<Workload>("workload").values() {
            let loads: Vec<Option<Load>> = match workload {
                Workload::Latency | Workload::Discovery => {
                    found.push(factors(workload, None, UNBATCHED));
                    continue;
                }
                Workload::Paced if flows.is_empty() => plans.iter().cloned().map(Some).collect(),
                Workload::Throughput | Workload::Paced | Workload::Search => vec![None],
            };
            for (load, &batch) in loads.iter().flat_map(|load| batches.iter().map(move |batch| (load, batch)))
            {
                let ceiling = batch.ceiling(size);
                // A sample larger than half of the maximum makes a batch of one sample, as without batching: it is
                // not measured twice.
                if ceiling > 0 && size > ceiling / 2 {
                    if !batches.contains(&UNBATCHED) {
                        let unbatched = factors(workload, load.clone(), UNBATCHED);
                        let note = format!(
                            "a batch of {ceiling} bytes holds one sample of {size}: measured unbatched"
                        );
                        self.note(false, note);
                        found.push(unbatched);
                    }
                } else {
                    found.push(factors(workload, load.clone(), batch));
                }
            }
        }
        for factors in found {
            if self.all.factors.iter().all(|(known, _)| *known != factors) {
                self.all.factors.push((factors, false));
            }
        }
    }
}
