//! Nodes of a topology file and their endpoints.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Endpoint, ProcessPer,
    entity::{entity, period_ns, qos},
    stem,
};
use crate::{
    document::{Fields, Node},
    error::ImportError,
    system::System,
};

/// Most copies of a node.
const MAX_COPIES: u32 = 200;

/// Endpoints of all files.
#[derive(Debug, Default)]
pub(super) struct Topology {
    /// Number of nodes.
    pub(super) nodes: usize,
    /// Writers.
    pub(super) writers: Vec<Endpoint>,
    /// Readers.
    pub(super) readers: Vec<Endpoint>,
    names: BTreeSet<String>,
}

/// Reads the nodes of a file.
pub(super) fn topology(
    fields: &Fields<'_>,
    file: &str,
    processes: ProcessPer,
    types: &BTreeMap<String, u64>,
    all: &mut Topology,
    system: &mut System,
) -> Result<(), ImportError> {
    for node in fields.required("nodes")?.list("nodes")? {
        let node = Fields::new(node, "node")?;
        let name = node.required_text("node_name")?;
        let namespace = node.text("node_namespace")?.unwrap_or_default();
        let number = node.number::<u32>("number")?;
        if number.is_some_and(|number| !(1..=MAX_COPIES).contains(&number)) {
            let message = format!("`number` of node `{name}` is out of range");
            return Err(ImportError::new(message, "use 1 to 200").at(node.position("number")));
        }
        if node.number::<i64>("executor_id")?.is_some() {
            let reason =
                "there are no executors: each topic has a writing thread, each process a thread that reads";
            system.not_applied("`executor_id`", reason);
        }
        let copies = number.unwrap_or(1);
        let writers = entities(&node, "publishers", types, copies, system)?;
        let readers = entities(&node, "subscribers", types, copies, system)?;
        services(&node, copies, system)?;
        node.no_other()?;
        for copy in 1..=copies {
            let suffix = number.map_or_else(String::new, |_| format!("_{copy}"));
            let full = if namespace.is_empty() {
                format!("{name}{suffix}")
            } else {
                format!("{namespace}{suffix}/{name}{suffix}")
            };
            if !all.names.insert(full.clone()) {
                let message = format!("node `{full}` is given twice");
                return Err(ImportError::new(message, "rename one of them").at(node.position("node_name")));
            }
            let process = match processes {
                ProcessPer::Node => full,
                ProcessPer::File => stem(file).to_owned(),
            };
            let endpoint = |entity: &super::Entity| Endpoint {
                process: process.clone(),
                file: file.to_owned(),
                entity: entity.clone(),
            };
            all.writers.extend(writers.iter().map(endpoint));
            all.readers.extend(readers.iter().map(endpoint));
            all.nodes += 1;
        }
    }
    fields.no_other()
}

fn entities(
    node: &Fields<'_>,
    key: &'static str,
    types: &BTreeMap<String, u64>,
    copies: u32,
    system: &mut System,
) -> Result<Vec<super::Entity>, ImportError> {
    let writes = key == "publishers";
    let what = if writes { "publisher" } else { "subscriber" };
    let mut notes = System::default();
    let read = |element: &Node| entity(&Fields::new(element, what)?, writes, types, &mut notes);
    let entities = node.list(key)?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for note in notes.not_applied {
        system.not_applied_often(note.item, note.count * u64::from(copies), note.reason);
    }
    Ok(entities)
}

/// Reads services and actions, which are not applied.
fn services(node: &Fields<'_>, copies: u32, system: &mut System) -> Result<(), ImportError> {
    for (key, what, name, kind) in [
        ("clients", "client", "service_name", "srv_type"),
        ("servers", "server", "service_name", "srv_type"),
        ("action_clients", "action client", "action_name", "action_type"),
        ("action_servers", "action server", "action_name", "action_type"),
    ] {
        for element in node.list(key)? {
            let fields = Fields::new(element, what)?;
            let name = fields.required_text(name)?;
            fields.required_text(kind)?;
            let has_rate = fields.get("freq_hz").is_some() || fields.get("period_ms").is_some();
            let rate = if has_rate {
                format!("; {:.1} requests/s are left out", 1e9 / period_ns(&fields)? as f64)
            } else {
                String::new()
            };
            fields.number::<u64>("msg_size")?;
            fields.text("msg_pass_by")?;
            // A mistake in a policy is an error here too.
            qos(&fields, &mut System::default())?;
            fields.no_other()?;
            system.not_applied_often(
                format!("{what} of `{name}`"),
                copies.into(),
                format!("requests and replies are not measured{rate}"),
            );
        }
    }
    Ok(())
}
