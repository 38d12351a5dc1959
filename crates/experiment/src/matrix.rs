//! Conversion of the factors to cells: every combination that the drivers support.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    BatchSamples, Cell, Factors, PlanError, ReceiveMode, Refusal, Workload,
    abilities::DEFAULT_TRANSPORT,
    expansion::Expansion,
    factors::ids,
    loads::{self, Traces},
    many::{At, Many, Span},
    planner::Given,
    probes,
    queues::{self, QueueAxes},
    rate::{Arrival, WrittenRate},
    units::Size,
    variables::{self, VariableAxes},
    written::{Selection, Written},
};

/// Maximum number of cells of an experiment. More would take so long that the host changes meanwhile.
pub(crate) const MAX_CELLS: usize = 5_000;

/// Name of the profile that is `[qos]` alone, unless the file defines it.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// Values of all factors except driver options.
#[derive(Clone)]
pub(crate) struct Axes {
    pub(crate) workload: Many<Workload>,
    pub(crate) driver: Many<String>,
    pub(crate) transport: Many<String>,
    pub(crate) size: Many<Size>,
    /// Empty without a rate; likewise for traces.
    pub(crate) rate: Many<WrittenRate>,
    pub(crate) arrival: Many<Arrival>,
    pub(crate) trace: Many<String>,
    /// Sizes in bytes and in samples are alternative values of one factor.
    pub(crate) batch_bytes: Many<Size>,
    pub(crate) batch_samples: Many<BatchSamples>,
    pub(crate) receive: Many<ReceiveMode>,
    pub(crate) queues: QueueAxes,
    pub(crate) interface: Many<String>,
    pub(crate) multicast: Many<bool>,
    pub(crate) vendor_defaults: Many<bool>,
    /// Empty if the experiment has no profiles.
    pub(crate) profile: Many<String>,
    pub(crate) env: VariableAxes,
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
            rate: factors.rate.clone().unwrap_or(Many(Vec::new())),
            arrival: factors.arrival.clone().unwrap_or_else(|| Many::unwritten([Arrival::Constant])),
            trace: factors.trace.clone().unwrap_or(Many(Vec::new())),
            batch_bytes: factors
                .batch_bytes
                .clone()
                .unwrap_or_else(|| Many::unwritten(factors.batch_samples.is_none().then_some(Size(0)))),
            batch_samples: factors.batch_samples.clone().unwrap_or(Many(Vec::new())),
            receive: factors.receive.clone().unwrap_or_else(|| Many::unwritten([ReceiveMode::Waitset])),
            queues: QueueAxes::of(factors),
            interface: text(&factors.interface, "lo"),
            multicast: factors.multicast.clone().unwrap_or_else(|| Many::unwritten([false])),
            vendor_defaults: factors.vendor_defaults.clone().unwrap_or_else(|| Many::unwritten([false])),
            profile: profiles,
            env: factors.env.clone(),
        };
        axes.checked(written, factors.profile.is_some())
    }

    /// Replaces values by those of the selection.
    fn with(&self, written: &Written, selection: &Selection) -> Result<Self, Refusal> {
        let mut axes = self.clone();
        // Rates and traces are one factor, the load.
        if selection.rate.is_some() || selection.arrival.is_some() {
            axes.trace = Many(Vec::new());
        } else if selection.trace.is_some() {
            axes.rate = Many(Vec::new());
        }
        if selection.batch_bytes.is_some() || selection.batch_samples.is_some() {
            (axes.batch_bytes, axes.batch_samples) = (Many(Vec::new()), Many(Vec::new()));
        }
        Self {
            workload: selection.workload.clone().unwrap_or(axes.workload),
            driver: selection.driver.clone().unwrap_or(axes.driver),
            transport: selection.transport.clone().unwrap_or(axes.transport),
            size: selection.size.clone().unwrap_or(axes.size),
            rate: selection.rate.clone().unwrap_or(axes.rate),
            arrival: selection.arrival.clone().unwrap_or(axes.arrival),
            trace: selection.trace.clone().unwrap_or(axes.trace),
            batch_bytes: selection.batch_bytes.clone().unwrap_or(axes.batch_bytes),
            batch_samples: selection.batch_samples.clone().unwrap_or(axes.batch_samples),
            receive: selection.receive.clone().unwrap_or(axes.receive),
            queues: axes.queues.with(selection),
            interface: selection.interface.clone().unwrap_or(axes.interface),
            multicast: selection.multicast.clone().unwrap_or(axes.multicast),
            vendor_defaults: selection.vendor_defaults.clone().unwrap_or(axes.vendor_defaults),
            profile: selection.profile.clone().unwrap_or(axes.profile),
            env: axes.env.into_iter().chain(selection.env.clone()).collect(),
        }
        .checked(written, selection.profile.is_some())
    }

    fn checked(self, written: &Written, profiles_named: bool) -> Result<Self, Refusal> {
        all_distinct("driver", &self.driver)?;
        all_distinct("size", &self.size)?;
        all_distinct("workload", &self.workload)?;
        all_distinct("transport", &self.transport)?;
        all_distinct("batch_bytes", &self.batch_bytes)?;
        all_distinct("batch_samples", &self.batch_samples)?;
        all_distinct("way to receive", &self.receive)?;
        all_distinct("interface", &self.interface)?;
        all_distinct("multicast", &self.multicast)?;
        all_distinct("vendor_defaults", &self.vendor_defaults)?;
        all_distinct("profile", &self.profile)?;
        variables::check(&self.env)?;
        loads::distinct(&self)?;
        self.queues.check(written)?;
        self.queues.check_groups(&self.workload, &self.receive)?;
        self.queues.check_delays(&self.workload, &self.receive)?;
        for (what, empty) in [
            ("drivers", self.driver.0.is_empty()),
            ("sizes", self.size.0.is_empty()),
            ("workloads", self.workload.0.is_empty()),
            ("transports", self.transport.0.is_empty()),
            ("ways to batch", self.batch_bytes.0.is_empty() && self.batch_samples.0.is_empty()),
            ("ways to receive", self.receive.0.is_empty()),
            ("interfaces", self.interface.0.is_empty()),
            ("values of multicast", self.multicast.0.is_empty()),
            ("values of vendor_defaults", self.vendor_defaults.0.is_empty()),
            ("arrivals", self.arrival.0.is_empty()),
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

    /// Returns the maximum number of combinations, without driver options and with `all` transports as one.
    pub(crate) fn count(&self) -> usize {
        [
            self.workload.0.len(),
            self.driver.0.len(),
            self.transport.0.len(),
            self.size.0.len(),
            self.batch_bytes.0.len().saturating_add(self.batch_samples.0.len()),
            self.receive.0.len(),
            self.interface.0.len(),
            self.multicast.0.len(),
            self.vendor_defaults.0.len(),
            self.profile.0.len().max(1),
            self.queues.count(),
            variables::count(&self.env),
            self.rate.0.len().saturating_mul(self.arrival.0.len()).saturating_add(self.trace.0.len()).max(1),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }
}

/// Returns the cells with their ids, and notes about changes and omissions.
pub(crate) fn cells(
    written: &Written,
    given: &Given<'_>,
    measure_ns: u64,
) -> Result<(Vec<Cell>, Vec<String>), Refusal> {
    written.check_ends()?;
    for (_, policies) in written.all_policies() {
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
    let takes_part = |owner: &At<String>| {
        let mut drivers = all().flat_map(|axes| axes.driver.values());
        drivers.any(|driver| written.options_of(driver).is_some_and(|(of, _)| of == owner))
    };
    if let Some(stray) = written.options.keys().find(|owner| !takes_part(owner)) {
        return Err(PlanError::StrayOption { driver: stray.get().clone() }.at(stray.span()));
    }
    loads::check(written, &all().collect::<Vec<_>>())?;
    probes::check(written, &all().collect::<Vec<_>>())?;
    let traces = Traces::read(written, given, measure_ns)?;
    let (flows, flow_notes) = traces.flows(&written.flows)?;
    let mut matrix = Expansion {
        written,
        given,
        traces: &traces,
        flows: &flows,
        excludes: &written.factors.exclude,
        spared: vec![false; written.factors.exclude.len()],
        lenient: false,
        factors: Vec::new(),
        notes: Vec::new(),
    };
    let unnamed = written.factors.driver.is_none();
    matrix.lenient = unnamed;
    matrix.expand(&axes)?;
    for (exclude, spared) in matrix.excludes.iter().zip(&matrix.spared) {
        // Also counts cells that another exclude covers.
        let found =
            *spared || matrix.factors.iter().any(|(factors, _)| matches(exclude.get(), factors, given));
        // The driver may not be installed on this host.
        let may_be_elsewhere = unnamed && exclude.get().driver.is_some();
        if !found && !may_be_elsewhere {
            return Err(PlanError::NoMatch("this exclude").at(exclude.span()));
        }
        for (factors, excluded) in &mut matrix.factors {
            *excluded |= matches(exclude.get(), factors, given);
        }
    }
    // A driver whose cells are all excluded needs no notes.
    let kept = |driver: &str| {
        let mut cells = matrix.factors.iter().filter(|(factors, _)| factors.driver == driver).peekable();
        cells.peek().is_none() || cells.any(|(_, excluded)| !excluded)
    };
    let silent: BTreeSet<String> = axes.driver.values().filter(|driver| !kept(driver)).cloned().collect();
    matrix.notes.retain(|note| !silent.contains(&note.driver));
    matrix.factors.retain(|(_, excluded)| !excluded);
    matrix.excludes = &[];
    for (axes, selection) in included.iter().zip(&written.factors.include) {
        matrix.lenient = unnamed && selection.get().driver.is_none();
        matrix.expand(axes)?;
    }
    let Expansion { factors, notes, .. } = matrix;
    let factors: Vec<Factors> = factors.into_iter().map(|(factors, _)| factors).collect();
    let measured = |driver: &str| factors.iter().any(|factors| factors.driver == driver);
    let notes = notes.into_iter().filter(|note| note.left_out || measured(&note.driver));
    let mut told: Vec<String> = Vec::new();
    let searches = loads::searches_note(&all().collect::<Vec<_>>());
    for words in searches.into_iter().chain(flow_notes).chain(notes.map(|note| note.words)) {
        if !told.contains(&words) {
            told.push(words);
        }
    }
    let ids = ids(&factors);
    let mut cells: Vec<Cell> =
        ids.into_iter().zip(factors).map(|(id, factors)| Cell { id, factors }).collect();
    number_namesakes(&mut cells);
    Ok((cells, told))
}

/// Returns whether a cell has one of the selected values of each selected factor.
pub(crate) fn matches(selection: &Selection, factors: &Factors, given: &Given<'_>) -> bool {
    fn holds<T: PartialEq>(asked: Option<&Many<T>>, value: &T) -> bool {
        asked.is_none_or(|many| many.values().any(|asked| asked == value))
    }
    let profile = factors.profile.clone().unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
    holds(selection.workload.as_ref(), &factors.workload)
        && holds(selection.driver.as_ref(), &factors.driver)
        && holds(selection.transport.as_ref(), &factors.transport)
        && holds(selection.size.as_ref(), &Size(factors.size_bytes))
        && loads::selects(selection, factors, given)
        && holds(selection.batch_bytes.as_ref(), &Size(factors.batch_bytes))
        && selection
            .batch_samples
            .as_ref()
            .is_none_or(|asked| asked.values().any(|asked| asked.is_of(factors)))
        && holds(selection.receive.as_ref(), &factors.receive)
        && queues::selects(selection, &factors.queues)
        && holds(selection.interface.as_ref(), &factors.interface)
        && holds(selection.multicast.as_ref(), &factors.multicast)
        && holds(selection.vendor_defaults.as_ref(), &factors.vendor_defaults)
        && holds(selection.profile.as_ref(), &profile)
        && variables::selects(selection, &factors.env)
}

/// Appends a number to ids that occur again, such as those of driver files with one name in different directories.
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

pub(crate) fn all_distinct<T: PartialEq + std::fmt::Display>(
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
