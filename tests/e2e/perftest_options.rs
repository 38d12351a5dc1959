//! Options of `ddsmark perftest`, each with its effect or its rejection. Most tests need root.

use crate::{
    perftest_support::{Hosts, assert_done, assert_rejected, columns, effective, json, saved_result},
    support::{Running, Scene},
};

#[test]
fn option_without_effect_is_rejected_before_the_test() {
    let scene = Scene::new();
    for options in ["-sub -verbosity 3", "-sub -compat 5.1 -debug"] {
        assert_rejected(&scene, options, " is not supported: ", "");
    }
}

#[test]
fn execution_time_beyond_the_limit_is_rejected_before_the_meeting() {
    let error = "`-executionTime 86401` is longer than 86400 s";
    assert_rejected(&Scene::new(), "-pub -nic lo -exec 86401", error, "at most a day");
}

#[test]
fn rows_during_the_test_have_the_cpu_time_since_the_row_before() {
    let hosts = Hosts::new(2);
    for mode in ["-latencyTest", "-latencyCount 100 -batchSize 0"] {
        let publisher = format!("-pub -dataLen 64 -exec 3 -cpu {mode}");
        let outcomes = hosts.run(&[&publisher, "-sub -cpu"]);
        for outcome in &outcomes {
            outcome.assert_status(0);
            let rows = columns(outcome);
            assert!(rows.len() > 2, "{}", outcome.stdout);
            let cpu = |row: &Vec<&str>| row.last().and_then(|value| value.parse::<f64>().ok());
            let values: Option<Vec<f64>> = rows.iter().map(cpu).collect();
            let values = values.unwrap_or_else(|| panic!("{}", outcome.stdout));
            assert!(values.iter().all(|value| *value > 0.0 && *value <= 100.0), "{}", outcome.stdout);
        }
    }
}

/// Returns the values of a file of latencies in µs, after its heading.
fn latencies(text: &str) -> Vec<f64> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Sample Number, RTT/2 (μs)"), "{text}");
    let value = |(number, line): (usize, &str)| {
        let value = line.strip_prefix(&format!("{}, ", number + 1)).expect("the number of the value");
        value.parse::<f64>().expect("a number")
    };
    lines.enumerate().map(value).collect()
}

#[test]
fn latency_file_has_every_latency_of_the_row() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -noPrint -numIter 300 -dataLen 64 -latencyTest -latencyFile latencies.csv",
        "-sub -noPrint",
    ]);
    assert_done(&outcomes);
    let text = std::fs::read_to_string(hosts.scene.path("latencies.csv")).expect("the file");
    let mut values = latencies(&text);
    assert_eq!(values.len(), 300, "{text}");
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.sort_by(f64::total_cmp);
    let rows = columns(&outcomes[0]);
    let [row] = &rows[..] else { panic!("{}", outcomes[0].stdout) };
    for (column, value) in [(1, mean), (3, values[0]), (4, values[299])] {
        let printed: f64 = row[column].parse().expect("a number");
        // A row is rounded, and a histogram has three digits.
        assert!((printed - value).abs() <= 0.6 + value / 100.0, "{row:?}: {value}");
    }
}

#[test]
fn full_disk_at_a_file_of_latencies_is_an_error_after_the_rows() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -noPrint -numIter 300 -dataLen 64 -latencyTest -latencyFile /dev/full",
        "-sub -noPrint",
    ]);
    outcomes[0].assert_status(3);
    let error = &outcomes[0].stderr;
    assert!(error.contains("error: cannot write to `/dev/full`: No space left on device"), "{error}");
    assert!(error.contains("hint: free space, or name another file with `-latencyFile`"), "{error}");
    assert_eq!(columns(&outcomes[0]).len(), 1, "{}", outcomes[0].stdout);
    outcomes[1].assert_status(0);
}

/// QoS profiles in the form of the release's file.
const PROFILES: &str = r#"<dds><qos_library name="PerftestQosLibrary">
  <qos_profile name="BaseProfileQos">
    <datawriter_qos>
      <reliability><kind>RELIABLE_RELIABILITY_QOS</kind></reliability>
      <history><kind>KEEP_ALL_HISTORY_QOS</kind></history>
      <resource_limits><max_samples>1000</max_samples></resource_limits>
    </datawriter_qos>
    <datareader_qos>
      <history><kind>KEEP_ALL_HISTORY_QOS</kind></history>
    </datareader_qos>
  </qos_profile>
  <qos_profile name="ThroughputQos" base_name="BaseProfileQos">
    <datawriter_qos>
      <durability><kind>TRANSIENT_LOCAL_DURABILITY_QOS</kind></durability>
      <ownership><kind>EXCLUSIVE_OWNERSHIP_QOS</kind></ownership>
      <protocol><push_on_write>true</push_on_write></protocol>
    </datawriter_qos>
    <datareader_qos><ownership><kind>EXCLUSIVE_OWNERSHIP_QOS</kind></ownership></datareader_qos>
  </qos_profile>
</qos_library></dds>
"#;

#[test]
fn qos_file_decides_the_policies_that_no_option_does() {
    let hosts = Hosts::new(2);
    std::fs::write(hosts.scene.path("profiles.xml"), PROFILES).expect("a file");
    let outcomes = hosts.run(&[
        "-pub -noPrint -numIter 20000 -latencyCount 1000 -qosFile profiles.xml -outputFormat json",
        "-sub -noPrint -qosFile profiles.xml -outputFormat json",
    ]);
    assert_done(&outcomes);
    assert_eq!(effective(&outcomes[0], "writer ownership").as_deref(), Some("exclusive"));
    assert_eq!(effective(&outcomes[1], "reader ownership").as_deref(), Some("exclusive"));
    // The command line takes precedence.
    assert_eq!(effective(&outcomes[0], "Durability").as_deref(), Some("Volatile"));
    // Writers of Cyclone DDS have no limit of samples, and none is reported.
    assert_eq!(effective(&outcomes[0], "writer max_samples"), None);
    assert_eq!(effective(&outcomes[1], "Reliability").as_deref(), Some("Reliable"));
    assert!(
        outcomes[0].stderr.contains("not applied: datawriter_qos/protocol/push_on_write"),
        "{}",
        outcomes[0].stderr
    );
}

#[test]
fn wrong_qos_file_names_the_candidates() {
    let scene = Scene::new();
    std::fs::write(scene.path("profiles.xml"), PROFILES).expect("a file");
    for (options, error, hint) in [
        (
            "-pub -qosFile none.xml",
            "`-qosFile none.xml`: `none.xml`: No such file",
            "name a file that exists with `-qosFile`",
        ),
        (
            "-sub -qosFile profiles.xml -qosLibrary Mine",
            "profile `Mine::ThroughputQos` not found",
            "available: PerftestQosLibrary::BaseProfileQos, PerftestQosLibrary::ThroughputQos",
        ),
        (
            "-pub -compat 5.1 -qosprofile none.xml",
            "`-qosprofile none.xml`: `none.xml`: No such file",
            "with `-qosprofile`",
        ),
    ] {
        assert_rejected(&scene, options, error, hint);
    }
}

#[test]
fn qos_file_of_a_subscriber_alone_is_an_error_on_both_sides() {
    let hosts = Hosts::new(2);
    std::fs::write(hosts.scene.path("profiles.xml"), PROFILES).expect("a file");
    let outcomes = hosts.run(&["-pub -exec 5", "-sub -qosFile profiles.xml"]);
    for outcome in &outcomes {
        outcome.assert_status(3);
        let error = "`-qosFile` is none at publisher 0 and PerftestQosLibrary::ThroughputQos of SHA-256";
        assert!(outcome.stderr.contains(error), "{}", outcome.stderr);
    }
}

#[test]
fn initial_burst_ends_the_warm_up() {
    for options in [
        "-latencyTest -initialBurstSize 20",
        "-latencyCount 1000 -initialBurstSize 500",
        "-pubRate 20000:spin -initialBurstSize 0",
    ] {
        let hosts = Hosts::new(2);
        let publisher = format!("-pub -noPrint -numIter 10000 -dataLen 64 -ddsmark-out result {options}");
        // Without the number, the warm-up would take 10 minutes.
        let outcomes = hosts.run(&[&publisher, "-sub -noPrint"]);
        assert_done(&outcomes);
        let document = saved_result(&hosts, "result");
        let samples = options.rsplit(' ').next().and_then(|number| number.parse::<u64>().ok());
        assert_eq!(document["experiment"]["design"]["warm_up_samples"].as_u64(), samples, "{options}");
        let row = columns(&outcomes[1]).concat();
        assert_eq!(row[1], "10000", "{options}: warm-up samples are not counted");
    }
}

#[test]
fn only_the_chosen_instance_is_written() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -noPrint -numIter 20000 -latencyCount 1000 -keyed -instances 5 -writeInstance 3 -ddsmark-out result",
        "-sub -noPrint -keyed -instances 5",
    ]);
    // The subscriber counts a sample with another key as corrupt.
    assert_done(&outcomes);
    assert_eq!(columns(&outcomes[1]).concat()[1], "20000", "{}", outcomes[1].stdout);
    let document = saved_result(&hosts, "result");
    assert_eq!(document["experiment"]["design"]["write_instance"], 3);
}

#[test]
fn samples_without_a_copy_are_written_in_memory_that_the_middleware_lends() {
    let hosts = Hosts::new(2);
    for (test, options, transport) in [
        // Its queue is short, and the publisher faster than the subscriber.
        ("-executionTime 1", "-transport SHMEM", "data_sharing"),
        ("-latencyTest -numIter 2000", "", "udp4"),
    ] {
        let start = |role: &str| {
            let options =
                format!("{role} -driver fastdds -noPrint -dataLen 60000 {options} -outputFormat json");
            hosts.start(0, &options)
        };
        let running = [start(&format!("-pub {test} -zeroCopy -flatData")), start("-sub")];
        for (outcome, loans) in running.map(Running::end).iter().zip(["true", "false"]) {
            outcome.assert_status(0);
            assert_eq!(effective(outcome, "writer loans").as_deref(), Some(loans), "{}", outcome.stdout);
            assert_eq!(effective(outcome, "Kind").as_deref(), Some(transport), "{}", outcome.stdout);
        }
    }
    let error = "`-zeroCopy` is not supported: driver `cyclonedds` has no loans of a writer";
    assert_rejected(&hosts.scene, "-pub -driver cyclonedds -zeroCopy", error, "");
}

#[test]
fn filtered_samples_are_neither_received_nor_lost() {
    let hosts = Hosts::new(2);
    let publisher = "-pub -noPrint -numIter 20000 -keyed -instances 10 -ddsmark-out result";
    for (filter, received) in [("3", "2000"), ("3:6", "8000")] {
        let subscriber = format!("-sub -noPrint -keyed -instances 10 -cft {filter}");
        let publisher = publisher.replace("result", &format!("result-{received}"));
        let outcomes = hosts.run(&[&publisher, &subscriber]);
        outcomes.iter().for_each(|outcome| outcome.assert_status(0));
        let row = columns(&outcomes[1]).concat();
        assert_eq!(row[1], received, "{}", outcomes[1].stdout);
        assert!(outcomes[0].stderr.contains("no latency samples are sent"), "{}", outcomes[0].stderr);
        let document = saved_result(&hosts, &format!("result-{received}"));
        let counted = &document["cells"][0]["runs"][0]["flows"][0]["counted"];
        assert_eq!(
            (&counted["lost"], counted["sent"].to_string()),
            (&0.into(), received.to_owned()),
            "{counted}"
        );
        assert_eq!(
            counted["filtered"].as_u64().map(|count| count + counted["sent"].as_u64().unwrap_or(0)),
            Some(20_000)
        );
    }
    // Before it meets a publisher.
    let error = "`-cft 3` is not supported: driver `fastdds` has no content filter";
    assert_rejected(&hosts.scene, "-sub -driver fastdds -keyed -cft 3", error, "");
}

#[test]
fn each_subscriber_echoes_the_samples_of_its_own_filter() {
    let hosts = Hosts::new(3);
    // The examples of the guide: keys in turn, and a single one.
    for (only, counts) in [("", ["200", "200"]), ("-writeInstance 0", ["400", "0"])] {
        let publisher = format!(
            "-pub -noPrint -numSubscribers 2 -latencyCount 1 -dataLen 100 -latencyTest -numIter 400 -keyed -instances 2 \
             {only} -outputFormat json"
        );
        let subscriber = |id: u32, more: &str| {
            format!("-sub -noPrint -dataLen 100 -sidMultiSubTest {id} -cft {id} -keyed {more}")
        };
        // Each receives in its own way.
        let outcomes = hosts.run(&[&publisher, &subscriber(0, "-useReadThread"), &subscriber(1, "")]);
        outcomes.iter().for_each(|outcome| outcome.assert_status(0));
        let samples = outcomes[1..].iter().map(|outcome| columns(outcome).concat()[1].to_owned());
        assert_eq!(samples.collect::<Vec<_>>(), counts);
        let summary = &json(&outcomes[0])["perftest"][0]["summary"];
        // More than those of one key; an echo that comes too late counts as lost.
        let samples = summary["latency_samples"].as_u64().expect("a number");
        assert!((201..=400).contains(&samples), "{summary:#}");
    }
}

#[test]
fn filters_that_a_test_cannot_have_are_rejected() {
    let hosts = Hosts::new(2);
    for (publisher, words) in [
        ("-enableAutoThrottle -numIter 20000", "`-cft` is not supported with `-enableAutoThrottle`"),
        ("-numIter 20000 -writeInstance 4", "`-cft` excludes all samples"),
    ] {
        let publisher = format!("-pub -noPrint -keyed -instances 10 {publisher}");
        for outcome in hosts.run(&[&publisher, "-sub -noPrint -keyed -instances 10 -cft 3"]) {
            assert!(
                outcome.stderr.contains(words) && outcome.stderr.contains("\nhint: "),
                "{}",
                outcome.stderr
            );
        }
    }
}

#[test]
fn asynchronous_writer_is_that_of_the_middleware() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -driver fastdds -noPrint -numIter 20000 -latencyCount 1000 -batchSize 0 -asynchronous -outputFormat json",
        "-sub -driver fastdds -noPrint -outputFormat json",
    ]);
    for outcome in &outcomes {
        assert_eq!(effective(outcome, "writer publish_mode").as_deref(), Some("async"));
    }
    let error = "`-asynchronous` is not supported: driver `cyclonedds` has no thread that publishes";
    assert_rejected(&hosts.scene, "-pub -driver cyclonedds -asynchronous", error, "");
}

#[test]
fn thread_priorities_are_those_of_the_kernel() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -noPrint -numIter 20000 -latencyCount 1000 -useReadThread -threadPriorities 2:3:0 -outputFormat json",
        "-sub -noPrint -useReadThread -threadPriorities 0:l:0 -outputFormat json",
    ]);
    assert_eq!(effective(&outcomes[0], "agent main thread").as_deref(), Some("SCHED_FIFO 2"));
    assert_eq!(effective(&outcomes[0], "agent receive thread").as_deref(), Some("SCHED_FIFO 3"));
    assert_eq!(effective(&outcomes[1], "agent receive thread").as_deref(), Some("SCHED_FIFO 1"));
    assert_eq!(effective(&outcomes[1], "agent main thread"), None);
}

#[test]
fn samples_carry_the_bytes_of_a_file() {
    let hosts = Hosts::new(2);
    let bytes: Vec<u8> = (0..1000_u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(hosts.scene.path("data.bin"), bytes).expect("a file");
    for mode in ["-latencyCount 1000", "-latencyTest", "-pubRate 20000:spin"] {
        let publisher = format!("-pub -noPrint -numIter 10000 -dataLen 64 -loadDataFromFile data.bin {mode}");
        // The subscriber counts a sample with other bytes as corrupt.
        let outcomes = hosts.run(&[&publisher, "-sub -noPrint"]);
        assert_done(&outcomes);
        assert_eq!(columns(&outcomes[1]).concat()[1], "10000", "{mode}: {}", outcomes[1].stdout);
    }
    for (options, error, hint) in [
        ("-loadDataFromFile none.bin", "none.bin`: No such file", "name a file with the bytes of samples"),
        (
            "-loadDataFromFile data.bin -maximumAllocableBufferSize 999",
            "data.bin`: it has 1000 bytes",
            "name a file of 1 to 999 bytes",
        ),
    ] {
        assert_rejected(&hosts.scene, &format!("-pub {options}"), error, hint);
    }
}
