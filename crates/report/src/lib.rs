//! Results to words and tables. Pure: a [`Document`] goes in, text comes out, and the same text for the same document.
//! Nothing is said by colour.
#![forbid(unsafe_code)]

mod check;
mod drivers;
mod layout;
mod legend;
mod maximum;
mod number;
mod paced;
mod plan;
mod progress;
mod search;
mod selftest;
mod settings;
mod tables;
mod terminal;
mod verdicts;

pub use check::{Finding, TriedCase, driver_check};
pub use drivers::{FoundDriver, InstallableDriver, driver_info, driver_list, driver_versions};
use experiment::Experiment;
pub use maximum::maximum_line;
pub use plan::{allocation_words, plan, recipe_list};
pub use progress::run_line;
use results::{Document, Foresight, Plan};
pub use search::{least_rate, trial_line};
pub use selftest::selftest;
pub use terminal::{Options, terminal};
pub use verdicts::{comparison, comparison_json};

/// A result for machines: what `schemas/result.schema.json` describes.
///
/// # Panics
/// Never: a document has nothing that JSON has not.
#[must_use]
pub fn json(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("a document is JSON");
    text.push('\n');
    text
}

/// A plan for machines: the experiment as meant, which a result has as `experiment`, with what it will be able to see.
///
/// # Panics
/// Never: an experiment has nothing that JSON has not.
#[must_use]
pub fn plan_json(experiment: &Experiment, foresight: &[Foresight]) -> String {
    let plan = Plan::new(experiment, foresight);
    let mut text = serde_json::to_string_pretty(&plan).expect("an experiment is JSON");
    text.push('\n');
    text
}

/// A driver in a table: of a path the name of the file.
fn short_name(driver: &str) -> &str {
    driver.rsplit('/').next().unwrap_or(driver)
}
