//! Legend of a result: the meaning of its headings, for the tables that it has.

use experiment::Workload;
use results::{CellResult, PacedCell, ResultDocument, Run, SteadyClass};

use crate::{
    maximum,
    number::{count, duration},
    paced, search, tables,
};

/// Returns the paragraphs of the legend.
pub(crate) fn legend(document: &ResultDocument) -> Vec<String> {
    let has = |workload| document.cells.iter().any(|cell| cell.factors.workload == workload);
    let mut told = Vec::new();
    if has(Workload::Throughput) {
        told.extend(throughput());
    }
    if has(Workload::Latency) {
        told.extend(latency(document));
    }
    if has(Workload::Paced) {
        told.extend(under_load(document));
    }
    told.extend(document.experiment.search.as_ref().map(search::legend));
    if document.cells.iter().any(tables::grouped) {
        told.push(tables::SAMPLES_PER_TAKE.to_owned());
    }
    if document.cells.iter().any(tables::has_pooled) {
        told.push(format!(
            "{}: of the samples of all valid runs together, since no single run has enough of them for this quantile; no \
             verdict rests on it.",
            tables::POOLED
        ));
    }
    told.extend(steady(document));
    told.push(
        "CPU: processor seconds per million samples at that end, user and system, all threads.".to_owned(),
    );
    told.push(
        "± %: half the range of that figure over the runs, relative to their median; none where a run has too few \
         samples for it. ± pp: half the range of Lost %, in percentage points. It describes the runs that were made, as \
         the findings do: no significance is claimed."
            .to_owned(),
    );
    told
}

fn throughput() -> [String; 3] {
    [
        "Samples: distinct samples delivered to the reader, not datagrams; Lost: samples that never came, also \
         before the first and after the last that did. Both are sums over the valid runs; Lost % is of all sent.",
        "Samples/s, Mbit/s (10^6 bit/s of payload), CPU: medians over the valid runs. A rate is over the \
         time in which samples were written. Tail: samples that arrived after the last write, and how much later.",
        "Dropped: datagrams that the kernel dropped at a full socket buffer in the valid runs, of all programs in \
         this network namespace; n/a where no counter tells.",
    ]
    .map(str::to_owned)
}

fn latency(document: &ResultDocument) -> [String; 2] {
    let design = &document.experiment.design;
    [
        format!(
            "Latency: quantiles are medians over the valid runs of a cell ({} of up to {}), as verdicts have them, each \
             within 0.1 % and of all pings sent: a lost one is longer than all others. Ave, Std, Min, Max: exact, of the n \
             samples of all runs. n/a: a quantile that the samples cannot bound with 95 % confidence, or that lies among \
             the lost pings.",
            count(design.blocks as usize, "run"),
            duration(design.measure_ns)
        ),
        "Out and Back: times of one way, not halved, by one clock. A ping that is not back in time is lost, \
         never sent again."
            .to_owned(),
    ]
}

fn under_load(document: &ResultDocument) -> Vec<String> {
    let design = &document.experiment.design;
    let mut told = vec![
        "Latency under load: each sample has an intended time, by a plan that is never moved. Response: from the \
         intended time to the arrival; Service: from the start of the write to the arrival; Send lag: from the \
         intended time to the start of the write. A response is the sum of the other two. Not halved, by one clock."
            .to_owned(),
        format!(
            "Planned: the load; `burst 10/100ms` is 10 samples at once every 100 ms; `max` has no intended times, so service \
             only. Achieved/s: samples that the middleware took over the measured time; Delivered/s: distinct ones that the \
             reader got; medians over the valid runs. Delivered, and Out of order, those that came after a later one: sums over \
             them. Times: medians over the valid runs of a cell ({} of up to {}), each within 0.1 %, of samples that arrived.",
            count(design.blocks as usize, "run"),
            duration(design.measure_ns)
        ),
    ];
    if !document.max_rates.is_empty() {
        told.push(maximum::LEGEND.to_owned());
    }
    told.extend(paced::notes(&document.cells, design.probe_every));
    let some = |runs: fn(&PacedCell) -> u32| {
        document.cells.iter().filter_map(|cell| cell.paced.as_ref()).any(|paced| runs(paced) > 0)
    };
    if some(|paced| paced.sender_limited_runs) {
        told.push(format!(
            "{}: 99 % of the send lag is over a tenth of the period or of the median response. There the response \
             tells how late the sender was, and is not a property of the middleware's delivery: findings go by service times \
             there, where the plan was kept but for a few samples. The warnings say what the sender was busy with.",
            paced::SENDER_LIMITED
        ));
    }
    if some(|paced| paced.back_pressure_runs) {
        told.push(format!(
            "{}: 99 % of the send lag is over a tenth of the period or of the median response, since write calls did not \
             return in time while the writing thread had time left: the middleware takes less than was planned.",
            paced::BACK_PRESSURE
        ));
    }
    told
}

/// Returns how many runs had a steady level; `None` if none was classified.
fn steady(document: &ResultDocument) -> Option<String> {
    let valid = document.cells.iter().flat_map(CellResult::valid_runs).count();
    let judged: Vec<&Run> = document
        .cells
        .iter()
        .flat_map(CellResult::valid_runs)
        .filter(|run| !run.steady_state.is_empty())
        .collect();
    let is_flat = |run: &&&Run| run.steady_state.values().all(|state| state.verdict == SteadyClass::Flat);
    let flat = judged.iter().filter(is_flat).count();
    if judged.is_empty() {
        return None;
    }
    let others = match (judged.len() - flat, valid - judged.len()) {
        (0, 0) => "",
        (0, _) => "; the others have too few samples to tell",
        (_, 0) => "; the warnings name the others",
        _ => "; the warnings name the others, if they have enough samples",
    };
    Some(format!(
        "Steady state: {flat} of {} kept one level while measured (of RTT or response its median and 99 %, or of samples \
         delivered){others}.",
        count(valid, "valid run")
    ))
}
