//! Next steps after a result, as commands.

use experiment::Workload;
use results::{ResultDocument, State, WarningKind, over_half_noisy};

use super::line::{Kind, Line};
use crate::shell::quoted;

/// Maximum number of commands.
const COMMANDS: usize = 3;
/// Minimum number of runs of each cell that is suggested, if the values vary.
const ENOUGH_RUNS: u32 = 12;

/// Returns the next steps, the most important first.
pub(super) fn next(document: &ResultDocument, directory: Option<&str>, width: usize) -> Vec<Line> {
    let place = directory.map_or_else(|| "DIR".to_owned(), quoted);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let mut steps: Vec<(Vec<String>, String)> = Vec::new();
    if document.state == State::Interrupted {
        steps.push((words(&["ddsmark", "run", "--resume", &place]), "measure the missing runs".to_owned()));
    }
    steps.extend(again(document));
    if !document.cells.is_empty() {
        let what = "all tables, findings and warnings".to_owned();
        steps.push((words(&["ddsmark", "report", &place, "--full"]), what));
        steps.push((
            words(&["ddsmark", "compare", &place, "OTHER_RESULT"]),
            "the difference to another result".to_owned(),
        ));
    }
    let mut lines = Vec::new();
    if !steps.is_empty() {
        lines.extend([Line::new(Kind::Plain, ""), Line::new(Kind::Heading, "Next")]);
    }
    let shown = steps.iter().take(COMMANDS);
    // a long command has no remark, and does not move those of the others
    let lengths =
        shown.clone().map(|(command, what)| (command.join(" ").chars().count(), what.chars().count()));
    let column = lengths.filter(|(command, what)| command + what + 6 <= width).map(|(command, _)| command);
    let column = column.max().unwrap_or(0);
    for (command, what) in shown {
        let aligned = Line::new(Kind::Plain, &format!("  {:column$}  # {what}", command.join(" ")));
        if aligned.text.chars().count() <= width {
            lines.push(aligned);
        } else {
            lines.extend(continued(command, width));
        }
    }
    lines
}

/// Breaks a command between its words, so that a shell still takes it as one.
fn continued(command: &[String], width: usize) -> Vec<Line> {
    let mut lines = vec![format!("  {}", command[0])];
    for part in &command[1..] {
        let last = lines.last_mut().expect("the first word");
        if last.chars().count() + part.chars().count() + 3 <= width {
            last.push_str(&format!(" {part}"));
        } else {
            last.push_str(" \\");
            lines.push(format!("    {part}"));
        }
    }
    lines.iter().map(|line| Line::new(Kind::Plain, line)).collect()
}

/// Commands that take a number of runs and their duration as flags.
const MEASURE: [&str; 7] = ["run", "characterize", "latency", "throughput", "load", "discovery", "search"];
/// Flags of a measurement that its repetition replaces; those with a value.
const REPLACED: [&str; 7] = ["--out", "-o", "--runs", "-n", "--precision", "--budget", "--seed"];
/// Flags of a measurement that its repetition leaves out; those without a value.
const LEFT_OUT: [&str; 8] = ["--json", "--csv", "--jsonl", "--markdown", "--verbose", "-v", "--quiet", "-q"];
/// Flags for the duration of runs, which longer runs replace; the last one has no value.
const DURATIONS: [&str; 2] = ["--duration", "--quick"];
/// Maximum duration of a run in ns.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Returns the command that repeats the measurement with more or longer runs, and why; `None` if it is not known, or if nothing asks for it.
///
/// Values that vary between runs, and a noisy host, need more runs; values that are not steady within a run, or of few samples, need longer
/// ones. All other flags stay, so that the result answers the same question.
fn again(document: &ResultDocument) -> Option<(Vec<String>, String)> {
    let design = &document.experiment.design;
    let warnings = || document.cells.iter().flat_map(|cell| &cell.warnings);
    let has = |kind: WarningKind| warnings().any(|warning| warning.kind == kind);
    let more = [
        (has(WarningKind::Spread) || has(WarningKind::Groups), "these vary"),
        (over_half_noisy(&document.blocks), "the host was noisy"),
    ];
    let longer = [
        (has(WarningKind::NotSteady), "these are not steady"),
        (has(WarningKind::FewSamples), "these have few samples"),
    ];
    let reason = |of: &[(bool, &'static str)]| of.iter().find(|(holds, _)| *holds).map(|(_, why)| *why);
    // A number of samples ends a run, however long it may be.
    let is_longer = design.samples.is_none() && design.measure_ns < LONGEST_NS;
    let (more, longer) = (reason(&more), reason(&longer).filter(|_| is_longer));
    let why = more.or(longer)?;
    let what = match (more, longer) {
        (Some(_), Some(_)) => "more and longer runs",
        (Some(_), None) => "more runs",
        _ => "longer runs",
    };
    let mut command = repeated(document, longer.is_some())?;
    if more.is_some() {
        let runs = ENOUGH_RUNS.max(2 * design.blocks);
        command.extend(["--runs".to_owned(), runs.to_string()]);
    }
    if longer.is_some() {
        let ms = (2 * design.measure_ns).min(LONGEST_NS).div_ceil(1_000_000);
        let time = if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") };
        command.extend(["--duration".to_owned(), time]);
    }
    Some((command, format!("{what}, since {why}")))
}

/// Returns the command of the measurement without the flags that [`again`] gives; `None` if it takes no such flags, or cannot be repeated.
fn repeated(document: &ResultDocument, is_longer: bool) -> Option<Vec<String>> {
    let mut words = document.tool.command_line.iter().skip(1);
    let name = words.next().filter(|name| MEASURE.contains(&name.as_str()))?;
    let is_search = |cell: &results::CellResult| cell.factors.workload == Workload::Search;
    if name == "run" && document.cells.iter().all(is_search) {
        return None;
    }
    let [duration, quick] = DURATIONS;
    let mut command = vec!["ddsmark".to_owned(), name.clone()];
    while let Some(word) = words.next() {
        // A value is the next word, or a part of this one: `-n 5`, `-n5`, `--runs=5`.
        let has_value = |flag: &&str| match flag.starts_with("--") {
            true => word.starts_with(&format!("{flag}=")),
            false => word.starts_with(*flag) && word != flag,
        };
        let is_flag = |flag: &&str| word == flag || has_value(flag);
        if word == "--resume" || word.starts_with("--resume=") {
            return None;
        }
        if REPLACED.iter().any(is_flag) || (is_longer && is_flag(&duration)) {
            if !REPLACED.iter().chain([&duration]).any(has_value) {
                words.next();
            }
        } else if !(LEFT_OUT.contains(&word.as_str()) || is_longer && word == quick) {
            command.push(quoted(word));
        }
    }
    Some(command)
}
