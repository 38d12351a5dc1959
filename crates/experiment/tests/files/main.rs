//! Tests of experiment files: from the text to a plan.

mod adaptation;
mod bases;
mod batch;
mod changes;
mod characterize;
mod curves;
mod discovery;
mod duet;
mod ends;
mod exclusion;
mod faults;
mod file;
mod flows;
mod in_flight;
mod instances;
mod interleave;
mod labs;
mod load_faults;
mod paced;
mod percents;
mod profiles;
mod published;
mod queues;
#[path = "../sample/mod.rs"]
mod sample;
mod search;
mod second_tier;
mod shipped;
mod support;
mod systems;
mod texts;
mod topics;
mod variables;
mod versions;

use std::collections::BTreeMap;

use experiment::{Diagnostic, DriverDescription, InputFile, Pin, Plan, PlanInputs, Source};
use support::drivers;

/// Trace files and QoS files that exist.
const FILES: [(&str, &str); 8] = [
    ("all.txt", "0\n0.25\n0.25\n0.75\n"),
    ("early.txt", "# the first 100 ms\n0\n0.1\n"),
    ("late.txt", "0\n0.8\n"),
    ("wrong.txt", "0\n 0.1s\n"),
    ("sized.txt", "0 64\n0.25 20000\n0.5 64\n0.75 1024\n"),
    ("long.txt", "0 64\n0.25 70000\n"),
    ("robot.xml", include_str!("robot.xml")),
    ("not.xml", "<dds>\n  <qos_library name=\"L\">\n</dds>\n"),
];

pub(crate) const SMALL: &str = r#"question = "Which?"
workload = "latency"

[factors]
driver = "dds"
size = [32, "4KiB"]
"#;

pub(crate) fn source(text: &str, sets: &[&str]) -> Source {
    let sets = sets.iter().map(|&set| experiment::Override::set(set)).collect();
    Source { path: "f.toml".to_owned(), text: text.to_owned(), sets }
}

pub(crate) fn planned(source: &Source) -> Result<Plan, Diagnostic> {
    planned_with(source, &drivers())
}

pub(crate) fn planned_with(
    source: &Source,
    descriptions: &BTreeMap<String, DriverDescription>,
) -> Result<Plan, Diagnostic> {
    let installed = ["bare".to_owned(), "dds".to_owned()];
    let files = FILES.map(|(name, text)| {
        (name.to_owned(), InputFile::new(format!("there/{name}"), text.to_owned(), format!("hash of {name}")))
    });
    let files = files.into_iter().collect();
    let inputs = PlanInputs {
        name: "f",
        descriptions,
        installed: &installed,
        files: &files,
        pin: Pin::None,
        hosts: &[],
        seed: 7,
        least_blocks: &results::least_blocks,
    };
    source.read()?.plan(&inputs).map_err(|error| source.rejected(&error))
}

#[track_caller]
pub(crate) fn plan(text: &str, sets: &[&str]) -> Plan {
    planned(&source(text, sets)).unwrap_or_else(|fault| panic!("{fault:#?}"))
}

/// Returns the error, the marked text and the hint.
#[track_caller]
pub(crate) fn rejected(text: &str, sets: &[&str]) -> (String, String, String) {
    parts(planned(&source(text, sets)).expect_err("it is refused"))
}

/// Converts an error to its text, the marked text and the hint.
pub(crate) fn parts(fault: Diagnostic) -> (String, String, String) {
    let marked = match fault.excerpt.as_slice() {
        [] => String::new(),
        [line, mark] => {
            let marked = line.chars().zip(mark.chars()).filter(|(_, mark)| *mark == '^');
            marked.map(|(c, _)| c).collect()
        }
        other => panic!("{other:?}"),
    };
    (fault.error, marked, fault.hint)
}

pub(crate) fn ids(experiment: &Plan) -> Vec<&str> {
    experiment.cells.iter().map(|cell| cell.id.as_str()).collect()
}

/// Returns the small file with more text appended.
pub(crate) fn with(more: &str) -> String {
    format!("{SMALL}{more}")
}
