//! Fitness of the host for the question, with reasons.

use experiment::Pin;
use report::parts::count;
use results::{Block, ResultDocument, State, WarningKind, format_value, over_half_noisy};

use crate::page::{Check, Fitness, Grade};

/// Stolen time by the hypervisor, in percent of all cores, from which a result is read with care.
const STEAL_CARE_PCT: f64 = 1.0;
/// Stolen time from which small differences cannot be seen.
const STEAL_UNFIT_PCT: f64 = 5.0;

/// Returns the checks of the hosts and the runs.
pub(crate) fn fitness(document: &ResultDocument) -> Fitness {
    let checks: Vec<Check> = [
        quiet(document),
        hypervisor(document),
        runs(document),
        samples(document),
        pinned(document),
        power(document),
        host_settings(document),
        others(document),
        kind(document),
    ]
    .into_iter()
    .flatten()
    .collect();
    let grade = checks.iter().map(|check| check.grade).max().unwrap_or(Grade::Care);
    Fitness { grade, checks }
}

fn check(name: &'static str, grade: Grade, text: impl Into<String>) -> Option<Check> {
    Some(Check { name, grade, text: text.into() })
}

fn quiet(document: &ResultDocument) -> Option<Check> {
    let blocks = &document.blocks;
    if blocks.is_empty() {
        return check("Quiet", Grade::Care, "unknown: the result has no record of its blocks");
    }
    let noisy = blocks.iter().filter(|block| block.noisy).count();
    let cores = blocks.iter().flat_map(Block::probes).flat_map(|probe| &probe.cores);
    let Some(most) = cores.map(|core| core.stolen_pct).max_by(f64::total_cmp) else {
        return check("Quiet", Grade::Care, "unknown: no noise probe");
    };
    let other = format!("; other work took up to {} % of a core", format_value(most));
    let grade = match noisy {
        0 => Grade::Fit,
        _ if over_half_noisy(blocks) => Grade::Unfit,
        _ => Grade::Care,
    };
    check("Quiet", grade, format!("{noisy} of {} noisy{other}", count(blocks.len(), "block")))
}

fn hypervisor(document: &ResultDocument) -> Option<Check> {
    let steal = document.blocks.iter().flat_map(Block::counters).filter_map(|counters| counters.steal_pct);
    let most = steal.max_by(f64::total_cmp)?;
    let grade = match most {
        most if most < STEAL_CARE_PCT => Grade::Fit,
        most if most < STEAL_UNFIT_PCT => Grade::Care,
        _ => Grade::Unfit,
    };
    check("Hypervisor", grade, format!("steal at most {} %", format_value(most)))
}

fn runs(document: &ResultDocument) -> Option<Check> {
    let planned = document.planned_runs();
    let made: usize = document.cells.iter().map(|cell| cell.runs.len()).sum();
    let valid: usize = document.cells.iter().map(|cell| cell.valid_runs().count()).sum();
    let interrupted = document.state == State::Interrupted;
    let grade = match (made, valid) {
        (_, 0) => Grade::Unfit,
        (made, valid) if made == valid && !interrupted => Grade::Fit,
        _ => Grade::Care,
    };
    let stopped = if interrupted { format!("; interrupted, {planned} planned") } else { String::new() };
    check("Valid runs", grade, format!("{valid} of {made}{stopped}"))
}

fn samples(document: &ResultDocument) -> Option<Check> {
    let cells = document.cells.iter().filter(|cell| cell.valid_runs().next().is_some());
    let missing: Vec<f64> =
        cells.map(|cell| cell.shortfall().pct()).filter(|pct| *pct > results::MAX_LATENCY_LOSS_PCT).collect();
    let most = missing.iter().copied().max_by(f64::total_cmp)?;
    let text = format!(
        "{} with over {} % missing, up to {} %",
        count(missing.len(), "cell"),
        results::MAX_LATENCY_LOSS_PCT,
        format_value(most)
    );
    check("Samples", Grade::Care, text)
}

fn pinned(document: &ResultDocument) -> Option<Check> {
    if let Some((most, cells)) = document.most_oversubscribed(document.cells.iter()) {
        return check("Cores", Grade::Unfit, format!("{most}, in {}", count(cells, "cell")));
    }
    match document.experiment.design.pin {
        Pin::None => check("Cores", Grade::Care, "endpoints are not pinned"),
        Pin::Cores(..) => check("Cores", Grade::Fit, "each endpoint on cores of its own"),
    }
}

fn power(document: &ResultDocument) -> Option<Check> {
    let awake = document.experiment.design.keep_awake;
    let governor = document.host().governor.as_deref();
    match (awake, governor) {
        (true, _) => check("Power", Grade::Fit, "cores kept awake"),
        (false, Some("performance")) => check("Power", Grade::Fit, "governor `performance`"),
        (false, Some(other)) => {
            check("Power", Grade::Care, format!("cores not kept awake, governor `{other}`"))
        }
        (false, None) => check("Power", Grade::Care, "cores not kept awake"),
    }
}

fn host_settings(document: &ResultDocument) -> Option<Check> {
    let of_kind = document.warnings.iter().filter(|warning| warning.kind == WarningKind::Host);
    let texts: Vec<&str> = of_kind.map(|warning| warning.text.as_str()).collect();
    let first = texts.first()?;
    let more = if texts.len() > 1 { format!("; {} more", texts.len() - 1) } else { String::new() };
    check("Settings", Grade::Care, format!("{first}{more}"))
}

fn others(document: &ResultDocument) -> Option<Check> {
    let beside = document.blocks.iter().any(|block| !block.others.is_empty());
    if beside {
        check("Alone", Grade::Unfit, "another experiment ran on the host at the same time")
    } else {
        None
    }
}

fn kind(document: &ResultDocument) -> Option<Check> {
    match document.host().virtualization.as_deref() {
        None => None,
        Some(kind) => check("Kind", Grade::Care, format!("virtual ({kind}): not for absolute figures")),
    }
}
