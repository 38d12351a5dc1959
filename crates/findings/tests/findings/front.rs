//! Ways to batch, by throughput and latency.

use experiment::{Batching, Load};
use results::{FindingKind, ResultDocument, Run};

use crate::{
    rig::{number, of_kind},
    sample::paced,
};

/// Truth of a way to batch: highest rate in samples/s, and 99 % response time in ns at the low load.
type Truth = (f64, f64);

/// Behaviour of the sender at the low load.
#[derive(Clone, Copy, PartialEq)]
enum Sender {
    OnTime,
    /// Few samples were late, by 5 ms: the 99 % time starts at their write call.
    LateWithFew,
    /// Some samples were not tried in time.
    Behind,
}

/// Returns a result of one driver, at 1000/s and without a schedule: unbatched, 4 samples per batch, and turbo.
/// Runs differ by 1 %.
fn result(truth: [Truth; 3], sender: Sender) -> ResultDocument {
    let mut header = paced::header(&[paced::constant(1000), Load::Max], &[]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    let ways = [(0, Batching::None), (4096, Batching::Native), (8192, Batching::TurboNative)];
    let plain = std::mem::take(&mut header.experiment.cells);
    for (bytes, batching) in ways {
        for cell in &plain {
            let mut cell = cell.clone();
            (cell.factors.batch_bytes, cell.factors.batching) = (bytes, batching);
            cell.id = format!("{}/{bytes}", cell.id);
            header.experiment.cells.push(cell);
        }
    }
    let cells = header.experiment.cells.clone();
    paced::document_with(&header, |run: &mut Run| {
        let cell = cells.iter().find(|cell| cell.id == run.cell).expect("its cell");
        let way = ways.iter().position(|way| way.0 == cell.factors.batch_bytes).expect("one of them");
        let noise = 1.0 + 0.01 * (f64::from(run.block) - 2.0);
        let (rate, p99_ns) = truth[way];
        let throughput = run.throughput_mut().expect("rates");
        throughput.delivered_sps = if cell.factors.load == Some(Load::Max) { rate * noise } else { 1000.0 };
        let late_ns = if sender == Sender::LateWithFew { 5e6 } else { 0.0 };
        for (kind, late_ns) in [("response", late_ns), ("service", 0.0)] {
            if let Some(latency) = run.latency.get_mut(kind) {
                latency.p99_ns = Some((p99_ns * noise + late_ns) as u64);
            }
        }
        let paced = run.paced_mut().expect("a plan");
        paced.sender_limited = sender != Sender::OnTime;
        paced.unsent = if sender == Sender::Behind { paced.planned / 10 } else { 0 };
        run.flows[0].counted.lost = 0;
    })
}

fn fronts(document: &ResultDocument) -> Vec<FindingKind> {
    let kinds = [FindingKind::BatchingFront, FindingKind::BatchingOneBest];
    kinds.into_iter().filter(|kind| !of_kind(document, *kind).is_empty()).collect()
}

#[test]
fn mode_that_trades_latency_for_throughput_is_on_the_front() {
    // four samples wait for each other, and the gain is smaller than with turbo
    let document = result([(50e3, 20e3), (120e3, 4e6), (300e3, 21e3)], Sender::OnTime);
    assert_eq!(fronts(&document), [FindingKind::BatchingFront]);
    let [front] = &of_kind(&document, FindingKind::BatchingFront)[..] else { unreachable!() };
    assert_eq!(
        front.text,
        "`dds` under load at 1024 bytes: more throughput costs latency: of 3 ways to batch 2 are on the front, unbatched \
         (49500 to 50500/s, 19.8 to 20.2 µs) and turbo (native) up to 8192 bytes (297000 to 303000/s, 20.8 to 21.2 µs); \
         the 99 % response is that at 1000/s (3 runs each). Beaten: 4 samples (118800 to 121200/s, 3960 to 4040 µs)."
    );
    number(front, "ways_on_the_front", 2.0);
    number(front, "turbo_8192_delivered_sps", 300e3);
    number(front, "batch_4096_response_p99_ns", 4e6);
    assert_eq!(front.cells.len(), 6);
}

#[test]
fn mode_best_at_both_is_alone_on_the_front() {
    let document = result([(50e3, 30e3), (120e3, 4e6), (300e3, 20e3)], Sender::OnTime);
    assert_eq!(fronts(&document), [FindingKind::BatchingOneBest]);
    let [best] = &of_kind(&document, FindingKind::BatchingOneBest)[..] else { unreachable!() };
    assert!(best.text.contains("one is beaten by none, turbo (native) up to 8192 bytes"), "{}", best.text);
    number(best, "ways_on_the_front", 1.0);
}

#[test]
fn ways_that_do_not_differ_and_senders_that_were_behind_say_nothing() {
    assert_eq!(fronts(&result([(50e3, 20e3); 3], Sender::OnTime)), []);
    assert_eq!(fronts(&result([(50e3, 20e3), (120e3, 4e6), (300e3, 21e3)], Sender::Behind)), []);
}

#[test]
fn where_a_sender_was_late_with_a_few_samples_the_front_is_that_of_service_times() {
    let document = result([(50e3, 20e3), (120e3, 4e6), (300e3, 21e3)], Sender::LateWithFew);
    assert_eq!(fronts(&document), [FindingKind::BatchingFront]);
    let [front] = &of_kind(&document, FindingKind::BatchingFront)[..] else { unreachable!() };
    number(front, "batch_4096_service_p99_ns", 4e6);
    for words in [
        "the 99 % service time is that at 1000/s (3 runs each).",
        " Times are from the start of the write: at 1000/s the sender was late by itself (99 % of the send lag ",
        " µs), and responses have that in them.",
    ] {
        assert!(front.text.contains(words), "{}", front.text);
    }
}
