//! Bars of published figures and of the measured values beside them.

use std::collections::{BTreeMap, BTreeSet};

use charts::{Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Estimate, Series, Slot};
use experiment::{Figure as Figures, gather};
use results::{CellResult, MeasuredValue, Metric};

use super::{Subject, system, told_apart_by};
use crate::{
    figures::{
        choice::telling,
        distribution::{OfWorkload, cells_of},
        frame::{capital, sizes_and_n},
        limits::{MOST_SERIES, thinned},
        sizes::sizes,
    },
    page::Figure,
    scene::{Endpoints, Scene, distinct},
    values::{Quantity, bytes, interval_name},
};

/// Maximum number of bars.
const MOST_BARS: usize = 36;
/// Number of sizes in a chart that has no room for all.
const FEW_SIZES: usize = 3;

/// Returns published figures beside measured values as bars, if the curves of these cells do not show them. `curve` is the path of the
/// value that curves over the size have.
pub(crate) fn bars(scene: &Scene<'_>, all: &OfWorkload<'_, '_>, id: &str, curve: &str) -> Option<Figure> {
    let every = cells_of(all);
    let has_curve = every.iter().flat_map(|cell| &cell.published).any(|value| value.metric == curve);
    if has_curve && sizes(all).len() > 1 && all.len() <= MOST_SERIES {
        return None;
    }
    let subject = Subject::of_most(&every, curve)?;
    let mut all = all.to_vec();
    all.iter_mut().for_each(|(_, cells)| cells.retain(|cell| subject.measured(cell).is_some()));
    all.retain(|(_, cells)| !cells.is_empty());
    let number = cells_of(&all).len();
    let (shown, why) = chosen(scene, all, subject);
    let cells = cells_of(&shown);
    let part = match cells.len() < number {
        true => format!(" Shows {} of {number} cells{why}; the text of the report has all.", cells.len()),
        false => String::new(),
    };
    let has_sizes = sizes(&shown).len() > 1;
    let (common, groups) = groups(&shown, subject);
    let words = match subject.figure {
        Figures::Goodput => Quantity::Metric(Metric::Goodput).words().to_owned(),
        Figures::Delivered => Quantity::Metric(Metric::Delivered).words().to_owned(),
        figure => report::parts::beside_figure(figure),
    };
    let (runs, intervals) = (scene.runs_per_cell(&cells), interval_name(&cells));
    let mut conditions = vec![capital(&words)];
    if let [endpoints] = distinct(&cells, |cell| Endpoints::of(&cell.factors))[..] {
        conditions.extend(endpoints.words());
    }
    conditions.extend(sizes_and_n(&cells, None));
    conditions.push(runs.replace(' ', "\u{a0}"));
    conditions.push(format!("published: {common}"));
    let is_lower = subject.figure.is_time() || subject.figure == Figures::Lost;
    Some(Figure {
        id: id.to_owned(),
        short: "Published",
        chart: Chart {
            title: format!("Measured and published: {words}"),
            better: Some(if is_lower { Better::Less } else { Better::More }),
            subtitle: conditions.join(" \u{b7} "),
            note: format!(
                "In colour: the median of the runs; whisker: {intervals}. In the colour of text: published values of other hosts, \
                 which claim nothing about this one.{part}"
            ),
            description: format!(
                "Bars from 0 of the measured and the published {words} of {} cells.",
                cells.len()
            ),
            interval_name: intervals.to_owned(),
            footer: format!("{runs} per cell \u{b7} {}", scene.footer),
            kind: ChartKind::Bars(Bars {
                x: Axis { label: words, unit: subject.unit(), ..Axis::default() },
                group_label: if has_sizes { "sample size".to_owned() } else { String::new() },
                parts: Vec::new(),
                groups,
            }),
        },
    })
}

/// Series with their cells.
type SeriesCells<'s, 'd> = Vec<(&'s Series, Vec<&'d CellResult>)>;

/// Returns the cells that a chart has room for, and words that explain the choice: of too many first a few sizes, then the configurations
/// that differ most.
fn chosen<'s, 'd>(
    scene: &Scene<'_>,
    mut all: SeriesCells<'s, 'd>,
    subject: Subject<'_>,
) -> (SeriesCells<'s, 'd>, String) {
    let bars = |of: &OfWorkload<'_, '_>| {
        let (_, groups) = groups(of, subject);
        groups.iter().map(|group| group.bars.len()).sum::<usize>()
    };
    let (sizes, mut why) = (sizes(&all), String::new());
    if bars(&all) > MOST_BARS {
        let few: BTreeSet<u64> = thinned(FEW_SIZES, sizes.clone()).into_iter().collect();
        for (_, cells) in &mut all {
            cells.retain(|cell| few.contains(&cell.factors.size_bytes));
            *cells = thinned(MOST_SERIES, std::mem::take(cells));
        }
        all.retain(|(_, cells)| !cells.is_empty());
        if few.len() < sizes.len() {
            why = format!(", at {} of {} sizes", few.len(), sizes.len());
        }
    }
    let most = match bars(&all) > MOST_BARS {
        true => MOST_BARS / all.iter().map(|one| bars(std::slice::from_ref(one))).max().unwrap_or(1).max(1),
        false => MOST_SERIES,
    };
    let value = |cell: &CellResult| subject.measured(cell).map(|measured| measured.median);
    let (shown, by) = telling(scene, all, (most.clamp(1, MOST_SERIES), value), |cells| cells[0]);
    why.push_str(&by);
    (shown, why)
}

/// Cell with its bar and the published values beside it.
type ComparedCell<'d> = (&'d CellResult, Bar, Vec<Bar>);

/// Returns the measured values of each size, and below them what was published: each value once, although several cells have it beside
/// them, and at the end those that all have. Of a system with several values at a size, each is below the cells that it is beside. First
/// is what the names of all systems have in common.
fn groups(all: &OfWorkload<'_, '_>, subject: Subject<'_>) -> (String, Vec<BarGroup>) {
    let every = cells_of(all);
    let systems = experiment::distinct(every.iter().flat_map(|cell| subject.published(cell)).map(system));
    let (common, names) = told_apart(&systems);
    let names: BTreeMap<&str, &str> =
        systems.iter().map(String::as_str).zip(names.iter().map(String::as_str)).collect();
    let published = |cell: &CellResult| {
        let bars = subject.published(cell).map(|value| {
            let name = names.get(system(value).as_str()).copied().unwrap_or(&value.system);
            bar(Series::new(name, Slot::Ink), Estimate::exact(subject.in_unit(value.converted)))
        });
        experiment::distinct(bars)
    };
    let has_endpoints = distinct(&every, |cell| Endpoints::of(&cell.factors)).len() > 1;
    let mut shown: Vec<ComparedCell<'_>> = Vec::new();
    for (series, cells) in all {
        for cell in cells {
            let own = own((series, cell), subject, has_endpoints);
            shown.extend(own.map(|own| (*cell, own, published(cell))));
        }
    }
    shown.sort_by_key(|(cell, ..)| cell.factors.size_bytes);
    let of_all = |cells: &[&ComparedCell<'_>]| -> Vec<Bar> {
        experiment::distinct(cells.iter().flat_map(|(.., bars)| bars.iter().cloned()))
    };
    let mut compared: Vec<(Vec<&ComparedCell<'_>>, Vec<Bar>)> = Vec::new();
    for cells in gather(&shown, |(cell, ..)| cell.factors.size_bytes, |_, _| true) {
        let bars = of_all(&cells);
        let systems: BTreeSet<&str> = bars.iter().map(|bar| bar.series.name.as_str()).collect();
        if systems.len() == bars.len() {
            compared.push((cells, bars));
        } else {
            let alike = gather(cells, |_| (), |(.., one), (.., other)| one == other);
            compared.extend(alike.into_iter().map(|cells| (cells.clone(), of_all(&cells))));
        }
    }
    let mut of_any = compared.first().map_or_else(Vec::new, |(_, bars)| bars.clone());
    of_any.retain(|bar| compared.iter().all(|(_, bars)| bars.contains(bar)));
    let has_sizes = sizes(all).len() > 1;
    let mut groups = Vec::new();
    for (cells, mut bars) in compared {
        let size = bytes(cells[0].0.factors.size_bytes);
        let (own, beside) = match has_sizes {
            true => (size.clone(), format!("{size}, published")),
            false => ("measured".to_owned(), "published".to_owned()),
        };
        groups.push(BarGroup { label: own, bars: cells.iter().map(|(_, bar, _)| bar.clone()).collect() });
        bars.retain(|bar| !of_any.contains(bar));
        if !bars.is_empty() {
            groups.push(BarGroup { label: beside, bars });
        }
    }
    if !of_any.is_empty() {
        groups.push(BarGroup { label: "published".to_owned(), bars: of_any });
    }
    (common, groups)
}

/// Returns the bar of the measured value of a cell; `None` without one.
fn own((series, cell): (&Series, &CellResult), subject: Subject<'_>, has_endpoints: bool) -> Option<Bar> {
    let name = format!("{}{}", series.name, told_apart_by(cell, has_endpoints));
    let MeasuredValue { median, min, max, ci_low, ci_high, .. } = *subject.measured(cell)?;
    let (low, high) = ci_low.zip(ci_high).unwrap_or((min, max));
    let [median, low, high] = [median, low, high].map(|value| subject.in_unit(value));
    Some(bar(Series::new(name, series.slot), Estimate::within(median, low, high)))
}

fn bar(series: Series, total: Estimate) -> Bar {
    Bar { series, parts: vec![total.value], total }
}

/// Words that a name does not end with.
const JOINING: [&str; 6] = ["on", "with", "of", "in", "for", "by"];

/// Returns what the names of systems have in common, and what tells each of them apart: parts between commas that all have, and the first
/// words of their first parts. The rest of a name that is common as a whole is `published`.
fn told_apart(systems: &[String]) -> (String, Vec<String>) {
    let parts: Vec<Vec<&str>> = systems.iter().map(|system| system.split(", ").collect()).collect();
    let in_all = |part: &&str| parts.iter().all(|other| other.contains(part));
    let mut common: Vec<String> = Vec::new();
    let mut rests: Vec<Vec<String>> = parts
        .iter()
        .map(|parts| parts.iter().filter(|part| !in_all(part)).map(|part| (*part).to_owned()).collect())
        .collect();
    common.extend(
        parts.first().into_iter().flatten().filter(|part| in_all(part)).map(|part| (*part).to_owned()),
    );
    let words = |rest: &Vec<String>| -> Vec<String> {
        rest.first().map_or_else(Vec::new, |part| part.split(' ').map(ToOwned::to_owned).collect())
    };
    let first: Vec<Vec<String>> = rests.iter().map(words).collect();
    let shortest = first.iter().map(Vec::len).min().unwrap_or(0);
    let mut shared = (0..shortest).take_while(|&at| first.iter().all(|of| of[at] == first[0][at])).count();
    // A number says nothing without the word in front of it.
    let is_number =
        |of: &Vec<String>| of.get(shared).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    if shared > 0 && first.iter().any(is_number) {
        shared -= 1;
    }
    while shared > 0 && JOINING.contains(&first[0][shared - 1].as_str()) {
        shared -= 1;
    }
    if shared > 0 {
        common.insert(0, first[0][..shared].join(" "));
        for (rest, words) in rests.iter_mut().zip(&first) {
            match words.get(shared..).filter(|words| !words.is_empty()) {
                Some(words) => rest[0] = words.join(" "),
                None => _ = rest.remove(0),
            }
        }
    }
    let name = |rest: Vec<String>| if rest.is_empty() { "published".to_owned() } else { rest.join(", ") };
    let common = if common.is_empty() { "of several systems".to_owned() } else { common.join(", ") };
    (common, rests.into_iter().map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::told_apart;

    fn apart(systems: &[&str]) -> (String, Vec<String>) {
        told_apart(&systems.iter().map(|system| (*system).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn common_part_of_systems_is_said_once() {
        let (common, names) = apart(&["A on X, 1 reader, low", "A on X, 1 reader, high", "A on Y, 1 reader"]);
        assert_eq!(
            (common.as_str(), names),
            ("A, 1 reader", ["on X, low", "on X, high", "on Y"].map(str::to_owned).to_vec())
        );
        let (common, names) = apart(&["Old Big 6.0", "Old Small 3.0"]);
        assert_eq!((common.as_str(), names), ("Old", ["Big 6.0", "Small 3.0"].map(str::to_owned).to_vec()));
        assert_eq!(apart(&["Old 1.0, rate"]), ("Old 1.0, rate".to_owned(), vec!["published".to_owned()]));
        let (common, names) = apart(&["A study, setup 1", "A study, setup 2, again"]);
        assert_eq!(
            (common.as_str(), names),
            ("A study", ["setup 1", "setup 2, again"].map(str::to_owned).to_vec())
        );
        let (common, names) = apart(&["One", "Another"]);
        assert_eq!(
            (common.as_str(), names),
            ("of several systems", ["One", "Another"].map(str::to_owned).to_vec())
        );
        let (common, names) = apart(&["Old 1.0", "Old 1.0, batched"]);
        assert_eq!(
            (common.as_str(), names),
            ("Old 1.0", ["published", "batched"].map(str::to_owned).to_vec())
        );
    }
}
