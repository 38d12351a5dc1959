//! Highest loss-free load: every run sent and delivered all of the schedule, in time. The next higher load is reported with it.

use experiment::{Arrival, Load, Rate, Workload};
use results::{CellResult, Finding, FindingKind, Run};
use stats::Spread;

use crate::{
    KEPT, LATE_PCT,
    curves::{Side, by_name, delivered_sps, goodput_mbps, over_runs},
    format::{finding, list, three, values},
    load_point::{accepted_share, batch_in_words, in_words, late_pct},
};

/// Load, and its loss.
struct Demand<'d> {
    cell: &'d CellResult,
    sps: f64,
    /// Number of samples due at the same time.
    burst: u64,
    /// Samples that did not arrive, whatever the reason, in percent of the planned ones, over the runs.
    missing: Spread,
    /// Number of runs with samples that were sent and not delivered.
    lossy_runs: usize,
    /// Samples that arrived after the end of the writing, in percent of the delivered ones, over the runs.
    late: Spread,
    /// Accepted samples as a share of planned samples, over the runs.
    accepted: Spread,
}

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let sweeps = sweeps(side);
    sweeps.iter().filter_map(|(what, demands)| best(what, demands)).collect()
}

/// Returns the loads of each sample size and batching, in ascending order. At the same rate, the larger burst is
/// the higher load.
fn sweeps<'d>(side: &Side<'d>) -> Vec<(String, Vec<Demand<'d>>)> {
    let named = |cell: &'d CellResult| {
        let demand = Demand::from_cell(cell)?;
        let factors = &cell.factors;
        let batch = batch_in_words(factors);
        let what = format!("`{}` under load at {} bytes{batch}", side.name, factors.size_bytes);
        Some((what, demand))
    };
    let mut sweeps = by_name(side.of_workload(Workload::Paced).filter_map(named));
    for (_, demands) in &mut sweeps {
        demands.sort_by(|left, right| left.sps.total_cmp(&right.sps).then(left.burst.cmp(&right.burst)));
    }
    sweeps
}

impl<'d> Demand<'d> {
    /// Returns `None` without a rate, or with too few runs.
    fn from_cell(cell: &'d CellResult) -> Option<Self> {
        let load = cell.factors.load.as_ref()?;
        let burst = match load {
            Load::Burst { rate } => rate.samples,
            _ => 1,
        };
        let (missing, accepted) = (over_runs(cell, missing_pct)?, over_runs(cell, accepted_share)?);
        let lossy_runs = cell.valid_runs().filter(|run| has_losses(run)).count();
        let late = over_runs(cell, late_pct)?;
        Some(Self { cell, sps: load.rate()?.sps(), burst, missing, lossy_runs, late, accepted })
    }

    /// Returns whether every run sent at least [`KEPT`] of its schedule, and all sent samples were delivered, in most runs in
    /// time.
    fn is_loss_free(&self) -> bool {
        !self.has_losses() && self.accepted.min >= KEPT && !self.is_late()
    }

    const fn has_losses(&self) -> bool {
        self.lossy_runs > 0
    }

    fn is_late(&self) -> bool {
        self.late.median > LATE_PCT
    }

    fn in_words(&self) -> String {
        let rate = in_words(self.cell);
        match &self.cell.factors.load {
            Some(Load::Burst { rate: Rate { samples, .. } }) => format!("{rate} in bursts of {samples}"),
            Some(Load::Poisson { .. } | Load::Share { arrival: Arrival::Poisson, .. }) => {
                format!("{rate} (poisson)")
            }
            _ => rate,
        }
    }

    /// Formats why the load is not loss-free.
    fn obstacle(&self) -> String {
        let all = self.missing.n;
        let runs = |of: fn(&Run) -> Option<f64>, is_so: fn(f64) -> bool| {
            let so = self.cell.valid_runs().filter_map(of).filter(|value| is_so(*value)).count();
            format!("in {so} of {all} runs")
        };
        if self.has_losses() {
            let missing = values(self.missing.min, self.missing.max);
            return format!(
                "{missing} % of the samples did not come, {}",
                runs(missing_pct, |pct| pct > 0.0)
            );
        }
        if self.accepted.min >= KEPT {
            let late = values(self.late.min, self.late.max);
            let in_runs = runs(late_pct, |pct| pct > LATE_PCT);
            return format!(
                "nothing was lost, but {late} % of the samples came after the writing had ended, more than {LATE_PCT} % {in_runs}"
            );
        }
        let sent = values(100.0 * self.accepted.min, 100.0 * self.accepted.max);
        let short = runs(accepted_share, |share| share < KEPT);
        format!("nothing was lost, but {sent} % of the plan was sent, less than 99 % {short}")
    }
}

/// Returns the finding of a series of loads; `None` for a reliable flow without losses: what it does not accept or deliver
/// in time shows as a rate that is not reached.
fn best(what: &str, demands: &[Demand<'_>]) -> Option<Finding> {
    let [first, .., last] = demands else { return None };
    let reliable = |demand: &Demand<'_>| demand.cell.factors.is_reliable(0);
    if demands.iter().all(|demand| reliable(demand) && !demand.has_losses()) {
        return None;
    }
    let cells = || demands.iter().map(|demand| demand.cell);
    let Some(index) = demands.iter().rposition(Demand::is_loss_free) else {
        let text = format!(
            "{what}: no load is free of loss: at the lowest, {}, {}.",
            first.in_words(),
            first.obstacle()
        );
        let mut numbers = vec![
            ("lowest_sps".to_owned(), first.sps),
            ("lowest_burst_samples".to_owned(), first.burst as f64),
        ];
        numbers.extend(three("lowest_missing", "pct", &first.missing));
        return Some(finding(FindingKind::NoneLossFree, text, cells(), numbers));
    };
    let (at, below) = (&demands[index], &demands[..index]);
    let [accepted, delivered, goodput] = [
        over_runs(at.cell, accepted_sps)?,
        over_runs(at.cell, delivered_sps)?,
        over_runs(at.cell, goodput_mbps)?,
    ];
    let rate = |spread: &Spread| values(spread.min, spread.max);
    let rates = format!(
        "{}/s sent, {}/s delivered ({} Mbit/s; {} runs)",
        rate(&accepted),
        rate(&delivered),
        rate(&goodput),
        at.missing.n
    );
    let mut numbers =
        vec![("loss_free_sps".to_owned(), at.sps), ("loss_free_burst_samples".to_owned(), at.burst as f64)];
    numbers.extend(three("accepted", "sps", &accepted));
    numbers.extend(three("delivered", "sps", &delivered));
    numbers.extend(three("goodput", "mbps", &goodput));
    let lossy: Vec<String> = below
        .iter()
        .filter(|demand| !demand.is_loss_free())
        .map(|demand| format!("{} ({})", demand.in_words(), demand.obstacle()))
        .collect();
    let below = match lossy.len() {
        0 => String::new(),
        _ => format!("Not free of loss below it: {}.", list(&lossy)),
    };
    let Some(next) = demands.get(index + 1) else {
        let text = if lossy.is_empty() {
            format!(
                "{what}: free of loss at all loads from {} to {}, so the best one lies beyond them; at the highest {rates}.",
                first.in_words(),
                last.in_words()
            )
        } else {
            format!("{what}: free of loss at the highest load, {}: {rates}.", last.in_words())
        };
        return Some(finding(FindingKind::HighestLossFree, (text, below), cells(), numbers));
    };
    numbers.push(("next_sps".to_owned(), next.sps));
    numbers.push(("next_burst_samples".to_owned(), next.burst as f64));
    numbers.extend(three("next_missing", "pct", &next.missing));
    let text = format!("{what}: the best load that is free of loss is {}: {rates}.", at.in_words());
    let more = format!("At the next higher one, {}, {}. {below}", next.in_words(), next.obstacle());
    Some(finding(FindingKind::BestLossFree, (text, more), cells(), numbers))
}

/// Returns the samples that did not arrive, in percent of the planned ones.
fn missing_pct(run: &Run) -> Option<f64> {
    let shortfall = run.shortfall();
    (shortfall.expected > 0).then(|| shortfall.pct())
}

fn has_losses(run: &Run) -> bool {
    run.counts().any(|counted| counted.lost > 0 || counted.undelivered > 0)
}

fn accepted_sps(run: &Run) -> Option<f64> {
    run.throughput().map(|throughput| throughput.accepted_sps)
}
