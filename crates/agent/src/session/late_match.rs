//! Match of the writers of an agent with a reader that joins while they write.

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use control::{ChannelError, Inbox, Match, Reply, Request};

use super::endpoints::Monitors;
use crate::{base::error::AgentError, traffic::late_join::LateJoin};

/// Interval in which the thread of the match looks for its request, for the end of the traffic, and for the match.
const POLL: Duration = Duration::from_millis(2);

/// Answers the request to match that arrives during `traffic`, on a thread of its own.
///
/// # Errors
/// Returns the error of the traffic or of the match.
pub fn match_meanwhile<T>(
    join: &LateJoin,
    monitors: &Monitors,
    orders: &mut Inbox<Request>,
    replies: &mut (impl Write + Send),
    traffic: impl FnOnce() -> Result<T, AgentError>,
) -> Result<T, AgentError> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let matching = scope.spawn(|| {
            let Some(request) = request(orders, &over)? else { return Ok(()) };
            join.hand_over(request.writers.iter().map(|peers| peers.locators.clone()).collect());
            while join.is_waiting() && !over.load(Relaxed) {
                thread::sleep(POLL);
            }
            if join.is_waiting() {
                // No thread writes any more.
                monitors.connect(&request)?;
            }
            let reply = matched(monitors, &request, || {
                thread::sleep(POLL);
                Ok(())
            })?;
            Ok(control::send(replies, &reply)?)
        });
        let written = traffic();
        over.store(true, Relaxed);
        let matched: Result<(), AgentError> =
            matching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        matched.and(written)
    })
}

/// Waits for the request to match; `None` if the traffic is over before.
fn request(orders: &mut Inbox<Request>, over: &AtomicBool) -> Result<Option<Match>, AgentError> {
    loop {
        match orders.receive(POLL) {
            Ok(Request::Match(request)) => return Ok(Some(request)),
            Ok(other) => return Err(AgentError::OutOfTurn(other.phase())),
            Err(ChannelError::TimedOut(_)) if over.load(Relaxed) => return Ok(None),
            Err(ChannelError::TimedOut(_)) => {}
            Err(error) => return Err(error.into()),
        }
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
