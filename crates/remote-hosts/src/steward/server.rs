//! Main loop of a steward.

use std::{
    collections::{BTreeSet, HashMap},
    fs::File,
    io::BufReader,
    os::fd::OwnedFd,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc::TrySendError},
    thread,
    time::Duration,
};

use control::Request;
use host::{Guard, Site, SiteError};

use super::{
    agents::{self, Order, Orders},
    calls,
};
use crate::{
    framing::{
        Frame, FrameError, GREETING, output::Output, timed_reader::TimedReader, timed_writer::TimedWriter,
    },
    protocol::{Call, Hello, HostedSite, ToRunner, ToSteward, Versions},
};

/// Maximum number of calls at the same time, of their effects, of agents, and of names of runs and cases.
const MOST_CALLS: usize = 64;
const MOST_EFFECTS: usize = 4096;
const MOST_AGENTS: usize = 4096;
const MOST_NAMES: usize = 4096;
/// Maximum wait for the end of all agents.
const END_PATIENCE: Duration = Duration::from_secs(30);
/// Longest time limit that a runner can set: the clock does not overflow.
const MAX_LIMIT: Duration = Duration::from_secs(24 * 3600);
/// Longest silence before the runner has said how long it may be, and longest time in which it takes no byte.
const FIRST_SILENCE: Duration = Duration::from_secs(30);

/// Reason why a steward has ended.
#[derive(Debug, thiserror::Error)]
pub enum StewardEnd {
    /// Request of the runner, or a stop request.
    #[error("the runner said goodbye")]
    Bye,
    /// Lost runner.
    #[error("the runner is lost: {0}")]
    Lost(#[from] FrameError),
    /// Message that this steward does not understand.
    #[error("{0}")]
    Refused(String),
}

/// State of a steward.
struct Steward {
    site: Arc<dyn Site + Send + Sync>,
    out: Arc<Output>,
    /// Longest message of the runner in bytes.
    frame_bytes: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    agents: HashMap<u64, Orders>,
    /// Effects by the number of the call that started them.
    effects: HashMap<u64, Guard>,
    calls: usize,
    /// Names of runs and cases whose files may exist.
    names: BTreeSet<String>,
}

/// Serves a site over a stream from a runner and a stream to it, until the former ends or stays silent, or until `stop`.
/// Then ends all agents, removes their files and returns the reason. Agents end no later than this process. A message of
/// the runner has at most `frame_bytes`.
pub fn serve<S: Site + Send + Sync + 'static>(
    site: Result<S, SiteError>,
    (input, output): (impl Into<OwnedFd>, impl Into<OwnedFd>),
    frame_bytes: u32,
    stop: impl Fn() -> bool + Send + 'static,
) -> StewardEnd {
    let out = match TimedWriter::new(output.into().into(), FIRST_SILENCE) {
        Ok(output) => Arc::new(Output::new(output)),
        Err(error) => return FrameError::Io(error).into(),
    };
    let hosted = site.as_ref().map_err(SiteError::clone).map(|site| {
        // What a killed steward left behind: no other process may come for it.
        site.sweep();
        HostedSite { owner: site.owner(), clock: site.clock() }
    });
    let hello = Hello { versions: Versions::own(), site: hosted };
    if let Err(error) = out.raw(GREETING).and_then(|()| out.message(&hello)) {
        return FrameError::Io(error).into();
    }
    let Ok(site) = site else { return StewardEnd::Bye };
    let site: Arc<dyn Site + Send + Sync> = Arc::new(site);
    let broken = Arc::clone(&out);
    let stop = Box::new(move || stop() || broken.is_broken());
    let mut input = BufReader::new(TimedReader::new(File::from(input.into()), FIRST_SILENCE, stop));
    let steward = Arc::new(Steward {
        site: Arc::clone(&site),
        out: Arc::clone(&out),
        frame_bytes,
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let end = steward.read(&mut input);
    steward.end_agents();
    for name in steward.state().names.iter().chain(&site.owner().prefixes()) {
        site.clean(name);
    }
    if let StewardEnd::Refused(error) = &end {
        let _ = out.message(&ToRunner::Refused { error: error.clone() });
    }
    out.close();
    end
}

impl Steward {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads messages until the end.
    fn read(self: &Arc<Self>, input: &mut BufReader<TimedReader<'_, File>>) -> StewardEnd {
        let mut greeted = false;
        loop {
            let body = match Frame::read(input, self.frame_bytes) {
                Ok(Frame::Message(body)) => body,
                Ok(Frame::Heartbeat) => continue,
                Ok(Frame::Log { .. }) => return StewardEnd::Refused("output from a runner".to_owned()),
                Err(error) => return error.into(),
            };
            let message: ToSteward = match serde_json::from_slice(&body) {
                Ok(message) => message,
                Err(error) => return StewardEnd::Refused(format!("invalid message: {error}")),
            };
            match message {
                ToSteward::Hello { .. } if greeted => {
                    return StewardEnd::Refused("a second greeting".to_owned());
                }
                ToSteward::Hello { versions, silence } if versions == Versions::own() => {
                    greeted = true;
                    input.get_mut().silence = silence.map(|silence| silence.min(MAX_LIMIT));
                    if silence.is_some() {
                        let out = Arc::clone(&self.out);
                        // Without heartbeats the runner ends this steward.
                        let _ = thread::Builder::new().name("heartbeat".to_owned()).spawn(move || out.beat());
                    }
                }
                ToSteward::Hello { versions, .. } => {
                    let own = Versions::own().ddsmark;
                    return StewardEnd::Refused(format!("this is version {own}, not {}", versions.ddsmark));
                }
                _ if !greeted => return StewardEnd::Refused("a message before the greeting".to_owned()),
                ToSteward::Bye => return StewardEnd::Bye,
                message => {
                    if let Err(refused) = self.execute(message) {
                        return StewardEnd::Refused(refused);
                    }
                }
            }
        }
    }

    /// Executes a message, without waiting for anything.
    ///
    /// # Errors
    /// Returns an error if the runner does not wait for its agents.
    fn execute(self: &Arc<Self>, message: ToSteward) -> Result<(), String> {
        let mut state = self.state();
        match message {
            ToSteward::Call { id, call } => {
                if let Err(error) = self.start_call(&mut state, id, *call) {
                    drop(state);
                    self.answer(id, Err(SiteError::no_channel(error)));
                }
            }
            ToSteward::Send { agent, channel, request } => {
                let name = match &*request {
                    Request::Configure(configure) => Some(&configure.run_name),
                    Request::Check { name, .. } => Some(name),
                    _ => None,
                };
                let has_room = state.names.len() < MOST_NAMES && state.agents.contains_key(&agent);
                state.names.extend(name.filter(|_| has_room).cloned());
                return order(&state, agent, Order::Send(channel, request));
            }
            ToSteward::HangUp { agent } => return order(&state, agent, Order::HangUp),
            ToSteward::End { agent, limit } => {
                return order(&state, agent, Order::End(limit.min(MAX_LIMIT)));
            }
            ToSteward::Release { id } => {
                let effect = state.effects.remove(&id);
                drop(state);
                drop(effect);
            }
            ToSteward::Hello { .. } | ToSteward::Bye => {}
        }
        Ok(())
    }

    /// Starts the thread of a call or of an agent.
    fn start_call(self: &Arc<Self>, state: &mut State, id: u64, call: Call) -> Result<(), String> {
        let steward = Arc::clone(self);
        if let Call::Launch { agent, command } = call {
            if state.agents.contains_key(&agent) || state.agents.len() >= MOST_AGENTS {
                return Err(format!("there is an agent {agent}, or there are {MOST_AGENTS} agents"));
            }
            let launched = move |launched: Result<(), SiteError>| {
                steward.answer(id, launched.map(|()| serde_json::Value::Null));
            };
            let steward = Arc::clone(self);
            let gone = move || {
                steward.state().agents.remove(&agent);
                steward.changed.notify_all();
            };
            let (site, out) = (Arc::clone(&self.site), Arc::clone(&self.out));
            let started = agents::start(site, agent, command, out, launched, gone);
            state.agents.insert(agent, started.map_err(|error| error.to_string())?);
            return Ok(());
        }
        if state.calls >= MOST_CALLS || state.effects.len() >= MOST_EFFECTS {
            return Err(format!("there are {MOST_CALLS} calls, or {MOST_EFFECTS} effects of calls"));
        }
        state.calls += 1;
        let run = move || {
            if let Call::Clean { name } = &call {
                steward.state().names.remove(name);
            }
            let executed = calls::execute(&*steward.site, call);
            let answer = executed.map(|(answer, effect)| {
                if let Some(effect) = effect {
                    steward.state().effects.insert(id, effect);
                }
                answer
            });
            steward.state().calls -= 1;
            steward.answer(id, answer);
        };
        let spawned = thread::Builder::new().name(format!("call {id}")).spawn(run);
        spawned.map(drop).map_err(|error| {
            state.calls -= 1;
            error.to_string()
        })
    }

    fn answer(&self, id: u64, answer: Result<serde_json::Value, SiteError>) {
        // Without a runner, the message is not needed.
        let _ = self.out.message(&ToRunner::Answer { id, answer });
    }

    /// Kills all agents, and waits for their end.
    fn end_agents(&self) {
        let state = self.state();
        for agent in state.agents.values() {
            agent.stop();
        }
        let all = self.changed.wait_timeout_while(state, END_PATIENCE, |state| !state.agents.is_empty());
        let (mut state, _) = all.unwrap_or_else(PoisonError::into_inner);
        state.effects.clear();
    }
}

/// Passes on an order. An agent that has ended needs none.
///
/// # Errors
/// Returns an error if too many orders wait for the agent.
fn order(state: &State, agent: u64, order: Order) -> Result<(), String> {
    match state.agents.get(&agent).map(|orders| orders.send(order)) {
        Some(Err(TrySendError::Full(_))) => Err(format!("too many requests wait for agent {agent}")),
        Some(Ok(()) | Err(TrySendError::Disconnected(_))) | None => Ok(()),
    }
}
