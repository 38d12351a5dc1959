//! Datagrams that the kernels dropped at full receive buffers.

use std::collections::BTreeMap;

use results::{Run, WarningKind, full_buffers};
use stats::total;

use crate::{
    evaluation::Evaluation,
    per_host::{PerHost, largest_per_host},
    reports::RunReports,
};

/// Adds the datagrams that the kernels of all hosts dropped at full receive buffers, with a warning that names the hosts. Also the hosts
/// of writers and pingers receive datagrams: acknowledgments and echoes.
pub(crate) fn add(run: &mut Run, evaluation: &mut Evaluation, reports: &RunReports) {
    let (by_host, of_all_programs) = by_host(reports);
    run.udp_drops_of_all_programs = of_all_programs;
    run.udp_buffer_drops = (!by_host.is_empty()).then(|| total(by_host.values().copied()));
    let Some(drops @ 1..) = run.udp_buffer_drops else { return };
    let on_hosts = match by_host.len() {
        1 => String::new(),
        _ => {
            let hosts = by_host.iter().filter(|(_, drops)| **drops > 0);
            let hosts: Vec<String> = hosts.map(|(host, drops)| format!("{drops} on {host}")).collect();
            format!(" ({})", hosts.join(", "))
        }
    };
    let (lost, buffers) = (evaluation.counts().lost, full_buffers(of_all_programs));
    let text = format!(
        "lost {lost} samples; the kernel dropped {drops} {buffers}{on_hosts}; raise net.core.rmem_max"
    );
    evaluation.warn(WarningKind::BufferDrops, text);
}

/// Returns the datagrams that the kernel of each host dropped at the sockets of the run, and whether a host counts only those of all
/// programs of its network namespace, because its kernel does not list the sockets of a process.
fn by_host(reports: &RunReports) -> (PerHost<'_, u64>, bool) {
    let read = || {
        reports.agents.iter().filter_map(|agent| {
            Some((agent.endpoint.place.host.as_str(), agent.endpoint.process, agent.report.sockets.as_ref()?))
        })
    };
    let all = read().map(|(host, _, sockets)| (host, sockets.receive_buffer_errors));
    let mut by_host = largest_per_host(all, |drops| *drops);
    let mut of_all_programs = false;
    for (host, drops) in &mut by_host {
        // All endpoints of a process read the same sockets.
        let mut by_process: BTreeMap<u32, Option<u64>> = BTreeMap::new();
        for (_, process, sockets) in read().filter(|(of, ..)| of == host) {
            let known = by_process.entry(process).or_insert(sockets.own_drops);
            *known = known.zip(sockets.own_drops).map(|(known, own)| known.max(own));
        }
        match by_process.into_values().collect::<Option<Vec<u64>>>() {
            Some(own) => *drops = total(own),
            None => of_all_programs = true,
        }
    }
    (by_host, of_all_programs)
}

#[cfg(test)]
mod tests {
    use control::{AgentReport, Configured, MonotonicClock};
    use experiment::{Factors, Pin, RunTopology, Topology, Workload};
    use results::Sockets;

    use super::*;
    use crate::reports::AgentOutcome;

    /// Returns the reports of a writer and two readers: host, process, drops of all programs, and own ones of each.
    fn reports(agents: [(&str, u32, u64, Option<u64>); 3]) -> RunReports {
        let factors = Factors {
            workload: Workload::Throughput,
            topology: Topology::Mesh { writers: 1, readers: 2 },
            ..Factors::default()
        };
        let endpoints = RunTopology::new(&factors, &Pin::None, false).endpoints;
        let agents = endpoints.into_iter().zip(agents).map(|(mut endpoint, (host, process, all, own))| {
            endpoint.place.host = host.to_owned();
            endpoint.process = process;
            let sockets = Sockets { receive_buffer_errors: all, own_drops: own, ..Sockets::default() };
            AgentOutcome {
                endpoint,
                pid: 1,
                clock: MonotonicClock::default(),
                clock_error_ns: Some(0),
                matched_ns: 0,
                configured: Configured::default(),
                sent: 0,
                drained: true,
                report: AgentReport { sockets: Some(sockets), ..AgentReport::default() },
            }
        });
        RunReports { agents: agents.collect(), lost: Vec::new(), clock_faults: Vec::new(), join: None }
    }

    #[test]
    fn drops_are_those_of_the_processes_of_the_run() {
        // Two endpoints of a process read its sockets at different times; other programs dropped 900.
        let found = reports([("h1", 0, 900, Some(0)), ("h1", 1, 905, Some(4)), ("h1", 1, 906, Some(5))]);
        assert_eq!(by_host(&found), ([("h1", 5)].into(), false));
        let found = reports([("h1", 0, 900, Some(1)), ("h1", 1, 905, Some(2)), ("h2", 2, 906, Some(3))]);
        assert_eq!(by_host(&found), ([("h1", 3), ("h2", 3)].into(), false));
    }

    #[test]
    fn host_that_does_not_list_sockets_counts_all_programs() {
        let found = reports([("h1", 0, 900, Some(1)), ("h1", 1, 905, None), ("h2", 2, 906, Some(3))]);
        assert_eq!(by_host(&found), ([("h1", 905), ("h2", 3)].into(), true));
        let mut none = reports([("h1", 0, 1, None), ("h1", 1, 1, None), ("h1", 2, 1, None)]);
        none.agents.iter_mut().for_each(|agent| agent.report.sockets = None);
        assert_eq!(by_host(&none), (PerHost::new(), false));
    }
}
