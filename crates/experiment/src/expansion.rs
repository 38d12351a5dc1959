//! Each driver's combinations, held against what it can do.

use std::collections::BTreeMap;

use crate::{
    Batching, DriverDescription, Durability, Factors, History, MIN_SIZE_BYTES, PlanError, Policy, Qos,
    QosDuration, Refusal, Reliability, ReliabilityChoice, Support, Topology, Workload,
    many::{At, Many},
    matrix::{Axes, MAX_CELLS, all_distinct},
    planner::Given,
    policies::Policies,
    units::Size,
    written::Written,
};

/// What a reliable reader or writer may hold back, in bytes and in samples.
const QUEUE_BYTES: u64 = 64 << 20;
const QUEUE_SAMPLES: std::ops::RangeInclusive<u64> = 64..=10_000;
/// How long a write may block.
const MAX_BLOCKING_NS: u64 = 1_000_000_000;
/// The transport that each driver has first, and every one that it has.
pub(crate) const DEFAULT_TRANSPORT: &str = "default";
const ALL_TRANSPORTS: &str = "all";

/// Combinations in the making.
pub(crate) struct Expansion<'a> {
    pub(crate) written: &'a Written,
    pub(crate) given: &'a Given<'a>,
    /// Whether what a driver cannot do is left out with a note: nobody named the driver.
    pub(crate) lenient: bool,
    /// Each with whether it is excluded.
    pub(crate) factors: Vec<(Factors, bool)>,
    pub(crate) notes: Vec<Note>,
}

/// What was changed or left out for a driver.
#[derive(PartialEq)]
pub(crate) struct Note {
    pub(crate) driver: String,
    pub(crate) left_out: bool,
    pub(crate) words: String,
}

impl Expansion<'_> {
    fn note(&mut self, driver: &str, left_out: bool, words: String) {
        let note = Note { driver: driver.to_owned(), left_out, words };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Refuses what a driver cannot do, or takes note that it is left out.
    fn cannot(&mut self, driver: &str, refusal: Refusal) -> Result<(), Refusal> {
        if !self.lenient {
            return Err(refusal);
        }
        self.note(driver, true, format!("{}; left out", refusal.error));
        Ok(())
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
        if description.has("one_process") {
            return self.cannot(driver, PlanError::OneProcess { driver: driver.to_owned() }.at(at));
        }
        let transports = self.transports(driver, description, &axes.transport)?;
        let mut receives = Vec::new();
        for receive in &axes.receive.0 {
            if description.receive_modes.contains(receive.get()) {
                receives.push(*receive.get());
            } else {
                let known = description.receive_modes.iter().map(|mode| mode.name()).collect();
                let error =
                    PlanError::NoReceiveMode { driver: driver.to_owned(), mode: receive.get().name(), known };
                self.cannot(driver, error.at(receive.span()))?;
            }
        }
        let mut multicasts = Vec::new();
        for multicast in &axes.multicast.0 {
            if *multicast.get() && !description.has("multicast") {
                self.cannot(
                    driver,
                    PlanError::NoMulticast { driver: driver.to_owned() }.at(multicast.span()),
                )?;
            } else {
                multicasts.push(*multicast.get());
            }
        }
        // two ways that do not depend on each other, as one list
        let ways: Vec<(&String, bool)> = axes
            .interface
            .values()
            .flat_map(|interface| multicasts.iter().map(move |&multicast| (interface, multicast)))
            .collect();
        let profiles = self.profiles(driver, description, &axes.profile)?;
        let (batching, ceilings) = self.batching(driver, description, axes)?;
        let options = self.options(driver, description)?;
        if transports.len().saturating_mul(options.len()).saturating_mul(axes.count()) > 2 * MAX_CELLS {
            let count = transports.len().saturating_mul(options.len()).saturating_mul(axes.count());
            return Err(PlanError::TooMany { what: "cells", count, max: MAX_CELLS }.at(0..0));
        }
        for (transport, max) in &transports {
            let sizes = self.sizes(driver, transport, *max, &axes.size)?;
            for options in &options {
                for &receive in &receives {
                    for &(interface, multicast) in &ways {
                        for (profile, policies, reliability) in &profiles {
                            for &size in &sizes {
                                let factors = |workload, batch_bytes| Factors {
                                    driver: driver.to_owned(),
                                    transport: transport.clone(),
                                    workload,
                                    topology: Topology::Pair,
                                    size_bytes: size,
                                    load: None,
                                    flows: Vec::new(),
                                    batch_bytes,
                                    batching: if batch_bytes == 0 { Batching::None } else { batching },
                                    receive,
                                    interface: interface.clone(),
                                    multicast,
                                    profile: profile.clone(),
                                    qos: qos(description, *reliability, policies, size),
                                    options: options.clone(),
                                };
                                self.workloads(axes, &ceilings, size, factors);
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

    /// The cells of one size: what is there already is not added again.
    fn workloads(
        &mut self,
        axes: &Axes,
        ceilings: &[u64],
        size: u64,
        factors: impl Fn(Workload, u64) -> Factors,
    ) {
        let mut found = Vec::new();
        for &workload in axes.workload.values() {
            if workload == Workload::Latency {
                found.push(factors(workload, 0));
                continue;
            }
            for &ceiling in ceilings {
                // over half of the ceiling a batch holds one sample, as without batching: not measured twice
                if ceiling > 0 && size > ceiling / 2 {
                    if !ceilings.contains(&0) {
                        let unbatched = factors(workload, 0);
                        let note = format!(
                            "a batch of {ceiling} bytes holds one sample of {size}: measured unbatched"
                        );
                        self.note(&unbatched.driver, false, note);
                        found.push(unbatched);
                    }
                } else {
                    found.push(factors(workload, ceiling));
                }
            }
        }
        for factors in found {
            if self.factors.iter().all(|(known, _)| *known != factors) {
                self.factors.push((factors, false));
            }
        }
    }

    /// Names and limits of the transports meant.
    fn transports(
        &mut self,
        driver: &str,
        description: &DriverDescription,
        asked: &Many<String>,
    ) -> Result<Vec<(String, u64)>, Refusal> {
        let mut transports = Vec::new();
        for transport in &asked.0 {
            let found: Vec<_> = match transport.get().as_str() {
                ALL_TRANSPORTS => description.transports.iter().collect(),
                DEFAULT_TRANSPORT => description.transport(None).into_iter().collect(),
                name => description.transport(Some(name)).into_iter().collect(),
            };
            if found.is_empty() {
                let error = PlanError::NoTransport {
                    driver: driver.to_owned(),
                    transport: transport.get().clone(),
                    known: description.transports.iter().map(|transport| transport.name.clone()).collect(),
                };
                self.cannot(driver, error.at(transport.span()))?;
            }
            for found in found {
                let found = (found.name.clone(), found.max_payload_bytes);
                if !transports.contains(&found) {
                    transports.push(found);
                }
            }
        }
        Ok(transports)
    }

    fn sizes(
        &mut self,
        driver: &str,
        transport: &str,
        max: u64,
        asked: &Many<Size>,
    ) -> Result<Vec<u64>, Refusal> {
        let mut sizes = Vec::new();
        for size in &asked.0 {
            let Size(bytes) = *size.get();
            if bytes < MIN_SIZE_BYTES {
                return Err(PlanError::TooSmall { size: bytes }.at(size.span()));
            }
            if bytes > max {
                let (owner, transport) = (driver.to_owned(), transport.to_owned());
                let error = PlanError::TooLarge { size: bytes, driver: owner, transport, max };
                self.cannot(driver, error.at(size.span()))?;
            } else {
                sizes.push(bytes);
            }
        }
        Ok(sizes)
    }

    /// The profiles that the driver can have, each with its policies and what it says of reliability.
    fn profiles(
        &mut self,
        driver: &str,
        description: &DriverDescription,
        asked: &Many<String>,
    ) -> Result<Vec<(Option<String>, Policies, Reliability)>, Refusal> {
        let mut profiles = Vec::new();
        let base = &self.written.qos;
        let mut all: Vec<(Option<String>, Policies)> = asked
            .values()
            .map(|name| {
                let profile = self.written.profiles.get(&At::nowhere(name.clone()));
                (Some(name.clone()), profile.map_or_else(|| base.clone(), |profile| profile.over(base)))
            })
            .collect();
        if all.is_empty() {
            all.push((None, base.clone()));
        }
        for (name, policies) in all {
            if let Some(reliability) = self.policies(driver, description, &policies)? {
                profiles.push((name, policies, reliability));
            }
        }
        Ok(profiles)
    }

    /// What the policies say of reliability; none where the driver cannot have them.
    fn policies(
        &mut self,
        driver: &str,
        description: &DriverDescription,
        policies: &Policies,
    ) -> Result<Option<Reliability>, Refusal> {
        let reliable = description.support(Policy::Reliability) == Support::Enforced;
        let asked = policies.reliability.clone().unwrap_or_else(|| At::nowhere(ReliabilityChoice::Strongest));
        let reliability = match *asked.get() {
            ReliabilityChoice::Strongest if reliable => Reliability::Reliable,
            ReliabilityChoice::Strongest => {
                let note = format!("driver `{driver}` cannot guarantee delivery: it runs best effort");
                self.note(driver, false, note);
                Reliability::BestEffort
            }
            ReliabilityChoice::All(Reliability::Reliable) if !reliable => {
                self.cannot(driver, PlanError::NotReliable { driver: driver.to_owned() }.at(asked.span()))?;
                return Ok(None);
            }
            ReliabilityChoice::All(choice) => choice,
        };
        for (field, policy, at) in policies.written() {
            match description.support(policy) {
                Support::Unsupported => {
                    self.cannot(
                        driver,
                        PlanError::NoPolicy { driver: driver.to_owned(), policy, field }.at(at),
                    )?;
                    return Ok(None);
                }
                Support::Ignored => {
                    let note = format!("driver `{driver}` accepts policy {policy} without effect");
                    self.note(driver, false, note);
                }
                Support::NeedsService => {
                    let note = format!(
                        "driver `{driver}`: policy {policy} acts only with a further process or store"
                    );
                    self.note(driver, false, note);
                }
                Support::MatchedOnly | Support::Hint | Support::Enforced => {}
            }
        }
        Ok(Some(reliability))
    }

    /// Who packs samples, and the ceilings that can be measured.
    fn batching(
        &mut self,
        driver: &str,
        description: &DriverDescription,
        axes: &Axes,
    ) -> Result<(Batching, Vec<u64>), Refusal> {
        let batching = if description.has("native_batching") {
            Batching::Native
        } else if description.has("application_batching") {
            Batching::Application
        } else {
            Batching::None
        };
        let asked: Vec<u64> = axes.batch_bytes.values().map(|size| size.0).collect();
        let batched = axes.batch_bytes.0.iter().find(|size| size.get().0 > 0);
        let throughput = axes.workload.values().any(|workload| *workload == Workload::Throughput);
        match batched {
            Some(batched) if batching == Batching::None && throughput => {
                if asked.contains(&0) {
                    let note =
                        format!("driver `{driver}` cannot batch: its throughput is measured unbatched only");
                    self.note(driver, false, note);
                } else {
                    self.cannot(
                        driver,
                        PlanError::NoBatching { driver: driver.to_owned() }.at(batched.span()),
                    )?;
                }
                Ok((batching, asked.into_iter().filter(|&bytes| bytes == 0).collect()))
            }
            _ => Ok((batching, asked)),
        }
    }

    /// Every combination of the driver's own options.
    fn options(
        &self,
        driver: &str,
        description: &DriverDescription,
    ) -> Result<Vec<BTreeMap<String, String>>, Refusal> {
        let mut combinations = vec![BTreeMap::new()];
        let Some(written) = self.written.options.get(&At::nowhere(driver.to_owned())) else {
            return Ok(combinations);
        };
        for (option, values) in written {
            if !description.options.iter().any(|known| known.name == *option.get()) {
                let error = PlanError::NoOption {
                    driver: driver.to_owned(),
                    option: option.get().clone(),
                    known: description.options.iter().map(|known| known.name.clone()).collect(),
                };
                return Err(error.at(option.span()));
            }
            all_distinct("value of the option", values)?;
            if values.0.is_empty() {
                return Err(PlanError::Nothing("values of the option").at(option.span()));
            }
            let count = combinations.len().saturating_mul(values.0.len());
            if count > MAX_CELLS {
                return Err(PlanError::TooMany { what: "cells", count, max: MAX_CELLS }.at(option.span()));
            }
            combinations = combinations
                .into_iter()
                .flat_map(|combination: BTreeMap<String, String>| {
                    values.values().map(move |value| {
                        let mut with = combination.clone();
                        with.insert(option.get().clone(), value.0.clone());
                        with
                    })
                })
                .collect();
        }
        Ok(combinations)
    }
}

/// The QoS of every writer and reader of a cell. What is not written is asked for only where the driver has it.
fn qos(description: &DriverDescription, reliability: Reliability, policies: &Policies, size: u64) -> Qos {
    let has = |policy| description.support(policy) == Support::Enforced;
    let mut qos = Qos { reliability: Some(reliability), ..Qos::default() };
    if has(Policy::Durability) {
        qos.durability = Some(Durability::Volatile);
    }
    if has(Policy::History) {
        qos.history = Some(History::KeepAll);
    }
    if has(Policy::ResourceLimits) {
        let samples = (QUEUE_BYTES / size).clamp(*QUEUE_SAMPLES.start(), *QUEUE_SAMPLES.end());
        let samples = i32::try_from(samples).expect("at most 10,000");
        // what is written of the history must have room
        let depth = policies.history_depth.as_ref().map_or(0, |depth| *depth.get());
        let each = policies.max_samples_per_instance.as_ref().map_or(0, |limit| *limit.get());
        qos.max_samples = Some(samples.max(depth).max(each));
    }
    if reliability == Reliability::Reliable {
        qos.max_blocking_ns = Some(QosDuration::Ns(MAX_BLOCKING_NS));
    }
    policies.apply(&mut qos);
    qos
}
