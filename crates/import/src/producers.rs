//! Producers of the benchmark of rosbag2: YAML with groups of publishers.

use experiment::Rate;

use crate::{
    document::{Fields, Node, Value, parse_yaml},
    error::ImportError,
    qos::{DURABILITIES, EndpointQos, RELIABILITIES, TopicQos},
    system::{Sends, System, Topic},
};

/// Reads the groups of a file.
///
/// # Errors
/// Returns an error if the text is not valid YAML, or if a group is missing or not valid.
pub fn producers(text: &str, file: &str) -> Result<System, ImportError> {
    let document = parse_yaml(text)?;
    let node = Fields::new(&document, "file")?;
    let parameters = Fields::new(node.required("rosbag2_performance_benchmarking_node")?, "node")?;
    let publishers = Fields::new(parameters.required("ros__parameters")?, "list of parameters")?;
    let groups = Fields::new(publishers.required("publishers")?, "section `publishers`")?;
    let mut system = System {
        question: "Which middleware carries these producers?".to_owned(),
        source: vec![format!("Source: {file}, producers of the benchmark of rosbag2.")],
        remarks: vec![crate::NO_EXECUTORS.to_owned()],
        ..System::default()
    };
    if groups.get("wait_for_subscriptions").is_some() {
        system
            .not_applied("`wait_for_subscriptions`", "ddsmark always waits until all endpoints have matched");
    }
    if groups.number::<u32>("number_of_threads")?.is_some() {
        let reason = "each topic has a writing thread; `--set design.threads=one` has one for all";
        system.not_applied("`number_of_threads`", reason);
    }
    for name in groups.required("publisher_groups")?.list("publisher_groups")? {
        let Some(name_text) = name.scalar() else {
            return Err(ImportError::new("a group is not a name", "write names of groups").at(name.at));
        };
        let Some(group) = groups.get(name_text) else {
            let message = format!("group `{name_text}` is not defined");
            return Err(ImportError::new(message, "add it, or remove it from `publisher_groups`").at(name.at));
        };
        let topic = group_of(group, &mut system)?;
        system.topics.push(topic);
    }
    for other in groups.rest() {
        let is_group = matches!(&other.value.value, Value::Table(_));
        if !is_group {
            groups.no_other()?;
        }
        system.not_applied(format!("group `{}`", other.key), "not in `publisher_groups`");
    }
    // Options of the writer of bags are beside `publishers` in some files.
    for other in publishers.rest().chain(parameters.rest()).chain(node.rest()) {
        system.not_applied(format!("`{}`", other.key), "not a part of the producers");
    }
    Ok(system)
}

fn group_of(group: &Node, system: &mut System) -> Result<Topic, ImportError> {
    let fields = Fields::new(group, "group of publishers")?;
    let root = fields.required_text("topic_root")?;
    let number = |key: &str, range: std::ops::RangeInclusive<u64>| {
        fields.required(key)?;
        let number = fields.number::<u64>(key)?.unwrap_or(0);
        let fault = || {
            let message = format!("`{key}` of `{root}` is out of range");
            ImportError::new(message, format!("use {} to {}", range.start(), range.end()))
                .at(fields.position(key))
        };
        range.contains(&number).then_some(number).ok_or_else(fault)
    };
    let count = number("publishers_count", 1..=1_000)? as u32;
    let size_bytes = number("msg_size_bytes", 1..=1 << 30)?;
    let rate = Rate::per_second(number("rate_hz", 1..=1_000_000)?);
    let mut topic = Topic::new(root, size_bytes, Sends::Rate(rate));
    topic.count = (count > 1).then_some(count);
    topic.qos = TopicQos::both(qos(&fields)?);
    for (key, reason) in [
        ("msg_type", "samples are those of ddsmark, with this size"),
        ("msg_count_each", "runs have a measured time instead of a number of messages"),
    ] {
        if fields.get(key).is_some() {
            system.not_applied(format!("`{key}`"), reason);
        }
    }
    fields.no_other()?;
    Ok(topic)
}

fn qos(fields: &Fields<'_>) -> Result<EndpointQos, ImportError> {
    let mut qos = EndpointQos::of_rmw();
    let Some(node) = fields.get("qos") else { return Ok(qos) };
    let policies = Fields::new(node, "section `qos`")?;
    if let Some(depth) = policies.number::<u32>("qos_depth")? {
        qos.keep_last(depth);
    }
    qos.reliability = policies.kind("qos_reliability", &RELIABILITIES)?.or(qos.reliability);
    qos.durability = policies.kind("qos_durability", &DURABILITIES)?.or(qos.durability);
    policies.no_other()?;
    Ok(qos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{Durability, Reliability};

    const TEXT: &str = "rosbag2_performance_benchmarking_node:
  ros__parameters:
    publishers:
      publisher_groups: [ \"cameras\", \"gps\" ]
      wait_for_subscriptions: True
      number_of_threads: 16
      cameras:
        publishers_count:   6
        topic_root:         \"camera\"
        msg_size_bytes:     3750000
        msg_type:           \"sensor_msgs::msg::Image\"
        msg_count_each:     240
        rate_hz:            24
        qos:
          qos_depth: 5
          qos_reliability: \"best_effort\"
          qos_durability: \"transient_local\"
      gps:
        publishers_count:   1
        topic_root:         \"gps\"
        msg_size_bytes:     200
        rate_hz:            25
      unused:
        publishers_count:   1
";

    #[test]
    fn each_key_is_mapped_or_noted() {
        let system = producers(TEXT, "automotive.yaml").expect("producers");
        let [camera, gps] = &system.topics[..] else { panic!("{system:?}") };
        assert_eq!((camera.name.as_str(), camera.count, camera.size_bytes), ("camera", Some(6), 3_750_000));
        assert_eq!(camera.sends, Sends::Rate(Rate { samples: 24, period_ns: 1_000_000_000 }));
        let mut qos = EndpointQos::of_rmw();
        qos.keep_last(5);
        (qos.reliability, qos.durability) = (Some(Reliability::BestEffort), Some(Durability::TransientLocal));
        assert_eq!(camera.qos, TopicQos::both(qos));
        assert_eq!((gps.count, &gps.qos), (None, &TopicQos::both(EndpointQos::of_rmw())));
        let items: Vec<&str> = system.not_applied.iter().map(|note| note.item.as_str()).collect();
        assert_eq!(
            items,
            [
                "`wait_for_subscriptions`",
                "`number_of_threads`",
                "`msg_type`",
                "`msg_count_each`",
                "group `unused`"
            ]
        );
    }

    #[test]
    fn faults_have_their_position() {
        for (from, to, message) in [
            ("\"gps\" ]", "\"lidar\" ]", "4:38: group `lidar` is not defined"),
            ("rate_hz:            24", "rate_hz: 0", "13:18: `rate_hz` of `camera` is out of range"),
            ("best_effort", "maybe", "16:28: `maybe` is not a valid `qos_reliability`"),
            ("msg_count_each", "msg_counts", "12:9: unknown key `msg_counts` of a group of publishers"),
            ("topic_root:         \"gps\"", "other: 1", "19:9: the group of publishers has no `topic_root`"),
        ] {
            assert!(TEXT.contains(from));
            assert_eq!(producers(&TEXT.replace(from, to), "").expect_err(to).to_string(), message);
        }
        assert!(producers("a: 1", "").is_err() && producers("", "").is_err());
    }
}
