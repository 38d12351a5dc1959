//! Reports of a simulated run: what its agents would return.

use std::collections::BTreeMap;

use collector::{AgentOutcome, RunReports};
use control::{AgentReport, Configured, IDLE_NS, MonotonicClock};
use experiment::{Design, Endpoint, Factors, ReceiveMode, Shape};
use results::{Idle, Interface, MulticastSent, Sockets, Usage};

use crate::drain::Drained;

/// Measured traffic of a run.
pub(crate) struct Traffic {
    /// Number of accepted samples.
    pub sent: u64,
    pub drained: Drained,
    /// Reports with the parts of their roles only.
    pub driving: AgentReport,
    /// Reports of the serving agents, in their order.
    pub serving: Vec<AgentReport>,
    pub usage: TrafficUsage,
}

/// Resource usage during the traffic, over the same windows as in the agents. Writer: from its first write to the end
/// of its last one, or of its schedule. Reader: from its first sample to its last one. All CPU time is user time.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrafficUsage {
    pub writer_ns: u64,
    pub writer_elapsed_ns: u64,
    pub reader_ns: u64,
    pub reader_elapsed_ns: u64,
    /// Number of samples that the readers received or echoed.
    pub received: u64,
    /// Bytes sent on the wire.
    pub wire_bytes: u64,
    pub wire_packets: u64,
    /// Datagrams dropped at the full receive buffer.
    pub dropped: u64,
    /// Mode factor of the run.
    pub mode: f64,
}

impl Traffic {
    /// Returns the reports of both agents. All samples of a simulated run are within its traffic.
    pub fn into_reports(self, factors: &Factors, design: &Design) -> RunReports {
        let Self { sent, drained, driving, serving, usage } = self;
        // A reader that polls uses a whole core.
        let polls = factors.receive == ReceiveMode::Polling;
        let reader_ns = if polls { usage.reader_elapsed_ns } else { usage.reader_ns };
        let driving_usage = Usage {
            elapsed_ns: usage.writer_elapsed_ns,
            user_ns: usage.writer_ns,
            samples: sent,
            idle: idle(0),
            ..Usage::default()
        };
        let serving_usage = Usage {
            elapsed_ns: usage.reader_elapsed_ns,
            user_ns: reader_ns,
            samples: usage.received,
            idle: idle(if polls { IDLE_NS } else { 0 }),
            ..Usage::default()
        };
        let mut serving = serving.into_iter();
        let outcome = |endpoint: Endpoint| {
            let (agent_usage, report, sent, drained) = if endpoint.role.drives() {
                (driving_usage.clone(), driving.clone(), sent, drained.acknowledged)
            } else {
                let report = serving.next().unwrap_or_default();
                // Each node of a ring echoes its own samples.
                let samples = report.echo.as_ref().map_or(usage.received, |echo| echo.echoed);
                (Usage { samples, ..serving_usage.clone() }, report, 0, drained.arrived)
            };
            let (sockets, interface) = (Some(usage.sockets(factors)), Some(usage.interface(factors)));
            let report = AgentReport { usage: agent_usage, sockets, interface, ..report };
            let configured = usage.configured(&endpoint);
            AgentOutcome {
                endpoint,
                pid: 0,
                clock: MonotonicClock::default(),
                matched_ns: 0,
                configured,
                sent,
                drained,
                report,
            }
        };
        let agents = Shape::of(factors, design).endpoints.into_iter().map(outcome).collect();
        RunReports { agents, lost: Vec::new() }
    }
}

fn idle(used_ns: u64) -> Option<Idle> {
    Some(Idle { elapsed_ns: IDLE_NS, used_ns, run_delay_ns: Some(0) })
}

impl TrafficUsage {
    fn sockets(&self, factors: &Factors) -> Sockets {
        let sent = MulticastSent { packets: self.wire_packets, bytes: self.wire_bytes };
        Sockets {
            in_datagrams: self.wire_packets.saturating_sub(self.dropped),
            in_errors: self.dropped,
            receive_buffer_errors: self.dropped,
            send_buffer_errors: 0,
            multicast: factors.multicast.then_some(sent),
        }
    }

    fn interface(&self, factors: &Factors) -> Interface {
        Interface {
            name: factors.interface.clone(),
            rx_bytes: self.wire_bytes,
            rx_packets: self.wire_packets,
            tx_bytes: self.wire_bytes,
            tx_packets: self.wire_packets,
        }
    }

    /// Returns the effective configuration of an endpoint: QoS as requested, and the settings that the driver reports.
    fn configured(&self, endpoint: &Endpoint) -> Configured {
        let mode = BTreeMap::from([("mode".to_owned(), self.mode.to_string())]);
        let settings = [("participant", endpoint.participant.options.clone()), ("writer", mode)];
        let settings = settings.map(|(entity, settings)| (entity.to_owned(), settings));
        Configured {
            effective_qos: endpoint.entities().map(|(entity, qos)| (entity.to_owned(), qos)).collect(),
            settings: if endpoint.role.drives() { settings.into() } else { BTreeMap::new() },
            ..Configured::default()
        }
    }
}
