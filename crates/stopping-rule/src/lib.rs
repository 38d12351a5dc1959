//! Selection of the next block of an experiment. Inputs are the design, the log so far and, once after the pilot, the
//! scatter of the metrics of all claims. The values themselves, and whether they look favourable, have no influence.
#![forbid(unsafe_code)]

use experiment::{Plan, Precision, ScheduledRun};
use results::{
    Block, BlockAllocation, Claim, ExperimentLog, MaxRate, NoiseRule, Run, SCHEMA_VERSION, StoppedBy,
    comparison_claims, least_blocks, level_claims, over_half_noisy,
};
use stats::{PowerSpec, PrecisionTarget, plan_blocks};

/// Confidence level of the intervals, and power to detect an effect of half the width of such an interval.
const LEVEL: f64 = 0.95;
const POWER: f64 = 0.9;

/// Next step of an experiment.
#[derive(Debug, PartialEq)]
pub enum NextBlock {
    /// Block to execute, or to continue if it was started.
    Block {
        /// Number of the block, from 1.
        number: u32,
        /// Number of the noisy block that it repeats.
        repeats: Option<u32>,
        /// Runs of the block, in order.
        runs: Vec<ScheduledRun>,
    },
    /// The end of the experiment.
    Done(StoppedBy),
}

/// Returns the log of an experiment that has not started.
#[must_use]
pub fn begin(experiment: &Plan) -> ExperimentLog {
    let design = &experiment.design;
    let probe_ns = design.probe_ns(experiment.runs_per_block());
    let planned = design.precision.as_ref().map_or(design.blocks, |precision| precision.pilot_blocks);
    ExperimentLog {
        schema_version: SCHEMA_VERSION,
        noise_rule: NoiseRule::new(probe_ns, design.repeat_noisy),
        allocation: BlockAllocation {
            planned: planned.min(design.blocks),
            wanted: None,
            pilot_log_sd: None,
            room: None,
            made: 0,
            stopped_by: None,
        },
        max_rates: experiment.max_rates().into_iter().map(MaxRate::new).collect(),
        blocks: Vec::new(),
        resumed: Vec::new(),
    }
}

/// Returns whether the pilot is complete and the number of blocks is not decided yet.
#[must_use]
pub fn is_due(experiment: &Plan, log: &ExperimentLog) -> bool {
    let precision = experiment.design.precision.as_ref();
    precision.is_some_and(|pilot| log.allocation.made >= pilot.pilot_blocks.min(experiment.design.blocks))
        && log.allocation.room.is_none()
}

/// Decides the number of blocks from the pilot. `runs` returns the runs of a cell.
pub fn decide<'r>(experiment: &Plan, log: &mut ExperimentLog, runs: impl Fn(&str) -> &'r [Run]) {
    let Some(precision) = &experiment.design.precision else { return };
    let room = room(experiment, log);
    let allocation = &mut log.allocation;
    let compared = !experiment.design.baseline.is_empty();
    let claims = if compared { comparison_claims(experiment) } else { level_claims(experiment) };
    let pilot = pilot(&claims, &runs);
    let plan = plan_blocks(&pilot, &goal(precision, compared, claims.len()), room as usize);
    allocation.room = Some(room);
    // Without values from the pilot nothing is known: plan as many blocks as the budget allows.
    allocation.planned = plan.map_or(room, |plan| plan.blocks as u32).max(least(experiment));
    allocation.planned = allocation.planned.min(experiment.design.blocks).max(allocation.made);
    allocation.wanted = plan.map(|plan| plan.wanted as u32);
    allocation.pilot_log_sd = plan.map(|plan| plan.ratio_sd);
}

fn goal(precision: &Precision, compared: bool, family: usize) -> PrecisionTarget {
    let half = precision.half_width_pct / 100.0;
    let comparisons = if compared { family.max(1) } else { 1 };
    PrecisionTarget {
        half_width: Some(half),
        effect: compared.then_some(half),
        spec: PowerSpec { level: LEVEL, power: POWER, comparisons },
    }
}

/// Returns the pilot's values of each claim as logarithms, one per block: of the ratio to the baseline, or of the
/// value itself for a claim on a cell's own level.
fn pilot<'r>(claims: &[Claim<'_>], runs: &impl Fn(&str) -> &'r [Run]) -> Vec<Vec<f64>> {
    let of = |claim: &Claim<'_>| {
        let log =
            |run: &Run| run.value_of(claim.metric, claim.flow).filter(|_| run.is_side_by_side()).map(f64::ln);
        let firsts = |cell: &experiment::Cell| runs(&cell.id).iter().filter(|run| !run.twin);
        let ratio = |run: &Run| {
            let other = firsts(claim.baseline).find(|other| run.belongs_to(other))?;
            Some(log(run)? - log(other)?)
        };
        let alone = claim.cell.id == claim.baseline.id;
        firsts(claim.cell).filter_map(|run| if alone { log(run) } else { ratio(run) }).collect()
    };
    claims.iter().map(of).collect()
}

/// Returns the maximum number of blocks that fit into the budget, from the mean duration of the blocks so far.
fn room(experiment: &Plan, log: &ExperimentLog) -> u32 {
    let most = experiment.design.blocks;
    let (Some(budget_ns), Some(each_ns)) = (experiment.design.budget_ns, each_ns(log)) else {
        return most;
    };
    let room =
        u32::try_from(budget_ns.saturating_sub(max_rates_ns(log)) / each_ns.max(1)).unwrap_or(u32::MAX);
    room.clamp(log.allocation.made, most.max(log.allocation.made))
}

/// Returns the mean duration in ns of the blocks that were executed without interruption.
fn each_ns(log: &ExperimentLog) -> Option<u64> {
    let took: Vec<u64> = log.blocks.iter().filter_map(|block| block.took_ns).collect();
    let n = u64::try_from(took.len()).ok().filter(|n| *n > 0)?;
    Some(took.into_iter().fold(0, u64::saturating_add) / n)
}

/// Returns the total duration in ns of the runs that measured maximum rates.
fn max_rates_ns(log: &ExperimentLog) -> u64 {
    let runs = log.max_rates.iter().flat_map(|maximum| &maximum.runs);
    runs.map(|run| run.took_ns).fold(0, u64::saturating_add)
}

/// Returns whether the budget allows one more block.
fn has_room(experiment: &Plan, log: &ExperimentLog) -> bool {
    let (Some(budget_ns), Some(each_ns)) = (experiment.design.budget_ns, each_ns(log)) else {
        return true;
    };
    let took = log.blocks.iter().map(|block| block.took_ns.unwrap_or(each_ns));
    took.fold(each_ns.saturating_add(max_rates_ns(log)), u64::saturating_add) <= budget_ns
}

/// Returns the minimum number of blocks that a time budget cannot reduce: with fewer there is no interval and no
/// claim.
fn least(experiment: &Plan) -> u32 {
    if experiment.design.baseline.is_empty() {
        return stats::least_blocks(LEVEL) as u32;
    }
    least_blocks(experiment)
}

/// Returns the next block. The number of blocks must be decided first if [`is_due`] returns true. `schedule` is that
/// of `experiment`.
#[must_use]
pub fn next(experiment: &Plan, schedule: &[ScheduledRun], log: &ExperimentLog) -> NextBlock {
    let scheduled =
        |number: u32| schedule[experiment.runs_before(number)..experiment.runs_before(number + 1)].to_vec();
    if let Some(open) = log.blocks.last().filter(|block| !block.complete) {
        let runs = match open.repeats {
            None => scheduled(open.number),
            Some(_) => experiment.block_again(open.number, open.first_run),
        };
        return NextBlock::Block { number: open.number, repeats: open.repeats, runs };
    }
    let allocation = &log.allocation;
    let by_precision = experiment.design.precision.is_some();
    if allocation.made < allocation.planned {
        let number = allocation.made + 1;
        if by_precision && number > least(experiment) && !has_room(experiment, log) {
            return NextBlock::Done(StoppedBy::Budget);
        }
        return NextBlock::Block { number, repeats: None, runs: scheduled(number) };
    }
    let begun = log.blocks.len() as u32;
    if let Some(noisy) = to_repeat(log).filter(|_| has_room(experiment, log)) {
        let runs = experiment.block_again(begun + 1, experiment.runs_before(begun + 1) as u32 + 1);
        return NextBlock::Block { number: begun + 1, repeats: Some(noisy), runs };
    }
    NextBlock::Done(match allocation.wanted {
        _ if !by_precision => StoppedBy::Fixed,
        Some(wanted) if wanted <= allocation.planned => StoppedBy::Precision,
        _ => StoppedBy::Budget,
    })
}

/// Adds a finished block without noise to the log of a simulated experiment.
pub fn add_quiet(
    log: &mut ExperimentLog,
    number: u32,
    repeats: Option<u32>,
    runs: &[ScheduledRun],
    took_ns: u64,
) {
    log.blocks.push(Block {
        number,
        repeats,
        noisy: false,
        reasons: Vec::new(),
        first_run: runs.first().map_or(0, |run| run.number),
        complete: true,
        took_ns: Some(took_ns),
        hosts: Vec::new(),
        others: Vec::new(),
    });
    log.allocation.made += u32::from(repeats.is_none());
}

/// Returns the number of a noisy block that was not repeated yet.
fn to_repeat(log: &ExperimentLog) -> Option<u32> {
    let firsts: Vec<Block> = log.blocks.iter().filter(|block| block.repeats.is_none()).cloned().collect();
    if !log.noise_rule.repeat_noisy || over_half_noisy(&firsts) {
        return None;
    }
    let again = |number| log.blocks.iter().any(|block| block.repeats == Some(number));
    firsts.into_iter().find(|block| block.noisy && !again(block.number)).map(|block| block.number)
}
