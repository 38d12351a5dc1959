//! Each finding on simulated middleware: one configuration that yields it, one that yields its opposite, and one
//! that yields none. The tests cover the whole path: configuration, samples in virtual time, runs, result,
//! findings.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::sample::Characterize;
use experiment::{ReliabilityChoice, Workload};
use insta::assert_snapshot;
use results::{Finding, FindingKind, Limit, ResultDocument};
use simulate::{HostModel, RunVariation, Simulator, describe};

use crate::rig::{alone, characterize};

const MS: u64 = 1_000_000;

/// Runs that differ by a few percent.
const NOISE: RunVariation = RunVariation { drift: 0.0, sd: 0.01, autocorrelation: 0.0 };
/// Runs that differ so much that sizes and ways to write cannot be distinguished.
const UPROAR: RunVariation = RunVariation { drift: 0.0, sd: 0.7, autocorrelation: 0.0 };

/// Returns the simulated result of the settings on a host; options as `driver.option=value`.
fn measured(characterize: &Characterize, options: &[&str], host: HostModel) -> ResultDocument {
    let option = |text: &&str| {
        let (driver, rest) = text.split_once('.').expect("a driver");
        let (name, value) = rest.split_once('=').expect("a value");
        (driver.to_owned(), name.to_owned(), value.to_owned())
    };
    let characterize = Characterize { options: options.iter().map(option).collect(), ..characterize.clone() };
    let drivers = BTreeMap::from(
        ["plain", "dds", "other"].map(|name| (name.to_owned(), describe(name, name == "plain"))),
    );
    let mut experiment = characterize.plan(&drivers).unwrap_or_else(|error| panic!("{error}"));
    (experiment.design.warm_up_ns, experiment.design.measure_ns) = (2 * MS, 20 * MS);
    let mut simulator = Simulator::on(host);
    simulator.drivers = drivers;
    let document = simulator.experiment(&experiment).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(document.findings, findings::find(&document), "a result has its findings");
    document
}

/// Returns the findings of some kinds.
fn about(document: &ResultDocument, kinds: &[FindingKind]) -> Vec<Finding> {
    document.findings.iter().filter(|finding| kinds.contains(&finding.kind)).cloned().collect()
}

/// Returns the texts of three results, which must yield the finding, its opposite, and none.
#[track_caller]
fn texts(kinds: &[FindingKind], results: [(&ResultDocument, &[FindingKind]); 3]) -> String {
    let mut text = String::new();
    for (document, expected) in results {
        let found = about(document, kinds);
        assert_eq!(found.iter().map(|finding| finding.kind).collect::<Vec<_>>(), expected, "{found:#?}");
        for finding in found {
            writeln!(text, "{}", finding.text).expect("a string grows");
        }
    }
    text
}

fn unbatched() -> Characterize {
    Characterize { batch_bytes: 0, ..alone("dds", Workload::Throughput) }
}

fn best_effort() -> Characterize {
    Characterize { reliability: ReliabilityChoice::BestEffort, ..unbatched() }
}

/// A server with 1 Gbit/s that also needs 4 us per packet.
const PLATEAU: [&str; 2] = ["dds.bandwidth=1Gbit", "dds.service=4us"];

#[test]
fn throughput_has_a_plateau_or_grows_or_falls() {
    use FindingKind::{FallsAgain, Plateau, StillGrows};
    let kinds = [Plateau, StillGrows, FallsAgain];
    let noise = || HostModel { between: NOISE, ..HostModel::default() };
    let plateau = measured(&unbatched(), &PLATEAU, noise());
    let grows = measured(&unbatched(), &["dds.service=20us"], noise());
    let uproar = HostModel { between: UPROAR, ..HostModel::default() };
    let nothing = measured(&unbatched(), &PLATEAU, uproar);
    let text = texts(&kinds, [(&plateau, &[Plateau]), (&grows, &[StillGrows]), (&nothing, &[])]);
    // a packet of several datagrams is lost if any of them is lost
    let lossy = ["dds.bandwidth=1Gbit", "dds.loss=5%", "dds.fragment=1400"];
    let falls = measured(&best_effort(), &lossy, noise());
    let nothing = measured(&best_effort(), &lossy, HostModel { between: UPROAR, ..HostModel::default() });
    let falling = texts(&kinds, [(&falls, &[FallsAgain]), (&plateau, &[Plateau]), (&nothing, &[])]);
    assert_snapshot!(text + falling.lines().next().expect("a finding"));
}

/// Returns the text of the only plateau of a result, which must have these bottlenecks.
#[track_caller]
fn binds(document: &ResultDocument, limits: &[Limit]) -> String {
    let found = about(document, &[FindingKind::Plateau]);
    let [plateau] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(plateau.limits, limits, "{plateau:#?}");
    format!("{}\n", plateau.text)
}

/// CPU time that causes a plateau: 4 us and 8 ns per byte, which is 1 Gbit/s.
fn slow_writer() -> HostModel {
    HostModel { write_ns: 4_000.0, write_ns_per_byte: 8.0, ..HostModel::default() }
}

fn slow_reader() -> HostModel {
    HostModel { read_ns: 4_000.0, read_ns_per_byte: 8.0, receive_buffer: Some(64), ..HostModel::default() }
}

#[test]
fn what_binds_at_a_plateau_is_what_does() {
    let mut text = binds(&measured(&unbatched(), &[], slow_writer()), &[Limit::WriterCpu]);
    text += &binds(&measured(&unbatched(), &[], slow_reader()), &[Limit::ReaderCpu]);
    text += &binds(&measured(&best_effort(), &[], slow_reader()), &[Limit::ReaderCpu, Limit::BufferDrops]);
    let link = |mbps| HostModel { link_mbps: Some(mbps), ..HostModel::default() };
    text += &binds(&measured(&unbatched(), &["dds.service=4us"], link(1000)), &[Limit::LineRate]);
    // the opposite of each: the middleware's own server limits the rate, and no known bottleneck
    text += &binds(&measured(&unbatched(), &PLATEAU, link(10_000)), &[Limit::Unknown]);
    // also best effort, but with a reader that keeps up
    let keeps_up = HostModel { receive_buffer: Some(64), ..slow_writer() };
    text += &binds(&measured(&best_effort(), &[], keeps_up), &[Limit::WriterCpu]);
    // without a plateau there is no bottleneck
    let grows = measured(&unbatched(), &["dds.service=20us"], HostModel::default());
    assert!(grows.findings.iter().all(|finding| finding.limits.is_empty()), "{grows:#?}");
    assert_snapshot!(text);
}

#[test]
fn batching_gains_or_costs() {
    use FindingKind::{BatchingCosts, BatchingGains};
    let batched = alone("dds", Workload::Throughput);
    let noise = || HostModel { between: NOISE, ..HostModel::default() };
    // each packet takes the server 2 us, which matters less for larger samples
    let gains = measured(
        &Characterize { sizes: vec![64, 256, 1024, 4096], ..batched.clone() },
        &["dds.service=2us", "dds.bandwidth=1Gbit"],
        HostModel { between: RunVariation { sd: 0.03, ..NOISE }, ..HostModel::default() },
    );
    let costs = measured(&batched, &[], HostModel { pack_ns: 1_000.0, ..noise() });
    let nothing = measured(&batched, &[], noise());
    assert_snapshot!(texts(
        &[BatchingGains, BatchingCosts],
        [(&gains, &[BatchingGains]), (&costs, &[BatchingCosts]), (&nothing, &[])],
    ));
}

#[test]
fn latency_is_flat_or_grows() {
    use FindingKind::{LatencyFlat, LatencyGrows};
    let latency = alone("dds", Workload::Latency);
    let noise = || HostModel { between: NOISE, ..HostModel::default() };
    let flat = measured(&latency, &["dds.latency=normal:10us,500ns"], noise());
    let slope = ["dds.latency=normal:10us,500ns", "dds.bandwidth=10Gbit"];
    let grows = measured(&latency, &slope, noise());
    let gentle = ["dds.latency=normal:10us,500ns", "dds.bandwidth=100Gbit"];
    let nothing = measured(&latency, &gentle, HostModel { between: UPROAR, ..HostModel::default() });
    assert_snapshot!(texts(
        &[LatencyFlat, LatencyGrows],
        [(&flat, &[LatencyFlat]), (&grows, &[LatencyGrows]), (&nothing, &[])],
    ));
}

#[test]
fn latency_grows_from_the_smallest_size_on() {
    let options = ["dds.latency=normal:10us,500ns", "dds.bandwidth=1Gbit"];
    let grows = measured(&alone("dds", Workload::Latency), &options, HostModel::default());
    let found = about(&grows, &[FindingKind::LatencyGrows]);
    // 8 ns per byte in each direction
    let slope = found[0].numbers["rtt_slope_ns_per_byte"];
    assert!((slope / 16.0 - 1.0).abs() < 0.01, "{found:#?}");
    assert_snapshot!(found[0].text);
}

const ADDING: [FindingKind; 4] = [
    FindingKind::RttAdded,
    FindingKind::RttSaved,
    FindingKind::RttAddedConstant,
    FindingKind::RttAddedVaries,
];

#[test]
fn a_middleware_adds_to_the_bare_socket_or_saves() {
    use FindingKind::{RttAdded, RttAddedConstant, RttAddedVaries, RttSaved};
    let both = Characterize { workloads: vec![Workload::Latency], ..characterize() };
    let noise = || HostModel { between: NOISE, ..HostModel::default() };
    let bare = "plain.latency=normal:10us,500ns";
    let adds = measured(&both, &[bare, "dds.latency=normal:15us,500ns"], noise());
    let saves = measured(&both, &[bare, "dds.latency=normal:7us,500ns"], noise());
    let nothing = measured(&both, &[bare, "dds.latency=normal:10us,500ns"], noise());
    let mut text =
        texts(&ADDING, [(&adds, &[RttAdded, RttAddedConstant]), (&saves, &[RttSaved]), (&nothing, &[])]);
    // the opposite of constant: it grows with the size; many sizes are abbreviated
    let many = Characterize { sizes: vec![64, 256, 1024, 4096, 16_384, 32_768], ..both };
    let varies = measured(&many, &[bare, "dds.latency=normal:10us,500ns", "dds.bandwidth=2Gbit"], noise());
    let uproar = HostModel { between: UPROAR, ..HostModel::default() };
    let nothing = measured(&many, &[bare, "dds.latency=normal:15us,500ns"], uproar);
    let constant = [RttAddedConstant, RttAddedVaries];
    texts(&constant, [(&varies, &[RttAddedVaries]), (&adds, &[RttAddedConstant]), (&nothing, &[])]);
    for finding in about(&varies, &ADDING) {
        writeln!(text, "{}", finding.text).expect("a string grows");
    }
    assert_snapshot!(text);
}

#[test]
fn what_is_not_guaranteed_is_lost_or_not() {
    use FindingKind::{LossWithoutGuarantee, NoLossWithoutGuarantee};
    let both = Characterize { workloads: vec![Workload::Throughput], ..characterize() };
    let options = ["plain.loss=5%", "dds.loss=5%", "plain.service=2us", "dds.service=2us"];
    let lossy = measured(&both, &options, HostModel::default());
    let whole = measured(&both, &options[2..], HostModel::default());
    // two middlewares that both guarantee delivery
    let drivers = vec!["dds".to_owned(), "other".to_owned()];
    let reliable = measured(&Characterize { drivers, ..both }, &["dds.loss=5%"], HostModel::default());
    assert_snapshot!(texts(
        &[LossWithoutGuarantee, NoLossWithoutGuarantee],
        [(&lossy, &[LossWithoutGuarantee]), (&whole, &[NoLossWithoutGuarantee]), (&reliable, &[])],
    ));
}
