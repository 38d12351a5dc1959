//! Bottlenecks of throughput, as far as the runs show them.

use experiment::ReceiveMode;
use results::{CellResult, EndpointRecord, HostRecord, Limit, Run, Usage, format_value};
use stats::Spread;

use crate::{
    FULL_CORE_PCT, FULL_LINE_PCT, NOTABLE_LOSS_PCT,
    curves::run_lost_pct,
    format::{list, three, values},
};

pub(crate) struct Bottleneck {
    /// Limits that all runs reached.
    pub limits: Vec<Limit>,
    /// Text of the finding: one sentence.
    pub text: String,
    /// Values of the finding, by name.
    pub numbers: Vec<(String, f64)>,
}

/// Returns the bottlenecks that all runs of all these cells have in common.
pub(crate) fn determine(cells: &[&CellResult], hosts: &[HostRecord]) -> Bottleneck {
    let runs: Vec<&Run> = cells.iter().flat_map(|cell| cell.valid_runs()).collect();
    let writer = over_all(&runs, |run| core_pct(run, "writer"));
    let reader = over_all(&runs, |run| core_pct(run, "reader"));
    let lost = over_all(&runs, run_lost_pct);
    let dropped = over_all(&runs, dropped_pct);
    // all cells of a curve have the same interface and receive mode
    let factors = cells.first().map(|cell| &cell.factors);
    let link = runs.iter().find_map(|run| Some(line(run, hosts)?.1));
    let line = over_all(&runs, |run| Some(line(run, hosts)?.0));
    let polling = factors.is_some_and(|factors| {
        factors.receive == ReceiveMode::Polling && factors.queues.polling_delay_ns.is_none()
    });

    let at_least = |spread: &Option<Spread>, least: f64| spread.is_some_and(|spread| spread.min >= least);
    let percent =
        |spread: &Option<Spread>| spread.map(|spread| format!("{} %", values(spread.min, spread.max)));
    // what the process used, and for how long its driving thread waited for a core
    let core = |role: &str, share: &Option<Spread>| {
        let used = over_all(&runs, |run| Some(usage(run, role)?.used() * 100.0));
        let text = format!("its process used {} of a core", percent(&used).unwrap_or_default());
        let waited = share.zip(used).is_some_and(|(share, used)| share.min > used.min + 1.0);
        let with_wait =
            || format!("{text}, {} with the time that it waited for one", percent(share).unwrap_or_default());
        if waited { with_wait() } else { text }
    };
    let mut limits = Vec::new();
    let mut words = Vec::new();
    let mut bind = |limit, text: String| {
        limits.push(limit);
        words.push(text);
    };
    // a writer that sends more than is delivered does not limit the rate
    if at_least(&writer, FULL_CORE_PCT) && lost.is_some_and(|lost| lost.max <= NOTABLE_LOSS_PCT) {
        bind(Limit::WriterCpu, format!("writer CPU ({})", core("writer", &writer)));
    }
    // a reader that polls without a pause always uses its whole core
    if at_least(&reader, FULL_CORE_PCT) && !polling {
        bind(Limit::ReaderCpu, format!("reader CPU ({})", core("reader", &reader)));
    }
    if at_least(&dropped, NOTABLE_LOSS_PCT) {
        let share = percent(&dropped).unwrap_or_default();
        let text =
            format!("buffer drops (datagrams dropped at full socket buffers: {share} of the samples sent)");
        bind(Limit::BufferDrops, text);
    }
    if at_least(&line, FULL_LINE_PCT) {
        bind(
            Limit::LineRate,
            format!(
                "line rate (traffic of {} of the interface's {} Mbit/s)",
                percent(&line).unwrap_or_default(),
                format_value(link.unwrap_or_default())
            ),
        );
    }
    let n = runs.len();
    let text = if limits.is_empty() {
        limits.push(Limit::Unknown);
        let polls = if polling { " by polling" } else { "" };
        let seen = [
            percent(&writer).map(|share| format!("the writer's process used {share} of a core")),
            percent(&reader).map(|share| format!("the reader's {share}{polls}")),
            percent(&dropped)
                .map(|share| format!("datagrams dropped at full buffers were {share} of the samples")),
            percent(&lost).map(|share| format!("{share} of the samples were lost")),
            percent(&line).map(|share| format!("traffic was {share} of the interface's speed")),
        ];
        let seen: Vec<String> = seen.into_iter().flatten().collect();
        if seen.is_empty() {
            format!("What binds there is unknown: none of its {n} runs tells what it used.")
        } else {
            format!("What binds there is unknown; in its {n} runs {}.", list(&seen))
        }
    } else {
        format!("What binds there, in all its {n} runs: {}.", list(&words))
    };
    let shares = [
        ("writer_cpu", writer),
        ("reader_cpu", reader),
        ("lost", lost),
        ("dropped", dropped),
        ("line", line),
    ];
    let numbers =
        shares.iter().filter_map(|(name, spread)| Some(three(name, "pct", spread.as_ref()?))).flatten();
    Bottleneck { limits, text, numbers: numbers.collect() }
}

/// Returns the range of a value over these runs; `None` if one of them lacks it.
fn over_all(runs: &[&Run], of: impl Fn(&Run) -> Option<f64>) -> Option<Spread> {
    let values: Option<Vec<f64>> = runs.iter().map(|run| of(run).filter(|value| value.is_finite())).collect();
    Spread::from_values(&values?)
}

/// Returns the share of a core that the process of a role used or waited for, in percent ([`Usage::saturation`]).
fn core_pct(run: &Run, role: &str) -> Option<f64> {
    Some(usage(run, role)?.saturation() * 100.0)
}

/// Returns the usage of the process of a role that was measured over some time: of several, of the one that is nearest to its core.
fn usage<'r>(run: &'r Run, role: &str) -> Option<&'r Usage> {
    let of_role = run.endpoints.iter().filter(|endpoint| endpoint.role == role);
    let usages = of_role.filter_map(|endpoint| Some(&run.process_of(endpoint)?.usage));
    let measured = usages.filter(|usage| usage.elapsed_ns > 0);
    measured.max_by(|left, right| left.saturation().total_cmp(&right.saturation()))
}

/// Returns the number of datagrams that the kernel dropped per 100 samples sent.
fn dropped_pct(run: &Run) -> Option<f64> {
    Some(run.udp_buffer_drops? as f64 / run.throughput()?.sent as f64 * 100.0)
}

/// Returns the traffic of the most used link in percent of its speed, and that speed in 10^6 bit/s. The traffic is that
/// of an interface in its busier direction, over the time of its own endpoint; `None` if no interface has a speed.
fn line(run: &Run, hosts: &[HostRecord]) -> Option<(f64, f64)> {
    let share = |(endpoint, interface, bytes): (&EndpointRecord, &str, u64)| {
        let elapsed_ns = run.process_of(endpoint)?.usage.elapsed_ns;
        if elapsed_ns == 0 {
            return None;
        }
        let host = endpoint.host.as_str();
        let rate = run.link.as_ref().and_then(|link| link.rate_bit_per_s);
        let host = hosts.iter().find(|known| known.name == host)?;
        let mbps = host.link_bit_per_s(interface, rate)? as f64 / 1e6;
        Some((bytes as f64 * 8e3 / elapsed_ns as f64 / mbps * 100.0, mbps))
    };
    let of_endpoints = run.endpoints.iter().filter_map(|endpoint| {
        let interface = endpoint.interface.as_ref()?;
        Some((endpoint, interface.name.as_str(), interface.rx_bytes.max(interface.tx_bytes)))
    });
    of_endpoints.filter_map(share).max_by(|left, right| left.0.total_cmp(&right.0))
}
