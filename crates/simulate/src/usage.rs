//! Resource usage of a simulated run, in the form of the agents' reports.

use std::collections::BTreeMap;

use experiment::{Factors, ReceiveMode, Workload};
use results::{AgentRecord, Counted, Cpu, Idle, Interface, Run, Sockets, Usage, WireBytes};

/// Time in ns for which agents measure their idle cost.
const IDLE_NS: u64 = 50_000_000;

/// Resource usage during the traffic, over the same windows as in the agents. Writer: from its first write to the end
/// of its last one, or of its schedule. Reader: from its first sample to its last one. All CPU time is user time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub writer_ns: u64,
    pub writer_elapsed_ns: u64,
    pub reader_ns: u64,
    pub reader_elapsed_ns: u64,
    /// Bytes sent on the wire.
    pub wire_bytes: u64,
    pub wire_packets: u64,
    /// Datagrams dropped at the full receive buffer.
    pub dropped: u64,
    /// Mode factor of the run.
    pub mode: f64,
}

impl Used {
    /// Fills in the record of a run.
    pub(crate) fn record(&self, run: &mut Run, factors: &Factors, counted: &Counted) {
        let traffic = Interface {
            name: factors.interface.clone(),
            rx_bytes: self.wire_bytes,
            rx_packets: self.wire_packets,
            tx_bytes: self.wire_bytes,
            tx_packets: self.wire_packets,
        };
        // A reader that polls uses a whole core.
        let polls = factors.receive == ReceiveMode::Polling;
        let reader_ns = if polls { self.reader_elapsed_ns } else { self.reader_ns };
        let [driving, serving] = match factors.workload {
            Workload::Latency => ["pinger", "ponger"],
            Workload::Throughput | Workload::Paced | Workload::Search => ["writer", "reader"],
        };
        // All samples of a simulated run are within the traffic window.
        let idle = |used_ns| Some(Idle { elapsed_ns: IDLE_NS, used_ns, run_delay_ns: Some(0) });
        let usage = |user_ns, elapsed_ns, samples, idle_ns| Usage {
            elapsed_ns,
            user_ns,
            samples,
            idle: idle(idle_ns),
            ..Usage::default()
        };
        let writer = usage(self.writer_ns, self.writer_elapsed_ns, counted.sent, 0);
        let idle_ns = if polls { IDLE_NS } else { 0 };
        let reader = usage(reader_ns, self.reader_elapsed_ns, counted.delivered, idle_ns);
        run.cpu_ns_per_sample = Cpu::of(&writer, &reader);
        let agent = |role: &str, usage| AgentRecord {
            role: role.to_owned(),
            pid: 0,
            cpus: Vec::new(),
            usage,
            sockets: Some(Sockets {
                in_datagrams: self.wire_packets.saturating_sub(self.dropped),
                in_errors: self.dropped,
                receive_buffer_errors: self.dropped,
                send_buffer_errors: 0,
                multicast: None,
            }),
            interface: Some(traffic.clone()),
            counters: BTreeMap::new(),
            settings: if role == driving { self.settings(factors) } else { BTreeMap::new() },
        };
        run.agents = vec![agent(driving, writer), agent(serving, reader)];
        run.wire = Some(WireBytes {
            interface: traffic.name,
            rx_bytes: traffic.rx_bytes,
            rx_packets: traffic.rx_packets,
            tx_bytes: traffic.tx_bytes,
            tx_packets: traffic.tx_packets,
        });
        run.udp_buffer_drops = Some(self.dropped);
    }

    /// Returns the settings as the driver reports them.
    fn settings(&self, factors: &Factors) -> BTreeMap<String, BTreeMap<String, String>> {
        BTreeMap::from([
            ("participant".to_owned(), factors.options.clone()),
            ("writer".to_owned(), BTreeMap::from([("mode".to_owned(), self.mode.to_string())])),
        ])
    }
}
