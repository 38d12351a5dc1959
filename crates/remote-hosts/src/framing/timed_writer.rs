//! Writes to a stream that may not stay stuck.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::AsFd as _,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

/// Writer whose writes fail if the other process takes no byte for some time.
#[derive(Debug)]
pub(crate) struct TimedWriter {
    stream: File,
    limit: Duration,
}

impl TimedWriter {
    /// Limits the writes to a stream, which no longer blocks.
    pub(crate) fn new(stream: File, limit: Duration) -> io::Result<Self> {
        let flags = OFlag::from_bits_retain(fcntl(&stream, FcntlArg::F_GETFL)?);
        fcntl(&stream, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Self { stream, limit })
    }
}

impl Write for TimedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let deadline = Instant::now() + self.limit;
        loop {
            match self.stream.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let wait = PollTimeout::try_from(left.as_millis().max(1)).unwrap_or(PollTimeout::MAX);
            match poll(&mut [PollFd::new(self.stream.as_fd(), PollFlags::POLLOUT)], wait) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::{io::pipe, os::fd::OwnedFd};

    use super::*;

    #[test]
    fn write_fails_if_no_byte_is_taken_within_the_limit() {
        let (_reader, writer) = pipe().expect("a pipe");
        let stream = File::from(OwnedFd::from(writer));
        let mut writer = TimedWriter::new(stream, Duration::from_millis(20)).expect("a stream");
        let error = writer.write_all(&vec![0; 1 << 20]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
