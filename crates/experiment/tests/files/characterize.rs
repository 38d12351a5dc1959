//! Plans of `characterize`: cells, order, and rejections before anything is measured.

use std::collections::BTreeSet;

use crate::sample::Characterize;
use experiment::{Batching, History, Plan, PlanError, ReceiveMode, Reliability, ReliabilityChoice};
use proptest::prelude::*;

use crate::{
    sample::characterize,
    support::{description, drivers},
};

fn file() -> Characterize {
    Characterize {
        drivers: vec!["bare".to_owned(), "dds".to_owned()],
        sizes: vec![32, 4096, 8192],
        warm_up_ns: Some(200_000_000),
        measure_ns: Some(800_000_000),
        ..characterize()
    }
}

fn plan(file: &Characterize) -> Plan {
    file.plan(&drivers()).expect("a plan")
}

fn plan_error(change: impl FnOnce(&mut Characterize)) -> PlanError {
    let mut file = file();
    change(&mut file);
    let error = file.plan(&drivers()).expect_err("refused");
    assert!(!error.to_string().is_empty() && !error.hint().is_empty());
    error
}

#[test]
fn each_driver_has_latency_unbatched_and_batched_throughput() {
    let ids: Vec<String> = plan(&file()).cells.into_iter().map(|cell| cell.id).collect();
    let of = |driver: &str| {
        [
            "latency/32",
            "throughput/32",
            "throughput/32/batch-8192",
            "latency/4096",
            "throughput/4096",
            "throughput/4096/batch-8192",
            "latency/8192",
            // A batch of one sample is the same as no batch: not measured twice.
            "throughput/8192",
        ]
        .map(|cell| format!("{driver}/udp4/{cell}"))
    };
    assert_eq!(ids, [of("bare"), of("dds")].concat());
}

#[test]
fn batching_component_is_recorded_and_drivers_without_it_are_excluded() {
    let with = |driver: &str| {
        let plan = plan(&Characterize { drivers: vec![driver.to_owned()], ..file() });
        let batching: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.factors.batching.name()).collect();
        (batching.into_iter().collect::<Vec<_>>().join(" "), plan.notes.join("; "))
    };
    assert_eq!(with("dds").0, format!("{} {}", Batching::Native, Batching::None));
    assert_eq!(with("bare").0, format!("{} {}", Batching::Application, Batching::None));
    let (batching, notes) = with("plain");
    assert_eq!(batching, "none");
    assert!(notes.contains("`plain` cannot batch"), "{notes}");
}

#[test]
fn strongest_supported_guarantee_is_requested() {
    let plan = plan(&file());
    for cell in &plan.cells {
        let qos = &cell.factors.qos;
        if cell.factors.driver == "dds" {
            assert_eq!((qos.reliability, qos.history), (Some(Reliability::Reliable), Some(History::KeepAll)));
            // A queue of 64 MiB, 64 to 10,000 samples.
            assert_eq!(qos.max_samples, Some(if cell.factors.size_bytes == 8192 { 8192 } else { 10_000 }));
        } else {
            assert_eq!((qos.reliability, qos.history), (Some(Reliability::BestEffort), None));
            assert_eq!((qos.max_samples, qos.max_blocking_ns), (None, None));
        }
    }
    assert!(plan.notes.iter().any(|note| note.contains("`bare` cannot guarantee delivery")));
    let best_effort = Characterize { reliability: ReliabilityChoice::BestEffort, ..file() }
        .plan(&drivers())
        .expect("a plan");
    assert!(
        best_effort.cells.iter().all(|cell| cell.factors.qos.reliability == Some(Reliability::BestEffort))
    );
}

#[test]
fn a_window_lasts_10_ms_where_20_to_100_of_them_fit() {
    for (ms, windows) in [(20, 20), (200, 20), (450, 45), (1_000, 100), (60_000, 100)] {
        let file = Characterize { measure_ns: Some(ms * 1_000_000), ..file() };
        assert_eq!(plan(&file).design.windows, windows, "{ms} ms");
    }
}

#[test]
fn impossible_requests_are_rejected() {
    let words = |change: fn(&mut Characterize)| plan_error(change).to_string();
    assert!(words(|w| w.sizes = vec![15]).starts_with("size 15 is too small"));
    assert!(words(|w| w.sizes = vec![65_508]).ends_with("carries up to 65507 bytes"));
    assert!(words(|w| w.transport = Some("carrier".into())).ends_with("has no transport `carrier`"));
    assert!(words(|w| w.receive = ReceiveMode::Polling).ends_with("cannot receive by polling"));
    assert!(
        words(|w| w.reliability = ReliabilityChoice::Reliable)
            .ends_with("cannot guarantee delivery: reliability is unsupported")
    );
    let rejected = plan_error(|w| w.multicast = true);
    assert_eq!(rejected.to_string(), "driver `bare` does not send by multicast");
    assert!(rejected.hint().contains("remove `multicast`"));
    assert_eq!(words(|w| w.sizes = vec![]), "no sizes given");
    let inward = [("inward".to_owned(), description("inward", &["one_process"], &[]))].into();
    let error = Characterize { drivers: vec!["inward".into()], ..file() }.plan(&inward).expect_err("refused");
    assert!(error.to_string().starts_with("driver `inward` cannot be measured"), "{error}");
    assert_eq!(words(|w| w.sizes = vec![64, 64]), "size `64` is given twice");
    assert_eq!(words(|w| w.runs = Some(0)), "0 runs of each cell measure nothing");
    assert!(
        words(|w| w.measure_ns = Some(1)).starts_with("the measured time of 0.000000001 s is out of range")
    );
    assert_eq!(
        words(|w| w.options = vec![("dds".into(), "width".into(), "1".into())]),
        "driver `dds` has no option `width`"
    );
    assert_eq!(
        words(|w| w.options = vec![("else".into(), "depth".into(), "1".into())]),
        "an option was given for driver `else`, which is not measured"
    );
}

#[test]
fn multicast_is_a_factor_and_in_the_id() {
    let drivers = [("dds".to_owned(), description("dds", &["multicast"], &[]))].into();
    let file = Characterize { drivers: vec!["dds".to_owned()], multicast: true, ..file() };
    let plan = file.plan(&drivers).expect("a plan");
    assert_eq!(plan.cells[0].id, "dds/udp4-multicast/latency/32");
    assert!(plan.cells.iter().all(|cell| cell.factors.multicast));
}

#[test]
fn cell_id_contains_as_shipped() {
    let plan = plan(&Characterize { vendor_defaults: true, ..file() });
    assert!(plan.cells.iter().all(|cell| cell.factors.vendor_defaults && cell.id.ends_with("/as-shipped")));
}

#[test]
fn a_transport_that_carries_more_takes_larger_samples() {
    let file = Characterize { sizes: vec![65_508], transport: Some("shm".to_owned()), ..file() };
    assert!(plan(&file).cells.iter().all(|cell| cell.factors.transport == "shm"));
}

#[test]
fn driver_files_of_one_name_have_cells_of_their_own() {
    let two = ["/a/libddsmark_x.so", "/b/libddsmark_x.so"].map(str::to_owned);
    let description = description("x", &[], &[]);
    let drivers = two.iter().map(|path| (path.clone(), description.clone())).collect();
    let plan = Characterize { drivers: two.to_vec(), ..file() }.plan(&drivers).expect("a plan");
    let ids: BTreeSet<&String> = plan.cells.iter().map(|cell| &cell.id).collect();
    assert_eq!(ids.len(), plan.cells.len());
}

proptest! {
    /// Every block has every cell once; the order depends on the seed, and blocks differ.
    #[test]
    fn schedules_are_randomised_complete_blocks(seed: u64, runs in 3_u32..9) {
        let experiment = plan(&Characterize { seed, runs: Some(runs), ..file() });
        let schedule = experiment.schedule();
        prop_assert_eq!(&schedule, &experiment.schedule());
        prop_assert_eq!(schedule.len(), experiment.cells.len() * runs as usize);
        for (index, run) in schedule.iter().enumerate() {
            prop_assert_eq!(run.number as usize, index + 1);
        }
        let mut orders = BTreeSet::new();
        for block in schedule.chunks(experiment.cells.len()) {
            let order: Vec<usize> = block.iter().map(|run| run.cell).collect();
            prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), experiment.cells.len());
            orders.insert(order);
        }
        prop_assert!(orders.len() > 1, "all blocks have one order");
    }
}
