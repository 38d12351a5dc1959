//! Stream from a steward, up to its greeting.

use std::{fs::File, io::BufReader, time::Instant};

use super::steward_command::Timeouts;
use crate::framing::{NoGreeting, find_greeting, greeting::last_lines, timed_reader::TimedReader};

/// Number of lines in an error, and of kept lines that were printed before a greeting.
pub(crate) const NOISE_LINES: usize = 4;

/// Stream from a steward.
pub(crate) type Input = BufReader<TimedReader<'static, File>>;

/// Prepares a stream from a steward that has not greeted yet.
pub(crate) fn input_of(stream: File, timeouts: &Timeouts) -> Input {
    let mut stream = TimedReader::new(stream, timeouts.start, Box::new(|| false));
    stream.deadline = Some(Instant::now() + timeouts.start);
    BufReader::new(stream)
}

/// Waits for the greeting. Returns the last lines before it.
pub(crate) fn greeted(input: &mut Input, timeouts: &Timeouts) -> Result<Vec<String>, NoGreeting> {
    let noise = find_greeting(input)?;
    input.get_mut().silence = Some(timeouts.silence);
    input.get_mut().deadline = None;
    Ok(last_lines(&noise, NOISE_LINES))
}
