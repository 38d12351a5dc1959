//! `ddsmark perftest` between two virtual hosts that share only the network: the command lines of the published guides, with the
//! lines that their text lacks reconstructed, and a bound where they have none. Needs root.

use testbed::process::kill_alive;

use crate::{
    perftest_support::{Hosts, assert_done, columns, json},
    support::{Outcome, Scene, wait_for},
};

/// Returns the lines of an output that begin with a size as a row of the older form does.
fn rows(outcome: &Outcome) -> Vec<&str> {
    outcome.stdout.lines().filter(|line| line.starts_with("Length: ")).collect()
}

/// Runs command lines of the guide to 5.1, and returns the number of rows of each process, all of the printed form.
fn guide(options: &[&str]) -> Vec<usize> {
    let hosts = Hosts::new(options.len() as u32);
    let compat: Vec<String> = options.iter().map(|options| format!("-compat 5.1 {options}")).collect();
    let outcomes = hosts.run(&compat.iter().map(String::as_str).collect::<Vec<_>>());
    let count = |(outcome, options): (&Outcome, &&str)| {
        outcome.assert_status(0);
        let labels: &[&str] = if options.starts_with("-pub") {
            &[" Latency: Ave ", " us Std ", " us Min ", " us Max ", " us 50% ", " us 99.99% "]
        } else {
            &[" Packets: ", " Packets/s(ave): ", " Mbps(ave): ", " Lost: "]
        };
        for row in rows(outcome) {
            assert!(labels.iter().all(|label| row.contains(label)), "{row}");
        }
        assert!(outcome.stderr.contains("RTI Perftest 5.1"), "{}", outcome.stderr);
        rows(outcome).len()
    };
    outcomes.iter().zip(options).map(count).collect()
}

#[test]
fn guide_9_1_latency_by_multicast() {
    // Both lines are missing in the text of the guide, and reconstructed from its title and notes.
    let counts = guide(&[
        "-pub -noPrint -nic $1 -numIter 200 -dataLen 100 -latencyTest -multicast",
        "-sub -noPrint -nic $2 -dataLen 100 -multicast",
    ]);
    assert_eq!(counts, [1, 1]);
}

#[test]
fn guide_9_2_throughput_with_batches() {
    let counts = guide(&[
        "-pub -noPrint -nic $1 -numIter 20000 -latencyCount 100 -dataLen 64 -batchSize 6400 -sendQueueSize 30 -multicast",
        "-sub -noprint -nic $2 -multicast",
    ]);
    assert_eq!(counts, [1, 1]);
}

#[test]
fn guide_9_3_latency_at_a_throughput() {
    let counts = guide(&[
        "-pub -noPrint -nic $1 -numIter 20000 -latencyCount 1000 -dataLen 200 -batchSize 400 -sendQueueSize 30 -spin 20000 \
         -multicast",
        "-sub -noPrint -nic $2 -multicast",
    ]);
    assert_eq!(counts, [1, 1]);
}

#[test]
fn guide_9_4_all_sizes() {
    let counts = guide(&[
        "-pub -noPrint -sendQueueSize 32 -latencyCount 10000 -scan -multicast -executionTime 1",
        "-sub -noPrint -multicast",
    ]);
    assert!(counts.iter().all(|rows| *rows > 5), "{counts:?}");
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn guide_9_5_best_effort() {
    // The publisher's line is missing in the text of the guide, and reconstructed from its title and the subscriber's.
    let counts = guide(&[
        "-pub -noPrint -latencyCount 1000 -numIter 20000 -dataLen 1024 -bestEffort",
        "-sub -noPrint -dataLen 1024 -bestEffort",
    ]);
    assert_eq!(counts, [1, 1]);
}

#[test]
fn guide_9_6_batches() {
    let counts = guide(&[
        "-pub -noPrint -sendQueueSize 32 -latencyCount 1000 -numIter 100000 -dataLen 200 -batchSize 6400 -multicast",
        "-sub -noPrint -dataLen 200 -batchSize 6400 -multicast",
    ]);
    assert_eq!(counts, [1, 1]);
}

#[test]
fn guide_9_7_two_subscribers() {
    // The line of the second subscriber is missing in the text of the guide.
    let counts = guide(&[
        "-pub -noPrint -pidMultiPubTest 0 -sendQueueSize 32 -numSubscribers 2 -latencyCount 1000 -numIter 10000 -dataLen 200 \
         -multicast",
        "-sub -noPrint -dataLen 200 -numPublishers 1 -sidMultiSubTest 0 -multicast",
        "-sub -noPrint -dataLen 200 -numPublishers 1 -sidMultiSubTest 1 -multicast",
    ]);
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn guide_9_8_two_publishers() {
    let hosts = Hosts::new(3);
    let of_publisher = |id| {
        format!(
            "-compat 5.1 -pub -noPrint -pidMultiPubTest {id} -sendQueueSize 32 -numSubscribers 1 -latencyCount 1000 -numIter 10000 \
             -dataLen 200 -multicast"
        )
    };
    let subscriber = "-compat 5.1 -sub -noPrint -dataLen 200 -numPublishers 2 -sidMultiSubTest 0 -multicast";
    let outcomes = hosts.run(&[&of_publisher(0), &of_publisher(1), subscriber]);
    assert_done(&outcomes);
    let [row] = rows(&outcomes[2])[..] else { panic!("{}", outcomes[2].stdout) };
    assert!(row.contains("Packets: 20000 ") && row.ends_with("Lost: 0"), "{row}");
}

#[test]
fn tutorial_with_bare_sockets() {
    let hosts = Hosts::new(2);
    for (mode, values) in [("-batchSize 0", 6), ("-latencyTest", 10)] {
        let publisher = format!("-pub -peer $2 -nic eth0 -raw -noPrint -exec 1 -datalen 1024 {mode}");
        let outcomes = hosts.run(&[&publisher, "-sub -peer $1 -nic eth0 -raw -noPrint -datalen 1024"]);
        assert_done(&outcomes);
        let of = usize::from(values == 6);
        let rows = columns(&outcomes[of]);
        let [row] = &rows[..] else { panic!("{}", outcomes[of].stdout) };
        assert_eq!((row.len(), row[0]), (values, "1024"), "{}", outcomes[of].stdout);
    }
}

#[test]
fn tutorial_scan_of_a_middleware() {
    let hosts = Hosts::new(2);
    let outcomes =
        hosts.run(&["-pub -nic eth0 -noPrint -exec 1 -scan -latencyTest", "-sub -nic eth0 -noPrint"]);
    assert_done(&outcomes);
    let sizes: Vec<&str> = columns(&outcomes[0]).iter().map(|row| row[0]).collect();
    let scan = ["32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768", "63000"];
    assert_eq!(sizes, scan, "{}", outcomes[0].stdout);
    for row in columns(&outcomes[0]) {
        let value = |column: usize| row[column].parse::<f64>().ok();
        let percentiles: Vec<f64> = (5..10).map_while(value).collect();
        assert!(percentiles.is_sorted() && !percentiles.is_empty(), "{row:?}");
    }
    assert!(outcomes[0].stderr.contains("Mode: LATENCY TEST"), "{}", outcomes[0].stderr);
}

#[test]
fn json_and_result_of_both_sides() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 200 -numIter 5000 -latencyCount 200 -batchSize 0 -outputFormat json -ddsmark-out result",
        "-sub -outputFormat json",
    ]);
    for (outcome, role) in outcomes.iter().zip(["publisher", "subscriber"]) {
        outcome.assert_status(0);
        let document = json(outcome);
        assert_eq!(document["configuration"]["role"], role, "{document:#}");
        assert_eq!(document["perftest"][0]["length"], 200, "{document:#}");
        assert_eq!(document["valid"], true, "{document:#}");
    }
    let document = json(&outcomes[1]);
    assert_eq!(document["perftest"][0]["summary"]["packets"], 5000, "{document:#}");
    let report = hosts.scene.ddsmark(&["report", "result"]);
    report.assert_status(0);
    assert!(report.stdout.contains("peer:subscriber-0"), "{}", report.stdout);
}

#[test]
fn disagreement_is_an_error_on_both_sides() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&["-pub -dataLen 200 -exec 5", "-sub -bestEffort"]);
    for outcome in &outcomes {
        outcome.assert_status(3);
        assert!(outcome.stderr.contains("`-bestEffort` is false at publisher 0"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("and true at subscriber 0"), "{}", outcome.stderr);
    }
}

#[test]
fn killed_side_ends_the_other_with_its_name() {
    for (killed, role) in [(0, "publisher"), (1, "subscriber")] {
        let hosts = Hosts::new(2);
        let subscriber = hosts.start(1, "-sub -noPrint");
        let publisher = hosts.start(0, "-pub -noPrint -dataLen 64 -exec 60 -batchSize 0");
        let logs = ["stderr-1", "stderr-0"].map(|name| hosts.scene.path(name));
        wait_for("the test", || {
            let texts = logs.each_ref().map(|log| std::fs::read_to_string(log).unwrap_or_default());
            (texts[0].contains("Publishing data") && texts[1].contains("Transport Configuration"))
                .then_some(())
        });
        let mut sides = vec![publisher, subscriber];
        let victim = sides.remove(killed);
        assert!(kill_alive(victim.id().cast_signed()));
        let outcome = sides.remove(0).end();
        outcome.assert_status(3);
        assert!(outcome.stderr.contains(&format!("error: {role} 0 on host ")), "{}", outcome.stderr);
        drop(victim);
        wait_for("the end of all processes", || hosts.scene.processes().is_empty().then_some(()));
    }
}

#[test]
fn wrong_options_name_the_next_step() {
    let scene = Scene::new();
    for (options, error) in [
        (&["perftest", "-pub", "-dataLen", "20"][..], "command line: `-dataLen 20` is out of range"),
        (&["perftest", "-latency"], "has no value"),
        (
            &["perftest", "-pub", "-driver", "sim", "-nic", "lo", "-pubRatebps", "9000000000000000"],
            "`-pubRatebps 9000000000000000`",
        ),
        (&["perftest", "-pub", "-driver", "nosuch"], "nosuch"),
    ] {
        let outcome = scene.ddsmark(options);
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(error) && outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    }
}
