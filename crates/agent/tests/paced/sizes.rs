//! Samples of different sizes.

use experiment::{ReceiveMode, SizeDistribution, SizeTable, Sizes};

use super::{assert_held, constant};
use crate::rig::{MS, Run, cell_of};

#[test]
fn samples_have_the_planned_sizes_and_all_bytes_arrive() {
    for (driver, receive) in
        [("udp", ReceiveMode::Waitset), ("udp", ReceiveMode::Listener), ("sim", ReceiveMode::Waitset)]
    {
        let mut factors =
            cell_of(driver, &[("small", 1_024, constant(1_000)), ("scan", 4_000, constant(500))]);
        let values = SizeDistribution::Values { values: vec![64, 1_024], weights: vec![9, 1] };
        let log_normal = SizeDistribution::LogNormal { median_bytes: 1_000, p99_bytes: 2_000 };
        for (flow, distribution) in factors.flows.iter_mut().zip([values, log_normal]) {
            flow.sizes = Some(Sizes { distribution, seed: 5 });
        }
        factors.receive = receive;
        let sizes: Vec<(Sizes, u64)> =
            factors.flows.iter().map(|flow| (flow.sizes.clone().expect("sizes"), flow.size_bytes)).collect();
        let outcome = Run::new(factors, 300 * MS).held();
        for (index, (sizes, most)) in sizes.iter().enumerate() {
            let planned = [300, 150][index];
            let (writer, reader) = (&outcome.paced_writer.flows[index], &outcome.read.flows[index]);
            assert_held(writer, reader, planned);
            assert_eq!(reader.received.wrong_size, 0);
            assert!(reader.received.checked_in_full > 0, "{:?}", reader.received);
            assert_eq!(
                reader.received.bytes,
                SizeTable::new(sizes, *most).sum(0..planned),
                "{driver} {index}"
            );
        }
    }
}
