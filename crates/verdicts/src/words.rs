//! Verdicts in words, with their numbers.

use results::{Answer, Conclusion, Metric, Pairing, UNDER_DUET_INTERFERENCE, Verdict, VerdictSide};
use stats::Rules;

/// A verdict as one line.
pub(crate) fn verdict(verdict: &Verdict, noisy: usize) -> String {
    let name = verdict.metric.words();
    let mut parts = match (&verdict.answer, &verdict.withheld) {
        (_, Some(why)) => vec![format!("{name}: no verdict: {why}")],
        (Some(all), None) => vec![format!("{name} {}", answer(all, verdict))],
        (None, None) => vec![format!("{name}: no verdict")],
    };
    for (whose, side) in [("", &verdict.treatment), ("baseline ", &verdict.baseline)] {
        parts.extend(modes(side, verdict.metric).map(|modes| format!("{whose}{modes}")));
    }
    parts.extend(runs(verdict));
    if let Some(quiet) = &verdict.without_noisy {
        let blocks = if noisy == 1 { "the noisy block".to_owned() } else { format!("{noisy} noisy blocks") };
        let differs = if verdict.depends_on_noise() { ", ANOTHER CONCLUSION" } else { "" };
        parts.push(match quiet.n {
            0 => "no quiet block is left to compare with".to_owned(),
            _ => format!("without {blocks}{differs}: {}", answer(quiet, verdict)),
        });
    }
    parts.join("; ")
}

/// What may be said, without the name of the figure.
fn answer(answer: &Answer, verdict: &Verdict) -> String {
    let n = match verdict.pairing {
        Pairing::Blocks if answer.n == 1 => "1 block".to_owned(),
        Pairing::Blocks => format!("{} blocks", answer.n),
        Pairing::Duets if answer.n == 1 => "1 duet".to_owned(),
        Pairing::Duets => format!("{} duets", answer.n),
        Pairing::Apart => format!("{} and {} runs", verdict.baseline.runs, verdict.treatment.runs),
    };
    let rests_on = |signed: bool, turned: bool| match (answer.low_pct, answer.high_pct) {
        (Some(low), Some(high)) => {
            let (low, high) = if turned { (-high, -low) } else { (low, high) };
            format!("(95 % {}..{}, {n})", percent(low, signed), percent(high, signed))
        }
        _ => format!("({n})"),
    };
    let change = answer.change_pct.unwrap_or_default();
    let margin = 100.0 * Rules::default().margin;
    let equivalent =
        |within: bool| if within { format!(", equivalent within {margin} %") } else { String::new() };
    match &answer.conclusion {
        Conclusion::Higher { within_margin, .. } => {
            format!(
                "{} % higher{} {}",
                percent(change, false),
                equivalent(*within_margin),
                rests_on(false, false)
            )
        }
        Conclusion::Lower { within_margin, .. } => {
            format!(
                "{} % lower{} {}",
                percent(-change, false),
                equivalent(*within_margin),
                rests_on(false, true)
            )
        }
        Conclusion::Equivalent { margin_pct } => {
            format!("equivalent within {margin_pct} % {}", rests_on(true, false))
        }
        Conclusion::Inconclusive { could_have_seen_pct: Some(seen) } => {
            format!("inconclusive: could have seen {} % {}", percent(*seen, false), rests_on(true, false))
        }
        Conclusion::Inconclusive { could_have_seen_pct: None } => {
            format!("inconclusive {}", rests_on(true, false))
        }
        Conclusion::TooFew { needs } => match verdict.pairing {
            Pairing::Blocks => format!("has too few blocks for any claim: {}, needs {needs}", answer.n),
            Pairing::Duets => format!("has too few duets for any claim: {}, needs {needs}", answer.n),
            Pairing::Apart => format!("has too few runs for any claim: {n}, needs {needs} on each side"),
        },
    }
}

fn modes(side: &VerdictSide, metric: Metric) -> Option<String> {
    let modes: Vec<String> = side
        .modes
        .iter()
        .map(|mode| format!("{:.0} % near {}", mode.share_pct, quantity(mode.location, metric)))
        .collect();
    let interference =
        if side.under_duet_interference { format!(" {UNDER_DUET_INTERFERENCE}") } else { String::new() };
    (!modes.is_empty()).then(|| format!("multi-modal{interference}: {}", modes.join(", ")))
}

/// What limits the runs that the verdict rests on.
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
    let missing = [
        ("failed", sum(|side| side.failed)),
        ("invalid", sum(|side| side.invalid)),
        ("without this figure", sum(|side| side.without_figure)),
    ];
    let missing: Vec<String> =
        missing.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
    if !missing.is_empty() {
        words.push(format!("left out: runs {}", missing.join(", ")));
    }
    words
}

/// A change in percent.
fn percent(value: f64, signed: bool) -> String {
    let digits = usize::from(value.abs() < 99.95);
    // no minus before what is rounded to nothing
    let value = if value.abs() < 0.05 { 0.0 } else { value };
    if signed { format!("{value:+.digits$}") } else { format!("{value:.digits$}") }
}

/// A figure with its unit, for people.
pub(crate) fn quantity(value: f64, metric: Metric) -> String {
    let (value, unit) = match (metric.unit(), value) {
        ("ns", ns) if ns >= 1e6 => (ns / 1e6, "ms"),
        ("ns", ns) if ns >= 1e3 => (ns / 1e3, "µs"),
        (unit, value) => (value, unit),
    };
    let digits = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}
