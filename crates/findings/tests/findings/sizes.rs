//! Findings over the sizes of one driver: plateau, bottleneck, batching and latency.

use crate::sample::Characterize;
use experiment::{Factors, ReceiveMode, Workload};
use results::{Finding, FindingKind, Limit, LinkCeiling, ResultDocument};

use crate::rig::{SIZES, Truth, alone, kinds, none, number, of_kind, only, result};

fn unbatched() -> Characterize {
    Characterize { batch_bytes: 0, ..alone("dds", Workload::Throughput) }
}

/// Returns a result with throughput by size.
fn rates(rates: [f64; 4], noise: f64) -> ResultDocument {
    result(&unbatched(), |factors| Truth { goodput_mbps: by_size(factors, rates), noise, ..Truth::default() })
}

fn by_size(factors: &Factors, values: [f64; 4]) -> f64 {
    values[SIZES.iter().position(|size| *size == factors.size_bytes).expect("a size of the rig")]
}

/// Returns a result with the RTT by size.
fn round_trips(rtt_ns: [f64; 4], noise: f64) -> ResultDocument {
    result(&alone("dds", Workload::Latency), |factors| Truth {
        rtt_ns: by_size(factors, rtt_ns),
        noise,
        ..Truth::default()
    })
}

#[test]
fn a_plateau_begins_where_all_later_sizes_are_on_one_level() {
    let finding = only(&rates([100.0, 900.0, 4000.0, 4200.0], 0.01), FindingKind::Plateau);
    assert_eq!(
        finding.text,
        "`dds` unbatched: throughput reaches its plateau at 8192 bytes: 3960 to 4242 Mbit/s from there to 32768 bytes, \
         against 891 to 909 Mbit/s at 1024 bytes (3 runs each). What binds there is unknown; in its 6 runs the writer's \
         process used 50.0 % of a core, the reader's 50.0 %, datagrams dropped at full buffers were 0 % of the samples \
         and 0 % of the samples were lost."
    );
    assert_eq!(
        finding.cells,
        ["dds/udp4/throughput/1024", "dds/udp4/throughput/8192", "dds/udp4/throughput/32768"]
    );
    number(&finding, "from_size_bytes", 8192.0);
    number(&finding, "goodput_min_mbps", 3960.0);
    number(&finding, "goodput_max_mbps", 4242.0);
    number(&finding, "writer_cpu_pct", 50.0);
}

#[test]
fn a_plateau_may_span_all_sizes() {
    let finding = only(&rates([4000.0, 4000.0, 4000.0, 4100.0], 0.01), FindingKind::Plateau);
    assert!(finding.text.contains("on one level at all sizes from 64 to 32768 bytes"), "{}", finding.text);
    number(&finding, "from_size_bytes", 64.0);
}

#[test]
fn no_plateau_while_throughput_grows() {
    let finding = only(&rates([100.0, 900.0, 4000.0, 9000.0], 0.01), FindingKind::StillGrows);
    assert_eq!(
        finding.text,
        "`dds` unbatched: throughput still grows at the largest size, and reaches no plateau: 8910 to 9090 Mbit/s at \
         32768 bytes, against 3960 to 4040 Mbit/s at 8192 bytes (3 runs each)."
    );
    number(&finding, "goodput_at_32768_bytes_mbps", 9000.0);
}

#[test]
fn no_plateau_where_throughput_falls_again() {
    let finding = only(&rates([100.0, 900.0, 9000.0, 4000.0], 0.01), FindingKind::FallsAgain);
    assert!(
        finding.text.contains("highest with 8910 to 9090 Mbit/s at 8192 bytes, and falls to"),
        "{}",
        finding.text
    );
}

#[test]
fn runs_too_far_apart_show_no_plateau_and_no_growth() {
    // the medians alone would yield a plateau, growth, and a fall
    for medians in
        [[100.0, 900.0, 4000.0, 4200.0], [100.0, 900.0, 4000.0, 5600.0], [100.0, 900.0, 5600.0, 4000.0]]
    {
        none(&rates(medians, 0.3));
    }
}

#[test]
fn ambiguous_size_leaves_the_start_of_the_plateau_open() {
    let of_noise = |noise: f64| {
        result(&unbatched(), |factors| Truth {
            goodput_mbps: by_size(factors, [100.0, 3200.0, 4000.0, 4200.0]),
            noise: if factors.size_bytes == 1024 { noise } else { 0.01 },
            ..Truth::default()
        })
    };
    // 80 % of the highest are 3360
    number(&only(&of_noise(0.04), FindingKind::Plateau), "from_size_bytes", 8192.0);
    none(&of_noise(0.06));
}

#[test]
fn return_to_an_earlier_rate_is_not_growth() {
    none(&rates([4000.0, 900.0, 900.0, 4500.0], 0.01));
}

/// Returns a result with throughput by size over a link of 100 Mbit/s.
fn over_link(goodput: [f64; 4], noise: f64) -> ResultDocument {
    let mut document = rates(goodput, noise);
    for cell in &mut document.cells {
        let goodput_mbps = by_size(&cell.factors, [49.2, 87.4, 95.0, 96.2]);
        cell.link_ceiling = Some(LinkCeiling { link_mbps: 100.0, goodput_mbps });
    }
    document
}

/// Returns the only finding of this kind about throughput over a link of 100 Mbit/s.
fn over_link_is(goodput: [f64; 4], kind: FindingKind) -> Finding {
    let found = of_kind(&over_link(goodput, 0.001), kind);
    let [finding] = &found[..] else { panic!("{found:#?}") };
    finding.clone()
}

#[test]
fn link_limits_throughput_at_the_sizes_that_reach_what_it_carries() {
    let finding = over_link_is([20.0, 60.0, 94.0, 96.0], FindingKind::LineRate);
    assert_eq!(
        finding.text,
        "`dds` unbatched: the 100 Mbit/s link limits throughput at 8192 and 32768 bytes: the runs reach 98 to 99 % of the goodput \
         that UDP over IPv4 carries at these sizes, 93.9 to 96.1 of 95.0 to 96.2 Mbit/s (3 runs each). Headers take the rest of \
         the link. From 32768 bytes on, payload fills at least 95 % of it. The link is not the limit at 64 and 1024 bytes: the \
         runs reach 40 to 68 % of what it carries there."
    );
    assert_eq!(finding.cells, ["dds/udp4/throughput/8192", "dds/udp4/throughput/32768"]);
    number(&finding, "link_mbps", 100.0);
    number(&finding, "ceiling_max_mbps", 96.2);
    number(&finding, "share_max_pct", 100.0 * 96.0 * 1.001 / 96.2);
    number(&finding, "from_size_bytes", 32768.0);
    // A small size can fill the link with half of its rate: headers take the other half.
    let all = over_link_is([48.0, 86.0, 94.0, 94.5], FindingKind::LineRate);
    assert!(all.text.contains("at 64, 1024, 8192 and 32768 bytes: the runs reach 97 to 99 %"), "{all:#?}");
    assert!(all.text.ends_with("Payload fills 95 % of it at none of the sizes."), "{all:#?}");
    // Runs of one size on both sides of 90 %.
    let one = over_link_is([20.0, 78.7, 60.0, 96.0], FindingKind::LineRate);
    assert!(
        one.text.contains(
            "at 32768 bytes: the runs reach 99 % of the goodput that UDP over IPv4 carries at this size"
        ),
        "{one:#?}"
    );
    assert!(
        one.text.ends_with("At 1024 bytes some runs reach 90 % of what it carries, and others do not."),
        "{one:#?}"
    );
}

#[test]
fn payload_fills_a_link_from_a_size_on() {
    let from = |goodput| over_link_is(goodput, FindingKind::LineRate).numbers.get("from_size_bytes").copied();
    assert_eq!(from([20.0, 60.0, 95.5, 96.0]), Some(8192.0));
    // a size that falls below interrupts: the link is filled behind it
    assert_eq!(from([20.0, 95.5, 94.0, 96.0]), Some(32768.0));
    assert_eq!(from([95.5, 95.5, 95.5, 96.0]), Some(64.0));
    // runs on both sides, and a fall at the largest size
    assert_eq!(from([20.0, 60.0, 94.0, 95.0]), None);
    assert_eq!(from([20.0, 60.0, 96.0, 94.0]), None);
}

#[test]
fn link_that_limits_nothing_is_not_filled() {
    let never = over_link_is([20.0, 60.0, 80.0, 85.0], FindingKind::LinkNotFilled);
    assert_eq!(
        never.text,
        "`dds` unbatched: samples fill 95 % of the 100 Mbit/s link at none of 64, 1024, 8192 and 32768 bytes: at most 84.9 to 85.1 \
         Mbit/s of payload at 32768 bytes (3 runs each), where UDP over IPv4 carries at most 96.2 Mbit/s."
    );
    number(&never, "goodput_at_32768_bytes_mbps", 85.0);
    assert_eq!(of_kind(&over_link([20.0, 60.0, 80.0, 85.0], 0.001), FindingKind::LineRate), []);
    for kind in [FindingKind::LineRate, FindingKind::LinkNotFilled] {
        assert_eq!(of_kind(&rates([20.0, 60.0, 94.0, 96.0], 0.001), kind), [], "without a link");
    }
}

/// Returns the bottlenecks of a plateau over all sizes.
fn limits(truth: Truth, characterize: &Characterize, link_mbps: Option<u64>) -> (Vec<Limit>, String) {
    let mut document = result(characterize, |_| truth);
    document.hosts[0].properties.link_mbps.extend(link_mbps.map(|mbps| ("lo".to_owned(), mbps)));
    let finding = only(&document, FindingKind::Plateau);
    (finding.limits, finding.text)
}

#[test]
fn each_limit_binds_where_it_should_and_not_where_it_does_not() {
    let truth = Truth::default();
    let polling = Characterize { receive: ReceiveMode::Polling, ..unbatched() };
    let cases = [
        (Truth { writer_pct: 97.0, ..truth }, unbatched(), None, vec![Limit::WriterCpu]),
        (Truth { writer_pct: 89.0, ..truth }, unbatched(), None, vec![Limit::Unknown]),
        // a writer that sends more than is delivered is not the bottleneck
        (Truth { writer_pct: 97.0, lost_pct: 20.0, ..truth }, unbatched(), None, vec![Limit::Unknown]),
        (Truth { reader_pct: 97.0, ..truth }, unbatched(), None, vec![Limit::ReaderCpu]),
        (Truth { reader_pct: 97.0, ..truth }, polling, None, vec![Limit::Unknown]),
        (Truth { lost_pct: 20.0, dropped_pct: 20.0, ..truth }, unbatched(), None, vec![Limit::BufferDrops]),
        (Truth { dropped_pct: 0.5, ..truth }, unbatched(), None, vec![Limit::Unknown]),
        (Truth { wire_mbps: 960.0, ..truth }, unbatched(), Some(1000), vec![Limit::LineRate]),
        (Truth { wire_mbps: 960.0, ..truth }, unbatched(), Some(10_000), vec![Limit::Unknown]),
        (Truth { wire_mbps: 960.0, ..truth }, unbatched(), None, vec![Limit::Unknown]),
        (
            Truth { writer_pct: 97.0, reader_pct: 95.0, ..truth },
            unbatched(),
            None,
            vec![Limit::WriterCpu, Limit::ReaderCpu],
        ),
    ];
    for (truth, characterize, link, expected) in cases {
        let (limits, text) = limits(truth, &characterize, link);
        assert_eq!(limits, expected, "{truth:?}: {text}");
        assert_eq!(text.contains("is unknown"), expected == [Limit::Unknown], "{text}");
    }
}

#[test]
fn a_limit_that_holds_in_a_part_of_the_runs_does_not_bind() {
    let document = result(&unbatched(), |factors| Truth {
        writer_pct: if factors.size_bytes == 64 { 60.0 } else { 99.0 },
        ..Truth::default()
    });
    let finding = only(&document, FindingKind::Plateau);
    assert_eq!(finding.limits, [Limit::Unknown]);
    assert!(finding.text.contains("the writer's process used 60.0 to 99.0 % of a core"), "{}", finding.text);
}

#[test]
fn uncounted_limit_is_neither_binding_nor_reported() {
    let mut document = result(&unbatched(), |_| Truth::default());
    for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs) {
        run.udp_buffer_drops = None;
        run.wire = None;
        run.endpoints.clear();
    }
    let finding = only(&document, FindingKind::Plateau);
    assert_eq!(finding.limits, [Limit::Unknown]);
    assert!(
        finding.text.ends_with("What binds there is unknown; in its 12 runs 0 % of the samples were lost."),
        "{}",
        finding.text
    );
    assert!(!finding.numbers.keys().any(|name| name.contains("cpu") || name.contains("dropped")));
}

/// Returns a result with the ratio of batched to unbatched throughput at 64 and 1024 bytes. Unbatched, it grows at
/// all sizes.
fn batching(ratio: [f64; 2], noise: f64) -> ResultDocument {
    result(&alone("dds", Workload::Throughput), |factors| {
        let ratio = if factors.batch_bytes > 0 { ratio[usize::from(factors.size_bytes > 64)] } else { 1.0 };
        let unbatched = by_size(factors, [100.0, 1000.0, 10_000.0, 100_000.0]);
        Truth { goodput_mbps: unbatched * ratio, noise, ..Truth::default() }
    })
}

#[test]
fn batching_gains_up_to_the_size_at_which_it_no_longer_does() {
    let [finding] = &of_kind(&batching([8.0, 1.0], 0.01), FindingKind::BatchingGains)[..] else { panic!() };
    assert_eq!(
        finding.text,
        "`dds` batched up to 8192 bytes per flush delivers more samples/s than unbatched up to 64 bytes: 8.00 times as many \
         at 64 bytes (7.84 to 8.16). At 1024 bytes the runs of the two overlap, so no difference shows. 3 runs each; in \
         brackets the least and the most between any two runs."
    );
    number(finding, "up_to_size_bytes", 64.0);
    number(finding, "delivered_at_64_bytes_ratio", 8.0);
    assert_eq!(finding.cells, ["dds/udp4/throughput/64", "dds/udp4/throughput/64/batch-8192"]);

    let [finding] = &of_kind(&batching([8.0, 2.0], 0.01), FindingKind::BatchingGains)[..] else { panic!() };
    assert!(finding.text.contains("at all sizes that can be batched, up to 1024 bytes"), "{}", finding.text);
    let [finding] = &of_kind(&batching([1.0, 2.0], 0.01), FindingKind::BatchingGains)[..] else { panic!() };
    assert!(finding.text.contains("at 1 of 2 sizes: 2.00 times as many at 1024 bytes"), "{}", finding.text);
    assert_eq!(finding.numbers.get("up_to_size_bytes"), None);
}

#[test]
fn batching_may_cost() {
    let document = batching([0.5, 2.0], 0.01);
    let [finding] = &of_kind(&document, FindingKind::BatchingCosts)[..] else { panic!() };
    assert!(
        finding.text.contains("delivers fewer samples/s than unbatched up to 64 bytes: 0.50"),
        "{}",
        finding.text
    );
    assert_eq!(of_kind(&document, FindingKind::BatchingGains).len(), 1);
}

#[test]
fn batching_is_silent_where_runs_overlap() {
    let silent = |document: &ResultDocument| {
        let kinds = kinds(&findings::find(document));
        assert!(
            !kinds.contains(&FindingKind::BatchingGains) && !kinds.contains(&FindingKind::BatchingCosts),
            "{kinds:?}"
        );
    };
    silent(&batching([1.0, 1.0], 0.01));
    silent(&batching([1.5, 0.7], 0.3));
}

#[test]
fn over_half_of_a_batch_the_curve_is_the_unbatched_one() {
    let document = result(&alone("dds", Workload::Throughput), |factors| {
        let batched = by_size(factors, [3900.0, 4000.0, 4000.0, 4000.0]);
        let unbatched = by_size(factors, [100.0, 1000.0, 4000.0, 4000.0]);
        let goodput_mbps = if factors.batch_bytes > 0 { batched } else { unbatched };
        Truth { goodput_mbps, ..Truth::default() }
    });
    let plateaus = of_kind(&document, FindingKind::Plateau);
    assert_eq!(plateaus.len(), 2);
    number(&plateaus[0], "from_size_bytes", 8192.0);
    number(&plateaus[1], "from_size_bytes", 64.0);
    number(&plateaus[1], "to_size_bytes", 32768.0);
}

#[test]
fn latency_is_flat_up_to_a_size_and_then_grows_per_byte() {
    // 0.5 ns per byte from 1024 bytes on
    let finding =
        only(&round_trips([20_000.0, 20_000.0, 23_584.0, 35_872.0], 0.001), FindingKind::LatencyGrows);
    // 23.6 µs is within 20 % of 20 µs
    number(&finding, "flat_to_size_bytes", 8192.0);
    let finding =
        only(&round_trips([20_000.0, 20_000.0, 27_168.0, 51_744.0], 0.0), FindingKind::LatencyGrows);
    number(&finding, "flat_to_size_bytes", 1024.0);
    number(&finding, "rtt_slope_ns_per_byte", 1.0);
    assert_eq!(
        finding.text,
        "`dds`: the median RTT is flat up to 1024 bytes: 20.0 µs. From there it grows by 1.00 ns per byte (1.00 over 3 \
         blocks of runs), to 51.7 µs at 32768 bytes (51.7). 3 runs each."
    );
    assert_eq!(finding.cells.len(), 4);
}

#[test]
fn latency_may_grow_from_the_smallest_size_on() {
    let finding =
        only(&round_trips([20_000.0, 30_000.0, 60_000.0, 200_000.0], 0.01), FindingKind::LatencyGrows);
    assert_eq!(finding.numbers.get("flat_to_size_bytes"), None);
    number(&finding, "slope_from_size_bytes", 64.0);
    assert!(!finding.text.contains("flat"), "{}", finding.text);
}

#[test]
fn latency_may_be_flat_over_all_sizes() {
    let finding =
        only(&round_trips([20_000.0, 20_500.0, 21_000.0, 22_000.0], 0.01), FindingKind::LatencyFlat);
    assert_eq!(
        finding.text,
        "`dds`: the median RTT is flat from 64 to 32768 bytes: 19.8 to 22.2 µs (3 runs each)."
    );
    number(&finding, "rtt_max_ns", 22_220.0);
}

#[test]
fn latency_says_nothing_where_runs_are_too_far_apart() {
    none(&round_trips([20_000.0, 21_000.0, 22_000.0, 26_000.0], 0.25));
    // up and down again: higher at the end than at the start, but without a slope
    none(&round_trips([20_000.0, 90_000.0, 60_000.0, 26_000.0], 0.01));
    // a falling RTT does not grow
    none(&round_trips([40_000.0, 30_000.0, 28_000.0, 25_000.0], 0.01));
}
