//! Sides of a comparison: which are compared, and which are rejected.

use experiment::{EndpointQos, PayloadFile, Pin, ReceiveMode, Reliability, Workload};
use results::{Pairing, ResultDocument, VerdictKind};
use verdicts::{CompareError, CompareOptions, compare};

use crate::{conclusion, latency, result, rtt, side};

#[test]
fn two_cells_of_one_result_are_paired_by_block_and_two_results_are_not() {
    let document = latency(12, 0.9, 0.01);
    let options =
        CompareOptions { factors: vec!["driver".to_owned(), "qos".to_owned()], ..CompareOptions::default() };
    let one =
        compare(&side("a", &document, "plain"), &side("a", &document, "dds"), &options).expect("compared");
    let of = |comparison: &results::Comparison| {
        let verdicts = comparison.verdicts.iter();
        verdicts
            .filter(|verdict| verdict.kind == VerdictKind::Comparison)
            .map(|v| v.pairing)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&one), [Pairing::Blocks; 2]);
    assert!(one.notes.iter().all(|note| !note.contains("two results")), "{:?}", one.notes);
    // the same cell, later, with other noise
    let later = result(Workload::Latency, 10, |run| {
        run.number += 1000;
        rtt(run, 0.8, 0.01);
    });
    let two = compare(&side("a", &document, "dds"), &side("b", &later, "dds"), &CompareOptions::default());
    let two = two.expect("compared");
    assert_eq!(of(&two), [Pairing::Apart; 2]);
    assert!(two.notes[0].contains("whatever part of the change of the host"), "{:?}", two.notes);
    let p50 = two.verdicts.iter().find(|verdict| verdict.pairing == Pairing::Apart).expect("a verdict");
    assert!(
        p50.text.starts_with("RTT p50 11.0 % lower (95 % ") && p50.text.contains("12 and 10 runs"),
        "{}",
        p50.text
    );
}

#[test]
fn a_result_against_itself_never_differs() {
    for (blocks, reach) in [(12, 0.01), (12, 0.3), (3, 0.01)] {
        let document = latency(blocks, 0.9, reach);
        let all = side("a", &document, "");
        let found = compare(&all, &all, &CompareOptions::default()).expect("compared");
        assert!(found.notes.iter().any(|note| note.contains("the same runs")), "{:?}", found.notes);
        for verdict in found.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison) {
            assert!(!conclusion(verdict).differs(), "{}", verdict.text);
        }
    }
}

#[test]
fn unnamed_differences_are_rejected_by_name() {
    let document = latency(12, 0.9, 0.01);
    let mut other = latency(12, 0.9, 0.02);
    other.hosts[0].environment = crate::sample::environment("26214400");
    let compare = |factors: &[&str], force| {
        let factors = factors.iter().map(|&factor| factor.to_owned()).collect();
        let options = CompareOptions { factors, force, ..CompareOptions::default() };
        compare(&side("a", &document, "dds"), &side("b", &other, "dds"), &options)
    };
    let error = compare(&[], false).expect_err("an environment that differs");
    assert_eq!(error.details(), ["env.sysctl.net.core.rmem_max: `212992`, then `26214400`"]);
    let named = compare(&["env.net.core.rmem_max"], false).expect("it is the named factor");
    assert!(!named.forced && named.differences.len() == 1 && named.differences[0].named);
    let forced = compare(&[], true).expect("forced");
    assert!(forced.forced && forced.notes[0].starts_with("FORCED: "), "{:?}", forced.notes);
    assert_eq!(
        compare(&["sise"], false),
        Err(CompareError::UnknownFactor { name: "sise".to_owned(), meant: Some("size".to_owned()) })
    );
    // every kind of field
    type Change = fn(&mut ResultDocument);
    let changes: [(&str, Change); 11] = [
        ("design.warm_up_ns", |document| document.experiment.design.warm_up_ns += 1),
        ("design.payload", |document| {
            let (path, sha256) = ("file".to_owned(), "ab".to_owned());
            document.experiment.design.payload = Some(PayloadFile { path, sha256 });
        }),
        ("design.write_instance", |document| document.experiment.design.write_instance = Some(5)),
        ("design.warm_up_samples", |document| document.experiment.design.warm_up_samples = Some(5)),
        ("design.measure_ns", |document| document.experiment.design.measure_ns += 1),
        ("design.pin", |document| document.experiment.design.pin = Pin::Cores(vec![0], vec![1])),
        ("design.keep_awake", |document| document.experiment.design.keep_awake = true),
        ("tool.version", |document| document.tool.version = "9".to_owned()),
        ("driver.middleware_version", |document| {
            document.drivers.get_mut("dds").expect("a driver").middleware_version = "9".to_owned();
        }),
        ("receive", |document| {
            document.cells.iter_mut().for_each(|cell| cell.factors.receive = ReceiveMode::Polling);
        }),
        ("effective_qos.writer.max_samples", |document| {
            let effective = document.cells.iter_mut().filter_map(|cell| cell.effective_qos.get_mut("writer"));
            effective.for_each(|qos| qos.max_samples = Some(77));
        }),
    ];
    for (field, change) in changes {
        let mut other = latency(12, 0.9, 0.02);
        change(&mut other);
        let sides = (side("a", &document, "dds"), side("b", &other, "dds"));
        let Err(CompareError::Differ(found)) =
            verdicts::compare(&sides.0, &sides.1, &CompareOptions::default())
        else {
            panic!("`{field}` differs")
        };
        assert_eq!(found.iter().map(|found| found.field.as_str()).collect::<Vec<_>>(), [field]);
    }
}

#[test]
fn qos_of_endpoints_differs_where_requested() {
    let document = latency(12, 0.9, 0.01);
    let differences = |change: fn(&mut EndpointQos), factors: &[&str]| {
        let mut other = latency(12, 0.9, 0.02);
        for cell in &mut other.cells {
            let qos = &cell.factors.qos;
            let mut ends = EndpointQos { writer: qos.clone().of_writers(), reader: qos.clone().of_readers() };
            change(&mut ends);
            cell.factors.qos_of_ends = Some(ends);
            // neither writer nor reader alone requests this
            cell.factors.qos.transport_priority = Some(3);
        }
        let factors = factors.iter().map(|&factor| factor.to_owned()).collect();
        let options = CompareOptions { factors, ..CompareOptions::default() };
        let found = compare(&side("a", &document, "dds"), &side("b", &other, "dds"), &options);
        found.map(|found| found.differences).map_err(|error| error.details())
    };
    assert_eq!(differences(|_| {}, &[]), Ok(Vec::new()), "written otherwise, and the same");
    let open: fn(&mut EndpointQos) = |ends| ends.reader.reliability = Some(Reliability::BestEffort);
    let rejected = differences(open, &[]).expect_err("readers differ");
    assert_eq!(rejected, ["qos.reader.reliability: `reliable`, then `best_effort`"]);
    for factor in ["qos.reader.reliability", "qos.reader", "qos.reliability", "qos"] {
        assert_eq!(differences(open, &[factor]).map(|found| found.len()), Ok(1), "{factor}");
    }
    assert_eq!(differences(open, &["qos.writer"]), Err(rejected));
}

#[test]
fn cells_without_a_counterpart_are_named_and_nothing_is_compared_with_nothing() {
    let document = latency(12, 0.9, 0.01);
    let other = latency(12, 0.9, 0.02);
    let found = compare(&side("a", &document, ""), &side("b", &other, "dds"), &CompareOptions::default());
    assert_eq!(found.expect("compared").baseline.unmatched, ["plain/udp4/latency/1024"]);
    let throughput = result(Workload::Throughput, 12, |_| {});
    let rejected =
        compare(&side("a", &document, ""), &side("b", &throughput, ""), &CompareOptions::default());
    assert!(matches!(rejected, Err(CompareError::NothingToCompare { .. })), "{rejected:?}");
}

#[test]
fn each_of_several_drivers_is_compared_with_itself_even_if_the_driver_may_differ() {
    let mut document = latency(12, 0.9, 0.01);
    for (cell, driver) in document.cells.iter_mut().zip(["dds", "plain"]) {
        cell.factors.driver = driver.to_owned();
    }
    let other = document.clone();
    let named = CompareOptions { factors: vec!["driver".to_owned()], ..CompareOptions::default() };
    let found = compare(&side("a", &document, ""), &side("b", &other, ""), &named).expect("compared");
    assert!(found.baseline.unmatched.is_empty() && found.treatment.unmatched.is_empty());
    let of_driver = |verdict: &&results::Verdict| verdict.kind == VerdictKind::Comparison;
    for verdict in found.verdicts.iter().filter(of_driver) {
        assert_eq!(verdict.treatment.cell, verdict.baseline.cell);
    }
}
