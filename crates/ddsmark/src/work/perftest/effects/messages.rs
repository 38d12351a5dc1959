//! Tests of the messages of plans: they name options, never keys of the experiment file that the command makes.

use perftest::Generation::{self, V4_3, V5_1};

use super::observe;

/// Command lines that meet limits of plans.
const LINES: &[(&str, Generation)] = &[
    ("-latencyTest -useReadThread", V4_3),
    ("-sub -useReadThread", V5_1),
    ("-useReadThread -dataLen 20000000", V4_3),
    ("-sub -useReadThread -waitsetEventCount 4096", V4_3),
    ("-keyed -instances 51", V4_3),
    ("-keyed -instances 100000 -sendQueueSize 10 -receiveQueueSize 10", V4_3),
    ("-keepLast -keepLastDepth 100", V4_3),
    ("-keyed -instances 100000 -keepLast -keepLastDepth 100000", V4_3),
    ("-sub -keyed -cft 3:5", V4_3),
    ("-sub -numPublishers 2", V4_3),
    ("-latencyTest -numSubscribers 3", V4_3),
    ("-pubRatebps 1", V4_3),
    ("-pubRatebps 9000000000000000000", V4_3),
    ("-sleep 3600000 -spin 1000000000000", V4_3),
    ("-spin 1", V4_3),
    ("-scan 28:60000 -keyed -enableTurboMode", V4_3),
    ("-enableAutoThrottle -numSubscribers 2", V4_3),
    ("-enableAutoThrottle -keyed -instances 5000", V4_3),
    ("-transport SHMEM -dataLen 65511", V4_3),
    ("-initialBurstSize 1000000 -executionTime 86400", V4_3),
    ("-qosFile DIR/profiles.xml -keyed -instances 60", V4_3),
    ("-rawTransport -dataLen 65507 -batchSize 0", V4_3),
];

/// Returns what the command says, as one text.
fn said(line: &str, generation: Generation) -> String {
    let seen = observe(line, generation);
    let texts = ["error", "notes", "warnings"]
        .map(|part| seen.get(part).map(ToString::to_string).unwrap_or_default());
    texts.join("\n")
}

#[test]
fn messages_name_no_key_of_an_experiment_file() {
    let keys: Vec<&str> = ::experiment::FACTORS.iter().map(|row| row.key).collect();
    for (line, generation) in LINES {
        let said = said(line, *generation);
        assert!(!said.contains("perftest:"), "{line}: {said}");
        for code in said.split('`').skip(1).step_by(2) {
            let key = code.split(['=', ' ']).next().unwrap_or_default();
            let is_of_section =
                ["design.", "factors.", "limits.", "qos."].iter().any(|of| key.starts_with(of));
            assert!(!keys.contains(&key) && !is_of_section, "{line}: `{code}` in {said}");
        }
    }
}

#[test]
fn plans_beyond_a_limit_are_made_or_name_the_option() {
    let error = |line| observe(line, V4_3).get("error").map(ToString::to_string).unwrap_or_default();
    for line in [
        "-latencyTest -useReadThread",
        "-useReadThread -dataLen 20000",
        "-keyed -instances 51",
        "-keepLast -keepLastDepth 100",
        "-latencyTest -numSubscribers 3",
        "-pubRatebps 1",
    ] {
        assert_eq!(error(line), "", "{line}");
    }
    for (line, option) in [
        ("-pubRatebps 9000000000000000000", "`-pubRatebps 9000000000000000000` is out of range"),
        ("-sleep 3600000 -spin 1000000000000", "`-sleep 3600000` with `-spin 1000000000000` has an interval"),
        (
            "-keyed -instances 100000 -keepLast -keepLastDepth 100000",
            "100000 instances with 100000 samples each",
        ),
    ] {
        assert!(error(line).contains(option), "{line}: {}", error(line));
    }
}

#[test]
fn schedules_have_the_interval_that_is_asked_for() {
    let load = |line: &str| observe(line, V4_3)["plan"]["cells"][0]["factors"]["load"]["rate"].clone();
    let rate =
        |samples: u64, period_ns: u64| serde_json::json!({ "samples": samples, "period_ns": period_ns });
    assert_eq!(load("-sleep 2000"), rate(1, 2_000_000_000));
    assert_eq!(load("-sleep 3"), rate(1, 3_000_000));
    assert_eq!(load("-sleep 10"), rate(100, 1_000_000_000));
    assert_eq!(load("-pubRatebps 100 -dataLen 100"), rate(1, 8_000_000_000));
    assert_eq!(load("-pubRatebps 800000"), rate(1000, 1_000_000_000));
}
