//! Tests of topologies: each key is mapped, noted or rejected.

use proptest::prelude::*;

use super::*;
use crate::qos::{Durability, EndpointQos, History, Liveliness, Reliability};

const WRITER: &str = r#""topic_name": "t", "msg_type": "stamped_vector", "period_ms": 10"#;
const READER: &str = r#""topic_name": "t", "msg_type": "stamped_vector""#;

fn text(node: &str, writer: &str, reader: &str) -> String {
    format!(
        r#"{{"nodes": [{{"node_name": "a"{node}, "publishers": [{{{WRITER}{writer}}}]}},
{{"node_name": "b", "subscribers": [{{{READER}{reader}}}]}}]}}"#
    )
}

fn import(text: &str) -> Result<System, ImportError> {
    irobot(&[InputText { name: "robot.json", text }], ProcessPer::Node, &BTreeMap::new())
}

#[track_caller]
fn with(node: &str, writer: &str, reader: &str) -> System {
    import(&text(node, writer, reader)).expect("a topology")
}

#[track_caller]
fn rejected(node: &str, writer: &str, reader: &str) -> String {
    import(&text(node, writer, reader)).expect_err("it is rejected").to_string()
}

#[test]
fn nodes_are_processes_and_size_includes_the_header() {
    let system = with("", r#", "msg_size": 100"#, "");
    let topic = &system.topics[0];
    assert_eq!(
        (topic.size_bytes, &topic.from[..], &topic.to[..]),
        (120, &["a".to_owned()][..], &["b".to_owned()][..])
    );
    assert_eq!(topic.sends, Sends::Rate(Rate::every(10_000_000)));
    assert_eq!(topic.qos, TopicQos::both(EndpointQos::of_rmw()));
    assert!(system.not_applied.is_empty(), "{:?}", system.not_applied);
    assert_eq!(with("", "", "").topics[0].size_bytes, 20);
}

#[test]
fn copies_of_a_node_share_the_topic() {
    let system = with(r#", "number": 3, "node_namespace": "/robot""#, "", "");
    assert_eq!(system.topics[0].from, ["/robot_1/a_1", "/robot_2/a_2", "/robot_3/a_3"]);
    assert!(rejected(r#", "number": 0"#, "", "").contains("out of range"));
}

#[test]
fn files_are_processes_on_request() {
    let nodes = |writer: &str, reader: &str| {
        format!(
            r#"{{"nodes": [{{"node_name": "{writer}", "publishers": [{{{WRITER}}}]}}, {{"node_name": "{reader}", "subscribers": [{{{READER}}}]}}]}}"#
        )
    };
    let (one, two) = (nodes("a", "b"), nodes("c", "d"));
    let files = [InputText { name: "x/one.json", text: &one }, InputText { name: "two.json", text: &two }];
    let system = irobot(&files, ProcessPer::File, &BTreeMap::new()).expect("topologies");
    assert_eq!(
        (&system.topics[0].from[..], &system.topics[0].to[..]),
        (&["one".to_owned(), "two".into()][..], &["one".to_owned(), "two".into()][..])
    );
    let clash = [files[0], InputText { name: "again.json", text: &one }];
    let error = irobot(&clash, ProcessPer::Node, &BTreeMap::new()).expect_err("twice");
    assert!(error.to_string().starts_with("again.json:1:"), "{error}");
}

#[test]
fn period_is_cut_to_whole_microseconds() {
    let sends = |keys: &str| with("", keys, "").topics[0].sends.clone();
    // The frequency has priority over the period of 10 ms.
    assert_eq!(sends(r#", "freq_hz": 64"#), Sends::Rate(Rate::every(15_625_000)));
    assert_eq!(sends(r#", "freq_hz": 1508"#), Sends::Rate(Rate::every(663_000)));
    for wrong in [0, -5] {
        assert!(rejected("", &format!(r#", "freq_hz": {wrong}"#), "").contains("out of range"));
    }
    let none = text("", "", "").replace(r#", "period_ms": 10"#, "");
    assert!(import(&none).expect_err("no rate").message.contains("neither"));
}

#[test]
fn policies_are_those_of_each_endpoint() {
    let qos = r#", "qos_history": "keep_all", "qos_reliability": "best_effort", "qos_durability": "transient_local", "qos_liveliness": "manual_by_topic""#;
    let system = with(
        "",
        qos,
        r#", "qos_depth": 3, "qos_reliability": "best_effort", "qos_durability": "system_default""#,
    );
    let TopicQos { writer, reader } = &system.topics[0].qos;
    assert_eq!((writer.history, writer.reliability), (Some(History::KeepAll), Some(Reliability::BestEffort)));
    assert_eq!(
        (writer.durability, writer.liveliness),
        (Some(Durability::TransientLocal), Some(Liveliness::ManualByTopic))
    );
    assert_eq!((reader.history, reader.depth, reader.durability), (Some(History::KeepLast), Some(3), None));
    let unknown = with("", r#", "qos_history": "unknown""#, "");
    assert_eq!(
        (unknown.topics[0].qos.writer.history, unknown.not_applied.len()),
        (Some(History::KeepLast), 1)
    );
    assert!(rejected("", r#", "qos_history": "all""#, "").contains("`all` is not a valid `qos_history`"));
    for key in ["qos_deadline", "qos_lifespan", "qos_liveliness_lease_duration"] {
        assert!(with("", &format!(r#", "{key}": "default""#), "").not_applied.is_empty());
        assert!(rejected("", &format!(r#", "{key}": "5""#), "").contains("not a valid"));
    }
}

#[test]
fn what_only_rclcpp_has_is_noted() {
    let system = with(
        r#", "executor_id": 2"#,
        r#", "msg_pass_by": "shared_ptr", "qos_avoid_ros_namespace_conventions": "true""#,
        r#", "msg_pass_by": "loaned_msg", "msg_size": 5"#,
    );
    let items: Vec<&str> = system.not_applied.iter().map(|note| note.item.as_str()).collect();
    assert_eq!(
        items,
        [
            "`executor_id`",
            "`msg_pass_by = shared_ptr`",
            "`qos_avoid_ros_namespace_conventions`",
            "`msg_size` of subscribers",
            "`msg_pass_by = loaned_msg`"
        ]
    );
    let services = r#", "clients": [{"service_name": "s", "srv_type": "stamped10b", "freq_hz": 20}], "action_servers": [{"action_name": "x", "action_type": "y"}]"#;
    let system = with(services, "", "");
    assert_eq!(
        system.not_applied[0].to_string(),
        "client of `s`: requests and replies are not measured; 20.0 requests/s are left out"
    );
    assert_eq!(system.not_applied[1].item, "action server of `x`");
}

#[test]
fn types_are_known_given_or_rejected_with_their_position() {
    let other = |name: &str| text("", "", "").replace("stamped_vector", name);
    assert_eq!(import(&other("stamped4_int32")).expect("a type").topics[0].size_bytes, 36);
    let error = import(&other("image")).expect_err("unknown");
    assert_eq!(error.to_string(), "robot.json:1:78: the size of type `image` is not known");
    assert!(error.hint.contains("--type image=BYTES"));
    let types = BTreeMap::from([("image".to_owned(), 1_000)]);
    let system =
        irobot(&[InputText { name: "a", text: &other("image") }], ProcessPer::Node, &types).expect("a type");
    assert_eq!(system.topics[0].size_bytes, 1_020);
    let sized = text("", r#", "msg_size": 5"#, "").replace("stamped_vector", "stamped10b");
    assert_eq!(import(&sized).expect("a type").not_applied[0].item, "`msg_size` of other types");
}

#[test]
fn endpoints_that_do_not_match_are_rejected() {
    let reliable = rejected("", r#", "qos_reliability": "best_effort""#, "");
    assert_eq!(
        reliable,
        "robot.json:2:51: topic `t`: the writer in `a` and the reader in `b` do not match: best effort is offered, reliable requested"
    );
    assert!(rejected("", "", r#", "qos_durability": "transient_local""#).contains("volatile is offered"));
    let types = text("", "", "").replacen("stamped_vector", "stamped10b", 1);
    assert!(import(&types).expect_err("types").message.contains("types `stamped10b` and `stamped_vector`"));
    let lone = text("", "", "").replacen("\"t\"", "\"u\"", 1);
    assert_eq!(import(&lone).expect_err("no writer").message, "topic `t` has readers but no writer");
}

#[test]
fn topic_without_readers_is_noted() {
    let text = text("", "", "").replace(
        "\"publishers\": [",
        r#""publishers": [{"topic_name": "alone", "msg_type": "10b", "period_ms": 5}, "#,
    );
    let system = import(&text).expect("a topology");
    assert_eq!((system.topics.len(), system.not_applied[0].item.as_str()), (1, "topic `alone`"));
}

#[test]
fn writers_of_different_loads_have_topics_of_their_own() {
    let text = text("", "", "").replace("\"subscribers\"", r#""publishers": [{"topic_name": "t", "msg_type": "stamped_vector", "period_ms": 20}], "subscribers""#);
    let system = import(&text).expect("a topology");
    let names: Vec<&str> = system.topics.iter().map(|topic| topic.name.as_str()).collect();
    assert_eq!((names, system.not_applied[0].item.as_str()), (vec!["t", "t-2"], "one topic `t`"));
}

#[test]
fn unknown_key_is_rejected_with_its_position() {
    assert_eq!(rejected("", r#", "freqhz": 5"#, ""), "robot.json:1:113: unknown key `freqhz` of a publisher");
    assert!(rejected(r#", "nodename": 1"#, "", "").contains("unknown key `nodename` of a node"));
}

#[test]
fn target_sets_deadlines_and_its_figures_are_quoted() {
    let target = r#"{"topology_file": "robot.json", "platform": "board", "additional_options": "-t 600 --ipc on --too-late-percentage 50 --too-late-absolute 50000",
        "resources": {"cpu[%]": 15}, "latency_total": {"late[%]": 1.9, "too_late[%]": 0.1, "lost[%]": 0.0}}"#;
    let topology = text("", "", "");
    let files =
        [InputText { name: "robot.json", text: &topology }, InputText { name: "target.json", text: target }];
    let system = irobot(&files, ProcessPer::Node, &BTreeMap::new()).expect("a target");
    assert_eq!((system.topics[0].deadline_ns, system.topics[0].missed_pct), (Some(5_000_000), Some(0.1)));
    assert!(
        system.source[1].ends_with("on board: cpu[%] 15, late[%] 1.9, too_late[%] 0.1, lost[%] 0."),
        "{:?}",
        system.source
    );
    assert_eq!(system.not_applied.iter().map(|note| note.count).sum::<u64>(), 2);
}

proptest! {
    #[test]
    fn any_change_of_a_valid_file_is_read_or_rejected(at in 0_usize..220, with in "[\\[\\]{}:,\"a0 ]{0,3}") {
        let mut text = text(r#", "number": 2"#, "", "");
        let at = at.min(text.len());
        text.replace_range(at..(at + 1).min(text.len()), &with);
        if let Err(error) = import(&text) {
            prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
        }
    }
}
