//! Published figures of a result by system: beside which values they are, and what differs.

use std::{collections::BTreeMap, fmt::Write as _};

use experiment::{
    DriverDescription, Figure, Published, PublishedConditions, configuration_names, distinct, gather,
};
use results::{CellResult, PublishedValue, ResultDocument};

use crate::{
    costs,
    layout::{columns, wrap},
    number::count,
    published, settings,
};

/// Names of the conditions that publications name.
const CONDITIONS: [&str; 5] = ["middleware", "hardware", "transport", "link", "method"];
/// Words for a condition that a source does not name.
const NOT_NAMED: &str = "not named";

/// Published figures of a system beside the measured values of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay<'d> {
    /// Name of what was measured: system, version and setting.
    pub system: &'d str,
    /// Publication: author, title, section, address.
    pub source: &'d str,
    /// Remarks on the figures: their definition, and what the source leaves open.
    pub note: &'d str,
    /// Conditions that differ, or that the source does not name, each beside that of the result.
    pub differences: Vec<Difference>,
    /// Names of the conditions that are equal.
    pub equal: Vec<&'static str>,
    /// Figures, each with its cell and with the measured value.
    pub points: Vec<(&'d CellResult, &'d PublishedValue)>,
}

/// Condition of a published measurement beside that of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the condition, such as `hardware`.
    pub what: &'static str,
    /// Condition that the source names.
    pub published: String,
    /// Condition of the result.
    pub here: String,
}

/// Returns the published figures of a result by system, in the order of the plan. A system without a cell is left out.
#[must_use]
pub fn overlays(document: &ResultDocument) -> Vec<Overlay<'_>> {
    let overlay = |table| {
        let points = points(document, table);
        (!points.is_empty()).then(|| {
            let (differences, equal) = differences(document, &table.conditions, &points);
            let (system, source, note) = (&table.system, &table.source, &table.note);
            Overlay { system, source, note, differences, equal, points }
        })
    };
    document.experiment.published.iter().filter_map(overlay).collect()
}

/// Formats a table for each system with published figures, then their sources and what differs. `width`: number of columns at
/// which text is wrapped; `None`: 120.
#[must_use]
pub fn overlay_tables(document: &ResultDocument, width: Option<u16>) -> String {
    let width = columns(width);
    let factors: Vec<_> = document.cells.iter().map(|cell| cell.factors.clone()).collect();
    let names: BTreeMap<&str, String> =
        document.cells.iter().map(|cell| cell.id.as_str()).zip(configuration_names(&factors)).collect();
    let mut text = String::new();
    for overlay in overlays(document) {
        let groups = gather(&overlay.points, |(cell, _)| &cell.id, |_, _| true);
        let rows: Vec<(&CellResult, Vec<&PublishedValue>)> = groups
            .into_iter()
            .map(|points| (points[0].0, points.iter().map(|(_, value)| *value).collect()))
            .collect();
        let names: Vec<String> = rows.iter().map(|(cell, _)| names[cell.id.as_str()].clone()).collect();
        let _ = writeln!(text, "Beside published figures of {}", overlay.system);
        text.push_str(&published::table(&rows, Some(&names)).render());
        text.push('\n');
    }
    let mut has_averages = false;
    for costs in costs::costs(document) {
        for (title, table) in costs.beside_published() {
            let _ = writeln!(text, "{title}");
            text.push_str(&table.render());
            text.push('\n');
            has_averages = true;
        }
        for words in costs.repeatability().iter().filter(|_| has_averages) {
            text.push_str(&wrap(words, width, 2));
        }
    }
    text.push_str("How to read this\n");
    if has_averages {
        text.push_str(&wrap(costs::BESIDE_PUBLISHED, width, 2));
    }
    for paragraph in legend(document) {
        text.push_str(&wrap(&paragraph, width, 2));
    }
    text
}

/// Returns what the tables mean, the source of each system, and what differs.
pub(crate) fn legend(document: &ResultDocument) -> Vec<String> {
    let sources = sources(document);
    match sources.is_empty() {
        true => sources,
        false => std::iter::once(published::LEGEND.to_owned()).chain(sources).collect(),
    }
}

/// Returns the source of each system, and what differs from the result.
#[must_use]
pub fn sources(document: &ResultDocument) -> Vec<String> {
    let overlays = overlays(document);
    let mut paragraphs = Vec::new();
    let systems =
        |of: Vec<&Overlay<'_>>| of.iter().map(|overlay| overlay.system).collect::<Vec<_>>().join("; ");
    let texts = |overlay: &Overlay<'_>| format!("{}. {}", overlay.source, overlay.note);
    for (text, of) in grouped(&overlays, texts) {
        paragraphs.push(format!("Source of {}: {text}", systems(of)));
    }
    // What all have in common is said once.
    let is_common = |difference: &&Difference| overlays.iter().all(|of| of.differences.contains(difference));
    let common: Vec<&Difference> = match &overlays[..] {
        [] | [_] => Vec::new(),
        [first, ..] => first.differences.iter().filter(is_common).collect(),
    };
    let joined = |all: Vec<&Difference>| all.into_iter().map(Difference::text).collect::<Vec<_>>().join("; ");
    if !common.is_empty() {
        paragraphs.push(format!("Differences of all {}: {}.", overlays.len(), joined(common.clone())));
    }
    let texts = |overlay: &Overlay<'_>| {
        joined(overlay.differences.iter().filter(|difference| !common.contains(difference)).collect())
    };
    for (text, of) in grouped(&overlays, texts).into_iter().filter(|(text, _)| !text.is_empty()) {
        paragraphs.push(format!("Differences of {}: {text}.", systems(of)));
    }
    let texts = |overlay: &Overlay<'_>| equal_words(&overlay.equal);
    for (text, of) in grouped(&overlays, texts).into_iter().filter(|(text, _)| !text.is_empty()) {
        let of = match of.len() {
            1 => systems(of),
            all if all == overlays.len() => format!("all {all}"),
            _ => systems(of),
        };
        paragraphs.push(format!("Equal for {of}: {text}."));
    }
    paragraphs
}

/// Returns what differs between published measurements and a result, and what their sources do not name, in a few words; empty without
/// published figures.
#[must_use]
pub fn differences_in_brief(document: &ResultDocument) -> String {
    let overlays = overlays(document);
    let has = |what: &str, is_named: bool| {
        let all = overlays.iter().flat_map(|overlay| &overlay.differences);
        all.into_iter().any(|of| of.what == what && (of.published != NOT_NAMED) == is_named)
    };
    let known: Vec<&str> = CONDITIONS.into_iter().filter(|what| has(what, true)).collect();
    let unknown: Vec<&str> =
        CONDITIONS.into_iter().filter(|what| has(what, false) && !has(what, true)).collect();
    let part = |names: &[&str], [one, several]: [&str; 2]| match names {
        [] => None,
        [name] => Some(format!("{name} {one}")),
        [begin @ .., last] => Some(format!("{} and {last} {several}", begin.join(", "))),
    };
    let parts = [part(&known, ["differs", "differ"]), part(&unknown, ["is not named", "are not named"])];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Groups overlays that have the same text.
fn grouped<'o, 'd>(
    overlays: &'o [Overlay<'d>],
    text: impl Fn(&Overlay<'d>) -> String,
) -> Vec<(String, Vec<&'o Overlay<'d>>)> {
    let groups = gather(overlays, |overlay| text(overlay), |_, _| true);
    groups.into_iter().map(|group| (text(group[0]), group)).collect()
}

/// Returns how many conditions are equal, and which; empty if none is.
fn equal_words(equal: &[&str]) -> String {
    match equal {
        [] => String::new(),
        [one] => format!("1 condition, {one}"),
        [all @ .., last] => format!("{} conditions, {} and {last}", equal.len(), all.join(", ")),
    }
}

impl Difference {
    fn text(&self) -> String {
        let Self { what, published, here } = self;
        format!("{what}: {published} (here {here})")
    }
}

/// Returns the figures of a table, each with its cell.
fn points<'d>(document: &'d ResultDocument, table: &Published) -> Vec<(&'d CellResult, &'d PublishedValue)> {
    let of_cell = |cell: &'d CellResult| {
        let of_table = cell.published.iter().filter(|value| value.system == table.system);
        of_table.map(move |value| (cell, value))
    };
    document.cells.iter().flat_map(of_cell).collect()
}

/// Returns the conditions that differ from those of the cells or are unknown, and the names of the equal ones.
fn differences(
    document: &ResultDocument,
    conditions: &PublishedConditions,
    points: &[(&CellResult, &PublishedValue)],
) -> (Vec<Difference>, Vec<&'static str>) {
    let PublishedConditions { middleware, hardware, transport, link, method } = conditions;
    let cells = || points.iter().map(|(cell, _)| *cell);
    let all = |is_equal: &dyn Fn(&CellResult) -> bool| cells().all(is_equal);
    let is_bare = |cell: &CellResult| {
        document.drivers.get(&cell.factors.driver).is_some_and(DriverDescription::is_bare_socket)
    };
    let is_none = |published: &str| published.starts_with("none");
    let here = [
        joined(cells().map(|cell| software(document, cell))),
        joined(document.hosts.iter().map(|host| machine(&host.properties))),
        joined(cells().map(way)),
        joined(cells().map(|cell| wire(document, cell))),
        of_runs(document, points),
    ];
    let one_host = document.hosts.len() < 2;
    let is_equal: [&dyn Fn(&str) -> bool; 5] = [
        &|published| is_none(published) && all(&is_bare),
        &|_| false,
        &|published| {
            let way = Way::from_words(published);
            way.is_some() && all(&|cell| Way::from_words(&self::way(cell)) == way)
        },
        &|published| is_none(published) && one_host && all(&|cell| cell.factors.link.is_none()),
        &|_| false,
    ];
    let given = [middleware, hardware, transport, link, method];
    let (mut differences, mut equal) = (Vec::new(), Vec::new());
    for (((what, published), here), is_equal) in CONDITIONS.into_iter().zip(given).zip(here).zip(is_equal) {
        let published = published.as_deref().unwrap_or(NOT_NAMED);
        if published.eq_ignore_ascii_case(&here) || is_equal(published) {
            equal.push(what);
        } else {
            differences.push(Difference { what, published: published.to_owned(), here });
        }
    }
    differences.extend(figure(points));
    (differences, equal)
}

/// Kind of a transport, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Udp { is_multicast: bool },
    Tcp,
    SharedMemory,
}

impl Way {
    /// Returns the kind that words name, such as `UDPv4, unicast` or `udp4 by multicast`; `None` if they name none, or another one as well.
    fn from_words(words: &str) -> Option<Self> {
        let words = words.to_lowercase();
        let is_multicast = words.contains("multicast");
        let kinds = [
            (words.contains("udp"), Self::Udp { is_multicast }),
            (words.contains("tcp"), Self::Tcp),
            (words.contains("shm") || words.contains("shared memory"), Self::SharedMemory),
        ];
        let is_of_ipv6 = ["udp6", "udpv6", "tcp6", "tcpv6", "ipv6"].iter().any(|name| words.contains(name));
        let mut named = kinds.into_iter().filter(|(is_named, _)| *is_named).map(|(_, kind)| kind);
        named.next().filter(|_| named.next().is_none() && !is_of_ipv6)
    }
}

/// Joins the texts that differ, in their order.
fn joined(texts: impl Iterator<Item = String>) -> String {
    distinct(texts).join(" and ")
}

/// Returns the middleware of a cell with its version.
fn software(document: &ResultDocument, cell: &CellResult) -> String {
    let described = document.drivers.get(&cell.factors.driver);
    described.map_or_else(
        || cell.factors.driver.clone(),
        |driver| format!("{} {}", driver.middleware, driver.middleware_version),
    )
}

fn machine(host: &results::Host) -> String {
    let cpu = host.cpu.as_deref().unwrap_or("unknown processor");
    let kernel = host.kernel.split(" #").next().unwrap_or_default();
    let virtualization = host.virtualization.as_ref().map_or_else(String::new, |kind| format!(" ({kind})"));
    format!("{cpu}, {}{virtualization}, {kernel}", count(host.cpus as usize, "processor"))
}

fn way(cell: &CellResult) -> String {
    let multicast = if cell.factors.multicast { " by multicast" } else { "" };
    format!("{}{multicast}", cell.factors.transport)
}

/// Returns the link between the endpoints of a cell.
fn wire(document: &ResultDocument, cell: &CellResult) -> String {
    match &cell.factors.link {
        Some(link) => format!("virtual ({link})"),
        None if document.hosts.len() > 1 => "that of the hosts".to_owned(),
        None => format!("none, interface {}", cell.factors.interface),
    }
}

/// Returns the number and duration of the runs.
fn of_runs(document: &ResultDocument, points: &[(&CellResult, &PublishedValue)]) -> String {
    let runs = || points.iter().filter_map(|(_, value)| Some(value.measured.as_ref()?.n));
    let (least, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
    let number = if least == most { count(most as usize, "run") } else { format!("{least} to {most} runs") };
    format!("the median of {number}, each {}", settings::length(&document.experiment))
}

/// Returns the difference in kind of the figures.
fn figure(points: &[(&CellResult, &PublishedValue)]) -> Option<Difference> {
    let (published, here) = points.iter().find_map(|(_, value)| match value.figure {
        Figure::HalfRtt(_) => Some(("RTT/2", "RTT, so the figure is doubled")),
        Figure::HopMean => {
            Some(("RTT divided by the number of hops", "RTT, so the figure is multiplied by it"))
        }
        Figure::TwoHopsPerSample => {
            Some(("time per sample around two hops", "time per sample and hop, so the figure is halved"))
        }
        Figure::Delivered | Figure::Goodput | Figure::Lost | Figure::Rtt(_) => None,
    })?;
    Some(Difference { what: "kind", published: published.to_owned(), here: here.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::{Way, equal_words};

    #[test]
    fn transports_are_the_same_whatever_they_are_called() {
        let is_same = |one, other| {
            let kinds = [Way::from_words(one), Way::from_words(other)];
            kinds[0].is_some() && kinds[0] == kinds[1]
        };
        assert!(is_same("UDPv4, unicast", "udp4") && is_same("RTPS over UDP", "udp4"));
        assert!(is_same("shared memory, a segment of 2 GB", "shm"));
        assert!(!is_same("UDPv4", "udp4 by multicast") && !is_same("UDPv4", "udp6"));
        assert!(!is_same("UDP and shared memory", "udp4") && !is_same("not named", "builtin"));
    }

    #[test]
    fn equal_conditions_are_counted_in_a_sentence() {
        assert_eq!(equal_words(&[]), "");
        assert_eq!(equal_words(&["link"]), "1 condition, link");
        assert_eq!(equal_words(&["a", "b", "c"]), "3 conditions, a, b and c");
    }
}
