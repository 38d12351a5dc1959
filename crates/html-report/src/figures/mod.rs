//! Choice of the charts of a page, from the factors that vary.

pub(crate) mod choice;
pub(crate) mod cost;
pub(crate) mod distribution;
pub(crate) mod flows;
pub(crate) mod frame;
pub(crate) mod heat;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod overlay;
pub(crate) mod processes;
pub(crate) mod scaling;
pub(crate) mod search;
pub(crate) mod sizes;
pub(crate) mod time;
pub(crate) mod topology;
pub(crate) mod verdicts;

use charts::ChartKind;
use experiment::Workload;
use limits::MOST_POINTS;

use crate::{
    page::{Figure, Section},
    scene::Scene,
};

/// Heading of the charts over the number of endpoints.
const ENDPOINTS: &str = "What does one more endpoint cost?";

/// Returns the charts of a page under their headings, and what is left out.
pub(crate) fn sections(scene: &Scene<'_>) -> (Vec<Section>, Vec<String>) {
    let mut omitted = Vec::new();
    let latency = scene.of_workload(Workload::Latency);
    let throughput = scene.of_workload(Workload::Throughput);
    let paced = scene.of_workload(Workload::Paced);
    let all = [&latency, &throughput, &paced].into_iter().flatten();
    let most = all.map(|(_, cells)| cells.len()).max().unwrap_or(0);
    if most > MOST_POINTS {
        omitted.push(format!(
            "Lines have at most {MOST_POINTS} points, spread over all of up to {most} cells of a configuration; tables have all."
        ));
    }
    // Of a mix, each flow has its own values; those of all together depend on which one sends most.
    let flows = flows::figures(scene, &paced);
    let published = |figure: Option<Figure>| figure.into_iter().collect::<Vec<_>>();
    let mut sections = vec![
        Section { heading: "How much is the difference, and is it real?", figures: verdicts::figures(scene) },
        Section {
            heading: "How long does a sample take?",
            figures: [
                distribution::latency(scene, &latency),
                sizes::latency(scene, &latency),
                published(overlay::bars(scene, &latency, "published-latency", overlay::RTT)),
                time::figures(scene, Workload::Latency),
            ]
            .concat(),
        },
        Section {
            heading: "How long does a sample take under load?",
            figures: [
                load::response(scene, &paced),
                if flows.is_empty() { distribution::paced(scene, &paced) } else { flows },
                load::delivered(scene, &paced),
                time::figures(scene, Workload::Paced),
            ]
            .concat(),
        },
        Section {
            heading: match throughput.is_empty() {
                true => "What does it cost?",
                false => "How much gets through, and what does it cost?",
            },
            figures: [
                sizes::throughput(scene, &throughput),
                published(overlay::bars(scene, &throughput, "published-throughput", overlay::GOODPUT)),
                distribution::throughput(scene, &throughput),
                time::rates(scene, &throughput),
                cost::figures(scene, &throughput, &latency),
                processes::figures(scene, &paced),
            ]
            .concat(),
        },
        Section { heading: ENDPOINTS, figures: [scaling::figures(scene), topology::figures(scene)].concat() },
        Section {
            heading: "Which rate is sustained?",
            figures: search::figures(scene, &scene.of_workload(Workload::Search)),
        },
        Section {
            heading: "How long does discovery take?",
            figures: scaling::discovery(scene, &scene.of_workload(Workload::Discovery)),
        },
    ];
    with_runs(&mut sections);
    // If the number of endpoints varies, that is the question.
    if let Some(at) =
        sections.iter().position(|section| section.heading == ENDPOINTS && !section.figures.is_empty())
    {
        sections[1..=at].rotate_right(1);
    }
    for section in &mut sections {
        section.figures.retain(|figure| !is_empty(figure));
    }
    sections.retain(|section| !section.figures.is_empty());
    (sections, omitted)
}

/// Moves the first chart of single runs beside the verdicts, if there are any.
fn with_runs(sections: &mut [Section]) {
    let [verdicts, others @ ..] = sections else { return };
    if verdicts.figures.is_empty() {
        return;
    }
    let is_strip = |figure: &Figure| matches!(figure.chart.kind, ChartKind::RunStrip(_));
    if let Some(section) = others.iter_mut().find(|section| section.figures.iter().any(is_strip))
        && let Some(index) = section.figures.iter().position(is_strip)
    {
        verdicts.figures.push(section.figures.remove(index));
    }
}

/// Returns whether a chart has no marks.
fn is_empty(figure: &Figure) -> bool {
    match &figure.chart.kind {
        ChartKind::Forest(forest) => forest.rows.is_empty(),
        ChartKind::RunStrip(strip) => strip.series.iter().all(|series| series.runs.is_empty()),
        ChartKind::Percentiles(of) => of.series.iter().all(|series| series.median.is_empty()),
        ChartKind::Lines(lines) => {
            lines.panels.iter().all(|panel| panel.lines.iter().all(|line| line.points.is_empty()))
        }
        ChartKind::Timeline(timeline) => timeline.panels.is_empty(),
        ChartKind::Bars(bars) => bars.groups.is_empty(),
        ChartKind::Heat(heat) => heat.rows.is_empty(),
        ChartKind::Trials(trials) => trials.searches.is_empty(),
    }
}
