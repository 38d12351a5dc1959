//! Two hosts: network namespaces, connected by a link of 100 Mbit/s.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, Stdio},
};

use site::{ClockClient, ClockExchange, ClockResponder};

use crate::Error;

const PORT: u16 = 9;
/// Least and most load of the link that a sender is expected to cause, in Mbit/s.
const HALF_MBPS: [f64; 2] = [40.0, 60.0];
const FULL_MBPS: [f64; 2] = [90.0, 101.0];

/// Offset of a clock: s and ns.
pub(super) type Offset = (i64, i64);

/// Load of the link, from the first host to the second.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    Idle,
    Half,
    Full,
}

impl Load {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Half => "half",
            Self::Full => "full",
        }
    }
}

/// Two hosts. Dropping it removes them.
pub(super) struct Lab(::lab::Lab);

/// Process that ends with its standard input.
pub(super) struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Address that a responder printed.
    pub(super) address: SocketAddr,
}

/// Sender and sink of the load.
pub(super) struct RunningLoad {
    load: Load,
    processes: Vec<Running>,
}

impl Lab {
    pub(super) fn create() -> Result<Self, Error> {
        let failed = |error: ::lab::LabError| format!("{error}; hint: {}", error.hint());
        Ok(Self(::lab::Lab::up(&"2,rate=100mbit".parse()?).map_err(failed)?))
    }

    /// Returns the interface of each host.
    pub(super) fn interface(&self) -> &str {
        &self.0.hosts()[0].interface
    }

    /// Returns a command of this program on a host, with a clock of this offset.
    fn command(&self, host: usize, offset: Offset, arguments: &[&str]) -> Result<Command, Error> {
        let mut command = self.0.hosts()[host].command(std::env::current_exe()?);
        command.args(["clocks-peer", "--clock", &format!("{} {}", offset.0, offset.1)]).args(arguments);
        Ok(command)
    }

    fn start(&self, host: usize, offset: Offset, arguments: &[&str]) -> Result<Running, Error> {
        let mut command = self.command(host, offset, arguments)?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Running { child, output, address: SocketAddr::from(([0, 0, 0, 0], 0)) })
    }

    pub(super) fn responder(
        &self,
        host: usize,
        offset: Offset,
        spec: &ClockResponder,
    ) -> Result<Running, Error> {
        let mut running = self.start(host, offset, &["responder", &serde_json::to_string(spec)?])?;
        running.address = running.line()?.parse()?;
        Ok(running)
    }

    pub(super) fn exchange(
        &self,
        host: usize,
        offset: Offset,
        spec: &ClockClient,
    ) -> Result<Vec<ClockExchange>, Error> {
        let output = self.command(host, offset, &["client", &serde_json::to_string(spec)?])?.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    pub(super) fn load(&self, load: Load) -> Result<RunningLoad, Error> {
        if load == Load::Idle {
            return Ok(RunningLoad { load, processes: Vec::new() });
        }
        let mut sink = self.start(1, (0, 0), &["sink", &PORT.to_string()])?;
        sink.line()?;
        let to = format!("{}:{PORT}", self.0.hosts()[1].address);
        let sender = match load {
            Load::Half => self.start(0, (0, 0), &["sender", &to, "50"]),
            _ => self.start(0, (0, 0), &["sender", &to]),
        }?;
        Ok(RunningLoad { load, processes: vec![sink, sender] })
    }
}

impl Running {
    fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() { Err("a process of the trial ended".into()) } else { Ok(line.trim().to_owned()) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl RunningLoad {
    /// Ends the load, and checks that the link had it.
    pub(super) fn check(mut self) -> Result<(), Error> {
        let [low, high] = match self.load {
            Load::Idle => return Ok(()),
            Load::Half => HALF_MBPS,
            Load::Full => FULL_MBPS,
        };
        let sink = &mut self.processes[0];
        drop(sink.child.stdin.take());
        let mbps: f64 = sink.line()?.parse()?;
        if (low..=high).contains(&mbps) {
            return Ok(());
        }
        Err(format!("the load of the link was {mbps:.1} Mbit/s, not {low} to {high}").into())
    }
}
