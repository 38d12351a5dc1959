//! Rings: each node passes the samples of the node before it on to the node after it.

use super::{
    Endpoint, Role, RunTopology,
    cell_shape::{CellShape, topic},
};
use crate::run_topology::specs::{ReaderSpec, WriterSpec};

/// Topic of a hop: node N writes topic N, and the node after it reads it.
const HOP: &str = "hop";

impl CellShape<'_> {
    /// Returns the endpoints of a ring. Node 1 writes the samples and measures their round trip. A ring of two nodes has
    /// the traffic of a pinger and its echo.
    pub(super) fn ring(&self, nodes: u16) -> RunTopology {
        let nodes = usize::from(nodes);
        RunTopology { endpoints: (0..nodes).map(|index| self.node(index, nodes)).collect() }
    }

    fn node(&self, index: usize, nodes: usize) -> Endpoint {
        let role = match index {
            0 => Role::Pinger,
            _ if self.factors.is_pipelined() => Role::Relay,
            _ => Role::Echo,
        };
        // Each node passes on the samples of node 1, with their headers.
        let stream = self.streams(0).swap_remove(0);
        let before = (index + nodes - 1) % nodes;
        let writer = self.writer(0, HOP, &stream);
        let writer = if role.drives() { writer } else { self.answering(writer) };
        let reader = self.reader(0, HOP, vec![stream.clone()]);
        Endpoint {
            writers: vec![WriterSpec {
                topic: topic(HOP, index),
                loans: stream.loans && role.drives(),
                ..writer
            }],
            readers: vec![ReaderSpec { topic: topic(HOP, before), ..reader }],
            ..self.bare(format!("node-{}", index + 1), role, role.drives())
        }
    }
}
