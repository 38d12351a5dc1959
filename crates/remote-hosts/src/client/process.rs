//! Process that connects to a steward: its streams, its messages and its end.

use std::{
    fmt,
    fs::File,
    io::Read,
    os::{
        fd::OwnedFd,
        unix::process::{CommandExt as _, ExitStatusExt as _},
    },
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

use host::await_exit;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use super::{
    steward_command::{Explain, StewardCommand},
    stream::{Input, NOISE_LINES, greeted, input_of},
};
use crate::{
    framing::greeting::last_lines,
    start_error::{StartError, quoted},
};

/// Number of last bytes of the messages that are kept.
const KEPT_BYTES: usize = 4096;
/// Maximum wait for the exit of a process that has closed its streams, and for its last messages.
const EXIT_PATIENCE: Duration = Duration::from_secs(3);

/// Running command of a steward. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    program: String,
    host: String,
    explain: Explain,
    messages: Arc<Mutex<Vec<u8>>>,
    messages_end: Receiver<()>,
}

/// End of a process, with its last output.
#[derive(Default)]
pub(crate) struct Cause {
    /// `None` if it was killed here.
    pub(crate) status: Option<ExitStatus>,
    /// Text about its end, if it ended by itself.
    pub(crate) ended: Option<String>,
    /// Error and hint for its messages, if they are known.
    pub(crate) known: Option<(String, String)>,
    /// Last lines of its messages.
    pub(crate) lines: Vec<String>,
}

/// Greeted steward: its process, the stream to it, the stream from it, and what was printed before.
pub(crate) type Greeted = (Process, File, Input, Vec<String>);

impl Process {
    /// Starts a command with piped streams.
    pub(crate) fn spawn(
        steward: &StewardCommand,
        mut command: Command,
    ) -> Result<(Self, File, Input), StartError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let cannot = |error: &dyn fmt::Display| {
            let hint = Some(format!("install `{program}`"));
            StartError::of_host(&steward.host, format!("cannot start `{program}`: {error}"), hint)
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in the terminal does not reach it: this process ends it.
        let mut child = command.process_group(0).spawn().map_err(|error| cannot(&error))?;
        let (Some(input), Some(output), Some(printed)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(cannot(&"no standard streams"));
        };
        let messages = Arc::new(Mutex::new(Vec::new()));
        let (ended, messages_end) = channel();
        let kept = Arc::clone(&messages);
        let collect = move || {
            keep_last(printed, &kept);
            let _ = ended.send(());
        };
        let collector = thread::Builder::new().name(format!("log of {}", steward.host)).spawn(collect);
        let (host, explain) = (steward.host.clone(), steward.explain);
        let mut process = Self { child, program, host, explain, messages, messages_end };
        if let Err(error) = collector {
            return Err(process.failed(&error.to_string(), &[]));
        }
        let (input, output) = (OwnedFd::from(input).into(), OwnedFd::from(output).into());
        Ok((process, input, input_of(output, &steward.timeouts)))
    }

    /// Starts the command of a steward and waits for the greeting.
    pub(crate) fn start(steward: &StewardCommand) -> Result<Greeted, StartError> {
        let (mut process, input, mut output) = Self::spawn(steward, (steward.command)())?;
        match greeted(&mut output, &steward.timeouts) {
            Ok(noise) => Ok((process, input, output, noise)),
            Err(error) => Err(process.failed(&error.to_string(), &last_lines(error.noise(), NOISE_LINES))),
        }
    }

    /// Ends the process, and returns the error that it has failed with. `printed` is its output.
    pub(crate) fn failed(&mut self, error: &str, printed: &[String]) -> StartError {
        let Cause { ended, mut lines, .. } = self.cause();
        lines.extend_from_slice(printed);
        let (error, hint) = match (self.explain)(&lines) {
            Some((error, hint)) => (error, Some(hint)),
            None => (ended.map_or_else(|| error.to_owned(), |ended| format!("{error}: {ended}")), None),
        };
        StartError::of_host(&self.host, format!("{error}{}", quoted(&lines)), hint)
    }

    /// Ends the process. It may exit by itself for a short time.
    pub(crate) fn cause(&mut self) -> Cause {
        let by_itself = await_exit(self.pid(), Instant::now() + EXIT_PATIENCE);
        self.kill();
        let status = self.child.wait().ok().filter(|_| by_itself);
        // A process that it started may keep the stream open.
        let _ = self.messages_end.recv_timeout(EXIT_PATIENCE);
        let lines = last_lines(&self.messages.lock().unwrap_or_else(PoisonError::into_inner), NOISE_LINES);
        let ended = status.map(|status| format!("`{}` {}", self.program, words(status)));
        let known = (self.explain)(&lines);
        Cause { status, ended, known, lines }
    }

    /// Waits for the exit of the process, and kills it after `limit`.
    pub(crate) fn end(&mut self, limit: Duration) {
        await_exit(self.pid(), Instant::now() + limit);
        self.kill();
        let _ = self.child.wait();
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Kills the process with those that it started. Until it is reaped, no other process can get its id.
    fn kill(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = killpg(self.pid(), Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, signal) => format!("was killed by signal {}", signal.unwrap_or_default()),
    }
}

/// Reads a stream to its end and keeps its last bytes.
fn keep_last(mut stream: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; KEPT_BYTES];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..bytes]);
        let over = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..over);
    }
}
