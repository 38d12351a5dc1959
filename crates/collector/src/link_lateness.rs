//! Warning about a switch of a lab that was late: the links then are slower than they are said to be.

use results::{Latency, LinkRecord, Warning, WarningKind, format_micros};

use crate::evaluation::Evaluation;

/// Share of a median, or of a 99 % quantile, from which on the lateness of the switch matters.
const SHARE: f64 = 0.1;

/// Warns if the lateness of the switch is more than a tenth of the times over its links. A round trip crosses them twice.
pub(crate) fn check(evaluation: &mut Evaluation, link: Option<&LinkRecord>) {
    let Some(lateness) = link.and_then(|link| link.lateness) else { return };
    let kinds = [("rtt", 2), ("one_way_out", 1), ("service", 1)];
    let of_kind = |(kind, crossings): (&'static str, u64)| {
        let latency: &Latency = evaluation.latency.get(kind)?;
        let quantiles =
            [("p50", Some(lateness.p50_ns), latency.p50_ns), ("p99", lateness.p99_ns, latency.p99_ns)];
        quantiles.into_iter().find_map(|(name, late_ns, time_ns)| {
            let (late_ns, time_ns) = (late_ns?.saturating_mul(crossings), time_ns?);
            (late_ns as f64 > time_ns as f64 * SHARE).then_some((kind, name, late_ns, time_ns))
        })
    };
    let Some((kind, name, late_ns, time_ns)) = kinds.into_iter().find_map(of_kind) else { return };
    let text = format!(
        "the switch of the lab was late: {} of the {} µs of `{kind}` {name} are its own",
        format_micros(late_ns as f64),
        format_micros(time_ns as f64)
    );
    let hint = "use a slower link or larger samples, or leave a core to the switch by `--pin`";
    evaluation.warnings.push(Warning::new(WarningKind::Host, text).with_hint(hint));
}

#[cfg(test)]
mod tests {
    use results::LinkLateness;

    use super::*;

    #[test]
    fn lateness_is_a_warning_if_it_is_a_tenth_of_the_time() {
        let warnings = |p50_ns, p99_ns| {
            let mut evaluation = Evaluation::default();
            let rtt = Latency {
                n: 1_000,
                lost: 0,
                mean_ns: 1e5,
                sd_ns: 0.0,
                min_ns: 1,
                max_ns: 400_000,
                p50_ns: Some(100_000),
                p90_ns: None,
                p99_ns: Some(300_000),
                p99_9_ns: None,
                p99_99_ns: None,
                p99_9999_ns: None,
                pooled: Vec::new(),
                clock_error_ns: 0,
                negative: 0,
                unsupported: Default::default(),
            };
            evaluation.latency.insert("rtt".to_owned(), rtt);
            let mut link = LinkRecord::new(&"rate=100mbit".parse().expect("a link"));
            link.lateness =
                Some(LinkLateness { frames: 1_000, p50_ns, p99_ns: Some(p99_ns), max_ns: p99_ns });
            check(&mut evaluation, Some(&link));
            evaluation.warnings.iter().map(|warning| warning.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(warnings(5_000, 15_000), [""; 0]);
        assert!(warnings(5_100, 15_000)[0].contains("`rtt` p50"));
        assert!(warnings(5_000, 15_100)[0].contains("`rtt` p99"));
    }
}
