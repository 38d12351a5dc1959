//! Sockets in the hosts of a lab, and what a link does to their datagrams. Nothing of ddsmark that measures is in it: UDP sockets, and
//! the clocks of the caller and of the kernel.

use std::{
    fs::File,
    io::{self, IoSliceMut},
    net::UdpSocket,
    os::fd::AsRawFd as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use lab::Lab;
use nix::{
    sched::{CloneFlags, setns},
    sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt},
};

/// Time limit of each receive call.
pub const LIMIT: Duration = Duration::from_secs(30);
/// Bytes of the receive buffer of a stream.
const BUFFER_BYTES: usize = 64 << 20;
/// Interval of the looks at the counters of a lab while no datagram of a stream arrives.
const LOOK: Duration = Duration::from_millis(200);
/// Time after which no further datagram of a stream is expected, if the lab dropped frames of it.
const SILENCE: Duration = Duration::from_secs(2);
/// Largest payload of a datagram in bytes that is one frame over a link with the MTU of Ethernet.
const UNFRAGMENTED: usize = 1_472;
/// Time between two pings, in which queues and token buckets recover.
const PAUSE: Duration = Duration::from_millis(1);

/// Calls `work` on a thread in a host. Sockets that it opens stay there.
///
/// # Panics
/// Panics if the lab is down, and if `work` panics.
pub fn inside<T: Send>(lab: &Lab, host: usize, work: impl FnOnce() -> T + Send) -> T {
    let namespace = File::open(Path::new("/run/netns").join(&lab.hosts()[host].namespace));
    let namespace = namespace.expect("the lab is up");
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("a lab needs the same privileges");
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Opens a UDP socket in a host, on any port of its address, with a time limit for receiving.
///
/// # Errors
/// Returns an error if the socket cannot be opened.
pub fn socket(lab: &Lab, host: usize) -> io::Result<UdpSocket> {
    let address = lab.hosts()[host].address;
    let socket = inside(lab, host, || UdpSocket::bind((address, 0)))?;
    socket.set_read_timeout(Some(LIMIT))?;
    Ok(socket)
}

/// Returns the round-trip times of pings of a size from the first host to the second, sorted. There is 1 ms between two.
///
/// # Errors
/// Returns an error if a socket fails, or if a ping does not return.
pub fn round_trips(lab: &Lab, size: usize, count: usize) -> io::Result<Vec<Duration>> {
    let (pinger, echo) = (socket(lab, 0)?, socket(lab, 1)?);
    let to = echo.local_addr()?;
    thread::scope(|scope| {
        let echoing = scope.spawn(|| -> io::Result<()> {
            let mut buffer = vec![0; 65_536];
            for _ in 0..count {
                let (length, from) = echo.recv_from(&mut buffer)?;
                echo.send_to(&buffer[..length], from)?;
            }
            Ok(())
        });
        let mut buffer = vec![7; 65_536];
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let begin = Instant::now();
            pinger.send_to(&buffer[..size], to)?;
            let length = pinger.recv(&mut buffer)?;
            times.push(begin.elapsed());
            if length != size {
                return Err(io::Error::other(format!("a ping of {size} bytes returned with {length}")));
            }
            thread::sleep(PAUSE);
        }
        times.sort();
        echoing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(times)
    })
}

/// Datagrams of a stream that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    /// Payload bytes in the last nine tenths, without those of the first datagram of them.
    pub bytes: f64,
    /// Time between the first and the last arrival of them, by the kernel's time stamps.
    pub duration: Duration,
    /// Number of all datagrams that arrived.
    pub count: u32,
    /// Frames that the lab counted as dropped meanwhile, with those of the kernel itself.
    pub dropped: u64,
}

impl Arrivals {
    /// Returns the rate of the payload in bit/s.
    #[must_use]
    pub fn bit_per_s(&self) -> f64 {
        self.bytes * 8.0 / self.duration.as_secs_f64()
    }
}

/// Sends datagrams from the first host to the second as fast as its socket allows.
///
/// # Errors
/// Returns an error if a socket or a counter fails, or if fewer than two datagrams arrive.
pub fn stream(lab: &Lab, size: usize, count: u32) -> io::Result<Arrivals> {
    let (writer, reader) = (socket(lab, 0)?, socket(lab, 1)?);
    setsockopt(&reader, sockopt::RcvBufForce, &BUFFER_BYTES)?;
    setsockopt(&reader, sockopt::ReceiveTimestampns, &true)?;
    let to = reader.local_addr()?;
    let mut buffer = vec![0; 65_536];
    // While the kernel asks for the address of the other host, it drops datagrams without counting them.
    writer.send_to(&[0], to)?;
    reader.recv(&mut buffer)?;
    let before = dropped(lab)?;
    let since = || Ok::<_, io::Error>(dropped(lab)?.saturating_sub(before));
    reader.set_read_timeout(Some(LOOK))?;
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let payload = vec![7; size];
            (0..count).try_for_each(|_| writer.send_to(&payload, to).map(drop))
        });
        let (mut times, mut last) = (Vec::new(), Instant::now());
        while times.len() < count as usize {
            match receive(&reader, &mut buffer) {
                Ok((length, time)) if length == size => {
                    times.push(time);
                    last = Instant::now();
                }
                Ok((length, _)) => return Err(io::Error::other(format!("a datagram has {length} bytes"))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let missing = u64::from(count) - times.len() as u64;
                    // The fragments of a datagram may be dropped apart.
                    let is_accounted = match since()? {
                        0 => false,
                        frames if size <= UNFRAGMENTED => frames >= missing,
                        _ => last.elapsed() >= SILENCE,
                    };
                    if last.elapsed() >= LIMIT || is_accounted && sending.is_finished() {
                        break;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let counted = &times[times.len() / 10..];
        let (Some(first), Some(last), 2..) = (counted.first(), counted.last(), counted.len()) else {
            return Err(io::Error::other(format!("{} of {count} datagrams arrived", times.len())));
        };
        let bytes = (counted.len() - 1) as f64 * size as f64;
        let arrived = u32::try_from(times.len()).unwrap_or(u32::MAX);
        Ok(Arrivals { bytes, duration: *last - *first, count: arrived, dropped: since()? })
    })
}

/// Returns the frames that the lab has counted as dropped.
fn dropped(lab: &Lab) -> io::Result<u64> {
    lab.counters().map(|counters| counters.dropped()).map_err(io::Error::other)
}

/// Receives a datagram. Returns its length and when it arrived.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, Duration)> {
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty())?;
    let time = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(time) => Some(time.into()),
        _ => None,
    });
    Ok((message.bytes, time.ok_or_else(|| io::Error::other("a datagram has no time stamp"))?))
}
