//! Verdicts: effects with the noise floor.

use charts::{Chart, ChartKind, Claim, Estimate, Forest, ForestRow, Interval, Slot, prose};
use experiment::Workload;
use results::{Conclusion, ConclusionWords, EffectEstimate, Metric, Verdict, VerdictKind};
use stats::Rules;

use super::frame::{capital, content, list};
use crate::{
    page::Figure,
    scene::{Configuration, Endpoints, Scene},
};

/// Maximum number of rows.
const MOST_ROWS: usize = 24;

/// Comparison with its series.
struct Row<'s> {
    verdict: &'s Verdict,
    treatment: &'s Configuration<'s>,
    baseline: &'s Configuration<'s>,
}

/// Returns the chart of the verdicts; none for a single one, which is a sentence.
pub(crate) fn figures(scene: &Scene<'_>) -> Vec<Figure> {
    let rows: Vec<Row<'_>> = rows(scene);
    if rows.len() < 2 {
        return Vec::new();
    }
    let mut shown = shown(&rows);
    if !report::parts::costs_in_words(scene.document).is_empty() {
        // Settings are sorted by their effect, for each metric.
        let change =
            |row: &Row<'_>| row.verdict.answer.as_ref().and_then(|answer| answer.change_pct).unwrap_or(0.0);
        shown.sort_by(|left, right| {
            left.verdict.metric.cmp(&right.verdict.metric).then(change(right).total_cmp(&change(left)))
        });
    }
    let several_treatments = rows.iter().any(|row| row.treatment.series != rows[0].treatment.series);
    let several_baselines = rows.iter().any(|row| row.baseline.series != rows[0].baseline.series);
    let points: Vec<String> =
        shown.iter().map(|row| point_words(scene, &row.verdict.treatment.cell)).collect();
    // What all rows have in common is said once.
    let one_point = points.first().filter(|first| points.iter().all(|point| point == *first)).cloned();
    let names: Vec<&str> = shown.iter().map(|row| row.treatment.series.name.as_str()).collect();
    let names = distinct_words(&names);
    let drawn = shown.iter().zip(&points).zip(names).map(|((row, point), name)| {
        let point = if one_point.is_some() { "" } else { point };
        row.drawn(scene, several_treatments.then_some(name), point)
    });
    let mut drawn: Vec<ForestRow> = drawn.collect();
    if rows.iter().all(Row::is_too_few) {
        // The title says it once.
        drawn.iter_mut().for_each(|row| row.words.clear());
    }
    let more = rows.len() - shown.len();
    let has_noise = drawn.iter().any(|row| row.noise.is_some());
    let shorter = rows.iter().all(|row| row.verdict.metric.unit() == "ns");
    let (below, above) = if shorter { ("shorter", "longer") } else { ("lower", "higher") };
    let below = if several_treatments {
        below.to_owned()
    } else {
        format!("{} {below}", rows[0].treatment.series.name)
    };
    let against =
        if several_baselines { "its baseline".to_owned() } else { rows[0].baseline.series.name.clone() };
    let blocks = rows.iter().filter_map(|row| row.verdict.answer.as_ref()).map(|answer| answer.n).max();
    let family = rows.iter().filter_map(|row| row.verdict.answer.as_ref()).map(|answer| answer.family).max();
    let together = match family {
        Some(n) if n > 1 => format!("{n} comparisons share the 5 %"),
        _ => "one comparison".to_owned(),
    };
    let point =
        one_point.filter(|point| !point.is_empty()).map_or_else(String::new, |point| format!(" · {point}"));
    let blocks = blocks.map_or_else(|| "no block".to_owned(), |n| report::parts::count(n as usize, "block"));
    let note = format!(
        "Filled: a claim, its p-value adjusted over all comparisons; its colour is that of the better side. Hollow: \
         inconclusive.{} Stripe: within {} %, too small to matter.",
        if has_noise { " Grey box: the noise floor, the baseline compared with itself." } else { "" },
        100.0 * Rules::DEFAULT.margin
    );
    vec![Figure {
        id: "verdicts".to_owned(),
        short: "Verdicts",
        chart: Chart {
            title: title(&rows, several_treatments || several_baselines),
            better: shorter.then_some(charts::Better::Less),
            subtitle: format!(
                "Change against {against}{point} · ratio on a logarithmic axis · 95 % intervals · {blocks} · {together}"
            ),
            note,
            description: format!(
                "Forest plot of {} comparisons with {against}: the change as a ratio on a logarithmic axis with its 95 % \
                 interval, and the verdict as text.",
                drawn.len()
            ),
            interval_name: "95 % interval".to_owned(),
            footer: format!("{blocks} · {}", scene.footer),
            kind: ChartKind::Forest(Forest {
                below,
                above: above.to_owned(),
                axis_label: format!("change against {against}"),
                margin: Some(1.0 + Rules::DEFAULT.margin),
                rows: drawn,
                more: if more > 0 {
                    format!("{more} more in the table of comparisons")
                } else {
                    String::new()
                },
            }),
        },
    }]
}

/// Returns the comparisons whose sides have a series.
fn rows<'s>(scene: &'s Scene<'_>) -> Vec<Row<'s>> {
    let verdicts = scene.document.verdicts.iter();
    let compared = verdicts.filter(|verdict| verdict.kind == VerdictKind::Comparison);
    let row = |verdict: &'s Verdict| {
        let treatment = scene.series_of(&verdict.treatment.cell)?;
        let baseline = scene.series_of(&verdict.baseline.cell)?;
        let has_estimate = verdict.answer.as_ref().is_some_and(|answer| answer.change_pct.is_some());
        has_estimate.then_some(Row { verdict, treatment, baseline })
    };
    let mut rows: Vec<Row<'s>> = compared.filter_map(row).collect();
    // All metrics of a flow are beside each other.
    let mut flows: Vec<&Option<String>> = Vec::new();
    for row in &rows {
        if !flows.contains(&&row.verdict.flow) {
            flows.push(&row.verdict.flow);
        }
    }
    rows.sort_by_key(|row| flows.iter().position(|flow| **flow == row.verdict.flow));
    rows
}

/// Returns the rows of the chart: all, or the claims first, then the widest.
fn shown<'r, 's>(rows: &'r [Row<'s>]) -> Vec<&'r Row<'s>> {
    if rows.len() <= MOST_ROWS {
        return rows.iter().collect();
    }
    let width = |row: &Row<'_>| {
        let answer = row.verdict.answer.as_ref();
        answer.and_then(|answer| Some(answer.high_pct? - answer.low_pct?)).unwrap_or(0.0)
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|left, right| {
        let (left, right) = (&rows[*left], &rows[*right]);
        let claims = |row: &Row<'_>| row.verdict.answer.as_ref().is_some_and(|of| of.conclusion.differs());
        claims(right).cmp(&claims(left)).then(width(right).total_cmp(&width(left)))
    });
    order.truncate(MOST_ROWS);
    order.sort_unstable();
    order.into_iter().map(|index| &rows[index]).collect()
}

impl Row<'_> {
    fn is_too_few(&self) -> bool {
        let answer = self.verdict.answer.as_ref();
        answer.is_some_and(|answer| matches!(answer.conclusion, Conclusion::TooFew { .. }))
    }

    fn claim(&self) -> Claim {
        let conclusion = self.verdict.answer.as_ref().map(|answer| &answer.conclusion);
        match conclusion.and_then(Conclusion::is_better) {
            Some(true) => Claim::Better,
            Some(false) => Claim::Worse,
            None if matches!(conclusion, Some(Conclusion::Equivalent { .. })) => Claim::Equivalent,
            None => Claim::Inconclusive,
        }
    }

    /// Returns the row with what tells it from the others: the name of its treatment, if there are several, and its point.
    fn drawn(&self, scene: &Scene<'_>, name: Option<String>, point: &str) -> ForestRow {
        let Self { verdict, treatment, baseline } = *self;
        let answer = verdict.answer.as_ref();
        let range = answer.and_then(range);
        let value = answer.and_then(|answer| answer.change_pct).map_or(f64::NAN, ratio);
        let claim = self.claim();
        let (value, range) = match verdict.arrived_pct() {
            Some((0.0, _)) => (0.0, None),
            Some((_, 0.0)) => (f64::INFINITY, None),
            _ => (value, range),
        };
        let slot = match claim {
            Claim::Better => treatment.series.slot,
            Claim::Worse => baseline.series.slot,
            Claim::Equivalent | Claim::Inconclusive => Slot::Ink,
        };
        let ConclusionWords { conclusion: words, interval, .. } = verdict.words();
        let interval_words = prose(&interval);
        let metric = match (&verdict.flow, verdict.metric) {
            (None, _) => verdict.metric_name(),
            (Some(_), Metric::Missed) => "missed deadlines".to_owned(),
            (Some(_), metric) => metric.words().to_owned(),
        };
        let (group, label) = match (name, &verdict.flow) {
            (Some(name), None) => (name, format!("{point} {metric}").trim().to_owned()),
            (Some(name), Some(flow)) => (name, format!("{point} {flow}: {metric}").trim().to_owned()),
            (None, None) => (point.to_owned(), metric),
            (None, Some(flow)) => (format!("{point} {flow}").trim().to_owned(), metric),
        };
        ForestRow {
            group,
            label,
            ratio: Estimate { value, interval: range },
            claim,
            slot,
            noise: noise(scene, verdict),
            words,
            interval_words,
        }
    }
}

/// Returns names without the words that all of them have; a name of such words only stays as it is.
fn distinct_words(names: &[&str]) -> Vec<String> {
    let is_common = |word: &&str| names.iter().all(|name| name.split(' ').any(|other| other == *word));
    let distinct = |name: &&str| {
        let left: Vec<&str> = name.split(' ').filter(|word| !is_common(word)).collect();
        if left.is_empty() { (*name).to_owned() } else { left.join(" ") }
    };
    names.iter().map(distinct).collect()
}

/// Returns the interval of the comparison of the baseline with itself.
fn noise(scene: &Scene<'_>, verdict: &Verdict) -> Option<Interval> {
    let floor = scene.document.verdicts.iter().find(|floor| {
        floor.kind == VerdictKind::NoiseFloor
            && floor.baseline.cell == verdict.baseline.cell
            && floor.metric == verdict.metric
            && floor.flow == verdict.flow
    })?;
    floor.answer.as_ref().and_then(range)
}

/// Returns the interval of a change as ratios.
fn range(answer: &EffectEstimate) -> Option<Interval> {
    Some(Interval { low: ratio(answer.low_pct?), high: ratio(answer.high_pct?) })
}

fn ratio(change_pct: f64) -> f64 {
    (1.0 + change_pct / 100.0).max(1e-9)
}

/// Returns what tells a cell from others of its series: its size, or its load.
pub(crate) fn point_words(scene: &Scene<'_>, cell: &str) -> String {
    let Some(cell) = scene.cell(cell) else { return String::new() };
    let factors = &cell.factors;
    let mut words = Vec::new();
    words.extend(content(factors));
    if factors.workload == Workload::Throughput && factors.batch_bytes > 0 {
        words.push("batched".to_owned());
    }
    let mut words = vec![words.join(" ")].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    words.extend(factors.load.as_ref().map(ToString::to_string));
    words.extend(Endpoints::of(factors).words());
    words.join(", ")
}

/// Returns the title: how many comparisons are claims.
fn title(rows: &[Row<'_>], several_pairs: bool) -> String {
    let of = |claim: Claim| rows.iter().filter(|row| row.claim() == claim).count();
    let (better, worse) = (of(Claim::Better), of(Claim::Worse));
    let (equivalent, open) = (of(Claim::Equivalent), of(Claim::Inconclusive));
    let all = rows.len();
    let mut rest = Vec::new();
    if equivalent > 0 {
        rest.push(format!("{equivalent} equivalent"));
    }
    if open > 0 {
        rest.push(format!("{open} inconclusive"));
    }
    let rest = if rest.is_empty() { String::new() } else { format!("; {}", list(&rest)) };
    let [treatment, baseline] = [&rows[0].treatment.series.name, &rows[0].baseline.series.name];
    let comparisons = format!("{all} comparisons");
    if rows.iter().all(Row::is_too_few) {
        return format!("{comparisons} with too few blocks for a claim");
    }
    match (several_pairs, better, worse) {
        (_, 0, 0) => capital(&format!("none of {comparisons} shows a difference{rest}")),
        (false, better, 0) => {
            format!("{treatment} is better than {baseline} in {better} of {comparisons}{rest}")
        }
        (false, 0, worse) => {
            format!("{treatment} is worse than {baseline} in {worse} of {comparisons}{rest}")
        }
        (false, better, worse) => {
            format!(
                "{treatment} is better than {baseline} in {better} and worse in {worse} of {comparisons}{rest}"
            )
        }
        (true, better, worse) => format!("{} of {comparisons} show a difference{rest}", better + worse),
    }
}

#[cfg(test)]
mod tests {
    use super::distinct_words;

    #[test]
    fn words_of_all_names_are_left_out() {
        assert_eq!(
            distinct_words(&[
                "base-default deadline",
                "in-flight-16 base-default deadline",
                "base-default lifespan"
            ]),
            ["deadline", "in-flight-16 deadline", "lifespan"]
        );
        assert_eq!(distinct_words(&["udp", "udp tuned"]), ["udp", "tuned"]);
        assert_eq!(distinct_words(&["udp", "udp"]), ["udp", "udp"]);
    }
}
