//! Legend of a result: the meaning of its headings, for the tables that it has.

use experiment::Workload;
use results::{CellResult, PacedCell, ResultDocument, Run, SteadyClass};

use crate::{
    discovery, maximum,
    number::{count, duration},
    overlays, paced, ring, search, system, tables,
};

/// Returns the paragraphs of the legend.
#[must_use]
pub fn legend(document: &ResultDocument) -> Vec<String> {
    let has = |workload| document.cells.iter().any(|cell| cell.factors.workload == workload);
    let mut paragraphs = Vec::new();
    if has(Workload::Throughput) {
        paragraphs.extend(throughput());
        if document.cells.iter().any(|cell| cell.link_ceiling.is_some()) {
            paragraphs.push(tables::LINK_CEILING.to_owned());
        }
    }
    if has(Workload::Latency) {
        paragraphs.extend(latency(document));
    }
    if document.cells.iter().any(|cell| ring::nodes(cell).is_some()) {
        paragraphs.push(ring::LEGEND.to_owned());
        if document.cells.iter().any(|cell| cell.factors.is_pipelined()) {
            paragraphs.push(ring::LEGEND_OF_PIPELINED.to_owned());
        }
    }
    if has(Workload::Discovery) {
        paragraphs.push(discovery::LEGEND.to_owned());
    }
    if has(Workload::Paced) {
        paragraphs.extend(under_load(document));
    }
    paragraphs.extend(document.experiment.search.as_ref().map(search::legend));
    if document.cells.iter().any(tables::grouped) {
        paragraphs.push(tables::SAMPLES_PER_TAKE.to_owned());
    }
    if document.cells.iter().any(tables::has_pooled) {
        paragraphs.push(format!(
            "{} marks a quantile of the samples of all valid runs together: a run has too few samples for it, and no \
             verdict uses it.",
            tables::POOLED
        ));
    }
    if document.cells.iter().any(tables::has_clock_error) {
        paragraphs.push(
            "A time between two hosts is followed by ± and the error of their clocks, in the same unit: the true time is within \
             it. It is n/a if the error exceeds the time."
                .to_owned(),
        );
    }
    paragraphs.extend(overlays::legend(document));
    paragraphs.extend(steady(document));
    paragraphs.push(
        "CPU is the CPU time per sample of the process of that endpoint: user and system time of all threads.".to_owned(),
    );
    paragraphs.push(
        "± % is half the range of a value over the runs, relative to their median; it is absent if a run has too few \
         samples. ± pp is half the range of the loss, in percentage points. Both describe these runs: they claim no \
         significance."
            .to_owned(),
    );
    paragraphs
}

fn throughput() -> [String; 3] {
    [
        "Samples is the number of distinct samples that were delivered to the reader. Lost is the number of samples \
         that never came. Missing is the share of the samples that were to arrive, the planned ones or else the accepted ones, \
         that did not, whatever the reason. All are sums over the valid runs.",
        "Samples/s, Mbit/s (10^6 bit/s of payload) and CPU are medians over the valid runs. A rate is the number of samples \
         that arrived while samples were written, over that time. Tail is the number of samples that arrived after the \
         last write, and the time from the last write to the last arrival.",
        "UDP drops is the number of datagrams that the kernel dropped at full socket buffers of the agents during the \
         valid runs; it is n/a without such a counter.",
    ]
    .map(str::to_owned)
}

fn latency(document: &ResultDocument) -> [String; 2] {
    let design = &document.experiment.design;
    [
        format!(
            "Latency is the RTT, the full round trip. A one-way estimate is RTT/2; times measured one way are in Latency by \
             direction. Quantiles are medians over the valid runs of a cell ({} of up to {}), as in verdicts, accurate to \
             0.1 %, and of all sent pings: lost pings rank above all others. Mean, SD, Min and Max are exact, over the n \
             samples of all runs. n/a marks a quantile that the samples cannot bound with 95 % confidence, or that lies \
             among the lost pings.",
            count(design.blocks as usize, "run"),
            duration(design.measure_ns)
        ),
        "Out and Back are the one-way times from pinger to echo and from echo to pinger, by one clock. A ping whose echo \
         does not return within the time limit is lost. It is not sent again."
            .to_owned(),
    ]
}

fn under_load(document: &ResultDocument) -> Vec<String> {
    let design = &document.experiment.design;
    let mut paragraphs = vec![
        "Latency under load: each sample has an intended send time, from a fixed schedule. Response is the time from the \
         intended send time to the arrival, Service from the start of the write call to the arrival, and Send lag from the \
         intended send time to the start of the write call. Response is the sum of the other two. All are one-way times by \
         one clock."
            .to_owned(),
        format!(
            "Load is the planned rate; `burst 10/100ms` is 10 samples at once every 100 ms; `max` has no intended send times, \
             therefore only Service. Accepted is the rate of the samples that the middleware accepted, and Delivered that of \
             the distinct samples that arrived at the reader: medians over the valid runs. Delivered samples and samples Out \
             of order, which arrived after a later one, are sums over the runs. Times are medians over the valid runs of a \
             cell ({} of up to {}), accurate to 0.1 %, of delivered samples.",
            count(design.blocks as usize, "run"),
            duration(design.measure_ns)
        ),
        "Jitter is the standard deviation of the response times. Late is the share of the samples that were to arrive which \
         arrived later than a mean period (for bursts, the time between two) after their intended send time; samples that did \
         not arrive are not late but missing."
            .to_owned(),
    ];
    if document.cells.iter().any(system::is_system) {
        paragraphs.push(system::LEGEND.to_owned());
    }
    if !document.max_rates.is_empty() {
        paragraphs.push(maximum::LEGEND.to_owned());
    }
    paragraphs.extend(paced::notes(&document.cells, design.await_echo));
    let some = |runs: fn(&PacedCell) -> u32| {
        document.cells.iter().filter_map(|cell| cell.paced.as_ref()).any(|paced| runs(paced) > 0)
    };
    if some(|paced| paced.sender_limited_runs) {
        paragraphs.push(format!(
            "{}: the p99 send lag exceeds a tenth of the period or of the median response. The response then shows how late the \
             sender was, and is not a property of the middleware: findings use the service times if the schedule was kept \
             except for a few samples. The warnings name the cause.",
            paced::SENDER_LIMITED
        ));
    }
    if some(|paced| paced.back_pressure_runs) {
        paragraphs.push(format!(
            "{}: the p99 send lag exceeds a tenth of the period or of the median response, because write calls did not return \
             in time although the writing thread had time left: the middleware accepts less than was planned.",
            paced::BACK_PRESSURE
        ));
    }
    paragraphs
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
        (0, _) => "; the others have too few samples",
        (_, 0) => "; the warnings name the others",
        _ => "; the warnings name the others, if they have enough samples",
    };
    Some(format!(
        "Steady state: {flat} of {} kept one level during the measurement (p50 and p99 of RTT or response, or the delivered \
         rate){others}.",
        count(valid, "valid run")
    ))
}
