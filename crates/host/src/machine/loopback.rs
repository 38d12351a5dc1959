//! Capacity of this host between processes: bytes and small messages over loopback connections, and copies in memory.
//!
//! All cores work at the same time, in pairs of a sending and a receiving thread. Connections need fewer system calls and copies than
//! middleware does, so a system that needs much more than this is not carried.

use std::{
    hint::black_box,
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use super::cores::allowed_cores;

/// Bytes of a large and of a small message.
const LARGE: usize = 64 * 1024;
const SMALL: usize = 64;
/// Duration of each of the three measurements.
const LENGTH: Duration = Duration::from_millis(100);
/// Messages, or copies, from one look at the clock to the next.
const BETWEEN_LOOKS: usize = 8;
/// Maximum number of pairs of threads.
const MOST_PAIRS: usize = 32;
/// Maximum wait for a socket.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Bytes of a copy in memory: more than caches of a core hold.
const COPIED: usize = 8 << 20;

/// Highest rates that this host carried between its threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopbackCapacity {
    /// Payload over loopback connections, in bit/s.
    pub bit_per_s: f64,
    /// Messages of 64 bytes over loopback connections, one write call each, in messages/s.
    pub messages_per_s: f64,
    /// Copies in memory by all cores, in bit/s.
    pub copied_bit_per_s: f64,
    /// Number of connections at the same time.
    pub pairs: u32,
}

/// Measures the capacity. Blocks for about a third of a second.
///
/// # Errors
/// Returns an error if a connection fails.
pub(crate) fn measure() -> io::Result<LoopbackCapacity> {
    let cores = allowed_cores().len().max(1);
    let pairs = (cores / 2).clamp(1, MOST_PAIRS);
    let of_all = |bytes: usize| -> io::Result<f64> {
        let rates = together(pairs, || transfer(bytes));
        rates.into_iter().sum()
    };
    let copies: f64 = together(cores.min(2 * MOST_PAIRS), copy).into_iter().sum();
    Ok(LoopbackCapacity {
        bit_per_s: 8.0 * of_all(LARGE)?,
        messages_per_s: of_all(SMALL)? / SMALL as f64,
        copied_bit_per_s: 8.0 * copies,
        pairs: pairs as u32,
    })
}

/// Returns what this many threads return that work at the same time.
fn together<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        all.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

/// Sends messages over a connection of its own. Returns the received bytes/s.
fn transfer(message: usize) -> io::Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut sender = TcpStream::connect(listener.local_addr()?)?;
    let (mut receiver, _) = listener.accept()?;
    sender.set_nodelay(true)?;
    sender.set_write_timeout(Some(TIME_LIMIT))?;
    receiver.set_read_timeout(Some(TIME_LIMIT))?;
    let began = Instant::now();
    thread::scope(|scope| {
        let received = scope.spawn(move || -> io::Result<u64> {
            let mut buffer = vec![0; 4 * LARGE];
            let mut all = 0;
            loop {
                match receiver.read(&mut buffer)? {
                    0 => return Ok(all),
                    bytes => all += bytes as u64,
                }
            }
        });
        let bytes = vec![0x5a; message];
        let sent = (|| {
            while began.elapsed() < LENGTH {
                (0..BETWEEN_LOOKS).try_for_each(|_| sender.write_all(&bytes))?;
            }
            Ok(())
        })();
        let _ = sender.shutdown(Shutdown::Write);
        let all = received.join().expect("it does not panic")?;
        sent.map(|()| all as f64 / began.elapsed().as_secs_f64())
    })
}

/// Copies buffers. Returns the bytes/s.
fn copy() -> f64 {
    let (from, mut to) = (vec![0x5a_u8; COPIED], vec![0_u8; COPIED]);
    let (began, mut copies) = (Instant::now(), 0_u32);
    while began.elapsed() < LENGTH {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        copies += 1;
    }
    f64::from(copies) * COPIED as f64 / began.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_a_host_that_exists() {
        let began = Instant::now();
        let capacity = measure().expect("loopback");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        // A host that carries less than 10 Mbit/s runs no test; none copies 10^15 bit/s.
        assert!((1e7..1e15).contains(&capacity.bit_per_s), "{capacity:?}");
        assert!((1e3..1e10).contains(&capacity.messages_per_s), "{capacity:?}");
        assert!((1e7..1e15).contains(&capacity.copied_bit_per_s), "{capacity:?}");
        // Small messages carry fewer bytes.
        assert!(8.0 * SMALL as f64 * capacity.messages_per_s < capacity.bit_per_s, "{capacity:?}");
        assert!(capacity.pairs >= 1, "{capacity:?}");
    }
}
