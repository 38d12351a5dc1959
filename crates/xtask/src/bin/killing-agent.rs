//! Stands in for `ddsmark-agent`, and kills: the real agent, or its runner, in a phase that a plan names.
//!
//! A runner is given this program by `$DDSMARK_AGENT`. It becomes the real agent, beside which a second process carries the
//! control channel between both ends and watches the orders. So the product has no switch for being killed, and what is
//! killed is the real thing. Where the plan names nothing, it becomes the real agent and that is all.
//!
//! `$DDSMARK_KILLS` is the directory of the plan: the file `plan` has a line for each kill,
//! `DRIVER ROLE NUMBER PHASE DELAY_US VICTIM`. `DRIVER` is a name without a version; `NUMBER` counts the launches of that driver and role, from 0; `VICTIM` is
//! `agent` or `runner`. What came of it is left in `done/`: `hit`, or `late` if the victim had ended by then. Where
//! `VICTIM` is `nobody`, the order `configure` of that run is left there when the phase begins, for a test that wants to
//! meddle otherwise.

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

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

/// The first phase, which no order begins.
const HELLO: &str = "hello";
/// A victim that does not even stop is somebody else's trouble.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a line of the plan says.
#[derive(Clone, Debug)]
struct Kill {
    name: String,
    phase: String,
    delay: Duration,
    runner: bool,
    nobody: bool,
    /// Whether the victim's role drives the traffic.
    drives: bool,
}

impl Kill {
    /// A serving agent answers these orders at once, and is to be killed while the traffic of its peer runs.
    fn strikes_during_traffic(&self) -> bool {
        !self.drives && !self.nobody && matches!(self.phase.as_str(), "warm_up" | "measure")
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let failed = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["watch", agent, runner, ours, peers] => watch(agent, runner, ours, peers),
        ["--driver", driver, "--control-fd", control] => become_agent(driver, control),
        _ => Err("this program is started by ddsmark".into()),
    };
    if let Err(error) = failed {
        eprintln!("killing-agent: {error}");
        exit(1);
    }
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Becomes the real agent, watched where the plan says so.
fn become_agent(driver: &str, control: &str) -> Outcome {
    let plan = PathBuf::from(env::var_os("DDSMARK_KILLS").ok_or("DDSMARK_KILLS names no plan")?);
    let program = env::current_exe()?.with_file_name("ddsmark-agent");
    let mut agent = Command::new(program);
    agent.args(["--driver", driver, "--control-fd"]);
    // the log of an agent of a run is `NNNN-ROLE.log`; others have none, and are not killed
    let log = fs::read_link("/proc/self/fd/1")?;
    let role =
        log.file_stem().and_then(|stem| stem.to_str()?.split_once('-')).map(|(_, role)| role.to_owned());
    let Some(role) = role.filter(|role| peer_of(role).is_some()) else {
        return Err(agent.arg(control).exec().into());
    };
    let name = Path::new(driver).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // a name without a version may be a link to a file that has one
    let name = name.trim_start_matches("libddsmark_").split('@').next().unwrap_or_default();
    let number = launches(&plan, &format!("{name} {role}"))?;
    let of = |role: &str| format!("{name} {role} {number}");
    let (ours, peers) = (of(&role), of(peer_of(&role).unwrap_or_default()));
    if let Some(own) = find(&plan, &ours)?.filter(|own| own.nobody) {
        return tell(&plan, &own, agent, control.parse()?);
    }
    let peer_strikes_during_traffic = find(&plan, &peers)?.is_some_and(|kill| kill.strikes_during_traffic());
    if find(&plan, &ours)?.is_none() && !peer_strikes_during_traffic {
        return Err(agent.arg(control).exec().into());
    }
    let control = take(control.parse()?);
    let (to_agent, to_us) = UnixStream::pair()?;
    Command::new(env::current_exe()?)
        .args(["watch", &std::process::id().to_string(), &parent_id().to_string(), &ours, &peers])
        .stdin(Stdio::from(control.try_clone()?))
        .stdout(Stdio::from(OwnedFd::from(to_agent)))
        .spawn()?;
    // both ends of the runner's channel are the watcher's alone from here on
    drop(control);
    Err(agent.arg("0").stdin(Stdio::from(OwnedFd::from(to_us))).exec().into())
}

/// Takes the control channel.
fn take(control: RawFd) -> OwnedFd {
    // SAFETY: it is open, and named on the command line for us to own; called once, and nothing else in this process uses
    // it.
    unsafe { OwnedFd::from_raw_fd(control) }
}

/// Carries the control channel to a child, the real agent, ends as it does, and tells how it was configured.
fn tell(plan: &Path, own: &Kill, mut agent: Command, control: RawFd) -> Outcome {
    let runner = UnixStream::from(take(control));
    let (mut to_agent, to_us) = UnixStream::pair()?;
    let mut child = agent.arg("0").stdin(Stdio::from(OwnedFd::from(to_us))).spawn()?;
    // its end of the channel is the child's alone from here on
    drop(agent);
    let (mut from_agent, mut to_runner) = (to_agent.try_clone()?, runner.try_clone()?);
    thread::spawn(move || -> Outcome {
        std::io::copy(&mut from_agent, &mut to_runner)?;
        exit(child.wait()?.code().unwrap_or(1));
    });
    let mut configure = String::new();
    for line in BufReader::new(runner).lines() {
        let line = line?;
        let order: Value = serde_json::from_str(&line)?;
        writeln!(to_agent, "{line}")?;
        if order["order"] == "configure" {
            configure.clone_from(&line);
        }
        if order["order"] == own.phase.as_str() {
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

/// The other role of a run.
fn peer_of(role: &str) -> Option<&'static str> {
    [("writer", "reader"), ("reader", "writer"), ("pinger", "ponger"), ("ponger", "pinger")]
        .into_iter()
        .find_map(|(one, other)| (one == role).then_some(other))
}

/// How many agents of that name were launched before.
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

/// The kill that the plan has for that launch.
fn find(plan: &Path, name: &str) -> Outcome<Option<Kill>> {
    for line in fs::read_to_string(plan.join("plan"))?.lines() {
        let [driver, role, number, phase, delay, victim] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("`{line}` is no kill").into());
        };
        if format!("{driver} {role} {number}") == name {
            return Ok(Some(Kill {
                name: name.to_owned(),
                phase: phase.to_owned(),
                delay: Duration::from_micros(delay.parse()?),
                runner: victim == "runner",
                nobody: victim == "nobody",
                drives: matches!(role, "writer" | "pinger"),
            }));
        }
    }
    Ok(None)
}

/// Carries the control channel between the runner, on descriptor 0, and the agent, on descriptor 1, and kills.
fn watch(agent: &str, runner: &str, ours: &str, peers: &str) -> Outcome {
    let plan = PathBuf::from(env::var_os("DDSMARK_KILLS").ok_or("DDSMARK_KILLS names no plan")?);
    let (agent, runner) = (Pid::from_raw(agent.parse()?), Pid::from_raw(runner.parse()?));
    let (own, peers) = (find(&plan, ours)?, find(&plan, peers)?);
    let to_runner = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let to_agent = UnixStream::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let during_traffic = own.as_ref().is_some_and(Kill::strikes_during_traffic);
    // the phase of a kill does not end before it
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
            if withheld.as_ref() != Some(&phase_of(&line)?) {
                writeln!(forward, "{line}")?;
            }
        }
        // the agent has ended: by our hand, or before it came to that
        if let Some(done) = done.filter(|done| !done.exists()) {
            fs::write(done, "late")?;
        }
        exit(0);
    });
    let strike = |phase: &str| -> Outcome {
        match own.as_ref().filter(|own| own.phase == phase) {
            Some(own) if during_traffic => {
                // the traffic begins at the other end when this one has answered
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
        let order: Value = serde_json::from_str(&line)?;
        let phase = order["order"].as_str().unwrap_or_default();
        // nothing but the agent itself ends the last phase: its runner is killed before it can
        let runner_first = own.as_ref().is_some_and(|own| own.runner) && phase == "exit";
        if runner_first {
            strike(phase)?;
        }
        writeln!(&to_agent, "{line}")?;
        if !runner_first {
            strike(phase)?;
        }
    }
    // the runner has hung up
    to_agent.shutdown(Shutdown::Both)?;
    replies.join().map_err(|_| "the watcher of replies panicked")?
}

/// The phase that a reply answers.
fn phase_of(line: &str) -> Result<String, serde_json::Error> {
    let reply: Value = serde_json::from_str(line)?;
    let phase = match reply["reply"].as_str().unwrap_or_default() {
        "hello" => HELLO,
        "configured" => "configure",
        "matched" => "match",
        "warmed_up" => "warm_up",
        "measured" => "measure",
        "drained" => "drain",
        "report" => "report",
        "bye" => "exit",
        other => other,
    };
    Ok(phase.to_owned())
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

/// Stops the victim, so that it cannot end by itself meanwhile. False if it has.
fn stopped(victim: Pid) -> bool {
    let begin = Instant::now();
    if kill(victim, Signal::SIGSTOP).is_err() {
        return false;
    }
    while begin.elapsed() < PATIENCE {
        let stat = fs::read_to_string(format!("/proc/{victim}/stat")).unwrap_or_default();
        match stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()) {
            Some('T') => return true,
            None | Some('X' | 'Z') => return false,
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
    false
}
