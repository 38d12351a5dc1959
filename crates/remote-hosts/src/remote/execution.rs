//! Commands that are executed to their end, within a time limit.

use std::{
    fs::File,
    io::{self, Read as _},
    process::{Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use crate::{
    client::{
        process::Process,
        steward_command::{Explain, StewardCommand, Timeouts},
        stream::Input,
    },
    framing::greeting::last_lines,
    start_error::StartError,
};

/// Maximum output of a command in bytes.
const OUTPUT_BYTES: u64 = 256 << 10;

/// Executes a command for a host. `feed` writes its input. Returns its output.
///
/// # Errors
/// Returns an error if the command fails or does not end in time. It begins with `failed`.
pub(crate) fn execute(
    (host, explain): (&str, Explain),
    command: Command,
    limit: Duration,
    failed: &str,
    feed: impl FnOnce(&mut File) -> io::Result<()> + Send + 'static,
) -> Result<String, StartError> {
    let mut like = StewardCommand::new(host, || Command::new("true"));
    like.explain = explain;
    like.timeouts = Timeouts { start: limit, ..Timeouts::default() };
    let (mut process, mut input, output) = Process::spawn(&like, command)?;
    // A command that ends early reports why.
    let fed = thread::Builder::new().name(format!("input of {host}")).spawn(move || {
        let _ = feed(&mut input);
    });
    if let Err(error) = fed {
        return Err(process.failed(&error.to_string(), &[]));
    }
    let mut text = Vec::new();
    match read_all(output, limit, &mut text) {
        Ok(()) => match process.cause().status {
            Some(status) if ExitStatus::success(&status) => Ok(String::from_utf8_lossy(&text).into_owned()),
            _ => Err(process.failed(failed, &last_lines(&text, 2))),
        },
        Err(error) => Err(process.failed(&format!("{failed}: {error}"), &[])),
    }
}

/// Reads the output of a command to its end.
fn read_all(mut output: Input, limit: Duration, text: &mut Vec<u8>) -> io::Result<()> {
    output.get_mut().deadline = Some(Instant::now() + limit);
    output.take(OUTPUT_BYTES).read_to_end(text).map(drop)
}
