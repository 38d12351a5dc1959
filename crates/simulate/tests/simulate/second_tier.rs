//! Second tier: settings over bases, through the shipped path.

use experiment::{Cell, Design, Plan, SecondTier, Workload};
use results::{EffectOverBases, Metric, ResultDocument, VerdictKind};
use simulate::{HostModel, RunVariation, Simulator};

use crate::rig::{MS, cell, design, experiment_of};

/// Fixed before the first result.
const SEED: u64 = 900;
const BLOCKS: u32 = 12;
const BLOCKS_OF_TIER: u32 = 5;
const BASES: [Option<&str>; 2] = [None, Some("loose")];
/// Effect of the setting `slow`.
const EFFECT: f64 = 0.1;
const SETTINGS: [&str; 7] = ["default", "a", "b", "c", "d", "e", "slow"];
const BETWEEN: RunVariation = RunVariation { drift: 0.0, sd: 0.01, autocorrelation: 0.0 };

fn id(base: Option<&str>, setting: &str) -> String {
    format!("{}/{setting}", base.unwrap_or("default"))
}

fn experiment() -> Plan {
    let one = |base: Option<&str>, setting: &str| {
        let factor = if setting == "slow" { 1.0 + EFFECT } else { 1.0 };
        let latency = format!("lognormal:{}ns,0.03", (20_000.0 * factor).round());
        let mut cell = cell(Workload::Latency, true, 0, &[("latency", &latency)]);
        cell.factors.profile = Some(setting.to_owned());
        cell.factors.base = base.map(str::to_owned);
        Cell { id: id(base, setting), ..cell }
    };
    let cells = BASES.iter().flat_map(|base| SETTINGS.map(|setting| one(*base, setting))).collect();
    let loose = SETTINGS.map(|setting| id(BASES[1], setting));
    let design = Design {
        blocks: BLOCKS,
        seed: SEED << 32,
        baseline: vec![id(None, "default")],
        second_tier: Some(SecondTier {
            baseline: vec![loose[0].clone()],
            cells: loose.to_vec(),
            blocks: BLOCKS_OF_TIER,
        }),
        warm_up_ns: 0,
        windows: 4,
        ..design(2 * MS)
    };
    experiment_of(cells, design)
}

fn measured() -> ResultDocument {
    let mut simulator = Simulator::on(HostModel { between: BETWEEN, ..HostModel::default() });
    let mut document = simulator.experiment(&experiment()).expect("options");
    document.verdicts = verdicts::judge(&document);
    document.over_bases = verdicts::over_bases(&document);
    document
}

#[test]
fn effect_over_all_bases_is_found_and_no_claim_is_made_about_the_second_tier() {
    let document = measured();
    for cell in &document.cells {
        let of_tier = cell.id.starts_with("loose");
        let expected = if of_tier { BLOCKS_OF_TIER } else { BLOCKS };
        let twins = if cell.id == id(None, "default") { 2 } else { 1 };
        assert_eq!(cell.runs.len() as u32, expected * twins, "{}", cell.id);
    }
    let compared = document.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison);
    let claimed: Vec<&str> = compared.map(|verdict| verdict.treatment.cell.as_str()).collect();
    assert!(claimed.contains(&"default/slow"), "{claimed:?}");
    assert!(claimed.iter().all(|cell| cell.starts_with("default/")), "{claimed:?}");

    let of = |setting: &str| -> &EffectOverBases {
        let cell = id(None, setting);
        let mut found = document.over_bases.iter();
        let is_of = |effect: &&EffectOverBases| effect.cell == cell && effect.metric == Metric::RttP50;
        found.find(is_of).unwrap_or_else(|| panic!("{setting} is missing"))
    };
    let slow = of("slow");
    assert!((slow.change_pct - 100.0 * EFFECT).abs() < 2.0, "{slow:?}");
    assert!(slow.p_exploratory <= 0.05, "{slow:?}");
    assert_eq!(slow.n, 2 * BLOCKS_OF_TIER);
    let bases: Vec<(&str, u32)> = slow.bases.iter().map(|base| (base.base.as_str(), base.n)).collect();
    assert_eq!(bases, [("default", BLOCKS_OF_TIER), ("loose", BLOCKS_OF_TIER)]);
    for setting in ["a", "b", "c", "d", "e"] {
        let other = of(setting);
        assert!(other.change_pct.abs() < 2.0 && other.p_exploratory > slow.p_exploratory, "{other:?}");
    }
}

#[test]
fn experiment_without_a_second_tier_has_no_effects_over_bases() {
    let mut plan = experiment();
    plan.cells.truncate(SETTINGS.len());
    plan.design.second_tier = None;
    let document = Simulator::on(HostModel::default()).experiment(&plan).expect("options");
    assert_eq!(verdicts::over_bases(&document), []);
}
