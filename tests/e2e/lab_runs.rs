//! Runs over the hosts of a lab: through ssh with different clocks, without a link, with a firewall, with different MTUs.
//! Needs root.

use std::{collections::BTreeSet, ffi::OsStr, fs, process::Command, thread, time::Duration};

use lab::{Host, Lab};
use serde_json::Value;
use testbed::{
    needs_root,
    process::{kill_alive, name},
};

use crate::{
    sshd::Sshd,
    support::{Outcome, Running, Scene, count, list, number, runs, text, wait_for},
};

fn lab(spec: &str) -> Lab {
    needs_root();
    Lab::up(&spec.parse().expect("a lab")).expect("a lab")
}

fn host<'a>(lab: &'a Lab, name: &str) -> &'a Host {
    lab.host(name).expect("a host")
}

#[track_caller]
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().expect("`ip` of iproute2");
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Hosts `a` and `b` behind an sshd each: `h2` and `h3` of a lab, which ssh reaches from `h1`.
struct SshHosts {
    lab: Lab,
    sshds: [Sshd; 2],
}

impl SshHosts {
    /// Starts them with clocks that are this far ahead.
    fn start(scene: &Scene, clocks_s: [u32; 2]) -> Self {
        let lab = lab("lab:3");
        let sshds = [("h2", clocks_s[0]), ("h3", clocks_s[1])].map(|(name, clock_s)| {
            Sshd::start_with_clock(scene, host(&lab, name), host(&lab, "h1"), clock_s)
        });
        Self { lab, sshds }
    }

    fn measure(&self, scene: &Scene, arguments: &[&str]) -> Running {
        let words = Sshd::words_to(&self.sshds).join(" ");
        let [a, b] = self.sshds.each_ref().map(Sshd::target);
        let hosts = ["--host".to_owned(), format!("a=ssh:{a}"), "--host".to_owned(), format!("b=ssh:{b}")];
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let variables = [("DDSMARK_SSH", OsStr::new(&words))];
        scene.start_with(
            &variables,
            "ddsmark",
            &[arguments, &hosts, &["--no-reference", "--set", "design.noise_probe=false"]].concat(),
        )
    }
}

#[test]
fn one_way_times_over_ssh_have_the_error_of_the_clocks() {
    let scene = Scene::new();
    let hosts = SshHosts::start(&scene, [1_000, 70_000]);
    let flags =
        ["latency", "--driver", "udp", "--size", "64", "--quick", "--runs", "1", "--out", "result", "--json"];
    let outcome = hosts.measure(&scene, &flags).end();
    outcome.assert_status(0);
    let document = outcome.document();
    let reached: Vec<[&str; 3]> = list(&document["hosts"])
        .iter()
        .map(|host| ["name", "at", "interface"].map(|key| text(host, key)))
        .collect();
    assert_eq!(reached, [["a", "ssh:10.77.0.2:22", "eth0"], ["b", "ssh:10.77.0.3:22", "eth0"]]);
    let [run] = runs(&document)[..] else { panic!("one run: {document:#}") };
    assert_eq!(run["state"], "valid", "{run:#}");
    let [pinger, echo] = list(&run["endpoints"]) else { panic!("two endpoints: {run:#}") };
    assert_eq!([text(pinger, "host"), text(echo, "host")], ["a", "b"]);
    assert_eq!(count(&pinger["clock_error_ns"]), 0);
    let error_ns = count(&echo["clock_error_ns"]);
    // The clocks differ by 69,000 s. A round trip over two bridged links takes microseconds; a busy host delays it.
    assert!((1..1_000_000_000).contains(&error_ns), "{echo:#}");
    let latency = |kind: &str| &run["latency"][kind];
    assert_eq!(latency("rtt").get("clock_error_ns"), None, "{run:#}");
    let rtt_max_ns = count(&latency("rtt")["max_ns"]);
    assert!(count(&latency("rtt")["min_ns"]) > 1_000 && rtt_max_ns < 10_000_000_000, "{run:#}");
    for kind in ["one_way_out", "one_way_back"] {
        assert_eq!(count(&latency(kind)["clock_error_ns"]), error_ns, "{run:#}");
        assert!(count(&latency(kind)["max_ns"]) <= rtt_max_ns + error_ns, "{kind}: {run:#}");
    }
    // The report has each of them with its error, or not at all.
    let mean = number(&document["cells"][0]["latency"]["one_way_out"]["p50_ns"]);
    let report = scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    let is_resolved = mean > error_ns as f64;
    assert!(report.stdout.contains(if is_resolved { " ± " } else { "n/a" }), "{}", report.stdout);
    assert!(
        report.stdout.contains("Host b: ") && report.stdout.contains("at ssh:10.77.0.3:22"),
        "{}",
        report.stdout
    );
}

#[test]
fn lost_link_fails_the_run_with_its_host_and_leaves_nothing_there() {
    let scene = Scene::new();
    let hosts = SshHosts::start(&scene, [0, 0]);
    let flags = [
        "latency",
        "--driver",
        "udp",
        "--size",
        "64",
        "--runs",
        "2",
        "--duration",
        "600s",
        "--out",
        "result",
    ];
    let running = hosts.measure(&scene, &flags);
    wait_for("two agents", || (scene.agents().len() == 2).then_some(()));
    thread::sleep(Duration::from_millis(300));
    ip(&["-n", &host(&hosts.lab, "h3").namespace, "link", "set", "eth0", "down"]);
    let outcome = running.end();
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("host `b` is lost"), "{}", outcome.stderr);
    let run = only_run(&scene.ddsmark(&["report", "result", "--json"]));
    assert_eq!((text(&run, "state"), text(&run["failure"], "endpoint")), ("failed", "echo"));
    assert!(text(&run["failure"], "error").starts_with("host `b` is lost: "), "{run:#}");
    // The steward there receives nothing from its runner, and ends by itself.
    let of_runs = |pid: &i32| ["ssh", "ddsmark", "ddsmark-agent"].contains(&name(*pid).as_str());
    wait_for("the end of the steward", || (!scene.processes().iter().any(of_runs)).then_some(()));
}

/// Returns the number of saved runs of a result.
fn saved_runs(scene: &Scene, out: &str) -> usize {
    let files = fs::read_dir(scene.path(out).join("runs")).into_iter().flatten().flatten();
    files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
}

/// An interrupt, and a link that is lost after a run, end an experiment; each time it continues where it was.
#[test]
fn interrupted_experiment_over_ssh_continues_on_its_hosts() {
    let scene = Scene::new();
    let hosts = SshHosts::start(&scene, [1_000, 0]);
    let link = |state: &str| ip(&["-n", &host(&hosts.lab, "h3").namespace, "link", "set", "eth0", state]);
    let of_runs = |pid: &i32| ["ssh", "ddsmark", "ddsmark-agent"].contains(&name(*pid).as_str());
    let nothing_is_left =
        || wait_for("the end of all processes", || (!scene.processes().iter().any(of_runs)).then_some(()));
    let more_runs = |than: usize| {
        wait_for("more runs", || (saved_runs(&scene, "result") > than).then_some(()));
    };

    let flags = ["latency", "--driver", "udp", "--size", "64", "--runs", "500", "--quick", "--out", "result"];
    let running = hosts.measure(&scene, &flags);
    more_runs(1);
    running.signal("INT");
    running.end().assert_status(130);
    nothing_is_left();

    let words = Sshd::words_to(&hosts.sshds).join(" ");
    let resume = || {
        let variables = [("DDSMARK_SSH", OsStr::new(&words))];
        scene.start_with(&variables, "ddsmark", &["run", "--resume", "result", "--json"])
    };
    let made = saved_runs(&scene, "result");
    let running = resume();
    more_runs(made);
    link("down");
    let outcome = running.end();
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("host `b` is lost: "), "{}", outcome.stderr);
    nothing_is_left();
    link("up");

    let made = saved_runs(&scene, "result");
    let running = resume();
    more_runs(made + 1);
    running.signal("INT");
    let outcome = running.end();
    outcome.assert_status(130);
    nothing_is_left();
    let document = outcome.document();
    assert_eq!((text(&document, "state"), list(&document["resumed"]).len()), ("interrupted", 2));
    let runs = runs(&document);
    let numbers: BTreeSet<u64> = runs.iter().map(|run| count(&run["number"])).collect();
    assert_eq!(numbers, (1..=runs.len() as u64).collect(), "each run is there once");
    // At most the run during which the link was lost is without values.
    let failed = runs.iter().filter(|run| run["state"] != "valid").count();
    assert!(failed <= 1 && runs.len() > made + 1, "{document:#}");
    for run in runs.iter().filter(|run| run["state"] == "valid") {
        let [pinger, echo] = list(&run["endpoints"]) else { panic!("two endpoints: {run:#}") };
        assert_eq!([text(pinger, "host"), text(echo, "host")], ["a", "b"]);
    }
}

/// Returns the processes of a scene with this name whose command line or environment contains a text.
fn named(scene: &Scene, wanted: &str, part: &str) -> Vec<i32> {
    let read = |pid: i32, file: &str| {
        fs::read(format!("/proc/{pid}/{file}"))
            .map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into())
    };
    let has = |pid: &i32| ["cmdline", "environ"].iter().any(|file| read(*pid, file).contains(part));
    scene.processes().into_iter().filter(|pid| name(*pid) == wanted).filter(has).collect()
}

/// During a run, `hosts::killed_ssh_session_steward_or_agent_fails_the_run_with_its_host` has the same victims.
#[test]
fn host_that_is_killed_before_or_after_a_run_is_named_and_no_saved_run_is_lost() {
    let scene = Scene::new();
    let hosts = SshHosts::start(&scene, [0, 0]);
    let steward = || named(&scene, "ddsmark", " 10.77.0.3 22").first().copied();
    for (index, (victim, is_after)) in [
        ("ssh", false),
        ("ssh", true),
        ("sshd", false),
        ("sshd", true),
        ("ddsmark", false),
        ("ddsmark", true),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("result-{index}");
        let flags = ["latency", "--driver", "udp", "--size", "64", "--runs", "500", "--quick", "--out", &out];
        let running = hosts.measure(&scene, &flags);
        let first = scene.path(&out).join("runs/0001.json");
        let steward = wait_for("a steward", steward);
        if is_after {
            wait_for("a saved run", || first.exists().then_some(()));
        }
        let killed = match victim {
            "ssh" => named(&scene, "ssh", "steward")
                .into_iter()
                .filter(|pid| leads_to(*pid, "10.77.0.3"))
                .collect(),
            // The session of the steward, not the sshd that waits for others.
            "sshd" => ancestors(steward).into_iter().filter(|pid| name(*pid) == "sshd").take(1).collect(),
            _ => vec![steward],
        };
        assert!(killed.iter().any(|pid| kill_alive(*pid)), "{victim}: {killed:?}");
        let outcome = running.end();
        outcome.assert_status(3);
        assert!(outcome.stderr.contains("host `b`"), "{victim}, {is_after}: {}", outcome.stderr);
        let of_runs = |pid: &i32| ["ssh", "ddsmark", "ddsmark-agent"].contains(&name(*pid).as_str());
        wait_for("the end of all processes", || (!scene.processes().iter().any(of_runs)).then_some(()));
        if is_after {
            let document = scene.ddsmark(&["report", &out, "--json"]).document();
            let runs = runs(&document);
            assert!(runs.iter().any(|run| run["number"] == 1 && run["state"] == "valid"), "{document:#}");
            let failed = runs.iter().filter(|run| run["state"] != "valid").count();
            assert!(failed <= 1, "{victim}: {document:#}");
        }
    }
}

/// Returns whether a command line has an argument.
fn leads_to(pid: i32, argument: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cmdline"))
        .unwrap_or_default()
        .split('\0')
        .any(|word| word == argument)
}

/// Returns the parent of a process, its parent, and so on.
fn ancestors(pid: i32) -> Vec<i32> {
    let parent = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|parent| *parent > 1)
    };
    std::iter::successors(parent(&pid), parent).collect()
}

fn only_run(outcome: &Outcome) -> Value {
    let document = outcome.document();
    let [run] = runs(&document)[..] else { panic!("one run: {document:#}") };
    run.clone()
}

/// Measures between the two hosts of a lab.
fn measure(scene: &Scene, lab: &Lab, arguments: &[&str]) -> Outcome {
    let hosts: Vec<String> =
        lab.hosts().iter().map(|host| format!("--host={}=netns:{}", host.name, host.namespace)).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let common = [
        "--size",
        "64",
        "--quick",
        "--runs",
        "1",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--out",
        "result",
    ];
    scene.ddsmark(&[&["latency"], arguments, &hosts, &common].concat())
}

#[test]
fn firewall_fails_the_match_with_the_ports_to_open() {
    let scene = Scene::new();
    let lab = lab("lab:2");
    let rules = "add table netdev fw; \
                 add chain netdev fw ingress { type filter hook ingress device \"eth0\" priority 0; }; \
                 add rule netdev fw ingress meta l4proto udp drop";
    for host in lab.hosts() {
        let loaded = host.command("nft").arg(rules).output().expect("`nft` of nftables");
        assert!(loaded.status.success(), "{rules}: {}", String::from_utf8_lossy(&loaded.stderr));
    }
    for driver in ["cyclonedds", "fastdds"] {
        let blocked = measure(&scene, &lab, &["--driver", driver, "--match-timeout", "2s"]);
        blocked.assert_status(3);
        let run = only_run(&scene.ddsmark(&["report", "result", "--json"]));
        fs::remove_dir_all(scene.path("result")).expect("a result");
        let failure = &run["failure"];
        assert_eq!((text(&run, "state"), text(failure, "phase")), ("failed", "match"), "{run:#}");
        let error = text(failure, "error");
        assert!(error.starts_with("host `h") && error.contains("`: no match: "), "{run:#}");
        let (_, ports) = text(failure, "hint").split_once("at the UDP ports ").expect("ports");
        let (ports, _) = ports.split_once(')').expect("ports");
        let ports: BTreeSet<u16> = ports.split(", ").map(|port| port.parse().expect("a port")).collect();
        assert!(ports.len() > 1 && ports.iter().all(|port| *port > 1_023), "{run:#}");
    }
}

#[test]
fn hosts_without_ipv4_between_them_match_over_ipv6() {
    let scene = Scene::new();
    let lab = lab("lab:2");
    let flags = ["--driver", "udp,cyclonedds,fastdds", "--transport", "udp6"];
    let valid = |out: &str| {
        let document = scene.ddsmark(&["report", out, "--json"]).document();
        for run in runs(&document) {
            assert_eq!(run["state"], "valid", "{run:#}");
            // The samples passed the link.
            let sent = count(&run["flows"][0]["counted"]["sent"]);
            let packets = count(&run["endpoints"][0]["interface"]["tx_packets"]);
            assert!(sent > 0 && packets >= sent, "{packets} packets for {sent} samples: {run:#}");
        }
        assert_eq!(runs(&document).len(), 3, "{document:#}");
    };
    // With both, the names of the peers are those of the transport.
    measure(&scene, &lab, &flags).assert_status(0);
    valid("result");
    fs::rename(scene.path("result"), scene.path("both")).expect("a result");

    for host in lab.hosts() {
        ip(&["-n", &host.namespace, "-4", "addr", "flush", "dev", "eth0"]);
    }
    let unknown = measure(&scene, &lab, &flags);
    unknown.assert_status(2);
    assert!(
        unknown.stderr.contains("\nhint: name one, such as `--host h1=...,interface=eth0`"),
        "{unknown:?}"
    );
    let hosts: Vec<String> = lab
        .hosts()
        .iter()
        .map(|host| format!("--host={}=netns:{},interface=eth0", host.name, host.namespace))
        .collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let common = [
        "latency",
        "--size",
        "64",
        "--quick",
        "--runs",
        "1",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--out",
        "result",
    ];
    scene.ddsmark(&[&common, &flags[..], &hosts].concat()).assert_status(0);
    valid("result");
}

#[test]
fn different_mtu_is_named_as_a_difference_of_the_hosts() {
    let scene = Scene::new();
    let mut lab = lab("lab:2");
    lab.set_mtu("h2", 1_400).expect("it changes");
    let outcome = measure(&scene, &lab, &["--driver", "udp"]);
    outcome.assert_status(0);
    let expected = "The hosts differ: MTU 1500 on h1, 1400 on h2";
    assert!(outcome.stdout.contains(expected), "{}", outcome.stdout);
}
