//! Agents of a steward, as the runner uses them.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use control::{Reply, Request};
use site::{Agent, AgentLog, ChannelEnd, ProcessExit, ReplySink, SiteError};

use super::link::Link;
use crate::protocol::ToSteward;

/// Maximum wait for the news of an agent's exit, after its time limit: the steward kills it, which takes up to 10 s, and
/// its last output arrives.
const NEWS_PATIENCE: Duration = Duration::from_secs(20);
/// Maximum output of an agent in bytes. More is not kept: another host does not fill the disk or memory of this one.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// State of an agent, which the reading thread changes.
pub(super) struct AgentState {
    log: AgentLog,
    logged: AtomicU64,
    inner: Mutex<Inner>,
    changed: Condvar,
}

struct Inner {
    /// `None` once the channel has ended.
    replies: Option<ReplySink>,
    exit: Option<ProcessExit>,
}

impl AgentState {
    pub(super) fn new(log: AgentLog, replies: ReplySink) -> Self {
        let inner = Mutex::new(Inner { replies: Some(replies), exit: None });
        Self { log, logged: AtomicU64::new(0), inner, changed: Condvar::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes output of the agent to its log.
    pub(super) fn print(&self, bytes: &[u8]) {
        let before = self.logged.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before < MAX_LOG_BYTES {
            // A full disk is found when the run is saved.
            let _ = self.log.append(bytes);
        }
    }

    /// Passes on a reply, or the end of the channel.
    pub(super) fn reply(&self, reply: Result<Box<Reply>, ChannelEnd>) {
        let mut inner = self.inner();
        let over = reply.is_err();
        if let Some(replies) = inner.replies.as_mut() {
            replies(reply);
        }
        if over {
            inner.replies = None;
        }
    }

    pub(super) fn exited(&self, exit: ProcessExit) {
        self.inner().exit.get_or_insert(exit);
        self.changed.notify_all();
    }

    /// Ends the channel and the agent, because the host is lost.
    pub(super) fn lose(&self, lost: &SiteError) {
        self.reply(Err(ChannelEnd::Lost(lost.clone())));
        self.exited(ProcessExit::Unknown);
    }
}

/// Agent of a steward. Dropping it ends its process.
pub(super) struct StewardAgent {
    pub(super) link: Arc<Link>,
    pub(super) number: u64,
    pub(super) state: Arc<AgentState>,
    pub(super) ended: Option<ProcessExit>,
}

impl Agent for StewardAgent {
    fn send(&self, request: &Request) -> Result<(), ChannelEnd> {
        self.link.tell(&ToSteward::Send { agent: self.number, request: Box::new(request.clone()) })
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
}

impl Drop for StewardAgent {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.hang_up();
            self.end(Duration::ZERO);
        }
    }
}
