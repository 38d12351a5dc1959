//! Reads of a stream that may not stay silent.

use std::{
    fmt,
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Longest wait between two looks at the condition to stop.
const LOOK: Duration = Duration::from_secs(1);

/// Condition to stop reading.
pub(crate) type Stop<'a> = Box<dyn Fn() -> bool + Send + 'a>;

/// Reader whose reads fail after some time without a byte, after a deadline, or on request. The last looks like the end of
/// the stream.
pub(crate) struct TimedReader<'a, R> {
    stream: R,
    /// Maximum time without a byte; `None` if the stream itself ends when the other process is lost.
    pub(crate) silence: Option<Duration>,
    /// Time after which every read fails.
    pub(crate) deadline: Option<Instant>,
    /// Request to stop.
    pub(crate) stop: Stop<'a>,
}

/// Silence of a stream.
#[derive(Debug)]
struct Silence(Duration);

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no byte for {} s", self.0.as_secs_f64())
    }
}

impl std::error::Error for Silence {}

/// Returns the time without a byte, if that is the error.
pub(crate) fn silence_of(error: &io::Error) -> Option<Duration> {
    error.get_ref()?.downcast_ref::<Silence>().map(|silence| silence.0)
}

impl<'a, R> TimedReader<'a, R> {
    pub(crate) fn new(stream: R, silence: Duration, stop: Stop<'a>) -> Self {
        Self { stream, silence: Some(silence), deadline: None, stop }
    }
}

impl<R: Read + AsFd> Read for TimedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let began = Instant::now();
        loop {
            if (self.stop)() {
                return Ok(0);
            }
            let now = Instant::now();
            let silent = self.silence.map(|silence| began + silence);
            let left =
                silent.into_iter().chain(self.deadline).min().map(|end| end.saturating_duration_since(now));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, Silence(now - began)));
            }
            if is_readable(self.stream.as_fd(), left.unwrap_or(LOOK).min(LOOK))? {
                return self.stream.read(buffer);
            }
        }
    }
}

/// Waits until a stream has bytes or has ended. Returns whether it has.
fn is_readable(stream: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    let limit = PollTimeout::try_from(limit.as_millis().max(1)).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(stream, PollFlags::POLLIN)], limit) {
        Ok(ready) => Ok(ready > 0),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Write as _, pipe},
        sync::atomic::{AtomicBool, Ordering},
    };

    use super::*;

    #[test]
    fn silent_stream_is_an_error_and_bytes_are_not() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let mut reader = TimedReader::new(reader, Duration::from_millis(20), Box::new(|| false));
        writer.write_all(b"ab").expect("bytes");
        assert_eq!(reader.read(&mut [0; 8]).expect("bytes"), 2);
        let error = reader.read(&mut [0; 8]).unwrap_err();
        assert!(silence_of(&error).is_some_and(|silence| silence >= Duration::from_millis(20)), "{error}");
        drop(writer);
        assert_eq!(reader.read(&mut [0; 8]).expect("the end"), 0);
    }

    #[test]
    fn stream_without_a_limit_may_stay_silent() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let mut reader = TimedReader::new(reader, Duration::from_millis(20), Box::new(|| false));
        reader.silence = None;
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            writer.write_all(b"ab").expect("bytes");
        });
        assert_eq!(reader.read(&mut [0; 8]).expect("bytes"), 2);
        late.join().expect("no panic");
        assert_eq!(reader.read(&mut [0; 8]).expect("the end"), 0);
    }

    #[test]
    fn deadline_and_stop_end_a_stream_with_bytes() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let stop = AtomicBool::new(false);
        let stopped = Box::new(|| stop.load(Ordering::Relaxed));
        let mut reader = TimedReader::new(reader, Duration::from_secs(60), stopped);
        writer.write_all(b"abc").expect("bytes");
        assert_eq!(reader.read(&mut [0; 1]).expect("bytes"), 1);
        reader.deadline = Some(Instant::now());
        assert!(silence_of(&reader.read(&mut [0; 1]).unwrap_err()).is_some());
        reader.deadline = None;
        stop.store(true, Ordering::Relaxed);
        assert_eq!(reader.read(&mut [0; 1]).expect("the end"), 0);
    }
}
