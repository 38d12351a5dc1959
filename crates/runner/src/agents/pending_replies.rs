//! Replies that are awaited, and those that have come.

use std::collections::{BTreeMap, BTreeSet};

use control::Reply;

/// Agents of which one reply each is awaited.
pub(super) struct PendingReplies {
    /// Phase of the replies.
    pub(super) phase: &'static str,
    missing: BTreeSet<usize>,
    /// Replies by agent.
    pub(super) replies: BTreeMap<usize, Reply>,
}

impl PendingReplies {
    /// Creates the wait for these agents.
    pub(super) fn new(phase: &'static str, agents: impl IntoIterator<Item = usize>) -> Self {
        Self { phase, missing: agents.into_iter().collect(), replies: BTreeMap::new() }
    }

    /// Adds the reply of an agent. Returns it if none of this agent is awaited.
    pub(super) fn add(&mut self, agent: usize, reply: Reply) -> Option<Reply> {
        if !self.missing.remove(&agent) {
            return Some(reply);
        }
        self.replies.insert(agent, reply);
        None
    }

    /// Returns the first agent whose reply is missing, without those that `is_lost` is true for.
    pub(super) fn first_missing(&mut self, is_lost: impl Fn(usize) -> bool) -> Option<usize> {
        while self.missing.first().is_some_and(|first| is_lost(*first)) {
            self.missing.pop_first();
        }
        self.missing.first().copied()
    }

    /// Returns whether an agent has sent its goodbye.
    pub(super) fn has_left(&self, agent: usize) -> bool {
        self.replies.get(&agent) == Some(&Reply::Bye)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reply_of_each_awaited_agent_is_taken() {
        let mut pending = PendingReplies::new("warm_up", [4, 2, 7]);
        let none_lost = |_| false;
        assert_eq!(pending.first_missing(none_lost), Some(2));
        assert_eq!(pending.add(2, Reply::WarmedUp), None);
        assert_eq!(pending.add(2, Reply::Bye), Some(Reply::Bye), "a second one");
        assert_eq!(pending.add(3, Reply::WarmedUp), Some(Reply::WarmedUp), "not awaited");
        assert_eq!(pending.first_missing(none_lost), Some(4));
        assert_eq!(pending.add(7, Reply::Bye), None);
        assert_eq!((pending.has_left(7), pending.has_left(2), pending.has_left(4)), (true, false, false));
        assert_eq!(pending.first_missing(|agent| agent == 4), None, "the last one is lost");
        assert_eq!(pending.replies, [(2, Reply::WarmedUp), (7, Reply::Bye)].into());
    }
}
