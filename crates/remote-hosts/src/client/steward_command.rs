//! Commands that start a steward.

use std::{fmt, process::Command, sync::Arc, time::Duration};

/// Time limits of a steward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the command to the greeting.
    pub start: Duration,
    /// Longest time in which the steward takes no byte. On the stream of a command, in which both sides send a byte every
    /// second, also the longest silence in each direction.
    pub silence: Duration,
    /// For a call, in addition to the time that it takes.
    pub call: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { start: seconds(60), silence: seconds(10), call: seconds(30) }
    }
}

/// Returns the cause and the hint for the last lines that a command printed, if it knows them.
pub type Explain = fn(lines: &[String]) -> Option<(String, String)>;

/// Returns the cause and the hint of the first known message that a line has. Each one has parts of lines, a cause and a hint.
pub(crate) fn known_message(known: &[(&[&str], &str, &str)], lines: &[String]) -> Option<(String, String)> {
    let is_in = |part: &&str| lines.iter().any(|line| line.contains(part));
    let known = known.iter().find(|(parts, ..)| parts.iter().any(is_in));
    known.map(|(_, cause, hint)| ((*cause).to_owned(), (*hint).to_owned()))
}

/// Way to start a steward on a host: a command whose standard streams are those of the steward.
#[derive(Clone)]
pub struct StewardCommand {
    /// Name of the host in messages.
    pub host: String,
    /// Creates the command.
    pub command: Arc<dyn Fn() -> Command + Send + Sync>,
    /// Explains a command that fails.
    pub explain: Explain,
    /// Time limits.
    pub timeouts: Timeouts,
}

impl StewardCommand {
    /// Creates a way to start a steward, with the default time limits.
    pub fn new(host: impl Into<String>, command: impl Fn() -> Command + Send + Sync + 'static) -> Self {
        Self {
            host: host.into(),
            command: Arc::new(command),
            explain: |_| None,
            timeouts: Timeouts::default(),
        }
    }
}

impl fmt::Debug for StewardCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StewardCommand").field("host", &self.host).finish_non_exhaustive()
    }
}
