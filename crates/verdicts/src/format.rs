//! Verdicts as text, with their numbers.

use results::{
    Metric, ModesBy, Pairing, ReferenceChange, TypicalValue, UNDER_DUET_INTERFERENCE, Verdict, VerdictSide,
    format_signed, format_value,
};
use stats::ComparisonData;

/// Formats a verdict as one line.
pub(crate) fn verdict(verdict: &Verdict, noisy: usize) -> String {
    let mut parts = vec![verdict.headline()];
    for (whose, side) in [("", &verdict.treatment), ("baseline ", &verdict.baseline)] {
        parts.extend(modes(side, verdict.metric).map(|modes| format!("{whose}{modes}")));
    }
    parts.extend(verdict.references.iter().map(|change| format!("reference: {}", reference(change))));
    parts.extend(shares(verdict));
    parts.extend(runs(verdict));
    if let Some(quiet) = &verdict.without_noisy {
        let blocks = if noisy == 1 { "the noisy block".to_owned() } else { format!("{noisy} noisy blocks") };
        let differs = if verdict.depends_on_noise() { ", ANOTHER CONCLUSION" } else { "" };
        parts.push(match quiet.n {
            0 => "no quiet block is left to compare with".to_owned(),
            _ => format!("without {blocks}{differs}: {}", verdict.clause(quiet)),
        });
    }
    parts.join("; ")
}

/// Formats the change of a reference value between two results.
fn reference(change: &ReferenceChange) -> String {
    let interval = match (change.low_pct, change.high_pct) {
        (Some(low), Some(high)) => format!(" (95 % {}..{})", format_signed(low), format_signed(high)),
        _ => String::new(),
    };
    format!("{} of a bare socket {} %{interval}", change.metric.words(), format_signed(change.change_pct))
}

/// Formats the rates of both sides, if each has a load in percent of its own maximum.
fn shares(verdict: &Verdict) -> Option<String> {
    let (treatment, baseline) = (verdict.treatment.share_sps?, verdict.baseline.share_sps?);
    let same = verdict.treatment.cell == verdict.baseline.cell && verdict.pairing != Pairing::Apart;
    let change = 100.0 * (treatment / baseline - 1.0);
    (!same).then(|| {
        format!(
            "each at a share of its own maximum: {}/s against {}/s ({} %)",
            format_value(treatment),
            format_value(baseline),
            format_signed(change)
        )
    })
}

/// Formats the change that a criterion is judged by, with the CI of its level.
pub(crate) fn change(verdict: &Verdict, sides: &ComparisonData, level: f64) -> String {
    let n = verdict.basis(sides.complete().0);
    let Some((estimate, interval)) = sides.change(level) else {
        return format!("{} ({n})", verdict.metric_name());
    };
    let signed = |share: f64| format_signed(100.0 * share);
    let (low, high) = (signed(interval.low), signed(interval.high));
    // with enough digits to differ from 100 %
    let level = format!("{:.2}", 100.0 * level);
    let level = level.trim_end_matches('0').trim_end_matches('.');
    format!("{} {} % ({level} % {low}..{high}, {n})", verdict.metric_name(), signed(estimate))
}

/// Formats why a criterion cannot be judged: too few blocks or runs.
pub(crate) fn too_few(verdict: &Verdict, sides: &ComparisonData, needs: usize) -> String {
    let n = verdict.basis(sides.complete().0);
    let each = if verdict.pairing == Pairing::Apart { " on each side" } else { "" };
    format!("{} has {n}, needs {needs}{each}", verdict.metric_name())
}

fn modes(side: &VerdictSide, metric: Metric) -> Option<String> {
    let modes: Vec<String> = side
        .modes
        .iter()
        .map(|mode| {
            format!(
                "{} % near {} {}",
                format_value(mode.share_pct),
                metric.format(mode.location),
                metric.shown_unit()
            )
        })
        .collect();
    let by = side.modes_by.as_ref().map(modes_by).unwrap_or_default();
    let interference =
        if side.under_duet_interference { format!(" {UNDER_DUET_INTERFERENCE}") } else { String::new() };
    (!modes.is_empty()).then(|| format!("multi-modal{interference}: {}{by}", modes.join(", ")))
}

/// Formats the recorded fields that are associated with modes: the first few, with their typical value in each
/// mode.
fn modes_by(by: &ModesBy) -> String {
    const SHOWN: usize = 3;
    let fields = format!("{} recorded field{}", by.tested, if by.tested == 1 { "" } else { "s" });
    if by.tested == 0 {
        return ", while no recorded field varies".to_owned();
    }
    if !by.enough_runs {
        return format!(", with too few runs to tell by which of {fields}");
    }
    if by.separating.is_empty() {
        return format!(", told apart by none of {fields}");
    }
    let shown = by.separating.iter().take(SHOWN).map(|field| {
        let typical: Vec<String> = field.typical.iter().map(typical).collect();
        format!("{} ({})", field.field, typical.join(", then "))
    });
    let more = match by.separating.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(", told apart by {}{more}", shown.collect::<Vec<_>>().join(", "))
}

fn typical(typical: &Option<TypicalValue>) -> String {
    match typical {
        None => "not known".to_owned(),
        Some(TypicalValue::Word(word)) => word.clone(),
        Some(TypicalValue::Number(number)) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(TypicalValue::Number(number)) => format_value(*number),
    }
}

/// Formats the warnings about the runs of a verdict.
fn runs(verdict: &Verdict) -> Vec<String> {
    let sum = |of: fn(&VerdictSide) -> u32| of(&verdict.treatment) + of(&verdict.baseline);
    let mut words = Vec::new();
    if sum(|side| side.unsteady) > 0 {
        words.push(format!(
            "no steady state in {} of {} runs",
            sum(|side| side.unsteady),
            sum(|side| side.runs)
        ));
    }
    if sum(|side| side.sender_limited) > 0 {
        words.push(format!(
            "sender-limited in {} of {} runs: no property of the middleware alone",
            sum(|side| side.sender_limited),
            sum(|side| side.runs)
        ));
    }
    let missing = [
        ("failed", sum(|side| side.failed)),
        ("invalid", sum(|side| side.invalid)),
        // A withheld verdict has the reason.
        ("without a value", if verdict.withheld.is_none() { sum(|side| side.without_value) } else { 0 }),
    ];
    let missing: Vec<String> =
        missing.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
    if !missing.is_empty() {
        words.push(format!("left out: runs {}", missing.join(", ")));
    }
    words
}
