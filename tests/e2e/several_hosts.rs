//! Runs over several hosts, which are network namespaces that a bridge joins. Needs root.

use std::{
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
    time::Duration,
};

use serde_json::Value;
use testbed::{
    needs_root,
    process::{kill_alive, name},
};

use crate::support::{Outcome, Scene, count, list, runs, text, wait_for};

/// Hosts of a test. Dropping it removes them.
struct Network {
    /// Name of the namespace with the bridge, before those of the hosts.
    namespaces: Vec<String>,
}

#[track_caller]
fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().expect("`ip` of iproute2");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "ip {arguments}: {error}\nhint: this test needs root, and `ip` of iproute2"
    );
}

impl Network {
    /// Creates hosts with the addresses 10.77.0.1, 10.77.0.2, and so on.
    fn of(hosts: usize) -> Self {
        needs_root();
        static NETWORKS: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("dm{}-{}", process::id(), NETWORKS.fetch_add(1, Relaxed));
        let mut network = Self { namespaces: Vec::new() };
        for index in 0..=hosts {
            let namespace = format!("{prefix}-{index}");
            ip(&format!("netns add {namespace}"));
            network.namespaces.push(namespace.clone());
            ip(&format!("-n {namespace} link set lo up"));
            let bridge = network.namespaces[0].clone();
            if index == 0 {
                ip(&format!("-n {bridge} link add br0 type bridge"));
                ip(&format!("-n {bridge} link set br0 up"));
                continue;
            }
            ip(&format!("-n {namespace} link add eth0 type veth peer name p{index} netns {bridge}"));
            ip(&format!("-n {bridge} link set p{index} master br0 up"));
            ip(&format!("-n {namespace} address add 10.77.0.{index}/24 dev eth0"));
            ip(&format!("-n {namespace} link set eth0 up"));
            ip(&format!("-n {namespace} route add 239.255.0.0/16 dev eth0"));
        }
        network
    }

    /// Returns the flags of the hosts `h1`, `h2`, and so on.
    fn flags(&self) -> Vec<String> {
        let hosts = (1..).zip(&self.namespaces[1..]);
        hosts.flat_map(|(n, namespace)| ["--host".to_owned(), format!("h{n}=netns:{namespace}")]).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "delete", namespace]).status();
        }
    }
}

/// Executes a command on the hosts.
fn measure(scene: &Scene, network: &Network, arguments: &[&str]) -> Outcome {
    let flags = network.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let common = ["--quick", "--runs", "1", "--no-reference", "--set", "design.noise_probe=false", "--json"];
    scene.ddsmark(&[arguments, &flags, &common].concat())
}

/// Returns the runs of a successful measurement, all valid.
#[track_caller]
fn valid(outcome: &Outcome) -> Vec<Value> {
    outcome.assert_status(0);
    let document = outcome.document();
    let runs: Vec<Value> = runs(&document).into_iter().cloned().collect();
    assert!(!runs.is_empty() && runs.iter().all(|run| run["state"] == "valid"), "{document:#}");
    runs
}

/// Returns where the endpoints of a run were: `pinger@h1 echo@h2`.
fn places(run: &Value) -> String {
    let place = |endpoint: &Value| format!("{}@{}", text(endpoint, "id"), text(endpoint, "host"));
    list(&run["endpoints"]).iter().map(place).collect::<Vec<_>>().join(" ")
}

#[test]
fn pair_on_two_hosts_uses_the_network_between_them() {
    let (scene, network) = (Scene::new(), Network::of(2));
    let arguments = ["characterize", "--driver", "udp,cyclonedds", "--size", "1024"];
    let outcome = measure(&scene, &network, &arguments);
    let measured = valid(&outcome);
    assert_eq!(measured.len(), 6);
    for run in &measured {
        let ids =
            if run["measured"]["throughput"].is_null() { "pinger@h1 echo@h2" } else { "writer@h1 reader@h2" };
        assert_eq!(places(run), ids);
        // The samples passed the interface that the hosts share.
        let sent = count(&run["flows"][0]["counted"]["sent"]);
        for endpoint in list(&run["endpoints"]) {
            assert_eq!(endpoint["interface"]["name"], "eth0", "{endpoint:#}");
        }
        let wire = count(&run["endpoints"][0]["interface"]["tx_bytes"]);
        assert!(sent > 0 && wire >= 1024 * sent, "{wire} bytes for {sent} samples: {run:#}");
    }
    let document = outcome.document();
    let hosts = list(&document["hosts"]);
    assert_eq!(hosts.len(), 2);
    assert_eq!((text(&hosts[0], "name"), text(&hosts[1], "machine_of")), ("h1", "h1"));
    for host in hosts {
        assert_eq!(host["interface"], "eth0");
        assert!(count(&host["properties"]["mtu_bytes"]["eth0"]) >= 1500, "{host:#}");
        assert_eq!(host["environment"]["fields"]["interface"]["eth0/mtu"], "1500");
    }
    let block = list(&document["blocks"][0]["hosts"]);
    assert!(block.iter().all(|host| !host["counters"].is_null()), "{block:#?}");
}

#[test]
fn placement_swaps_the_hosts() {
    let (scene, network) = (Scene::new(), Network::of(2));
    let arguments = [
        "latency",
        "--driver",
        "udp",
        "--size",
        "64",
        "--placement",
        "writer@h1,reader@h2",
        "--placement",
        "writer@h2,reader@h1",
    ];
    let outcome = measure(&scene, &network, &arguments);
    let mut found: Vec<String> = valid(&outcome).iter().map(places).collect();
    found.sort();
    assert_eq!(found, ["pinger@h1 echo@h2", "pinger@h2 echo@h1"]);
    for (wrong, error) in
        [("writer@h3", "host `h3` not found"), ("reader-2@h1", "endpoint `reader-2` not found")]
    {
        let outcome = measure(&scene, &network, &["latency", "--driver", "udp", "--placement", wrong]);
        outcome.assert_status(2);
        assert!(
            outcome.stderr.contains(error) && outcome.stderr.contains("hint: available: "),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn fan_out_and_ring_use_a_host_for_each_endpoint() {
    let (scene, network) = (Scene::new(), Network::of(4));
    let fan_out = ["throughput", "--driver", "udp,cyclonedds", "--size", "1024", "--topology", "1-3"];
    for run in valid(&measure(&scene, &network, &fan_out)) {
        assert_eq!(places(&run), "writer@h1 reader-1@h2 reader-2@h3 reader-3@h4");
        for flow in list(&run["flows"]) {
            assert!(count(&flow["counted"]["delivered"]) > 0, "{flow:#}");
        }
    }
    let ring = ["latency", "--driver", "udp,cyclonedds", "--size", "64", "--topology", "ring-3"];
    for run in valid(&measure(&scene, &network, &ring)) {
        assert_eq!(places(&run), "node-1@h1 node-2@h2 node-3@h3");
    }
}

#[test]
fn multicast_reaches_the_readers_of_all_hosts() {
    let (scene, network) = (Scene::new(), Network::of(3));
    let arguments = ["throughput", "--driver", "udp", "--size", "1024", "--topology", "1-2", "--multicast"];
    for run in valid(&measure(&scene, &network, &arguments)) {
        assert_eq!(places(&run), "writer@h1 reader-1@h2 reader-2@h3");
        let flows = list(&run["flows"]);
        assert!(flows.iter().all(|flow| count(&flow["counted"]["delivered"]) > 0), "{flows:#?}");
        // Each sample left the writer's host once.
        let sent = count(&flows[0]["counted"]["sent"]);
        let packets = count(&run["endpoints"][0]["interface"]["tx_packets"]);
        assert!(packets >= sent && packets < sent + sent / 2, "{packets} packets for {sent} samples");
    }
}

#[test]
fn killed_host_fails_the_run_with_its_name_and_leaves_nothing() {
    let (scene, network) = (Scene::new(), Network::of(2));
    let flags = network.flags();
    let mut arguments =
        vec!["latency", "--driver", "udp", "--size", "64", "--runs", "2", "--duration", "100s"];
    arguments.extend(flags.iter().map(String::as_str));
    arguments.extend(["--no-reference", "--set", "design.noise_probe=false", "--out", "result"]);
    let running = scene.start("ddsmark", &arguments);
    wait_for("two agents", || (scene.agents().len() == 2).then_some(()));
    thread::sleep(Duration::from_millis(300));
    // The steward that was started last is that of the second host.
    let is_steward = |pid: &i32| name(*pid) == "ddsmark" && pid.cast_unsigned() != running.id();
    let steward = scene.processes().into_iter().filter(is_steward).max().expect("a steward");
    assert!(kill_alive(steward));
    let outcome = running.end();
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("host `h2` is lost"), "{}", outcome.stderr);
    let placed = "udp udp4 latency 64 bytes, pinger@h1 -> echo@h2: FAILED in `";
    assert!(outcome.stderr.contains(placed), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("` (echo@h2): host `h2` is lost: "), "{}", outcome.stderr);
    let saved = scene.ddsmark(&["report", "result", "--json"]).document();
    let [run] = &runs(&saved)[..] else { panic!("one run: {saved:#}") };
    assert_eq!((text(run, "state"), text(&run["failure"], "endpoint")), ("failed", "echo"));
    assert!(text(&run["failure"], "error").starts_with("host `h2` is lost: "), "{run:#}");
    assert_eq!(saved["state"], "interrupted");
    wait_for("the end of all processes", || scene.processes().is_empty().then_some(()));
}
