//! Findings over loads: the knee, and a rate that is not reached.

use experiment::{Arrival, Load, PercentOfMax, Rate, Workload};
use results::{FindingKind, ResultDocument, Run};

use crate::{
    rig::{none, number, of_kind},
    sample::paced,
};

const LOADS: [u64; 5] = [1_000, 5_000, 10_000, 20_000, 40_000];

/// Truth at a load.
#[derive(Clone, Copy)]
pub struct Truth {
    /// 99 % service time, in ns.
    pub p99_ns: f64,
    /// Accepted samples, as a share of planned samples.
    pub accepted: f64,
    /// Whether the sender was late by itself.
    pub late: bool,
    /// Whether write calls made the sender late.
    pub held: bool,
    /// 99 % send lag in ns, which the response time includes.
    pub lag_p99_ns: f64,
    /// Median send lag in ns; `None`: short, as in the sample.
    pub lag_p50_ns: Option<u64>,
    /// Samples not tried, in percent of the schedule.
    pub unsent: u64,
    /// Lost samples, in percent of the schedule.
    pub lost: u64,
}

pub const WELL: Truth = Truth {
    p99_ns: 20_000.0,
    accepted: 1.0,
    late: false,
    held: false,
    lag_p99_ns: 0.0,
    lag_p50_ns: None,
    unsent: 0,
    lost: 0,
};

/// Returns a result of one driver with [`LOADS`]; runs differ by 1 %.
pub fn result(truth: impl Fn(u64) -> Truth) -> ResultDocument {
    result_of(&LOADS.map(paced::constant), truth)
}

/// Like [`result`], with these loads.
fn result_of(loads: &[Load], truth: impl Fn(u64) -> Truth) -> ResultDocument {
    let mut header = paced::header(loads, &[]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    let cells = header.experiment.cells.clone();
    paced::document_with(&header, |run: &mut Run| {
        let cell = cells.iter().find(|cell| cell.id == run.cell).expect("its cell");
        let sps = cell.factors.load.as_ref().and_then(Load::rate).map_or(0.0, Rate::sps);
        let truth = truth(sps as u64);
        let noise = 1.0 + 0.01 * (f64::from(run.block) - 2.0);
        for (kind, ns) in [("response", truth.p99_ns + truth.lag_p99_ns), ("service", truth.p99_ns)] {
            run.latency.get_mut(kind).expect("a paced run has it").p99_ns = Some((ns * noise) as u64);
        }
        let lag = run.latency.get_mut("send_lag").expect("a paced run has it");
        lag.p99_ns = Some((truth.lag_p99_ns * noise) as u64);
        lag.p50_ns = truth.lag_p50_ns.or(lag.p50_ns);
        let paced = run.paced_mut().expect("a plan");
        (paced.sender_limited, paced.back_pressure) = (truth.late, truth.held);
        paced.unsent = paced.planned * truth.unsent / 100;
        run.flows[0].lag_in_writes_pct = Some(if truth.held { 80.0 } else { 20.0 });
        let throughput = run.throughput_mut().expect("rates");
        throughput.accepted_sps = sps * if truth.accepted < 1.0 { truth.accepted * noise } else { 1.0 };
        run.flows[0].counted.lost = run.flows[0].counted.sent * truth.lost / 100;
    })
}

pub fn kinds(document: &ResultDocument) -> Vec<FindingKind> {
    findings::find(document).iter().map(|finding| finding.kind).collect()
}

#[test]
fn the_knee_is_the_highest_load_within_twice_the_response_of_the_lowest() {
    let document =
        result(|sps| Truth { p99_ns: if sps > 10_000 { 90_000.0 } else { 20_000.0 + sps as f64 }, ..WELL });
    let [knee] = &of_kind(&document, FindingKind::Knee)[..] else { panic!("{:?}", kinds(&document)) };
    number(knee, "knee_sps", 10_000.0);
    number(knee, "beyond_sps", 20_000.0);
    number(knee, "lowest_response_p99_ns", 21_000.0);
    assert_eq!(
        knee.text,
        "`dds` under load at 1024 bytes: the knee is at 10000/s: up to there the 99 % response, 20.8 to 30.3 µs, stays \
         within twice that at the lowest load, 1000/s: 21.0 µs (20.8 to 21.2); at 20000/s it is 89.1 to 90.9 µs (3 runs \
         each)."
    );
    assert_eq!(knee.cells.len(), 5);
    assert!(of_kind(&document, FindingKind::NoKnee).is_empty());
}

#[test]
fn missing_knee_and_excluded_loads_are_reported() {
    let document = result(|_| WELL);
    assert_eq!(kinds(&document), [FindingKind::NoKnee, FindingKind::KeepsUp]);
    let [no_knee] = &of_kind(&document, FindingKind::NoKnee)[..] else { unreachable!() };
    number(no_knee, "highest_sps", 40_000.0);
    assert!(no_knee.text.contains("no knee up to 40000/s: at all loads"), "{}", no_knee.text);

    // times are excluded if the sender was behind, or if samples were lost
    let document = result(|sps| match sps {
        40_000 => Truth { late: true, unsent: 2, p99_ns: 900_000.0, ..WELL },
        20_000 => Truth { lost: 3, p99_ns: 900_000.0, ..WELL },
        _ => WELL,
    });
    let [no_knee] = &of_kind(&document, FindingKind::NoKnee)[..] else { panic!("{:?}", kinds(&document)) };
    number(no_knee, "highest_sps", 10_000.0);
    let expected = "Left out, because their times cannot be compared: 20000/s (3.00 % lost) and 40000/s \
                (sender-limited, and 0 of 3 runs kept to the plan).";
    assert!(no_knee.text.ends_with(expected), "{}", no_knee.text);

    // or if a run has too few samples: the other runs are the quick ones
    let mut document = result(|_| WELL);
    let cell = &mut document.cells[4];
    cell.runs.push(cell.runs[0].clone());
    let response = cell.runs[0].latency.get_mut("response").expect("response times");
    (response.n, response.p99_ns) = (200, None);
    let [no_knee] = &of_kind(&document, FindingKind::NoKnee)[..] else { panic!("{:?}", kinds(&document)) };
    number(no_knee, "highest_sps", 20_000.0);
    let expected =
        "Left out, because their times cannot be compared: 40000/s (a run has too few samples for it).";
    assert!(no_knee.text.ends_with(expected), "{}", no_knee.text);
}

#[test]
fn runs_on_both_sides_make_the_knee_unclear() {
    // 2 % apart, around twice the lowest
    let document = result(|sps| Truth {
        p99_ns: match sps {
            ..=10_000 => 20_000.0,
            20_000 => 40_000.0,
            _ => 90_000.0,
        },
        ..WELL
    });
    let [knee] = &of_kind(&document, FindingKind::Knee)[..] else { panic!("{:?}", kinds(&document)) };
    number(knee, "beyond_sps", 40_000.0);
    assert!(knee.text.ends_with("At 20000/s the runs lie on both sides."), "{}", knee.text);

    for p99_ns in [
        // on both sides at the end; below the limit again after it was above
        |sps: u64| if sps < 40_000 { 20_000.0 } else { 40_000.0 },
        |sps: u64| if sps == 10_000 { 90_000.0 } else { 20_000.0 },
    ] {
        let document = result(|sps| Truth { p99_ns: p99_ns(sps), ..WELL });
        assert_eq!(kinds(&document), [FindingKind::KneeUnclear, FindingKind::KeepsUp]);
    }
}

#[test]
fn unreached_rate_is_reported_with_its_start() {
    let document = result(|sps| Truth {
        accepted: if sps < 20_000 { 1.0 } else { 16_000.0 / sps as f64 },
        // back-pressure makes a sender late
        late: sps >= 20_000,
        ..WELL
    });
    let [short] = &of_kind(&document, FindingKind::FallsShort)[..] else { panic!("{:?}", kinds(&document)) };
    number(short, "short_from_sps", 20_000.0);
    number(short, "kept_to_sps", 10_000.0);
    number(short, "achieved_sps", 16_000.0);
    assert_eq!(
        short.text,
        "`dds` under load at 1024 bytes: the achieved rate falls short of the planned one from 20000/s on: 15840 to \
         16160/s there, 15840 to 16160/s at 40000/s; up to 10000/s it is the planned one: 100 % of it (3 runs each)."
    );

    let document = result(|sps| Truth {
        accepted: match sps {
            ..=5_000 => 1.0,
            10_000 => 0.992,
            _ => 0.8,
        },
        ..WELL
    });
    let [short] = &of_kind(&document, FindingKind::FallsShort)[..] else { panic!("{:?}", kinds(&document)) };
    number(short, "kept_to_sps", 5_000.0);
    assert!(short.text.ends_with("At 10000/s the runs lie on both sides."), "{}", short.text);

    // on both sides at the end; complete again after it fell short
    for accepted in
        [|sps: u64| if sps < 40_000 { 1.0 } else { 0.992 }, |sps: u64| if sps == 10_000 { 0.9 } else { 1.0 }]
    {
        let document = result(|sps| Truth { accepted: accepted(sps), ..WELL });
        assert_eq!(kinds(&document), [FindingKind::NoKnee]);
    }
}

#[test]
fn a_single_load_says_nothing_and_neither_does_max() {
    for loads in [vec![paced::constant(1000)], vec![Load::Max], vec![paced::constant(1000), Load::Max]] {
        let mut header = paced::header(&loads, &[]);
        header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
        assert!(header.experiment.cells.iter().all(|cell| cell.factors.workload == Workload::Paced));
        none(&paced::document_with(&header, |_| {}));
    }
}

#[test]
fn knee_between_percent_loads_has_percent_and_rate() {
    let share = |(percent, sps): (f64, u64)| {
        let percent = PercentOfMax::of_percent(percent).expect("a share");
        Load::Share { percent, arrival: Arrival::Constant, rate: Some(Rate::per_second(sps)) }
    };
    let loads = [(2.5, 1_000), (25.0, 10_000), (50.0, 20_000), (99.5, 39_800)].map(share);
    let document = result_of(&loads, |sps| Truth {
        p99_ns: if sps > 10_000 { 90_000.0 } else { 20_000.0 },
        accepted: if sps > 20_000 { 0.5 } else { 1.0 },
        ..WELL
    });
    let [knee] = &of_kind(&document, FindingKind::Knee)[..] else { panic!("{:?}", kinds(&document)) };
    number(knee, "knee_sps", 10_000.0);
    number(knee, "knee_of_maximum_pct", 25.0);
    number(knee, "beyond_of_maximum_pct", 50.0);
    assert!(knee.text.contains("the knee is at 10000/s (25 % of the maximum): up to there"), "{}", knee.text);
    assert!(knee.text.contains("at the lowest load, 1000/s (2.5 % of the maximum): "), "{}", knee.text);
    let [short] = &of_kind(&document, FindingKind::FallsShort)[..] else { panic!("{:?}", kinds(&document)) };
    assert!(short.text.contains("from 39800/s (99.5 % of the maximum) on: "), "{}", short.text);
    // a share without a known rate is not a load
    let unknown = Load::Share {
        percent: PercentOfMax::of_percent(60.0).expect("a share"),
        arrival: Arrival::Constant,
        rate: None,
    };
    let document = result_of(&[loads[0].clone(), loads[1].clone(), unknown], |_| WELL);
    let [no_knee] = &of_kind(&document, FindingKind::NoKnee)[..] else { panic!("{:?}", kinds(&document)) };
    assert_eq!(no_knee.cells.len(), 2);
}
