//! Duration of a send call with and without the preloaded library: the delay that is actually injected.

use std::{
    net::{Ipv4Addr, UdpSocket},
    path::Path,
    process::Command,
    time::Instant,
};

use stats::median;

use crate::Error;

/// Calls per process, and processes of each kind.
const CALLS: usize = 2_000;
const PAIRS: usize = 5;

/// Prints the median duration of a send over loopback in ns. Runs in a process of its own.
pub fn run() -> Result<(), Error> {
    let [from, to] = [UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?];
    let address = to.local_addr()?;
    let mut buffer = [0_u8; 1024];
    let mut took = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begin = Instant::now();
        from.send_to(&buffer, address)?;
        took.push(begin.elapsed().as_nanos() as f64);
        to.recv(&mut buffer)?;
    }
    println!("{}", median(&took).ok_or("no call")?);
    Ok(())
}

/// Returns the additional duration of a send in ns with this delay of the library: the median of pairs.
pub fn cost_ns(library: &Path, delay_ns: u64) -> Result<f64, Error> {
    let one = |preloaded: bool| -> Result<f64, Error> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("slowdown-probe");
        if preloaded {
            command.env("LD_PRELOAD", library).env("SLOW_SEND_NS", delay_ns.to_string());
        }
        Ok(super::output_of(&mut command)?.trim().parse()?)
    };
    let pairs = (0..PAIRS).map(|_| Ok(one(true)? - one(false)?)).collect::<Result<Vec<f64>, Error>>()?;
    median(&pairs).ok_or_else(|| "no pair".into())
}
