//! Step of an installation: a script with a time limit that leaves no process behind.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use host::await_exit;
use nix::{
    sys::{
        memfd::{MFdFlags, memfd_create},
        signal::{Signal, killpg},
    },
    unistd::Pid,
};

use super::install_error::InstallError;
use crate::stop_token::StopToken;

/// Maximum delay until a stop request is noticed.
const GLANCE: Duration = Duration::from_millis(50);
/// Time that a script gets to end after SIGTERM.
const COURTESY: Duration = Duration::from_secs(5);
/// Maximum number of bytes read from a script's standard output.
const MOST_OUTPUT: u64 = 1 << 20;

/// Runs a script of an installation and returns its standard output.
pub(super) fn execute(
    driver: &str,
    script: &Path,
    command: &mut Command,
    limit: Duration,
    stop: &StopToken,
) -> Result<String, InstallError> {
    let (ended, text) = run(command, limit, stop).map_err(|error| {
        let hint = "check that `bash` and `sh` are installed, and that the script is executable";
        InstallError::failed(format!("cannot run `{}`: {error}", script.display()), hint)
    })?;
    let (driver, step) =
        (driver.to_owned(), script.file_name().unwrap_or(OsStr::new("")).display().to_string());
    match ended {
        StepOutcome::Itself(status) if status.success() => Ok(text),
        StepOutcome::Itself(status) => {
            Err(InstallError::Step { driver, step, how: format!("failed ({status})") })
        }
        StepOutcome::OutOfTime => {
            let limit = limit.as_secs_f64();
            let error = format!("cannot install driver `{driver}`: {step} timed out after {limit} s");
            Err(InstallError::failed(error, "increase the limit: `--limit 2h`"))
        }
        StepOutcome::Stopped => Err(InstallError::Stopped),
    }
}

/// End of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepOutcome {
    Itself(ExitStatus),
    OutOfTime,
    Stopped,
}

/// Runs a command to its end and returns its standard output. Its standard error goes to that of this program. It
/// runs in its own process group: all processes that it started end with it.
fn run(command: &mut Command, limit: Duration, stop: &StopToken) -> io::Result<(StepOutcome, String)> {
    let mut output = File::from(memfd_create(c"ddsmark-step", MFdFlags::MFD_CLOEXEC)?);
    let mut child = command.stdin(Stdio::null()).stdout(output.try_clone()?).process_group(0).spawn()?;
    let group = Pid::from_raw(child.id().cast_signed());
    let deadline = Instant::now() + limit;
    let cut_short = loop {
        if await_exit(group, deadline.min(Instant::now() + GLANCE)) {
            break None;
        }
        if stop.requested() {
            break Some(StepOutcome::Stopped);
        }
        if Instant::now() >= deadline {
            break Some(StepOutcome::OutOfTime);
        }
    };
    if cut_short.is_some() {
        // Processes that have exited in the meantime are not an error here.
        let _ = killpg(group, Signal::SIGTERM);
        await_exit(group, Instant::now() + COURTESY);
    }
    // While the process is not reaped, no other process group can get this id.
    let _ = killpg(group, Signal::SIGKILL);
    let status = child.wait()?;
    let mut text = Vec::new();
    output.seek(SeekFrom::Start(0))?;
    output.take(MOST_OUTPUT).read_to_end(&mut text)?;
    Ok((cut_short.unwrap_or(StepOutcome::Itself(status)), String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, stop: &StopToken) -> (StepOutcome, String) {
        run(Command::new("sh").args(["-c", script]), limit, stop).unwrap()
    }

    /// Returns whether the process exists and has not exited.
    fn lives(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    #[test]
    fn step_returns_its_output_and_exit_status() {
        let (ended, text) = shell("echo one; exit 3", Duration::from_secs(60), &StopToken::new());
        assert!(matches!(ended, StepOutcome::Itself(status) if status.code() == Some(3)), "{ended:?}");
        assert_eq!(text, "one\n");
    }

    #[test]
    fn timed_out_step_leaves_no_process() {
        // The shell waits for a child that ignores SIGTERM.
        let script = "sh -c 'trap \"\" TERM; sleep 600' & echo $!; wait";
        let (ended, text) = shell(script, Duration::from_millis(200), &StopToken::new());
        assert_eq!(ended, StepOutcome::OutOfTime);
        let pid = text.trim();
        assert!(!pid.is_empty());
        let limit = Instant::now() + Duration::from_secs(10);
        while lives(pid) {
            assert!(Instant::now() < limit, "process {pid} is left");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn stop_request_ends_it() {
        let stop = StopToken::new();
        stop.request();
        let (ended, _) = shell("sleep 600", Duration::from_secs(500), &stop);
        assert_eq!(ended, StepOutcome::Stopped);
    }
}
