//! Rings: times and losses of each hop against the truth of the configuration.

use experiment::{Cell, Topology, Workload};
use results::{Run, RunState, WarningKind, kind_of_hop};
use sim_model::GroundTruth;
use simulate::Simulator;

use crate::rig::{MS, cell, config, run};

fn ring(nodes: u16, reliable: bool, options: &[(&str, &str)]) -> Cell {
    let mut cell = cell(Workload::Latency, reliable, 0, options);
    cell.factors.topology = Topology::Ring { nodes };
    cell
}

#[test]
fn time_per_hop_is_that_of_one_hop_at_any_number_of_nodes() {
    let options = [("latency", "lognormal:50us,0.3")];
    let config = config(&options);
    for nodes in [2, 3, 16] {
        let run = run(&mut Simulator::new(), &ring(nodes, true, &options), 1_000 * MS, 1);
        assert_eq!(
            (run.state, run.endpoints.len()),
            (RunState::Valid, usize::from(nodes)),
            "{:?}",
            run.warnings
        );
        let truth = GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0);
        let (mean, sd) = truth.mean_and_sd();
        let rtt = &run.latency["rtt"];
        let all_hops = (rtt.n * u64::from(nodes)) as f64;
        let ring = run.ring().expect("a ring");
        let per_hop = ring.per_hop_mean_ns.expect("a mean");
        assert!(
            (per_hop - mean).abs() <= 4.0 * sd / all_hops.sqrt() + 1.0,
            "{nodes}: {per_hop} is not {mean}"
        );
        assert_eq!(ring.per_hop_p50_ns, rtt.p50_ns.map(|ns| ns as f64 / f64::from(nodes)));
        // Each hop has its own times and counts.
        assert_eq!(ring.hops.len(), usize::from(nodes));
        for (index, hop) in ring.hops.iter().enumerate() {
            let times = &run.latency[&kind_of_hop(index)];
            let allowed = 4.0 * sd / (times.n as f64).sqrt() + 1.0;
            assert!((times.mean_ns - mean).abs() <= allowed, "{nodes}: {}: {times:?}", hop.name());
            assert_eq!((hop.sent, hop.delivered, hop.lost), (rtt.n, rtt.n, 0), "{nodes}: {hop:?}");
        }
        assert_eq!(ring.hops[0].name(), "node-1 to node-2");
        assert_eq!(ring.hops[usize::from(nodes) - 1].name(), format!("node-{nodes} to node-1"));
    }
}

/// Checks that each hop of a ring loses this share of the samples that it gets, that a warning names each loss, and that
/// the losses of the hops are those of the ring.
pub fn assert_losses_of_hops(run: &Run, loss: f64) {
    let hops = &run.ring().expect("a ring").hops;
    let counted = &run.flows[0].counted;
    let mut sent = counted.sent;
    for hop in hops {
        assert_eq!((hop.sent, hop.delivered + hop.lost), (sent, sent), "{hops:?}");
        let deviation = 4.0 * (sent as f64 * loss * (1.0 - loss)).sqrt();
        assert!((hop.lost as f64 - sent as f64 * loss).abs() <= deviation, "{hops:?}");
        let named =
            format!("{} of {sent} samples were lost between {} and {}", hop.lost, hop.writer, hop.reader);
        assert!(run.warnings.iter().any(|warning| warning.text == named), "{named}: {:?}", run.warnings);
        sent = hop.delivered;
    }
    assert_eq!((sent, counted.lost), (counted.delivered, hops.iter().map(|hop| hop.lost).sum()), "{hops:?}");
}

#[test]
fn each_loss_is_counted_on_its_hop() {
    let (nodes, loss) = (4, 0.02);
    let cell = ring(nodes, false, &[("latency", "5us"), ("loss", "2%")]);
    let run = run(&mut Simulator::new(), &cell, 60_000 * MS, 1);
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    assert_losses_of_hops(&run, loss);
    let lossy = run.warnings.iter().filter(|warning| warning.kind == WarningKind::Loss).count();
    assert_eq!(lossy, 1 + usize::from(nodes), "the round trips, and each hop: {:?}", run.warnings);
}

#[test]
fn ring_of_two_nodes_has_the_round_trips_of_a_pair() {
    let options = [("latency", "normal:50us,5us")];
    let [ring, pair] = [ring(2, true, &options), cell(Workload::Latency, true, 0, &options)]
        .map(|cell| run(&mut Simulator::new(), &cell, 100 * MS, 1));
    assert_eq!(ring.latency["rtt"], pair.latency["rtt"]);
    assert_eq!(ring.latency["hop_1"], pair.latency["one_way_out"]);
    assert_eq!(ring.latency["hop_2"], pair.latency["one_way_back"]);
    assert!(pair.ring().is_none());
}
