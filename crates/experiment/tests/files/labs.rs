//! Virtual hosts of an experiment, and factors of their links.

use std::collections::BTreeMap;

use experiment::{Diagnostic, HostSpec, LinkSpec, Pin, Plan, PlanInputs, PlannedHost, RunTopology};

use crate::{ids, parts, source, support::drivers, with};

/// Plans an experiment on the hosts of its lab.
fn planned(text: &str, sets: &[&str]) -> Result<Plan, Diagnostic> {
    let source = source(text, sets);
    let file = source.read()?;
    file.check_hosts().map_err(|error| source.rejected(&error))?;
    let lab = file.lab().expect("a lab");
    let host = |number| PlannedHost::new(format!("h{number}"), HostSpec::Lab(lab), Some("eth0".to_owned()));
    let hosts: Vec<PlannedHost> = (1..=lab.hosts).map(host).collect();
    let inputs = PlanInputs {
        name: "f",
        descriptions: &drivers(),
        installed: &[],
        files: &BTreeMap::new(),
        pin: Pin::None,
        hosts: &hosts,
        seed: 7,
        least_blocks: &results::least_blocks,
    };
    file.plan(&inputs).map_err(|error| source.rejected(&error))
}

/// Returns why the hosts of a file are rejected: error, marked text, and hint.
#[track_caller]
fn rejected(text: &str, sets: &[&str]) -> (String, String, String) {
    let source = source(text, sets);
    let checked = source.read().and_then(|file| file.check_hosts().map_err(|error| source.rejected(&error)));
    parts(checked.expect_err("it is refused"))
}

fn link(text: &str) -> Option<LinkSpec> {
    Some(text.parse().expect("a link"))
}

const LAB: &str = "size = 32\n[[host]]\nat = \"lab:2,rate=100mbit,mtu=9000\"\n";

fn lab() -> String {
    with("").replace("size = [32, \"4KiB\"]\n", LAB)
}

#[test]
fn cells_have_the_link_of_the_lab_and_factors_change_it() {
    let plan = planned(&lab(), &[]).expect("a plan");
    assert_eq!(ids(&plan), ["dds/udp4/latency/32"]);
    assert_eq!(plan.cells[0].factors.link, link("rate=100mbit,mtu=9000"));
    assert_eq!(plan.cells[0].factors.interface, "auto");
    let sets = ["factors.link_rate=unlimited,10mbit", "factors.link_delay=0,1ms", "factors.link_loss=0.1%"];
    let plan = planned(&lab(), &sets).expect("a plan");
    let links: Vec<_> = plan.cells.iter().map(|cell| cell.factors.link).collect();
    let expected = [
        "loss=0.1%,mtu=9000",
        "delay=1ms,loss=0.1%,mtu=9000",
        "rate=10mbit,loss=0.1%,mtu=9000",
        "rate=10mbit,delay=1ms,loss=0.1%,mtu=9000",
    ];
    assert_eq!(links, expected.map(link));
    // The loss does not vary.
    let expected = [
        "link-unlimited/delay-0",
        "link-unlimited/delay-1ms",
        "link-10mbit/delay-0",
        "link-10mbit/delay-1ms",
    ];
    assert_eq!(ids(&plan), expected.map(|id| format!("dds/udp4/latency/32/{id}")));
    let last = &plan.cells[3].factors;
    let fields = last.fields(false);
    assert_eq!(
        ["link_rate", "link_delay", "link_loss"].map(|key| fields[key].as_str()),
        ["10mbit", "1ms", "0.1%"]
    );
    assert_eq!(last.labels()[1..4], ["link 10mbit", "link delay 1ms", "link loss 0.1%"]);
    assert!(!last.shares_curve(&plan.cells[0].factors));
}

#[test]
fn placement_names_which_way_the_samples_go() {
    let run_topology = |sets: &[&str]| {
        let plan = planned(&lab().replace("lab:2", "lab:3"), sets).expect("a plan");
        let factors = &plan.cells[0].factors;
        (RunTopology::of(factors, &plan.design), factors.topology)
    };
    let text = |sets: &[&str]| {
        let (run_topology, topology) = run_topology(sets);
        run_topology.placement(topology)
    };
    let throughput = "workload=throughput";
    assert_eq!(text(&[]).as_deref(), Some("pinger@h1 -> echo@h2"));
    assert_eq!(
        text(&[throughput, "factors.topology=1-3", "factors.placement=writer@h3"]).as_deref(),
        Some("writer@h3 -> reader-1@h2, reader-2@h3, reader-3@h2")
    );
    assert_eq!(
        text(&["factors.topology=ring-3"]).as_deref(),
        Some("node-1@h1 -> node-2@h2 -> node-3@h3 -> node-1@h1")
    );
    assert_eq!(text(&[throughput, "factors.topology=1-12"]).as_deref(), Some("on h1, h2, h3"));
    assert_eq!(run_topology(&[]).0.label("echo"), "echo@h2");
    // On one host, nothing is added.
    let (same, topology) = run_topology(&["factors.placement=writer@h2+reader@h2"]);
    assert_eq!((same.placement(topology), same.label("echo").as_str()), (None, "echo"));
}

#[test]
fn cells_are_selected_by_their_link() {
    let text = format!("{}[design]\nbaseline = {{ link_loss = 0 }}\n", lab());
    let sets = ["factors.link_loss=0,1%,2%", "factors.exclude=[{ link_loss = \"2%\" }]"];
    let plan = planned(&text, &sets).expect("a plan");
    assert_eq!(ids(&plan), ["dds/udp4/latency/32/loss-0pct", "dds/udp4/latency/32/loss-1pct"]);
    assert_eq!(plan.design.baseline, ["dds/udp4/latency/32/loss-0pct"]);
    // The link of the lab itself can be selected, too.
    let text = format!("{}[design]\nbaseline = {{ link_rate = \"0.1gbit\" }}\n", lab());
    let plan = planned(&text, &["factors.size=32,64", "design.baseline.size=32"]).expect("a plan");
    assert_eq!(plan.design.baseline, ["dds/udp4/latency/32"]);
    let (error, ..) = parts(planned(&lab(), &["factors.link_rate=10mbit,0.01gbit"]).expect_err("twice"));
    assert_eq!(error, "--set factors.link_rate=10mbit,0.01gbit: rate of links `10mbit` is given twice");
}

#[test]
fn links_without_a_lab_are_rejected() {
    for (key, value) in [("link_rate", "\"10mbit\""), ("link_delay", "0"), ("link_loss", "\"1%\"")] {
        let (error, marked, hint) = rejected(&with(&format!("{key} = {value}\n")), &[]);
        assert_eq!(
            error,
            format!(
                "f.toml:7:{}: `{key}` needs a lab: ddsmark sets the links of virtual hosts only",
                key.len() + 4
            )
        );
        assert_eq!((marked.as_str(), hint.contains("`--host lab:2`")), (value, true));
    }
    let (error, ..) = rejected(&with("include = [{ link_loss = 0 }]\n"), &[]);
    assert!(error.contains("`link_loss` needs a lab"), "{error}");
}

#[test]
fn hosts_that_contradict_a_lab_are_rejected() {
    for (entries, error, marked, hint) in [
        ("at = \"lab:2\"\n[[host]]\nat = \"lab:3\"", "one lab only", "\"lab:3\"", "`lab:4`"),
        (
            "at = \"lab:2\"\n[[host]]\nat = \"local\"\nname = \"a\"",
            "`local` cannot be used beside a lab",
            "\"local\"",
            "one more host",
        ),
        ("at = \"lab:2\"\nname = \"a\"", "`lab:2` names its hosts itself", "\"a\"", "remove `name`"),
        ("at = \"lab:2\"\ninterface = \"e\"", "one interface to the others", "\"e\"", "remove `interface`"),
        ("at = \"ssh:pi\"", "host `ssh:pi` has no name", "\"ssh:pi\"", "write `name = ...`"),
        ("at = \"lab:2,loss=1\"", "invalid loss `1`", "\"lab:2,loss=1\"", "write 0% to 100%"),
        ("at = \"lab\"", "`lab` is not valid for `at`", "\"lab\"", "`lab:N`"),
    ] {
        let (found, mark, next) = rejected(&with(&format!("[[host]]\n{entries}\n")), &[]);
        assert!(found.contains(error) && next.contains(hint), "{found}\n{next}");
        assert_eq!(mark, marked, "{entries}");
    }
}

#[test]
fn lab_needs_what_any_of_its_links_needs() {
    let text = lab();
    let file = |sets: &[&str]| source(&text, sets).read().expect("an experiment");
    assert_eq!(file(&[]).any_link().to_string(), "rate=100mbit,mtu=9000");
    let sets = [
        "factors.link_rate=unlimited",
        "factors.link_delay=2ms,1ms",
        "factors.include=[{ link_loss = \"1%\" }]",
    ];
    assert_eq!(file(&sets).any_link().to_string(), "rate=100mbit,delay=2ms,loss=1%,mtu=9000");
}

#[test]
fn shared_memory_between_hosts_is_rejected_before_it_is_measured() {
    let error = planned(&lab(), &["factors.transport=shm"]).expect_err("it is refused");
    let (words, marked, hint) = parts(error);
    assert!(words.contains("`shm` of driver `dds` connects processes of one host"), "{words}");
    assert_eq!(marked, "shm");
    assert!(hint.contains("`placement`"), "{hint}");
    // Both ends on one of the hosts.
    let placed = lab().replace("size = 32\n", "size = 32\nplacement = \"pinger@h1,echo@h1\"\n");
    let plan = planned(&placed, &["factors.transport=shm"]).expect("a plan");
    assert!(plan.cells.iter().all(|cell| cell.factors.transport == "shm"));
}
