//! Samples of the trace files that loads follow.

use std::collections::BTreeMap;

use experiment::{Endpoint, Load, StreamSpec, TraceSamples};

/// Samples of trace files, by the SHA-256 of the file.
#[derive(Clone, Debug, Default)]
pub struct TraceFiles(BTreeMap<String, TraceSamples>);

impl TraceFiles {
    /// Adds the samples of the file with this SHA-256.
    pub fn insert(&mut self, sha256: &str, samples: TraceSamples) {
        self.0.insert(sha256.to_owned(), samples);
    }

    /// Returns whether the samples that a load follows are known; always for a load without a trace file.
    #[must_use]
    pub fn has(&self, load: &Load) -> bool {
        load.trace().is_none_or(|trace| self.0.contains_key(&trace.sha256))
    }

    /// Returns the samples of the trace file that a stream follows; none without a trace file.
    #[must_use]
    pub fn of_stream(&self, stream: &StreamSpec) -> TraceSamples {
        stream.trace().and_then(|trace| self.0.get(&trace.sha256)).cloned().unwrap_or_default()
    }

    /// Returns the samples of the trace files that streams of an endpoint follow, by the SHA-256 of the file.
    #[must_use]
    pub fn of_endpoint(&self, endpoint: &Endpoint) -> BTreeMap<String, TraceSamples> {
        let written = endpoint.writers.iter().map(|writer| &writer.stream);
        let streams = written.chain(endpoint.readers.iter().flat_map(|reader| &reader.streams));
        let followed = streams.filter_map(|stream| Some(&stream.trace()?.sha256));
        followed.filter_map(|sha256| Some((sha256.clone(), self.0.get(sha256)?.clone()))).collect()
    }
}
