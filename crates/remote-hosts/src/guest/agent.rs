//! Agent of a guest: passes on what the leader may request, and lets the process see it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use control::{Reply, Request};
use host::{Agent, ChannelEnd, ProcessExit, ReplySink, SiteError};

use super::{forbidden, limits, observer::GuestObserver, terms::GuestTerms};

/// Control channel of the only endpoint of a guest.
const CHANNEL: u32 = 0;

/// Number of places of a guest that are taken.
pub(super) type Taken = Arc<AtomicUsize>;

/// Place of an agent or a responder. Dropping it gives the place back.
pub(super) struct Place(Taken);

impl Place {
    /// Takes a place; `None` if this number of them are taken.
    pub(super) fn take(taken: &Taken, most: usize) -> Option<Self> {
        let more = |taken: usize| (taken < most).then_some(taken + 1);
        let added = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        added.is_ok().then(|| Self(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Replies to a leader, from the agent and about requests that it does not get.
#[derive(Clone)]
pub(super) struct Replies {
    sink: Arc<Mutex<ReplySink>>,
    observer: Arc<dyn GuestObserver>,
}

impl Replies {
    pub(super) fn new(sink: ReplySink, observer: Arc<dyn GuestObserver>) -> Self {
        Self { sink: Arc::new(Mutex::new(sink)), observer }
    }

    /// Returns the sink of the agent.
    pub(super) fn sink(&self) -> ReplySink {
        let replies = self.clone();
        Box::new(move |channel, reply| replies.pass(channel, reply))
    }

    fn pass(&self, channel: u32, reply: Result<Box<Reply>, ChannelEnd>) {
        if let Ok(reply) = &reply {
            self.observer.replied(reply);
        }
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)(channel, reply);
    }
}

/// Agent of a guest. Dropping it ends its process.
pub(super) struct GuestAgent {
    pub(super) agent: Box<dyn Agent>,
    pub(super) replies: Replies,
    pub(super) terms: Arc<GuestTerms>,
    /// Whether a request was rejected: the agent gets no other.
    pub(super) rejected: AtomicBool,
    /// The place is given back after the agent has ended.
    pub(super) _place: Place,
}

impl GuestAgent {
    fn check(&self, channel: u32, request: &Request) -> Result<(), SiteError> {
        if channel != CHANNEL {
            return Err(forbidden("several endpoints"));
        }
        match request {
            Request::Configure(configure) => self.terms.check(configure),
            Request::Cases | Request::Check { .. } => Err(forbidden("conformance cases")),
            Request::OpenMailbox(_) | Request::Exchange(_) => Err(forbidden("a mailbox")),
            Request::Match(of) => limits::check_match(of),
            Request::WarmUp { .. }
            | Request::Measure { .. }
            | Request::Progress
            | Request::Drain(_)
            | Request::Report
            | Request::Exit => Ok(()),
        }
    }
}

impl Agent for GuestAgent {
    fn send(&self, channel: u32, request: &Request) -> Result<(), ChannelEnd> {
        if self.rejected.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Err(error) = self.check(channel, request) {
            self.rejected.store(true, Ordering::Release);
            self.replies.observer.rejected(&error);
            let failed = Reply::Failed { error: error.to_string(), hint: error.hint(), refused: true };
            self.replies.pass(CHANNEL, Ok(Box::new(failed)));
            self.agent.hang_up();
            return Ok(());
        }
        self.replies.observer.requested(request);
        self.agent.send(channel, request)
    }

    fn hang_up(&self) {
        self.agent.hang_up();
    }

    fn end(&mut self, limit: Duration) -> ProcessExit {
        self.agent.end(limit)
    }

    fn last_log_lines(&self) -> Vec<String> {
        self.agent.last_log_lines()
    }
}
