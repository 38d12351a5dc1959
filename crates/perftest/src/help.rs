//! Help, from the table of options.

use std::fmt::Write as _;

use crate::{
    generation::Generation,
    table::{Edition, Honouring, OptionRow, Role, Roles, SECTIONS},
};

/// Width of the text in columns.
const WIDTH: usize = 100;
/// Indentation of descriptions.
const INDENT: &str = "      ";

/// Returns a short help for a command without options.
#[must_use]
pub fn usage(program: &str) -> String {
    format!(
        "Usage: {program} [-pub|-sub] [OPTION]...\n`{program} -help` lists the options. Without options, this process is a \
         subscriber with the defaults: start a publisher with `-pub`"
    )
}

/// Returns the help of a generation; with a role, only the options of that role. `program` is the name of the command, and
/// `driver` the driver that it measures by default.
#[must_use]
pub fn help(generation: Generation, role: Option<Role>, program: &str, driver: &str) -> String {
    let mut text = String::new();
    let release = generation.release();
    let usage = match role {
        None => "[-pub|-sub]",
        Some(Role::Publisher) => "-pub",
        Some(Role::Subscriber) => "-sub",
    };
    let words = format!(
        "Measures latency and throughput of a middleware between publishers and subscribers, with the options of RTI Perftest \
         {release}. Start the processes in any order. A subscriber needs no options of the test: it adopts those of the \
         publisher. Case does not matter in names, and a unique beginning of a name is enough."
    );
    let _ = writeln!(text, "Usage: {program} {usage} [OPTION]...\n\n{}", wrapped(&words, ""));
    let is_shown = |row: &&OptionRow| {
        let edition = row.edition(generation);
        edition.is_some_and(|edition| role.is_none_or(|role| edition.roles.contains(role)))
    };
    let mut rejected = Vec::new();
    for section in SECTIONS {
        let shown = || section.rows.iter().filter(is_shown);
        rejected.extend(shown().filter(|row| is_rejected(row)).map(|row| format!("-{}", row.name)));
        if shown().all(is_rejected) {
            continue;
        }
        let _ = writeln!(text, "\n{}:", section.title);
        for row in shown().filter(|row| !is_rejected(row)) {
            let Some(edition) = row.edition(generation) else { continue };
            let _ = writeln!(text, "  {}", row.usage(generation));
            let _ = writeln!(text, "{}", wrapped(&description(row, edition, role, driver), INDENT));
        }
    }
    let _ = writeln!(text, "\nRejected, with the reason:\n{}", wrapped(&rejected.join(", "), "  "));
    let _ = write!(text, "\n{}", examples(generation, role, program));
    text
}

fn is_rejected(row: &OptionRow) -> bool {
    matches!(row.honouring, Honouring::Rejected { .. })
}

/// Returns the description of an option, its default, its range and its role.
fn description(row: &OptionRow, edition: &Edition, role: Option<Role>, driver: &str) -> String {
    let mut text = row.about.to_owned();
    if edition.roles != Roles::Both && role.is_none() && !matches!(row.name, "pub" | "sub") {
        let roles = if edition.roles == Roles::Publisher { "Publishers only." } else { "Subscribers only." };
        let _ = write!(text, " {roles}");
    }
    if let Some(range) = edition.range {
        let _ = write!(text, " {range}.");
    }
    let default = if row.name == "driver" { driver } else { edition.default };
    if !default.is_empty() {
        let _ = write!(text, " Default {default}.");
    }
    if let Some(limit) = row.limit {
        let _ = write!(text, " At most {}.", limit.max);
    }
    if row.repeats {
        text.push_str(" Can be repeated.");
    }
    for alias in row.aliases {
        let _ = write!(text, " Also `-{alias}`.");
    }
    text
}

fn examples(generation: Generation, role: Option<Role>, program: &str) -> String {
    let compat = match generation {
        Generation::V4_3 => "",
        Generation::V5_1 => " -compat 5.1",
    };
    let publishers = [
        ("-pub -noPrint -executionTime 20 -dataLen 1024", "throughput, with some latency samples"),
        ("-pub -noPrint -executionTime 20 -scan -latencyTest", "latency of all sizes"),
    ];
    let subscribers = [("-sub -noPrint", "the other side of either")];
    let mut text = "Examples:\n".to_owned();
    let mut add = |examples: &[(&str, &str)]| {
        for (options, about) in examples {
            let _ = writeln!(text, "  {program}{compat} {options}\n{INDENT}{about}");
        }
    };
    if role != Some(Role::Subscriber) {
        add(&publishers);
    }
    if role != Some(Role::Publisher) {
        add(&subscribers);
    }
    text
}

/// Returns a text in lines of [`WIDTH`] columns.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        let empty = line.len() == indent.len();
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{indent}{word}"));
        } else {
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
