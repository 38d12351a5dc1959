//! Links that virtual hosts cannot show, which is said before they are measured.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Plan, Workload, store_and_forward_ns, wire_bytes};
use results::{Warning, WarningKind};

use super::limits::unit_bytes;

/// Time in ns that virtual hosts and their switch add to a round trip on two idle cores, at the least.
const ROUND_TRIP_OF_LAB_NS: u64 = 40_000;
/// Frames/s that virtual hosts and their switch forward on two cores, at the most.
const FRAMES_OF_LAB: u64 = 100_000;

/// Returns warnings about planned cells whose link is faster than virtual hosts can show.
#[must_use]
pub fn lab_warnings(plan: &Plan) -> Vec<Warning> {
    let mut short: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let mut many: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for cell in &plan.cells {
        let factors = &cell.factors;
        let Some((rate, mtu)) = factors.link.and_then(|link| Some((link.rate_bit_per_s?, link.mtu_bytes)))
        else {
            continue;
        };
        if factors.workload == Workload::Throughput {
            let samples = wire_bytes(mtu, unit_bytes(cell)).map(|bytes| rate / (8 * bytes));
            let frames = unit_bytes(cell).div_ceil(u64::from(mtu));
            if samples.is_some_and(|samples| samples * frames > FRAMES_OF_LAB) {
                many.entry(rate).or_default().insert(factors.size_bytes);
            }
        } else if store_and_forward_ns(rate, mtu, factors.size_bytes)
            .is_some_and(|ns| 2 * ns < ROUND_TRIP_OF_LAB_NS)
        {
            short.entry(rate).or_default().insert(factors.size_bytes);
        }
    }
    let sizes = |sizes: &BTreeSet<u64>| match (sizes.first(), sizes.last()) {
        (Some(first), Some(last)) if first < last => format!("{first} to {last} bytes"),
        (Some(size), _) => format!("{size} bytes"),
        (None, _) => String::new(),
    };
    let short = short.iter().map(|(rate, of)| {
        let text = format!(
            "at {} Mbit/s, round trips of {} are mostly those of virtual hosts: they and their switch add 40 µs or more, and the \
             wire takes less",
            rate / 1_000_000,
            sizes(of)
        );
        Warning::new(WarningKind::Host, text).with_hint("compare with a lab without a rate, or use a lower one")
    });
    let many = many.iter().map(|(rate, of)| {
        let text = format!(
            "samples of {} fill {} Mbit/s with more frames than two cores forward between virtual hosts, about {FRAMES_OF_LAB}/s",
            sizes(of),
            rate / 1_000_000
        );
        Warning::new(WarningKind::Host, text).with_hint("use larger samples, batches, or a lower rate")
    });
    short.chain(many).collect()
}

#[cfg(test)]
mod tests {
    use experiment::Factors;

    use super::{
        super::limits::tests::{cell, plan},
        *,
    };

    #[test]
    fn links_that_virtual_hosts_cannot_show_are_named() {
        let texts = |link: &str, workload, size| {
            let link = Some(link.parse().expect("a link"));
            let plan = plan(Factors { link, ..cell(workload, size) });
            lab_warnings(&plan).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let short = &texts("rate=1gbit", Workload::Latency, 64)[0];
        assert!(short.starts_with("at 1000 Mbit/s, round trips of 64 bytes are mostly"), "{short}");
        let many = &texts("rate=1gbit", Workload::Throughput, 64)[0];
        assert!(many.starts_with("samples of 64 bytes fill 1000 Mbit/s with more frames than"), "{many}");
        for (link, workload, size) in [
            ("rate=1gbit", Workload::Latency, 8_192),
            ("rate=1gbit", Workload::Throughput, 1_472),
            ("rate=100mbit", Workload::Throughput, 128),
            ("rate=10mbit", Workload::Latency, 64),
            ("delay=1ms", Workload::Latency, 64),
        ] {
            assert_eq!(texts(link, workload, size), [""; 0], "{link} {workload} {size}");
        }
    }
}
