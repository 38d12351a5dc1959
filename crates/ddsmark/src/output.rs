//! Data on stdout, everything else on stderr.

use std::io::{self, IsTerminal as _, Write as _};

use crate::problem::{Problem, Status};

/// Prints data. A reader that has seen enough, such as `head`, is no error.
pub fn print(data: &str) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let error = format!("cannot write to stdout: {error}");
            Err(Problem::new(Status::Failed, error, "write to a place with room, or use `--out DIR`"))
        }
        _ => Ok(()),
    }
}

/// Says something that is no data. If nobody can hear it, that changes nothing.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The columns of the terminal that data goes to, if it goes to one.
pub fn width() -> Option<u16> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| width.0)
}
