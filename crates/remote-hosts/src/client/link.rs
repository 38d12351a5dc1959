//! Connection to a steward: calls that wait for answers, agents that get replies, and the loss of all of them.

use std::{
    collections::HashMap,
    fmt::Display,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    },
    time::Duration,
};

use host::{ChannelEnd, SiteError};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    agent_state::AgentState,
    process::{Cause, Process},
    stream::Input,
};
use crate::{
    framing::{Frame, FrameError, MAX_FRAME_BYTES, output::Output, timed_writer::TimedWriter},
    protocol::{Call, ToRunner, ToSteward},
};

/// Hint for a lost host whose steward is a command, unless the messages of the command give a better one.
const LOST_HINT: &str = "check the host and the way to it, then resume with `ddsmark run --resume DIR`";
/// Hint for a lost host at the other end of given streams.
pub(super) const PEER_LOST_HINT: &str = "check the other process and the network between the hosts";

/// Connection to a steward.
pub(super) struct Link {
    pub(super) host: String,
    pub(super) out: Output,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lost: Option<SiteError>,
    /// Waiting calls by number.
    calls: HashMap<u64, SyncSender<Result<Value, SiteError>>>,
    agents: HashMap<u64, Arc<AgentState>>,
}

impl Link {
    pub(super) fn new(host: String, to_steward: TimedWriter) -> Self {
        Self { host, out: Output::new(to_steward), next: AtomicU64::new(1), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number for a call or an agent.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the cause if the host is lost.
    pub(super) fn lost(&self) -> Option<SiteError> {
        self.state().lost.clone()
    }

    /// Adds an agent, to which replies are passed from now on.
    pub(super) fn add(&self, number: u64, agent: Arc<AgentState>) {
        self.state().agents.insert(number, agent);
    }

    pub(super) fn remove(&self, number: u64) {
        self.state().agents.remove(&number);
    }

    /// Sends a message about an agent.
    pub(super) fn tell(&self, message: &ToSteward) -> Result<(), ChannelEnd> {
        if let Some(lost) = self.lost() {
            return Err(ChannelEnd::Lost(lost));
        }
        match self.out.message(message) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                Err(ChannelEnd::Invalid(error.to_string()))
            }
            // The reading thread finds out why, and tells all agents.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Executes a call. Returns its number with the answer.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        call: Call,
        timeouts: Duration,
    ) -> Result<(u64, T), SiteError> {
        let (id, name, limit) = (self.number(), call.name(), timeouts + call.takes());
        let (sender, answer) = sync_channel(1);
        {
            let mut state = self.state();
            if let Some(lost) = &state.lost {
                return Err(lost.clone());
            }
            state.calls.insert(id, sender);
        }
        let message = ToSteward::Call { id, call: Box::new(call) };
        if let Err(error) = self.out.message(&message)
            && error.kind() == std::io::ErrorKind::InvalidInput
        {
            self.state().calls.remove(&id);
            return Err(self.protocol_error(&error));
        }
        let answer = match answer.recv_timeout(limit) {
            Ok(answer) => answer?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.state().calls.remove(&id);
                let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                let (host, call) = (self.host.clone(), name);
                return Err(SiteError::NoAnswer { host, call, limit_ms });
            }
        };
        let answer = serde_json::from_value(answer).map_err(|error| self.protocol_error(&error))?;
        Ok((id, answer))
    }

    pub(super) fn protocol_error(&self, error: &dyn Display) -> SiteError {
        SiteError::no_understanding(&self.host, error)
    }

    /// Reads messages until the stream ends. Then every call and every agent fails with the cause. `process`: command
    /// whose streams these are, if there is one.
    pub(super) fn read(&self, input: &mut Input, process: Option<&Mutex<Process>>) {
        let end = loop {
            let message = match Frame::read(input, MAX_FRAME_BYTES) {
                Ok(Frame::Heartbeat) => continue,
                Ok(Frame::Log { agent, bytes }) => {
                    if let Some(agent) = self.agent(agent) {
                        agent.print(&bytes);
                    }
                    continue;
                }
                Ok(Frame::Message(body)) => serde_json::from_slice(&body),
                Err(error) => break error,
            };
            match message {
                Ok(message) => {
                    if let Err(refused) = self.take(message) {
                        break FrameError::Invalid(refused);
                    }
                }
                Err(error) => break FrameError::Invalid(error.to_string()),
            }
        };
        self.lose(&end, process);
    }

    fn agent(&self, number: u64) -> Option<Arc<AgentState>> {
        self.state().agents.get(&number).cloned()
    }

    /// Passes on a message. Those to calls and agents that no longer wait are ignored.
    fn take(&self, message: ToRunner) -> Result<(), String> {
        match message {
            ToRunner::Answer { id, answer } => {
                let waiting = self.state().calls.remove(&id);
                if let Some(waiting) = waiting {
                    // A call whose limit has just passed does not wait any longer.
                    let _ = waiting.try_send(answer);
                }
            }
            ToRunner::Reply { agent, channel, reply } => {
                if let Some(agent) = self.agent(agent) {
                    agent.reply(channel, Ok(reply));
                }
            }
            ToRunner::ChannelEnd { agent, channel, end } => {
                if let Some(agent) = self.agent(agent) {
                    agent.reply(channel, Err(end));
                }
            }
            ToRunner::Ended { agent, exit } => {
                if let Some(agent) = self.agent(agent) {
                    agent.exited(exit);
                }
            }
            ToRunner::Refused { error } => return Err(error),
        }
        Ok(())
    }

    /// Ends everything that waits for the host.
    fn lose(&self, end: &FrameError, process: Option<&Mutex<Process>>) {
        let is_stuck = self.out.is_abandoned();
        let cause = process.map(|process| process.lock().unwrap_or_else(PoisonError::into_inner).cause());
        let default_hint = if cause.is_some() { LOST_HINT } else { PEER_LOST_HINT };
        let Cause { ended, known, lines, .. } = cause.unwrap_or_default();
        let mut error = match (end, ended) {
            (FrameError::Ended | FrameError::Truncated | FrameError::Io(_), Some(ended)) => ended,
            (FrameError::Ended, None) if is_stuck => "it does not take any message".to_owned(),
            (end, _) => end.to_string(),
        };
        if !lines.is_empty() {
            error = format!("{error}: {}", lines.join(" / "));
        }
        // The messages say more than the end of the process.
        let (error, hint) = match known {
            Some((cause, hint)) => (format!("{cause}: {error}"), hint),
            None => (error, default_hint.to_owned()),
        };
        let lost = SiteError::Lost { host: self.host.clone(), error, hint: Some(hint) };
        self.out.close();
        let mut state = self.state();
        state.lost = Some(lost.clone());
        let (calls, agents) = (std::mem::take(&mut state.calls), std::mem::take(&mut state.agents));
        drop(state);
        for call in calls.into_values() {
            let _ = call.try_send(Err(lost.clone()));
        }
        for agent in agents.into_values() {
            agent.lose(&lost);
        }
    }
}
