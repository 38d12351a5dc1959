//! Requests that are answered while a role measures: for its progress, and for the match of its writers with a reader that
//! joins late.

use std::{
    fs::File,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use control::{ChannelError, Inbox, Match, Reply, Request};

use super::endpoints::Monitors;
use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        progress::{MeasurementStart, ProgressSource},
    },
    traffic::late_join::LateJoin,
};

/// Interval in which the thread of a match looks for its request, for the end of the traffic, and for the match.
const POLL: Duration = Duration::from_millis(2);
/// Interval in which a thread that only reports progress looks for requests and for the end of the traffic: it disturbs
/// the traffic.
const POLL_OF_PROGRESS: Duration = Duration::from_millis(10);

/// Requests that are answered while a role measures.
pub struct ProgressResponder<'a> {
    /// Monitors of the role's endpoints.
    pub monitors: &'a Monitors,
    /// Late join of a reader, for a request to match.
    pub join: Option<&'a LateJoin>,
    /// Progress of the role, and the start of its measurement, for requests for its progress.
    pub progress: Option<(&'a ProgressSource, &'a MeasurementStart)>,
}

impl ProgressResponder<'_> {
    /// Answers the requests that arrive during `traffic`, on a thread of its own. Without any to answer, there is none.
    ///
    /// # Errors
    /// Returns the error of the traffic or of the match.
    pub fn run(
        &self,
        orders: &mut Inbox<Request>,
        replies: &mut File,
        traffic: impl FnOnce() -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        if self.join.is_none() && self.progress.is_none() {
            return traffic();
        }
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let answering = scope.spawn(|| self.answer(orders, replies, &over));
            let written = traffic();
            over.store(true, Relaxed);
            let answered = answering.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            answered.and(written)
        })
    }

    /// Answers requests until the traffic is over, or until no other can arrive.
    fn answer(
        &self,
        orders: &mut Inbox<Request>,
        replies: &mut File,
        over: &AtomicBool,
    ) -> Result<(), AgentError> {
        let poll = if self.join.is_some() { POLL } else { POLL_OF_PROGRESS };
        loop {
            match (orders.receive(poll), self.join, self.progress) {
                (Ok(Request::Match(request)), Some(join), _) => {
                    control::send(replies, &self.match_late(join, &request, over)?)?;
                    if self.progress.is_none() {
                        return Ok(());
                    }
                }
                (Ok(Request::Progress), _, Some((progress, start))) => {
                    control::send(replies, &Reply::Progress(progress.read(now_ns(), Some(start))))?;
                }
                (Ok(other), ..) => return Err(AgentError::OutOfTurn(other.phase())),
                (Err(ChannelError::TimedOut(_)), ..) if over.load(Relaxed) => return Ok(()),
                (Err(ChannelError::TimedOut(_)), ..) => {}
                (Err(error), ..) => return Err(error.into()),
            }
        }
    }

    /// Matches the writers with the late reader, and returns the reply.
    fn match_late(&self, join: &LateJoin, request: &Match, over: &AtomicBool) -> Result<Reply, AgentError> {
        join.hand_over(request.writers.iter().map(|peers| peers.locators.clone()).collect());
        while join.is_waiting() && !over.load(Relaxed) {
            thread::sleep(POLL);
        }
        if join.is_waiting() {
            // No thread writes any more.
            self.monitors.connect(request)?;
        }
        matched(self.monitors, request, || {
            thread::sleep(POLL);
            Ok(())
        })
    }
}

/// Waits until all connected entities are matched, and returns the reply.
pub fn matched(
    monitors: &Monitors,
    request: &Match,
    pause: impl FnMut() -> Result<(), AgentError>,
) -> Result<Reply, AgentError> {
    let waited = monitors.wait_matched(request, pause)?;
    Ok(Reply::Matched { waited_ns: waited.as_nanos() as u64, at_ns: monitors.last_matched_ns()? })
}
