//! Samples of different sizes.

use std::collections::BTreeMap;

use experiment::{Load, ReceiveMode, SizeDistribution, SizeTable, Sizes, Trace, TraceSamples};

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

#[test]
fn samples_of_a_trace_have_its_sizes_in_its_order() {
    let sizes = [64, 4_000, 16, 900, 64, 2_500];
    let samples = TraceSamples {
        times_ns: (0..300).map(|index| index * MS).collect(),
        sizes_bytes: sizes.into_iter().cycle().take(300).collect(),
    };
    let trace = Trace {
        file: "scan.trace".to_owned(),
        sha256: "5ca1ab1e".to_owned(),
        samples: 300,
        length_ns: 299 * MS,
        sizes: samples.sizes(),
    };
    for (driver, receive) in
        [("udp", ReceiveMode::Waitset), ("udp", ReceiveMode::Listener), ("sim", ReceiveMode::Waitset)]
    {
        let mut factors = cell_of(driver, &[("scan", 4_000, Load::Trace { trace: trace.clone() })]);
        factors.receive = receive;
        let mut run = Run::new(factors, 200 * MS);
        run.traces = BTreeMap::from([("5ca1ab1e".to_owned(), samples.clone())]);
        let outcome = run.held();
        let (writer, reader) = (&outcome.paced_writer.flows[0], &outcome.read.flows[0]);
        // Those of the first 200 ms only.
        assert_held(writer, reader, 200);
        // A sample of another size than the recorded one of its number would count here.
        assert_eq!((reader.received.wrong_size, reader.received.corrupt), (0, 0), "{driver}");
        let planned: u64 = samples.sizes_bytes[..200].iter().sum();
        assert_eq!(reader.received.bytes, planned, "{driver}");
        // Sizes that are not those of the plan are an error before the traffic.
        let mut others = samples.clone();
        others.sizes_bytes = samples.sizes_bytes.iter().map(|size| size + 1).collect();
        run.traces.insert("5ca1ab1e".to_owned(), others);
        let (error, _) = run.try_outcome().expect_err("other sizes");
        assert!(error.contains("trace file `scan.trace`: other sizes than planned"), "{error}");
    }
}
