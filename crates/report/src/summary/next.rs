//! Next steps after a result, as commands.

use experiment::Workload;
use results::{ResultDocument, State, WarningKind, over_half_noisy};

use super::line::{Kind, Line};
use crate::shell::quoted;

/// Maximum number of commands.
const COMMANDS: usize = 3;
/// Number of runs of each cell below which more runs are suggested, if the values vary.
const ENOUGH_BLOCKS: u32 = 12;

/// Returns the next steps, the most important first.
pub(super) fn next(document: &ResultDocument, directory: Option<&str>, width: usize) -> Vec<Line> {
    let place = directory.map_or_else(|| "DIR".to_owned(), quoted);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let mut steps: Vec<(Vec<String>, &str)> = Vec::new();
    if document.state == State::Interrupted {
        steps.push((words(&["ddsmark", "run", "--resume", &place]), "measure the missing runs"));
    }
    let varies = document.cells.iter().flat_map(|cell| &cell.warnings).any(|warning| {
        matches!(
            warning.kind,
            WarningKind::Spread | WarningKind::Groups | WarningKind::FewSamples | WarningKind::NotSteady
        )
    });
    if varies || over_half_noisy(&document.blocks) {
        steps.extend(again(document).map(|command| (command, "more and longer runs, since these vary")));
    }
    if !document.cells.is_empty() {
        steps.push((words(&["ddsmark", "report", &place, "--full"]), "all tables, findings and warnings"));
        steps.push((
            words(&["ddsmark", "compare", &place, "OTHER_RESULT"]),
            "the difference to another result",
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

/// Flags of a measurement that its repetition replaces; those with a value.
const REPLACED: [&str; 7] = ["--out", "-o", "--runs", "-n", "--duration", "--warm-up", "--seed"];
/// Flags of a measurement that its repetition replaces; those without a value.
const REPLACED_SWITCHES: [&str; 11] = [
    "--quick",
    "--precise",
    "--keep-awake",
    "--json",
    "--csv",
    "--jsonl",
    "--markdown",
    "--verbose",
    "-v",
    "--quiet",
    "-q",
];

/// Returns the command that repeats the measurement with more or longer runs; `None` if it is not known.
fn again(document: &ResultDocument) -> Option<Vec<String>> {
    let mut words = document.tool.command_line.iter().skip(1);
    let command = words.next()?;
    let mut again = vec!["ddsmark".to_owned(), command.clone()];
    while let Some(word) = words.next() {
        if REPLACED.contains(&word.as_str()) {
            words.next();
        } else if !REPLACED_SWITCHES.contains(&word.as_str())
            && !REPLACED.iter().any(|flag| word.starts_with(&format!("{flag}=")))
        {
            again.push(quoted(word));
        }
    }
    let is_search = |cell: &results::CellResult| cell.factors.workload == Workload::Search;
    let blocks = ENOUGH_BLOCKS.max(2 * document.experiment.design.blocks);
    match command.as_str() {
        "run" if again.iter().any(|word| word == "--resume") || document.cells.iter().all(is_search) => {
            return None;
        }
        "run" => again.extend(["--set".to_owned(), format!("design.blocks={blocks}")]),
        // two variants in alternating blocks, and pairs of the same cell
        "compare" | "selftest" => return None,
        // the commands that take their factors as flags
        _ => again.extend(["--precise", "--keep-awake"].map(str::to_owned)),
    }
    Some(again)
}
