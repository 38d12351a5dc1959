//! Division of the cells of a plan into two tiers.

use crate::{
    factors::{FACTORS, Factors},
    plan::{
        experiment::{Cell, Plan},
        experiment_file::ExperimentFile,
        matrix,
        plan_inputs::PlanInputs,
        second_tier::SecondTier,
        selection::{matches, no_match},
    },
    syntax::{
        one_or_many::Located,
        spanned_error::{SpannedError, contradiction},
        units::{Time, short},
    },
};

/// Default number of blocks.
const BLOCKS: u32 = 3;
/// Fewest blocks of which the scatter is known at each base.
const LEAST_BLOCKS: u32 = 2;
const MINUTE_NS: u64 = 60_000_000_000;

impl ExperimentFile {
    /// Divides the cells of a plan with a baseline into two tiers.
    pub(crate) fn divide(&self, plan: &mut Plan, inputs: &PlanInputs<'_>) -> Result<(), SpannedError> {
        let Some(section) = &self.design.second_tier else { return Ok(()) };
        let section = section.get();
        let (selection, at) = (section.cells.get(), section.cells.span());
        let blocks = section.blocks.as_ref().map_or(BLOCKS, |blocks| *blocks.get());
        if blocks < LEAST_BLOCKS {
            let at = section.blocks.as_ref().map_or(0..0, Located::span);
            let words = format!("a second tier of {blocks} blocks is out of range");
            return Err(contradiction(words, "use 2 blocks or more").at(at));
        }
        if plan.design.duet {
            let words = "`duet` and `second_tier` are both given";
            return Err(contradiction(words, "remove one of them").at(at));
        }
        let selected = plan.cells.iter().filter(|cell| matches(selection, &cell.factors, inputs.files));
        let cells: Vec<String> = selected.map(|cell| cell.id.clone()).collect();
        if cells.is_empty() && !self.is_displaced(selection) {
            let all: Vec<&Factors> = plan.cells.iter().map(|cell| &cell.factors).collect();
            return Err(no_match("the second tier", selection, &all, inputs).at(at));
        }
        let (baseline, first): (Vec<String>, Vec<String>) =
            plan.design.baseline.iter().cloned().partition(|id| cells.contains(id));
        // Cells without a first tier are the first tier.
        if !cells.is_empty() && !first.is_empty() {
            plan.design.baseline = first;
            plan.design.second_tier = Some(SecondTier { cells, baseline, blocks });
        }
        Ok(())
    }

    /// Keeps the second tier if the budget has time for it.
    pub(crate) fn fit_second_tier(
        &self,
        plan: &mut Plan,
        inputs: &PlanInputs<'_>,
    ) -> Result<(), SpannedError> {
        let (blocks, with_ns) = (plan.design.blocks, plan.expected_ns());
        let Some(tier) = &mut plan.design.second_tier else { return Ok(()) };
        tier.blocks = tier.blocks.min(blocks);
        let (cells, blocks) = (tier.cells.len(), tier.blocks);
        let fits = plan.design.budget_ns.is_some_and(|budget_ns| with_ns <= budget_ns);
        if fits && plan.design.precision.is_none() {
            plan.notes.push(format!(
                "second tier: {cells} cells, measured in the first {blocks} blocks, to explore; no claim is made about them"
            ));
            return Ok(());
        }
        let minutes = Time(with_ns.div_ceil(MINUTE_NS) * MINUTE_NS);
        let why = match plan.design.precision {
            Some(_) => "a precision decides the number of blocks".to_owned(),
            None => format!("measure it with `--budget {}`", short(minutes.0)),
        };
        plan.notes.push(format!("the second tier is left out ({cells} cells): {why}"));
        let tier = plan.design.second_tier.take().expect("it was given");
        let is_left = |id: &String| !tier.cells.contains(id);
        let baseline: Vec<bool> = plan
            .cells
            .iter()
            .filter(|cell| is_left(&cell.id))
            .map(|cell| plan.design.baseline.contains(&cell.id))
            .collect();
        let left = plan.cells.drain(..).filter(|cell| is_left(&cell.id)).map(|cell| cell.factors);
        // The ids of what is left are those of a plan without a second tier.
        plan.cells = matrix::identified(left.collect());
        let named = plan.cells.iter().zip(baseline).filter(|(_, is_baseline)| *is_baseline);
        plan.design.baseline = named.map(|(cell, _)| cell.id.clone()).collect();
        plan.published = self.published_beside(&plan.cells, inputs)?.0;
        Ok(())
    }
}

impl Factors {
    /// Returns whether two cells differ at most in what their profiles are laid over.
    #[must_use]
    pub fn same_setting(&self, other: &Self) -> bool {
        FACTORS.iter().all(|row| ["base", "qos"].contains(&row.key) || row.same(self, other))
    }
}

impl Plan {
    /// Returns whether a cell belongs to the second tier.
    #[must_use]
    pub fn is_of_second_tier(&self, cell: &str) -> bool {
        self.design.second_tier.as_ref().is_some_and(|tier| tier.cells.iter().any(|id| id == cell))
    }

    /// Returns each cell of both tiers that is compared within its base, with its baseline cell there. Empty without a second tier.
    #[must_use]
    pub fn comparisons_over_bases(&self) -> Vec<(&Cell, &Cell)> {
        let Some(tier) = &self.design.second_tier else { return Vec::new() };
        self.compared(|id| self.is_baseline(id) || tier.baseline.iter().any(|of| of == id), |_| true)
    }

    /// Returns the number of runs of all blocks before this one.
    #[must_use]
    pub fn runs_before(&self, block: u32) -> usize {
        let with_tier = self.design.second_tier.as_ref().map_or(0, |tier| {
            (block.saturating_sub(1).min(tier.blocks) as usize).saturating_mul(tier.cells.len())
        });
        (block.saturating_sub(1) as usize).saturating_mul(self.runs_per_block()).saturating_add(with_tier)
    }
}
