//! Differences between two results of a history besides its values.

use super::result::{Content, is_of_other_driver};

/// Maximum number of differences that are named.
const MOST_NAMED: usize = 3;
/// Maximum length of a named value in characters.
const MOST_OF_VALUE: usize = 40;

/// Returns the versions that differ between two results of a driver: those that a chart marks.
pub(super) fn versions(before: &Content, after: &Content, driver: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |name: &str, before: &str, after: &str| {
        if before != after {
            all.push(format!("{name} {} \u{2192} {}", short(before), short(after)));
        }
    };
    add("kernel", &before.kernel, &after.kernel);
    let version =
        |of: &Content| of.environment.get(&format!("driver/{driver}/version")).cloned().unwrap_or_default();
    add("driver", &version(before), &version(after));
    add("tool", &before.tool, &after.tool);
    all
}

/// Returns the differences between two results of a driver, the versions first; empty if nothing that was recorded differs.
pub(super) fn differences(before: &Content, after: &Content, driver: &str) -> Vec<String> {
    let mut all = versions(before, after, driver);
    let paths: std::collections::BTreeSet<&String> =
        before.environment.keys().chain(after.environment.keys()).collect();
    let differs = |path: &&String| before.environment.get(*path) != after.environment.get(*path);
    let paths: Vec<&String> = paths
        .into_iter()
        .filter(differs)
        .filter(|path| !is_of_other_driver(path, driver) && !is_named(path, driver))
        .collect();
    let build = |group: &str| paths.iter().any(|path| path.starts_with(group));
    if build("driver/") {
        all.push("another build of the driver".to_owned());
    }
    if build("library/") {
        all.push("other libraries of the driver".to_owned());
    }
    if build("tool/") {
        all.push("another build of the tool".to_owned());
    }
    let groups = ["driver/", "library/", "tool/"];
    let others: Vec<&&String> =
        paths.iter().filter(|path| !groups.iter().any(|group| path.starts_with(group))).collect();
    let value = |of: &Content, path: &String| {
        of.environment.get(path).map_or("absent".to_owned(), |value| short(value))
    };
    let named = others
        .iter()
        .take(MOST_NAMED)
        .map(|path| format!("{} {} \u{2192} {}", short(path), value(before, path), value(after, path)));
    all.extend(named);
    if others.len() > MOST_NAMED {
        all.push(format!("{} more settings", others.len() - MOST_NAMED));
    }
    all
}

/// Returns whether the versions have this field already.
fn is_named(path: &str, driver: &str) -> bool {
    path == "host/kernel"
        || path == "tool/version"
        || path.strip_suffix("/version") == Some(&format!("driver/{driver}"))
}

/// Returns a value, shortened if it is long.
fn short(value: &str) -> String {
    if value.is_empty() {
        return "unknown".to_owned();
    }
    match value.char_indices().nth(MOST_OF_VALUE) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.to_owned(),
    }
}
