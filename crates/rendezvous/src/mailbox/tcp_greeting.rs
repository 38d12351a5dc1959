//! Greetings of connections over TCP, and the accepted connections that have not sent theirs. Anyone may connect.

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, TcpStream},
    os::fd::AsFd as _,
    time::{Duration, Instant},
};

use nix::poll::{PollFd, PollFlags};

/// First bytes of each side.
const GREETING: &[u8; 16] = b"ddsmark peers 1\n";
/// Maximum time for the whole greeting of the other side.
const GREETING_LIMIT: Duration = Duration::from_secs(5);
/// Maximum time that a write may block: the other side does not read.
const WRITE_LIMIT: Duration = Duration::from_secs(20);
/// Maximum number of accepted connections without a greeting.
pub const MAX_STRANGERS: usize = 64;

/// Greeting of the other side, read as it arrives.
#[derive(Debug)]
struct Greeting {
    since: Instant,
    read: usize,
}

impl Greeting {
    /// Sends the own greeting, and starts the time for that of the other side.
    fn send(stream: &TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_LIMIT))?;
        (&mut &*stream).write_all(GREETING)?;
        Ok(Self { since: Instant::now(), read: 0 })
    }

    /// Returns the time that is left.
    fn left(&self) -> Duration {
        GREETING_LIMIT.saturating_sub(self.since.elapsed())
    }

    /// Reads once. Returns whether the greeting is complete.
    fn read(&mut self, mut stream: &TcpStream) -> io::Result<bool> {
        let mut found = [0; GREETING.len()];
        let rest = &GREETING[self.read..];
        match stream.read(&mut found[..rest.len()]) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) if found[..count] != rest[..count] => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "another program answers there"))
            }
            Ok(count) => {
                self.read += count;
                Ok(self.read == GREETING.len())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Exchanges greetings over a connection that this process made.
///
/// # Errors
/// Returns an error if the other side does not greet in time, or if it is another program.
pub(super) fn greet(stream: &TcpStream) -> io::Result<()> {
    let mut greeting = Greeting::send(stream)?;
    loop {
        let left = greeting.left();
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no greeting of ddsmark"));
        }
        stream.set_read_timeout(Some(left))?;
        if greeting.read(stream)? {
            // From now on, the silence of a peer is noticed by whoever expects samples of it.
            return stream.set_read_timeout(None);
        }
    }
}

/// Accepted connections that have not sent their greeting.
#[derive(Debug, Default)]
pub(super) struct Strangers(Vec<Stranger>);

#[derive(Debug)]
struct Stranger {
    stream: TcpStream,
    address: IpAddr,
    greeting: Greeting,
}

impl Strangers {
    /// Adds a connection. If there are too many, closes the oldest one of the address with most of them, so that a stranger
    /// only gets into its own way.
    ///
    /// # Errors
    /// Returns an error if the connection has failed; it is closed.
    pub(super) fn add(&mut self, stream: TcpStream, address: IpAddr) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        // The queue of a new connection has room for it.
        let greeting = Greeting::send(&stream)?;
        self.0.push(Stranger { stream, address, greeting });
        if self.0.len() > MAX_STRANGERS {
            let count = |of: IpAddr| self.0.iter().filter(|other| other.address == of).count();
            // The first one of several, which is the oldest one.
            let crowded = self.0.iter().rev().max_by_key(|stranger| count(stranger.address));
            let address = crowded.map(|stranger| stranger.address);
            self.0.remove(self.0.iter().position(|other| Some(other.address) == address).unwrap_or(0));
        }
        Ok(())
    }

    /// Returns the connections that have greeted. Closes those of other programs, and those whose time is over.
    pub(super) fn greeted(&mut self) -> Vec<TcpStream> {
        let mut greeted = Vec::new();
        for mut stranger in std::mem::take(&mut self.0) {
            match stranger.greeting.read(&stranger.stream) {
                Ok(true) => greeted.push(stranger.stream),
                Ok(false) if !stranger.greeting.left().is_zero() => self.0.push(stranger),
                Ok(false) | Err(_) => {}
            }
        }
        greeted
    }

    /// Returns what to wait for, beside the end of their times.
    pub(super) fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.0.iter().map(|stranger| PollFd::new(stranger.stream.as_fd(), PollFlags::POLLIN))
    }
}
