//! Processes of a system: checks of the names in `from` and `to` of flows, and of factors that have no meaning beside them.

use std::collections::BTreeSet;

use crate::{
    factors::flow::{READING_PROCESS, WRITING_PROCESS},
    plan::experiment_file::{ExperimentFile, FlowSection},
    syntax::{
        one_or_many::{Located, OneOrMany, Span},
        spanned_error::{PlanError, SpannedError, all_distinct, contradiction},
    },
};

/// Maximum length of a name of a flow or of a process.
pub const MAX_FLOW_NAME: usize = 64;
/// Maximum number of processes of a run.
pub const MAX_PROCESSES: usize = 200;
/// Factors that say which endpoints a run has, or set one of them.
const REPLACED: [&str; 7] = [
    "topology",
    "writers_per_process",
    "participants_per_process",
    "all_readers_echo",
    "join",
    "slow_reader",
    "content_filter",
];

/// Validates the names of processes that flows give.
pub(crate) fn check(file: &ExperimentFile) -> Result<(), SpannedError> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut first = None;
    for section in &file.flows {
        let FlowSection { name, from, to, .. } = section.get();
        for process in from.0.iter().chain(&to.0) {
            check_name(process, "process")?;
            first = first.or(Some(process));
        }
        all_distinct("process", from)?;
        all_distinct("process", to)?;
        let (writing, reading) = (or_default(from, WRITING_PROCESS), or_default(to, READING_PROCESS));
        names.extend(writing.iter().chain(&reading).map(|(process, _)| *process));
        if let Some((both, _)) =
            writing.iter().find(|(process, _)| reading.iter().any(|(other, _)| other == process))
        {
            let words = format!("process `{both}` would read its own flow `{}`", name.get());
            let hint =
                "samples within a participant need not use the transport: leave it out of `from` or of `to`";
            // The name that the file has, if the other one is the default.
            let at = writing
                .iter()
                .chain(&reading)
                .find_map(|(process, at)| at.clone().filter(|_| process == both));
            return Err(contradiction(words, hint).at(at.unwrap_or_default()));
        }
    }
    let Some(first) = first else { return Ok(()) };
    if names.len() > MAX_PROCESSES {
        let error = PlanError::too_many("processes", names.len(), MAX_PROCESSES);
        return Err(error.at(first.span()));
    }
    // A process that writes and reads has two endpoints, with these names.
    let clash =
        |name: &&&str| ["writer", "reader"].iter().any(|role| names.contains(&*format!("{name}-{role}")));
    if let Some(name) = names.iter().find(clash) {
        let words = format!(
            "processes `{name}` and `{name}-writer` or `{name}-reader` have names that can be confused"
        );
        return first.refused(words, "choose another name for one of them");
    }
    if let Some((at, key)) = file.first_given(&REPLACED) {
        let words = format!("`{key}` has no meaning beside flows that name their processes");
        return Err(contradiction(words, "remove it, or remove `from` and `to`").at(at));
    }
    Ok(())
}

/// Rejects a name that is not 1 to 64 letters, digits and `-`. `what`: what it names.
pub(crate) fn check_name(name: &Located<String>, what: &str) -> Result<(), SpannedError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.get().is_empty() || name.get().len() > MAX_FLOW_NAME || !name.get().chars().all(plain) {
        let words = format!("`{}` cannot be the name of a {what}", name.get());
        return name.refused(words, "use up to 64 letters, digits and `-`");
    }
    Ok(())
}

/// Returns the names of processes with their places, or the default, which has no place.
fn or_default<'f>(names: &'f OneOrMany<String>, default: &'static str) -> Vec<(&'f str, Option<Span>)> {
    match &names.0[..] {
        [] => vec![(default, None)],
        given => given.iter().map(|name| (name.get().as_str(), Some(name.span()))).collect(),
    }
}
