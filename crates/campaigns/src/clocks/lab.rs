//! Two hosts: network namespaces, connected by a link of 100 Mbit/s.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, Stdio},
};

use site::{ClockClient, ClockExchange, ClockResponder};

use crate::Error;

/// Interface of each host.
pub(super) const INTERFACE: &str = "eth0";
const ADDRESSES: [&str; 2] = ["10.77.77.1", "10.77.77.2"];
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
pub(super) struct Lab {
    namespaces: [String; 2],
}

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

fn execute(line: &str) -> Result<(), Error> {
    let mut words = line.split_whitespace();
    let program = words.next().ok_or("no program")?;
    let output = Command::new(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`{line}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}

impl Lab {
    pub(super) fn create() -> Result<Self, Error> {
        let lab = Self { namespaces: ["a", "b"].map(|end| format!("clocks-{}-{end}", std::process::id())) };
        let [a, b] = &lab.namespaces;
        for namespace in [a, b] {
            execute(&format!("ip netns add {namespace}"))
                .map_err(|error| format!("{error}; hint: run this campaign as root"))?;
        }
        execute(&format!("ip -n {a} link add {INTERFACE} type veth peer name {INTERFACE} netns {b}"))?;
        for (namespace, address) in lab.namespaces.iter().zip(ADDRESSES) {
            execute(&format!("ip -n {namespace} addr add {address}/24 dev {INTERFACE}"))?;
            execute(&format!("ip -n {namespace} link set lo up"))?;
            execute(&format!("ip -n {namespace} link set {INTERFACE} up"))?;
            execute(&format!(
                "tc -n {namespace} qdisc add dev {INTERFACE} root handle 1: stab overhead 24 linklayer ethernet tbf \
                 rate 100mbit burst 16k latency 50ms"
            ))?;
        }
        Ok(lab)
    }

    /// Returns a command of this program on a host, with a clock of this offset.
    fn command(&self, host: usize, offset: Offset, arguments: &[&str]) -> Result<Command, Error> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[host]]).arg(std::env::current_exe()?);
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
        let to = format!("{}:{PORT}", ADDRESSES[1]);
        let sender = match load {
            Load::Half => self.start(0, (0, 0), &["sender", &to, "50"]),
            _ => self.start(0, (0, 0), &["sender", &to]),
        }?;
        Ok(RunningLoad { load, processes: vec![sink, sender] })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for namespace in &self.namespaces {
            let _ = execute(&format!("ip netns del {namespace}"));
        }
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
