//! Replies as a runner reads them, up to the first invalid line: each valid one can be sent and read again, and its
//! measurements can be summarized and stored.

use std::time::SystemTime;

use control::{AgentReport, Reply, receive_line, send};
use results::{IntervalLog, Latency, WritingTime, steady_latency, steady_rate};

pub fn run(lines: &[u8]) {
    let mut lines = lines;
    while let Ok(message) = receive_line::<Reply>(&mut lines) {
        if let Reply::Report(report) = &message {
            sum_up(report);
        }
        let mut said = Vec::new();
        send(&mut said, &message).expect("a vector takes all bytes");
        receive_line::<Reply>(&mut said.as_slice()).expect("what was said is understood");
    }
}

fn sum_up(report: &AgentReport) {
    let pinged = report.pinger().into_iter().flat_map(|pinger| &pinger.returns).map(|back| &back.rtt);
    let mut log = IntervalLog::new();
    let written = report.writer().into_iter().flat_map(|writer| &writer.flows);
    let written = written.flat_map(|flow| [&flow.send_lag, &flow.write_call]);
    let flows = || report.reader().into_iter().flat_map(|reader| &reader.flows);
    let served = flows().flat_map(|flow| [&flow.service, &flow.response]);
    for distribution in written.chain(pinged).chain(served) {
        let Ok(windows) = distribution.histograms() else { continue };
        let merged = log.add("rtt", distribution).expect("it was decoded before");
        for lost in [0, 1, u64::MAX] {
            let latency = Latency::of_windows(distribution, &windows, lost);
            assert_eq!(
                latency.expect("all histograms have one shape"),
                Latency::of_merged(distribution, &merged, lost)
            );
        }
        let _ = steady_latency("rtt", &windows, distribution.window_ns);
    }
    let _ = log.merged();
    log.write(SystemTime::UNIX_EPOCH, "").expect("what was read can be stored");
    for received in flows().map(|flow| &flow.received) {
        let writing = WritingTime::new(received.first_ns, received.last_ns);
        let _ = steady_rate(received, writing);
        let _ = writing.per_second(writing.delivered(received));
    }
}
