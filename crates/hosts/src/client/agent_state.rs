//! State of an agent of a steward: its output, its replies and its exit.

use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use control::Reply;
use site::{AgentLog, ChannelEnd, ProcessExit, ReplySink, SiteError};

/// Maximum output of an agent in bytes. More is not kept: another host does not fill the disk or memory of this one.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// State of an agent, which the reading thread changes.
pub(super) struct AgentState {
    pub(super) log: AgentLog,
    logged: AtomicU64,
    inner: Mutex<Inner>,
    pub(super) changed: Condvar,
}

pub(super) struct Inner {
    /// `None` once the channel has ended.
    replies: Option<ReplySink>,
    pub(super) exit: Option<ProcessExit>,
}

impl AgentState {
    pub(super) fn new(log: AgentLog, replies: ReplySink) -> Self {
        let inner = Mutex::new(Inner { replies: Some(replies), exit: None });
        Self { log, logged: AtomicU64::new(0), inner, changed: Condvar::new() }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
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
