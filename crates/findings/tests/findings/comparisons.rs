//! Findings between the drivers of one result: added RTT, and guarantee of delivery.

use crate::sample::Characterize;
use experiment::{Factors, Reliability, ReliabilityChoice, Topology, Workload};
use results::{Finding, FindingKind, ResultDocument};

use crate::rig::{SIZES, Truth, characterize, number, of_kind, result, result_with};

fn latency() -> Characterize {
    Characterize { workloads: vec![Workload::Latency], ..characterize() }
}

/// Returns a result in which the RTT of the bare socket is 10 µs plus 0.1 ns per byte; the middleware adds
/// `added_ns`.
fn over_bare(added_ns: [f64; 4], noise: f64) -> ResultDocument {
    result(&latency(), |factors| truth(factors, added_ns, noise))
}

fn truth(factors: &Factors, added_ns: [f64; 4], noise: f64) -> Truth {
    let index = SIZES.iter().position(|size| *size == factors.size_bytes).expect("a size of the rig");
    let bare = 10_000.0 + 0.1 * factors.size_bytes as f64;
    let rtt_ns = if factors.driver == "dds" { bare + added_ns[index] } else { bare };
    Truth { rtt_ns, noise, ..Truth::default() }
}

const ABOUT_ADDING: [FindingKind; 4] = [
    FindingKind::RttAdded,
    FindingKind::RttSaved,
    FindingKind::RttAddedConstant,
    FindingKind::RttAddedVaries,
];

/// Returns the findings about the bare socket.
fn added(document: &ResultDocument) -> Vec<Finding> {
    ABOUT_ADDING.iter().flat_map(|kind| of_kind(document, *kind)).collect()
}

#[test]
fn a_middleware_adds_the_same_at_all_sizes() {
    let [added, constant] = &added(&over_bare([8_000.0; 4], 0.01))[..] else { panic!() };
    assert_eq!(
        added.text,
        "`dds` has a longer median RTT than the bare socket `plain`: by 8.00 µs at 64 bytes (7.72 to 8.28); by 8.00 µs at \
         1024 bytes (7.72 to 8.28); by 8.00 µs at 8192 bytes (7.70 to 8.30); by 8.00 µs at 32768 bytes (7.66 to 8.35). 3 \
         runs each; in brackets the least and the most between any two runs."
    );
    assert_eq!(
        (added.kind, constant.kind),
        (FindingKind::RttAdded, FindingKind::RttAddedConstant),
        "{constant:?}"
    );
    assert!(
        constant.text.contains("is constant from 64 to 32768 bytes: 8.00 µs (3 runs each; 7.66 to 8.35"),
        "{constant:?}"
    );
    number(added, "rtt_added_at_64_bytes_ns", 8_000.0);
    assert_eq!(added.cells.len(), 8);
}

#[test]
fn what_runs_as_shipped_is_named_so() {
    let shipped = Characterize { vendor_defaults: true, ..latency() };
    let document = result(&shipped, |factors| truth(factors, [8_000.0; 4], 0.01));
    let [added, _] = &added(&document)[..] else { panic!() };
    let begin = "`dds (as shipped)` has a longer median RTT than the bare socket `plain (as shipped)`: ";
    assert!(added.text.starts_with(begin), "{added:?}");
}

#[test]
fn or_more_the_larger_the_sample() {
    let [added, varies] = &added(&over_bare([8_000.0, 8_500.0, 12_000.0, 40_000.0], 0.01))[..] else {
        panic!()
    };
    assert_eq!((added.kind, varies.kind), (FindingKind::RttAdded, FindingKind::RttAddedVaries));
    assert!(varies.text.ends_with(
        "is not the same at all sizes: 8.00 µs at 64 bytes but 40.0 µs at 32768 bytes (3 runs each)."
    ));
}

#[test]
fn or_takes_less() {
    let [saved] = &added(&over_bare([-4_000.0; 4], 0.01))[..] else { panic!() };
    assert_eq!(saved.kind, FindingKind::RttSaved);
    assert!(
        saved.text.contains(
            "has a shorter median RTT than the bare socket `plain`: by 4.00 µs at 64 bytes (3.84 to 4.16)"
        ),
        "{saved:?}"
    );
}

#[test]
fn or_both_or_at_some_sizes_only() {
    let [more, less] = &added(&over_bare([8_000.0, 0.0, 0.0, -4_000.0], 0.01))[..] else { panic!() };
    assert_eq!((more.kind, less.kind), (FindingKind::RttAdded, FindingKind::RttSaved));
    assert!(
        more.text.contains("(7.72 to 8.28). At 1024 and 8192 bytes the runs of the two overlap"),
        "{}",
        more.text
    );
}

#[test]
fn or_nothing_that_the_runs_show() {
    assert_eq!(added(&over_bare([0.0; 4], 0.01)), []);
    assert_eq!(added(&over_bare([1_000.0; 4], 0.1)), [], "less than the runs lie apart");
}

#[test]
fn undecided_added_latency_is_not_called_constant() {
    // all differences have a common value, because their ranges are wide
    for (added_ns, noise) in [
        ([8_000.0, 9_000.0, 10_000.0, 11_000.0], 0.1),
        // also here, with equal medians
        ([8_000.0; 4], 0.08),
        // the same at all sizes but one, at which nothing is added
        ([8_000.0, 8_000.0, 8_000.0, 0.0], 0.01),
    ] {
        let [only] = &added(&over_bare(added_ns, noise))[..] else { panic!("{added_ns:?} {noise}") };
        assert_eq!(only.kind, FindingKind::RttAdded);
    }
}

#[test]
fn without_a_bare_socket_on_the_same_footing_there_is_nothing_to_add_to() {
    let mut document = over_bare([8_000.0; 4], 0.01);
    assert!(!added(&document).is_empty());
    let plain = document.drivers.get_mut("plain").unwrap();
    plain.features.retain(|feature| feature != "locators");
    assert_eq!(added(&document), [], "a driver with discovery is not a bare socket");

    let mut document = over_bare([8_000.0; 4], 0.01);
    document.drivers.get_mut("plain").unwrap().policies = document.drivers["dds"].policies.clone();
    assert_eq!(added(&document), [], "nor is one that has policies");

    let mut document = over_bare([8_000.0; 4], 0.01);
    for cell in document.cells.iter_mut().filter(|cell| cell.factors.driver == "plain") {
        cell.factors.transport = "shm".to_owned();
    }
    assert_eq!(added(&document), [], "another transport");
}

#[test]
fn latency_that_lost_too_many_pings_is_not_compared() {
    let lossy = |lost: u64| {
        let truth = |factors: &Factors| truth(factors, [8_000.0; 4], 0.01);
        added(&result_with(&latency(), truth, |run| run.flows[0].counted.lost = lost))
    };
    assert_eq!(lossy(5), [], "5 of 400");
    assert_eq!(lossy(4).len(), 2, "1 %");
}

/// Adds the same values of three readers.
fn with_three_readers(mut document: ResultDocument) -> ResultDocument {
    let mut three = document.cells.clone();
    for cell in &mut three {
        cell.id.push_str("/1-3");
        cell.factors.topology = Topology::Mesh { writers: 1, readers: 3 };
    }
    document.cells.extend(three);
    document
}

#[test]
fn what_a_middleware_adds_is_reported_of_the_pair_only() {
    let document = with_three_readers(over_bare([8_000.0; 4], 0.01));
    let [longer, constant] = &added(&document)[..] else { panic!("two findings") };
    assert_eq!((longer.kind, constant.kind), (FindingKind::RttAdded, FindingKind::RttAddedConstant));
    assert_eq!(longer.cells.len(), 8);
    // Without a pair there is no other finding that says it.
    let mut alone = document;
    alone.cells.retain(|cell| !cell.factors.topology.is_pair());
    assert_eq!(added(&alone).len(), 2);
}

#[test]
fn driver_with_several_configurations_is_named_once() {
    let document = with_three_readers(result(&characterize(), |factors| {
        let open = factors.qos.reliability == Some(Reliability::BestEffort);
        Truth { lost_pct: if open { 10.0 } else { 0.0 }, ..Truth::default() }
    }));
    let [finding] = &of_kind(&document, FindingKind::LossWithoutGuarantee)[..] else { panic!("one finding") };
    let text = &finding.text;
    assert!(text.starts_with("`plain` does not guarantee delivery, `dds` does, so their rates"), "{text}");
    assert!(text.contains("`plain (topology 1-3, udp4, lo, waitset)` lost samples"), "{text}");
}

/// Returns the findings on throughput of both drivers; the one without a guarantee loses `lost_pct`.
fn delivery(characterize: &Characterize, lost_pct: f64) -> Vec<Finding> {
    let document = result(characterize, |factors| {
        let worst = factors.size_bytes == 1024 && factors.batch_bytes == 0;
        let open = factors.qos.reliability == Some(Reliability::BestEffort);
        let lost_pct = if !open {
            0.0
        } else if worst {
            2.0 * lost_pct
        } else {
            lost_pct
        };
        Truth { lost_pct, ..Truth::default() }
    });
    let kinds = [FindingKind::LossWithoutGuarantee, FindingKind::NoLossWithoutGuarantee];
    kinds.iter().flat_map(|kind| of_kind(&document, *kind)).collect()
}

#[test]
fn loss_is_reported_if_one_side_guarantees_delivery() {
    let [finding] = &delivery(&characterize(), 10.0)[..] else { panic!() };
    assert_eq!(finding.kind, FindingKind::LossWithoutGuarantee);
    assert_eq!(
        finding.text,
        "`plain` does not guarantee delivery, `dds` does, so their rates are not comparable: best effort may reach a \
         rate by losing samples. `plain` lost samples in 6 of 6 cells, most at 1024 bytes: 19.8 to 20.2 % of those \
         sent (3 runs each)."
    );
    number(finding, "plain_lost_pct", 20.0);
    assert_eq!(finding.cells.len(), 6);
}

#[test]
fn and_that_there_was_none() {
    let [finding] = &delivery(&characterize(), 0.0)[..] else { panic!() };
    assert_eq!(finding.kind, FindingKind::NoLossWithoutGuarantee);
    assert_eq!(
        finding.text,
        "`plain` does not guarantee delivery, `dds` does. Even so no sample was lost in any of the 18 best effort runs."
    );
}

#[test]
fn loss_of_two_sides_without_guarantee_is_reported() {
    let reliability = ReliabilityChoice::BestEffort;
    let [finding] = &delivery(&Characterize { reliability, ..characterize() }, 10.0)[..] else { panic!() };
    assert!(
        finding.text.starts_with("`plain` and `dds` do not guarantee delivery, so their rates"),
        "{}",
        finding.text
    );
}

#[test]
fn delivery_needs_two_drivers_without_guarantee() {
    for driver in ["plain", "dds"] {
        assert_eq!(delivery(&Characterize { drivers: vec![driver.to_owned()], ..characterize() }, 10.0), []);
    }
    assert_eq!(delivery(&latency(), 10.0), [], "of latency alone");
}
