//! Settings of single writing endpoints of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Batching, Design, Factors, RunTopology};

/// Settings of the writers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriterDesign {
    /// Payload of its samples in bytes; absent: that of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Maximum payload of its batches in bytes, if the cell has batches; absent: that of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_bytes: Option<u64>,
    /// Measured time in ns. With `samples` the maximum.
    pub measure_ns: u64,
    /// Maximum number of samples in the measured time; absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}

impl WriterDesign {
    /// Returns the maximum number of samples; without a limit, the largest number.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.samples.unwrap_or(u64::MAX)
    }
}

impl Design {
    /// Returns the settings of the writing endpoint with this index.
    #[must_use]
    pub fn writer(&self, index: usize) -> WriterDesign {
        let of_all = WriterDesign {
            size_bytes: None,
            batch_bytes: None,
            measure_ns: self.measure_ns,
            samples: self.samples,
        };
        self.writers.get(index).copied().unwrap_or(of_all)
    }

    /// Returns a note if the size of a cell is not that of the samples of all writers.
    pub(crate) fn note_on_sizes(&self) -> Option<String> {
        let sizes = self.writers.iter().zip(1..);
        let own = |(writer, number): (&WriterDesign, u32)| {
            Some(format!("those of writer-{number} have {} bytes", writer.size_bytes?))
        };
        let own: Vec<String> = sizes.filter_map(own).collect();
        (!own.is_empty())
            .then(|| format!("the size of a cell is not that of all samples: {}", own.join(", ")))
    }
}

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
