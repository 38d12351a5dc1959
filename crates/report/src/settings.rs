//! Effective QoS and settings, read back, summarized over the cells of a group.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{
    Design, Factors, Pin, Plan, Policy, Qos, Reliability, RunOrder, Support, Workload, distinct, gather,
};
use results::{CellResult, ResultDocument, UNDER_DUET_INTERFERENCE};
use serde_json::Value;

use crate::{
    fact::Fact,
    number::{count, duration},
    support::PolicyState,
};

/// Formats the number of runs of each cell that were made; with that of the plan and of repeated blocks where it differs.
pub(crate) fn runs(document: &ResultDocument) -> String {
    let planned =
        document.allocation.as_ref().map_or(document.experiment.design.blocks, |made| made.planned) as usize;
    let made = || document.blocks.iter().filter(|block| block.complete);
    let repeated = made().filter(|block| block.repeats.is_some()).count();
    let words = count(if document.blocks.is_empty() { planned } else { made().count() }, "run");
    match (made().count() == planned, repeated) {
        _ if document.blocks.is_empty() => words,
        (true, 0) => words,
        (_, 0) => format!("{words} ({planned} planned)"),
        _ => format!("{words} ({planned} planned, {} repeated)", count(repeated, "block")),
    }
}

/// Formats the conditions that hold for every run. `runs` is the number of runs of each cell.
pub(crate) fn conditions(experiment: &Plan, runs: &str) -> String {
    let design = &experiment.design;
    let twins = match design.baseline.len() {
        0 => String::new(),
        _ if design.duet => ", and of its baseline at the same time (duets),".to_owned(),
        _ => format!(" and twice as many of {}", count(design.baseline.len(), "baseline cell")),
    };
    format!(
        "{runs} of each cell{twins} in {} (seed {}), each {} after {} of warm-up; {}; {}{}",
        match design.order {
            RunOrder::Random => "shuffled order",
            RunOrder::Listed => "the order of the cells",
        },
        design.seed,
        length(experiment),
        warm_up(design),
        pinning(experiment),
        if design.keep_awake { "cores kept awake" } else { "cores not kept awake" },
        if design.reference { "" } else { "; no reference" },
    )
}

/// Formats how many endpoints share too few cores; `None` if each endpoint of every cell has a core.
pub(crate) fn oversubscription(document: &ResultDocument) -> Option<Fact> {
    let (most, oversubscribed) = document.most_oversubscribed(document.cells.iter())?;
    let all = document.cells.len();
    let polls = most.polling.is_some();
    let most = if all == 1 {
        most.to_string()
    } else {
        format!("in {oversubscribed} of {}, up to {most}", count(all, "cell"))
    };
    let consequence = if polls {
        "each may wait many ms for a core, which is part of every value"
    } else {
        "they wait for each other, which is part of every value"
    };
    Some(Fact::warning("Few cores", format!("{most}; {consequence}")))
}

/// Formats the main conditions that hold for every run: number, length and cores.
pub(crate) fn brief_conditions(document: &ResultDocument) -> String {
    let experiment = &document.experiment;
    let design = &experiment.design;
    format!(
        "{} of each cell{}, each {} after {} of warm-up; {}{}",
        runs(document),
        if design.duet { " in duets" } else { "" },
        length(experiment),
        warm_up(design),
        pinning(experiment),
        if design.keep_awake { "; cores kept awake" } else { "" },
    )
}

/// Formats the length of a run.
pub(crate) fn length(experiment: &Plan) -> String {
    let searches = experiment.search.is_some()
        && experiment.cells.iter().all(|cell| cell.factors.workload == Workload::Search);
    let Design { measure_ns, samples, .. } = experiment.design;
    match samples {
        _ if searches => "a search, its trials".to_owned(),
        Some(samples) => format!("{samples} samples of each writer (at most {})", duration(measure_ns)),
        None => duration(measure_ns),
    }
}

/// Formats the length of the warm-up of a run.
fn warm_up(design: &Design) -> String {
    match design.warm_up_samples {
        Some(samples) => format!("{samples} samples"),
        None => duration(design.warm_up_ns),
    }
}

/// Formats the cores of the endpoints.
fn pinning(experiment: &Plan) -> String {
    let design = &experiment.design;
    let list = |cores: &[u32]| cores.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let ends = |pin: &Pin| match pin {
        Pin::None => "none".to_owned(),
        Pin::Cores(first, second) => format!("{} and {}", list(first), list(second)),
    };
    let halves = if design.duet { design.pin.halves() } else { None };
    match (&design.pin, halves) {
        (Pin::None, _) => "not pinned".to_owned(),
        (pin, None) => format!("ends pinned to cores {}", ends(pin)),
        (_, Some([one, other])) => {
            format!("ends pinned to cores {}, or {}, swapped in each block", ends(&one), ends(&other))
        }
    }
}

/// Returns the suffix of the heading of absolute values: empty without duets.
pub(crate) fn interference(duet: bool) -> String {
    if duet { format!(", {UNDER_DUET_INTERFERENCE}") } else { String::new() }
}

/// Formats the effective QoS of these cells: one line for the writer and one for the reader, or a common one.
pub(crate) fn qos(cells: &[&CellResult]) -> Vec<String> {
    let of_all = ["writer", "reader"].map(|end| qos_of(cells, end));
    let mut lines = of_ends(&of_all);
    // further flows are listed only if their QoS differs
    let flows: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.effective_qos.keys()).collect();
    for (end, of_all) in ["writer", "reader"].iter().zip(&of_all) {
        let further = flows.iter().filter(|entity| entity.starts_with(&format!("{end}-")));
        let other = further.map(|entity| (entity.as_str(), qos_of(cells, entity)));
        for (entities, words) in by_words(other.filter(|(_, words)| words != of_all)) {
            lines.push(format!("effective QoS, read back, {entities}: {words}"));
        }
    }
    lines
}

/// Joins the entities with the same words: each entry has their names, such as `reader-2 to reader-9`, and the words. In the
/// order of the first entity of each.
fn by_words<'a, W: PartialEq>(entities: impl Iterator<Item = (&'a str, W)>) -> Vec<(String, W)> {
    let numbered = |entity: &'a str| match entity.rsplit_once('-') {
        Some((kind, number)) => number.parse().map_or((entity, 1), |number: u64| (kind, number)),
        None => (entity, 1),
    };
    let mut entities: Vec<_> = entities.map(|(entity, words)| (numbered(entity), entity, words)).collect();
    entities.sort_by_key(|(numbered, ..)| *numbered);
    let joined =
        gather(entities, |_| (), |(.., words), (.., others)| words == others).into_iter().map(|same| {
            // ranges of consecutive numbers
            let ranges = same.chunk_by(|((kind, number), ..), (next, ..)| (*kind, number + 1) == *next);
            let names = ranges.map(|range| match range {
                [(_, first, _), .., (_, last, _)] => format!("{first} to {last}"),
                one => one[0].1.to_owned(),
            });
            (names.collect::<Vec<_>>().join(", "), same)
        });
    joined.filter_map(|(names, same)| Some((names, same.into_iter().next()?.2))).collect()
}

/// Returns what the requested policies of these cells are that the driver enforces at no endpoint.
pub(crate) fn not_enforced(document: &ResultDocument, cells: &[&CellResult]) -> Option<String> {
    let driver = document.drivers.get(&cells.first()?.factors.driver)?;
    let is_requested = |policy: Policy| {
        let of = |factors: &Factors| factors.writer_qos(0).has(policy) || factors.reader_qos(0).has(policy);
        cells.iter().any(|cell| of(&cell.factors))
    };
    let words = Policy::ALL.iter().filter(|policy| is_requested(**policy)).filter_map(|policy| {
        let support = driver.support_of_ends(*policy);
        // a driver without the policy accepts only the value that it has
        let is_weak = support
            .iter()
            .max()
            .is_some_and(|strongest| !matches!(strongest, Support::Enforced | Support::Unsupported));
        is_weak.then(|| format!("{policy} is {}", PolicyState::Known(support).words()))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty())
        .then(|| format!("requested policies that the driver does not enforce: {}", words.join(", ")))
}

/// Formats the effective QoS of an entity.
fn qos_of(cells: &[&CellResult], entity: &str) -> String {
    let maps = cells.iter().filter_map(|cell| match serde_json::to_value(cell.effective_qos.get(entity)?) {
        Ok(Value::Object(fields)) => Some(fields.into_iter().collect::<Vec<_>>()),
        _ => None,
    });
    let (standard, chosen): (Vec<_>, Vec<_>) =
        over_all(maps).into_iter().partition(|(name, values)| is_standard(name, values));
    let mut words: Vec<String> = chosen.iter().map(|(name, values)| policy(name, values)).collect();
    if !standard.is_empty() {
        words.push(format!("{} as DDS 1.4 has by default", count(standard.len(), "more setting")));
    }
    words.join(", ")
}

/// Formats one line for both, or one for the writer and one for the reader.
fn of_ends(ends: &[String; 2]) -> Vec<String> {
    match ends {
        [writer, reader] if writer.is_empty() && reader.is_empty() => {
            vec!["effective QoS: none could be read back".to_owned()]
        }
        [writer, reader] if writer == reader => vec![format!("effective QoS, read back: {writer}")],
        [writer, reader] => [("writer", writer), ("reader", reader)]
            .into_iter()
            .filter(|(_, words)| !words.is_empty())
            .map(|(end, words)| format!("effective QoS, read back, {end}: {words}"))
            .collect(),
    }
}

/// Returns whether a QoS policy has its DDS default and need not be listed. Durability is always listed.
fn is_standard(name: &str, values: &[Value]) -> bool {
    let standard = serde_json::to_value(Qos::standard_defaults()).unwrap_or_default();
    name != "durability"
        && standard.get(name).is_some_and(|standard| values.iter().all(|value| value == standard))
}

/// Maximum length of a text that is printed in full. Longer ones are only in the JSON output.
const LONG_SETTING: usize = 60;

/// Setting with the names of those that were not read back: `include/ddsmark/driver.h`, section 7.
const AS_REQUESTED: &str = "as_requested";
/// Settings that a driver reads from the kernel: the same.
const OF_THE_KERNEL: [&str; 5] = [
    "receive_buffer_bytes",
    "send_buffer_bytes",
    "receive_buffer_limit_bytes",
    "multicast",
    "multicast_groups",
];

/// Settings of an agent's process and its threads, which the kernel has.
const OF_PROCESSES: [&str; 2] = ["agent", "process"];

/// Formats the effective settings of these cells: for each entity a line for each place from which they are. Entities with
/// the same settings share it.
pub(crate) fn settings(cells: &[&CellResult]) -> Vec<String> {
    let entities: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.settings.keys()).collect();
    let of_places = entities.into_iter().flat_map(|entity| {
        let places = settings_of(cells, entity).into_iter();
        places.map(|(place, words)| (entity.as_str(), (place, words.join(", "))))
    });
    let line = |(entities, (place, words))| format!("settings of the {entities}, {place}: {words}");
    by_words(of_places).into_iter().map(line).collect()
}

/// Returns the settings of an entity by the place from which they are.
fn settings_of(cells: &[&CellResult], entity: &str) -> BTreeMap<&'static str, Vec<String>> {
    let own = cells.iter().filter_map(|cell| cell.settings.get(entity)?.get(AS_REQUESTED));
    let requested: BTreeSet<&str> = own.flat_map(|names| names.split(',')).collect();
    let place = |name: &str| match name {
        name if requested.contains(name) => "as requested",
        name if OF_THE_KERNEL.contains(&name) || OF_PROCESSES.contains(&entity) => "read from the kernel",
        _ => "read from the middleware",
    };
    let maps = cells.iter().filter_map(|cell| cell.settings.get(entity)).map(|values| {
        values.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    });
    let mut by_place: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, values) in over_all(maps) {
        let value = one_or_range(&values, plain);
        if value.is_empty() || name == AS_REQUESTED {
            continue;
        }
        let length = value.chars().count();
        let is_long = length > LONG_SETTING;
        let words = if is_long { format!("({length} characters, see `--json`)") } else { value };
        by_place.entry(place(&name)).or_default().push(format!("{name}={words}"));
    }
    by_place
}

/// Returns all distinct values of each name, in the order of their occurrence.
fn over_all(maps: impl Iterator<Item = Vec<(String, Value)>>) -> Vec<(String, Vec<Value>)> {
    let groups = gather(maps.flatten(), |(name, _)| name.clone(), |_, _| true);
    let of_name =
        |same: Vec<(String, Value)>| (same[0].0.clone(), distinct(same.into_iter().map(|(_, value)| value)));
    groups.into_iter().map(of_name).collect()
}

/// Formats the guarantee of delivery: as read back, otherwise as requested.
pub(crate) fn reliability(cells: &[&CellResult]) -> String {
    let mut in_force: Vec<_> = cells
        .iter()
        .flat_map(|cell| cell.effective_qos.values())
        .filter_map(|qos| qos.reliability)
        .map(Reliability::name)
        .collect();
    in_force.sort_unstable();
    in_force.dedup();
    if !in_force.is_empty() {
        return in_force.join(" and ");
    }
    match cells.first().and_then(|cell| cell.factors.reader_qos(0).reliability) {
        Some(asked) => format!("{asked} (requested, not read back)"),
        None => "reliability unknown".to_owned(),
    }
}

fn policy(name: &str, values: &[Value]) -> String {
    // a kind is clear without its name; a number is not
    match name {
        "reliability" | "history" | "durability" => one_or_range(values, plain),
        _ => match name.strip_suffix("_ns") {
            Some(name) => format!("{name} {}", one_or_range(values, time)),
            None => format!("{name} {}", one_or_range(values, plain)),
        },
    }
}

fn one_or_range(values: &[Value], word: fn(&Value) -> String) -> String {
    let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    match values {
        [one] => word(one),
        values if values.iter().all(|value| number(value).is_some()) => {
            let least = values.iter().min_by_key(|value| number(value)).map(word).unwrap_or_default();
            let most = values.iter().max_by_key(|value| number(value)).map(word).unwrap_or_default();
            format!("{least} to {most}")
        }
        values if values.len() <= 3 => values.iter().map(word).collect::<Vec<_>>().join(" or "),
        values => format!("({} different)", values.len()),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let words: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect();
            format!("({})", words.join(", "))
        }
        other => other.to_string(),
    }
}

fn time(value: &Value) -> String {
    value.as_u64().map_or_else(|| plain(value), duration)
}

#[cfg(test)]
mod tests {
    use super::by_words;

    #[test]
    fn entities_with_the_same_words_share_a_line_in_the_order_of_their_numbers() {
        let of = [("reader", 1), ("reader-10", 2), ("reader-11", 1), ("reader-2", 1), ("reader-3", 1)];
        let of = of.into_iter().chain([("reader-4", 2), ("writer", 1), ("writer-3", 1), ("writer-4", 1)]);
        assert_eq!(
            by_words(of),
            [
                ("reader to reader-3, reader-11, writer, writer-3 to writer-4".to_owned(), 1),
                ("reader-4, reader-10".to_owned(), 2),
            ]
        );
    }
}
