//! The factors as written to cells: every combination, held against what the drivers can do.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Batching, Cell, DriverDescription, Durability, Factors, History, MIN_SIZE_BYTES, PlanError, Policy, Qos,
    QosDuration, ReceiveMode, Refusal, Reliability, ReliabilityChoice, Support, Topology, Workload,
    many::{At, Many, Span},
    planner::Given,
    policies::Policies,
    units::Size,
    written::{Selection, Written},
};

/// The most cells of an experiment: before that many are measured, the host is another one.
const MAX_CELLS: usize = 5_000;
/// What a reliable reader or writer may hold back, in bytes and in samples.
const QUEUE_BYTES: u64 = 64 << 20;
const QUEUE_SAMPLES: std::ops::RangeInclusive<u64> = 64..=10_000;
/// How long a write may block.
const MAX_BLOCKING_NS: u64 = 1_000_000_000;

/// The transport that each driver has first, and every one that it has.
const DEFAULT_TRANSPORT: &str = "default";
const ALL_TRANSPORTS: &str = "all";
/// The profile that is `[qos]` alone, unless it is written.
const DEFAULT_PROFILE: &str = "default";

/// Values of all factors but the drivers' own options.
#[derive(Clone)]
struct Axes {
    workload: Many<Workload>,
    driver: Many<String>,
    transport: Many<String>,
    size: Many<Size>,
    batch_bytes: Many<Size>,
    receive: Many<ReceiveMode>,
    interface: Many<String>,
    /// Empty where the experiment has no profiles.
    profile: Many<String>,
}

impl Axes {
    fn of(written: &Written, given: &Given<'_>) -> Result<Self, Refusal> {
        let factors = &written.factors;
        let text = |many: &Option<Many<String>>, default: &str| {
            many.clone().unwrap_or_else(|| Many::unwritten([default.to_owned()]))
        };
        let names: BTreeSet<&str> = written.profiles.keys().map(|name| name.get().as_str()).collect();
        let profiles = factors.profile.clone().unwrap_or_else(|| {
            let others = names.iter().filter(|name| **name != DEFAULT_PROFILE);
            let all = (!names.is_empty()).then_some(&DEFAULT_PROFILE).into_iter().chain(others);
            Many::unwritten(all.map(|&name| name.to_owned()))
        });
        let axes = Self {
            workload: written.workload.clone(),
            driver: factors.driver.clone().unwrap_or_else(|| Many::unwritten(given.installed.to_vec())),
            transport: text(&factors.transport, DEFAULT_TRANSPORT),
            size: factors.size.clone().unwrap_or_else(|| Many::unwritten([Size(1024)])),
            batch_bytes: factors.batch_bytes.clone().unwrap_or_else(|| Many::unwritten([Size(0)])),
            receive: factors.receive.clone().unwrap_or_else(|| Many::unwritten([ReceiveMode::Waitset])),
            interface: text(&factors.interface, "lo"),
            profile: profiles,
        };
        axes.checked(written, factors.profile.is_some())
    }

    /// With what is selected in the place of these.
    fn with(&self, written: &Written, selection: &Selection) -> Result<Self, Refusal> {
        let axes = self.clone();
        Self {
            workload: selection.workload.clone().unwrap_or(axes.workload),
            driver: selection.driver.clone().unwrap_or(axes.driver),
            transport: selection.transport.clone().unwrap_or(axes.transport),
            size: selection.size.clone().unwrap_or(axes.size),
            batch_bytes: selection.batch_bytes.clone().unwrap_or(axes.batch_bytes),
            receive: selection.receive.clone().unwrap_or(axes.receive),
            interface: selection.interface.clone().unwrap_or(axes.interface),
            profile: selection.profile.clone().unwrap_or(axes.profile),
        }
        .checked(written, selection.profile.is_some())
    }

    fn checked(self, written: &Written, profiles_named: bool) -> Result<Self, Refusal> {
        all_distinct("driver", &self.driver)?;
        all_distinct("size", &self.size)?;
        all_distinct("workload", &self.workload)?;
        all_distinct("transport", &self.transport)?;
        all_distinct("batch_bytes", &self.batch_bytes)?;
        all_distinct("way to receive", &self.receive)?;
        all_distinct("interface", &self.interface)?;
        all_distinct("profile", &self.profile)?;
        for (what, empty) in [
            ("drivers", self.driver.0.is_empty()),
            ("sizes", self.size.0.is_empty()),
            ("workloads", self.workload.0.is_empty()),
            ("transports", self.transport.0.is_empty()),
            ("batch_bytes", self.batch_bytes.0.is_empty()),
            ("ways to receive", self.receive.0.is_empty()),
            ("interfaces", self.interface.0.is_empty()),
            ("profiles", profiles_named && self.profile.0.is_empty()),
        ] {
            if empty {
                return Err(PlanError::Nothing(what).at(0..0));
            }
        }
        for profile in &self.profile.0 {
            let name = profile.get();
            if name != DEFAULT_PROFILE && !written.profiles.contains_key(&At::nowhere(name.clone())) {
                let known = written.profiles.keys().map(|name| name.get().clone()).collect();
                return Err(PlanError::NoProfile { profile: name.clone(), known }.at(profile.span()));
            }
        }
        Ok(self)
    }

    /// How many combinations there are at most, without options and transports that nobody counted.
    fn count(&self) -> usize {
        [
            self.workload.0.len(),
            self.driver.0.len(),
            self.transport.0.len(),
            self.size.0.len(),
            self.batch_bytes.0.len(),
            self.receive.0.len(),
            self.interface.0.len(),
            self.profile.0.len().max(1),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }
}

/// The cells that are written, with their ids, and what was changed or left out, in words.
pub(crate) fn cells(written: &Written, given: &Given<'_>) -> Result<(Vec<Cell>, Vec<String>), Refusal> {
    for policies in
        written.profiles.values().map(|profile| profile.over(&written.qos)).chain([written.qos.clone()])
    {
        if let Some((at, words, hint)) = policies.contradiction() {
            return Err(PlanError::Contradiction { words, hint }.at(at));
        }
    }
    let axes = Axes::of(written, given)?;
    let included: Vec<Axes> = written
        .factors
        .include
        .iter()
        .map(|selection| axes.with(written, selection.get()))
        .collect::<Result<_, _>>()?;
    let all = || std::iter::once(&axes).chain(&included);
    let takes_part = |driver: &String| all().any(|axes| axes.driver.values().any(|known| known == driver));
    if let Some(stray) = written.options.keys().find(|driver| !takes_part(driver.get())) {
        return Err(PlanError::StrayOption { driver: stray.get().clone() }.at(stray.span()));
    }
    let mut matrix = Expansion { written, given, lenient: false, factors: Vec::new(), notes: Vec::new() };
    let unnamed = written.factors.driver.is_none();
    matrix.lenient = unnamed;
    matrix.expand(&axes)?;
    for exclude in &written.factors.exclude {
        // together with those that another exclude took away
        let found = matrix.factors.iter().any(|(factors, _)| matches(exclude.get(), factors));
        // it may be that a driver is not installed here
        if !found && !(unnamed && exclude.get().driver.is_some()) {
            return Err(PlanError::NoMatch("this exclude").at(exclude.span()));
        }
        for (factors, excluded) in &mut matrix.factors {
            *excluded |= matches(exclude.get(), factors);
        }
    }
    // of a driver that was taken away nothing needs to be said
    let kept = |driver: &str| {
        let mut cells = matrix.factors.iter().filter(|(factors, _)| factors.driver == driver).peekable();
        cells.peek().is_none() || cells.any(|(_, excluded)| !excluded)
    };
    let silent: BTreeSet<String> = axes.driver.values().filter(|driver| !kept(driver)).cloned().collect();
    matrix.notes.retain(|note| !silent.contains(&note.driver));
    matrix.factors.retain(|(_, excluded)| !excluded);
    for (axes, selection) in included.iter().zip(&written.factors.include) {
        matrix.lenient = unnamed && selection.get().driver.is_none();
        matrix.expand(axes)?;
    }
    let Expansion { factors, notes, .. } = matrix;
    let factors: Vec<Factors> = factors.into_iter().map(|(factors, _)| factors).collect();
    let measured = |driver: &str| factors.iter().any(|factors| factors.driver == driver);
    let notes = notes.into_iter().filter(|note| note.left_out || measured(&note.driver));
    let notes = notes.map(|note| note.words).collect();
    let mut cells = named(factors);
    number_namesakes(&mut cells);
    Ok((cells, notes))
}

/// Whether a cell has, of each factor given, one of the values given.
pub(crate) fn matches(selection: &Selection, factors: &Factors) -> bool {
    fn holds<T: PartialEq>(asked: Option<&Many<T>>, value: &T) -> bool {
        asked.is_none_or(|many| many.values().any(|asked| asked == value))
    }
    let profile = factors.profile.clone().unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
    holds(selection.workload.as_ref(), &factors.workload)
        && holds(selection.driver.as_ref(), &factors.driver)
        && holds(selection.transport.as_ref(), &factors.transport)
        && holds(selection.size.as_ref(), &Size(factors.size_bytes))
        && holds(selection.batch_bytes.as_ref(), &Size(factors.batch_bytes))
        && holds(selection.receive.as_ref(), &factors.receive)
        && holds(selection.interface.as_ref(), &factors.interface)
        && holds(selection.profile.as_ref(), &profile)
}

/// Combinations in the making.
struct Expansion<'a> {
    written: &'a Written,
    given: &'a Given<'a>,
    /// Whether what a driver cannot do is left out with a note: nobody named the driver.
    lenient: bool,
    /// Each with whether it is excluded.
    factors: Vec<(Factors, bool)>,
    notes: Vec<Note>,
}

/// What was changed or left out for a driver.
#[derive(PartialEq)]
struct Note {
    driver: String,
    left_out: bool,
    words: String,
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

    fn expand(&mut self, axes: &Axes) -> Result<(), Refusal> {
        let count = axes.count();
        if count > MAX_CELLS {
            return Err(PlanError::TooMany { what: "cells", count, max: MAX_CELLS }.at(0..0));
        }
        for driver in &axes.driver.0 {
            self.expand_driver(driver.get(), axes)?;
        }
        Ok(())
    }

    fn expand_driver(&mut self, driver: &str, axes: &Axes) -> Result<(), Refusal> {
        let description = &self.given.descriptions[driver];
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
                    for interface in axes.interface.values() {
                        for (profile, policies, reliability) in &profiles {
                            for &size in &sizes {
                                let factors = |workload, batch_bytes| Factors {
                                    driver: driver.to_owned(),
                                    transport: transport.clone(),
                                    workload,
                                    topology: Topology::Pair,
                                    size_bytes: size,
                                    batch_bytes,
                                    batching: if batch_bytes == 0 { Batching::None } else { batching },
                                    receive,
                                    interface: interface.clone(),
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

/// Cells with ids that say what is varied.
fn named(all: Vec<Factors>) -> Vec<Cell> {
    fn varied<T: PartialEq>(all: &[Factors], of: impl Fn(&Factors) -> &T) -> bool {
        all.iter().any(|factors| of(factors) != of(&all[0]))
    }
    let receive = varied(&all, |factors| &factors.receive);
    let interface = varied(&all, |factors| &factors.interface);
    let mut options: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for factors in &all {
        for (name, value) in &factors.options {
            let key = (factors.driver.clone(), name.clone());
            options.entry(key).or_default().insert(value.clone());
        }
    }
    let id = |factors: &Factors| {
        let driver = factors.driver.rsplit('/').next().unwrap_or(&factors.driver);
        let mut parts = vec![
            driver.to_owned(),
            factors.transport.clone(),
            factors.workload.to_string(),
            factors.size_bytes.to_string(),
        ];
        if factors.batch_bytes > 0 {
            parts.push(format!("batch-{}", factors.batch_bytes));
        }
        if receive {
            parts.push(factors.receive.to_string());
        }
        if interface {
            parts.push(factors.interface.clone());
        }
        for (name, value) in &factors.options {
            if options[&(factors.driver.clone(), name.clone())].len() > 1 {
                parts.push(format!("{name}-{value}"));
            }
        }
        parts.extend(factors.profile.clone());
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '-' };
        parts.iter().map(|part| part.chars().map(plain).collect()).collect::<Vec<String>>().join("/")
    };
    let ids: Vec<String> = all.iter().map(id).collect();
    ids.into_iter().zip(all).map(|(id, factors)| Cell { id, factors }).collect()
}

/// Cells that would share an id, such as those of driver files of one name in different folders, get a number each.
fn number_namesakes(cells: &mut [Cell]) {
    let mut seen = BTreeMap::<String, u32>::new();
    for cell in cells {
        let count = seen.entry(cell.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            cell.id = format!("{}-{count}", cell.id);
        }
    }
}

fn all_distinct<T: PartialEq + std::fmt::Display>(
    what: &'static str,
    values: &Many<T>,
) -> Result<(), Refusal> {
    for (index, value) in values.0.iter().enumerate() {
        if values.0[..index].contains(value) {
            let at: Span = value.span();
            return Err(PlanError::Twice { what, value: value.get().to_string() }.at(at));
        }
    }
    Ok(())
}
