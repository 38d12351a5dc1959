//! Expansion of the factors into cells, per driver, limited to what the driver supports.

use crate::{
    Factors, Flow, Load, PlanError, Queues, Refusal, Topology, Workload,
    batch::Batch,
    exclusion::only,
    loads::{Plans, Traces},
    many::{At, Many},
    matrix::{Axes, MAX_CELLS},
    pairing,
    planner::Given,
    variables,
    written::{Selection, Written},
};

const UNBATCHED: Batch = Batch::Bytes(0);

/// State of the expansion.
pub(crate) struct Expansion<'a> {
    pub(crate) written: &'a Written,
    pub(crate) given: &'a Given<'a>,
    pub(crate) traces: &'a Traces<'a>,
    /// Flows of each paced run, if the experiment has flows.
    pub(crate) flows: &'a [Flow],
    /// Excluded cells, which drivers need not support.
    pub(crate) excludes: &'a [At<Selection>],
    /// For each exclude, whether it covers a combination that a driver does not support.
    pub(crate) spared: Vec<bool>,
    /// Whether an unsupported combination is left out with a note, because no driver was named.
    pub(crate) lenient: bool,
    /// Factors of each cell, and whether it is excluded.
    pub(crate) factors: Vec<(Factors, bool)>,
    pub(crate) notes: Vec<Note>,
}

/// Change or omission for a driver.
#[derive(PartialEq)]
pub(crate) struct Note {
    pub(crate) driver: String,
    pub(crate) left_out: bool,
    pub(crate) words: String,
}

impl Expansion<'_> {
    pub(crate) fn note(&mut self, driver: &str, left_out: bool, words: String) {
        let note = Note { driver: driver.to_owned(), left_out, words };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn expand(&mut self, axes: &Axes) -> Result<(), Refusal> {
        let count = axes.count();
        if count > MAX_CELLS {
            return Err(PlanError::TooMany { what: "cells", count, max: MAX_CELLS }.at(0..0));
        }
        for driver in &axes.driver.0 {
            self.expand_driver(driver, axes)?;
        }
        Ok(())
    }

    fn expand_driver(&mut self, driver: &At<String>, axes: &Axes) -> Result<(), Refusal> {
        let (at, driver) = (driver.span(), driver.get());
        let descriptions = &self.given.descriptions;
        let Some(description) = descriptions.get(driver) else {
            let known = descriptions.keys().cloned().collect();
            return Err(PlanError::NoDriver { driver: driver.clone(), known }.at(at));
        };
        pairing::check_installed(driver, descriptions).map_err(|error| error.at(at.clone()))?;
        if let Some(trouble) = pairing::trouble(driver, description) {
            return self.cannot(driver, Selection::default(), trouble.at(at));
        }
        if description.has("one_process") {
            let error = PlanError::OneProcess { driver: driver.to_owned() };
            return self.cannot(driver, Selection::default(), error.at(at));
        }
        let transports = self.transports(driver, description, &axes.transport)?;
        let mut receives = Vec::new();
        for receive in &axes.receive.0 {
            if description.receive_modes.contains(receive.get()) {
                if self.can_echo(driver, description, receive, axes)? {
                    receives.push(*receive.get());
                }
            } else {
                let known = description.receive_modes.iter().map(|mode| mode.name()).collect();
                let error =
                    PlanError::NoReceiveMode { driver: driver.to_owned(), mode: receive.get().name(), known };
                let cells = Selection { receive: only(*receive.get()), ..Selection::default() };
                self.cannot(driver, cells, error.at(receive.span()))?;
            }
        }
        let mut multicasts = Vec::new();
        for multicast in &axes.multicast.0 {
            if *multicast.get() && !description.has("multicast") {
                let error = PlanError::NoMulticast { driver: driver.to_owned() };
                let cells = Selection { multicast: only(true), ..Selection::default() };
                self.cannot(driver, cells, error.at(multicast.span()))?;
            } else {
                multicasts.push(*multicast.get());
            }
        }
        match axes.queues.held_against(driver, description) {
            Ok(note) => note.into_iter().for_each(|words| self.note(driver, false, words)),
            Err(refusal) => return self.cannot(driver, Selection::default(), refusal),
        }
        let queues = axes.queues.all();
        // Independent factors, combined into one list.
        let mut ways: Vec<(&String, bool, bool, &Queues)> = Vec::new();
        for interface in axes.interface.values() {
            for &multicast in &multicasts {
                for &shipped in axes.vendor_defaults.values() {
                    ways.extend(queues.iter().map(|queues| (interface, multicast, shipped, queues)));
                }
            }
        }
        let environments = variables::combinations(&axes.env);
        let profiles = self.profiles(driver, description, &axes.profile)?;
        let flows = self.flows;
        let (batching, batches) = self.batching(driver, description, axes)?;
        let options = self.options(driver, description)?;
        if transports.len().saturating_mul(options.len()).saturating_mul(axes.count()) > 2 * MAX_CELLS {
            let count = transports.len().saturating_mul(options.len()).saturating_mul(axes.count());
            return Err(PlanError::TooMany { what: "cells", count, max: MAX_CELLS }.at(0..0));
        }
        for (transport, max) in &transports {
            let sizes = self.payloads(driver, transport, *max, axes)?;
            sizes.iter().try_for_each(|(size, _)| axes.queues.have_room(*size))?;
            for options in &options {
                for &receive in &receives {
                    let ways = ways.iter().flat_map(|way| environments.iter().map(move |env| (*way, env)));
                    for ((interface, multicast, vendor_defaults, queues), env) in ways {
                        for profile in &profiles {
                            for (size, plans) in &sizes {
                                let size = *size;
                                let factors = |workload, load: Option<Load>, batch: Batch| Factors {
                                    driver: driver.to_owned(),
                                    transport: transport.clone(),
                                    workload,
                                    topology: Topology::Pair,
                                    size_bytes: size,
                                    load: load.map(|load| load.of_writer(queues.send_samples)),
                                    flows: profile.flows(flows, description, vendor_defaults),
                                    batch_bytes: batch.ceiling(size),
                                    batching: batch.by(batching),
                                    receive,
                                    interface: interface.clone(),
                                    multicast,
                                    vendor_defaults,
                                    profile: profile.name.clone(),
                                    queues: queues.of_cell(workload, receive),
                                    qos: profile.of_cell.qos(description, size, vendor_defaults),
                                    qos_of_ends: profile.of_cell.qos_of_ends(
                                        description,
                                        size,
                                        vendor_defaults,
                                    ),
                                    options: options.clone(),
                                    env: env.clone(),
                                };
                                self.workloads(axes, &batches, size, plans, factors);
                            }
                        }
                    }
                }
            }
        }
        if self.factors.len() > MAX_CELLS {
            return Err(
                PlanError::TooMany { what: "cells", count: self.factors.len(), max: MAX_CELLS }.at(0..0)
            );
        }
        Ok(())
    }

    /// Returns the sizes that the transport carries, each with its loads. For flows: their largest size, if it
    /// carries all.
    fn payloads(
        &mut self,
        driver: &str,
        transport: &str,
        max: u64,
        axes: &Axes,
    ) -> Result<Vec<(u64, Vec<Load>)>, Refusal> {
        if !self.flows.is_empty() {
            let asked = Many(self.written.flows.iter().map(|flow| flow.get().size.clone()).collect());
            let carried = self.sizes(driver, transport, max, &asked)?;
            let largest = carried.iter().max().filter(|_| carried.len() == self.flows.len());
            return Ok(largest.map(|&size| (size, Vec::new())).into_iter().collect());
        }
        let paced = axes.workload.values().any(|workload| *workload == Workload::Paced);
        let mut sizes = Vec::new();
        for size in self.sizes(driver, transport, max, &axes.size)? {
            let Plans { loads, notes } =
                if paced { self.traces.plans(axes, size)? } else { Plans::default() };
            for words in notes {
                self.note(driver, false, words);
            }
            sizes.push((size, loads));
        }
        Ok(sizes)
    }

    /// Adds the cells of a payload size; cells that exist already are not added again.
    fn workloads(
        &mut self,
        axes: &Axes,
        batches: &[Batch],
        size: u64,
        plans: &[Load],
        factors: impl Fn(Workload, Option<Load>, Batch) -> Factors,
    ) {
        // The smallest sample of a run decides whether batching has an effect.
        let size = self.flows.iter().map(|flow| flow.size_bytes).min().unwrap_or(size);
        let mut found = Vec::new();
        for &workload in axes.workload.values() {
            let loads: Vec<Option<Load>> = match workload {
                Workload::Latency => {
                    found.push(factors(workload, None, UNBATCHED));
                    continue;
                }
                Workload::Paced if self.flows.is_empty() => plans.iter().cloned().map(Some).collect(),
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
                        self.note(&unbatched.driver, false, note);
                        found.push(unbatched);
                    }
                } else {
                    found.push(factors(workload, load.clone(), batch));
                }
            }
        }
        for factors in found {
            if self.factors.iter().all(|(known, _)| *known != factors) {
                self.factors.push((factors, false));
            }
        }
    }
}
