//! `cargo validation planted-cost`: whether one of several identical copies of a setting is found that is slowed from outside, and only
//! that one.
//!
//! The copies are QoS profiles that request nothing beside the default. All agents load a library (`tests/preload/slow_send.c`); only those
//! of one copy get a delay, by an environment variable of its cell. The delay is a share of the median round trip of the default, which is
//! measured first. Both runs are ordinary experiments, judged as those of any user: all copies and metrics share the 5 %.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use results::{Conclusion, Metric, ResultDocument, Verdict, VerdictKind};
use stats::{PowerSpec, Rules, median, sample_sd, smallest_effect};

use crate::{
    Error,
    preload::{self, SENDS_PER_ROUND_TRIP, experiment, median_rtts},
    tree::release_programs,
};

/// Claims of each copy: RTT p50 and p99.
const METRICS: usize = 2;
/// Maximum number of blocks that the calibration chooses.
const MOST_BLOCKS: usize = 80;
/// Probability of a claim about the planted cost.
const POWER: f64 = 0.8;

/// Slow one of several identical copies of a setting, and check that it is the only one found
#[derive(Args)]
pub struct PlantedCostArgs {
    /// Driver to measure
    #[arg(long, value_name = "NAME")]
    driver: String,
    /// Number of copies, one of them slowed
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(2..=38))]
    copies: u32,
    /// Copy to slow. By default the one in the middle
    #[arg(long, value_name = "N")]
    slowed: Option<u32>,
    /// Delay in percent of the median round trip of the default
    #[arg(long, value_name = "P", default_value_t = 3.0)]
    percent: f64,
    /// Number of blocks. By default as many as the delay needs for a claim, by the scatter of the calibration
    #[arg(long, value_name = "N")]
    blocks: Option<u32>,
    /// Number of blocks of the calibration
    #[arg(long, value_name = "N", default_value_t = 10)]
    calibration: u32,
    /// Topology: a pair, or a ring
    #[arg(long, value_name = "TOPOLOGY", default_value = "pair")]
    topology: String,
    /// Sample size in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    size: u64,
    /// Measurement time of a run
    #[arg(long, value_name = "TIME", default_value = "200ms")]
    measure: String,
    /// Keep the cores awake with spinning threads of the lowest priority
    #[arg(long)]
    keep_awake: bool,
    /// Directory for the results, to be read with `ddsmark report`. By default they are removed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value_os_t = release_programs(), hide_default_value = true)]
    programs: PathBuf,
}

/// Measures and prints the table. Returns an error if another copy than the slowed one differs, or if the slowed one is not found.
pub fn run(arguments: &PlantedCostArgs) -> Result<(), Error> {
    let slowed = arguments.slowed.unwrap_or(arguments.copies.div_ceil(2));
    if !(1..=arguments.copies).contains(&slowed) {
        return Err(format!("there is no copy {slowed}: available: 1 to {}", arguments.copies).into());
    }
    let temporary = tempfile::tempdir()?;
    let directory = arguments.out.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(directory)?;
    // an absolute path, because agents have other working directories
    let library = preload::build(&fs::canonicalize(directory)?)?;

    let alone = experiment(&arguments.programs, directory, "alone", &alone(arguments, &library))?;
    let calibrated = Calibration::from_result(&alone)?;
    let delay_ns = (calibrated.rtt_ns * arguments.percent / 100.0 / SENDS_PER_ROUND_TRIP).round() as u64;
    let planted = SENDS_PER_ROUND_TRIP * preload::cost_ns(&library, delay_ns)?;
    let spec = PowerSpec {
        level: Rules::DEFAULT.level,
        power: POWER,
        comparisons: METRICS * arguments.copies as usize,
    };
    let blocks = match arguments.blocks {
        Some(blocks) => blocks as usize,
        None => calibrated.blocks_for(arguments.percent / 100.0, &spec),
    };
    let visible = smallest_effect(blocks, calibrated.sd, &spec);
    println!(
        "{}, {}, {} bytes: RTT p50 {:.2} µs, log ratios within a block scatter by {:.2} % ({} blocks).\nPlan: {} copies, copy-{slowed} slowed \
         by {delay_ns} ns a send; {blocks} blocks; {} claims share the 5 %; smallest effect {} ({} % power).",
        arguments.driver,
        arguments.topology,
        arguments.size,
        calibrated.rtt_ns / 1e3,
        100.0 * calibrated.sd,
        calibrated.blocks,
        arguments.copies,
        spec.comparisons,
        visible.map_or_else(|| "none".to_owned(), |effect| format!("{:.2} %", 100.0 * effect)),
        100.0 * POWER,
    );

    let text = copies(arguments, &library, slowed, delay_ns, blocks);
    let document = experiment(&arguments.programs, directory, "copies", &text)?;
    let baseline = document.cells.iter().find(|cell| document.experiment.is_baseline(&cell.id));
    let baseline_ns = median(&median_rtts(baseline.ok_or("the baseline was not measured")?, |run| !run.twin))
        .ok_or("the baseline has no median round trip")?;
    println!("\n{}", table(&document, slowed, planted / baseline_ns));
    println!("\nBaseline {:.2} µs. What a send takes longer by was measured.", baseline_ns / 1e3);
    judge(&found(&document), slowed)
}

/// Returns an error unless exactly the slowed copy was found.
fn judge(found: &[u32], slowed: u32) -> Result<(), Error> {
    let others: Vec<String> =
        found.iter().filter(|copy| **copy != slowed).map(|copy| format!("copy-{copy}")).collect();
    if !others.is_empty() {
        let names = others.join(", ");
        return Err(
            format!("{names} differ although nothing was planted there (by chance at most 1 in 20)").into()
        );
    }
    if !found.contains(&slowed) {
        return Err(format!("copy-{slowed} is not found").into());
    }
    println!("Found: copy-{slowed}, and no other.");
    Ok(())
}

/// Values of the default alone.
struct Calibration {
    /// Median RTT in ns.
    rtt_ns: f64,
    /// Standard deviation of the log ratios of two runs of a block.
    sd: f64,
    blocks: usize,
}

impl Calibration {
    fn from_result(document: &ResultDocument) -> Result<Self, Error> {
        let [cell] = &document.cells[..] else { return Err("the calibration has one cell".into()) };
        let rtt_ns = median(&median_rtts(cell, |_| true)).ok_or("no run has a median round trip")?;
        let of = |block, twin| {
            let run = cell.runs.iter().find(|run| run.block == block && run.twin == twin)?;
            run.value(Metric::RttP50)
        };
        let blocks = cell.runs.iter().map(|run| run.block).max().unwrap_or(0);
        let ratio = |block| Some((of(block, true)? / of(block, false)?).ln());
        let ratios: Vec<f64> = (1..=blocks).filter_map(ratio).collect();
        let sd = sample_sd(&ratios).ok_or("fewer than two blocks of the calibration have both values")?;
        Ok(Self { rtt_ns, sd, blocks: ratios.len() })
    }

    /// Returns the number of blocks that detect an effect, at most [`MOST_BLOCKS`].
    fn blocks_for(&self, effect: f64, spec: &PowerSpec) -> usize {
        let is_enough =
            |blocks: &usize| smallest_effect(*blocks, self.sd, spec).is_some_and(|seen| seen <= effect);
        (2..MOST_BLOCKS).find(is_enough).unwrap_or(MOST_BLOCKS)
    }
}

/// Returns the experiment file of the default alone, measured twice in each block.
fn alone(arguments: &PlantedCostArgs, library: &Path) -> String {
    format!("{}{}", factors(arguments, library, &[0]), design(arguments, arguments.calibration as usize))
}

/// Returns the experiment file of the default and its copies, one of which has a delay.
fn copies(arguments: &PlantedCostArgs, library: &Path, slowed: u32, delay_ns: u64, blocks: usize) -> String {
    let mut text = factors(arguments, library, &[0, delay_ns]);
    let others = (1..=arguments.copies).filter(|copy| *copy != slowed).map(|copy| format!("copy-{copy}"));
    let others: Vec<String> = std::iter::once("default".to_owned()).chain(others).collect();
    for (profiles, delay_ns) in [(others, delay_ns), (vec![format!("copy-{slowed}")], 0)] {
        text += &format!(
            "[[factors.exclude]]\nprofile = {profiles:?}\nenv.SLOW_SEND_NS = {delay_ns}\nreason = \"only one copy is slowed\"\n"
        );
    }
    for copy in 1..=arguments.copies {
        // what the default requests, too
        text += &format!("[profiles.copy-{copy}]\nreliability = \"reliable\"\n");
    }
    text + &design(arguments, blocks)
}

fn factors(arguments: &PlantedCostArgs, library: &Path, delays_ns: &[u64]) -> String {
    let PlantedCostArgs { driver, size, topology, .. } = arguments;
    let question = "Which of these copies was slowed from outside?";
    preload::factors(question, driver, *size, library, delays_ns) + &format!("topology = {topology:?}\n")
}

fn design(arguments: &PlantedCostArgs, blocks: usize) -> String {
    format!(
        "[design]\nblocks = {blocks}\nwarm_up = \"50ms\"\nmeasure = {:?}\nkeep_awake = {}\nbaseline = {{ profile = \"default\" }}\n",
        arguments.measure, arguments.keep_awake
    )
}

/// Returns the number of the copy that a verdict is about; `None` for the noise floor.
fn copy_of(document: &ResultDocument, verdict: &Verdict) -> Option<u32> {
    let cell = document.cells.iter().find(|cell| cell.id == verdict.treatment.cell)?;
    let copy = cell.factors.profile.as_deref()?.strip_prefix("copy-")?.parse().ok()?;
    (verdict.kind == VerdictKind::Comparison).then_some(copy)
}

/// Returns the copies that are claimed to differ from the default, by their numbers.
fn found(document: &ResultDocument) -> Vec<u32> {
    let differs =
        |verdict: &&Verdict| verdict.answer.as_ref().is_some_and(|answer| answer.conclusion.differs());
    let mut found: Vec<u32> =
        document.verdicts.iter().filter(differs).filter_map(|verdict| copy_of(document, verdict)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns a row for each claim, with the planted change beside the one found.
fn table(document: &ResultDocument, slowed: u32, planted: f64) -> String {
    let mut text = "| copy | metric | planted | found | of all together | blocks | verdict |\n|---|---|---|---|---|---|---|".to_owned();
    for verdict in &document.verdicts {
        let copy = copy_of(document, verdict);
        let name = copy.map_or_else(|| "default (A/A)".to_owned(), |copy| format!("copy-{copy}"));
        let planted = match (copy == Some(slowed), verdict.metric) {
            (true, Metric::RttP50) => format!("{:.1} %", 100.0 * planted),
            (true, _) => "delayed".to_owned(),
            (false, _) => "nothing".to_owned(),
        };
        let Some(answer) = &verdict.answer else {
            text += &format!("\n| {name} | {} | {planted} | | | | no verdict |", verdict.metric.words());
            continue;
        };
        let change = answer.change_pct.map_or_else(String::new, |change| format!("{change:+.2} %"));
        let interval =
            answer.simultaneous_pct.map_or_else(String::new, |[low, high]| format!("{low:+.2}..{high:+.2}"));
        let word = match answer.conclusion {
            Conclusion::Higher { .. } => "higher".to_owned(),
            Conclusion::Lower { .. } => "lower".to_owned(),
            Conclusion::Equivalent { .. } => "equivalent".to_owned(),
            Conclusion::Inconclusive { could_have_seen_pct } => {
                let seen =
                    could_have_seen_pct.map_or_else(|| "nothing".to_owned(), |seen| format!("{seen:.1} %"));
                format!("inconclusive: could have seen {seen}")
            }
            Conclusion::TooFew { needs } => format!("too few blocks: needs {needs}"),
        };
        let words = verdict.metric.words();
        text +=
            &format!("\n| {name} | {words} | {planted} | {change} | {interval} | {} | {word} |", answer.n);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use experiment::{
        DriverDescription, Pin, Plan, PlanInputs, Policy, PolicySupport, ReceiveMode, Source, Support,
        TransportInfo,
    };

    use super::*;

    fn arguments() -> PlantedCostArgs {
        PlantedCostArgs {
            driver: "dds".to_owned(),
            copies: 7,
            slowed: None,
            percent: 3.0,
            blocks: None,
            calibration: 10,
            topology: "pair".to_owned(),
            size: 64,
            measure: "200ms".to_owned(),
            keep_awake: false,
            out: None,
            programs: PathBuf::new(),
        }
    }

    fn planned(text: &str) -> Plan {
        let enforced = |policy: &Policy| (*policy, PolicySupport::of_both(Support::Enforced, None));
        let dds = DriverDescription {
            name: "dds".to_owned(),
            driver_version: "1".to_owned(),
            middleware: "M".to_owned(),
            middleware_version: "1".to_owned(),
            version_source: "library".to_owned(),
            licence: "Apache-2.0".to_owned(),
            transports: vec![TransportInfo {
                name: "udp4".to_owned(),
                max_payload_bytes: 65_507,
                note: None,
            }],
            receive_modes: vec![ReceiveMode::Waitset],
            type_kinds: vec!["octets".to_owned()],
            policies: Policy::ALL.iter().map(enforced).collect(),
            ..DriverDescription::default()
        };
        let source = Source { path: "copies.toml".to_owned(), text: text.to_owned(), sets: Vec::new() };
        let descriptions = BTreeMap::from([("dds".to_owned(), dds)]);
        let inputs = PlanInputs {
            name: "copies",
            descriptions: &descriptions,
            installed: &[],
            files: &BTreeMap::new(),
            pin: Pin::None,
            hosts: &[],
            seed: 1,
            least_blocks: &results::least_blocks,
        };
        let file = source.read().unwrap_or_else(|fault| panic!("{fault:?}"));
        file.plan(&inputs).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// All cells load the library and request the same; only one has a delay.
    #[test]
    fn copies_differ_from_the_default_in_the_delay_of_one() {
        let library = Path::new("/tmp/slow_send.so");
        let plan = planned(&copies(&arguments(), library, 4, 1500, 12));
        let profiles = plan.cells.iter().filter_map(|cell| cell.factors.profile.as_deref());
        let expected = ["copy-1", "copy-2", "copy-3", "copy-4", "copy-5", "copy-6", "copy-7", "default"];
        assert_eq!(profiles.collect::<BTreeSet<_>>(), expected.into());
        let default = plan.cells.iter().find(|cell| plan.is_baseline(&cell.id)).expect("a baseline");
        assert_eq!(default.factors.profile.as_deref(), Some("default"));
        for cell in &plan.cells {
            let slowed = cell.factors.profile.as_deref() == Some("copy-4");
            let value = |name: &str| cell.factors.env[name].clone().expect("a value");
            assert_eq!(value("SLOW_SEND_NS"), if slowed { "1500" } else { "0" }, "{}", cell.id);
            assert_eq!(value("LD_PRELOAD"), "/tmp/slow_send.so");
            assert_eq!(cell.factors.qos, default.factors.qos, "{}", cell.id);
        }
        assert_eq!(plan.design.baseline.len(), 1);

        let alone = planned(&alone(&arguments(), library));
        assert_eq!((alone.cells.len(), alone.design.blocks), (1, 10));
        assert!(alone.is_baseline(&alone.cells[0].id), "measured twice in each block");
    }

    #[test]
    fn only_the_slowed_copy_is_right() {
        assert!(judge(&[4], 4).is_ok());
        for (found, words) in
            [(&[][..], "copy-4 is not found"), (&[3, 4], "copy-3 differ"), (&[5], "copy-5 differ")]
        {
            let error = judge(found, 4).expect_err("something else").to_string();
            assert!(error.contains(words), "{found:?}: {error}");
        }
    }

    #[test]
    fn blocks_are_enough_for_the_planted_cost() {
        let spec = PowerSpec { level: 0.95, power: POWER, comparisons: 14 };
        let of = |sd| Calibration { rtt_ns: 1e5, sd, blocks: 10 }.blocks_for(0.03, &spec);
        for sd in [0.005, 0.02, 0.04] {
            let blocks = of(sd);
            assert!(smallest_effect(blocks, sd, &spec).expect("enough blocks") <= 0.03);
            assert!(smallest_effect(blocks - 1, sd, &spec).is_none_or(|seen| seen > 0.03));
        }
        assert_eq!(of(0.5), MOST_BLOCKS);
    }
}
