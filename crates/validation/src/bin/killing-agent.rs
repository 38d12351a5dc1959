//! Wrapper of `ddsmark-agent` for tests: kills the real agent, or its runner, in a given phase.
//!
//! The runner starts this program through `$DDSMARK_AGENT`. The program executes the real agent in its own process.
//! A second process, the watcher, relays the control channel and monitors the requests. The product therefore needs
//! no option for these tests, and the real agent is killed. Without an entry in the plan, this program only
//! executes the real agent.
//!
//! `$DDSMARK_KILLS` is the directory of the plan. The file `plan` has one line per kill: `DRIVER ROLE NUMBER PHASE
//! DELAY_US VICTIM`. `DRIVER` is a name without a version; `ROLE` is the id of an endpoint, the first one of its
//! process; `NUMBER` counts the launches of that driver and role from 0; `VICTIM` is `agent` or `runner`. The outcome
//! is written to `done/`: `hit`, or `late` if the victim had already ended. If `VICTIM` is `none`, the request
//! `configure` of that run is written there when the phase begins, for tests with other faults.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Error, Write as _},
    net::Shutdown,
    os::{
        fd::{AsFd as _, FromRawFd as _, OwnedFd, RawFd},
        unix::{
            net::UnixStream,
            process::{CommandExt as _, parent_id},
        },
    },
    path::{Path, PathBuf},
    process::{Command, Stdio, exit},
    thread,
    time::{Duration, Instant},
};

use control::Reply;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

/// First phase, which starts without a request.
const HELLO: &str = "hello";
/// Maximum time for the victim to stop.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Line of the plan.
#[derive(Clone, Debug)]
struct Kill {
    name: String,
    phase: String,
    delay: Duration,
    runner: bool,
    none: bool,
    /// Whether the victim's role generates the traffic.
    drives: bool,
}

impl Kill {
    /// Returns whether the kill must occur while the peer generates traffic. The victim answers these requests at
    /// once.
    fn strikes_during_traffic(&self) -> bool {
        !self.drives && !self.none && matches!(self.phase.as_str(), "warm_up" | "measure")
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let failed = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["watch", agent, runner, ours, peers] => watch(agent, runner, ours, peers),
        ["--driver", driver, "--control-fd", control, others @ ..] => become_agent(driver, control, others),
        _ => Err("this program is started by ddsmark".into()),
    };
    if let Err(error) = failed {
        eprintln!("killing-agent: {error}");
        exit(1);
    }
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Executes the real agent, with a watcher of its first channel if the plan has an entry for it. `others`: arguments
/// about its other channels.
fn become_agent(driver: &str, control: &str, others: &[&str]) -> Outcome {
    let plan = PathBuf::from(env::var_os("DDSMARK_KILLS").ok_or("DDSMARK_KILLS names no plan")?);
    let program = env::current_exe()?.with_file_name("ddsmark-agent");
    let agent = |control: &str| {
        let mut agent = Command::new(&program);
        agent.args(["--driver", driver, "--control-fd", control]).args(others);
        agent
    };
    // the log of a run's agent is `NNNN-ROLE.log`; other agents have no such log and are not killed
    let log = fs::read_link("/proc/self/fd/1")?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let named = log.file_stem().and_then(|stem| stem.to_str()?.split_once('-'));
    let Some((_, role)) = named.filter(|(number, _)| is_number(number)) else {
        return Err(agent(control).exec().into());
    };
    let name = Path::new(driver).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // a name without a version may be a link to a file that has one
    let name = name.trim_start_matches("libddsmark_").split('@').next().unwrap_or_default();
    let number = launches(&plan, &format!("{name} {role}"))?;
    let of = |role: &str| format!("{name} {role} {number}");
    // only in a pair does the other end wait for the kill: elsewhere the run may go on without the victim
    let (ours, peers) = (of(role), of(peer_of(role).unwrap_or_default()));
    if let Some(own) = find(&plan, &ours)?.filter(|own| own.none) {
        return report_kill(&plan, &own, agent("0"), control.parse()?);
    }
    let peer_strikes_during_traffic = find(&plan, &peers)?.is_some_and(|kill| kill.strikes_during_traffic());
    if find(&plan, &ours)?.is_none() && !peer_strikes_during_traffic {
        return Err(agent(control).exec().into());
    }
    let control = take(control.parse()?);
    let (to_agent, to_us) = UnixStream::pair()?;
    Command::new(env::current_exe()?)
        .args(["watch", &std::process::id().to_string(), &parent_id().to_string(), &ours, &peers])
        .stdin(Stdio::from(control.try_clone()?))
        .stdout(Stdio::from(OwnedFd::from(to_agent)))
        .spawn()?;
    // from here on only the watcher uses the runner's channel
    drop(control);
    Err(agent("0").stdin(Stdio::from(OwnedFd::from(to_us))).exec().into())
}

/// Takes ownership of the control channel.
fn take(control: RawFd) -> OwnedFd {
    // SAFETY: the descriptor is open, and the command line passes its ownership to us; called once, and nothing
    // else in this process uses it.
    unsafe { OwnedFd::from_raw_fd(control) }
}

/// Relays the control channel to a child, the real agent, and exits with its status. Writes the child's
/// configuration when the phase begins.
fn report_kill(plan: &Path, own: &Kill, mut agent: Command, control: RawFd) -> Outcome {
    let runner = UnixStream::from(take(control));
    let (mut to_agent, to_us) = UnixStream::pair()?;
    let mut child = agent.stdin(Stdio::from(OwnedFd::from(to_us))).spawn()?;
    // from here on only the child uses its end of the channel
    drop(agent);
    let (mut from_agent, mut to_runner) = (to_agent.try_clone()?, runner.try_clone()?);
    thread::spawn(move || -> Outcome {
        std::io::copy(&mut from_agent, &mut to_runner)?;
        exit(child.wait()?.code().unwrap_or(1));
    });
    let mut configure = String::new();
    for line in BufReader::new(runner).lines() {
        let line = line?;
        let request: Value = serde_json::from_str(&line)?;
        writeln!(to_agent, "{line}")?;
        if request["request"] == "configure" {
            configure.clone_from(&line);
        }
        if request["request"] == own.phase.as_str() {
            fs::create_dir_all(plan.join("done"))?;
            fs::write(plan.join("done").join(format!(".{}", own.name)), &configure)?;
            fs::rename(plan.join("done").join(format!(".{}", own.name)), plan.join("done").join(&own.name))?;
        }
    }
    to_agent.shutdown(Shutdown::Both)?;
    loop {
        thread::park();
    }
}

/// Returns the other endpoint of a pair.
fn peer_of(role: &str) -> Option<&'static str> {
    [("writer", "reader"), ("reader", "writer"), ("pinger", "echo"), ("echo", "pinger")]
        .into_iter()
        .find_map(|(one, other)| (one == role).then_some(other))
}

/// Returns the number of previous launches of this driver and role, and counts this one.
fn launches(plan: &Path, name: &str) -> Result<u32, Error> {
    let mut number = 0;
    loop {
        match fs::create_dir(plan.join(format!("{name} {number}"))) {
            Ok(()) => return Ok(number),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Returns the planned kill of a launch.
fn find(plan: &Path, name: &str) -> Outcome<Option<Kill>> {
    for line in fs::read_to_string(plan.join("plan"))?.lines() {
        let [driver, role, number, phase, delay, victim] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("invalid kill `{line}`").into());
        };
        if format!("{driver} {role} {number}") == name {
            return Ok(Some(Kill {
                name: name.to_owned(),
                phase: phase.to_owned(),
                delay: Duration::from_micros(delay.parse()?),
                runner: victim == "runner",
                none: victim == "none",
                drives: matches!(role, "writer" | "pinger"),
            }));
        }
    }
    Ok(None)
}

/// Relays the control channel between the runner (descriptor 0) and the agent (descriptor 1), and kills the victim.
fn watch(agent: &str, runner: &str, ours: &str, peers: &str) -> Outcome {
    let plan = PathBuf::from(env::var_os("DDSMARK_KILLS").ok_or("DDSMARK_KILLS names no plan")?);
    let (agent, runner) = (Pid::from_raw(agent.parse()?), Pid::from_raw(runner.parse()?));
    let (own, peers) = (find(&plan, ours)?, find(&plan, peers)?);
    let to_runner = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let to_agent = UnixStream::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let during_traffic = own.as_ref().is_some_and(Kill::strikes_during_traffic);
    // this phase must not end before the kill
    let withheld = match &own {
        Some(own) => (!during_traffic).then(|| own.phase.clone()),
        None => peers.filter(Kill::strikes_during_traffic).map(|kill| kill.phase),
    };

    let (from_agent, mut forward) = (to_agent.try_clone()?, to_runner.try_clone()?);
    fs::create_dir_all(plan.join("done"))?;
    let done = own.as_ref().map(|own| plan.join("done").join(&own.name));
    let replies = thread::spawn(move || -> Outcome {
        for line in BufReader::new(from_agent).lines() {
            let line = line?;
            let reply: Reply = serde_json::from_str(&line)?;
            if withheld.as_deref() != Some(reply.phase()) {
                writeln!(forward, "{line}")?;
            }
        }
        // the agent has ended: killed, or before the kill was due
        if let Some(done) = done.filter(|done| !done.exists()) {
            fs::write(done, "late")?;
        }
        exit(0);
    });
    let strike = |phase: &str| -> Outcome {
        match own.as_ref().filter(|own| own.phase == phase) {
            Some(own) if during_traffic => {
                // the other end starts its traffic after this one has answered
                let (plan, own) = (plan.clone(), own.clone());
                thread::spawn(move || murder(&plan, &own, agent, runner));
                Ok(())
            }
            Some(own) => murder(&plan, own, agent, runner),
            None => Ok(()),
        }
    };
    strike(HELLO)?;
    for line in BufReader::new(&to_runner).lines() {
        let line = line?;
        let request: Value = serde_json::from_str(&line)?;
        let phase = request["request"].as_str().unwrap_or_default();
        // only the agent itself ends the last phase: its runner is killed before that
        let runner_first = own.as_ref().is_some_and(|own| own.runner) && phase == "exit";
        if runner_first {
            strike(phase)?;
        }
        writeln!(&to_agent, "{line}")?;
        if !runner_first {
            strike(phase)?;
        }
    }
    // the runner has closed the channel
    to_agent.shutdown(Shutdown::Both)?;
    replies.join().map_err(|_| "the watcher of replies panicked")?
}

fn murder(plan: &Path, own: &Kill, agent: Pid, runner: Pid) -> Outcome {
    let begin = Instant::now();
    while begin.elapsed() < own.delay {
        thread::sleep(own.delay.saturating_sub(begin.elapsed()).min(Duration::from_millis(1)));
    }
    let victim = if own.runner { runner } else { agent };
    let hit = stopped(victim);
    fs::write(plan.join("done").join(&own.name), if hit { "hit" } else { "late" })?;
    kill(victim, Signal::SIGKILL)?;
    Ok(())
}

/// Stops the victim, so that it cannot end in the meantime. Returns false if it has already ended.
fn stopped(victim: Pid) -> bool {
    let begin = Instant::now();
    if kill(victim, Signal::SIGSTOP).is_err() {
        return false;
    }
    while begin.elapsed() < TIME_LIMIT {
        let stat = fs::read_to_string(format!("/proc/{victim}/stat")).unwrap_or_default();
        match stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()) {
            Some('T') => return true,
            None | Some('X' | 'Z') => return false,
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
    false
}
