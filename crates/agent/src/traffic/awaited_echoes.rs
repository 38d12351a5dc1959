//! Echoes for which a writer waits before it writes the next sample.

use std::sync::Arc;

use control::Configure;
use experiment::{Reliability, WriterSpec};

use crate::traffic::probes::{ProbeRecorder, ReaderProgress, is_probe};

/// Maximum time to wait for an echo that is repeated until it arrives, in ns.
const RELIABLE_ECHO_NS: u64 = 10_000_000_000;

/// Echoes of probes for which their writer waits.
#[derive(Debug)]
pub struct AwaitedEchoes {
    progress: Arc<ReaderProgress>,
    /// Distance of the probes in samples.
    every: u64,
    /// Maximum time to wait for each, in ns.
    timeout_ns: u64,
}

impl AwaitedEchoes {
    /// Returns the echoes for which the writer of these probes waits; `None` if it does not wait.
    #[must_use]
    pub fn of(configure: &Configure, spec: &WriterSpec, probes: &ProbeRecorder) -> Option<Self> {
        let every = configure.probe_every.filter(|_| configure.await_echo)?;
        let timeout_ns = match spec.qos.reliability {
            Some(Reliability::Reliable) => RELIABLE_ECHO_NS,
            // A lost echo never comes.
            _ => configure.ping_timeout_ns,
        };
        Some(Self { progress: probes.progress(), every: every.into(), timeout_ns })
    }

    /// Returns whether the writer waits for the echo of a sample.
    #[inline]
    #[must_use]
    pub fn has(&self, sequence: u64) -> bool {
        is_probe(sequence, self.every)
    }

    /// Waits for the echo of a sample that was written at `sent_ns`, until `end_ns` at most.
    pub fn wait(&self, sequence: u64, sent_ns: u64, end_ns: u64) {
        self.progress.await_echo(sequence, sent_ns.saturating_add(self.timeout_ns).min(end_ns));
    }
}
