//! State of an agent of a steward: its output, its replies and its exit.

use std::{
    collections::BTreeSet,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use control::Reply;
use host::{AgentLog, ChannelEnd, ProcessExit, ReplySink, SiteError};

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
    /// `None` once all channels have ended.
    replies: Option<ReplySink>,
    /// Control channels that have not ended.
    open: BTreeSet<u32>,
    pub(super) exit: Option<ProcessExit>,
}

impl AgentState {
    pub(super) fn new(log: AgentLog, channels: u32, replies: ReplySink) -> Self {
        let open = (0..channels).collect();
        let inner = Mutex::new(Inner { replies: Some(replies), open, exit: None });
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

    /// Passes on a reply, or the end of a channel. Nothing follows the end of a channel.
    pub(super) fn reply(&self, channel: u32, reply: Result<Box<Reply>, ChannelEnd>) {
        let mut inner = self.inner();
        let is_open =
            if reply.is_err() { inner.open.remove(&channel) } else { inner.open.contains(&channel) };
        if let Some(replies) = inner.replies.as_mut().filter(|_| is_open) {
            replies(channel, reply);
        }
        if inner.open.is_empty() {
            inner.replies = None;
        }
    }

    pub(super) fn exited(&self, exit: ProcessExit) {
        self.inner().exit.get_or_insert(exit);
        self.changed.notify_all();
    }

    /// Ends the channels and the agent, because the host is lost.
    pub(super) fn lose(&self, lost: &SiteError) {
        let open = self.inner().open.clone();
        for channel in open {
            self.reply(channel, Err(ChannelEnd::Lost(lost.clone())));
        }
        self.exited(ProcessExit::Unknown);
    }
}
