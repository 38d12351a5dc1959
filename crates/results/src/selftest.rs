//! What a host can resolve: the same thing measured twice in every block, and how far it differs from itself.

use std::collections::BTreeMap;

use experiment::Workload;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use stats::{Asked, Block, Change, Conclusion, Modality, Rules, compare, log_ratios, median, sample_sd};

use crate::{Block as MeasuredBlock, Cell, Document, Host, Metric, Probe};

/// With which probability a smallest effect would be found.
pub(crate) const POWER: f64 = 0.8;
/// Numbers of blocks for which a smallest effect is told.
pub const TOLD_BLOCKS: [u32; 3] = [6, 12, 24];

/// The outcome of a selftest of one driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTest {
    /// The driver.
    pub driver: String,
    /// Where it was measured, and when it began.
    pub host: Host,
    /// Version of ddsmark.
    pub tool_version: String,
    /// Pairs of runs that each cell was to have.
    pub pairs: u32,
    /// Measured time of a run.
    pub measure_ns: u64,
    /// What else happened on the host meanwhile. Absent where nothing is known of it, and in older outcomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseSummary>,
    /// Each figure of each cell.
    pub figures: Vec<Resolution>,
    /// How many of these are said to differ from themselves, by the rules by which claims are made: all judged together, so
    /// that any does by chance in at most 5 % of selftests.
    pub differs: u32,
}

/// One figure of one cell, held against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Its cell.
    pub cell: String,
    /// The cell's workload.
    pub workload: Workload,
    /// The cell's size.
    pub size_bytes: u64,
    /// The figure.
    pub metric: Metric,
    /// Pairs that have it twice.
    pub pairs: u32,
    /// Pairs that miss one or both.
    pub incomplete: u32,
    /// Pairs of which a run kept no level.
    pub unsteady: u32,
    /// Median over the runs, in the unit of the metric; null without runs.
    pub median: Option<f64>,
    /// Standard deviation of the logarithm of the figure over the runs, in percent: about the coefficient of variation.
    pub between_run_pct: Option<f64>,
    /// The same of the ratio of two runs of a block, of which a comparison is made. What disturbs a block alike is not in it.
    pub ratio_sd_pct: Option<f64>,
    /// The effect, in percent, that would be found with 80 % probability, by the number of blocks; for a single comparison.
    pub smallest_effect_pct: BTreeMap<u32, f64>,
    /// How the second runs differ from the first ones, in percent: estimate and 95 % interval.
    pub change_pct: Option<f64>,
    /// Lower end.
    pub low_pct: Option<f64>,
    /// Upper end.
    pub high_pct: Option<f64>,
    /// p-value of "nothing differs", adjusted by Holm over all figures.
    pub p_holm: Option<f64>,
    /// Whether it is said to differ from itself.
    pub differs: bool,
    /// Groups that runs fall into; empty if they fall into none.
    pub groups: Vec<Group>,
}

/// A group of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The median of its runs, in the unit of the metric.
    pub median: f64,
    /// Its runs, of all, in percent.
    pub share_pct: f64,
}

/// What else happened on the host while blocks were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseSummary {
    /// Blocks that were made.
    pub blocks: u32,
    /// Those of them that were noisy.
    pub noisy_blocks: u32,
    /// Time stolen of the worst core between two blocks, in percent: the median over the probes.
    pub stolen_pct: f64,
    /// The same, of the worst probe.
    pub worst_stolen_pct: f64,
    /// The longest gap that a probe found.
    pub max_gap_ns: u64,
    /// Time that the hypervisor gave to others during a block, in percent of all cores' time: the most of any block. Null where
    /// the host does not say.
    pub max_steal_pct: Option<f64>,
}

impl NoiseSummary {
    /// Of these blocks; none where there is no probe.
    #[must_use]
    pub fn of(blocks: &[MeasuredBlock]) -> Option<Self> {
        // the probe after a block is the one before the next
        let first = blocks.first().and_then(|block| block.before.as_ref());
        let probes: Vec<&Probe> =
            first.into_iter().chain(blocks.iter().filter_map(|block| block.after.as_ref())).collect();
        let worst = |probe: &&Probe| probe.cores.iter().map(|core| core.stolen_pct).fold(0.0, f64::max);
        let stolen: Vec<f64> = probes.iter().map(worst).collect();
        let steal = blocks.iter().filter_map(|block| block.host.as_ref()?.steal_pct);
        Some(Self {
            blocks: blocks.len() as u32,
            noisy_blocks: blocks.iter().filter(|block| block.noisy).count() as u32,
            stolen_pct: median(&stolen)?,
            worst_stolen_pct: stolen.iter().copied().fold(0.0, f64::max),
            max_gap_ns: probes.iter().flat_map(|probe| &probe.cores).map(|core| core.max_gap_ns).max()?,
            max_steal_pct: steal.reduce(f64::max),
        })
    }
}

/// The outcomes that are kept, by driver: what `selftest.json` holds.
pub type KeptSelfTests = BTreeMap<String, SelfTest>;

/// The JSON Schema of [`KeptSelfTests`]: the text of `schemas/selftest.schema.json`.
///
/// # Panics
/// Never: a schema is JSON.
#[must_use]
pub fn selftest_json_schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<KeptSelfTests>();
    schema.insert("title".to_owned(), "What selftests of ddsmark found, by driver".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

impl SelfTest {
    /// What a result says whose every cell was measured twice in each block.
    #[must_use]
    pub fn of(driver: &str, document: &Document) -> Self {
        let each = |cell| Metric::claims_of(cell).map(move |metric| (cell, metric));
        let judged: Vec<(&Cell, Metric)> = document.cells.iter().flat_map(each).collect();
        let family: Vec<Vec<Block>> = judged.iter().map(|(cell, metric)| twins(cell, *metric)).collect();
        let comparisons = compare(&family, &Rules { modes: false, ..Rules::default() });
        let figures: Vec<Resolution> = judged
            .iter()
            .zip(&family)
            .zip(&comparisons)
            .map(|((&(cell, metric), blocks), comparison)| {
                let logs: Vec<f64> =
                    cell.runs.iter().filter_map(|run| run.figure(metric)).map(f64::ln).collect();
                let figures: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
                let ratio_sd = sample_sd(&log_ratios(blocks));
                let change = |of: fn(&Change) -> Option<f64>| comparison.change.as_ref().and_then(of);
                let percent = |share: f64| 100.0 * share;
                Resolution {
                    cell: cell.id.clone(),
                    workload: cell.factors.workload,
                    size_bytes: cell.factors.size_bytes,
                    metric,
                    pairs: comparison.blocks as u32,
                    incomplete: comparison.incomplete as u32,
                    unsteady: comparison.unsteady as u32,
                    median: median(&figures),
                    between_run_pct: sample_sd(&logs).map(percent),
                    ratio_sd_pct: ratio_sd.map(percent),
                    smallest_effect_pct: TOLD_BLOCKS
                        .into_iter()
                        .filter_map(|blocks| Some((blocks, percent(smallest(ratio_sd?, blocks, 1)?))))
                        .collect(),
                    change_pct: change(|change| Some(change.estimate)).map(percent),
                    low_pct: change(|change| Some(change.interval?.low)).map(percent),
                    high_pct: change(|change| Some(change.interval?.high)).map(percent),
                    p_holm: change(|change| Some(change.p_holm)),
                    differs: matches!(comparison.conclusion, Conclusion::Differs { .. }),
                    groups: groups(&figures),
                }
            })
            .collect();
        Self {
            driver: driver.to_owned(),
            host: document.host.clone(),
            tool_version: document.tool.version.clone(),
            pairs: document.experiment.design.blocks,
            measure_ns: document.experiment.design.measure_ns,
            noise: NoiseSummary::of(&document.blocks),
            differs: figures.iter().filter(|figure| figure.differs).count() as u32,
            figures,
        }
    }

    /// Whether it tells something about this host: the same machine with the same kernel.
    #[must_use]
    pub fn is_of(&self, host: &Host) -> bool {
        let key = |host: &Host| (host.name.clone(), host.kernel.clone(), host.cpu.clone(), host.cpus);
        key(&self.host) == key(host)
    }

    /// The effect, in percent, that so many blocks would find with 80 % probability where so many comparisons are judged
    /// together: of a cell of that workload and size, by the size that was measured nearest to it.
    #[must_use]
    pub fn smallest_effect_pct(
        &self,
        workload: Workload,
        size_bytes: u64,
        metric: Metric,
        blocks: u32,
        comparisons: usize,
    ) -> Option<f64> {
        let far = |figure: &&Resolution| {
            let (a, b) = (figure.size_bytes.max(1) as f64, size_bytes.max(1) as f64);
            (a / b).ln().abs()
        };
        let figures =
            self.figures.iter().filter(|figure| figure.workload == workload && figure.metric == metric);
        let nearest = figures.min_by(|a, b| far(a).total_cmp(&far(b)))?;
        Some(100.0 * smallest(nearest.ratio_sd_pct? / 100.0, blocks, comparisons)?)
    }
}

impl Metric {
    /// Those that claims are made of, for a cell.
    fn claims_of(cell: &Cell) -> impl Iterator<Item = Self> + use<> {
        Self::claims(&cell.factors).iter().copied()
    }
}

fn smallest(ratio_sd: f64, blocks: u32, comparisons: usize) -> Option<f64> {
    let asked = Asked { level: 0.95, power: POWER, comparisons };
    stats::smallest_effect(blocks as usize, ratio_sd, &asked)
}

/// The second run of each block against the first.
fn twins(cell: &Cell, metric: Metric) -> Vec<Block> {
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    for run in &cell.runs {
        let block = blocks.entry(run.block).or_insert(Block { treatment: None, baseline: None });
        let side = if run.twin { &mut block.treatment } else { &mut block.baseline };
        let steady = !run.is_unsteady(metric);
        *side = run.figure(metric).map(|figure| stats::Run { figure, steady });
    }
    blocks.into_values().collect()
}

fn groups(figures: &[f64]) -> Vec<Group> {
    match stats::modality(figures) {
        Modality::Several(modes) => modes
            .into_iter()
            .map(|mode| Group { median: mode.location, share_pct: 100.0 * mode.share })
            .collect(),
        _ => Vec::new(),
    }
}
