//! Endpoints of a full mesh: participants that find each other.

use super::{
    Endpoint, Role,
    cell_shape::{CellShape, number, topic},
};
use crate::run_topology::{
    entity_name,
    specs::{ReaderSpec, StreamSpec, WriterSpec},
};

/// Topic of the writers, and of the readers, with the same index.
const MESH: &str = "mesh";

/// Returns the participants. Writer and reader with the same index have one topic, so each of them matches one entity
/// of every participant, its own included. With a pair of drivers, the processes alternate: a process has one driver.
pub(super) fn endpoints(cell: &CellShape<'_>, participants: u16) -> Vec<Endpoint> {
    let per_process = cell.factors.endpoints_per_process() as usize;
    let per_participant = cell.factors.discovery.endpoints as usize;
    let stream = |participant: usize, index: usize| StreamSpec {
        writer: number(participant * per_participant + index),
        flow: index as u32,
        size_bytes: cell.factors.size_bytes,
        instances: cell.factors.instances,
        ..StreamSpec::default()
    };
    let endpoint = |participant: usize| {
        let process = participant / per_process;
        let writer = |index: usize| WriterSpec {
            name: entity_name("writer", index),
            topic: topic(MESH, index),
            ..cell.writer(0, MESH, &stream(participant, index))
        };
        let reader = |index: usize| {
            let streams = (0..usize::from(participants)).map(|of| stream(of, index)).collect();
            let reader = cell.reader(0, MESH, streams);
            ReaderSpec { name: entity_name("reader", index), topic: topic(MESH, index), ..reader }
        };
        let id = format!("{}-{}", Role::Participant.name(), participant + 1);
        Endpoint {
            writers: (0..per_participant).map(writer).collect(),
            readers: (0..per_participant).map(reader).collect(),
            ..cell.bare(id, Role::Participant, process.is_multiple_of(2))
        }
    };
    (0..usize::from(participants)).map(endpoint).collect()
}
