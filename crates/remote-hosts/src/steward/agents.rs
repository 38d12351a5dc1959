//! Agents of a steward, each with a thread of its own: the kernel ends an agent with the thread that started it.

use std::{
    fs,
    io::{PipeReader, Read as _},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use control::{Reply, Request};
use host::{Agent, AgentCommand, AgentLog, ChannelEnd, ProcessExit, Site, SiteError};

use crate::{
    framing::{Frame, output::Output},
    protocol::{MANIFEST, ToRunner},
};

/// Largest part of an agent's output in one frame, in bytes.
const LOG_BYTES: usize = 16 << 10;
/// Maximum wait for the last output of an agent that has ended: a process that it left behind may keep it open.
const LOG_PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of orders that wait for the thread of an agent: a runner sends one request at a time.
const MOST_ORDERS: usize = 64;
/// Variable with the directories of libraries.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// Order to the thread of an agent.
#[derive(Debug)]
pub(super) enum Order {
    /// Send this request over the control channel with this index.
    Send(u32, Box<Request>),
    HangUp,
    /// Wait for its exit, and kill it after this time.
    End(Duration),
    /// One of its control channels has ended.
    ChannelEnded,
    /// Kill it at once.
    Stop,
}

/// Orders to the thread of an agent.
pub(super) struct Orders {
    sender: SyncSender<Order>,
    stop: Arc<AtomicBool>,
}

impl Orders {
    /// Sends an order.
    ///
    /// # Errors
    /// Returns an error if too many orders wait, or if the agent has ended.
    pub(super) fn send(&self, order: Order) -> Result<(), TrySendError<Order>> {
        self.sender.try_send(order)
    }

    /// Kills the agent, whatever orders wait.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // The thread looks at the flag after each order.
        let _ = self.send(Order::Stop);
    }
}

/// Launches an agent in a thread of its own. `launched` gets the outcome, and `gone` is called when its process has ended.
pub(super) fn start(
    site: Arc<dyn Site + Send + Sync>,
    number: u64,
    command: AgentCommand,
    out: Arc<Output>,
    launched: impl FnOnce(Result<(), SiteError>) + Send + 'static,
    gone: impl FnOnce() + Send + 'static,
) -> std::io::Result<Orders> {
    let (sender, received) = sync_channel(MOST_ORDERS);
    let orders = Orders { sender, stop: Arc::default() };
    let (for_sink, stop) = (orders.sender.clone(), Arc::clone(&orders.stop));
    thread::Builder::new().name(format!("agent {number}")).spawn(move || {
        let command = with_libraries(command);
        match launch(&*site, number, &command, &out, for_sink) {
            Ok((agent, log_end)) => {
                launched(Ok(()));
                let exit = attend(agent, command.channels, &received, &stop);
                // Before the message: the stream may be stuck.
                gone();
                let _ = log_end.recv_timeout(LOG_PATIENCE);
                // Without a runner, the message is not needed.
                let _ = out.message(&ToRunner::Ended { agent: number, exit });
            }
            Err(error) => {
                gone();
                launched(Err(error));
            }
        }
    })?;
    Ok(orders)
}

/// Launches an agent whose replies and output are sent to the runner. Returns it with the end of its output.
fn launch(
    site: &dyn Site,
    number: u64,
    command: &AgentCommand,
    out: &Arc<Output>,
    orders: SyncSender<Order>,
) -> Result<(Box<dyn Agent>, Receiver<()>), SiteError> {
    let (log, printed) = AgentLog::to_pipe()?;
    let replies = Arc::clone(out);
    let sink = move |channel: u32, reply: Result<Box<Reply>, ChannelEnd>| {
        let (message, over) = match reply {
            Ok(reply) => (ToRunner::Reply { agent: number, channel, reply }, false),
            Err(end) => (ToRunner::ChannelEnd { agent: number, channel, end }, true),
        };
        // Without a runner, the message is not needed.
        let _ = replies.message(&message);
        if over {
            let _ = orders.send(Order::ChannelEnded);
        }
    };
    let agent = site.launch(command, log, Box::new(sink))?;
    let (ended, end) = channel();
    let out = Arc::clone(out);
    let copies = thread::Builder::new().name(format!("log {number}")).spawn(move || {
        copy(printed, number, &out);
        let _ = ended.send(());
    });
    copies.map_err(|error| SiteError::no_log(None, error))?;
    Ok((agent, end))
}

/// Sends the output of an agent until it ends. Without a runner it is read on, so that the agent does not block.
fn copy(mut printed: PipeReader, agent: u64, out: &Output) {
    let mut buffer = vec![0; LOG_BYTES];
    while let Ok(bytes @ 1..) = printed.read(&mut buffer) {
        let _ = out.frame(&Frame::Log { agent, bytes: buffer[..bytes].to_vec() });
    }
}

/// Executes orders until the agent with this number of control channels has ended.
fn attend(
    mut agent: Box<dyn Agent>,
    channels: u32,
    orders: &Receiver<Order>,
    is_stopped: &AtomicBool,
) -> ProcessExit {
    let mut open = channels;
    loop {
        let order = orders.recv();
        if is_stopped.load(Ordering::Acquire) {
            return stop(agent);
        }
        match order {
            // A broken channel is ignored: its end is reported.
            Ok(Order::Send(channel, request)) => drop(agent.send(channel, &request)),
            Ok(Order::HangUp) => agent.hang_up(),
            Ok(Order::ChannelEnded) => open = open.saturating_sub(1),
            Ok(Order::End(limit)) => {
                let deadline = Instant::now() + limit;
                // All channels end when the process exits. Until then, an order to stop must not wait.
                while open > 0 {
                    match orders.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                        Ok(Order::ChannelEnded) => open = open.saturating_sub(1),
                        Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return stop(agent),
                        Ok(_) => {}
                        Err(RecvTimeoutError::Timeout) => break,
                    }
                }
                return agent.end(deadline.saturating_duration_since(Instant::now()));
            }
            Ok(Order::Stop) | Err(_) => return stop(agent),
        }
    }
}

fn stop(mut agent: Box<dyn Agent>) -> ProcessExit {
    agent.hang_up();
    agent.end(Duration::ZERO)
}

/// Adds the libraries that were copied with a driver to those that the agent searches.
fn with_libraries(mut command: AgentCommand) -> AgentCommand {
    let directory = command.driver.path.parent().unwrap_or(Path::new("/"));
    if fs::exists(directory.join(MANIFEST)).unwrap_or(false) {
        let set = command.variables.get(LIBRARY_PATH).cloned();
        let others =
            set.unwrap_or_else(|| std::env::var(LIBRARY_PATH).ok()).filter(|others| !others.is_empty());
        let mut path = directory.display().to_string();
        if let Some(others) = others {
            // A library that the user names comes first.
            path = format!("{others}:{path}");
        }
        command.variables.insert(LIBRARY_PATH.to_owned(), Some(path));
    }
    command
}

#[cfg(test)]
mod tests {
    use host::DriverFile;

    use super::*;

    #[test]
    fn libraries_of_a_copied_driver_come_after_those_of_the_user() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("libddsmark_x.so");
        let command = AgentCommand {
            driver: DriverFile { name: "x".to_owned(), path },
            variables: [(LIBRARY_PATH.to_owned(), Some("/opt/lib".to_owned()))].into(),
            padding_bytes: 0,
            channels: 1,
        };
        assert_eq!(with_libraries(command.clone()), command);
        fs::write(directory.path().join(MANIFEST), "").expect("a file");
        let own = directory.path().display().to_string();
        let with = with_libraries(command.clone()).variables;
        assert_eq!(with[LIBRARY_PATH], Some(format!("/opt/lib:{own}")));
        let mut removed = command;
        removed.variables.insert(LIBRARY_PATH.to_owned(), None);
        assert_eq!(with_libraries(removed).variables[LIBRARY_PATH], Some(own));
    }
}
