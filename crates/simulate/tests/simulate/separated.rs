//! Groups of simulated runs, and the recorded setting that separates them.

use experiment::{Cell, Design, Workload};
use results::{Metric, ModesBy, Run};
use simulate::Simulator;

use crate::rig::{MS, cell, design, experiment_of};

/// Measures a cell with two groups of runs and a baseline without groups, 24 blocks. `record` changes the record of
/// each run.
fn modes_by(seed: u64, record: impl Fn(&mut Run)) -> (ModesBy, String) {
    let one = |id: &str, modes: &str| Cell {
        id: id.to_owned(),
        ..cell(Workload::Latency, true, 0, &[("latency", "lognormal:20us,0.01"), ("modes", modes)])
    };
    let cells = vec![one("baseline", "1"), one("treatment", "0.6*1+0.4*1.5")];
    let design =
        Design { blocks: 24, seed, warm_up_ns: 0, baseline: vec!["baseline".to_owned()], ..design(5 * MS) };
    let mut document = Simulator::new().experiment(&experiment_of(cells, design)).expect("options");
    for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs) {
        run.environment_padding_bytes = Some(run.number * 7919 % 4096);
        record(run);
    }
    let verdict = verdicts::judge(&document)
        .into_iter()
        .find(|verdict| verdict.treatment.cell == "treatment" && verdict.metric == Metric::RttP50)
        .expect("a verdict");
    assert_eq!(verdict.treatment.modes.len(), 2, "{}", verdict.text);
    (verdict.treatment.modes_by.expect("groups"), verdict.text)
}

/// The driver reports the mode factor of each run.
#[test]
fn the_setting_that_makes_the_groups_is_named() {
    for seed in [3, 4, 5] {
        let (by, text) = modes_by(seed, |_| {});
        assert_eq!(by.separating.len(), 1, "{by:?}");
        assert_eq!(by.separating[0].field, "setting writer.mode of the pinger");
        assert!(text.contains(", told apart by setting writer.mode of the pinger (1, then 1.5)"), "{text}");
    }
}

#[test]
fn where_it_is_not_recorded_nothing_is_named() {
    for seed in [3, 4, 5] {
        let (by, text) =
            modes_by(seed, |run| run.endpoints.iter_mut().for_each(|endpoint| endpoint.settings.clear()));
        assert!(by.tested >= 2 && by.enough_runs && by.separating.is_empty(), "{by:?}");
        assert!(text.contains(&format!(", told apart by none of {} recorded fields", by.tested)), "{text}");
    }
}
