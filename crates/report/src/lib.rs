//! Formats results as text and tables. Pure: the same document yields the same text. Colour carries no information.
#![forbid(unsafe_code)]

mod agreement;
mod check;
mod costs;
mod discovery;
mod drivers;
mod echoes;
mod endpoints;
mod escape;
mod export;
mod fact;
mod factor_columns;
mod flow_values;
mod groups;
mod headroom;
mod hosts;
mod labs;
mod late_join;
mod layout;
mod legend;
mod links;
mod live;
mod markdown;
mod maximum;
mod number;
mod offered;
mod overlays;
mod paced;
mod part_data;
pub mod parts;
mod plan;
mod progress;
mod published;
mod result_list;
mod ring;
mod search;
mod selftest;
mod settings;
mod shell;
mod summary;
mod support;
mod system;
mod system_verdict;
mod tables;
mod terminal;
mod verdicts;

pub use check::{DriverCheck, driver_check};
pub use drivers::{FoundDriver, InstallableDriver, driver_info, driver_list, driver_versions};
pub use escape::escaped;
use experiment::Plan;
pub use export::{Record, csv, json_lines, records};
pub use labs::{LabRow, lab_list, lab_up};
pub use live::{Live, LiveProgress};
pub use maximum::maximum_line;
pub use offered::offered_loads;
pub use overlays::{Difference, Overlay, overlay_tables, overlays};
pub use plan::{allocation_words, plan, recipe_list};
pub use progress::run_line;
pub use result_list::{ResultRow, result_list};
use results::{DetectableEffects, DryRunReport, ResultDocument};
pub use search::{least_rate, trial_line};
pub use selftest::selftest;
pub use summary::{Charset, ScreenOptions, first_screen, markdown};
pub use support::{DriverProbes, Outcomes, support_csv, support_json, support_matrix};
pub use terminal::terminal;
pub use verdicts::{ComparisonOptions, comparison, comparison_json, comparison_markdown};

/// Returns a result as JSON, described by `schemas/result.schema.json`.
///
/// # Panics
/// Never panics: a document serializes to JSON.
#[must_use]
pub fn json(document: &ResultDocument) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("a document is JSON");
    text.push('\n');
    text
}

/// Returns the output of a dry run as JSON: the plan, as `experiment` in a result, and its minimum detectable
/// effects.
///
/// # Panics
/// Never panics: a plan serializes to JSON.
#[must_use]
pub fn plan_json(experiment: &Plan, detectable_effects: &[DetectableEffects]) -> String {
    let plan = DryRunReport::new(experiment, detectable_effects);
    let mut text = serde_json::to_string_pretty(&plan).expect("an experiment is JSON");
    text.push('\n');
    text
}

/// Returns the name of a driver in a table: of a path, the file name.
fn short_name(driver: &str) -> &str {
    driver.rsplit('/').next().unwrap_or(driver)
}
