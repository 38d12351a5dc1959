//! The workload `discovery`: its topology, its endpoints, and drivers without discovery.

use experiment::{Discovery, Join, RunTopology, Topology};

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
    assert_eq!(factors.discovery, Discovery { endpoints: 4, participants_per_process: 1, join: Join::Late });
    let run_topology = RunTopology::of(factors, &experiment.design);
    assert_eq!(run_topology.endpoints.len(), 8);
    assert!(run_topology.endpoints.iter().all(|of| of.writers.len() == 4 && of.readers.len() == 4));
}

#[test]
fn participants_per_process_are_a_factor() {
    let experiment = plan(FILE, &["factors.topology=full-mesh-8", "factors.participants_per_process=[1, 4]"]);
    assert_eq!(experiment.cells.len(), 8);
    assert!(ids(&experiment).contains(&"dds/udp4/discovery/full-mesh-8/endpoints-4/per-process-4/late/1024"));
    for cell in &experiment.cells {
        let shared = cell.id.contains("/per-process-4");
        let processes = RunTopology::of(&cell.factors, &experiment.design).processes();
        assert_eq!(processes.len(), if shared { 2 } else { 8 }, "{}", cell.id);
        let label = "4 participants per process".to_owned();
        assert_eq!(cell.factors.labels().contains(&label), shared, "{}", cell.id);
        assert_eq!(cell.factors.shared_process(), shared.then_some(label), "{}", cell.id);
        // Cells that differ in it are not on one curve, and a comparison names it.
        let field = cell.factors.fields(false).remove("participants_per_process");
        assert_eq!(field.as_deref(), shared.then_some("4"), "{}", cell.id);
        let others = experiment.cells.iter().filter(|other| other.id.contains("/per-process-4") != shared);
        assert!(others.clone().count() > 0);
        others.for_each(|other| assert!(!other.factors.shares_curve(&cell.factors), "{}", other.id));
    }
}

#[test]
fn writers_per_process_are_a_factor() {
    let file = "question = \"?\"\nworkload = [\"throughput\", \"paced\"]\n[factors]\ndriver = \"dds\"\nsize = 64\n\
                topology = [\"4-1\", \"8-2\"]\nrate = \"100/s\"\nwriters_per_process = [1, 4]\n";
    let experiment = plan(file, &[]);
    assert_eq!(experiment.cells.len(), 8);
    assert!(ids(&experiment).contains(&"dds/udp4/throughput/8-2/writers-per-process-4/64"));
    for cell in &experiment.cells {
        let (writers, readers) = cell.factors.topology.mesh().expect("a mesh");
        let per_process = u16::try_from(cell.factors.endpoints_per_process()).expect("a number");
        let processes = RunTopology::of(&cell.factors, &experiment.design).processes();
        assert_eq!(processes.len(), usize::from(writers / per_process + readers), "{}", cell.id);
        let shared = (per_process > 1).then(|| format!("{per_process} writers per process"));
        assert_eq!(cell.factors.shared_process(), shared, "{}", cell.id);
    }
}

#[test]
fn more_writers_than_a_sample_can_number_are_rejected() {
    let sets =
        |endpoints: &'static str| ["factors.topology=full-mesh-1000", "factors.join=together", endpoints];
    let experiment = plan(FILE, &sets("factors.endpoints=65"));
    assert_eq!(experiment.cells[0].factors.writers(), 65_000);
    let (error, ..) = rejected(FILE, &sets("factors.endpoints=66"));
    assert!(error.contains("has 66000 writers, more than 65535"), "{error}");
}

#[test]
fn processes_of_different_sizes_are_rejected() {
    let stream = |workload: &str| {
        format!(
            "question = \"?\"\nworkload = \"{workload}\"\n[factors]\ndriver = \"dds\"\ntopology = \"3-1\"\n"
        )
    };
    let latency = stream("latency").replace("3-1", "1-3");
    for (text, set, error) in [
        (
            FILE,
            "factors.participants_per_process=4",
            "the 2 participants of `topology = \"full-mesh-2\"` cannot",
        ),
        (FILE, "factors.participants_per_process=0", "is out of range"),
        (FILE, "factors.writers_per_process=2", "the workloads `throughput` and `paced` only"),
        (&stream("throughput"), "factors.participants_per_process=3", "the workload `discovery` only"),
        (
            &stream("throughput"),
            "factors.writers_per_process=2",
            "the 3 writers of `topology = \"3-1\"` cannot",
        ),
        (&latency, "factors.writers_per_process=3", "the workloads `throughput` and `paced` only"),
    ] {
        let (found, _, hint) = rejected(text, &[set]);
        assert!(found.contains(error) && !hint.is_empty(), "{set}: {found}: {hint}");
    }
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
