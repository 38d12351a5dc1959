//! Verdicts as text: below the tables of a result, and in a comparison.

use std::fmt::Write as _;

use results::{Comparison, CriterionOutcome, CriterionResult, Pairing, Verdict, VerdictKind, VerdictSide};

use crate::{
    agreement,
    layout::{Grid, columns, wrap},
    markdown,
    number::{count, date},
    settings::interference,
    shell, system_verdict,
};

/// Maximum adjusted p-value at which a comparison without a claim is listed for exploration.
const WORTH_A_LOOK: f64 = 0.05;

/// Basis of claims between two results.
const RANKS: &str =
    "Intervals and claims: ranks of runs of two results (Mann and Whitney), not of pairs within blocks.";

/// Formats the verdicts of a result; empty without verdicts.
pub(crate) fn section(verdicts: &[Verdict], width: usize) -> String {
    let of = |kind| verdicts.iter().filter(move |verdict| verdict.kind == kind).collect::<Vec<_>>();
    let (floors, compared) = (of(VerdictKind::NoiseFloor), of(VerdictKind::Comparison));
    let mut text = String::new();
    if !compared.is_empty() {
        let family = compared.iter().filter_map(|verdict| verdict.answer.as_ref()).map(|a| a.family).max();
        let together = match family {
            Some(n) if n > 1 => format!("; {n} comparisons share the 5 %"),
            _ => String::new(),
        };
        let _ = writeln!(text, "\nVerdicts: change from the baseline, with its 95 % interval{together}");
        text.push_str(&lines(&compared, width));
        text.push_str(&medians_table(&compared));
        text.push_str(&worth_a_look(&compared, width));
    }
    if !floors.is_empty() {
        let beside = floors.iter().any(|floor| floor.pairing == Pairing::Duets);
        let runs = if beside { "beside itself in each block" } else { "its two runs in each block" };
        let _ = writeln!(text, "\nNoise floor: the baseline against itself, {runs}");
        text.push_str(&lines(&floors, width));
        let wrong = floors.iter().filter(|floor| claims(floor)).count();
        if wrong > 0 {
            text.push_str(&wrap(
                &format!(
                    "CAUTION: {} of {} differ from themselves. By chance one of twenty such tables shows it. If it comes \
                     again, do not believe claims of that size: something on this host depends on the order of the runs.",
                    wrong,
                    count(floors.len(), "metric")
                ),
                width,
                2,
            ));
        }
    } else if !compared.is_empty() {
        text.push_str(&wrap("No noise floor: no cell was measured twice in each block.", width, 2));
    }
    text
}

/// Formats one line per verdict, below its pair of cells.
fn lines(verdicts: &[&Verdict], width: usize) -> String {
    let mut text = String::new();
    let sides = |verdict: &Verdict| (name(&verdict.treatment), name(&verdict.baseline));
    for same in verdicts.chunk_by(|left, right| sides(left) == sides(right)) {
        let (treatment, baseline) = sides(same[0]);
        let heading = match same[0].kind {
            VerdictKind::Comparison if treatment != baseline => format!("{treatment} against {baseline}"),
            _ => treatment,
        };
        text.push_str(&wrap(&heading, width, 2));
        if let Some(line) = system_verdict::line(same) {
            text.push_str(&wrap(&line, width, 4));
        }
        for verdict in same {
            text.push_str(&wrap(&verdict.text, width, 4));
        }
    }
    text
}

fn name(side: &VerdictSide) -> String {
    match &side.result {
        Some(result) => format!("{result}:{}", side.cell),
        None => side.cell.clone(),
    }
}

/// Formats the medians over runs that the changes are based on.
fn medians_table(verdicts: &[&Verdict]) -> String {
    let sides = || verdicts.iter().flat_map(|verdict| [&verdict.baseline, &verdict.treatment]);
    let interference = interference(sides().any(|side| side.under_duet_interference));
    let mut grid = Grid::default()
        .left([format!("Medians over runs{interference}").as_str(), "Metric"])
        .right(["Baseline", "n", "Cell", "n"])
        .left([""]);
    for verdict in verdicts {
        let [baseline, treatment] = medians(verdict);
        grid.row(vec![
            verdict.treatment.cell.clone(),
            verdict.metric_name(),
            baseline,
            verdict.baseline.runs.to_string(),
            treatment,
            verdict.treatment.runs.to_string(),
            verdict.metric.shown_unit().to_owned(),
        ]);
    }
    grid.render()
}

fn claims(verdict: &Verdict) -> bool {
    verdict.answer.as_ref().is_some_and(|answer| answer.conclusion.differs())
}

/// Formats comparisons without a claim that are candidates for the next measurement.
fn worth_a_look(verdicts: &[&Verdict], width: usize) -> String {
    let is_worth = |verdict: &&&Verdict| {
        let p = verdict.answer.as_ref().and_then(|answer| answer.p_exploratory);
        !claims(verdict) && p.is_some_and(|p| p <= WORTH_A_LOOK)
    };
    let worth: Vec<String> = verdicts
        .iter()
        .filter(is_worth)
        .map(|verdict| format!("{} of {}", verdict.metric_name(), verdict.treatment.cell))
        .collect();
    if worth.is_empty() {
        return String::new();
    }
    let text = format!(
        "Worth another measurement, not a claim: {}. Of such a list, with the claims above, at most 5 % are expected to \
         be false (Benjamini-Hochberg).",
        worth.join("; ")
    );
    wrap(&text, width, 2)
}

/// Options of the text of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// Number of columns at which text is wrapped; `None`: 120.
    pub width: Option<u16>,
    /// Whether the text has the notes on what limits the claims.
    pub notes: bool,
}

/// Formats a comparison.
#[must_use]
pub fn comparison(comparison: &Comparison, options: ComparisonOptions) -> String {
    let width = columns(options.width);
    let mut text = String::new();
    for (what, side) in [("baseline", &comparison.baseline), ("compared", &comparison.treatment)] {
        let line = format!("{what}: {}, {}, {}", side.result, side.experiment, date(side.started_unix_ns));
        text.push_str(&wrap(&line, width, 0));
        if let Some(command) = shell::of_words("ddsmark", &side.command_line) {
            text.push_str(&wrap(&format!("command: {command}"), width, 2));
        }
        if !side.unmatched.is_empty() {
            let line = format!("not compared, without a counterpart: {}", side.unmatched.join(", "));
            text.push_str(&wrap(&line, width, 2));
        }
    }
    if options.notes {
        comparison.notes.iter().for_each(|note| text.push_str(&wrap(note, width, 2)));
    }
    if let Some(table) = agreement::table(comparison) {
        let _ = writeln!(text, "\n{}", agreement::HEADING);
        agreement::words(comparison).iter().for_each(|words| text.push_str(&wrap(words, width, 2)));
        text.push_str(&table.render());
    }
    text.push_str(&section(&comparison.verdicts, width));
    if let Some((heading, lines)) = criteria(comparison) {
        let _ = writeln!(text, "\n{heading}");
        lines.iter().for_each(|line| text.push_str(&wrap(line, width, 2)));
    }
    let is_apart = |verdict: &Verdict| verdict.pairing == Pairing::Apart;
    if options.notes && comparison.verdicts.iter().any(is_apart) {
        text.push_str(&wrap(RANKS, width, 0));
    }
    text
}

/// Returns the heading of the criteria, and a line for each outcome and for their numbers; `None` without criteria.
fn criteria(comparison: &Comparison) -> Option<(String, Vec<String>)> {
    let heading = match comparison.criteria.len() {
        0 => return None,
        1 => "Criteria".to_owned(),
        n => format!("Criteria: {n} judgements share the 5 %"),
    };
    let line =
        |judged: &CriterionResult| format!("`{}` for {}: {}", judged.criterion, judged.cell, judged.text);
    let of = |outcome| comparison.criteria.iter().filter(|judged| judged.outcome == outcome).count();
    let numbers = format!(
        "{} failed, {} met, {} inconclusive",
        of(CriterionOutcome::Broken),
        of(CriterionOutcome::Kept),
        of(CriterionOutcome::CannotTell)
    );
    Some((heading, comparison.criteria.iter().map(line).chain([numbers]).collect()))
}

/// Formats a comparison as GitHub-flavoured Markdown, for a comment on a pull request: both sides, the criteria, and a
/// table of verdicts.
#[must_use]
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let (baseline, treatment) = (&comparison.baseline, &comparison.treatment);
    let mut text = match baseline.result == treatment.result {
        true => format!("### {}\n\n", markdown::text(&baseline.result)),
        false => {
            let [after, before] = [treatment, baseline].map(|side| markdown::text(&side.result));
            format!("### {after} against {before}\n\n")
        }
    };
    for (what, side) in [("Baseline", baseline), ("Compared", treatment)] {
        let unmatched = match &side.unmatched[..] {
            [] => String::new(),
            cells => format!("; not compared, without a counterpart: {}", cells.join(", ")),
        };
        let line = format!("{what}: {}, {}{unmatched}", side.experiment, date(side.started_unix_ns));
        let _ = writeln!(text, "- {}", markdown::text(&line));
        if let Some(command) = shell::of_words("ddsmark", &side.command_line) {
            let _ = writeln!(text, "  - Command: {}", markdown::text(&command));
        }
    }
    for note in &comparison.notes {
        let _ = writeln!(text, "- {}", markdown::text(note));
    }
    if let Some((heading, lines)) = criteria(comparison) {
        let _ = writeln!(text, "\n**{heading}**\n");
        for line in lines {
            let _ = writeln!(text, "- {}", markdown::text(&line));
        }
    }
    if let Some(table) = agreement::table(comparison) {
        let _ = writeln!(text, "\n**{}**\n", agreement::HEADING);
        for words in agreement::words(comparison) {
            let _ = writeln!(text, "- {}", markdown::text(&words));
        }
        let _ = write!(text, "\n{}", table.markdown());
    }
    let of =
        |kind| comparison.verdicts.iter().filter(move |verdict| verdict.kind == kind).collect::<Vec<_>>();
    for (heading, kind) in [
        ("Verdicts: change from the baseline, with its 95 % interval", VerdictKind::Comparison),
        ("Noise floor: the baseline against itself", VerdictKind::NoiseFloor),
    ] {
        let verdicts = of(kind);
        if !verdicts.is_empty() {
            let _ = write!(text, "\n**{heading}**\n\n{}", table(&verdicts).markdown());
        }
    }
    if comparison.verdicts.iter().any(|verdict| verdict.pairing == Pairing::Apart) {
        let _ = writeln!(text, "\n{RANKS}");
    }
    text
}

/// Returns verdicts with the medians that they are based on.
fn table(verdicts: &[&Verdict]) -> Grid {
    let mut grid =
        Grid::default().left(["Cell", "Verdict"]).right(["Baseline", "Compared", "Runs"]).left(["Unit"]);
    for verdict in verdicts {
        let [baseline, treatment] = medians(verdict);
        grid.row(vec![
            name(&verdict.treatment),
            verdict.text.clone(),
            baseline,
            treatment,
            format!("{} / {}", verdict.baseline.runs, verdict.treatment.runs),
            verdict.metric.shown_unit().to_owned(),
        ]);
    }
    grid
}

/// Returns the medians over the runs of the baseline and of the other cell.
fn medians(verdict: &Verdict) -> [String; 2] {
    [&verdict.baseline, &verdict.treatment].map(|side| match side.median {
        Some(median) => verdict.metric.format(median),
        None => "n/a".to_owned(),
    })
}

/// Returns a comparison as JSON, described by `schemas/comparison.schema.json`.
///
/// # Panics
/// Never panics: a comparison serializes to JSON.
#[must_use]
pub fn comparison_json(comparison: &Comparison) -> String {
    let mut text = serde_json::to_string_pretty(comparison).expect("a comparison is JSON");
    text.push('\n');
    text
}

/// Names two cells: what the ids have in common first, and once.
pub(crate) fn against(treatment: &str, baseline: &str) -> String {
    let segments = |id: &'_ str| id.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (segments(treatment), segments(baseline));
    let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    if common == 0 || common == one.len().min(other.len()) {
        return format!("{treatment} against {baseline}");
    }
    let rest = |of: &[String]| of[common..].join("/");
    format!("{}: {} against {}", one[..common].join("/"), rest(&one), rest(&other))
}

#[cfg(test)]
mod tests {
    use super::against;

    #[test]
    fn names_of_two_cells_have_what_they_share_once() {
        let of = |profile: &str| format!("dds/udp4/latency/64{profile}");
        assert_eq!(
            against(&of("/lifespan"), &of("/default")),
            "dds/udp4/latency/64: lifespan against default"
        );
        assert_eq!(
            against("dds/udp4/latency/64", "bare/udp4/latency/64"),
            "dds/udp4/latency/64 against bare/udp4/latency/64"
        );
        assert_eq!(
            against(&of("/instances-1"), &of("")),
            "dds/udp4/latency/64/instances-1 against dds/udp4/latency/64"
        );
    }
}
