//! Reports of the fake agent: fixed values that the tests know exactly.

use control::{
    Configure, FlowRead, FlowWritten, PacedRead, PacedWritten, Pinged, Ponged, ReaderReport, Report, Role,
    Stamp, Stamps, Written,
};
use experiment::{Flow, Workload};
use results::{
    Arrivals, Distribution, Idle, Interface, MulticastSent, Received, Sockets, Takes, Usage, WindowCounts,
    Windows,
};

/// Number of samples or pings.
pub const SENT: u64 = 1000;
/// Period of the samples.
const PERIOD_NS: u64 = 1_000_000;
const BEGIN_NS: u64 = 5_000_000_000;
/// Parts of a round trip: outward, at the echo, and back.
const OUT_NS: u64 = 40_000;
const TURN_NS: u64 = 15_000;
const BACK_NS: u64 = 45_000;
const LOST: u64 = 10;
/// Number of samples of the warm-up, all delivered.
const WARM_UP: u64 = 50;
/// Delay of a late repair after the regular arrival.
const REPAIR_NS: u64 = 3_000_000_000;
/// Send lag of a paced sample.
const LAG_NS: u64 = 100;

/// Returns the report. `told` returns whether a fault was requested.
pub fn report(configure: &Configure, told: &dyn Fn(&'static str) -> bool) -> Report {
    let mut report = Report {
        usage: Usage {
            elapsed_ns: 1_000_000_000,
            user_ns: if told("busy") { 950_000_000 } else { 2_000_000 },
            system_ns: 3_000_000,
            run_delay_ns: told("starved").then_some(900_000_000),
            idle: idle(told),
            ..Usage::default()
        },
        sockets: Some(Sockets {
            multicast: (!told("uncounted")).then(|| {
                let samples = if told("unicast") { SENT / 2 } else { SENT };
                MulticastSent { packets: samples, bytes: samples * configure.factors.size_bytes }
            }),
            receive_buffer_errors: if told("lose") { 7 } else { 0 },
            ..Sockets::default()
        }),
        interface: Some(Interface { name: "lo".to_owned(), rx_packets: SENT, ..Interface::default() }),
        counters: [("any".to_owned(), [("packets_sent".to_owned(), SENT)].into())].into(),
        writer: None,
        reader: None,
        pinger: None,
        ponger: None,
        paced_writer: None,
        paced_reader: None,
    };
    match configure.role {
        Role::Writer if configure.factors.workload == Workload::Paced => {
            report.paced_writer = Some(paced_written(configure, told));
        }
        Role::Reader if configure.factors.workload == Workload::Paced => {
            report.paced_reader = Some(paced_read(configure, told));
        }
        Role::Writer => report.writer = Some(written(configure, told)),
        Role::Reader => {
            let foreign = if told("foreign") { 3 } else { 0 };
            let received = received(configure, told, SENT);
            let takes = takes(configure, told, &received);
            report.reader = Some(ReaderReport { received: vec![received], foreign, probes: None, takes });
        }
        Role::Pinger => report.pinger = Some(pinged(configure, told)),
        Role::Ponger => report.ponger = Some(ponged(told)),
    }
    report.usage.samples = metered(&report) + u64::from(told("overmetered"));
    if told("overflow") {
        overflow(&mut report);
    }
    report
}

/// Returns the number of samples metered during the traffic: all that are counted.
fn metered(report: &Report) -> u64 {
    let flows = report.paced_reader.iter().flat_map(|read| &read.flows);
    let received = report.reader.iter().flat_map(|read| &read.received);
    let delivered = received.chain(flows.map(|flow| &flow.received)).map(|received| received.delivered);
    if report.reader.is_some() || report.paced_reader.is_some() { delivered.sum() } else { SENT }
}

/// Returns the idle usage: 80 % of the CPU time, more than all of it, or a whole core.
fn idle(told: &dyn Fn(&'static str) -> bool) -> Option<Idle> {
    let used_ns = match () {
        () if told("restless") => 200_000,
        () if told("lazy") => 300_000,
        () if told("polls") => 49_000_000,
        () => return None,
    };
    Some(Idle { elapsed_ns: 50_000_000, used_ns, run_delay_ns: Some(0) })
}

/// Sets counters that are added to others to their maximum.
fn overflow(report: &mut Report) {
    report.usage.user_ns = u64::MAX;
    let of_flows = report.paced_reader.iter_mut().flat_map(|reader| &mut reader.flows);
    let received = report.reader.iter_mut().flat_map(|reader| &mut reader.received);
    for received in received.chain(of_flows.map(|flow| &mut flow.received)) {
        received.delivered = u64::MAX;
        received.missing = u64::MAX;
        received.duplicate = u64::MAX;
        received.out_of_order = u64::MAX;
        received.window_delivered.fill(u64::MAX);
        received.window_ns = u64::MAX / 2;
        received.last_ns = u64::MAX;
        received.quickest_ns = u64::MAX;
        received.arrivals.window_ns = u64::MAX / 2;
        received.arrivals.windows.fill(u64::MAX);
    }
    if let Some(written) = &mut report.writer {
        written.timed_out = u64::MAX;
        written.refused = u64::MAX;
    }
    for written in report.paced_writer.iter_mut().flat_map(|writer| &mut writer.flows) {
        written.timed_out = u64::MAX;
        written.refused = u64::MAX;
    }
    if let Some(pinged) = &mut report.pinger {
        pinged.returned = u64::MAX;
        pinged.lost = u64::MAX;
        pinged.foreign = u64::MAX;
        pinged.duplicate = u64::MAX;
    }
    if let Some(ponged) = &mut report.ponger {
        ponged.foreign = u64::MAX;
        let ends = [0, u64::MAX].map(|ns| Stamp { first_ns: ns, second_ns: ns });
        for (sequence, stamp) in (0..SENT).zip(ends.into_iter().cycle()) {
            ponged.stamps.record(sequence, stamp);
        }
    }
}

fn distribution(configure: &Configure, value_ns: u64, n: u64) -> Distribution {
    let mut windows = Windows::new(configure.windows, SENT * PERIOD_NS);
    windows.begin(BEGIN_NS);
    for index in 0..n {
        windows.record(BEGIN_NS + index * PERIOD_NS, value_ns);
    }
    windows.distribution()
}

fn written(configure: &Configure, told: &dyn Fn(&'static str) -> bool) -> Written {
    Written {
        offered: SENT - u64::from(told("overaccepts")),
        accepted: SENT,
        warm_up: WARM_UP,
        timed_out: 0,
        refused: 0,
        begin_ns: BEGIN_NS,
        end_ns: BEGIN_NS + SENT * PERIOD_NS,
        write_call: distribution(configure, 2_000, SENT - u64::from(told("uncalled"))),
        batches: None,
        probes: None,
    }
}

/// Returns the time between two arrivals: that of the schedule, or a fixed one without intended times.
fn period_ns(configure: &Configure, sent: u64) -> u64 {
    let planned = configure.factors.workload == Workload::Paced
        && configure.factors.streams().iter().all(|flow| flow.load.has_times());
    if planned { configure.measure_ns / sent } else { PERIOD_NS }
}

/// Returns the reader's record of `sent` samples.
fn received(configure: &Configure, told: &dyn Fn(&'static str) -> bool, sent: u64) -> Received {
    let period_ns = period_ns(configure, sent);
    let mut received = Received {
        delivered: sent,
        next: sent,
        checked_in_full: sent,
        first_ns: BEGIN_NS + OUT_NS,
        last_ns: BEGIN_NS + OUT_NS + (sent - 1) * period_ns,
        ..Received::default()
    };
    if told("lose") {
        // Half of them within the stream, half at its end.
        received.missing = LOST;
        received.delivered -= 2 * LOST;
        received.next -= LOST;
    }
    if told("owe") {
        received.delivered -= LOST;
        received.next -= LOST;
    }
    if told("overrun") {
        received.next += 1;
        received.delivered += 1;
    }
    if told("torn") {
        received.delivered -= 1;
    }
    if told("corrupt") {
        received.corrupt = 1;
    }
    if told("few") {
        // The other samples are lost at the end.
        (received.delivered, received.next) = (LOST, LOST);
    }
    received.bytes = received.delivered * configure.factors.size_bytes;
    let windows = u64::from(configure.windows);
    received.window_ns = sent * period_ns / windows;
    received.window_delivered = vec![sent / windows; configure.windows as usize];
    if told("few") {
        received.window_delivered = vec![received.delivered];
    } else {
        // Missing samples are missing at the end.
        received.window_delivered[configure.windows as usize - 1] += received.delivered;
        received.window_delivered[configure.windows as usize - 1] -= sent / windows * windows;
    }
    if told("miscount") {
        received.window_delivered[0] += 1;
    }
    received.warm_up = WARM_UP;
    received.given = received.delivered + WARM_UP + u64::from(told("conjure"));
    received.taken = Some(received.given + u64::from(told("overtake")));
    received.given_bytes = received.given * configure.factors.size_bytes;
    received.quickest_ns = OUT_NS;
    if told("repair") {
        // The last sample arrives after a heartbeat triggered its repair.
        received.last_ns += REPAIR_NS;
    }
    received.arrivals = arrivals(&received, period_ns);
    received
}

/// Returns the arrivals: one sample per period; the last sample at its own time.
fn arrivals(received: &Received, period_ns: u64) -> Arrivals {
    let mut windows = WindowCounts::new(100, SENT * period_ns);
    for sample in 1..received.delivered {
        windows.count(received.first_ns + (sample - 1) * period_ns);
    }
    if received.delivered > 0 {
        windows.count(received.last_ns);
    }
    windows.arrivals()
}

/// Returns the statistics of receive groups, if requested: full, too large, or none.
fn takes(configure: &Configure, told: &dyn Fn(&'static str) -> bool, received: &Received) -> Option<Takes> {
    let group = configure.factors.queues.receive_group.filter(|_| !told("single"))?;
    let samples = u64::from(group.samples) + u64::from(told("hoard"));
    let groups = received.delivered.div_ceil(samples);
    let taken = received.delivered - u64::from(told("mislay"));
    Some(Takes::new(groups, taken, samples, 2 * groups))
}

/// Returns the send lag; `None` without intended times.
fn lag_ns(flow: &Flow, told: &dyn Fn(&'static str) -> bool) -> Option<u64> {
    let lag = if told("late") { OUT_NS } else { LAG_NS };
    flow.load.has_times().then_some(lag)
}

fn paced_written(configure: &Configure, told: &dyn Fn(&'static str) -> bool) -> PacedWritten {
    let flows = configure.factors.streams();
    let sent = SENT / flows.len() as u64;
    // With longer calls the last call ends after the measurement.
    let calls = if told("drag") { 2 } else { 1 };
    let flow = |flow: &Flow| FlowWritten {
        planned: sent + u64::from(told("unplanned")) + if told("unsent") { LOST } else { 0 },
        offered: sent,
        accepted: sent,
        warm_up: WARM_UP,
        timed_out: 0,
        refused: 0,
        send_lag: match lag_ns(flow, told) {
            Some(lag) => distribution(configure, lag, sent),
            None => distribution(configure, 1, 0),
        },
        held_ns: match lag_ns(flow, told) {
            Some(lag) if told("held") => 0.9 * lag as f64,
            Some(lag) if told("overheld") => 1.1 * lag as f64,
            _ => 0.0,
        },
        write_call: distribution(configure, calls * 2_000, sent),
        batches: None,
    };
    PacedWritten {
        probes: None,
        throttle: None,
        begin_ns: BEGIN_NS,
        end_ns: BEGIN_NS + calls * configure.measure_ns,
        spin_ns: if configure.spin { 50_000 } else { 0 },
        flows: flows.iter().map(flow).collect(),
    }
}

fn paced_read(configure: &Configure, told: &dyn Fn(&'static str) -> bool) -> PacedRead {
    let flows = configure.factors.streams();
    let flow = |flow: &Flow| {
        let mut received = received(configure, told, SENT / flows.len() as u64);
        received.bytes = received.delivered * flow.size_bytes;
        received.given_bytes = received.given * flow.size_bytes;
        let unplaced = if told("unplaced") { LOST } else { 0 };
        let placed = received.delivered - unplaced - u64::from(told("forget"));
        let response_ns = lag_ns(flow, told).map(|lag| if told("early") { OUT_NS - 1 } else { OUT_NS + lag });
        FlowRead {
            service: distribution(configure, OUT_NS, received.delivered),
            response: match response_ns {
                Some(ns) => distribution(configure, ns + u64::from(told("astray")), placed),
                None => distribution(configure, 1, 0),
            },
            unplaced,
            takes: takes(configure, told, &received),
            received,
        }
    };
    let mut read: Vec<FlowRead> = flows.iter().map(flow).collect();
    if told("deserter") {
        read.pop();
    }
    PacedRead { probes: None, flows: read, foreign: if told("foreign") { 3 } else { 0 } }
}

fn pinged(configure: &Configure, told: &dyn Fn(&'static str) -> bool) -> Pinged {
    let lost = if told("lose") { LOST } else { 0 };
    let mut stamps = Stamps::with_capacity(SENT as usize);
    for sequence in 0..SENT {
        let sent = BEGIN_NS + sequence * PERIOD_NS;
        let back = if sequence < lost { 0 } else { sent + OUT_NS + TURN_NS + BACK_NS };
        stamps.record(sequence, Stamp { first_ns: sent, second_ns: back });
    }
    let retried = |count| if told("retry") { count } else { 0 };
    Pinged {
        sent: SENT,
        unsent: retried(1),
        timed_out: retried(2),
        refused: retried(3),
        returned: SENT - lost - u64::from(told("torn")),
        lost,
        late: lost / 2,
        duplicate: 0,
        corrupt: u64::from(told("corrupt")),
        foreign: 0,
        checked_in_full: SENT - lost,
        ping_timeout_ns: 200_000_000,
        rtt: distribution(configure, OUT_NS + TURN_NS + BACK_NS, SENT - lost),
        stamps,
    }
}

fn ponged(told: &dyn Fn(&'static str) -> bool) -> Ponged {
    let shift = if told("backwards") { OUT_NS + 1 } else { 0 };
    let kept = if told("forget") { SENT - LOST } else { SENT };
    let mut stamps = Stamps::with_capacity(SENT as usize);
    for sequence in 0..kept {
        let came = BEGIN_NS + sequence * PERIOD_NS + OUT_NS - shift;
        stamps.record(sequence, Stamp { first_ns: came, second_ns: came + TURN_NS });
    }
    let retried = |count| if told("retry") { count } else { 0 };
    Ponged {
        received: SENT,
        echoed: SENT,
        timed_out: retried(4),
        refused: retried(5),
        overwritten: if told("overwritten") { 2 } else { 0 },
        foreign: 0,
        echo: "reader".to_owned(),
        stamps,
    }
}
