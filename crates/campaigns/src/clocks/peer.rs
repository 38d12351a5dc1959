//! Processes of a trial, in the namespaces of their host.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, UdpSocket},
    process::Command,
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use nix::sched::{CloneFlags, unshare};
use site::{LocalSite, Site as _};

use crate::Error;

/// Payload of a packet of load in bytes: one full Ethernet frame.
const LOAD_BYTES: usize = 1_472;
/// Flag of a new time namespace, from `linux/sched.h`.
const CLONE_NEWTIME: i32 = 0x80;

/// Process of a clock trial
#[derive(Args)]
pub struct PeerArgs {
    /// Offset of its clock in a new time namespace: s and ns
    #[arg(long, value_name = "OFFSET")]
    clock: Option<String>,
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Answer until standard input ends; print the address
    Responder { spec: String },
    /// Exchange packets; print their times
    Client { spec: String },
    /// Send packets to an address, at a rate or as fast as possible, until standard input ends
    Sender { to: String, mbps: Option<f64> },
    /// Receive packets at a port until standard input ends; print their number
    Sink { port: u16 },
}

/// Executes the role. The specification of an exchange is JSON.
pub fn run(arguments: &PeerArgs) -> Result<(), Error> {
    if let Some(offset) = &arguments.clock {
        return run_with_clock(offset);
    }
    let site = LocalSite::new("no agent");
    match &arguments.role {
        Role::Responder { spec } => {
            let (address, running) = site.clock_responder(&serde_json::from_str(spec)?)?;
            println!("{address}");
            wait_for_end();
            drop(running);
        }
        Role::Client { spec } => {
            println!("{}", serde_json::to_string(&site.clock_exchange(&serde_json::from_str(spec)?)?)?);
        }
        Role::Sender { to, mbps } => send(to, *mbps)?,
        Role::Sink { port } => receive(*port)?,
    }
    Ok(())
}

/// Executes the role in a process with a clock of its own. The time namespace is that of children.
fn run_with_clock(offset: &str) -> Result<(), Error> {
    unshare(CloneFlags::from_bits_retain(CLONE_NEWTIME))?;
    fs::write("/proc/self/timens_offsets", format!("monotonic {offset}\nboottime {offset}\n"))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let place = arguments.iter().position(|argument| argument == "--clock").ok_or("no `--clock`")?;
    let others = [&arguments[..place], &arguments[place + 2..]].concat();
    let status = Command::new(std::env::current_exe()?).args(others).status()?;
    if status.success() { Ok(()) } else { Err(format!("the role ended with {status}").into()) }
}

fn wait_for_end() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// Starts a thread that ends this process with standard input.
fn end_with_input() {
    std::thread::spawn(|| {
        wait_for_end();
        std::process::exit(0);
    });
}

fn send(to: &str, mbps: Option<f64>) -> Result<(), Error> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect(to)?;
    end_with_input();
    let packet = [0; LOAD_BYTES];
    // With headers, gap and checksum, a packet occupies 1538 bytes of the link.
    let interval = mbps.map(|mbps| Duration::from_secs_f64(1_538.0 * 8.0 / (mbps * 1e6)));
    let mut due = Instant::now();
    loop {
        if let Some(interval) = interval {
            due += interval;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        // Without room, it blocks; a refused packet does not matter.
        let _ = socket.send(&packet);
    }
}

fn receive(port: u16) -> Result<(), Error> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    let counter = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let received = std::sync::Arc::clone(&counter);
    std::thread::spawn(move || {
        let mut buffer = [0; LOAD_BYTES];
        loop {
            if socket.recv(&mut buffer).is_ok() {
                received.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    println!("ready");
    std::io::stdout().flush()?;
    let begin = Instant::now();
    wait_for_end();
    let bytes = counter.load(std::sync::atomic::Ordering::Relaxed) as f64 * 1_538.0;
    println!("{}", bytes * 8.0 / 1e6 / begin.elapsed().as_secs_f64());
    Ok(())
}
