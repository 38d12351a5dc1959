//! Knee on hosts that make the sender late.

use results::{Finding, FindingKind, ResultDocument};

use crate::{
    load::{Truth, WELL, kinds, result},
    rig::{number, of_kind},
};

/// Host on which 1 % of the samples leave 300 us late, at any load.
const NOISY: Truth = Truth { late: true, lag_p99_ns: 300_000.0, ..WELL };

fn p99_ns(sps: u64) -> f64 {
    if sps > 10_000 { 90_000.0 } else { 20_000.0 }
}

fn the_only(document: &ResultDocument, kind: FindingKind) -> Finding {
    let found = of_kind(document, kind);
    let [only] = &found[..] else { panic!("{:?}", kinds(document)) };
    only.clone()
}

#[test]
fn where_the_host_makes_every_sender_late_the_knee_is_that_of_service_times() {
    let document = result(|sps| Truth { p99_ns: p99_ns(sps), ..NOISY });
    let knee = the_only(&document, FindingKind::Knee);
    number(&knee, "knee_sps", 10_000.0);
    number(&knee, "beyond_sps", 20_000.0);
    number(&knee, "lowest_service_p99_ns", 20_000.0);
    assert_eq!(
        knee.text,
        "`dds` under load at 1024 bytes: the knee is at 10000/s: up to there the 99 % service time, 19.8 to 20.2 µs, stays \
         within twice that at the lowest load, 1000/s: 20.0 µs (19.8 to 20.2); at 20000/s it is 89.1 to 90.9 µs (3 runs \
         each). Times are from the start of the write: at 1000/s, 5000/s, 10000/s, 20000/s and 40000/s the sender was late \
         by itself (99 % of the send lag 297 to 303 µs), and responses have that in them."
    );
    // all response times are within twice the lowest one, which the host determines
    assert!(
        document
            .cells
            .iter()
            .flat_map(|cell| &cell.runs)
            .all(|run| { run.latency["response"].p99_ns.is_some_and(|ns| (300_000..600_000).contains(&ns)) })
    );
}

#[test]
fn late_sender_is_included_only_if_it_sent_its_plan() {
    let at_lowest = |late: Truth| {
        result(move |sps| Truth { p99_ns: p99_ns(sps), ..if sps == 1_000 { late } else { WELL } })
    };
    let knee = the_only(&at_lowest(NOISY), FindingKind::Knee);
    number(&knee, "lowest_sps", 1_000.0);
    assert!(
        knee.text.contains("from the start of the write: at 1000/s the sender was late"),
        "{}",
        knee.text
    );

    for behind in [Truth { unsent: 2, ..NOISY }, Truth { lag_p50_ns: Some(5_000), ..NOISY }] {
        let knee = the_only(&at_lowest(behind), FindingKind::Knee);
        number(&knee, "lowest_sps", 5_000.0);
        number(&knee, "lowest_response_p99_ns", 20_000.0);
        assert!(
            knee.text.ends_with("compared: 1000/s (sender-limited, and 0 of 3 runs kept to the plan)."),
            "{}",
            knee.text
        );
    }
}

#[test]
fn time_of_write_calls_is_the_middlewares_also_where_other_senders_were_late_by_themselves() {
    let document = result(|sps| match sps {
        ..=10_000 => NOISY,
        _ => Truth { held: true, lag_p99_ns: 300_000.0, ..WELL },
    });
    let knee = the_only(&document, FindingKind::Knee);
    number(&knee, "knee_sps", 10_000.0);
    number(&knee, "beyond_service_p99_ns", 320_000.0);
    let words = " Where most of a lag was time of write calls, they are from the intended time.";
    assert!(knee.text.ends_with(words), "{}", knee.text);
}

#[test]
fn late_senders_give_no_knee() {
    let behind = Truth { unsent: 2, ..NOISY };
    for (kept, words) in [(0, "of 5 loads 0 can be compared."), (1_000, "of 5 loads 1 can be compared.")] {
        let document =
            result(|sps| Truth { p99_ns: p99_ns(sps), ..if sps <= kept { NOISY } else { behind } });
        assert_eq!(kinds(&document), [FindingKind::KneeUnclear, FindingKind::KeepsUp]);
        let unclear = the_only(&document, FindingKind::KneeUnclear);
        assert!(unclear.text.contains(words), "{}", unclear.text);
        assert!(
            unclear.text.contains("40000/s (sender-limited, and 0 of 3 runs kept to the plan)."),
            "{}",
            unclear.text
        );
        number(&unclear, "loads", 5.0);
    }
}

#[test]
fn non_monotonic_times_are_listed_by_load() {
    let document = result(|sps| Truth { p99_ns: if sps == 10_000 { 90_000.0 } else { 20_000.0 }, ..WELL });
    let unclear = the_only(&document, FindingKind::KneeUnclear);
    assert_eq!(
        unclear.text,
        "`dds` under load at 1024 bytes: it is not clear where the knee is: the 99 % response, or its runs, go back and forth \
         over twice that at the lowest load, 1000/s: 20.0 µs (19.8 to 20.2); it is 19.8 to 20.2 µs at 1000/s, 19.8 to 20.2 µs \
         at 5000/s, 89.1 to 90.9 µs at 10000/s, 19.8 to 20.2 µs at 20000/s and 19.8 to 20.2 µs at 40000/s (3 runs each)."
    );
}
