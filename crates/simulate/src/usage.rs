//! What a run used of the host, as the agents of a run report it.

use std::collections::BTreeMap;

use experiment::{Factors, ReceiveMode, Workload};
use results::{AgentRecord, Counted, Cpu, Interface, Run, Sockets, Usage, WireBytes};

/// What was used while measuring. Processor time is all in user space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub writer_ns: u64,
    pub writer_elapsed_ns: u64,
    pub reader_ns: u64,
    pub reader_elapsed_ns: u64,
    /// As sent.
    pub wire_bytes: u64,
    pub wire_packets: u64,
    /// Datagrams, at the full buffer of the reader.
    pub dropped: u64,
    /// Factor of the run.
    pub mode: f64,
}

impl Used {
    /// Puts it into the record of its run.
    pub(crate) fn record(&self, run: &mut Run, factors: &Factors, counted: &Counted) {
        let traffic = Interface {
            name: factors.interface.clone(),
            rx_bytes: self.wire_bytes,
            rx_packets: self.wire_packets,
            tx_bytes: self.wire_bytes,
            tx_packets: self.wire_packets,
        };
        // one that polls has a core for itself
        let polls = factors.receive == ReceiveMode::Polling;
        let reader_ns = if polls { self.reader_elapsed_ns } else { self.reader_ns };
        let [driving, serving] = match factors.workload {
            Workload::Latency => ["pinger", "ponger"],
            Workload::Throughput | Workload::Paced | Workload::Search => ["writer", "reader"],
        };
        let agent = |role: &str, user_ns, elapsed_ns| AgentRecord {
            role: role.to_owned(),
            pid: 0,
            cpus: Vec::new(),
            usage: Usage { elapsed_ns, user_ns, ..Usage::default() },
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
        run.agents = vec![
            agent(driving, self.writer_ns, self.writer_elapsed_ns),
            agent(serving, reader_ns, self.reader_elapsed_ns),
        ];
        let per_sample = |ns: u64, samples: u64| (samples > 0).then(|| ns as f64 / samples as f64);
        run.cpu_ns_per_sample = per_sample(self.writer_ns, counted.sent)
            .zip(per_sample(reader_ns, counted.delivered))
            .map(|(writer, reader)| Cpu { writer, reader });
        run.wire = Some(WireBytes {
            interface: traffic.name,
            rx_bytes: traffic.rx_bytes,
            rx_packets: traffic.rx_packets,
            tx_bytes: traffic.tx_bytes,
            tx_packets: traffic.tx_packets,
        });
        run.udp_buffer_drops = Some(self.dropped);
    }

    /// As the driver reads them back.
    fn settings(&self, factors: &Factors) -> BTreeMap<String, BTreeMap<String, String>> {
        BTreeMap::from([
            ("participant".to_owned(), factors.options.clone()),
            ("writer".to_owned(), BTreeMap::from([("mode".to_owned(), self.mode.to_string())])),
        ])
    }
}
