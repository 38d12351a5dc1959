//! Samples on their way to an agent, and its requests that have no reply yet. Decides what to send, without waiting.

use std::{
    collections::VecDeque,
    fmt,
    time::{Duration, Instant},
};

use control::{Exchange, Exchanged, MailboxMessage};

use crate::error::RendezvousError;

/// Time for which the agent waits for a sample before it replies.
pub(super) const WAIT: Duration = Duration::from_secs(1);
/// Maximum number of samples of a request.
const MAX_POSTED: usize = 64;
/// Maximum number of samples that wait for a request.
const MAX_WAITING: usize = 16_384;
/// Pause before samples are posted again that the middleware had no room for.
const RETRY: Duration = Duration::from_millis(20);

/// Queue of samples and requests.
#[derive(Debug, Default)]
pub(super) struct ExchangeQueue {
    /// Samples that wait for a request.
    waiting: VecDeque<MailboxMessage>,
    /// Requests without a reply, each with the samples that it posts.
    asked: VecDeque<(Instant, Vec<MailboxMessage>)>,
    /// Time before which nothing is posted.
    retry_at: Option<Instant>,
}

impl ExchangeQueue {
    /// Queues a sample.
    pub(super) fn push(&mut self, sample: &[u8]) -> Result<(), RendezvousError> {
        if self.waiting.len() >= MAX_WAITING {
            let waiting = self.waiting.len();
            let text =
                format!("{waiting} control samples wait to be sent: the peers do not acknowledge them");
            return Err(RendezvousError::new(text, "check the link to the peers, and their processes"));
        }
        self.waiting.push_back(MailboxMessage(sample.to_vec()));
        Ok(())
    }

    /// Returns the requests to send now. The samples that wait are not posted while others are on their way: their order
    /// would change if these are not accepted. The last request waits for samples of others.
    pub(super) fn requests(&mut self, now: Instant) -> Vec<Exchange> {
        let mut requests = Vec::new();
        let may_post = self.retry_at.is_none_or(|at| at <= now);
        if !self.waiting.is_empty() && !self.is_posting() && may_post {
            let post: Vec<_> = self.waiting.drain(..self.waiting.len().min(MAX_POSTED)).collect();
            requests.push(Exchange { post: post.clone(), wait_ns: 0 });
            self.asked.push_back((now, post));
        }
        if self.asked.back().is_none_or(|(_, post)| !post.is_empty()) {
            requests.push(Exchange { post: Vec::new(), wait_ns: WAIT.as_nanos() as u64 });
            self.asked.push_back((now, Vec::new()));
        }
        requests
    }

    /// Takes the reply to the oldest request. Samples that the middleware did not accept wait again.
    pub(super) fn replied(&mut self, now: Instant, reply: &Exchanged) -> Result<(), RendezvousError> {
        let Some((_, post)) = self.asked.pop_front() else {
            return Err(invalid(&"a reply without a request"));
        };
        let posted = reply.posted as usize;
        if posted > post.len() {
            return Err(invalid(&format_args!("{posted} of {} samples posted", post.len())));
        }
        if posted < post.len() {
            self.retry_at = Some(now + RETRY);
        }
        for message in post.into_iter().skip(posted).rev() {
            self.waiting.push_front(message);
        }
        Ok(())
    }

    fn is_posting(&self) -> bool {
        self.asked.iter().any(|(_, post)| !post.is_empty())
    }

    /// Returns whether samples wait, or are on their way.
    pub(super) fn has_samples(&self) -> bool {
        !self.waiting.is_empty() || self.is_posting()
    }

    /// Returns the time of the next attempt to post, if there is one.
    pub(super) fn retry_at(&self, now: Instant) -> Option<Instant> {
        self.retry_at.filter(|at| *at > now && !self.waiting.is_empty())
    }

    /// Returns the time of the oldest request without a reply.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.asked.front().map(|(since, _)| *since)
    }
}

/// Returns the error of an agent of another version, or of an invalid message of the agent.
pub(super) fn invalid(error: &dyn fmt::Display) -> RendezvousError {
    let text = format!("the agent of the control topic sent an invalid message: {error}");
    RendezvousError::new(text, "use the agent of the same build as ddsmark")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(samples: impl IntoIterator<Item = u8>) -> ExchangeQueue {
        let mut queue = ExchangeQueue::default();
        for sample in samples {
            queue.push(&[sample]).expect("room");
        }
        queue
    }

    fn posts(requests: &[Exchange]) -> Vec<Vec<u8>> {
        requests.iter().map(|request| request.post.iter().map(|message| message.0[0]).collect()).collect()
    }

    fn accepted(posted: u32) -> Exchanged {
        Exchanged { posted, ..Exchanged::default() }
    }

    #[test]
    fn samples_are_posted_at_once_and_one_request_waits() {
        let now = Instant::now();
        let mut queue = queue([1, 2]);
        let requests = queue.requests(now);
        assert_eq!(posts(&requests), [vec![1, 2], vec![]]);
        assert_eq!((requests[0].wait_ns, requests[1].wait_ns), (0, 1_000_000_000));
        assert_eq!(queue.requests(now), []);
        queue.replied(now, &accepted(2)).expect("a request");
        assert!(!queue.has_samples());
        assert_eq!(queue.requests(now), []);
        // A sample interrupts the request that waits, whose reply comes first.
        queue.push(&[3]).expect("room");
        assert_eq!(posts(&queue.requests(now)), [vec![3], vec![]]);
        queue.replied(now, &accepted(0)).expect("a request");
        queue.replied(now, &accepted(1)).expect("a request");
        assert_eq!(posts(&queue.requests(now)), [[0; 0]; 0]);
    }

    #[test]
    fn samples_without_room_are_posted_again_in_order() {
        let now = Instant::now();
        let mut queue = queue([1, 2, 3]);
        queue.requests(now);
        queue.push(&[4]).expect("room");
        // Not before it is known which ones were accepted.
        assert_eq!(queue.requests(now), []);
        queue.replied(now, &accepted(1)).expect("a request");
        assert_eq!(queue.requests(now), []);
        let later = queue.retry_at(now).expect("an attempt");
        assert_eq!(posts(&queue.requests(later)), [vec![2, 3, 4], vec![]]);
        assert!(queue.has_samples());
    }

    #[test]
    fn long_queue_is_posted_in_parts_and_has_a_limit() {
        let now = Instant::now();
        let mut queue = queue(std::iter::repeat_n(7, MAX_WAITING));
        let full = queue.push(&[7]).unwrap_err();
        assert!(full.to_string().starts_with("16384 control samples wait"), "{full}");
        assert_eq!(posts(&queue.requests(now))[0].len(), MAX_POSTED);
    }

    #[test]
    fn reply_that_fits_no_request_is_an_error() {
        let now = Instant::now();
        assert!(queue([]).replied(now, &accepted(0)).is_err());
        let mut queue = queue([1]);
        queue.requests(now);
        assert_eq!(queue.replied(now, &accepted(2)), Err(invalid(&"2 of 1 samples posted")));
    }
}
