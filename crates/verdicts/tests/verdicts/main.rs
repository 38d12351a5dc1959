//! Each verdict has an input that yields it, and one that yields its opposite.

mod agreement;
mod block_change;
mod conclusions;
mod criteria;
mod duet;
mod host;
mod interleave;
mod load;
mod modes;
mod policies;
#[path = "../../../results/tests/sample/mod.rs"]
mod sample;
mod sides;

use std::collections::BTreeSet;

use crate::sample::Characterize;
use experiment::Workload;
use results::{Assembler, Conclusion, Histograms, Metric, ResultDocument, Run, State, Verdict, VerdictKind};
use verdicts::CompareSide;

/// Returns a result of two drivers, with `plain` as the baseline; `change` is applied to each run.
fn result(workload: Workload, blocks: u32, change: impl Fn(&mut Run)) -> ResultDocument {
    made(workload, blocks, false, change)
}

/// Like [`result`], with or without duets.
fn made(workload: Workload, blocks: u32, duet: bool, change: impl Fn(&mut Run)) -> ResultDocument {
    made_of(&[1024], workload, blocks, duet, change)
}

/// Like [`made`], with cells of these sizes.
fn made_of(
    sizes: &[u64],
    workload: Workload,
    blocks: u32,
    duet: bool,
    change: impl Fn(&mut Run),
) -> ResultDocument {
    let mut header = sample::header_of(&Characterize {
        sizes: sizes.to_vec(),
        workloads: vec![workload],
        batch_bytes: 0,
        seed: 3,
        ..sample::characterize()
    });
    header.experiment.design.blocks = blocks;
    header.experiment.design.duet = duet;
    let baseline = header.experiment.cells.iter().filter(|cell| cell.factors.driver == "plain");
    header.experiment.design.baseline = baseline.map(|cell| cell.id.clone()).collect();
    let (schedule, cells) = (header.experiment.schedule(), header.experiment.cells.clone());
    let mut assembler = Assembler::new(header);
    for scheduled in schedule {
        let (mut run, _) = sample::run_in_one_window(scheduled, &cells[scheduled.cell]);
        change(&mut run);
        assembler.add(run, &Histograms::new());
    }
    let mut document = assembler.document(State::Complete);
    document.blocks = sample::blocks(&document.experiment);
    document
}

/// Sets an RTT of 100 µs, for `dds` times `ratio`; runs differ by up to `reach`.
fn rtt(run: &mut Run, ratio: f64, reach: f64) {
    let noise = (sample::Noise(u64::from(run.number)).next() >> 11) as f64 / (1_u64 << 53) as f64;
    let ratio = if run.cell.starts_with("dds") { ratio } else { 1.0 };
    let p50 = 100_000.0 * ratio * (1.0 + reach * (2.0 * noise - 1.0));
    let rtt = run.latency.get_mut("rtt").expect("a latency run");
    (rtt.p50_ns, rtt.p99_ns) = (Some(p50 as u64), Some((3.0 * p50) as u64));
}

fn latency(blocks: u32, ratio: f64, reach: f64) -> ResultDocument {
    result(Workload::Latency, blocks, |run| rtt(run, ratio, reach))
}

/// Returns the verdict on the median RTT of the candidate.
fn p50(document: &ResultDocument) -> Verdict {
    p50_without(document, &[])
}

fn p50_without(document: &ResultDocument, noisy: &[u32]) -> Verdict {
    let noisy = BTreeSet::from_iter(noisy.iter().copied());
    let mut verdicts = verdicts::without(document, &noisy);
    verdicts.retain(|verdict| verdict.kind == VerdictKind::Comparison && verdict.metric == Metric::RttP50);
    assert_eq!(verdicts.len(), 1);
    verdicts.remove(0)
}

fn conclusion(verdict: &Verdict) -> &Conclusion {
    &verdict.answer.as_ref().expect("a verdict").conclusion
}

fn side<'d>(name: &str, document: &'d ResultDocument, cell: &str) -> CompareSide<'d> {
    let cells = document.cells.iter().filter(|found| found.id.starts_with(cell)).collect();
    CompareSide { name: name.to_owned(), document, cells }
}
