//! Middleware as shipped, as a factor; and drivers whose middleware is not installed.

use std::collections::BTreeMap;

use experiment::{Durability, History, Pin, PlanInputs, QosDuration, Reliability, TransportInfo};

use crate::{ids, plan, rejected, source, support::drivers, with};

#[test]
fn tuned_and_as_shipped_cells_differ_in_unrequested_settings() {
    let text = with(
        "vendor_defaults = [false, true]\n[options]\ndds.depth = 5\n[design]\nbaseline.vendor_defaults = true\n",
    );
    let experiment = plan(&text, &["factors.size=32"]);
    assert_eq!(ids(&experiment), ["dds/udp4/latency/32", "dds/udp4/latency/32/as-shipped"]);
    let [tuned, shipped] = [0, 1].map(|cell| &experiment.cells[cell].factors);
    assert_eq!((tuned.as_shipped(), shipped.as_shipped()), ("", ", as shipped"));
    // Settings of the workload and of the file apply to both.
    for factors in [tuned, shipped] {
        let qos = &factors.qos;
        assert_eq!(
            (qos.reliability, qos.history, qos.durability),
            (Some(Reliability::Reliable), Some(History::KeepAll), Some(Durability::Volatile))
        );
        assert_eq!(factors.options["depth"], "5");
    }
    assert_eq!(tuned.qos.max_blocking_ns, Some(QosDuration::Ns(1_000_000_000)));
    assert!(tuned.qos.max_samples.is_some());
    assert_eq!((shipped.qos.max_blocking_ns, shipped.qos.max_samples), (None, None));
    assert_eq!(experiment.design.baseline, ["dds/udp4/latency/32/as-shipped"]);
    let [(cell, baseline)] = experiment.comparisons()[..] else { panic!("one pair") };
    assert_eq!((cell.factors.vendor_defaults, baseline.factors.vendor_defaults), (false, true));
}

#[test]
fn explicit_policies_are_requested_as_shipped_too() {
    let text = with(
        "vendor_defaults = true\nsend_queue = 10\n[qos]\nmax_blocking = \"2s\"\nhistory_depth = 3\nhistory = \"keep_last\"\n",
    );
    let factors = &plan(&text, &[]).cells[0].factors;
    assert_eq!(factors.qos.max_blocking_ns, Some(QosDuration::Ns(2_000_000_000)));
    assert_eq!((factors.qos.history, factors.qos.history_depth), (Some(History::KeepLast), Some(3)));
    assert_eq!((factors.writer_qos(0).max_samples, factors.reader_qos(0).max_samples), (Some(10), None));
}

#[test]
fn without_vendor_defaults_nothing_is_as_shipped() {
    let experiment = plan(&with(""), &[]);
    assert!(experiment.cells.iter().all(|cell| !cell.factors.vendor_defaults));
    assert!(!serde_json::to_string(&experiment).expect("JSON").contains("vendor_defaults"));
    let (error, marked, _) = rejected(&with("vendor_defaults = [true, true]\n"), &[]);
    assert!(error.contains("vendor_defaults `true` is given twice"), "{error}");
    assert_eq!(marked, "true");
}

#[test]
fn driver_without_its_middleware_is_rejected_at_its_position() {
    let mut descriptions = drivers();
    for name in ["gone", "dds+gone"] {
        let mut description = descriptions["dds"].clone();
        description.middleware_version =
            if name == "gone" { "not installed" } else { "1, not installed" }.to_owned();
        descriptions.insert(name.to_owned(), description);
    }
    for driver in ["gone", "dds+gone"] {
        let text = with("").replace("\"dds\"", &format!("[\"dds\", \"{driver}\"]"));
        let source = source(&text, &[]);
        let inputs = PlanInputs {
            name: "f",
            descriptions: &descriptions,
            installed: &[],
            files: &BTreeMap::new(),
            pin: Pin::None,
            hosts: &[],
            seed: 7,
            least_blocks: &results::least_blocks,
        };
        let error = source.read().expect("an experiment").plan(&inputs).expect_err("it is refused");
        assert_eq!(error.error.to_string(), "the middleware of driver `gone` is not installed");
        assert_eq!(&text[error.at.clone()], format!("\"{driver}\""));
        let fault = source.rejected(&error);
        assert!(fault.hint.starts_with("install it with `ddsmark drivers install gone`"), "{}", fault.hint);
    }
}

#[test]
fn middleware_as_shipped_has_its_own_choice_of_transports() {
    let mut descriptions = drivers();
    let dds = descriptions.get_mut("dds").expect("it is there");
    let builtin = TransportInfo { name: "builtin".to_owned(), max_payload_bytes: 500_000, note: None };
    dds.transports.push(builtin);
    let planned = |transports: &str| {
        let text = with(&format!("vendor_defaults = [false, true]\ntransport = {transports}\n"));
        let source = source(&text, &["factors.size=32"]);
        let inputs = PlanInputs {
            name: "f",
            descriptions: &descriptions,
            installed: &[],
            files: &BTreeMap::new(),
            pin: Pin::None,
            hosts: &[],
            seed: 7,
            least_blocks: &results::least_blocks,
        };
        let plan = source.read().expect("an experiment").plan(&inputs).expect("a plan");
        ids(&plan).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let [udp4, shm, builtin] = ["udp4", "shm", "builtin"].map(|name| format!("dds/{name}/latency/32"));
    let shipped = |id: &str| format!("{id}/as-shipped");
    assert_eq!(planned("\"default\""), [udp4.clone(), shipped(&builtin)]);
    // A named transport is that of both forms, also beside the default.
    assert_eq!(planned("\"udp4\""), [udp4.clone(), shipped(&udp4)]);
    assert_eq!(planned("\"builtin\""), [builtin.clone(), shipped(&builtin)]);
    let both = [udp4.clone(), shipped(&udp4), shipped(&builtin)];
    assert_eq!(planned("[\"default\", \"udp4\"]"), both);
    // Each single one.
    assert_eq!(planned("\"all\""), [udp4.clone(), shipped(&udp4), shm.clone(), shipped(&shm)]);
}
