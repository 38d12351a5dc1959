//! Agents of a steward, as the runner uses them.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use control::Request;
use host::{Agent, ChannelEnd, ProcessExit, SiteError};

use super::{agent_state::AgentState, link::Link};
use crate::protocol::ToSteward;

/// Maximum wait for the news of an agent's exit, after its time limit: the steward kills it, which takes up to 10 s, and
/// its last output arrives.
const NEWS_PATIENCE: Duration = Duration::from_secs(20);

/// Agent of a steward. Dropping it ends its process.
pub(super) struct StewardAgent {
    pub(super) link: Arc<Link>,
    pub(super) number: u64,
    pub(super) state: Arc<AgentState>,
    pub(super) ended: Option<ProcessExit>,
}

impl Agent for StewardAgent {
    fn send(&self, channel: u32, request: &Request) -> Result<(), ChannelEnd> {
        let request = Box::new(request.clone());
        self.link.tell(&ToSteward::Send { agent: self.number, channel, request })
    }

    fn hang_up(&self) {
        // Without a connection, the steward does so by itself.
        let _ = self.link.tell(&ToSteward::HangUp { agent: self.number });
    }

    fn end(&mut self, limit: Duration) -> ProcessExit {
        if let Some(ended) = self.ended {
            return ended;
        }
        let sent = self.link.tell(&ToSteward::End { agent: self.number, limit });
        let deadline = Instant::now() + limit + NEWS_PATIENCE;
        let mut inner = self.state.inner();
        while inner.exit.is_none() && sent.is_ok() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.state.changed.wait_timeout(inner, left);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let ended = inner.exit.unwrap_or(ProcessExit::Unknown);
        drop(inner);
        self.link.remove(self.number);
        *self.ended.insert(ended)
    }

    fn last_log_lines(&self) -> Vec<String> {
        self.state.log.last_lines()
    }

    fn lost(&self) -> Option<SiteError> {
        self.link.lost()
    }
}

impl Drop for StewardAgent {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.hang_up();
            self.end(Duration::ZERO);
        }
    }
}
