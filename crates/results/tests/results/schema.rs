//! Published schemas: they equal the generated ones, and have the names that others rely on.

use std::{fs, path::Path};

use results::{Comparison, KeptSelfTests, ResultDocument, json_schema};

use crate::sample;

#[test]
fn published_schemas_are_the_generated_ones() {
    let generated = [
        ("result", json_schema::<ResultDocument>("A result of ddsmark")),
        ("comparison", json_schema::<Comparison>("A comparison of ddsmark")),
        ("selftest", json_schema::<KeptSelfTests>("What selftests of ddsmark found, by driver")),
    ];
    for (name, generated) in generated {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../schemas/{name}.schema.json"));
        let published =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(published == generated, "{name}: run `cargo xtask generate`, and commit what it changes");
    }
}

#[test]
fn the_names_that_others_rely_on_are_there() {
    let document = serde_json::to_value(sample::document()).unwrap();
    let at = |pointer: &str| document.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    for name in ["schema_version", "tool", "hosts", "experiment", "cells", "findings"] {
        at(&format!("/{name}"));
    }
    let cells = at("/cells").as_array().unwrap();
    let find = |workload: &str| {
        cells
            .iter()
            .position(|cell| cell["factors"]["workload"] == workload)
            .unwrap_or_else(|| panic!("{workload}"))
    };
    let (latency, throughput) = (find("latency"), find("throughput"));
    for name in ["driver", "transport", "workload", "size_bytes", "batch_bytes"] {
        at(&format!("/cells/0/factors/{name}"));
    }
    for place in [String::new(), "/runs/0".to_owned()] {
        for kind in ["rtt", "one_way_out", "one_way_back"] {
            for name in [
                "n",
                "mean_ns",
                "sd_ns",
                "min_ns",
                "max_ns",
                "p50_ns",
                "p90_ns",
                "p99_ns",
                "p99_9_ns",
                "p99_99_ns",
                "p99_9999_ns",
            ] {
                at(&format!("/cells/{latency}{place}/latency/{kind}/{name}"));
            }
        }
        for name in [
            "offered_sps",
            "accepted_sps",
            "delivered_sps",
            "goodput_mbps",
            "sent",
            "delivered",
            "lost",
            "lost_pct",
            "duplicate",
            "out_of_order",
        ] {
            let part = if place.is_empty() { "" } else { "/measured" };
            at(&format!("/cells/{throughput}{place}{part}/throughput/{name}"));
        }
        for name in ["cpu_ns_per_sample", "warnings"] {
            at(&format!("/cells/{throughput}{place}/{name}"));
        }
    }
    at(&format!("/cells/{throughput}/effective_qos"));
    for name in ["id", "role", "driver", "process", "matched_ns", "effective_qos", "settings"] {
        at(&format!("/cells/{throughput}/runs/0/endpoints/0/{name}"));
    }
    for name in ["number", "pid", "endpoints", "usage"] {
        at(&format!("/cells/{throughput}/runs/0/processes/0/{name}"));
    }
    for name in
        ["name", "writer", "reader", "size_bytes", "counted/sent", "counted/delivered", "counted/lost"]
    {
        at(&format!("/cells/{throughput}/runs/0/flows/0/{name}"));
    }
    // 1200 samples support 99 %, not 99.9 %
    assert!(at(&format!("/cells/{latency}/latency/rtt/p99_ns")).is_f64());
    assert!(at(&format!("/cells/{latency}/latency/rtt/p99_9_ns")).is_null());
    assert!(at(&format!("/cells/{latency}/throughput")).is_null());
}
