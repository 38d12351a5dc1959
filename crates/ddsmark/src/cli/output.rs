//! Output: data to stdout, everything else to stderr.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use anstream::{AutoStream, ColorChoice};
use report::{Charset, escaped};

use super::cli_error::{CliError, ExitStatus};

/// Prints data to stdout. A closed pipe, such as one to `head`, is not an error.
pub fn print(data: &str) -> Result<(), CliError> {
    write(&escaped(data))
}

/// Prints text that is escaped already, and may be coloured, to stdout.
pub fn write(data: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let error = format!("cannot write to stdout: {error}");
            Err(CliError::new(
                ExitStatus::Failed,
                error,
                "write to a device with free space, or use `--out DIR`",
            ))
        }
        _ => Ok(()),
    }
}

/// Whether progress and notes are not printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether [`note`] prints.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Returns whether progress and notes are not printed.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether values so far are shown between runs.
static LIVE: AtomicBool = AtomicBool::new(false);

/// Sets whether values so far are shown between runs.
pub fn set_live(live: bool) {
    LIVE.store(live, Ordering::Relaxed);
}

/// Returns whether values so far are shown between runs.
pub fn is_live() -> bool {
    LIVE.load(Ordering::Relaxed)
}

/// Prints progress or a note to stderr, unless output is quiet.
pub fn note(text: &str) {
    if !is_quiet() {
        to_stderr(text);
    }
}

/// Prints a message to stderr. Ignores errors.
pub fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escaped(text));
}

/// Returns the width of the terminal on stdout in columns; `None` if stdout is not a terminal.
pub fn width() -> Option<u16> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| width.0)
}

/// Returns the columns and lines of the terminal on stderr; 80 and 24 if they are unknown.
pub fn stderr_size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
}

/// Returns the characters of a picture on stdout; `None` if it is not a terminal.
pub fn charset() -> Option<Charset> {
    // The first of them that has a value decides, as for all programs.
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_string_lossy().to_uppercase();
    let is_unicode = locale.ends_with("UTF-8") || locale.ends_with("UTF8");
    width().map(|_| if is_unicode { Charset::Unicode } else { Charset::Ascii })
}

/// Returns whether stdout is a terminal with colours, unless the environment disables them, as `NO_COLOR` does.
pub fn has_colour() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}
