//! Cases of the campaign, and the experiment of each.

use std::{collections::BTreeMap, fmt};

use clap::{Args, ValueEnum};
use collector::RunReports;
use control::MonotonicClock;
use experiment::{
    Cell, Design, Factors, HostSpec, LOCAL_HOST, Limits, Load, OWN_INTERFACE, Pin, Plan, PlannedHost, Qos,
    Rate, Reliability, RunOrder, ScheduledRun, Topology, Workload,
};
use simulate::Simulator;

use crate::Error;

const MS: u64 = 1_000_000;
/// Durations of the traffic. They do not change what an agent reports: its recorders have a fixed number of windows.
pub const WARM_UP_NS: u64 = 20 * MS;
pub const MEASURE_NS: u64 = 200 * MS;
/// Number of windows of a run of the default duration.
const WINDOWS: u32 = 80;
/// Samples of a writer per second.
const RATE: u64 = 1_000;
const SECOND_NS: u64 = 1_000 * MS;
/// Interface of a virtual host.
const INTERFACE: &str = "eth0";

/// Traffic of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Traffic {
    /// No schedule, as fast as back-pressure allows: counts of each flow
    Throughput,
    /// With a schedule: counts and histograms of each flow
    Paced,
}

/// One run: its endpoints, hosts and traffic.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// Number of writers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub writers: u16,
    /// Number of readers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub readers: u16,
    /// Give each agent a host of its own
    #[arg(long)]
    pub host_each: bool,
    /// Traffic
    #[arg(long, value_enum, default_value_t = Traffic::Throughput)]
    pub traffic: Traffic,
}

impl Case {
    pub fn agents(self) -> usize {
        usize::from(self.writers) + usize::from(self.readers)
    }

    pub fn flows(self) -> usize {
        usize::from(self.writers) * usize::from(self.readers)
    }

    pub fn hosts(self) -> usize {
        if self.host_each { self.agents() } else { 1 }
    }

    /// Returns the arguments that select it.
    pub fn arguments(self) -> Vec<String> {
        let traffic =
            self.traffic.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let numbers = [("--writers", self.writers), ("--readers", self.readers)];
        let numbers = numbers.into_iter().flat_map(|(name, number)| [name.to_owned(), number.to_string()]);
        let host_each = self.host_each.then(|| "--host-each".to_owned());
        numbers.chain(["--traffic".to_owned(), traffic]).chain(host_each).collect()
    }

    /// Returns the names of its hosts.
    pub fn host_names(self) -> Vec<String> {
        if self.host_each {
            (1..=self.agents()).map(|number| format!("h{number}")).collect()
        } else {
            vec![LOCAL_HOST.to_owned()]
        }
    }

    /// Returns an experiment with one run.
    pub fn plan(self) -> Plan {
        let (workload, load) = match self.traffic {
            Traffic::Throughput => (Workload::Throughput, None),
            Traffic::Paced => (Workload::Paced, Some(Load::Constant { rate: Rate::per_second(RATE) })),
        };
        // Without a schedule, back-pressure limits a writer to the same rate. Its server sends a copy to each reader.
        let service = format!("{}ns", SECOND_NS / RATE / u64::from(self.readers));
        let options = [("service", service.as_str()), ("queue", "10")];
        let factors = Factors {
            driver: "sim".to_owned(),
            transport: "local".to_owned(),
            workload,
            load,
            topology: Topology::Mesh { writers: self.writers, readers: self.readers },
            size_bytes: 64,
            interface: OWN_INTERFACE.to_owned(),
            qos: Qos { reliability: Some(Reliability::Reliable), ..Qos::default() },
            options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            ..Factors::default()
        };
        Plan {
            name: "agents".to_owned(),
            question: "What does a run cost the runner?".to_owned(),
            cells: vec![Cell { id: self.to_string(), factors }],
            design: self.design(),
            limits: Limits::default(),
            search: None,
            variants: None,
            published: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn design(self) -> Design {
        Design {
            blocks: 1,
            order: RunOrder::default(),
            seed: 1,
            warm_up_ns: WARM_UP_NS,
            warm_up_samples: None,
            write_instance: None,
            payload: None,
            measure_ns: MEASURE_NS,
            samples: None,
            windows: WINDOWS,
            check_every: 1,
            domain: None,
            progress: false,
            pin: Pin::None,
            hosts: self.planned_hosts(),
            keep_awake: false,
            reference: false,
            spin: true,
            probe_every: None,
            probe_every_of_size: BTreeMap::new(),
            await_echo: false,
            readers: Vec::new(),
            echo_receive: None,
            unsupported_quantiles: false,
            baseline: Vec::new(),
            duet: false,
            repeat_noisy: false,
            precision: None,
            budget_ns: None,
        }
    }

    fn planned_hosts(self) -> Vec<PlannedHost> {
        if !self.host_each {
            return Vec::new();
        }
        let host = |(index, name): (usize, String)| PlannedHost {
            addresses: BTreeMap::from([(INTERFACE.to_owned(), address(index))]),
            ..PlannedHost::new(name, HostSpec::Local, Some(INTERFACE.to_owned()))
        };
        self.host_names().into_iter().enumerate().map(host).collect()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.writers, self.readers)
    }
}

/// Returns what the agents of the only run of a plan report.
pub fn simulated_reports(plan: &Plan) -> Result<RunReports, Error> {
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    Ok(Simulator::new().reports(&plan.cells[0], &plan.design, scheduled)?)
}

/// Returns the address of the virtual host with this index.
fn address(index: usize) -> String {
    format!("10.0.{}.{}", index / 250, index % 250 + 1)
}

/// Returns the clock of a virtual host: each is a machine of its own.
pub fn clock_of(host: &str) -> MonotonicClock {
    MonotonicClock { boot_id: Some(format!("00000000-0000-4000-8000-{host:0>12}")), time_namespace: None }
}
