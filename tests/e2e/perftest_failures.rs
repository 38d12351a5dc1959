//! Failures of `ddsmark perftest` between virtual hosts: each side ends by itself, and its error names the cause. Needs root.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;
use testbed::process::kill_alive;

use crate::{
    failures::saved,
    perftest_support::{Hosts, assert_failed, columns, wait_for_text},
    support::{Running, count, wait_for},
};

/// Maximum time between the loss of a side and the end of the other one: 10 s without a sign of life, and the end of all
/// agents on a busy host.
const END: Duration = Duration::from_secs(60);
/// Options of a publisher whose test lasts until it is ended.
const LONG: &str = "-pub -noPrint -dataLen 64 -exec 120 -batchSize 0";

/// Starts a subscriber and a publisher, processes 0 and 1, and waits until the test runs. Returns the publisher first.
fn start_test(hosts: &Hosts) -> [Running; 2] {
    let subscriber = hosts.start(1, "-sub -noPrint");
    let publisher = hosts.start(0, LONG);
    wait_for_test(hosts, 0, 1);
    [publisher, subscriber]
}

/// Waits until the subscriber and the publisher with these numbers are in the test, and its samples are on the link.
fn wait_for_test(hosts: &Hosts, subscriber: usize, publisher: usize) {
    wait_for_text(hosts, publisher, "Publishing data");
    wait_for_text(hosts, subscriber, "Transport Configuration");
    // Much more than endpoints need to match.
    let before = sent_bytes(hosts);
    wait_for("the samples of the test", || (sent_bytes(hosts) > before + 1_000_000).then_some(()));
}

/// Returns how many bytes the first host has sent.
fn sent_bytes(hosts: &Hosts) -> u64 {
    let namespace = format!("{}.h1", hosts.lab.name());
    let show = ["-json", "-stats", "-n", &namespace, "link", "show", "dev", "eth0"];
    let output = Command::new("ip").args(show).output().expect("ip");
    let links: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    count(&links[0]["stats64"]["tx"]["bytes"])
}

fn wait_for_end(hosts: &Hosts) {
    wait_for("the end of all processes", || hosts.scene.processes().is_empty().then_some(()));
}

#[test]
fn full_disk_at_the_output_file_loses_no_row() {
    let hosts = Hosts::new(2);
    // The subscriber's file is on a disk of a page, with room for its heading and a row.
    let disk = hosts.scene.path("disk");
    fs::create_dir(&disk).expect("a directory");
    let script = "mount -t tmpfs -o size=4k none disk && head -c 3940 /dev/zero >disk/rows && status=0
        \"$@\" || status=$?
        tr -d '\\0' <disk/rows
        exit $status";
    let options = "-sub -noPrint -outputFile disk/rows";
    let subscriber = hosts.start_with(1, &[], &["sh", "-c", script, "sh"], options);
    let publisher = hosts.start(
        0,
        "-pub -noPrint -scan 32:64:128:256 -numIter 2000 -latencyCount 200 -batchSize 0 -outputFile /dev/full",
    );
    for (running, path) in [(publisher, "/dev/full"), (subscriber, "disk/rows")] {
        let outcome = running.end();
        let error = format!("error: cannot write to `{path}`: No space left on device");
        assert_failed(&outcome, &[&error, "its next rows are printed"]);
        let rows = columns(&outcome);
        let has = |size: &str| rows.iter().any(|row| row.len() > 5 && row[0] == size);
        assert!(["32", "64", "128", "256"].into_iter().all(has), "{}", outcome.stdout);
    }
}

#[test]
fn output_of_an_ended_test_is_complete_json() {
    let hosts = Hosts::new(2);
    let subscriber = hosts.start(1, "-sub -noPrint -outputFormat json");
    let publisher = hosts.start(
        0,
        "-pub -noPrint -scan 32:64 -exec 5 -latencyCount 200 -batchSize 0 -outputFormat json -outputFile rows \
         -ddsmark-out result",
    );
    wait_for("the first size", || saved(&hosts.scene.path("result"), 1));
    publisher.signal("INT");
    publisher.end().assert_status(130);
    let subscriber = subscriber.end();
    subscriber.assert_status(3);
    let file = fs::read_to_string(hosts.scene.path("rows")).expect("a file");
    for text in [&file, &subscriber.stdout] {
        let document: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(document["valid"], false, "{document:#}");
        assert_eq!(document["perftest"][0]["length"], 32, "{document:#}");
        assert!(document["perftest"][0]["summary"].is_object(), "{document:#}");
    }
}

#[test]
fn subscriber_restarted_before_the_test_takes_its_place() {
    let hosts = Hosts::new(3);
    let of = |id: u32| format!("-sub -noPrint -sidMultiSubTest {id}");
    let killed = hosts.start(1, &of(0));
    let publisher = hosts
        .start(0, "-pub -noPrint -numSubscribers 2 -dataLen 64 -numIter 5000 -latencyCount 500 -batchSize 0");
    for number in [0, 1] {
        wait_for_text(&hosts, number, "Waiting to discover");
    }
    // Long enough for the publisher to know it.
    std::thread::sleep(Duration::from_secs(2));
    assert!(kill_alive(killed.id().cast_signed()));
    drop(killed);
    let again = hosts.start(1, &of(0));
    let other = hosts.start(2, &of(1));
    publisher.end().assert_status(0);
    for subscriber in [again, other] {
        let outcome = subscriber.end();
        outcome.assert_status(0);
        let rows = columns(&outcome);
        assert_eq!((rows.len(), &rows[0][..2]), (1, &["64", "5000"][..]), "{}", outcome.stdout);
    }
}

#[test]
fn subscriber_restarted_during_the_test_ends_it() {
    let hosts = Hosts::new(2);
    let [publisher, killed] = start_test(&hosts);
    assert!(kill_alive(killed.id().cast_signed()));
    drop(killed);
    let again = hosts.start(1, "-sub -noPrint");
    let pid = format!("as process {} ", again.id());
    assert_failed(
        &publisher.end(),
        &["error: subscriber 0 on host ", " is lost: it was started again, ", &pid],
    );
    assert_failed(&again.end(), &["the test of publisher 0 has already begun without this subscriber"]);
    wait_for_end(&hosts);
}

#[test]
fn two_publishers_0_name_each_other() {
    let hosts = Hosts::new(2);
    for outcome in hosts.run(&[LONG, LONG]) {
        assert_failed(&outcome, &["two processes are publisher 0: publisher 0 on host ", "`-sub`"]);
    }
    // Bare sockets, on two hosts and on one.
    let hosts = Hosts::new(2);
    for peer in ["$2", "$1"] {
        let second = if peer == "$2" { 1 } else { 0 };
        let begin = Instant::now();
        let raw = |host, peer: &str| hosts.start(host, &format!("{LONG} -raw -nic eth0 -peer {peer}"));
        for running in [raw(0, peer), raw(second, "$1")] {
            let texts = ["two processes are publisher 0: publisher 0 on host ", "`-sub`"];
            assert_failed(&running.end(), &texts);
        }
        assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
    }
    // With a subscriber that waits for one of them.
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 64 -exec 120 -numSubscribers 2",
        "-pub -noPrint -dataLen 64 -exec 120 -numSubscribers 2",
        "-sub -noPrint",
    ]);
    for outcome in outcomes {
        assert_failed(&outcome, &["two processes are publisher 0: "]);
    }
}

#[test]
fn further_subscriber_is_named() {
    let hosts = Hosts::new(3);
    let unexpected = ["unexpected subscriber 1 on host ", "only 1 subscriber is expected"];
    let outcomes = hosts.run(&[LONG, "-sub -noPrint", "-sub -noPrint -sidMultiSubTest 1"]);
    outcomes.iter().for_each(|outcome| assert_failed(outcome, &unexpected));
    // During a test, which goes on.
    let subscriber = hosts.start(1, "-sub -noPrint");
    let publisher = hosts.start(0, "-pub -noPrint -dataLen 64 -exec 15 -batchSize 0 -pubRate 1000:sleep");
    wait_for_test(&hosts, 3, 4);
    let late = hosts.start(2, "-sub -noPrint -sidMultiSubTest 1").end();
    assert_failed(&late, &["the test of publisher 0 has already begun without this subscriber"]);
    // The announcements of the lobby are still there.
    assert_failed(&hosts.start(2, LONG).end(), &["publisher 0"]);
    let publisher = publisher.end();
    publisher.assert_status(0);
    for text in ["warning: unexpected subscriber 1 on host ", "warning: unexpected publisher 0 on host "] {
        assert!(publisher.stderr.contains(text), "{}", publisher.stderr);
    }
    subscriber.end().assert_status(0);
}

#[test]
fn ids_are_any_up_to_65535() {
    let hosts = Hosts::new(3);
    let publisher = |id: u32| {
        format!(
            "-pub -noPrint -pidMultiPubTest {id} -dataLen 200 -numIter 5000 -latencyCount 1000 -batchSize 0"
        )
    };
    let subscriber = "-sub -noPrint -numPublishers 2 -sidMultiSubTest 65535";
    let outcomes = hosts.run(&[&publisher(0), &publisher(65_535), subscriber]);
    outcomes.iter().for_each(|outcome| outcome.assert_status(0));
    let rows = columns(&outcomes[2]);
    assert_eq!((rows.len(), &rows[0][..2]), (1, &["200", "10000"][..]), "{}", outcomes[2].stdout);
    let outcomes = hosts.run(&[
        "-pub -noPrint -raw -peer $2:65535 -nic eth0 -dataLen 200 -exec 1 -batchSize 0",
        "-sub -noPrint -raw -peer $1 -nic eth0 -sidMultiSubTest 65535",
    ]);
    outcomes.iter().for_each(|outcome| outcome.assert_status(0));
    assert_eq!(columns(&outcomes[1])[0][0], "200", "{}", outcomes[1].stdout);
}

#[test]
fn lost_link_ends_both_sides() {
    // At the host of the subscriber, and at the switch.
    for (namespace, interface) in [("h2", "eth0"), ("switch", "p2")] {
        let hosts = Hosts::new(2);
        let sides = start_test(&hosts);
        let namespace = format!("{}.{namespace}", hosts.lab.name());
        let down = ["-n", &namespace, "link", "set", interface, "down"];
        assert!(Command::new("ip").args(down).status().expect("ip").success());
        let begin = Instant::now();
        let outcomes = sides.map(Running::end);
        for (outcome, other) in outcomes.iter().zip(["subscriber", "publisher"]) {
            let error = format!("error: {other} 0 on host ");
            assert_failed(outcome, &[&error, " is lost: no sign of life for 10 s", "link"]);
        }
        assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
        wait_for_end(&hosts);
    }
}

#[test]
fn stopped_side_ends_the_other() {
    for (stopped, role) in [(0, "publisher"), (1, "subscriber")] {
        let hosts = Hosts::new(2);
        let mut sides = Vec::from(start_test(&hosts));
        // Its connections stay open: only its silence shows that it is lost.
        let side = sides.remove(stopped);
        side.signal("STOP");
        let begin = Instant::now();
        let error = format!("error: {role} 0 on host ");
        assert_failed(&sides.remove(0).end(), &[&error, " is lost: no sign of life for 10 s"]);
        assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
        assert!(kill_alive(side.id().cast_signed()));
        drop(side);
        wait_for_end(&hosts);
    }
}

#[test]
fn ctrl_c_on_either_side_ends_the_other() {
    for (interrupted, role) in [(0, "publisher"), (1, "subscriber")] {
        let hosts = Hosts::new(2);
        let mut sides = Vec::from(start_test(&hosts));
        let begin = Instant::now();
        let side = sides.remove(interrupted);
        side.signal("INT");
        side.end().assert_status(130);
        let error = format!("error: {role} 0 on host ");
        assert_failed(&sides.remove(0).end(), &[&error, " has ended: it was interrupted"]);
        assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
        wait_for_end(&hosts);
    }
}

#[test]
fn killed_publisher_that_waits_ends_a_subscriber() {
    for raw in ["", " -raw -nic eth0 -peer $2"] {
        let hosts = Hosts::new(2);
        let subscriber = hosts.start(1, &format!("-sub -noPrint{}", raw.replace("$2", "$1")));
        let publisher = hosts.start(0, &format!("{LONG} -numSubscribers 2{raw}"));
        for number in [0, 1] {
            wait_for_text(&hosts, number, "Waiting to discover");
        }
        // Long enough for the subscriber to know it.
        std::thread::sleep(Duration::from_secs(3));
        assert!(kill_alive(publisher.id().cast_signed()));
        let begin = Instant::now();
        assert_failed(
            &subscriber.end(),
            &["error: publisher 0 on host ", " is lost: no sign of life for 10 s"],
        );
        assert!(begin.elapsed() < END, "{:?}", begin.elapsed());
        drop(publisher);
        wait_for_end(&hosts);
    }
}

#[test]
fn ctrl_c_ends_a_wait() {
    let hosts = Hosts::new(2);
    let subscriber = hosts.start(1, "-sub -noPrint");
    let publisher = hosts.start(0, "-pub -noPrint -dataLen 64 -exec 120 -numSubscribers 2");
    for number in [0, 1] {
        wait_for_text(&hosts, number, "Waiting to discover");
    }
    // Long enough for the publisher to know the subscriber.
    std::thread::sleep(Duration::from_secs(2));
    publisher.signal("INT");
    publisher.end().assert_status(130);
    assert_failed(
        &subscriber.end(),
        &["rejected by publisher 0", "stopped while waiting for the other side"],
    );
    wait_for_end(&hosts);
}
