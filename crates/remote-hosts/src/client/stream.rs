//! Stream from a steward, up to its greeting.

use std::{fs::File, io::BufReader, time::Instant};

use super::steward_command::Patience;
use crate::framing::{NoGreeting, find_greeting, greeting::last_lines, timed_reader::TimedReader};

/// Number of lines in an error, and of kept lines that were printed before a greeting.
pub(crate) const NOISE_LINES: usize = 4;

/// Stream from a steward.
pub(crate) type Input = BufReader<TimedReader<'static, File>>;

/// Prepares a stream from a steward that has not greeted yet.
pub(crate) fn input_of(stream: File, patience: &Patience) -> Input {
    let mut stream = TimedReader::new(stream, patience.start, Box::new(|| false));
    stream.deadline = Some(Instant::now() + patience.start);
    BufReader::new(stream)
}

/// Waits for the greeting. Returns the last lines before it.
pub(crate) fn greeted(input: &mut Input, patience: &Patience) -> Result<Vec<String>, NoGreeting> {
    let noise = find_greeting(input)?;
    input.get_mut().silence = patience.silence;
    input.get_mut().deadline = None;
    Ok(last_lines(&noise, NOISE_LINES))
}
