//! The planner: validates an experiment file and makes a plan of it, before anything is measured.

use crate::{
    factors::{FactorValues, Factors, Workload},
    plan::{
        design::{CHECK_EVERY, Design, Precision, WARM_UP_NS, windows},
        duet,
        experiment::{Cell, Plan},
        experiment_file::{DesignSection, ExperimentFile, LimitsSection},
        limits::Limits,
        matrix,
        plan_inputs::PlanInputs,
        search::Search,
        search_section::{SearchSection, usual_system_trial_ns},
        selection::{matches, no_match},
    },
    syntax::{
        one_or_many::Located,
        spanned_error::{PlanError, SpannedError, contradiction},
        units::Time,
    },
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// Minimum number of runs of each cell that findings, and the pilot of a precision, need.
const MIN_RUNS_TO_DESCRIBE: u32 = 3;
/// Minimum number of blocks with a 95 % CI (exact signed-rank), for plans without a baseline.
const MIN_BLOCKS_TO_JUDGE: u32 = 6;
/// Blocks planned by default beyond the minimum, so that one failed run does not cost a comparison its claim.
const SPARE_BLOCKS: u32 = 1;
/// Maximum number of blocks of an experiment with a target precision.
const MAX_BLOCKS: u32 = 500;
/// Maximum number of pilot blocks.
const MAX_PILOT_BLOCKS: u32 = 40;
const BUDGET_NS: u64 = 600 * SECOND;
/// Maximum number of runs of an experiment.
const MAX_RUNS: usize = 100_000;

impl ExperimentFile {
    /// Plans the experiment.
    ///
    /// # Errors
    /// Returns an error with its position if the experiment cannot be planned.
    pub fn plan(&self, inputs: &PlanInputs<'_>) -> Result<Plan, SpannedError> {
        if self.question.get().trim().is_empty() {
            return Err(PlanError::nothing("question").at(self.question.span()));
        }
        let mut experiment = self.plan_cells(design(&self.design, inputs)?, inputs)?;
        self.set_threads(&mut experiment);
        if let Some(baseline) = &self.design.baseline {
            let is_of =
                |selection: &FactorValues, cell: &Cell| matches(selection, &cell.factors, inputs.files);
            let (cells, note) = self.baseline_cells(baseline.get(), &experiment.cells, is_of);
            experiment.design.baseline = cells.into_iter().map(|cell| cell.id.clone()).collect();
            if experiment.design.baseline.is_empty() && note.is_none() {
                let all: Vec<&Factors> = experiment.cells.iter().map(|cell| &cell.factors).collect();
                return Err(no_match("the baseline", baseline.get(), &all, inputs).at(baseline.span()));
            }
            experiment.notes.extend(note);
            self.divide(&mut experiment, inputs)?;
        }
        if let Some(duet) = self.design.duet.as_ref().filter(|duet| *duet.get()) {
            duet::check(&experiment).map_err(|error| error.at(duet.span()))?;
        }
        self.allot(&mut experiment, inputs)?;
        Ok(experiment)
    }

    /// Plans the experiment with a design that is not that of the file, and is not checked: its values may be out of the range of a
    /// file.
    ///
    /// # Errors
    /// Returns an error with its position if the cells cannot be planned.
    pub fn plan_with(&self, design: Design, inputs: &PlanInputs<'_>) -> Result<Plan, SpannedError> {
        let mut experiment = self.plan_cells(design, inputs)?;
        experiment.note_few_runs();
        experiment.notes.extend(experiment.design.note_on_sizes());
        Ok(experiment)
    }

    fn plan_cells(&self, design: Design, inputs: &PlanInputs<'_>) -> Result<Plan, SpannedError> {
        let limits = limits(&self.limits)?;
        let (cells, mut notes) = matrix::cells(self, inputs, &design)?;
        notes.splice(0..0, self.left_out().iter().cloned());
        if cells.is_empty() {
            let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
            let hint = "exclude less, or name drivers that can do what is asked";
            return Err(contradiction(format!("no cell is left to measure{notes}"), hint).at(0..0));
        }
        check_writers(&cells)?;
        let question = self.question.get().clone();
        let search = self.searches(&cells)?;
        let (published, unused) = self.published_beside(&cells, inputs)?;
        notes.extend(unused);
        Ok(Plan {
            name: inputs.name.to_owned(),
            question,
            cells,
            design,
            limits,
            search,
            variants: None,
            published,
            notes,
        })
    }

    /// Plans the search; returns `None` if no cell has the workload `search`.
    pub(crate) fn searches(&self, cells: &[Cell]) -> Result<Option<Search>, SpannedError> {
        let searched = cells.iter().find(|cell| cell.factors.workload == Workload::Search);
        let flows = searched.map_or(&[][..], |cell| cell.factors.flows.as_slice());
        let some = searched.is_some();
        let measure_ns = self.design.measure.as_ref().map(|measure| measure.get().0);
        // The file of a system that is searched has the time of its runs, which is more than trials need.
        let is_of_runs = self.is_set("workload") && !self.is_set("design.measure");
        let measure_ns = match measure_ns {
            Some(ns) if is_of_runs && !flows.is_empty() => Some(ns.min(usual_system_trial_ns(flows))),
            None if !flows.is_empty() => Some(usual_system_trial_ns(flows)),
            requested => requested,
        };
        let warm_up_ns = self.design.warm_up.as_ref().map_or(WARM_UP_NS, |warm_up| warm_up.get().0);
        match &self.search {
            Some(section) if some => section.get().plan(measure_ns, warm_up_ns, flows).map(Some),
            Some(section) => {
                let words = "`[search]` has no effect without the workload `search`";
                section.refused(words, "add `search` to `workload`, or remove this")
            }
            None if some => SearchSection::default().plan(measure_ns, warm_up_ns, flows).map(Some),
            None => Ok(None),
        }
    }

    /// Sets the number of blocks, and checks it against the claims and the budget.
    pub(crate) fn allot(&self, experiment: &mut Plan, inputs: &PlanInputs<'_>) -> Result<(), SpannedError> {
        let compared = !experiment.design.baseline.is_empty();
        let least = if compared { (inputs.least_blocks)(experiment) } else { MIN_BLOCKS_TO_JUDGE };
        let default = if compared { least + SPARE_BLOCKS } else { least };
        if let (Some(precision), Some(budget_ns)) =
            (&mut experiment.design.precision, experiment.design.budget_ns)
        {
            precision.pilot_blocks = self.design.pilot.as_ref().map_or(default, |pilot| *pilot.get());
            let least = default.max(precision.pilot_blocks);
            let between_ns = experiment.between_blocks_ns();
            let block_ns = experiment.expected_block_ns().saturating_add(between_ns).max(1);
            let before_ns = between_ns.saturating_add(experiment.expected_max_rates_ns());
            let room = u32::try_from(budget_ns.saturating_sub(before_ns) / block_ns).unwrap_or(u32::MAX);
            experiment.design.blocks = room.min(MAX_BLOCKS).max(least);
        } else if self.design.blocks.is_none() {
            experiment.design.blocks = default;
        }
        let blocks = experiment.design.blocks;
        if compared && blocks < least {
            experiment.notes.push(format!(
                "{blocks} blocks support no claim: give `--runs {least}` or more, or neither `--runs` nor `blocks`"
            ));
        }
        experiment.note_few_runs();
        self.fit_second_tier(experiment, inputs)?;
        let runs = experiment.runs();
        if runs > MAX_RUNS {
            let at = self.design.blocks.as_ref().map_or(0..0, Located::span);
            let words = format!("{runs} runs are more than {MAX_RUNS}");
            return Err(contradiction(words, "plan fewer runs of each cell, or fewer cells").at(at));
        }
        let needed_ns = experiment.expected_ns();
        match experiment.design.budget_ns {
            Some(budget_ns) if needed_ns > budget_ns => {
                let at = self.design.budget.as_ref().map_or(0..0, Located::span);
                let (needed, budget) = (Time(needed_ns), Time(budget_ns));
                let words =
                    format!("{runs} runs would take about {needed}, more than the budget of {budget}");
                let hint = "increase the budget, shorten the runs, or plan fewer cells or blocks";
                Err(contradiction(words, hint).at(at))
            }
            _ => Ok(()),
        }
    }
}

impl Design {
    /// Creates the design of one block of runs with these times in ns, and the defaults of an experiment file.
    #[must_use]
    pub fn new(inputs: &PlanInputs<'_>, warm_up_ns: u64, measure_ns: u64) -> Self {
        Self {
            seed: inputs.seed,
            warm_up_ns,
            measure_ns,
            windows: windows(measure_ns),
            check_every: CHECK_EVERY,
            pin: inputs.pin.clone(),
            hosts: inputs.hosts.to_vec(),
            ..Self::default()
        }
    }
}

impl Plan {
    /// Notes that findings need more runs.
    fn note_few_runs(&mut self) {
        let blocks = self.design.blocks;
        if blocks < MIN_RUNS_TO_DESCRIBE {
            self.notes.push(format!(
                "findings need {MIN_RUNS_TO_DESCRIBE} runs of each cell, and this plan has {blocks}"
            ));
        }
    }
}

/// Rejects cells with more writers than the header of a sample can number.
fn check_writers(cells: &[Cell]) -> Result<(), SpannedError> {
    let has_too_many = |cell: &&Cell| cell.factors.writers() > usize::from(u16::MAX);
    let Some(Cell { id, factors }) = cells.iter().find(has_too_many) else { return Ok(()) };
    let words = format!("cell `{id}` has {} writers, more than {}", factors.writers(), u16::MAX);
    Err(contradiction(words, "use fewer writers, flows, topics or participants").at(0..0))
}

/// Highest DDS domain whose ports, from 7400 plus 250 for each domain, are below 65536: RTPS 2.5, section 9.6.2.
const MAX_DOMAIN: u32 = 232;

fn design(section: &DesignSection, inputs: &PlanInputs<'_>) -> Result<Design, SpannedError> {
    let ns = |time: &Option<Located<Time>>, default| time.as_ref().map_or(default, |time| time.get().0);
    let measure_ns = ns(&section.measure, 800_000_000);
    let mut design = Design {
        // The default depends on the claims, which depend on the cells.
        blocks: section.blocks.as_ref().map_or(MIN_BLOCKS_TO_JUDGE, |blocks| *blocks.get()),
        domain: section.domain.as_ref().map(|domain| *domain.get()),
        seed: section.seed.unwrap_or(inputs.seed),
        check_every: section.check_every.as_ref().map_or(CHECK_EVERY, |every| *every.get()),
        keep_awake: section.keep_awake,
        reference: section.reference.unwrap_or(true),
        noise_probe: section.noise_probe.unwrap_or(true),
        spin: section.spin.as_ref().is_none_or(|spin| *spin.get()),
        probe_every: section.probe_every.as_ref().map(|every| *every.get()),
        duet: section.duet.as_ref().is_some_and(|duet| *duet.get()),
        repeat_noisy: section.repeat_noisy.unwrap_or(section.baseline.is_some()),
        budget_ns: section.budget.as_ref().map(|budget| budget.get().0),
        ..Design::new(inputs, ns(&section.warm_up, WARM_UP_NS), measure_ns)
    };
    if design.blocks == 0 {
        let error = contradiction("0 runs of each cell measure nothing", "use 1 or more; findings need 3");
        return Err(error.at(section.blocks.as_ref().map_or(0..0, Located::span)));
    }
    let between = |what, ns, least, most, range, time: &Option<Located<Time>>| {
        if (least..=most).contains(&ns) {
            return Ok(());
        }
        Err(PlanError::time(what, ns, range).at(time.as_ref().map_or(0..0, Located::span)))
    };
    let (measure, warm_up) = (&section.measure, &section.warm_up);
    between("the measured time", measure_ns, 20 * MS, 3_600 * SECOND, "20 ms to 1 hour", measure)?;
    between("the warm-up", design.warm_up_ns, 0, 600 * SECOND, "0 to 10 minutes", warm_up)?;
    if let Some(every) = section.check_every.as_ref().filter(|every| *every.get() == 0) {
        let words = "`check_every = 0` is out of range";
        return every.refused(words, "use 1 or more");
    }
    if let Some(domain) = &section.domain {
        if *domain.get() > MAX_DOMAIN {
            let words = format!("domain {} is out of range", domain.get());
            return domain.refused(words, "use a domain from 0 to 232: higher ones have no UDP ports");
        }
        if design.duet {
            let words = "`duet` and `domain` are both given, and the two runs of a duet need a domain each";
            return domain.refused(words, "remove one of them");
        }
    }
    if let Some(precision) = &section.precision {
        if let Some(blocks) = &section.blocks {
            let words = "`blocks` and `precision` are both given";
            return blocks.refused(words, "remove one of them");
        }
        let half_width_pct = precision.get().0;
        if !(0.1..=50.0).contains(&half_width_pct) {
            let words = format!("a precision of {half_width_pct}% is out of range");
            return precision.refused(words, "choose 0.1% to 50%");
        }
        let pilot_blocks = section.pilot.as_ref().map_or(MIN_BLOCKS_TO_JUDGE, |pilot| *pilot.get());
        if !(MIN_RUNS_TO_DESCRIBE..=MAX_PILOT_BLOCKS).contains(&pilot_blocks) {
            let at = section.pilot.as_ref().map_or(0..0, Located::span);
            let words = format!("a pilot of {pilot_blocks} blocks is out of range");
            return Err(contradiction(words, "choose 3 to 40 blocks").at(at));
        }
        design.precision = Some(Precision { half_width_pct, pilot_blocks });
        design.budget_ns = design.budget_ns.or(Some(BUDGET_NS));
    } else if let Some(pilot) = &section.pilot {
        let words = "`pilot` has no effect without `precision`";
        return pilot.refused(words, "add `precision`, or remove `pilot`");
    }
    Ok(design)
}

fn limits(section: &LimitsSection) -> Result<Limits, SpannedError> {
    let mut limits = Limits::default();
    for (field, what, limit) in [
        (&mut limits.hello_ns, "the limit of hello", &section.hello),
        (&mut limits.configure_ns, "the limit of configure", &section.configure),
        (&mut limits.match_ns, "the limit of match", &section.matching),
        (&mut limits.grace_ns, "the grace", &section.grace),
        (&mut limits.drain_ns, "the limit of drain", &section.drain),
        (&mut limits.report_ns, "the limit of report", &section.report),
        (&mut limits.exit_ns, "the limit of exit", &section.exit),
        (limits.ping_ns.get_or_insert_default(), "the limit of a ping", &section.ping),
    ] {
        let Some(limit) = limit else { continue };
        *field = limit.get().0;
        if !(MS..=3_600 * SECOND).contains(field) {
            return Err(PlanError::time(what, *field, "1 ms to 1 hour").at(limit.span()));
        }
    }
    limits.ping_ns = limits.ping_ns.filter(|_| section.ping.is_some());
    Ok(limits)
}
