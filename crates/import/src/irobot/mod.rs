//! Topologies of iRobot's ros2-performance: JSON files, each a process with nodes.

mod entity;
mod target;
mod topology;
mod types;

use std::collections::BTreeMap;

use experiment::Rate;

use crate::{
    document::{Fields, parse_json},
    error::ImportError,
    qos::TopicQos,
    system::{Sends, System, Topic},
};
use entity::Entity;
use topology::{Topology, topology};

/// Input file: name and text.
#[derive(Clone, Copy, Debug)]
pub struct InputText<'t> {
    /// Name, for messages and for processes.
    pub name: &'t str,
    /// Text.
    pub text: &'t str,
}

/// Nodes of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessPer {
    /// Each node is a process.
    #[default]
    Node,
    /// Each file is a process, as in ros2-performance.
    File,
}

/// Writer or reader of a topic, in its process.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    process: String,
    file: String,
    entity: Entity,
}

/// Reads topologies, and performance targets beside them.
///
/// # Errors
/// Returns an error if a file is not valid, a type is unknown, or a reader has no writer that it matches.
pub fn irobot(
    files: &[InputText<'_>],
    processes: ProcessPer,
    types: &BTreeMap<String, u64>,
) -> Result<System, ImportError> {
    let mut system = System {
        question: "Which middleware carries this topology of nodes?".to_owned(),
        remarks: vec![crate::NO_EXECUTORS.to_owned()],
        ..System::default()
    };
    let mut all = Topology::default();
    let mut targets = Vec::new();
    for file in files {
        let mut read = || -> Result<(), ImportError> {
            let document = parse_json(file.text)?;
            let fields = Fields::new(&document, "topology")?;
            if fields.get("topology_file").is_some() {
                targets.push(target::target(&fields, file.name, &mut system)?);
                return Ok(());
            }
            topology(&fields, file.name, processes, types, &mut all, &mut system)
        };
        read().map_err(|error| error.in_file(file.name))?;
    }
    if all.nodes == 0 {
        return Err(ImportError::new("no nodes found", "give a file with `nodes`"));
    }
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    let counts = format!("{} nodes, {} writers, {} readers", all.nodes, all.writers.len(), all.readers.len());
    system.source.insert(
        0,
        format!(
            "Source: {}, topology of ros2-performance (iRobot, BSD-3-Clause): {counts}.",
            names.join(", ")
        ),
    );
    join(all, &mut system)?;
    for target in &targets {
        target.apply(&mut system);
    }
    Ok(system)
}

/// Joins writers and readers to topics.
fn join(all: Topology, system: &mut System) -> Result<(), ImportError> {
    let Topology { writers, readers, .. } = all;
    let names = experiment::distinct(writers.iter().map(|writer| writer.entity.topic.as_str()));
    if let Some(reader) = readers.iter().find(|reader| !names.contains(&reader.entity.topic.as_str())) {
        let message = format!("topic `{}` has readers but no writer", reader.entity.topic);
        let hint = "give the file with its writer too: several files are several processes";
        return Err(ImportError::new(message, hint).at(reader.entity.at).in_file(&reader.file));
    }
    for name in names {
        let of_topic = |endpoint: &&Endpoint| endpoint.entity.topic == name;
        let writers: Vec<&Endpoint> = writers.iter().filter(of_topic).collect();
        let readers: Vec<&Endpoint> = readers.iter().filter(of_topic).collect();
        for reader in &readers {
            for writer in &writers {
                check_match(writer, reader)?;
            }
        }
        add_topics(name, &writers, &readers, system);
    }
    Ok(())
}

/// Rejects a reader that would not match a writer.
fn check_match(writer: &Endpoint, reader: &Endpoint) -> Result<(), ImportError> {
    let (offered, requested) = (&writer.entity, &reader.entity);
    let ends = format!("the writer in `{}` and the reader in `{}`", writer.process, reader.process);
    let fault = |what: &str, hint: &str| {
        let message = format!("topic `{}`: {ends} do not match: {what}", offered.topic);
        Err(ImportError::new(message, hint).at(requested.at).in_file(&reader.file))
    };
    if offered.message_type != requested.message_type {
        let types = format!("types `{}` and `{}`", offered.message_type, requested.message_type);
        return fault(&types, "give both the same `msg_type`");
    }
    if let Some((policy, offered, requested)) = offered.qos.mismatch(&requested.qos) {
        let what = format!("{offered} is offered, {requested} requested").replace('_', " ");
        return fault(&what, &format!("change `qos_{policy}` of one of them"));
    }
    Ok(())
}

/// Adds the topic of these endpoints: one for each size and period of its writers.
fn add_topics(name: &str, writers: &[&Endpoint], readers: &[&Endpoint], system: &mut System) {
    if readers.is_empty() {
        let sps: f64 =
            writers.iter().filter_map(|writer| writer.entity.load).map(|(_, ns)| 1e9 / ns as f64).sum();
        let reason = format!("written only: no reader in any file; {sps:.1} samples/s are left out");
        system.not_applied(format!("topic `{name}`"), reason);
        return;
    }
    let loads = experiment::distinct(writers.iter().filter_map(|writer| writer.entity.load));
    for (index, load) in loads.iter().enumerate() {
        let equal: Vec<&Endpoint> =
            writers.iter().copied().filter(|writer| writer.entity.load == Some(*load)).collect();
        let variant = if index == 0 { name.to_owned() } else { format!("{name}-{}", index + 1) };
        if index > 0 {
            let reason =
                format!("its writers differ in size or rate: those of `{variant}` have a topic of their own");
            system.not_applied(format!("one topic `{name}`"), reason);
        }
        let mut topic = Topic::new(variant, load.0, Sends::Rate(Rate::every(load.1)));
        topic.from = distinct("writers", name, &equal, system);
        topic.to = distinct("readers", name, readers, system);
        topic.qos = TopicQos { writer: equal[0].entity.qos.clone(), reader: readers[0].entity.qos.clone() };
        for (end, endpoints) in [("writers", &equal[..]), ("readers", readers)] {
            let other =
                endpoints.iter().filter(|endpoint| endpoint.entity.qos != endpoints[0].entity.qos).count();
            if other > 0 {
                let reason = format!(
                    "differs from that of the first one, in `{}`, which all have",
                    endpoints[0].process
                );
                system.not_applied_often(format!("QoS of {end} of `{name}`"), other as u64, reason);
            }
        }
        system.topics.push(topic);
    }
}

/// Returns the processes of endpoints, each once.
fn distinct(end: &str, topic: &str, endpoints: &[&Endpoint], system: &mut System) -> Vec<String> {
    let mut processes: Vec<String> = Vec::new();
    for endpoint in endpoints {
        if processes.contains(&endpoint.process) {
            let reason =
                format!("`{}` has one already: a process has one endpoint of a topic", endpoint.process);
            system.not_applied(format!("{end} of `{topic}`"), reason);
        } else {
            processes.push(endpoint.process.clone());
        }
    }
    processes
}

/// Returns the name of a file without its folder and extension.
fn stem(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests;
