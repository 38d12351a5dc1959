//! Limits of a host that hurt the planned runs, each with the command that changes it.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Cell, Endpoint, Pin, Plan, Reliability, RunTopology, Workload};
use results::{HostRecord, Warning, WarningKind};

/// Receive buffer that drivers over UDP request by default.
const REQUESTED_BYTES: u64 = 8 << 20;
/// Number of samples that a receive buffer has to hold, if they are sent as fast as possible.
const BURST: u64 = 32;
/// Maximum payload of a UDP datagram, and the headers of a datagram and its IP packet.
const MAX_DATAGRAM: u64 = 65_507;
const HEADERS: u64 = 28;
/// Open files of the process that starts agents: without any, and for each agent.
const OWN_FILES: usize = 16;
const FILES_OF_AGENT: usize = 4;
/// Limits of the reassembly of fragments that the warning suggests: memory in bytes and time in s.
const REASSEMBLY: &str = "net.ipv4.ipfrag_high_thresh=134217728 net.ipv4.ipfrag_time=3";

/// Endpoint of a planned cell on the host.
struct Planned<'p> {
    cell: &'p Cell,
    endpoint: &'p Endpoint,
}

/// Returns warnings about settings of a host that limit the planned runs there. `topologies`: those of the plan, see
/// [`Plan::run_topologies`].
#[must_use]
pub fn limit_warnings(host: &HostRecord, plan: &Plan, run_topologies: &[RunTopology]) -> Vec<Warning> {
    let endpoints = plan.cells.iter().zip(run_topologies).flat_map(|(cell, run_topology)| {
        run_topology.endpoints.iter().map(move |endpoint| Planned { cell, endpoint })
    });
    let planned: Vec<Planned<'_>> =
        endpoints.filter(|planned| planned.endpoint.place.host == host.name).collect();
    let found = [
        receive_buffer(host, &planned),
        send_buffer(host, &planned),
        reassembly(host, &planned),
        quota(host, plan),
        open_files(host, &planned),
    ];
    found.into_iter().flatten().collect()
}

fn warning(text: String, hint: impl Into<String>) -> Warning {
    Warning::new(WarningKind::Host, text).with_hint(hint)
}

/// Returns a number among the kernel settings of a host; `None` if it could not be read.
fn setting(host: &HostRecord, name: &str) -> Option<u64> {
    host.properties.sysctls.get(name)?.parse().ok()
}

/// Returns whether the endpoints of a cell use UDP sockets whose buffers the driver requests.
fn has_sockets(cell: &Cell) -> bool {
    cell.factors.transport.starts_with("udp") && !cell.factors.vendor_defaults
}

/// Returns the largest unit that is sent at once: a sample of the cell, or a batch.
pub(super) fn unit_bytes(cell: &Cell) -> u64 {
    let factors = &cell.factors;
    let batch = if factors.batch_bytes > 0 { factors.samples_per_flush() * factors.size_bytes } else { 0 };
    factors.size_bytes.max(batch)
}

/// Receive buffers that the kernel does not grant.
fn receive_buffer(host: &HostRecord, planned: &[Planned<'_>]) -> Option<Warning> {
    const NAME: &str = "net.core.rmem_max";
    let limit = setting(host, NAME)?;
    // size that a buffer needs, and the unit that it has to hold
    let need = |Planned { cell, endpoint }: &Planned<'_>| {
        if !has_sockets(cell) || endpoint.readers.is_empty() {
            return None;
        }
        let unit = unit_bytes(cell);
        if let Some(requested) = cell.factors.queues.receive_buffer_bytes {
            return (requested > limit).then_some((requested, None));
        }
        let is_stream = !matches!(cell.factors.workload, Workload::Latency | Workload::Discovery);
        let at_once = if is_stream { unit.saturating_mul(BURST) } else { unit };
        (at_once > limit).then_some((REQUESTED_BYTES.max(unit.saturating_mul(2)), Some(unit)))
    };
    let (bytes, unit) = planned.iter().filter_map(need).max()?;
    let why = match unit.map(|unit| (limit / unit.max(1), unit)) {
        None => format!("a receive buffer of {bytes} bytes is requested"),
        Some((0, unit)) => format!("no sample or batch of {unit} bytes fits into a receive buffer"),
        Some((fits, unit)) => format!("a receive buffer holds {fits} samples or batches of {unit} bytes"),
    };
    Some(warning(format!("{NAME} is {limit}: {why}"), format!("`sysctl -w {NAME}={bytes}`")))
}

/// Send buffers that the kernel does not grant.
fn send_buffer(host: &HostRecord, planned: &[Planned<'_>]) -> Option<Warning> {
    const NAME: &str = "net.core.wmem_max";
    let limit = setting(host, NAME)?;
    let of_writers =
        planned.iter().filter(|planned| has_sockets(planned.cell) && !planned.endpoint.writers.is_empty());
    let requested = of_writers.filter_map(|planned| planned.cell.factors.queues.send_buffer_bytes).max()?;
    (requested > limit).then(|| {
        warning(
            format!("{NAME} is {limit}: a send buffer of {requested} bytes is requested"),
            format!("`sysctl -w {NAME}={requested}`"),
        )
    })
}

/// Fragments of best-effort samples that the kernel has no memory to reassemble.
fn reassembly(host: &HostRecord, planned: &[Planned<'_>]) -> Option<Warning> {
    const NAME: &str = "net.ipv4.ipfrag_high_thresh";
    let limit = setting(host, NAME)?;
    let large = |Planned { cell, endpoint }: &Planned<'_>| {
        let best_effort =
            endpoint.readers.iter().any(|reader| reader.qos.reliability != Some(Reliability::Reliable));
        let interface = &endpoint.participant.interface;
        let of_link = cell.factors.link.map(|link| u64::from(link.mtu_bytes));
        let mtu = of_link.or_else(|| host.properties.mtu_bytes.get(interface).copied())?;
        let unit = unit_bytes(cell);
        let is_fragmented = unit.min(MAX_DATAGRAM) + HEADERS > mtu;
        // The kernel counts its own bookkeeping, too.
        let fits = unit.saturating_mul(2) <= limit;
        (has_sockets(cell) && best_effort && is_fragmented && !fits).then_some(unit)
    };
    let unit = planned.iter().filter_map(large).max()?;
    let text = format!(
        "{NAME} is {limit}: the fragments of a best-effort sample of {unit} bytes may not fit, and without one of them it is lost"
    );
    Some(warning(text, format!("`sysctl -w {REASSEMBLY}`")))
}

/// Time that a control group gives to fewer cores than the endpoints use.
fn quota(host: &HostRecord, plan: &Plan) -> Option<Warning> {
    let text = host.environment.fields.get("cgroup")?.get("cpu.max")?;
    let (quota, period) = text.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.trim().parse().ok()?);
    let planned = plan.design.hosts.iter().find(|planned| planned.name == host.name);
    let pin = planned.and_then(|planned| planned.pin.as_ref()).unwrap_or(&plan.design.pin);
    let cores = match pin {
        Pin::None => host.properties.cpus as usize,
        Pin::Cores(first, second) => first.iter().chain(second).collect::<BTreeSet<_>>().len(),
    };
    let allowed = quota / period;
    (period > 0.0 && allowed < cores as f64).then(|| {
        let text = format!(
            "cpu.max allows the time of {allowed:.1} cores, and the endpoints may use {cores}: all threads stop for the rest of a \
             period"
        );
        warning(text, "start the container with `--cpuset-cpus` instead of `--cpus`")
    })
}

/// Limit of open files that the agents of a run exceed.
fn open_files(host: &HostRecord, planned: &[Planned<'_>]) -> Option<Warning> {
    let text = host.environment.fields.get("limit")?.get("max_open_files")?;
    let limit: usize = text.split_once(' ')?.0.parse().ok()?;
    let mut agents: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for Planned { cell, endpoint } in planned {
        agents.entry(&cell.id).or_default().insert(endpoint.process);
    }
    let agents = agents.values().map(BTreeSet::len).max()?;
    let need = OWN_FILES + FILES_OF_AGENT * agents;
    (need > limit).then(|| {
        warning(
            format!("the limit of open files is {limit}: the {agents} agents of a run need {need}"),
            format!("`ulimit -n {need}` in the shell that starts ddsmark"),
        )
    })
}

#[cfg(test)]
pub(super) mod tests {
    use experiment::{Design, Factors, LinkSpec, Qos, Topology};
    use results::{Environment, Host};

    use super::*;

    fn host(settings: &[(&str, &str)]) -> HostRecord {
        let sysctls =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mtu_bytes = [("lo".to_owned(), 65_536), ("eth0".to_owned(), 1_500)].into();
        let properties = Host { cpus: 4, sysctls, mtu_bytes, ..Host::default() };
        HostRecord::only(properties, Environment::default())
    }

    pub(in crate::machine) fn plan(factors: Factors) -> Plan {
        Plan {
            name: "test".to_owned(),
            question: "?".to_owned(),
            cells: vec![Cell { id: "cell".to_owned(), factors }],
            design: Design { blocks: 3, ..Design::default() },
            ..Plan::default()
        }
    }

    pub(in crate::machine) fn cell(workload: Workload, size_bytes: u64) -> Factors {
        Factors {
            driver: "udp".to_owned(),
            transport: "udp4".to_owned(),
            workload,
            size_bytes,
            ..Factors::default()
        }
    }

    fn texts(host: &HostRecord, factors: Factors) -> Vec<String> {
        let plan = plan(factors);
        limit_warnings(host, &plan, &plan.run_topologies()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn receive_buffer_that_is_too_small_for_the_samples_is_named_with_the_command() {
        let small = host(&[("net.core.rmem_max", "212992")]);
        assert_eq!(
            texts(&small, cell(Workload::Throughput, 63_000)),
            [
                "net.core.rmem_max is 212992: a receive buffer holds 3 samples or batches of 63000 bytes; hint: `sysctl -w \
              net.core.rmem_max=8388608`"
            ]
        );
        let text = &texts(&small, cell(Workload::Latency, 5_000_000))[0];
        assert!(
            text.contains("no sample or batch of 5000000 bytes fits")
                && text.contains("`sysctl -w net.core.rmem_max=10000000`"),
            "{text}"
        );
        let batched = Factors { batch_bytes: 8_192, ..cell(Workload::Throughput, 64) };
        assert_eq!(texts(&small, batched).len(), 1);
        // Small samples, one sample in flight, a larger limit, and transports without UDP sockets.
        let large = host(&[("net.core.rmem_max", "8388608")]);
        let shm = Factors { transport: "shm".to_owned(), ..cell(Workload::Throughput, 63_000) };
        let shipped = Factors { vendor_defaults: true, ..cell(Workload::Throughput, 63_000) };
        for (host, factors) in [
            (&small, cell(Workload::Throughput, 1024)),
            (&small, cell(Workload::Latency, 63_000)),
            (&small, shm),
            (&small, shipped),
            (&large, cell(Workload::Throughput, 63_000)),
            (&host(&[]), cell(Workload::Throughput, 63_000)),
        ] {
            assert_eq!(texts(host, factors.clone()), [""; 0], "{factors:?}");
        }
    }

    #[test]
    fn requested_buffers_above_the_limits_are_named() {
        let with = |receive, send| {
            let mut factors = cell(Workload::Throughput, 1024);
            (factors.queues.receive_buffer_bytes, factors.queues.send_buffer_bytes) =
                (Some(receive), Some(send));
            factors
        };
        let host = host(&[("net.core.rmem_max", "212992"), ("net.core.wmem_max", "100000")]);
        assert_eq!(
            texts(&host, with(300_000, 200_000)),
            [
                "net.core.rmem_max is 212992: a receive buffer of 300000 bytes is requested; hint: `sysctl -w \
                 net.core.rmem_max=300000`",
                "net.core.wmem_max is 100000: a send buffer of 200000 bytes is requested; hint: `sysctl -w \
                 net.core.wmem_max=200000`"
            ]
        );
        assert_eq!(texts(&host, with(200_000, 100_000)), [""; 0]);
    }

    #[test]
    fn reassembly_of_large_best_effort_samples_is_named() {
        let host = host(&[("net.ipv4.ipfrag_high_thresh", "4194304")]);
        let over = |interface: &str, size| Factors {
            interface: interface.to_owned(),
            ..cell(Workload::Throughput, size)
        };
        let found = texts(&host, over("eth0", 4 << 20));
        assert!(
            found.len() == 1
                && found[0].starts_with("net.ipv4.ipfrag_high_thresh is 4194304: ")
                && found[0].contains("best-effort sample of 4194304 bytes")
                && found[0].contains(REASSEMBLY),
            "{found:?}"
        );
        let link: LinkSpec = "rate=10mbit".parse().expect("a link");
        assert_eq!(texts(&host, Factors { link: Some(link), ..over("auto", 4 << 20) }).len(), 1);
        let reliable = Qos { reliability: Some(Reliability::Reliable), ..Qos::default() };
        for factors in [
            over("eth0", 63_000),
            over("lo", 4 << 20),
            Factors { qos: reliable, ..over("eth0", 4 << 20) },
            Factors { transport: "tcp4".to_owned(), ..over("eth0", 4 << 20) },
        ] {
            assert_eq!(texts(&host, factors.clone()), [""; 0], "{factors:?}");
        }
    }

    #[test]
    fn quota_below_the_cores_is_named() {
        let with = |quota: &str| {
            let mut host = host(&[]);
            let group = [("cpu.max".to_owned(), quota.to_owned())].into();
            host.environment = Environment::new([("cgroup".to_owned(), group)].into());
            texts(&host, cell(Workload::Latency, 64))
        };
        let found = with("150000 100000");
        assert!(found.len() == 1 && found[0].contains("1.5 cores, and the endpoints may use 4"), "{found:?}");
        for enough in ["max 100000", "400000 100000", "odd"] {
            assert_eq!(with(enough), [""; 0], "{enough}");
        }
    }

    #[test]
    fn limit_of_open_files_counts_the_agents_of_a_run() {
        let with = |limit: &str, readers: u16| {
            let mut host = host(&[]);
            let group = [("max_open_files".to_owned(), limit.to_owned())].into();
            host.environment = Environment::new([("limit".to_owned(), group)].into());
            let topology = Topology::Mesh { writers: 1, readers };
            texts(&host, Factors { topology, ..cell(Workload::Throughput, 64) })
        };
        let found = with("143 4096", 31);
        assert!(
            found.len() == 1
                && found[0].contains("is 143: the 32 agents of a run need 144; hint: `ulimit -n 144`"),
            "{found:?}"
        );
        for (limit, readers) in [("144 4096", 31), ("143 4096", 30), ("unlimited unlimited", 31)] {
            assert_eq!(with(limit, readers), [""; 0], "{limit}");
        }
    }
}
