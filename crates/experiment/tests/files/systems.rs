//! Flows that name the processes that write and read them.

use crate::{plan, rejected};

const SYSTEM: &str = r#"question = "Which topic suffers?"
workload = "paced"
factors.driver = "dds"

[[flows]]
name = "scan"
size = 64
rate = 100
from = "sensor"
to = ["control", "log"]

[[flows]]
name = "command"
size = 64
rate = 50
from = "control"
to = "motor"
"#;

#[test]
fn processes_are_those_that_flows_name() {
    let plan = plan(SYSTEM, &[]);
    let flows = &plan.cells[0].factors.flows;
    assert_eq!(
        [&flows[0].from, &flows[0].to],
        [&vec!["sensor".to_owned()], &vec!["control".to_owned(), "log".to_owned()]]
    );
    assert!(plan.cells[0].factors.is_system());
    let ids: Vec<String> = plan.run_topologies().remove(0).endpoints.into_iter().map(|of| of.id).collect();
    assert_eq!(ids, ["sensor", "control-writer", "control-reader", "log", "motor"]);
    assert_eq!(plan.cells[0].factors.writers(), 2);
}

#[test]
fn endpoints_that_never_match_are_named() {
    let qos = "qos = { writer = { reliability = \"best_effort\" }, reader = { reliability = \"reliable\" } }";
    let of_scan =
        SYSTEM.replace("to = [\"control\", \"log\"]", &format!("to = [\"control\", \"log\"]\n{qos}"));
    let (error, marked, hint) = rejected(&of_scan, &[]);
    assert!(
        error.contains(
            "flow `scan`: the writer in `sensor` and the reader in `control`, `log` never match: reliability best_effort offered, \
             reliable requested"
        ),
        "{error}"
    );
    assert_eq!(marked, "\"reliable\"");
    assert!(hint.contains("offer at least as much"), "{hint}");
    let alone = SYSTEM.replace("from = \"sensor\"\nto = [\"control\", \"log\"]", qos);
    let (error, ..) = rejected(&alone, &[]);
    assert!(
        error.contains("flow `scan`: the writer in `writer` and the reader in `reader` never match"),
        "{error}"
    );
}

#[test]
fn wrong_processes_are_rejected_with_their_place() {
    let with = |from: &str, to: &str| SYSTEM.replace(from, to);
    let (error, marked, _) = rejected(&with("from = \"control\"", "from = \"con trol\""), &[]);
    assert!(error.ends_with(": `con trol` cannot be the name of a process"), "{error}");
    assert_eq!(marked, "\"con trol\"");

    let (error, marked, hint) = rejected(&with("to = \"motor\"", "to = [\"motor\", \"control\"]"), &[]);
    assert!(error.ends_with(": process `control` would read its own flow `command`"), "{error}");
    assert_eq!(marked, "\"control\"");
    assert!(hint.contains("leave it out"), "{hint}");

    // `from` is the process `writer` by default
    let (error, marked, _) = rejected(&with("from = \"control\"\nto = \"motor\"", "to = \"writer\""), &[]);
    assert!(error.ends_with(": process `writer` would read its own flow `command`"), "{error}");
    assert_eq!(marked, "\"writer\"");

    let (error, ..) = rejected(&with("[\"control\", \"log\"]", "[\"log\", \"log\"]"), &[]);
    assert!(error.contains("process `log`"), "{error}");

    let (error, ..) = rejected(&with("\"motor\"", "\"control-writer\""), &[]);
    assert!(error.contains("can be confused"), "{error}");

    let (error, marked, _) = rejected(
        &with("factors.driver = \"dds\"", "factors.driver = \"dds\"\nfactors.topology = \"1-2\""),
        &[],
    );
    assert!(error.ends_with(": `topology` has no meaning beside flows that name their processes"), "{error}");
    assert_eq!(marked, "\"1-2\"");
}

#[test]
fn scale_and_background_are_factors_of_all_flows() {
    let text = SYSTEM.replace("to = \"motor\"", "to = \"motor\"\nkind = \"background\"");
    let sets = ["factors.scale=1,0.5", "factors.background=true,false"];
    let plan = plan(&text, &sets);
    let rates = plan.cells.iter().map(|cell| {
        let rates = cell.factors.flows.iter().filter_map(|flow| Some(flow.load.rate()?.sps()));
        (cell.id.as_str(), rates.collect::<Vec<_>>())
    });
    assert_eq!(
        rates.collect::<Vec<_>>(),
        [
            ("dds/udp4/paced/flows", vec![100.0, 50.0]),
            ("dds/udp4/paced/flows/no-background", vec![100.0]),
            ("dds/udp4/paced/flows/scale-0.5", vec![50.0, 25.0]),
            ("dds/udp4/paced/flows/scale-0.5/no-background", vec![50.0]),
        ]
    );
    for (text, set, expected) in [
        (SYSTEM, "factors.background=false", "no flow has `kind = \"background\"`"),
        (
            &text.replace("to = [\"control", "kind = \"background\"\nto = [\"control"),
            "factors.background=false",
            "nothing is left",
        ),
        (SYSTEM, "factors.scale=0", "`0` is not valid for `scale`"),
    ] {
        let (error, ..) = rejected(text, &[set]);
        assert!(error.contains(expected), "{error}");
    }
}
