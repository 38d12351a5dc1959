//! Reports of a simulated run: what its agents would return.

use std::collections::BTreeMap;

use collector::{AgentOutcome, LateJoined, RunReports};
use control::{AgentReport, Configured, IDLE_NS, MonotonicClock};
use experiment::{Endpoint, Factors, ReceiveMode, RunTopology};
use results::{Idle, Interface, MulticastSent, Sockets, Usage};

use crate::{link::Link, reader::Reader};

/// Measured traffic of a run.
pub(crate) struct Traffic {
    /// Agents, in the order of the endpoints.
    pub agents: Vec<AgentTraffic>,
    pub wire: Wire,
    /// Late join of its last reader.
    pub join: Option<LateJoined>,
    /// Mode factor of the run.
    pub mode: f64,
}

/// Traffic of one agent, and its resource usage over the same window as in a real one. Writer: from its first write to
/// the end of its last one, or of its schedule. Reader: from its first sample to its last one. All CPU time is user
/// time.
pub(crate) struct AgentTraffic {
    /// Report with the part of its role only.
    pub report: AgentReport,
    /// Number of accepted samples; 0 for a serving agent.
    pub sent: u64,
    /// Whether all samples were acknowledged, or have arrived.
    pub drained: bool,
    pub cpu_ns: u64,
    pub elapsed_ns: u64,
    /// Number of samples that it sent, received or echoed.
    pub samples: u64,
}

/// Traffic on the simulated wire, which all agents share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wire {
    pub bytes: u64,
    pub packets: u64,
    /// Datagrams dropped at full receive buffers.
    pub dropped: u64,
}

impl Wire {
    /// Returns the traffic of these links.
    pub fn of<'l>(links: impl Iterator<Item = &'l Link>, readers: &[Reader]) -> Self {
        let dropped = readers.iter().map(|reader| reader.dropped).sum();
        links.fold(Self { dropped, ..Self::default() }, |wire, link| {
            let sent = link.sent;
            Self { bytes: wire.bytes + sent.wire_bytes, packets: wire.packets + sent.wire_packets, ..wire }
        })
    }

    /// Adds packets of single samples of a link.
    pub fn add(&mut self, link: &Link, packets: u64) {
        let (bytes, datagrams) = link.on_wire(link.spec.stream.size_bytes);
        self.bytes += packets * bytes;
        self.packets += packets * datagrams;
    }

    fn sockets(&self, factors: &Factors) -> Sockets {
        let sent = MulticastSent { packets: self.packets, bytes: self.bytes };
        Sockets {
            in_datagrams: self.packets.saturating_sub(self.dropped),
            in_errors: self.dropped,
            receive_buffer_errors: self.dropped,
            own_drops: None,
            send_buffer_errors: 0,
            multicast: factors.multicast.then_some(sent),
        }
    }

    pub fn interface(&self, name: &str) -> Interface {
        Interface {
            name: name.to_owned(),
            rx_bytes: self.bytes,
            rx_packets: self.packets,
            tx_bytes: self.bytes,
            tx_packets: self.packets,
        }
    }
}

impl Traffic {
    /// Returns the reports of all agents. All samples of a simulated run are within its traffic.
    pub fn into_reports(self, factors: &Factors, topology: RunTopology) -> RunReports {
        let Self { agents, wire, join, mode } = self;
        // Each agent reads the CPU time of its whole process.
        let of_process = |process: u32| {
            let members =
                topology.endpoints.iter().zip(&agents).filter(|(endpoint, _)| endpoint.process == process);
            members.map(|(_, traffic)| traffic.cpu_ns).sum::<u64>()
        };
        let mut serving = topology.endpoints.iter().filter(|endpoint| !endpoint.role.drives());
        let dropping = serving.next().map_or(0, |endpoint| endpoint.process);
        let cpu_ns: Vec<u64> =
            topology.endpoints.iter().map(|endpoint| of_process(endpoint.process)).collect();
        let outcome = |((endpoint, traffic), cpu_ns): ((Endpoint, AgentTraffic), u64)| {
            // A reader that polls uses a whole core.
            let serves = !endpoint.role.drives();
            let polls = serves && factors.receive == ReceiveMode::Polling;
            let usage = Usage {
                elapsed_ns: traffic.elapsed_ns,
                user_ns: if polls { traffic.elapsed_ns } else { cpu_ns },
                samples: traffic.samples,
                idle: idle(if polls { IDLE_NS } else { 0 }),
                ..Usage::default()
            };
            // The sockets of one process drop all of them.
            let drops = endpoint.process == dropping;
            let sockets = Some(Sockets {
                own_drops: Some(if drops { wire.dropped } else { 0 }),
                ..wire.sockets(factors)
            });
            let interface = traffic.report.interface.or_else(|| Some(wire.interface(&factors.interface)));
            let report = AgentReport { usage, sockets, interface, ..traffic.report };
            let configured = configured(&endpoint, mode);
            AgentOutcome {
                endpoint,
                pid: 0,
                clock: MonotonicClock::default(),
                clock_error_ns: Some(0),
                matched_ns: 0,
                configured,
                sent: traffic.sent,
                drained: traffic.drained,
                report,
            }
        };
        RunReports {
            agents: topology.endpoints.into_iter().zip(agents).zip(cpu_ns).map(outcome).collect(),
            lost: Vec::new(),
            clock_faults: Vec::new(),
            join,
        }
    }
}

fn idle(used_ns: u64) -> Option<Idle> {
    Some(Idle { elapsed_ns: IDLE_NS, used_ns, run_delay_ns: Some(0) })
}

/// Returns the effective configuration of an endpoint: QoS as requested, and the settings that the driver reports.
fn configured(endpoint: &Endpoint, mode: f64) -> Configured {
    let mode = BTreeMap::from([("mode".to_owned(), mode.to_string())]);
    let settings = [("participant", endpoint.participant.options.clone()), ("writer", mode)];
    let settings = settings.map(|(entity, settings)| (entity.to_owned(), settings));
    Configured {
        effective_qos: endpoint.entities().map(|(entity, qos)| (entity.to_owned(), qos)).collect(),
        settings: if endpoint.role.drives() { settings.into() } else { BTreeMap::new() },
        ..Configured::default()
    }
}
