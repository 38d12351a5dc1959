//! Hints of commands that have no experiment file: keys of the file become flags of the command.

use clap::{ArgAction, Command};

/// Workloads, and the command that measures each.
const WORKLOADS: [(&str, &str); 5] = [
    ("latency", "latency"),
    ("throughput", "throughput"),
    ("paced", "load"),
    ("search", "search"),
    ("discovery", "discovery"),
];
/// Value of `topology` that is a number of participants.
const PARTICIPANTS: &str = "full-mesh-";

/// Replaces each key of an experiment file between backticks, alone or as `KEY = VALUE`, by the flag of the command that sets it.
/// A key without a flag stays.
pub fn in_flags(hint: &str, command: &Command) -> String {
    let parts = hint.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(place, part)| match place % 2 {
            1 => flag(part, command).unwrap_or_else(|| part.to_owned()),
            _ => part.to_owned(),
        })
        .collect();
    // The command measures its workload, and has no tables.
    parts.join("`").replace("the workload `ddsmark ", "`ddsmark ").replace(" under `[factors]`", "")
}

fn flag(text: &str, command: &Command) -> Option<String> {
    let (key, value) = match text.split_once(" = ") {
        Some((key, value)) => (key, Some(value.trim_matches('"'))),
        None => (text, None),
    };
    let has = |name: &str| command.get_arguments().find(|argument| argument.get_long() == Some(name));
    let workload = if key == "workload" { value } else { Some(key).filter(|_| value.is_none()) };
    let other = WORKLOADS.into_iter().find(|(of, _)| Some(*of) == workload && has("workload").is_none());
    if let Some((_, other)) = other {
        return Some(format!("ddsmark {other}"));
    }
    if key == "topology" && has("participants").is_some() {
        return match value {
            Some(value) => Some(format!("--participants {}", value.strip_prefix(PARTICIPANTS)?)),
            None => Some("--participants".to_owned()),
        };
    }
    let name = key.replace('_', "-");
    let is_switch = matches!(has(&name)?.get_action(), ArgAction::SetTrue);
    match value {
        // A switch can only be left out.
        Some("false") if is_switch => None,
        Some("true") if is_switch => Some(format!("--{name}")),
        // A value with blanks or signs of the shell.
        Some(value) if value.contains([' ', '[', '<', '>', '*', ';']) => {
            Some(format!("--{name} \"{value}\""))
        }
        Some(value) => Some(format!("--{name} {value}")),
        None => Some(format!("--{name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help;

    fn of(name: &str, hint: &str) -> String {
        let command = help::command();
        in_flags(hint, command.find_subcommand(name).expect("a command"))
    }

    #[test]
    fn keys_become_flags_that_the_command_has() {
        for (command, hint, expected) in [
            (
                "throughput",
                "use `receive = \"polling\"`, or remove `polling_delay`",
                "use `--receive polling`, or remove `--polling-delay`",
            ),
            ("throughput", "use `workload = \"latency\"`", "use `ddsmark latency`"),
            ("throughput", "use `workload = \"paced\"`", "use `ddsmark load`"),
            (
                "latency",
                "use the workload `throughput` or `paced`, or remove it",
                "use `ddsmark throughput` or `ddsmark load`, or remove it",
            ),
            ("characterize", "use the workload `throughput`", "use the workload `throughput`"),
            ("latency", "use `probe_every = 101` or more", "use `--probe-every 101` or more"),
            (
                "discovery",
                "use `topology = \"full-mesh-10\"` for 10 participants",
                "use `--participants 10` for 10 participants",
            ),
            ("latency", "use `topology = \"1-3\"`", "use `--topology 1-3`"),
            ("latency", "remove `loans`", "remove `--loans`"),
            ("load", "add `rate` or `trace` under `[factors]`", "add `--rate` or `--trace`"),
            // no flag of the command
            ("latency", "increase `duration_sum` of `[search]`", "increase `duration_sum` of `[search]`"),
            ("latency", "see `ddsmark drivers info D`", "see `ddsmark drivers info D`"),
            ("latency", "an open `mark", "an open `mark"),
        ] {
            assert_eq!(of(command, hint), expected);
        }
    }
}
