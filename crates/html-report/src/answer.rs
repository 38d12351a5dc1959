//! Answer of a page: at most four sentences, from verdicts or from the values of these runs.

mod endpoints;
mod published;
mod systems;

use charts::{Series, prose};
use experiment::Workload;
use report::parts;
use results::{CellResult, Conclusion, ConclusionWords, Metric, Verdict, VerdictKind};
use stats::Better;

use crate::{
    figures::{distribution::at_one_size, frame::MOST_NAMED, search, verdicts::point_words},
    page::{Sentence, Words, plain, strong},
    scene::Scene,
    values::Quantity,
};

/// Maximum number of sentences.
const MOST: usize = 4;
/// Maximum length of a finding in the answer, in characters; longer ones are in the list of findings only.
const MOST_OF_FINDING: usize = 200;

/// Returns the answer, and the sentence on published figures if the answer has no room for it.
pub(crate) fn answer(scene: &Scene<'_>) -> (Vec<Sentence>, Option<Sentence>) {
    let published = published::sentence(scene);
    let words = |span: parts::Span| if span.is_strong { strong(span.text) } else { plain(span.text) };
    let costs = parts::costs_in_brief(scene.document).into_iter();
    let mut sentences: Vec<Sentence> = costs.map(|spans| spans.into_iter().map(words).collect()).collect();
    if sentences.is_empty() {
        sentences = from_verdicts(scene);
    }
    if sentences.is_empty() {
        let too_few = too_few(scene);
        sentences = from_values(scene);
        // Published figures were asked for; a finding is below, too.
        let others = usize::from(too_few.is_some()) + usize::from(published.is_some());
        sentences.truncate(MOST - others.max(1));
        sentences.extend(too_few);
    }
    if sentences.is_empty() {
        let searches = scene.of_workload(Workload::Search);
        let has_searches =
            searches.iter().flat_map(|(_, cells)| cells).any(|cell| cell.valid_runs().next().is_some());
        sentences.push(vec![plain(match has_searches {
            true => {
                "No search found a load that meets its goal: even the lowest one that was tried does not."
            }
            false => "No run has a value: see the failures below.",
        })]);
    }
    sentences.truncate(MOST);
    match published {
        Some(published) if sentences.len() < MOST => {
            sentences.push(published);
            (sentences, None)
        }
        published => (sentences, published),
    }
}

/// Returns the comparison that was asked for, where it does not hold, how many there are, and what limits them.
fn from_verdicts(scene: &Scene<'_>) -> Vec<Sentence> {
    let all = &scene.document.verdicts;
    let compared: Vec<&Verdict> = all.iter().filter(|of| of.kind == VerdictKind::Comparison).collect();
    let Some(first) = compared.iter().find(|verdict| is_claim(verdict)).or(compared.first()) else {
        return Vec::new();
    };
    // Without a single claim or estimate of one, the values say more.
    if compared.iter().all(|verdict| blocks_needed(verdict).is_some() || verdict.withheld.is_some())
        && compared.iter().any(|verdict| blocks_needed(verdict).is_some())
    {
        return Vec::new();
    }
    let of_systems = systems::verdicts(scene);
    if !of_systems.is_empty() {
        // A claim about one flow of many says less than all of them together.
        return systems::met(scene).into_iter().chain(of_systems).collect();
    }
    let mut sentences: Vec<Sentence> = sentence(scene, first).into_iter().collect();
    let differs = |verdict: &&&Verdict| verdict.metric == first.metric && kind(verdict) != kind(first);
    sentences.extend(compared.iter().find(differs).and_then(|verdict| sentence(scene, verdict)));
    if compared.len() > sentences.len() {
        let count = |of: fn(&Conclusion) -> bool| {
            let answers = compared.iter().filter_map(|verdict| verdict.answer.as_ref());
            answers.filter(|answer| of(&answer.conclusion)).count()
        };
        let different = count(Conclusion::differs);
        let equivalent = count(|conclusion| matches!(conclusion, Conclusion::Equivalent { .. }));
        sentences.push(vec![plain(format!(
            "Of {} comparisons, {different} show a difference, {equivalent} equivalence, and {} neither.",
            compared.len(),
            compared.len() - different - equivalent
        ))]);
    }
    let floors: Vec<&Verdict> = all.iter().filter(|of| of.kind == VerdictKind::NoiseFloor).collect();
    let wrong = floors.iter().filter(|floor| is_claim(floor)).count();
    if wrong > 0 {
        sentences.push(vec![
            strong("Caution"),
            plain(format!(
                ": {wrong} of {} comparisons of the baseline with itself differ, so do not rely on differences of that size.",
                floors.len()
            )),
        ]);
    }
    sentences
}

/// Returns the number of blocks that a comparison has, and that it needs for a claim; `None` if it has enough.
fn blocks_needed(verdict: &Verdict) -> Option<(u32, u32)> {
    let answer = verdict.answer.as_ref()?;
    match answer.conclusion {
        Conclusion::TooFew { needs } => Some((answer.n, needs)),
        _ => None,
    }
}

/// Returns that no comparison has enough blocks for a claim.
fn too_few(scene: &Scene<'_>) -> Option<Sentence> {
    let compared = scene.document.verdicts.iter().filter(|of| of.kind == VerdictKind::Comparison);
    let (n, needs) = compared.filter_map(blocks_needed).max_by_key(|(_, needs)| *needs)?;
    Some(vec![strong("No verdict"), plain(format!(": a claim needs {needs} blocks, and there are {n}."))])
}

fn is_claim(verdict: &Verdict) -> bool {
    verdict.answer.as_ref().is_some_and(|answer| answer.conclusion.differs())
}

/// Returns the direction of a conclusion; `None` without a claim.
fn kind(verdict: &Verdict) -> Option<(bool, bool)> {
    match verdict.answer.as_ref()?.conclusion {
        Conclusion::Higher { better, .. } => Some((true, better)),
        Conclusion::Lower { better, .. } => Some((false, better)),
        Conclusion::Equivalent { .. } => Some((false, true)),
        Conclusion::Inconclusive { .. } | Conclusion::TooFew { .. } => None,
    }
}

/// Returns a verdict as a sentence, with the numbers of its text; `None` if a side has no series.
fn sentence(scene: &Scene<'_>, verdict: &Verdict) -> Option<Sentence> {
    let treatment = &scene.series_of(&verdict.treatment.cell)?.series;
    let baseline = &scene.series_of(&verdict.baseline.cell)?.series;
    let point = point_words(scene, &verdict.treatment.cell);
    let at = if point.is_empty() { String::new() } else { format!("With {point}, ") };
    let metric = metric_words(verdict);
    let begin = if at.is_empty() { crate::figures::frame::capital("the ") } else { format!("{at}the ") };
    let words = verdict.words();
    let brackets = prose(&words.brackets());
    let ConclusionWords { conclusion, detail, .. } = words;
    let (name, other) = (Words::Name(treatment.clone()), Words::Name(baseline.clone()));
    if let Some(why) = &verdict.withheld {
        return Some(vec![
            plain(format!("{begin}{metric} of ")),
            name,
            plain(" has "),
            strong("no verdict"),
            plain(format!(": {why}.")),
        ]);
    }
    let answer = verdict.answer.as_ref()?;
    if let Some((of, against)) = verdict.arrived_pct().filter(|_| answer.conclusion.differs()) {
        let share = |pct: f64| format!("{} %", results::format_value(pct));
        return Some(vec![
            plain(format!("{begin}{metric} is ")),
            strong(share(of)),
            plain(" with "),
            name,
            plain(format!(" instead of {} with ", share(against))),
            other,
            plain(format!(" {brackets}.")),
        ]);
    }
    Some(match &answer.conclusion {
        Conclusion::Higher { .. } | Conclusion::Lower { .. } => {
            let change = results::format_value(answer.change_pct.unwrap_or_default().abs());
            let is_higher = matches!(answer.conclusion, Conclusion::Higher { .. });
            let direction = direction(verdict.metric, is_higher);
            let within = if detail.is_empty() { detail } else { format!(", and {detail}") };
            vec![
                plain(format!("{begin}{metric} of ")),
                name,
                plain(" is "),
                strong(format!("{change} % {direction}")),
                plain(" than that of "),
                other,
                plain(format!("{within} {brackets}.")),
            ]
        }
        Conclusion::Equivalent { .. } => vec![
            plain(format!("{begin}{metric} of ")),
            name,
            plain(" and "),
            other,
            plain(" is "),
            strong(conclusion),
            plain(format!(" {brackets}.")),
        ],
        Conclusion::Inconclusive { could_have_seen_pct } => {
            let seen = match could_have_seen_pct {
                _ if verdict.host_explains => format!(": {} {brackets}", prose(&detail)),
                None => format!(" {brackets}"),
                Some(pct) => match results::shown_effect(*pct) {
                    Some(effect) => format!(": one below {effect} would not have been seen"),
                    None => ": even one of 10x would not have been seen".to_owned(),
                },
            };
            vec![
                plain(format!("{begin}difference in {metric} between ")),
                name,
                plain(" and "),
                other,
                plain(" is "),
                strong(conclusion),
                plain(format!("{seen}.")),
            ]
        }
        Conclusion::TooFew { .. } => vec![
            plain(format!("{begin}{metric} of ")),
            name,
            plain(" and "),
            other,
            plain(" has "),
            strong(format!("{conclusion} for a claim")),
            plain(format!(": {detail}.")),
        ],
    })
}

/// Returns the direction of a difference; a time is shorter or longer.
fn direction(metric: Metric, is_higher: bool) -> &'static str {
    match (is_higher, metric.unit()) {
        (true, "ns") => "longer",
        (true, _) => "higher",
        (false, "ns") => "shorter",
        (false, _) => "lower",
    }
}

fn metric_words(verdict: &Verdict) -> String {
    let of_flow = verdict.flow.as_ref().map_or_else(String::new, |flow| format!(" of flow `{flow}`"));
    let words = match verdict.metric {
        Metric::RttP50 => "median round trip",
        Metric::RttP99 => "99 % round trip",
        Metric::ResponseP50 => "median response time",
        Metric::ResponseP99 => "99 % response time",
        _ => return verdict.metric_name(),
    };
    format!("{words}{of_flow}")
}

/// Returns the values of these runs, the most important findings, and why nothing is claimed.
fn from_values(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> = Vec::new();
    let workloads = [
        (Workload::Latency, Metric::RttP50, false),
        (Workload::Throughput, Metric::Delivered, false),
        (Workload::Throughput, Metric::Goodput, true),
        (Workload::Paced, Metric::ResponseP50, false),
        (Workload::Search, Metric::Ndr, false),
        (Workload::Search, Metric::Headroom, false),
        (Workload::Discovery, Metric::AllMatched, false),
    ];
    let systems = systems::met(scene);
    let asks_for_samples = scene.document.experiment.question.contains("samples per second");
    for (workload, metric, largest) in workloads {
        let is_other = match metric {
            // The response times of all topics together depend on which one sends most.
            Metric::ResponseP50 => systems.is_some(),
            Metric::Delivered => !asks_for_samples,
            Metric::Goodput => asks_for_samples,
            _ => false,
        };
        if is_other {
            continue;
        }
        let all = scene.of_workload(workload);
        sentences.extend(values(scene, &at_one_size(&all, largest), metric));
    }
    sentences.splice(0..0, systems);
    sentences.truncate(2);
    sentences.splice(0..0, endpoints::sentences(scene));
    let findings = parts::findings(scene.document).items.into_iter();
    // Laws are sentences of their own.
    let is_law = |text: &String| {
        let findings = &scene.document.findings;
        findings.iter().any(|finding| finding.growth.is_some() && finding.headline == *text)
    };
    let short = findings.filter(|(text, _)| text.chars().count() <= MOST_OF_FINDING && !is_law(text));
    let room = (MOST - 1).saturating_sub(sentences.len());
    sentences.extend(short.take(room).map(|(text, _)| vec![plain(prose(&text))]));
    let has_baseline = !scene.document.experiment.design.baseline.is_empty();
    let several = scene.series.len() > 1;
    if several && !has_baseline && !sentences.is_empty() {
        sentences.push(vec![plain(
            "This describes these runs; a claim about the next ones needs a baseline, such as `--baseline driver=NAME`.",
        )]);
    }
    sentences
}

/// Returns the medians of cells as a sentence; `None` without values.
fn values(scene: &Scene<'_>, focus: &[(&Series, &CellResult)], metric: Metric) -> Option<Sentence> {
    let quantity = Quantity::Metric(metric);
    let words = match metric {
        Metric::RttP50 => "the median round trip took",
        Metric::ResponseP50 => "the median response time was",
        Metric::AllMatched => "all were matched after",
        Metric::Goodput => "the throughput was",
        Metric::Delivered => "the delivered rate was",
        Metric::Headroom => "the headroom, the highest scale of all rates, was",
        _ => "the rate without loss was",
    };
    let value = |(series, cell): &(&Series, &CellResult)| {
        let median = quantity.over_runs(cell)?.value;
        let text = strong(charts::number::value(median, quantity.unit()));
        let mut words = vec![text, plain(" with "), Words::Name((*series).clone())];
        words.extend(search::headroom_of(cell).map(plain));
        Some((median, words))
    };
    let known: Vec<&CellResult> =
        focus.iter().filter(|of| value(of).is_some()).map(|(_, cell)| *cell).collect();
    let point = point_words(scene, &known.first()?.id);
    let at = if point.is_empty() { "In these runs".to_owned() } else { format!("With {point}") };
    let runs = per_cell(scene, &known);
    listed(format!("{at}, {words} "), focus.iter().filter_map(value).collect(), metric.better(), &runs)
}

/// Returns values as a sentence that ends with `each` in brackets; of many, the best and the worst. `None` without values.
fn listed(begin: String, mut found: Vec<(f64, Vec<Words>)>, better: Better, each: &str) -> Option<Sentence> {
    let (all, mut among) = (found.len(), String::new());
    if all > MOST_NAMED {
        found.sort_by(|left, right| match better {
            Better::Less => left.0.total_cmp(&right.0),
            Better::More => right.0.total_cmp(&left.0),
        });
        let worst = found.pop()?;
        found = vec![found.swap_remove(0), worst];
        among = format!(", the best and the worst of {all}");
    }
    let last = found.len().checked_sub(1)?;
    let mut sentence = vec![plain(begin)];
    for (index, (_, words)) in found.into_iter().enumerate() {
        let joint = if index == last { " and " } else { ", " };
        sentence.extend((index > 0).then(|| plain(joint)));
        sentence.extend(words);
    }
    sentence.push(plain(format!("{among} ({each}).")));
    Some(sentence)
}

fn per_cell(scene: &Scene<'_>, cells: &[&CellResult]) -> String {
    let runs = scene.runs_per_cell(cells);
    if cells.len() > 1 && runs != "1 run" { format!("{runs} each") } else { runs }
}
