//! The workload `discovery`: its topology, its endpoints, and drivers without discovery.

use experiment::{Discovery, Join, Shape, Topology};

use crate::{ids, parts, plan, planned_with, rejected, source, support::drivers};

const FILE: &str = r#"question = "How long?"
workload = "discovery"
[factors]
driver = "dds"
topology = ["full-mesh-2", "full-mesh-8"]
endpoints = [1, 4]
join = ["together", "late"]
"#;

#[test]
fn participants_endpoints_and_join_are_factors() {
    let experiment = plan(FILE, &[]);
    assert_eq!(experiment.cells.len(), 8);
    assert!(ids(&experiment).contains(&"dds/udp4/discovery/full-mesh-8/endpoints-4/late/1024"));
    let factors =
        &experiment.cells.iter().find(|cell| cell.id.ends_with("full-mesh-8/endpoints-4/late/1024"));
    let factors = &factors.expect("a cell").factors;
    assert_eq!(factors.topology, Topology::FullMesh { participants: 8 });
    assert_eq!(factors.discovery, Discovery { endpoints: 4, join: Join::Late });
    let shape = Shape::of(factors, &experiment.design);
    assert_eq!(shape.endpoints.len(), 8);
    assert!(shape.endpoints.iter().all(|of| of.writers.len() == 4 && of.readers.len() == 4));
}

#[test]
fn discovery_is_rejected_where_it_cannot_be_measured() {
    let without = |line: &str| FILE.lines().filter(|of| !of.starts_with(line)).collect::<Vec<_>>().join("\n");
    for (text, sets, error, marked) in [
        (without("topology"), &[][..], "needs a number of participants", "\"discovery\""),
        (FILE.to_owned(), &["factors.topology=1-3"], "needs a number of participants", "\"discovery\""),
        (FILE.to_owned(), &["factors.endpoints=101"], "is out of range", "101"),
        (
            FILE.to_owned(),
            &["workload=[\"latency\", \"discovery\"]"],
            "no other workload has",
            "\"discovery\"",
        ),
        (FILE.to_owned(), &["workload=latency"], "no such workload measures", "\"full-mesh-2\""),
    ] {
        let (found, at, hint) = rejected(&text, sets);
        assert!(found.contains(error) && !hint.is_empty(), "{found}: {hint}");
        assert!(at.is_empty() || at == marked, "{found}: {at}");
    }
    let without = FILE.replace("topology = [\"full-mesh-2\", \"full-mesh-8\"]\n", "");
    let (found, ..) = rejected(&without, &["workload=latency"]);
    assert!(found.contains("has an effect on the workload `discovery` only"), "{found}");
}

#[test]
fn driver_without_discovery_is_rejected_by_name() {
    let mut descriptions = drivers();
    descriptions.get_mut("dds").expect("a driver").features.push("locators".to_owned());
    let fault = planned_with(&source(FILE, &[]), &descriptions).expect_err("it has no discovery");
    let (error, marked, _) = parts(fault);
    assert!(
        error.ends_with("driver `dds` has no discovery: ddsmark passes it the locators of its peers"),
        "{error}"
    );
    assert_eq!(marked, "\"dds\"");
}
