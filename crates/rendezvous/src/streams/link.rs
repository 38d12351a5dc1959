//! Link to a peer: flow control, signs of life and the end, without waiting.

use std::time::Duration;

use super::{WINDOW, end::SessionEnd};
use crate::{
    error::RendezvousError,
    lobby::{Announcement, Peer, clean},
    message::{Control, Message},
};

/// Number of taken bytes after which the peer gets a report.
const REPORT_BYTES: u64 = WINDOW as u64 / 4;
/// Time without a sign of life after which a peer with a successor is lost.
const RESTART_SILENCE: Duration = Duration::from_secs(3);
const START_AGAIN: &str = "start both sides again";

/// Link to a peer. Times are since the start of the session.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) peer: Peer,
    heard: Duration,
    /// Bytes that were sent, and those that the other application has taken.
    sent: u64,
    taken_there: u64,
    end_sent: bool,
    /// Bytes that have arrived, and those that the peer knows to be taken.
    arrived: u64,
    reported: u64,
    has_ended: bool,
    /// Process with the same role and id.
    successor: Option<Box<Peer>>,
}

/// Result of a message.
#[derive(Debug, PartialEq)]
pub(super) enum LinkEvent {
    /// Bytes for the application.
    Data(Vec<u8>),
    /// End of the bytes.
    EndOfData,
    /// No bytes for the application.
    Nothing,
    /// End of the link.
    End(SessionEnd),
}

impl Link {
    pub(super) const fn new(peer: Peer, now: Duration) -> Self {
        Self {
            peer,
            heard: now,
            sent: 0,
            taken_there: 0,
            end_sent: false,
            arrived: 0,
            reported: 0,
            has_ended: false,
            successor: None,
        }
    }

    /// Returns the number of bytes that may be sent now.
    pub(super) const fn room(&self) -> usize {
        WINDOW - (self.sent - self.taken_there) as usize
    }

    /// Records bytes that were sent.
    pub(super) const fn sent(&mut self, bytes: usize) {
        self.sent += bytes as u64;
    }

    /// Returns whether the end of the bytes has to be sent, once.
    pub(super) const fn ends(&mut self) -> bool {
        !std::mem::replace(&mut self.end_sent, true)
    }

    /// Returns the number of taken bytes if the peer has to be told.
    pub(super) const fn report(&mut self, taken: u64, is_beat: bool) -> Option<u64> {
        let is_due = taken - self.reported >= REPORT_BYTES || (is_beat && taken > self.reported);
        if !is_due {
            return None;
        }
        self.reported = taken;
        Some(taken)
    }

    /// Records any sign of life.
    pub(super) const fn hear(&mut self, now: Duration) {
        self.heard = now;
    }

    /// Takes a message of the peer to this process.
    pub(super) fn receive(&mut self, now: Duration, message: Message) -> LinkEvent {
        self.hear(now);
        match message {
            Message::Data(bytes) => {
                // The peer knows at least what was reported, at most what was taken.
                let limit = self.reported + WINDOW as u64;
                self.arrived += bytes.len() as u64;
                if self.has_ended || self.arrived > limit {
                    return self.broken("it sends more than it may");
                }
                LinkEvent::Data(bytes)
            }
            Message::Control(Control::Taken { bytes }) => {
                if bytes < self.taken_there || bytes > self.sent {
                    return self.broken("it has taken more than was sent");
                }
                self.taken_there = bytes;
                LinkEvent::Nothing
            }
            Message::Control(Control::End) => {
                self.has_ended = true;
                LinkEvent::EndOfData
            }
            Message::Control(Control::Goodbye(outcome) | Control::Reject(outcome)) => {
                LinkEvent::End(SessionEnd::Goodbye { peer: self.peer.clone().into(), outcome })
            }
            Message::Control(Control::Announce(_) | Control::Invite | Control::Beat) => LinkEvent::Nothing,
        }
    }

    fn broken(&self, cause: &str) -> LinkEvent {
        LinkEvent::End(broken(&self.peer, cause))
    }

    /// Records a process with the same role and id: the peer may have been started again.
    pub(super) fn succeeded_by(&mut self, peer: &Peer) {
        self.successor = Some(peer.clone().into());
    }

    /// Returns the end of the link if the peer is silent for too long.
    pub(super) fn silence(&self, now: Duration, limit: Duration) -> Option<SessionEnd> {
        let silence = now.saturating_sub(self.heard);
        match &self.successor {
            Some(successor) if silence >= RESTART_SILENCE.min(limit) => {
                let Announcement { host, pid, .. } = &successor.announcement;
                let again = format!("it was started again, as process {pid} on host `{}`", clean(host));
                Some(RendezvousError::new(format!("{} is lost: {again}", self.peer), START_AGAIN).into())
            }
            _ if silence >= limit => {
                let text = format!("{} is lost: no sign of life for {} s", self.peer, limit.as_secs_f64());
                let hint = "check whether its process still runs, and the link between the hosts";
                Some(RendezvousError::new(text, hint).into())
            }
            _ => None,
        }
    }
}

/// Returns the end of a peer whose messages cannot be read.
pub(super) fn broken(peer: &Peer, cause: &str) -> SessionEnd {
    RendezvousError::new(format!("messages of {peer} cannot be read: {cause}"), START_AGAIN).into()
}
