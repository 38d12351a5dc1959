//! Reference measurement: round trip and rate of a bare UDP socket, to show how the host changed between two results.
//!
//! Two threads of this process execute it, on the cores of the writer and the reader of a run. First one datagram at a
//! time is sent back and forth; then datagrams are sent with at most [`WINDOW`] in flight, which avoids drops.
//! Samples of a middleware use the same system calls and wake-ups, and more.

use std::{
    io,
    net::{Ipv4Addr, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use results::Reference;
use stats::supports_quantile;

use super::cores::pin_to;

/// Size of every datagram in bytes.
const BYTES: usize = 64;
/// Maximum number of datagrams in flight during the rate measurement.
const WINDOW: u32 = 64;
/// Number of received datagrams per acknowledgment.
const ACKNOWLEDGED: u32 = WINDOW / 2;
/// Maximum wait for a datagram.
const TIME_LIMIT: Duration = Duration::from_millis(100);
/// Inverse of the warm-up share of each phase: the first tenth does not count.
const WARM_UP: u32 = 10;
/// Minimum number of round trips: on a busy host the phase continues until they have a 99 % quantile ...
const ENOUGH_ROUND_TRIPS: u64 = 300;
/// ... minimum number of acknowledgments of the rate phase ...
const ENOUGH_ACKNOWLEDGMENTS: u64 = 20;
/// ... and the maximum duration of a phase.
const MAX_PHASE: Duration = Duration::from_secs(1);
/// Maximum number of round trips that are recorded.
const MAX_ROUND_TRIPS: usize = 1 << 16;

/// First byte of a datagram.
const PING: u8 = 0;
const SAMPLE: u8 = 1;
const END: u8 = 2;

/// Measures the reference between these cores for `length_ns`; without cores the scheduler chooses. Blocks for about
/// that time; on a busy host for at most 2 s.
///
/// # Errors
/// Returns an error if a thread cannot be started or pinned, or if datagrams do not arrive.
pub(crate) fn measure(
    sender_cores: &[u32],
    receiver_cores: &[u32],
    length_ns: u64,
) -> Result<Reference, String> {
    let sockets = || -> io::Result<(UdpSocket, UdpSocket)> {
        let (sender, receiver) = (bind()?, bind()?);
        sender.connect(receiver.local_addr()?)?;
        receiver.connect(sender.local_addr()?)?;
        Ok((sender, receiver))
    };
    let (sender, receiver) = sockets().map_err(|error| format!("UDP socket: {error}"))?;
    let ended = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        let builder = thread::Builder::new().name("reference-echo".to_owned());
        let echo = builder.spawn_scoped(scope, || echo(&receiver, receiver_cores, &ended));
        let echo = echo.map_err(|error| format!("thread: {error}"))?;
        let builder = thread::Builder::new().name("reference".to_owned());
        let ping = builder.spawn_scoped(scope, || {
            let measured = send(&sender, sender_cores, Duration::from_nanos(length_ns / 2));
            ended.store(true, Ordering::Relaxed);
            // If this is lost, the echo thread ends after its receive timeout.
            let _ = sender.send(&[END; BYTES]);
            measured
        });
        let measured = match ping {
            Ok(ping) => ping.join().expect("it does not panic").map_err(|error| error.to_string()),
            Err(error) => {
                ended.store(true, Ordering::Relaxed);
                Err(format!("thread: {error}"))
            }
        };
        echo.join().expect("it does not panic").map_err(|error| error.to_string())?;
        measured
    })?;
    let ReferenceReadings { mut round_trips_ns, samples, elapsed } = measured;
    round_trips_ns.sort_unstable();
    let n = round_trips_ns.len() as u64;
    let quantile = |q: f64| {
        let rank = (q * n as f64).ceil().max(1.0) as usize;
        supports_quantile(n, q).then(|| round_trips_ns[rank - 1] as f64)
    };
    let rtt_p50_ns = quantile(0.5).ok_or_else(|| format!("only {n} round trips in {length_ns} ns"))?;
    if samples == 0 {
        return Err(format!("no samples in {length_ns} ns"));
    }
    Ok(Reference {
        length_ns,
        rtt_p99_ns: quantile(0.99),
        rtt_p50_ns,
        round_trips: n,
        samples,
        rate_sps: samples as f64 / elapsed.as_secs_f64(),
        sender_cores: sender_cores.to_vec(),
        receiver_cores: receiver_cores.to_vec(),
    })
}

fn bind() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_read_timeout(Some(TIME_LIMIT))?;
    socket.set_write_timeout(Some(TIME_LIMIT))?;
    Ok(socket)
}

/// Measurements of the two phases.
struct ReferenceReadings {
    round_trips_ns: Vec<u64>,
    /// Number of acknowledged samples, and the time between the first and the last of these acknowledgments.
    samples: u64,
    elapsed: Duration,
}

/// Sends for `phase` one datagram at a time, then for the same time as fast as the window allows.
fn send(socket: &UdpSocket, cores: &[u32], phase: Duration) -> io::Result<ReferenceReadings> {
    pin_to(cores)?;
    let mut round_trips_ns = Vec::with_capacity(MAX_ROUND_TRIPS);
    let (mut ping, mut buffer) = ([PING; BYTES], [0; BYTES]);
    let began = Instant::now();
    let mut number = 0_u64;
    while !is_over(began.elapsed(), phase, round_trips_ns.len() as u64 >= ENOUGH_ROUND_TRIPS)
        && round_trips_ns.len() < MAX_ROUND_TRIPS
    {
        number += 1;
        ping[8..16].copy_from_slice(&number.to_ne_bytes());
        let sent = Instant::now();
        socket.send(&ping)?;
        // The echo of an earlier ping may arrive first.
        while is_received(socket.recv(&mut buffer))? {
            if buffer[8..16] == ping[8..16] {
                if sent - began > phase / WARM_UP {
                    round_trips_ns.push(sent.elapsed().as_nanos() as u64);
                }
                break;
            }
        }
    }
    let sample = [SAMPLE; BYTES];
    let (mut in_flight, mut samples, mut first, mut last) = (0_u32, 0_u64, None, None);
    let began = Instant::now();
    loop {
        while in_flight < WINDOW {
            socket.send(&sample)?;
            in_flight += 1;
        }
        let acknowledged = is_received(socket.recv(&mut buffer))? && buffer[0] == SAMPLE;
        let now = Instant::now();
        // Samples that are not acknowledged in time are lost.
        in_flight = if acknowledged { in_flight.saturating_sub(ACKNOWLEDGED) } else { 0 };
        if acknowledged && now - began > phase / WARM_UP {
            samples += if first.is_some() { u64::from(ACKNOWLEDGED) } else { 0 };
            first.get_or_insert(now);
            last = Some(now);
        }
        if is_over(now - began, phase, samples >= ENOUGH_ACKNOWLEDGMENTS * u64::from(ACKNOWLEDGED)) {
            break;
        }
    }
    let elapsed = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
    Ok(ReferenceReadings { round_trips_ns, samples, elapsed })
}

/// Returns whether a phase has ended.
fn is_over(elapsed: Duration, phase: Duration, enough: bool) -> bool {
    elapsed >= phase && (enough || elapsed >= MAX_PHASE)
}

/// Echoes pings and acknowledges samples.
fn echo(socket: &UdpSocket, cores: &[u32], ended: &AtomicBool) -> io::Result<()> {
    pin_to(cores)?;
    let mut buffer = [0; BYTES];
    let mut received = 0;
    while !ended.load(Ordering::Relaxed) {
        if !is_received(socket.recv(&mut buffer))? {
            received = 0;
            continue;
        }
        match buffer[0] {
            END => break,
            SAMPLE => {
                received += 1;
                if received % ACKNOWLEDGED == 0 {
                    socket.send(&buffer)?;
                }
            }
            _ => {
                socket.send(&buffer)?;
            }
        }
    }
    Ok(())
}

/// Returns whether a datagram was received in time.
fn is_received(received: io::Result<usize>) -> io::Result<bool> {
    match received {
        Ok(bytes) => Ok(bytes == BYTES),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::machine::cores::allowed_cores;

    #[test]
    fn round_trips_and_a_rate_are_measured_on_the_cores_of_the_runs() {
        let cores = allowed_cores();
        let (first, last) = (vec![cores[0]], vec![*cores.last().expect("a core")]);
        let reference = measure(&first, &last, 100_000_000);
        let reference = reference.expect("loopback");
        assert_eq!((&reference.sender_cores, &reference.receiver_cores), (&first, &last));
        assert!(reference.round_trips >= 6 && reference.rtt_p50_ns > 0.0, "{reference:?}");
        assert!(reference.samples > 0 && reference.rate_sps > 0.0, "{reference:?}");
        // The affinity of the calling thread is unchanged.
        assert_eq!(allowed_cores(), cores);
        let unpinned = measure(&[], &[], 60_000_000).expect("loopback");
        assert!(unpinned.sender_cores.is_empty() && unpinned.round_trips > 0, "{unpinned:?}");
    }

    #[test]
    fn a_core_that_does_not_exist_is_an_error_and_ends_in_time() {
        for (sender, receiver) in [(0, 4000), (4000, 0)] {
            let error = measure(&[sender], &[receiver], 60_000_000).expect_err("no such core");
            assert!(error.contains("Invalid argument"), "{error}");
        }
    }

    /// Verifies that the measurement can detect a slower host: threads that spin on both cores lower the rate.
    #[test]
    fn work_on_both_cores_lowers_the_rate() {
        let cores = allowed_cores();
        let (first, last) = (vec![cores[0]], vec![*cores.last().expect("a core")]);
        let (ended, spun) = (AtomicBool::new(false), AtomicU64::new(0));
        let rates = || [(); 3].map(|()| measure(&first, &last, 100_000_000).expect("loopback").rate_sps);
        let (alone, beside) = thread::scope(|scope| {
            let alone = rates().into_iter().fold(0.0, f64::max);
            for _ in 0..4 {
                for core in &cores {
                    let (ended, spun) = (&ended, &spun);
                    scope.spawn(move || {
                        pin_to(&[*core]).expect("an allowed core");
                        while !ended.load(Ordering::Relaxed) {
                            spun.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            }
            while spun.load(Ordering::Relaxed) < 1_000 {
                thread::yield_now();
            }
            let rates = std::panic::catch_unwind(std::panic::AssertUnwindSafe(rates));
            ended.store(true, Ordering::Relaxed);
            (alone, rates.expect("a rate").into_iter().fold(f64::INFINITY, f64::min))
        });
        assert!(beside < alone, "{beside} beside 4 spinning threads a core, {alone} alone");
    }
}
