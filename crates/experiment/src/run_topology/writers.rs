//! Settings of single writing endpoints in the topology of a run.

use super::RunTopology;
use crate::{
    factors::{Batching, Factors},
    plan::design::Design,
};

impl RunTopology {
    /// Applies the sizes of single writers, to their writers and to the readers that expect their samples.
    pub(crate) fn set_writers(&mut self, factors: &Factors, design: &Design) {
        let size = |endpoint: usize| design.writers.get(endpoint)?.size_bytes;
        let Some(largest) = (0..design.writers.len()).filter_map(size).max() else { return };
        // Each of these endpoints writes one stream.
        for stream in self.streams_mut() {
            stream.size_bytes = size(stream.index()).unwrap_or(stream.size_bytes);
        }
        let largest = Factors { size_bytes: largest.max(factors.size_bytes), ..factors.clone() };
        for (index, endpoint) in self.endpoints.iter_mut().enumerate() {
            endpoint.participant.send_queue_bytes = largest.send_queue_bytes();
            let batch = design.writers.get(index).and_then(|own| own.batch_bytes);
            let driving = endpoint.role.drives();
            for writer in endpoint.writers.iter_mut().filter(|_| driving) {
                let batch = batch.filter(|_| writer.batching != Batching::None);
                writer.batch_bytes = batch.unwrap_or(writer.batch_bytes);
            }
        }
    }
}
