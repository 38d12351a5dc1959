//! Sentence on published figures beside the measured values.

use std::cmp::Ordering;

use charts::{Series, number};
use experiment::{Figure, RttStatistic, Workload};
use report::parts;
use results::{CellResult, PublishedValue};

use crate::{
    figures::{
        distribution::{OfWorkload, cells_of},
        frame::list,
        overlay::{GOODPUT, RTT, Subject, system, told_apart_by},
    },
    page::{Sentence, Words, plain, strong},
    scene::{Endpoints, Scene, distinct},
    values::bytes,
};

/// Maximum number of pairs that are named; of more, the closest and the furthest are.
const MOST_NAMED: usize = 3;

/// Measured value with a published one beside it.
struct Pair<'s, 'd> {
    series: &'s Series,
    cell: &'d CellResult,
    published: &'d PublishedValue,
    /// Median of the measured values.
    measured: f64,
}

impl Pair<'_, '_> {
    /// Returns the logarithm of the ratio of the measured to the published value.
    fn log_ratio(&self) -> f64 {
        (self.measured / self.published.converted).ln()
    }
}

/// Returns the values at the smallest size with their published ones, whether measured values are the lower ones at all sizes, and what
/// differs: not a tested difference. `None` without published figures.
pub(super) fn sentence(scene: &Scene<'_>) -> Option<Sentence> {
    let workloads = [(Workload::Latency, RTT), (Workload::Throughput, GOODPUT)];
    let of = |(workload, curve)| {
        let all = scene.of_workload(workload);
        Subject::of_most(&cells_of(&all), curve).map(|subject| (all, subject))
    };
    let (all, subject) = workloads.into_iter().find_map(of)?;
    let pairs = pairs(&all, subject);
    let size = pairs.iter().map(|pair| pair.cell.factors.size_bytes).min()?;
    let mut named: Vec<&Pair<'_, '_>> =
        pairs.iter().filter(|pair| pair.cell.factors.size_bytes == size).collect();
    let mut among = String::new();
    if named.len() > MOST_NAMED {
        among = format!(", the closest and the furthest of {}", named.len());
        named.sort_by(|left, right| left.log_ratio().abs().total_cmp(&right.log_ratio().abs()));
        named = vec![named[0], named[named.len() - 1]];
    }
    let has_endpoints = distinct(&cells_of(&all), |cell| Endpoints::of(&cell.factors)).len() > 1;
    let value = |value: f64| number::value(subject.in_unit(value), subject.unit());
    let begin = format!("With {}, the {} was published as ", bytes(size), words(subject.figure));
    let mut sentence = vec![plain(begin)];
    for (index, pair) in named.iter().enumerate() {
        sentence.extend((index > 0).then(|| plain(if index + 1 == named.len() { " and " } else { ", " })));
        sentence.push(strong(value(pair.published.converted)));
        sentence.push(plain(format!(" for {} (here ", system(pair.published))));
        sentence.push(strong(value(pair.measured)));
        sentence.push(plain(" with "));
        sentence.push(Words::Name(pair.series.clone()));
        sentence.push(plain(format!("{})", told_apart_by(pair.cell, has_endpoints))));
    }
    sentence.push(plain(format!(
        "{among}; {}, an untested comparison: {}.",
        direction(&pairs),
        parts::published_differences(scene.document)
    )));
    Some(sentence)
}

/// Returns each measured value with each of the published ones beside it.
fn pairs<'s, 'd>(all: &OfWorkload<'s, 'd>, subject: Subject<'_>) -> Vec<Pair<'s, 'd>> {
    let mut pairs = Vec::new();
    for (series, cells) in all {
        for cell in cells.iter().copied() {
            let measured = subject.measured(cell).map(|measured| measured.median);
            let beside = |published| Some(Pair { series, cell, published, measured: measured? });
            pairs.extend(subject.published(cell).filter_map(beside));
        }
    }
    pairs
}

/// Returns the name of the value in a sentence.
fn words(figure: Figure) -> String {
    match (figure, figure.statistic()) {
        (_, Some(RttStatistic::P50)) => "median round trip".to_owned(),
        (_, Some(RttStatistic::Mean)) => "mean round trip".to_owned(),
        (Figure::Goodput, _) => "throughput".to_owned(),
        (Figure::Delivered, _) => "delivered rate".to_owned(),
        (Figure::Lost, _) => "share of lost samples".to_owned(),
        (Figure::TwoHopsPerSample, _) => "time per sample and hop".to_owned(),
        _ => parts::beside_figure(figure),
    }
}

/// Returns in how many cases measured values are lower and higher than published ones.
fn direction(pairs: &[Pair<'_, '_>]) -> String {
    let orders = [(Ordering::Less, "lower"), (Ordering::Greater, "higher"), (Ordering::Equal, "equal")];
    let counts = orders.map(|(order, words)| {
        let is_counted = |pair: &&Pair<'_, '_>| pair.measured.total_cmp(&pair.published.converted) == order;
        (pairs.iter().filter(is_counted).count(), words)
    });
    let all = pairs.len();
    let known: Vec<(usize, &str)> = counts.into_iter().filter(|(n, _)| *n > 0).collect();
    match known[..] {
        [(1, words)] => format!("the value here is {words}"),
        [(2, words)] => format!("values here are {words} in both cases"),
        [(_, words)] => format!("values here are {words} in all {all} cases"),
        _ => {
            let each: Vec<String> = known.iter().map(|(n, words)| format!("{words} in {n}")).collect();
            format!("values here are {} of {all} cases", list(&each))
        }
    }
}
