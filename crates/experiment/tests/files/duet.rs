//! Duets: pairs of runs, their cores, and rejections.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Pin, Plan, PlanInputs, ScheduledRun, Source};
use proptest::prelude::*;

use crate::support::{description, drivers};

/// Two sizes of two drivers: two baseline cells, each compared with one other cell.
const FILE: &str = r#"question = "Which?"
workload = "latency"
[factors]
driver = ["bare", "dds"]
size = [32, 64]
[design]
duet = true
baseline = { driver = "bare" }
"#;

fn cores(writer: &[u32], reader: &[u32]) -> Pin {
    Pin::Cores(writer.to_vec(), reader.to_vec())
}

/// Cores of `auto` on a host with 4 cores.
fn four() -> Pin {
    cores(&[0, 1], &[2, 3])
}

/// Returns the plan; or error, marked text and hint.
fn planned(text: &str, sets: &[&str], pin: Pin) -> Result<Plan, [String; 3]> {
    let mut descriptions = drivers();
    descriptions.insert("many".to_owned(), description("many", &["multicast"], &[]));
    let inputs = PlanInputs {
        name: "f",
        descriptions: &descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin,
        hosts: &[],
        seed: 7,
        least_blocks: &results::least_blocks,
    };
    let sets = sets.iter().map(|&set| experiment::Override::set(set)).collect();
    let source = Source { path: "f.toml".to_owned(), text: text.to_owned(), sets };
    source.read().expect("a file").plan(&inputs).map_err(|error| {
        let fault = source.rejected(&error);
        let [line, mark] = fault.excerpt.as_slice() else { panic!("{fault:?}") };
        let marked = line.chars().zip(mark.chars()).filter(|(_, mark)| *mark == '^').map(|(c, _)| c);
        [fault.error, marked.collect(), fault.hint]
    })
}

fn plan(sets: &[&str], pin: Pin) -> Plan {
    planned(FILE, sets, pin).unwrap_or_else(|fault| panic!("{fault:#?}"))
}

/// Returns the duets of a schedule: the run of the baseline, and its partner.
fn duets(schedule: &[ScheduledRun]) -> Vec<[ScheduledRun; 2]> {
    let (duets, rest) = schedule.as_chunks::<2>();
    assert!(rest.is_empty());
    for [one, two] in duets {
        let (first, second) = (one.duet.expect("a duet"), two.duet.expect("a duet"));
        assert_eq!((first.partner, second.partner), (two.number, one.number));
        assert_eq!((one.number + 1, one.block), (two.number, two.block));
        assert_eq!(first.half + second.half, 1, "they have a half each");
        assert!(!one.twin && two.twin == (one.cell == two.cell));
    }
    duets.to_vec()
}

#[test]
fn each_cell_is_made_beside_its_baseline_and_each_baseline_beside_itself() {
    let experiment = plan(&["design.blocks=6"], four());
    let ids: Vec<&str> = experiment.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(
        ids,
        ["bare/udp4/latency/32", "bare/udp4/latency/64", "dds/udp4/latency/32", "dds/udp4/latency/64"]
    );
    let schedule = experiment.schedule();
    assert_eq!((schedule.len(), experiment.runs(), experiment.runs_per_block()), (48, 48, 8));
    let mut orders = BTreeSet::new();
    for block in schedule.chunks(8) {
        let pairs: Vec<_> = duets(block).iter().map(|[one, two]| (one.cell, two.cell)).collect();
        assert_eq!(BTreeSet::from_iter(&pairs), BTreeSet::from([&(0, 0), &(1, 1), &(0, 2), &(1, 3)]));
        orders.insert(pairs);
    }
    assert!(orders.len() > 1, "all blocks have one order");
    let made = experiment.cells.iter().map(|cell| experiment.runs_of(&cell.id)).collect::<Vec<_>>();
    assert_eq!(made, [18, 18, 6, 6]);
    for (cell, made) in made.iter().enumerate() {
        assert_eq!(schedule.iter().filter(|run| run.cell == cell).count(), *made);
    }
    // The two runs of a duet take the time of one.
    let alone = plan(&["design.duet=false", "design.blocks=6"], four());
    assert!(alone.schedule().iter().all(|run| run.duet.is_none()));
    let times = |experiment: &Plan| experiment.design.expected_runs_ns(experiment.runs());
    assert_eq!(times(&experiment) * 36, times(&alone) * 24);
    // A block beyond the schedule has duets too.
    assert_eq!(duets(&experiment.block_again(9, 49)).len(), 4);
}

#[test]
fn core_halves_are_disjoint_and_equal() {
    let eight = cores(&[0, 1, 2, 3], &[4, 5, 6, 7]);
    assert_eq!(four().halves(), Some([cores(&[0], &[2]), cores(&[1], &[3])]));
    assert_eq!(eight.halves(), Some([cores(&[0, 1], &[4, 5]), cores(&[2, 3], &[6, 7])]));
    // Surplus cores stay unused.
    assert_eq!(cores(&[0, 1, 2], &[3, 4]).halves(), Some([cores(&[0], &[3]), cores(&[1], &[4])]));
    for few in [cores(&[0], &[1]), cores(&[0, 1], &[2]), cores(&[0], &[1, 2]), Pin::None] {
        assert_eq!(few.halves(), None);
    }
}

#[test]
fn halves_are_swapped_in_every_block() {
    for pin in [four(), cores(&[0, 1, 2, 3], &[4, 5, 6, 7])] {
        let experiment = plan(&["design.blocks=6"], pin);
        let mut halves: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for [one, two] in duets(&experiment.schedule()) {
            halves.entry((one.cell, two.cell)).or_default().push(two.duet.expect("a duet").half);
        }
        assert_eq!(halves.len(), 4);
        for (pair, halves) in &halves {
            assert!(
                halves.len() == 6 && halves.windows(2).all(|two| two[0] != two[1]),
                "{pair:?}: {halves:?}"
            );
        }
    }
    // The order is drawn: the compared cell does not always start on the same half.
    let first = |seed: u64| {
        let experiment = plan(&[&format!("design.seed={seed}")], four());
        let duets = duets(&experiment.schedule());
        duets
            .iter()
            .find(|[one, two]| (one.cell, two.cell) == (0, 2))
            .map(|[_, two]| two.duet.expect("a duet").half)
    };
    assert_eq!((0..20).map(first).collect::<BTreeSet<_>>(), BTreeSet::from([Some(0), Some(1)]));
}

#[test]
fn duet_on_unsuitable_host_is_rejected_with_cause_and_hint() {
    let of = |pin: Pin| planned(FILE, &[], pin).expect_err("it is refused");
    for (pin, found) in [
        (cores(&[0], &[1]), "the writer has 1, the reader 1"),
        (cores(&[0], &[1, 2]), "the writer has 1, the reader 2"),
        (cores(&[0, 1, 2, 3], &[3, 4, 5, 6]), "writer and reader share cores"),
        (Pin::None, "none is pinned"),
    ] {
        let [error, marked, hint] = of(pin);
        assert_eq!(error, format!("f.toml:7:8: a duet needs 4 cores, two for each end: {found}"));
        assert_eq!(marked, "true");
        assert!(hint.contains("`0-1,2-3`") && hint.contains("leave `duet` out"), "{hint}");
    }

    let with = |text: &str, sets: &[&str]| planned(text, sets, four()).expect_err("it is refused");
    let without = FILE.replace("baseline = { driver = \"bare\" }\n", "");
    let [error, marked, hint] = with(&without, &[]);
    assert!(error.contains("a duet needs a baseline") && hint.contains("baseline = {"), "{error}: {hint}");
    assert_eq!(marked, "true");

    let [error, _, hint] = with(FILE, &["workload=latency,throughput"]);
    assert!(error.contains("`bare/udp4/throughput/32` cannot be measured in a duet"), "{error}");
    assert!(hint.contains("workload `latency` alone"), "{hint}");

    let [error, _, hint] = with(
        FILE,
        &["factors.driver=many", "factors.multicast=[false, true]", "design.baseline.driver=many"],
    );
    assert!(error.contains("`many/udp4-multicast/latency/32` cannot be measured in a duet"), "{error}");
    assert!(hint.contains("multicast = false"), "{hint}");

    // The baseline cells differ in size and driver, so the baseline of this cell is ambiguous.
    let sets = ["factors.include=[{ driver = \"plain\", size = 128 }]"];
    let [error, _, hint] = with(FILE, &sets);
    assert!(error.contains("`plain/udp4/latency/128` has no baseline to be measured beside"), "{error}");
    assert!(hint.contains("choose a baseline for it"), "{hint}");
    // The same file without `duet` is a valid plan.
    for text in [FILE, &without] {
        assert!(planned(text, &["workload=latency,throughput", "design.duet=false"], Pin::None).is_ok());
    }
}

proptest! {
    #[test]
    fn halves_never_share_a_core(writer in 0_u32..9, reader in 0_u32..9) {
        let pin = Pin::Cores((0..writer).collect(), (10..10 + reader).collect());
        let halves = pin.halves();
        prop_assert_eq!(halves.is_some(), writer >= 2 && reader >= 2);
        let all: Vec<u32> = halves.iter().flatten().flat_map(|half| match half {
            Pin::Cores(writer, reader) => [writer.as_slice(), reader].concat(),
            Pin::None => Vec::new(),
        }).collect();
        prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
