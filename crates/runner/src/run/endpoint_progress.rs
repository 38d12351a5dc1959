//! Progress of the agents of a run.

use control::Progress;

/// Progress of the agent of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndpointProgress<'a> {
    /// Endpoint, by id.
    pub endpoint: &'a str,
    /// Progress.
    pub progress: Progress,
}

/// Receiver of the progress of all agents of a run, once per second while they measure. It is called by the thread of the
/// run, which waits for it.
pub type OnProgress<'a> = dyn Fn(&[EndpointProgress<'_>]) + Sync + 'a;
