//! Averages of settings beside published ones, in results of the simulated middleware.

use experiment::{
    BuiltInFigures, Cell, Design, Factors, Plan, Policy, PolicySupport, Qos, Reliability, Support, Topology,
    Workload,
};
use report::{
    ScreenOptions, first_screen, markdown, overlay_tables,
    parts::{Span, costs_in_brief, costs_in_words},
};
use results::{CellResult, Measurement, ResultDocument, Run};
use simulate::{HostModel, RunVariation, Simulator};

use crate::print;

const MS: u64 = 1_000_000;
/// Settings with their true effects; the published figures are by these names.
const SETTINGS: [(&str, f64); 7] = [
    ("default", 0.0),
    ("deadline-10s", 0.1),
    ("lifespan-100ms", 0.2),
    ("ownership-shared", 0.0),
    ("partition", 0.0),
    ("transport-priority-1", 0.0),
    ("of-our-own", 0.3),
];

fn cell(setting: &str, in_flight: Option<u32>) -> Cell {
    let factors = Factors {
        driver: "sim".to_owned(),
        transport: "local".to_owned(),
        workload: Workload::Latency,
        size_bytes: 64,
        topology: Topology::Ring { nodes: 2 },
        in_flight,
        profile: Some(setting.to_owned()),
        qos: Qos { reliability: Some(Reliability::Reliable), ..Qos::default() },
        options: [("latency".to_owned(), "20us".to_owned())].into(),
        ..Factors::default()
    };
    Cell { id: format!("{}/{setting}", in_flight.unwrap_or(1)), factors }
}

/// Returns a result of the first settings; runs differ by 1 %.
fn measured(settings: usize) -> ResultDocument {
    let settings = &SETTINGS[..settings];
    let of = |in_flight: Option<u32>| settings.iter().map(move |(name, _)| cell(name, in_flight));
    let cells: Vec<Cell> = of(None).chain(of(Some(16))).collect();
    let design = Design {
        blocks: 12,
        seed: 37,
        baseline: vec!["1/default".to_owned(), "16/default".to_owned()],
        measure_ns: 2 * MS,
        windows: 2,
        check_every: 1,
        ..Design::default()
    };
    let plan = Plan {
        name: "costs".to_owned(),
        question: "What does it cost?".to_owned(),
        cells,
        design,
        ..Plan::default()
    };
    let between = RunVariation { drift: 0.0, sd: 0.01, autocorrelation: 0.0 };
    let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
    let mut document = simulator.experiment(&plan).expect("options");
    // cells of one table have the same driver options, so the effects are planted in the runs
    for cell in &mut document.cells {
        let setting = cell.factors.profile.as_deref();
        let effect = settings.iter().find(|(name, _)| Some(*name) == setting).expect("a setting").1;
        cell.runs.iter_mut().for_each(|run| slow(run, 1.0 + effect));
    }
    document.verdicts = verdicts::judge(&document);
    document
}

/// Makes all times of a run longer by a factor.
fn slow(run: &mut Run, factor: f64) {
    let rtt = run.latency.get_mut("rtt").expect("round trips");
    for quantile in [&mut rtt.p50_ns, &mut rtt.p99_ns] {
        *quantile = quantile.map(|ns| (ns as f64 * factor).round() as u64);
    }
    let Some(Measurement::Latency { ring: Some(ring), .. }) = &mut run.measured else { panic!("no ring") };
    for time in [&mut ring.per_hop_mean_ns, &mut ring.per_sample_hop_ns] {
        *time = time.map(|ns| ns * factor);
    }
}

fn beside_the_study(settings: usize) -> ResultDocument {
    let mut document = measured(settings);
    let figures = BuiltInFigures::find("seed-003").expect("the figures of the study");
    document.show_published(figures.beside(&document.experiment));
    document
}

/// Returns the entries of the row of a setting below a heading.
fn row(text: &str, heading: &str, setting: &str) -> Vec<f64> {
    let table = text.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}: {text}"));
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row =
        lines.find(|words| words.first() == Some(&setting)).unwrap_or_else(|| panic!("{setting}: {table}"));
    row[1..].iter().map(|entry| entry.parse().unwrap_or(f64::NAN)).collect()
}

const ROUND_TRIP: &str = "Averages beside published ones: sim\n";
const FLOOD: &str = "Averages beside published ones: sim with 16 in flight\n";

/// Published: `deadline 10s` 344 and 341 of 333 and 334 (setup 4), and 106.8, 120.9 and 104 of 137.8, 166.4 and 134.2 (flood); `lifespan
/// 100ms` 526 and 532 of 525 and 518 (setup 3).
#[test]
fn averages_are_relative_to_the_default_of_the_same_execution() {
    let document = beside_the_study(7);
    for text in [print(&document), overlay_tables(&document, None)] {
        let near = |found: &[f64], expected: &[Option<f64>], within: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}: {text}");
            for ((found, expected), within) in found.iter().zip(expected).zip(within) {
                match expected {
                    Some(expected) => {
                        assert!((found - expected).abs() <= *within, "{found}: {expected}: {text}");
                    }
                    None => assert!(found.is_nan(), "{found}: {text}"),
                }
            }
        };
        let (measured, published) = (2.0, 0.06);
        let within = [measured, measured, published, published, published, published];
        let deadline = [Some(10.0), Some(10.0), None, None, Some(3.3), Some(2.1)];
        near(&row(&text, ROUND_TRIP, "deadline-10s"), &deadline, &within);
        let lifespan = [Some(20.0), Some(20.0), Some(0.19), Some(2.7), Some(3.3), Some(4.5)];
        near(&row(&text, ROUND_TRIP, "lifespan-100ms"), &lifespan, &within);
        let flood = [Some(10.0), Some(10.0), Some(-22.5), Some(-27.3), Some(-22.5)];
        near(
            &row(&text, FLOOD, "deadline-10s"),
            &flood,
            &[measured, measured, published, published, published],
        );
        let tables =
            text.split(ROUND_TRIP).nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a table");
        assert!(!tables.contains("of-our-own"), "the study has no such setting: {tables}");
    }
    let markdown = markdown(&document);
    assert!(markdown.contains("**Averages beside published ones: sim**"), "{markdown}");
}

/// The correlations of the executions are of all settings of the study, as its tables have them: 0.42 in setup 3, 0.08 in the flood. Ours are
/// those of the planted effects, which both halves of the blocks have.
#[test]
fn correlation_of_executions_is_beside_that_of_our_halves() {
    let words = costs_in_words(&beside_the_study(7));
    let of = |start: &str| {
        let mut sentences = words.iter().filter(|sentence| sentence.starts_with(start));
        sentences.next().unwrap_or_else(|| panic!("{start}: {words:?}"))
    };
    let round_trip = of("Averages of odd and of even blocks correlate over 7 settings with r = ");
    for expected in [
        "r = 1.00.",
        "QoS study, setup 3: second execution r = 0.42 over 37 settings",
        "QoS study, setup 4: second execution r = 0.93 over 39 settings",
    ] {
        assert!(round_trip.contains(expected), "{expected}: {round_trip}");
    }
    let flood =
        of("Averages of odd and of even blocks with 16 in flight correlate over 7 settings with r = ");
    let expected = "QoS study, flood: second execution r = 0.08 over 35 settings, third execution r = 0.38 over 35 settings.";
    assert!(flood.contains(expected), "{flood}");
}

#[test]
fn results_of_another_kind_and_results_without_overlay_have_no_published_averages() {
    // four settings are a list of verdicts, not a table of costs
    for document in [measured(7), beside_the_study(5)] {
        let text = format!("{}{}", print(&document), markdown(&document));
        assert!(!text.contains("Averages beside published ones"), "{text}");
        let words = costs_in_words(&document);
        assert!(words.iter().all(|sentence| !sentence.contains("ublished")), "{words:?}");
    }
}

/// One round trip of five waits for acknowledgements of a full writer: the median hides it.
#[test]
fn writer_that_waits_for_room_is_named_with_its_mean_and_median() {
    let waiting = |support: Support, mean_ns: f64| {
        let mut document = measured(7);
        let dds = document.drivers.get_mut("sim").expect("the driver");
        dds.policies.insert(Policy::ResourceLimits, PolicySupport::of_both(support, None));
        let is_limited = |cell: &&mut CellResult| cell.id == "1/ownership-shared";
        let cell = document.cells.iter_mut().find(is_limited).expect("a cell");
        cell.factors.qos.max_samples = Some(5);
        for run in &mut cell.runs {
            let rtt = run.latency.get_mut("rtt").expect("round trips");
            (rtt.p50_ns, rtt.mean_ns) = (Some(100_000), mean_ns);
        }
        costs_in_words(&document)
            .into_iter()
            .filter(|words| words.starts_with("A writer that is full"))
            .collect()
    };
    let found: Vec<String> = waiting(Support::Enforced, 1_100_000.0);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].ends_with("ownership-shared (room for 5: mean RTT 1100 µs, median 100 µs)."),
        "{found:?}"
    );
    assert!(waiting(Support::Enforced, 110_000.0).is_empty(), "a mean near the median");
    assert!(waiting(Support::Ignored, 1_100_000.0).is_empty(), "writers without limits");
}

/// Returns the result with these shares of round trips lost, in percent, by cell.
fn with_losses(losses: &[(&str, f64)]) -> ResultDocument {
    let mut document = measured(7);
    for (id, pct) in losses {
        let cell = document.cells.iter_mut().find(|cell| cell.id == *id).expect("a cell");
        for flow in cell.runs.iter_mut().flat_map(|run| &mut run.flows) {
            let (offered, counted) = (100_000_u64, &mut flow.counted);
            (flow.offered, counted.sent) = (offered, offered);
            counted.lost = (offered as f64 * pct / 100.0).round() as u64;
            (counted.delivered, counted.undelivered) = (offered - counted.lost, 0);
        }
    }
    document.verdicts = verdicts::judge(&document);
    // Times of what arrived are no verdict on a setting that lost.
    for verdict in &mut document.verdicts {
        if losses.iter().any(|(id, _)| verdict.treatment.cell == *id) {
            verdict.answer = None;
        }
    }
    document
}

#[test]
fn setting_that_lost_is_named_once_with_the_share_that_it_lost() {
    let both = [
        ("1/partition", 50.0),
        ("16/partition", 99.999),
        ("1/lifespan-100ms", 100.0),
        ("16/lifespan-100ms", 100.0),
    ];
    let words = costs_in_words(&with_losses(&both));
    let lost: Vec<&String> = words.iter().filter(|words| words.starts_with("No time")).collect();
    let [lost] = &lost[..] else { panic!("one sentence: {words:?}") };
    assert!(lost.starts_with("No time, because round trips were lost: "), "{lost}");
    assert!(
        lost.contains("partition (50.0 to over 99.9 %)") && lost.contains("lifespan-100ms (100 %)"),
        "{lost}"
    );
    assert_eq!(lost.matches("partition").count() + lost.matches("lifespan").count(), 2, "{lost}");
}

/// The answer about one driver does not hide that about another.
#[test]
fn answers_of_all_drivers_are_first() {
    let mut document = measured(7);
    let others: Vec<CellResult> = document
        .cells
        .iter()
        .map(|cell| {
            let mut other = cell.clone();
            other.id = format!("other/{}", cell.id);
            other.factors.driver = "other".to_owned();
            other
        })
        .collect();
    document.cells.extend(others);
    let baseline = &mut document.experiment.design.baseline;
    baseline.extend(["other/1/default".to_owned(), "other/16/default".to_owned()]);
    document.experiment.cells.extend(
        document
            .cells
            .iter()
            .filter(|cell| cell.id.starts_with("other"))
            .map(|cell| Cell { id: cell.id.clone(), factors: cell.factors.clone() }),
    );
    document.verdicts = verdicts::judge(&document);
    let words = costs_in_words(&document);
    assert!(words[0].starts_with("sim: ") && words[1].starts_with("other: "), "{words:?}");
    assert!(
        words.iter().all(|words| words.starts_with("sim: ") || words.starts_with("other: ")),
        "{words:?}"
    );
}

/// The answer is read in seconds: it names the settings with the largest effects, and says where the others are.
#[test]
fn sentence_names_the_three_largest_effects_and_where_the_others_are() {
    let mut document = measured(7);
    for (setting, effect) in [("partition", 0.5), ("ownership-shared", 0.4)] {
        let cells = document.cells.iter_mut().filter(|cell| cell.factors.profile.as_deref() == Some(setting));
        cells.flat_map(|cell| &mut cell.runs).for_each(|run| slow(run, 1.0 + effect));
    }
    document.verdicts = verdicts::judge(&document);
    let in_place = |text: &str, place: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let answer = words.split("5 of 6 settings are shown to matter: ").nth(1).expect("an answer");
        let (named, _) = answer.split_once(&format!(" and 2 more, {place}")).unwrap_or_else(|| {
            panic!("{place}: {answer}");
        });
        let order = ["partition (", "ownership-shared (", "of-our-own ("].map(|setting| named.find(setting));
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{named}");
        assert!(!named.contains("lifespan-100ms") && !named.contains("deadline-10s"), "{named}");
    };
    in_place(&costs_in_words(&document)[0], "in the table below.");
    in_place(&print(&document), "in the table below.");
    in_place(&first_screen(&document, ScreenOptions::default()), "in the table of `--full`.");
    in_place(&markdown(&document), "in the table above.");
}

fn brief(document: &ResultDocument) -> Vec<String> {
    let text = |spans: &Vec<Span>| spans.iter().map(|span| span.text.as_str()).collect::<String>();
    costs_in_brief(document).iter().map(text).collect()
}

/// Six settings cost more than the two that are named, and one of them is quicker in one metric; another one is quicker only.
#[test]
fn answer_names_the_largest_changes_for_the_worse_and_counts_the_others() {
    let mut document = measured(7);
    let effects =
        [("deadline-10s", 0.1), ("lifespan-100ms", -0.6), ("ownership-shared", 0.4), ("partition", 0.5)];
    for cell in &mut document.cells {
        let setting = cell.factors.profile.clone().unwrap_or_default();
        for (_, effect) in effects.iter().filter(|(name, _)| *name == setting) {
            let planted = SETTINGS.iter().find(|(name, _)| *name == setting).expect("a setting").1;
            cell.runs.iter_mut().for_each(|run| slow(run, (1.0 + effect) / (1.0 + planted)));
        }
    }
    document.verdicts = verdicts::judge(&document);
    let words = brief(&document);
    assert!(words.len() <= 4, "{words:?}");
    let answer = &words[0];
    assert!(answer.starts_with("sim: 4 of 6 settings are worse: partition ("), "{answer}");
    assert!(answer.contains(") and 2 more; 1 is better: lifespan-100ms ("), "{answer}");
    // what is left out is not worse than what is named
    assert!(!answer.contains("of-our-own") && !answer.contains("deadline-10s"), "{answer}");
    assert!(answer.contains(", ownership-shared ("), "{answer}");
    assert_eq!(answer.matches(" %)").count(), 3, "one change for each: {answer}");
}

/// A setting with which nothing arrives is worse than all others, so the answer has it whatever else it says.
#[test]
fn answer_names_settings_that_lost_for_any_number_of_drivers() {
    let lost = with_losses(&[("1/partition", 100.0), ("16/partition", 100.0)]);
    for drivers in [1, 2, 3, 5] {
        let mut document = lost.clone();
        document.experiment.cells.clear();
        document.cells.clear();
        let baseline = std::mem::take(&mut document.experiment.design.baseline);
        let mut verdicts = Vec::new();
        for driver in 0..drivers {
            let name = |id: &str| format!("d{driver}/{id}");
            document.cells.extend(lost.cells.iter().map(|cell| {
                let mut cell = cell.clone();
                (cell.id, cell.factors.driver) = (name(&cell.id), format!("d{driver}"));
                cell
            }));
            document.experiment.design.baseline.extend(baseline.iter().map(|id| name(id)));
            verdicts.extend(lost.verdicts.iter().map(|verdict| {
                let mut verdict = verdict.clone();
                verdict.treatment.cell = name(&verdict.treatment.cell);
                verdict.baseline.cell = name(&verdict.baseline.cell);
                verdict
            }));
        }
        document.verdicts = verdicts;
        let words = brief(&document);
        assert!((2..=4).contains(&words.len()), "{words:?}");
        assert!(
            words.iter().any(
                |words| words.starts_with("No time, because round trips were lost: d0 partition (100 %)")
            ),
            "{words:?}"
        );
        let text = words.join(" ");
        assert!((0..drivers).all(|driver| text.contains(&format!("d{driver}: "))), "{text}");
    }
}
