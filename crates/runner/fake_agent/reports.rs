//! Reports of the fake agent: fixed values that the tests know exactly.

use control::{
    AgentReport, Configure, EchoReport, EntityMatch, FlowReaderReport, FlowWriterReport, ParticipantReport,
    PingerReport, ReaderReport, ReturnReport, RoleReport, TimestampLog, TimestampPair, WriterReport,
};
use experiment::{Load, Role, StreamSpec};
use results::{
    Arrivals, Distribution, Interface, MulticastSent, Received, Sockets, TimelinessReport, Usage,
    WindowCounts, Windows,
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
/// Send lag of a paced sample.
const LAG_NS: u64 = 100;

/// Returns the report. `scripted` returns whether a fault was requested.
pub fn report(configure: &Configure, scripted: &dyn Fn(&'static str) -> bool) -> AgentReport {
    let mut report = AgentReport {
        usage: Usage {
            elapsed_ns: 1_000_000_000,
            user_ns: 2_000_000,
            system_ns: 3_000_000,
            ..Usage::default()
        },
        sockets: Some(Sockets {
            multicast: Some(MulticastSent { packets: SENT, bytes: SENT * size_bytes(configure) }),
            ..Sockets::default()
        }),
        interface: Some(Interface { name: "lo".to_owned(), rx_packets: SENT, ..Interface::default() }),
        counters: [("any".to_owned(), [("packets_sent".to_owned(), SENT)].into())].into(),
        role: RoleReport::Participant,
        participant: None,
    };
    match configure.role {
        Role::Writer if configure.is_paced() => {
            report.role = RoleReport::Writer(paced_writer_report(configure));
        }
        Role::Reader if configure.is_paced() => {
            report.role = RoleReport::Reader(paced_reader_report(configure, scripted));
        }
        Role::Writer => report.role = RoleReport::Writer(writer_report(configure)),
        Role::Reader => {
            let foreign = if scripted("foreign") { 3 } else { 0 };
            let received = received(configure, scripted, SENT);
            report.role = RoleReport::Reader(ReaderReport {
                flows: vec![FlowReaderReport { received, ..FlowReaderReport::default() }],
                probes: None,
                foreign,
            });
        }
        Role::Pinger => report.role = RoleReport::Pinger(pinger_report(configure, scripted)),
        Role::Echo | Role::Relay => report.role = RoleReport::Echo(echo_report()),
        Role::Participant => report.participant = Some(participant_report(configure)),
    }
    report.usage.samples = metered(&report);
    report
}

/// Returns the number of samples metered during the traffic: all that are counted.
fn metered(report: &AgentReport) -> u64 {
    let delivered = report.received().map(|received| received.delivered);
    if report.reader().is_some() { delivered.sum() } else { SENT }
}

fn distribution(configure: &Configure, value_ns: u64, n: u64) -> Distribution {
    let mut windows = Windows::new(configure.windows, SENT * PERIOD_NS);
    windows.begin(BEGIN_NS);
    for index in 0..n {
        windows.record(BEGIN_NS + index * PERIOD_NS, value_ns);
    }
    windows.distribution()
}

fn writer_report(configure: &Configure) -> WriterReport {
    let flow = FlowWriterReport {
        planned: SENT,
        offered: SENT,
        accepted: SENT,
        warm_up: WARM_UP,
        write_call: distribution(configure, 2_000, SENT),
        ..FlowWriterReport::default()
    };
    WriterReport {
        begin_ns: BEGIN_NS,
        end_ns: BEGIN_NS + SENT * PERIOD_NS,
        flows: vec![flow],
        ..WriterReport::default()
    }
}

/// Returns the time between two arrivals: that of the schedule, or a fixed one without intended times.
fn period_ns(configure: &Configure, sent: u64) -> u64 {
    let planned = configure.streams().all(|stream| lag_ns(stream).is_some());
    if planned { configure.measure_ns / sent } else { PERIOD_NS }
}

/// Returns the reader's record of `sent` samples.
fn received(configure: &Configure, scripted: &dyn Fn(&'static str) -> bool, sent: u64) -> Received {
    let period_ns = period_ns(configure, sent);
    let mut received = Received {
        delivered: sent,
        next: sent,
        checked_in_full: sent,
        first_ns: BEGIN_NS + OUT_NS,
        last_ns: BEGIN_NS + OUT_NS + (sent - 1) * period_ns,
        ..Received::default()
    };
    if scripted("owe") {
        received.delivered -= LOST;
        received.next -= LOST;
    }
    if scripted("torn") {
        received.delivered -= 1;
    }
    received.bytes = received.delivered * size_bytes(configure);
    let windows = u64::from(configure.windows);
    received.window_ns = sent * period_ns / windows;
    received.window_delivered = vec![sent / windows; configure.windows as usize];
    // Missing samples are missing at the end.
    received.window_delivered[configure.windows as usize - 1] += received.delivered;
    received.window_delivered[configure.windows as usize - 1] -= sent / windows * windows;
    received.warm_up = WARM_UP;
    received.given = received.delivered + WARM_UP;
    received.taken = Some(received.given);
    received.given_bytes = received.given * size_bytes(configure);
    received.quickest_ns = OUT_NS.cast_signed();
    received.arrivals = arrivals(&received, period_ns);
    received
}

/// Returns the arrivals: one sample per period.
fn arrivals(received: &Received, period_ns: u64) -> Arrivals {
    let mut windows = WindowCounts::new(100, SENT * period_ns);
    for sample in 0..received.delivered {
        windows.count(received.first_ns + sample * period_ns);
    }
    windows.arrivals()
}

/// Returns the send lag; `None` without intended times.
fn lag_ns(stream: &StreamSpec) -> Option<u64> {
    stream.load.as_ref().is_some_and(Load::has_times).then_some(LAG_NS)
}

/// Returns the size of the largest sample.
fn size_bytes(configure: &Configure) -> u64 {
    configure.streams().map(|stream| stream.size_bytes).max().unwrap_or(0)
}

fn paced_writer_report(configure: &Configure) -> WriterReport {
    let sent = SENT / configure.streams().count() as u64;
    let flow = |stream: &StreamSpec| FlowWriterReport {
        planned: sent,
        offered: sent,
        accepted: sent,
        warm_up: WARM_UP,
        send_lag: match lag_ns(stream) {
            Some(lag) => distribution(configure, lag, sent),
            None => distribution(configure, 1, 0),
        },
        write_call: distribution(configure, 2_000, sent),
        ..FlowWriterReport::default()
    };
    WriterReport {
        begin_ns: BEGIN_NS,
        end_ns: BEGIN_NS + configure.measure_ns,
        spin_ns: if configure.spin { 50_000 } else { 0 },
        flows: configure.streams().map(flow).collect(),
        ..WriterReport::default()
    }
}

fn paced_reader_report(configure: &Configure, scripted: &dyn Fn(&'static str) -> bool) -> ReaderReport {
    let sent = SENT / configure.streams().count() as u64;
    let flow = |stream: &StreamSpec| {
        let mut received = received(configure, scripted, sent);
        received.bytes = received.delivered * stream.size_bytes;
        received.given_bytes = received.given * stream.size_bytes;
        FlowReaderReport {
            service: distribution(configure, OUT_NS, received.delivered),
            response: match lag_ns(stream) {
                Some(lag) => distribution(configure, OUT_NS + lag, received.delivered),
                None => distribution(configure, 1, 0),
            },
            timeliness: stream.deadline_ns.map(|_| TimelinessReport {
                in_time: received.delivered,
                mean_age_ns: OUT_NS as f64,
                age: distribution(configure, OUT_NS, received.delivered),
                gaps: None,
            }),
            received,
            ..FlowReaderReport::default()
        }
    };
    let flows = configure.streams().map(flow).collect();
    ReaderReport { probes: None, flows, foreign: if scripted("foreign") { 3 } else { 0 } }
}

fn pinger_report(configure: &Configure, scripted: &dyn Fn(&'static str) -> bool) -> PingerReport {
    let mut stamps = TimestampLog::with_capacity(SENT as usize);
    for sequence in 0..SENT {
        let sent = BEGIN_NS + sequence * PERIOD_NS;
        stamps
            .record(sequence, TimestampPair { first_ns: sent, second_ns: sent + OUT_NS + TURN_NS + BACK_NS });
    }
    let returned = ReturnReport {
        returned: SENT - u64::from(scripted("torn")),
        lost: 0,
        late: 0,
        latest_ns: None,
        duplicate: 0,
        corrupt: 0,
        foreign: 0,
        checked_in_full: SENT,
        rtt: distribution(configure, OUT_NS + TURN_NS + BACK_NS, SENT),
        stamps,
    };
    PingerReport {
        sent: SENT,
        unsent: 0,
        timed_out: 0,
        refused: 0,
        elapsed_ns: SENT * PERIOD_NS,
        in_time: SENT - u64::from(scripted("torn")),
        ping_timeout_ns: 200_000_000,
        returns: vec![returned],
        last_rtt: None,
    }
}

fn echo_report() -> EchoReport {
    let mut stamps = TimestampLog::with_capacity(SENT as usize);
    for sequence in 0..SENT {
        let came = BEGIN_NS + sequence * PERIOD_NS + OUT_NS;
        stamps.record(sequence, TimestampPair { first_ns: came, second_ns: came + TURN_NS });
    }
    EchoReport {
        received: SENT,
        duplicate: 0,
        echoed: SENT,
        timed_out: 0,
        refused: 0,
        overwritten: 0,
        wrong_size: 0,
        foreign: 0,
        echoed_in_listener: None,
        stamps,
    }
}

/// Returns the report of a participant whose entities matched 1 ms after the start, one after the other.
fn participant_report(configure: &Configure) -> ParticipantReport {
    let begin_ns = configure.begin_ns.expect("a common start");
    let entity = |(index, peers): (usize, usize)| EntityMatch {
        matched: peers as u32,
        changed_ns: Some(begin_ns + 1_000_000 * (index as u64 + 1)),
    };
    let peers = configure.readers.first().map_or(0, |reader| reader.streams.len());
    let entities = |count: usize| (0..count).map(|index| entity((index, peers))).collect();
    ParticipantReport {
        begin_ns,
        opening_ns: begin_ns + 100_000,
        participant_ns: begin_ns + 300_000,
        entities_ns: begin_ns + 400_000,
        writers: entities(configure.writers.len()),
        readers: entities(configure.readers.len()),
        found_matched_ns: begin_ns + 200_000_000,
        memory_before_bytes: Some(4 << 20),
        memory_matched_bytes: Some(10 << 20),
        ..ParticipantReport::default()
    }
}
