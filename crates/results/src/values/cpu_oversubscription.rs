//! Cells whose endpoints share too few cores.

use std::{collections::BTreeMap, fmt};

use experiment::{Design, Endpoint, Factors, Pin, ReceiveMode, RunTopology, Workload};

use crate::schema::{CellResult, ResultDocument, host::HostRecord};

/// Endpoints that share fewer cores than there are of them: they wait for each other, so the values are not those of a
/// host with a core for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuOversubscription {
    /// Number of driving endpoints.
    pub driving: usize,
    /// Number of serving endpoints.
    pub serving: usize,
    /// Number of cores that they share.
    pub cores: usize,
    /// Polling threads that share fewer cores than there are of them.
    pub polling: Option<Polling>,
}

/// Polling threads that share fewer cores than there are of them: each occupies its core until the scheduler gives it
/// to another one, so a sample waits for time slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Polling {
    /// Number of threads.
    pub threads: usize,
    /// Number of cores that they share.
    pub cores: usize,
}

impl Polling {
    /// Returns the polling of a topology; `None` if each thread has a core.
    fn of(factors: &Factors, run_topology: &RunTopology, pin: &Pin, cores: usize) -> Option<Self> {
        // A polling reader sleeps for its delay, which does not apply to round trips.
        let sleeps = factors.queues.polling_delay_ns.is_some() && factors.workload != Workload::Latency;
        let polls = |endpoint: &Endpoint| {
            !sleeps && endpoint.readers.iter().any(|reader| reader.receive == ReceiveMode::Polling)
        };
        // All readers of an endpoint are polled by one thread.
        let driving = run_topology.driving().filter(|(_, endpoint)| polls(endpoint)).count();
        let serving = run_topology.serving().filter(|(_, endpoint)| polls(endpoint)).count();
        let mut groups = vec![(driving + serving, cores)];
        if let Pin::Cores(of_driving, of_serving) = pin {
            groups.extend([(serving, of_serving.len()), (driving, of_driving.len())]);
        }
        let oversubscribed = groups.into_iter().find(|(threads, cores)| threads > cores);
        oversubscribed.map(|(threads, cores)| Self { threads, cores })
    }
}

fn cores_in_words(cores: usize) -> String {
    format!("{cores} {}", if cores == 1 { "core" } else { "cores" })
}

impl CpuOversubscription {
    /// Returns the oversubscription of the runs of a cell, on the machine where it is worst; `None` if each endpoint has a core.
    #[must_use]
    pub fn of(factors: &Factors, design: &Design, hosts: &[HostRecord]) -> Option<Self> {
        let machine_of: BTreeMap<&str, &str> =
            hosts.iter().map(|host| (host.name.as_str(), host.machine())).collect();
        let mut of_machines: BTreeMap<&str, Vec<Endpoint>> = BTreeMap::new();
        for endpoint in RunTopology::of(factors, design).endpoints {
            if let Some(machine) = machine_of.get(endpoint.place.host.as_str()) {
                of_machines.entry(machine).or_default().push(endpoint);
            }
        }
        let pins: BTreeMap<&str, &Pin> =
            design.hosts.iter().filter_map(|host| Some((host.name.as_str(), host.pin.as_ref()?))).collect();
        let oversubscription = |machine: &HostRecord| {
            let endpoints = of_machines.remove(machine.name.as_str())?;
            let pin = pins.get(machine.name.as_str()).copied().unwrap_or(&design.pin);
            Self::of_topology(factors, &RunTopology { endpoints }, pin, machine.properties.cpus as usize)
        };
        let machines = hosts.iter().filter(|host| host.machine_of.is_none());
        machines.filter_map(oversubscription).max_by_key(|of| (of.driving + of.serving, *of))
    }

    fn of_topology(factors: &Factors, run_topology: &RunTopology, pin: &Pin, cpus: usize) -> Option<Self> {
        let (driving, serving) = (run_topology.driving().count(), run_topology.serving().count());
        let has_room = |endpoints: usize, cores: &[u32]| endpoints <= cores.len();
        let (fits, cores) = match pin {
            // A simulated host has no cores.
            Pin::None if cpus == 0 => return None,
            Pin::None => (driving + serving <= cpus, cpus),
            Pin::Cores(of_driving, of_serving) => {
                let mut cores = [&of_driving[..], of_serving].concat();
                cores.sort_unstable();
                cores.dedup();
                let fits = has_room(driving, of_driving)
                    && has_room(serving, of_serving)
                    && has_room(driving + serving, &cores);
                (fits, cores.len())
            }
        };
        (!fits).then(|| Self {
            driving,
            serving,
            cores,
            polling: Polling::of(factors, run_topology, pin, cores),
        })
    }
}

impl fmt::Display for CpuOversubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { driving, serving, cores, polling } = self;
        let shared = cores_in_words(*cores);
        match serving {
            0 => write!(f, "{driving} driving endpoints share {shared}")?,
            _ => write!(f, "{driving} driving and {serving} serving endpoints share {shared}")?,
        }
        let Some(Polling { threads, cores }) = polling else { return Ok(()) };
        write!(f, ", with {threads} polling threads on {}", cores_in_words(*cores))
    }
}

impl ResultDocument {
    /// Returns the oversubscription of a cell; `None` if each endpoint has a core.
    #[must_use]
    pub fn oversubscription(&self, cell: &CellResult) -> Option<CpuOversubscription> {
        CpuOversubscription::of(&cell.factors, &self.experiment.design, &self.hosts)
    }

    /// Returns the largest oversubscription of these cells, by the number of endpoints, and the number of oversubscribed cells.
    #[must_use]
    pub fn most_oversubscribed<'c>(
        &self,
        cells: impl Iterator<Item = &'c CellResult>,
    ) -> Option<(CpuOversubscription, usize)> {
        let oversubscribed: Vec<CpuOversubscription> =
            cells.filter_map(|cell| self.oversubscription(cell)).collect();
        let most = oversubscribed.iter().max_by_key(|of| (of.driving + of.serving, **of))?;
        Some((*most, oversubscribed.len()))
    }
}

#[cfg(test)]
mod tests {
    use experiment::{HostSpec, PlannedHost, Topology};

    use super::*;
    use crate::schema::{Environment, host::Host};

    fn oversubscription(change: impl FnOnce(&mut Factors, &mut Pin)) -> Option<String> {
        let mut factors =
            Factors { workload: Workload::Throughput, receive: ReceiveMode::Polling, ..Factors::default() };
        let mut pin = Pin::Cores(vec![0], vec![1]);
        change(&mut factors, &mut pin);
        let run_topology = RunTopology::new(&factors, &pin, false);
        CpuOversubscription::of_topology(&factors, &run_topology, &pin, 8)
            .map(|oversubscription| oversubscription.to_string())
    }

    fn readers(readers: u16) -> Topology {
        Topology::Mesh { writers: 1, readers }
    }

    #[test]
    fn hosts_of_a_machine_share_its_cores() {
        let machines = [("h1", None, 4), ("h2", Some("h1"), 4), ("h3", None, 2)];
        let record = |(name, machine_of, cpus): (&str, Option<&str>, u32)| HostRecord {
            name: name.to_owned(),
            at: HostSpec::Local,
            machine_of: machine_of.map(ToOwned::to_owned),
            interface: None,
            properties: Host { cpus, ..Host::default() },
            environment: Environment::default(),
        };
        let hosts = machines.map(record);
        let planned = hosts.each_ref().map(|host| PlannedHost::new(&host.name, HostSpec::Local, None));
        let design = Design { hosts: planned.into(), ..Design::default() };
        let oversubscription = |readers: u16| {
            let factors = Factors {
                workload: Workload::Throughput,
                topology: self::readers(readers),
                ..Factors::default()
            };
            CpuOversubscription::of(&factors, &design, &hosts)
                .map(|oversubscription| oversubscription.to_string())
        };
        // The writer is on h1, the readers are on h2 and h3 in turn.
        assert_eq!([oversubscription(4), oversubscription(5)], [None, None]);
        assert_eq!(oversubscription(6).as_deref(), Some("0 driving and 3 serving endpoints share 2 cores"));
        assert_eq!(oversubscription(7).as_deref(), Some("1 driving and 4 serving endpoints share 4 cores"));
    }

    #[test]
    fn polling_threads_are_counted_where_they_share_cores() {
        let shared = "1 driving and 3 serving endpoints share 2 cores";
        let with = |polling: &str| Some(format!("{shared}{polling}"));
        assert_eq!(oversubscription(|_, _| {}), None);
        assert_eq!(
            oversubscription(|factors, _| factors.topology = readers(3)),
            with(", with 3 polling threads on 2 cores")
        );
        assert_eq!(
            oversubscription(|factors, _| {
                (factors.topology, factors.receive) = (readers(3), ReceiveMode::Waitset);
            }),
            with("")
        );
        // They sleep, except in a round trip.
        let slept = |workload| {
            oversubscription(|factors, _| {
                (factors.topology, factors.workload) = (readers(3), workload);
                factors.queues.polling_delay_ns = Some(1_000);
            })
        };
        assert_eq!(slept(Workload::Throughput), with(""));
        assert_eq!(slept(Workload::Latency), with(", with 4 polling threads on 2 cores"));
        let one_core = |factors: &mut Factors, pin: &mut Pin| {
            factors.workload = Workload::Latency;
            *pin = Pin::Cores(vec![0], vec![0]);
        };
        let expected = "1 driving and 1 serving endpoints share 1 core, with 2 polling threads on 1 core";
        assert_eq!(oversubscription(one_core).as_deref(), Some(expected));
        // The writers do not poll: all threads have a core, but those of the readers have only one.
        let mesh = Topology::Mesh { writers: 1, readers: 2 };
        let pinned = |factors: &mut Factors, pin: &mut Pin| {
            factors.topology = mesh;
            *pin = Pin::Cores(vec![0, 1, 2], vec![3]);
        };
        let expected = "1 driving and 2 serving endpoints share 4 cores, with 2 polling threads on 1 core";
        assert_eq!(oversubscription(pinned).as_deref(), Some(expected));
    }
}
