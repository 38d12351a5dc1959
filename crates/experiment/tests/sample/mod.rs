//! Base experiment that the tests vary.

mod characterize;

pub use characterize::Characterize;
use experiment::{Pin, ReceiveMode, ReliabilityChoice, Workload};

/// Two drivers, three sizes, latency and throughput, short runs.
pub fn characterize() -> Characterize {
    Characterize {
        drivers: vec!["plain".to_owned(), "dds".to_owned()],
        sizes: vec![32, 1024, 8192],
        workloads: vec![Workload::Latency, Workload::Throughput],
        batch_bytes: 8192,
        reliability: ReliabilityChoice::Strongest,
        receive: ReceiveMode::Waitset,
        polling_delay_ns: None,
        interface: "lo".to_owned(),
        multicast: false,
        vendor_defaults: false,
        transport: None,
        options: Vec::new(),
        runs: None,
        measure_ns: None,
        warm_up_ns: None,
        check_every: 64,
        seed: 7,
        pin: Pin::None,
        keep_awake: false,
        reference: true,
        match_ns: None,
    }
}
