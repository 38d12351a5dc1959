//! IPv6 and multicast over loopback, with the effective settings read back. On a host without IPv6 the tests fail
//! with that reason.

use std::net::UdpSocket;

use serde_json::Value;

use crate::support::{Outcome, Scene, blocks, blocks_text, count, list};

/// Sample sizes: one datagram, and several fragments.
const SIZES: &str = "64,4096";

fn arguments(more: &[&'static str]) -> Vec<&'static str> {
    let common = [
        "characterize",
        "--driver",
        "udp",
        "--driver",
        "cyclonedds",
        "--quick",
        "--runs",
        blocks_text(),
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--size",
        SIZES,
        "--json",
    ];
    [&common[..], more].concat()
}

/// Returns the cells of a result, all of whose runs are valid: both drivers, two sizes, three cells each.
#[track_caller]
fn cells(outcome: &Outcome) -> Vec<Value> {
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]).to_vec();
    assert_eq!(cells.len(), 2 * 2 * 3);
    for cell in &cells {
        let runs = list(&cell["runs"]);
        assert_eq!(runs.len(), blocks());
        for run in runs {
            assert_eq!(run["state"], "valid", "{run:#}");
            assert!(count(&run["flows"][0]["counted"]["delivered"]) > 0, "{run:#}");
        }
    }
    cells
}

fn is(cell: &Value, driver: &str) -> bool {
    cell["factors"]["driver"] == driver
}

/// Returns a setting of each agent of the first run.
fn settings(cell: &Value, entity: &str, name: &str) -> Vec<String> {
    let agents = list(&cell["runs"][0]["endpoints"]);
    let values = agents.iter().filter_map(|agent| agent["settings"][entity][name].as_str());
    values.map(ToOwned::to_owned).collect()
}

fn assert_ipv6() {
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        panic!("this host has no IPv6 on loopback, so that udp6 cannot be tested: {error}");
    }
}

/// Checks that every run sent its samples by multicast: the kernel counts at least their bytes.
fn check_multicast(cell: &Value) {
    assert_eq!(cell["factors"]["multicast"], true);
    assert!(cell["id"].as_str().is_some_and(|id| id.contains("-multicast/")), "{}", cell["id"]);
    for run in list(&cell["runs"]) {
        let sent = count(&run["flows"][0]["counted"]["sent"]) * count(&cell["factors"]["size_bytes"]);
        let counted = count(&run["endpoints"][0]["sockets"]["multicast"]["bytes"]);
        assert!(counted >= sent, "of {sent} B the kernel sent {counted} B by multicast: {run:#}");
    }
    // Cyclone DDS and Fast DDS do not report whether they use multicast
    let expected = if is(cell, "udp") { "on" } else { "unknown" };
    assert_eq!(settings(cell, "participant", "multicast"), [expected, expected], "{cell:#}");
}

#[test]
fn udp6_delivers_every_sample_over_ipv6_addresses() {
    assert_ipv6();
    let scene = Scene::new();
    for cell in cells(&scene.ddsmark(&arguments(&["--transport", "udp6"]))) {
        assert_eq!(settings(&cell, "participant", "transport"), ["udp6", "udp6"], "{cell:#}");
        assert_eq!(settings(&cell, "participant", "address"), ["::1", "::1"], "{cell:#}");
        assert_eq!(settings(&cell, "participant", "multicast"), ["off", "off"], "{cell:#}");
        if is(&cell, "udp") {
            let ends = [settings(&cell, "writer", "address"), settings(&cell, "reader", "address")].concat();
            assert!(!ends.is_empty() && ends.iter().all(|end| end.starts_with("udp6:[::1]:")), "{ends:?}");
        }
    }
}

#[test]
fn multicast_over_ipv4_is_counted_by_the_kernel() {
    let scene = Scene::new();
    let all = cells(&scene.ddsmark(&arguments(&["--multicast", "--out", "result"])));
    for cell in &all {
        check_multicast(cell);
        if is(cell, "cyclonedds") {
            assert_eq!(settings(cell, "participant", "multicast_groups"), ["239.255.0.1", "239.255.0.1"]);
        } else {
            let groups = settings(cell, "reader", "address");
            assert!(
                !groups.is_empty() && groups.iter().all(|group| group.starts_with("udp4:239.255.")),
                "{groups:?}"
            );
        }
    }
    let tables = scene.ddsmark(&["report", "result", "--full"]);
    tables.assert_status(0);
    for heading in ["udp: UDP sockets", "cyclonedds: Eclipse Cyclone DDS"] {
        let heading = tables.stdout.lines().find(|line| line.starts_with(heading)).expect("a heading");
        assert!(heading.contains("transport udp4 by multicast, interface lo"), "{heading}");
    }
}

/// Linux has no route to an IPv6 group over loopback by default; the test adds one in a network namespace of its
/// own.
#[test]
fn multicast_over_ipv6_is_rejected_without_a_route() {
    assert_ipv6();
    let scene = Scene::new();
    let within = |prepare: &str, out: &'static str| {
        let script = format!("{prepare}; exec ddsmark \"$@\"");
        let mut words = vec!["--map-root-user", "--net", "sh", "-ec", &script, "sh"];
        words.extend(arguments(&["--transport", "udp6", "--multicast", "--out", out]));
        scene.start("unshare", &words).end()
    };
    let rejected = within("ip link set lo up", "refused");
    rejected.assert_status(2);
    assert!(
        rejected.stderr.contains("multicast over `udp6` is not possible on interface `lo`: "),
        "`unshare --net` must be allowed: {}",
        rejected.stderr
    );
    assert!(
        rejected
            .stderr
            .contains("hint: add a route with `ip -6 route add local ff00::/8 dev lo table local`"),
        "{}",
        rejected.stderr
    );

    let way = "ip link set lo up; ip -6 route add local ff00::/8 dev lo table local";
    for cell in cells(&within(way, "measured")) {
        check_multicast(&cell);
        assert_eq!(settings(&cell, "participant", "transport"), ["udp6", "udp6"]);
    }
}

/// Interfaces of a network namespace of its own, of which the flags and routes of `v0` can be changed. `/sys` lists the
/// interfaces of the namespace in which it was mounted.
const VETH: &str = "mount -t sysfs none /sys; ip link set lo up; ip link add v0 type veth peer name v1; ip address add 10.99.0.1/24 dev v0; \
                    ip address add fd99::1/64 dev v0 nodad; ip link set v0 up; ip link set v1 up";

#[test]
fn interface_without_multicast_is_rejected_with_the_command_that_enables_it() {
    assert_ipv6();
    let scene = Scene::new();
    let within = |prepare: &str, transport: &str, driver: &str, out: &str| {
        let script = format!("{VETH}; {prepare}; exec ddsmark \"$@\"");
        let options = ["--driver", driver, "--transport", transport, "--multicast", "--interface", "v0"];
        let brief = [
            "--size",
            "64",
            "--runs",
            "1",
            "--quick",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--json",
            "--out",
            out,
        ];
        let words = ["--map-root-user", "--net", "--mount", "sh", "-ec", &script, "sh", "latency"];
        scene.start("unshare", &[&words[..], &options, &brief].concat()).end()
    };
    let without_route = "ip -6 route del ff00::/8 dev v0 table local";
    for driver in ["udp", "cyclonedds", "fastdds"] {
        for (prepare, transport, hint) in [
            ("ip link set dev v0 multicast off", "udp4", "ip link set dev v0 multicast on"),
            (without_route, "udp6", "ip -6 route add multicast ff00::/8 dev v0 table local"),
        ] {
            let rejected = within(prepare, transport, driver, "rejected");
            rejected.assert_status(2);
            let cause = format!("multicast over `{transport}` is not possible on interface `v0`: ");
            assert!(rejected.stderr.contains(&cause), "{driver}: {}", rejected.stderr);
            assert!(rejected.stderr.contains(&format!("with `{hint}`")), "{driver}: {}", rejected.stderr);
            assert!(!scene.path("rejected").exists(), "{driver}: measured");
        }
        let repaired = "ip link set dev v0 multicast off; ip link set dev v0 multicast on";
        let measured = within(repaired, "udp4", driver, &format!("measured-{driver}"));
        measured.assert_status(0);
        check_multicast(&measured.document()["cells"][0]);
    }
}

/// Cyclone DDS may use multicast here but prefers unicast: only the kernel's counters show it.
#[test]
fn unicast_instead_of_multicast_makes_the_run_invalid() {
    let scene = Scene::new();
    let unicast = "cyclonedds.configuration=<General><Interfaces><NetworkInterface name=\"lo\" \
                   multicast=\"true\"/></Interfaces></General>";
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        "cyclonedds",
        "--quick",
        "--runs",
        blocks_text(),
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--size",
        "4096",
        "--workload",
        "latency",
        "--multicast",
        "--json",
        "--option",
        unicast,
    ]);
    outcome.assert_status(4);
    let document = outcome.document();
    for run in list(&document["cells"][0]["runs"]) {
        assert_eq!(run["state"], "invalid", "{run:#}");
        let warning = run["warnings"][0]["text"].as_str().expect("a warning");
        assert!(warning.starts_with("multicast was asked for, but of samples with "), "{warning}");
    }
}

#[test]
fn configuration_that_forbids_multicast_fails_a_multicast_run() {
    let scene = Scene::new();
    let forbidden = "cyclonedds.configuration=<General><AllowMulticast>false</AllowMulticast></General>";
    let outcome = scene.ddsmark(&[
        "characterize",
        "--driver",
        "cyclonedds",
        "--quick",
        "--runs",
        blocks_text(),
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--size",
        "64",
        "--workload",
        "latency",
        "--multicast",
        "--option",
        forbidden,
    ]);
    outcome.assert_status(3);
    assert!(
        outcome.stderr.contains("multicast of the participant: requested on, effective off"),
        "{}",
        outcome.stderr
    );
}
