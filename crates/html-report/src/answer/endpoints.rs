//! Change of values by more endpoints: laws, or else the most against the fewest.

use std::cmp::Ordering;

use charts::{Estimate, Series, number, prose};
use experiment::Workload;
use results::{CellResult, Finding, Growth, GrowthLaw, Metric, format_value};
use stats::Better;
use verdicts::BlockChange;

use super::{direction, listed};
use crate::{
    figures::{choice::telling, frame::list},
    page::{Sentence, Words, plain, strong},
    scene::{Endpoints, Scene},
    values::{Quantity, bytes, ends, is_doubtful},
};

/// Maximum number of sentences.
const MOST: usize = 2;

/// Cell with the most endpoints, and its change from that with the fewest.
type Change<'d> = (&'d CellResult, BlockChange);

/// Returns laws, or without one the changes of each configuration with several numbers of endpoints: of round trips, or without them of
/// rates.
pub(super) fn sentences(scene: &Scene<'_>) -> Vec<Sentence> {
    let laws = laws(scene);
    if !laws.is_empty() {
        return laws;
    }
    let of_workload = |workload, metric, words: &str| {
        let of_series = |(series, cells): (_, Vec<_>)| {
            let (numbers, changes) = changes(&cells, metric)?;
            let (first, _) = *changes.first()?;
            let begin = format!("With {numbers}, the {words} of ");
            Some((series, (first, sentence((series, metric), begin, &changes))))
        };
        let all = scene.of_workload(workload).into_iter().filter_map(of_series).collect();
        let (chosen, _) =
            telling(scene, all, (MOST, |cell| Quantity::Metric(metric).median(cell)), |(cell, _)| *cell);
        chosen.into_iter().map(|(_, (_, sentence))| sentence).collect::<Vec<_>>()
    };
    let round_trips = of_workload(Workload::Latency, Metric::RttP50, "median round trip");
    match round_trips.is_empty() {
        true => of_workload(Workload::Throughput, Metric::Delivered, "delivered rate"),
        false => round_trips,
    }
}

/// Returns the laws that findings state, without the values at both ends: several lines of one value together.
fn laws(scene: &Scene<'_>) -> Vec<Sentence> {
    let findings = scene.document.findings.iter();
    let all = findings.filter_map(|finding| Some((finding, finding.growth.as_ref()?)));
    let mut all: Vec<(&Finding, &Growth)> = all.filter(|(_, growth)| growth.law != GrowthLaw::None).collect();
    all.sort_by_key(|(_, growth)| growth.value);
    let alike = all.chunk_by(|one, other| one.1.value == other.1.value);
    let of_value = |alike: &[(&Finding, &Growth)]| match lines(scene, alike) {
        Some(together) => vec![together],
        None => alike.iter().map(|(_, growth)| vec![plain(prose(&growth.sentence))]).collect(),
    };
    alike.flat_map(of_value).take(MOST).collect()
}

/// Returns a sentence about laws of one value that are lines, each of one configuration; `None` if there are few, or others.
fn lines(scene: &Scene<'_>, alike: &[(&Finding, &Growth)]) -> Option<Sentence> {
    let (first, growth) = alike.first().filter(|_| alike.len() > 2)?;
    let quantity = Quantity::of_growth(growth.value)?;
    let line = |(finding, growth): &(&Finding, &Growth)| {
        let GrowthLaw::Linear { slope } = &growth.law else { return None };
        let series = &scene.series_of(finding.cells.first()?)?.series;
        let is_own = |cell: &String| scene.series_of(cell).is_some_and(|of| of.series == *series);
        let slope_words =
            number::estimate(Estimate::within(slope.value, slope.low, slope.high), quantity.unit());
        let words = vec![strong(slope_words), plain(" with "), Words::Name(series.clone())];
        finding.cells.iter().all(is_own).then_some((slope.value, words))
    };
    let found = alike.iter().map(line).collect::<Option<Vec<_>>>()?;
    let at = |cell: Option<&String>| Some(Endpoints::of(&scene.cell(cell?)?.factors));
    let (from, to) = (at(first.cells.first())?, at(first.cells.last())?);
    let begin = format!(
        "From {} to {} {}, one more adds to the {} ",
        from.number(),
        to.number(),
        to.noun(),
        quantity.words()
    );
    let blocks = first.numbers.get("blocks").map_or_else(String::new, |n| format!(", {n} blocks"));
    listed(begin, found, Better::Less, &format!("95 % intervals{blocks}"))
}

/// Returns the text of the most and the fewest endpoints of these cells, and the change at each size in ascending order; `None` without
/// several numbers of endpoints.
fn changes<'d>(cells: &[&'d CellResult], metric: Metric) -> Option<(String, Vec<Change<'d>>)> {
    let endpoints = |cell: &CellResult| Endpoints::of(&cell.factors);
    let all = || cells.iter().map(|cell| endpoints(cell));
    let (least, most) = (all().min()?, all().max().filter(|most| Some(*most) != all().min())?);
    let of = |wanted| {
        let is_of = move |cell: &&CellResult| endpoints(cell) == wanted && cell.factors.batch_bytes == 0;
        cells.iter().copied().filter(is_of).filter(|cell| !is_doubtful(cell))
    };
    let change = |cell: &'d CellResult| {
        let base = of(least).find(|base| base.factors.differs_only_in(&cell.factors, "topology"))?;
        Some((cell, BlockChange::new(cell, base, metric)?))
    };
    let mut changes: Vec<Change<'d>> = of(most).filter_map(change).collect();
    changes.sort_by_key(|(cell, _)| cell.factors.size_bytes);
    Some((format!("{} {} instead of {}", most.number(), most.noun(), least.number()), changes))
}

/// Returns the changes over the sizes, and that at the smallest one with its interval.
fn sentence((series, metric): (&Series, Metric), begin: String, changes: &[Change<'_>]) -> Sentence {
    let pct = |ratio: f64| 100.0 * (ratio - 1.0);
    let words = |wanted: Ordering| {
        let of_sign = changes.iter().filter(|(_, change)| change.direction() == wanted);
        let of_sign: Vec<f64> = of_sign.map(|(_, change)| pct(change.ratio).abs()).collect();
        let (low, high) = ends(of_sign.iter().copied())?;
        let [low, high] = [low, high].map(format_value);
        let range = if low == high { low } else { format!("{low} to {high}") };
        let differs = match wanted {
            Ordering::Equal => "not shown to differ".to_owned(),
            _ => format!("{range} % {}", direction(metric, wanted == Ordering::Greater)),
        };
        Some(match (of_sign.len(), changes.len()) {
            (_, 1) => differs,
            (some, all) if some == all => format!("{differs} at all {all} sizes"),
            (some, all) => format!("{differs} at {some} of {all} sizes"),
        })
    };
    let orders = [Ordering::Greater, Ordering::Less, Ordering::Equal];
    let verdict: Vec<String> = orders.into_iter().filter_map(words).collect();
    let (cell, BlockChange { ratio, low, high, is_interval, blocks }) = changes[0];
    let name = if is_interval { "95 % interval" } else { "range" };
    let interval = format!(", {name} {} to {} %", format_value(pct(low)), format_value(pct(high)));
    let size = bytes(cell.factors.size_bytes);
    let at_first = format!("{size}: {}{interval}", number::change(ratio));
    vec![
        plain(begin),
        Words::Name(series.clone()),
        plain(" was "),
        strong(list(&verdict)),
        plain(prose(&format!(" ({at_first}, {blocks} blocks)."))),
    ]
}
