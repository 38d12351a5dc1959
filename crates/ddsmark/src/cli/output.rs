//! Output: data to stdout, everything else to stderr.

use std::{
    io::{self, IsTerminal as _, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use anstream::{AutoStream, ColorChoice};
use report::{Charset, escaped};

use super::cli_error::{CliError, Result};

/// Prints data to stdout. A closed pipe, such as one to `head`, is not an error.
pub fn print(data: &str) -> Result<()> {
    write(&escaped(data))
}

/// Prints text that is escaped already, and may be coloured, to stdout.
pub fn write(data: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let error = format!("cannot write to stdout: {error}");
            Err(CliError::failed(error, "write to a device with free space, or use `--out DIR`"))
        }
        _ => Ok(()),
    }
}

/// Prints the path of a page, after these words: on a terminal with colours as a link that it opens.
pub fn print_page(words: &str, path: &Path) -> Result<()> {
    let is_link = has_colour() && width().is_some();
    write(&format!("{}report: {}\n", escaped(words), if is_link { link(path) } else { shown(path) }))
}

fn shown(path: &Path) -> String {
    escaped(&path.display().to_string()).into_owned()
}

/// Returns a path with the control sequences (OSC 8) that make it a link; terminals without links show the path alone.
fn link(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("\x1b]8;;{address}\x1b\\{}\x1b]8;;\x1b\\", shown(path))
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::link;

    #[test]
    fn links_have_the_whole_path_and_no_control_character_of_a_name() {
        let linked = link(Path::new("/tmp/a b\x1b\u{e9}/report.html"));
        let shown = linked.strip_prefix("\x1b]8;;file:///tmp/a%20b%1B%C3%A9/report.html\x1b\\");
        let shown = shown.and_then(|rest| rest.strip_suffix("\x1b]8;;\x1b\\")).expect("a link");
        assert!(shown.starts_with("/tmp/a b") && !shown.contains('\x1b'), "{shown:?}");
        assert!(link(Path::new("report.html")).starts_with("\x1b]8;;file:///"), "an absolute path");
    }
}
