//! Evaluation of a selftest.

use std::collections::BTreeMap;

use experiment::Workload;
use stats::{Block, Change, Conclusion, Modality, PowerSpec, Rules, compare, log_ratios, median, sample_sd};

use crate::{
    schema::{
        Block as MeasuredBlock, CellResult, NoiseProbe, ResultDocument, Run,
        host::Host,
        metric::Metric,
        selftest::{Group, NoiseSummary, Resolution, SelfTest},
    },
    values::metrics::LackingQuantile,
};

/// Power: probability of detecting the minimum detectable effect.
pub(crate) const POWER: f64 = 0.8;
/// Numbers of blocks for which a minimum detectable effect is reported.
pub const SHOWN_BLOCKS: [u32; 3] = [6, 12, 24];

impl NoiseSummary {
    /// Summarizes the noise of these blocks; `None` without probes.
    #[must_use]
    pub fn summarize(blocks: &[MeasuredBlock]) -> Option<Self> {
        // the probe after a block is the one before the next block
        let first = blocks.first().into_iter().flat_map(|block| &block.hosts);
        let first = first.filter_map(|host| host.before.as_ref());
        let others = blocks.iter().flat_map(|block| &block.hosts).filter_map(|host| host.after.as_ref());
        let probes: Vec<&NoiseProbe> = first.chain(others).collect();
        let worst = |probe: &&NoiseProbe| probe.cores.iter().map(|core| core.stolen_pct).fold(0.0, f64::max);
        let stolen: Vec<f64> = probes.iter().map(worst).collect();
        let steal = blocks.iter().flat_map(MeasuredBlock::counters).filter_map(|host| host.steal_pct);
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

impl SelfTest {
    /// Creates the selftest from a result in which every cell was measured twice in each block.
    #[must_use]
    pub fn from_document(driver: &str, document: &ResultDocument) -> Self {
        let judged: Vec<(&CellResult, Metric)> = document
            .cells
            .iter()
            .flat_map(|cell| Metric::claims(&cell.factors).iter().map(move |metric| (cell, *metric)))
            .collect();
        let family: Vec<Vec<Block>> = judged.iter().map(|(cell, metric)| twins(cell, *metric)).collect();
        let comparisons = compare(&family, &Rules::DEFAULT);
        let metrics: Vec<Resolution> = judged
            .iter()
            .zip(&family)
            .zip(&comparisons)
            .map(|((&(cell, metric), blocks), comparison)| {
                let runs = usable(cell, metric);
                let logs: Vec<f64> = runs.filter_map(|run| run.value(metric)).map(f64::ln).collect();
                let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
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
                    median: median(&values),
                    between_run_pct: sample_sd(&logs).map(percent),
                    ratio_sd_pct: ratio_sd.map(percent),
                    smallest_effect_pct: SHOWN_BLOCKS
                        .into_iter()
                        .filter_map(|blocks| Some((blocks, percent(smallest(ratio_sd?, blocks, 1)?))))
                        .collect(),
                    change_pct: change(|change| Some(change.estimate)).map(percent),
                    low_pct: change(|change| Some(change.interval?.low)).map(percent),
                    high_pct: change(|change| Some(change.interval?.high)).map(percent),
                    p_adjusted: change(|change| Some(change.p_adjusted)),
                    differs: matches!(comparison.conclusion, Conclusion::Differs { .. }),
                    groups: groups(&values),
                }
            })
            .collect();
        Self {
            driver: driver.to_owned(),
            host: document.host().clone(),
            tool_version: document.tool.version.clone(),
            pairs: document.experiment.design.blocks,
            measure_ns: document.experiment.design.measure_ns,
            noise: NoiseSummary::summarize(&document.blocks),
            differs: metrics.iter().filter(|metric| metric.differs).count() as u32,
            metrics,
        }
    }

    /// Returns whether the selftest applies to this host: same machine, same kernel.
    #[must_use]
    pub fn is_of(&self, host: &Host) -> bool {
        let key = |host: &Host| (host.name.clone(), host.kernel.clone(), host.cpu.clone(), host.cpus);
        key(&self.host) == key(host)
    }

    /// Returns the minimum detectable effect, in percent with a power of 80 %, of a cell with this workload and
    /// size. `comparisons` are judged together. It uses the measured size that is nearest.
    #[must_use]
    pub fn smallest_effect_pct(
        &self,
        workload: Workload,
        size_bytes: u64,
        metric: Metric,
        blocks: u32,
        comparisons: usize,
    ) -> Option<f64> {
        let far = |resolution: &&Resolution| {
            let (a, b) = (resolution.size_bytes.max(1) as f64, size_bytes.max(1) as f64);
            (a / b).ln().abs()
        };
        let measured =
            self.metrics.iter().filter(|found| found.workload == workload && found.metric == metric);
        let nearest = measured.min_by(|a, b| far(a).total_cmp(&far(b)))?;
        Some(100.0 * smallest(nearest.ratio_sd_pct? / 100.0, blocks, comparisons)?)
    }
}

fn smallest(ratio_sd: f64, blocks: u32, comparisons: usize) -> Option<f64> {
    let spec = PowerSpec { level: 0.95, power: POWER, comparisons };
    stats::smallest_effect(blocks as usize, ratio_sd, &spec)
}

/// Returns the runs of a cell; none if one has too few samples for the metric.
fn usable(cell: &CellResult, metric: Metric) -> impl Iterator<Item = &Run> {
    let is_short =
        |run: &Run| matches!(run.lacking_quantile(metric, None), Some(LackingQuantile::TooFewSamples { .. }));
    cell.runs.iter().filter({
        let is_usable = !cell.runs.iter().any(is_short);
        move |_| is_usable
    })
}

/// Returns the pairs of second and first run of each block.
fn twins(cell: &CellResult, metric: Metric) -> Vec<Block> {
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    for run in usable(cell, metric) {
        let block = blocks.entry(run.block).or_insert(Block { treatment: None, baseline: None });
        let side = if run.twin { &mut block.treatment } else { &mut block.baseline };
        let steady = !run.is_unsteady(metric);
        *side = run.value(metric).map(|value| stats::Run { value, steady });
    }
    blocks.into_values().collect()
}

fn groups(values: &[f64]) -> Vec<Group> {
    match stats::modality(values) {
        Modality::Several(modes) => modes
            .into_iter()
            .map(|mode| Group { median: mode.location, share_pct: 100.0 * mode.share })
            .collect(),
        _ => Vec::new(),
    }
}
