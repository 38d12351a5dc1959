//! Agents of one run, from hello to exit: requests, replies with time limits, and the end of every process.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use control::{ChannelError, Hello, PROTOCOL, Reply, Request};
use experiment::{Dispensable, Limits};
use host::{Agent, ChannelEnd, ProcessExit};
use results::Failure;

use super::{
    agent::{AgentSpec, Event},
    end_cause::{end_cause, failure_of},
    pending_replies::PendingReplies,
    phase_error::{
        Cause, HELLO, PhaseError, SAME_BUILD, broken, extract, failure, not_exited, timed_out, unexpected,
    },
};
use crate::{
    error::RunnerError,
    stop_token::{StopToken, Waker},
};

/// Agent of one endpoint.
struct Member {
    /// Id of its endpoint, for an agent of a run.
    endpoint: Option<String>,
    /// Name of its host, if there are several.
    host: Option<String>,
    /// Index of its process, and of its control channel in it.
    process: usize,
    channel: u32,
}

/// Event of the agents that a wait ends with.
enum Incoming {
    /// Reply that is neither a failure nor deferred.
    Reply(usize, Box<Reply>),
    /// Event that needs no other action.
    Handled,
    /// No event until the deadline.
    Nothing,
}

/// Agents of one run: one for each endpoint, several of which may share a process. Dropping it ends them.
pub(crate) struct AgentSet<'a> {
    agents: Vec<Member>,
    processes: Vec<Box<dyn Agent>>,
    /// Agents that the run can do without: see [`AgentSet::may_lose`].
    dispensable: Vec<Dispensable>,
    /// Agents that ended early, and that the run goes on without.
    lost: BTreeMap<usize, PhaseError>,
    /// Replies that are awaited later.
    deferred: Option<PendingReplies>,
    events: Receiver<Event>,
    /// Sender of stop requests: the stop token keeps only a weak reference.
    _waker: Arc<Waker>,
    limits: &'a Limits,
}

impl<'a> AgentSet<'a> {
    /// Starts the agents of all processes. Their indices are those of their endpoints.
    ///
    /// # Errors
    /// Returns an error if an agent cannot be started. Agents that were started are ended.
    pub(crate) fn spawn(
        processes: Vec<AgentSpec<'_>>,
        limits: &'a Limits,
        stop: &StopToken,
    ) -> Result<Self, RunnerError> {
        let (sender, events) = channel();
        let stopped = sender.clone();
        let waker: Arc<Waker> = Arc::new(move || {
            // Without a receiver the agent set has already ended.
            let _ = stopped.send(Event::Stop);
        });
        let mut agent_set = AgentSet {
            agents: Vec::new(),
            processes: Vec::new(),
            dispensable: Vec::new(),
            lost: BTreeMap::new(),
            deferred: None,
            events,
            _waker: Arc::clone(&waker),
            limits,
        };
        let mut agents: BTreeMap<usize, Member> = BTreeMap::new();
        for (process, spec) in processes.into_iter().enumerate() {
            let AgentSpec { site, host, endpoints, command, log } = spec;
            let mut endpoints = endpoints.into_iter();
            let mut numbers = Vec::new();
            for channel in 0..command.channels {
                let (number, endpoint) =
                    endpoints.next().map_or((agents.len(), None), |(number, id)| (number, Some(id)));
                numbers.push(number);
                agents.insert(number, Member { endpoint, host: host.clone(), process, channel });
            }
            let replies = sender.clone();
            let sink = move |channel: u32, reply| {
                // Without a receiver the agent set has already ended.
                let _ = replies.send(Event::Reply(numbers[channel as usize], reply));
            };
            agent_set.processes.push(site.launch(&command, log, Box::new(sink))?);
        }
        agent_set.agents = agents.into_values().collect();
        stop.wake(&waker);
        Ok(agent_set)
    }

    /// Waits for the hello of each agent.
    pub(crate) fn hellos(&mut self) -> Result<Vec<Hello>, PhaseError> {
        let pending = PendingReplies::new(HELLO, 0..self.agents.len());
        let replies = self.replies(pending, Duration::from_nanos(self.limits.hello_ns))?;
        let mut hellos = Vec::new();
        for (agent, reply) in replies {
            match reply {
                Reply::Hello(hello) if hello.protocol == PROTOCOL => hellos.push(*hello),
                Reply::Hello(hello) => {
                    let protocol = hello.protocol;
                    let error =
                        format!("the agent uses version {protocol} of the control channel, not {PROTOCOL}");
                    return Err(PhaseError::new(HELLO, agent, error, Some(SAME_BUILD.to_owned())));
                }
                other => return Err(unexpected(HELLO, agent, &other)),
            }
        }
        Ok(hellos)
    }

    /// From now on, the run goes on if some of these agents end, at most as many of each group as it says.
    pub(crate) fn may_lose(&mut self, dispensable: Vec<Dispensable>) {
        self.dispensable = dispensable;
    }

    /// Returns the agents that ended early, and that the run went on without.
    pub(crate) fn lost(&self) -> impl Iterator<Item = usize> {
        self.lost.keys().copied()
    }

    /// Returns the error of the first lost agent.
    pub(crate) fn take_loss(&mut self) -> Option<PhaseError> {
        self.lost.pop_first().map(|(_, error)| error)
    }

    /// Sends each agent its request, waits for the replies, and returns what `take` extracts from each of them, in the
    /// same order. A reply from which it extracts nothing is an error.
    pub(crate) fn ask<T>(
        &mut self,
        requests: &[(usize, Request)],
        limit_ns: u64,
        take: impl Fn(Reply) -> Result<T, Reply>,
    ) -> Result<Vec<T>, PhaseError> {
        let answers = self.ask_remaining(requests, limit_ns, take)?;
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    /// Asks agents as [`AgentSet::ask`] does. Returns each answer with its agent; lost agents have none.
    pub(crate) fn ask_remaining<T>(
        &mut self,
        requests: &[(usize, Request)],
        limit_ns: u64,
        take: impl Fn(Reply) -> Result<T, Reply>,
    ) -> Result<Vec<(usize, T)>, PhaseError> {
        let pending = self.send_all(requests)?;
        let phase = pending.phase;
        let mut replies = self.replies(pending, Duration::from_nanos(limit_ns))?;
        let in_order = requests.iter().filter_map(|(agent, _)| Some((*agent, replies.remove(agent)?)));
        extract(phase, in_order.collect(), take)
    }

    /// Sends each agent its request. Until [`AgentSet::await_deferred`] returns the replies, agents can be asked for others.
    pub(crate) fn defer(&mut self, requests: &[(usize, Request)]) -> Result<(), PhaseError> {
        self.deferred = Some(self.send_all(requests)?);
        Ok(())
    }

    /// Waits for the replies to the deferred requests, as [`AgentSet::ask_remaining`] does.
    pub(crate) fn await_deferred<T>(
        &mut self,
        limit_ns: u64,
        take: impl Fn(Reply) -> Result<T, Reply>,
    ) -> Result<Vec<(usize, T)>, PhaseError> {
        let Some(deferred) = self.deferred.take() else { return Ok(Vec::new()) };
        let phase = deferred.phase;
        let replies = self.replies(deferred, Duration::from_nanos(limit_ns))?;
        extract(phase, replies.into_iter().collect(), take)
    }

    /// Keeps a reply to a deferred request. Returns it if it is none.
    fn keep_deferred(&mut self, agent: usize, reply: Reply) -> Option<Reply> {
        match &mut self.deferred {
            Some(deferred) if deferred.phase == reply.phase() => deferred.add(agent, reply),
            _ => Some(reply),
        }
    }

    /// Sends each agent its request. Returns the replies to wait for.
    fn send_all(&self, requests: &[(usize, Request)]) -> Result<PendingReplies, PhaseError> {
        for (agent, request) in requests {
            self.send(*agent, request)?;
        }
        let phase = requests.first().map_or("", |(_, request)| request.phase());
        Ok(PendingReplies::new(phase, requests.iter().map(|(agent, _)| *agent)))
    }

    fn send(&self, agent: usize, order: &Request) -> Result<(), PhaseError> {
        let Member { process, channel, .. } = &self.agents[agent];
        match self.processes[*process].send(*channel, order) {
            // A broken channel is ignored: the event of its end carries the cause.
            Ok(()) | Err(ChannelEnd::Gone(_) | ChannelEnd::Lost(_)) => Ok(()),
            Err(error) => Err(broken(order.phase(), agent, &error)),
        }
    }

    /// Waits for the missing replies of all agents that are not lost, and returns all replies. Any other event is an error.
    fn replies(
        &mut self,
        mut pending: PendingReplies,
        limit: Duration,
    ) -> Result<BTreeMap<usize, Reply>, PhaseError> {
        let (phase, deadline) = (pending.phase, Instant::now() + limit);
        while let Some(missing) = pending.first_missing(|agent| self.lost.contains_key(&agent)) {
            match self.event(phase, missing, deadline, |agent| pending.has_left(agent))? {
                Incoming::Reply(agent, reply) => {
                    if let Some(other) = pending.add(agent, *reply) {
                        return Err(unexpected(phase, agent, &other));
                    }
                }
                Incoming::Handled => {}
                Incoming::Nothing => return Err(timed_out(phase, missing, limit)),
            }
        }
        Ok(pending.replies)
    }

    /// Waits up to this time for the replies to the deferred requests. Returns whether all have come.
    pub(crate) fn wait_deferred(&mut self, limit: Duration) -> Result<bool, PhaseError> {
        let deadline = Instant::now() + limit;
        loop {
            let Some(deferred) = &mut self.deferred else { return Ok(true) };
            let phase = deferred.phase;
            let Some(missing) = deferred.first_missing(|agent| self.lost.contains_key(&agent)) else {
                return Ok(true);
            };
            match self.event(phase, missing, deadline, |_| false)? {
                Incoming::Reply(agent, reply) => return Err(unexpected(phase, agent, &reply)),
                Incoming::Handled => {}
                Incoming::Nothing => return Ok(false),
            }
        }
    }

    /// Waits for the next event, and handles failures, ends and deferred replies. `missing`: agent that is awaited;
    /// `may_end`: whether an agent may end.
    fn event(
        &mut self,
        phase: &'static str,
        missing: usize,
        deadline: Instant,
        may_end: impl Fn(usize) -> bool,
    ) -> Result<Incoming, PhaseError> {
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Stop) => return Err(PhaseError::Stopped),
            // A lost agent ends after its last message.
            Ok(Event::Reply(agent, _)) if self.lost.contains_key(&agent) => {}
            Ok(Event::Reply(agent, Ok(reply))) => match failure(phase, agent, *reply) {
                Err(error) => self.lose(agent, error)?,
                Ok(reply) => {
                    if let Some(other) = self.keep_deferred(agent, reply) {
                        return Ok(Incoming::Reply(agent, Box::new(other)));
                    }
                }
            },
            Ok(Event::Reply(agent, Err(error))) => {
                // An agent that has sent its goodbye may exit before the others.
                if !may_end(agent)
                    && let Err(error) = self.lose(agent, broken(phase, agent, &error))
                {
                    let process = |agent: usize| self.agents[agent].process;
                    let beside = |other: usize| other != agent && process(other) == process(agent);
                    let reported =
                        (0..self.agents.len()).any(beside).then(|| failure_of(&self.events, phase, beside));
                    return Err(reported.flatten().unwrap_or(error));
                }
            }
            Err(RecvTimeoutError::Timeout) => return Ok(Incoming::Nothing),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(broken(phase, missing, &ChannelError::Closed.into()));
            }
        }
        Ok(Incoming::Handled)
    }

    /// Goes on without an agent that has ended with this error. Returns the error if the run cannot do without it.
    fn lose(&mut self, agent: usize, error: PhaseError) -> Result<(), PhaseError> {
        let group = self.dispensable.iter().find(|group| group.endpoints.contains(&agent));
        let has_others = group.is_some_and(|group| {
            group.endpoints.iter().filter(|agent| self.lost.contains_key(agent)).count() < group.most
        });
        if !has_others {
            return Err(error);
        }
        self.lost.insert(agent, error);
        Ok(())
    }

    /// Requests the exit of every agent and waits for it. A missing or unsuccessful exit is an error.
    pub(crate) fn dismiss(&mut self) -> Result<(), PhaseError> {
        let phase = Request::Exit.phase();
        for agent in 0..self.agents.len() {
            self.send(agent, &Request::Exit)?;
        }
        let pending = PendingReplies::new(phase, 0..self.agents.len());
        for (agent, reply) in self.replies(pending, Duration::from_nanos(self.limits.exit_ns))? {
            if reply != Reply::Bye {
                return Err(unexpected(phase, agent, &reply));
            }
        }
        // The channel stays open: an agent that finds it closed exits immediately with an error.
        let endings = self.await_ends();
        for (agent, member) in self.agents.iter().enumerate() {
            let ending = endings[member.process];
            if ending != ProcessExit::Status(0) && !self.lost.contains_key(&agent) {
                return Err(not_exited(phase, agent, ending));
            }
        }
        Ok(())
    }

    /// Ends every process: closes its channels, waits, then kills it.
    fn end(&mut self) -> Vec<ProcessExit> {
        for process in &self.processes {
            process.hang_up();
        }
        self.await_ends()
    }

    /// Waits for the exit of every process and kills those that exceed the time limit.
    fn await_ends(&mut self) -> Vec<ProcessExit> {
        let deadline = Instant::now() + Duration::from_nanos(self.limits.exit_ns);
        let left = || deadline.saturating_duration_since(Instant::now());
        self.processes.iter_mut().map(|process| process.end(left())).collect()
    }

    /// Returns the last lines that the process of an agent printed.
    pub(crate) fn last_log_lines(&self, agent: usize) -> Vec<String> {
        let lines = self.processes[self.agents[agent].process].last_log_lines();
        // A middleware may colour its lines.
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    /// Ends every agent and returns the failure of the run, with the last lines that the agent at fault printed.
    /// Returns `None` after a stop request.
    pub(crate) fn fail(self, phase_error: PhaseError) -> Option<Failure> {
        self.conclude(phase_error).map(|(failure, _)| failure)
    }

    /// Ends every agent and returns the failure as [`AgentSet::fail`] does, and whether the host of the agent at fault is lost.
    pub(crate) fn conclude(mut self, phase_error: PhaseError) -> Option<(Failure, bool)> {
        let endings = self.end();
        let PhaseError::Phase { phase, agent, mut error, mut hint, cause } = phase_error else { return None };
        let Member { endpoint, host, process, .. } = &self.agents[agent];
        if cause == Cause::Exit {
            (error, hint) = end_cause(&*self.processes[*process], host.is_some(), endings[*process]);
        }
        let mut last_log_lines = self.last_log_lines(agent);
        // An agent also prints the error that it reports.
        last_log_lines.retain(|line| !line.ends_with(&error));
        let others: Vec<&str> =
            self.lost.keys().filter_map(|&other| self.agents[other].endpoint.as_deref()).collect();
        if !others.is_empty() {
            error = format!("{error}; {} ended, too", others.join(", "));
        }
        if let Some(host) =
            host.as_ref().map(|host| format!("host `{host}`")).filter(|host| !error.contains(host))
        {
            error = format!("{host}: {error}");
        }
        let failure =
            Failure { phase: phase.to_owned(), endpoint: endpoint.clone(), error, hint, last_log_lines };
        Some((failure, endings[*process] == ProcessExit::Unknown))
    }
}
