//! Threads that keep cores awake: waking an idle core costs more than a small sample.

use std::{
    hint, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
};

use nix::errno::Errno;

use super::cores::{allowed_cores, pin_to};
use crate::values::error::SiteError;

/// Spinning threads, one on each core that this process may use. They run with `SCHED_IDLE`: only when nothing else
/// needs the core. Dropping this ends them.
#[derive(Debug)]
pub struct KeepAwake {
    ended: Arc<AtomicBool>,
    spinners: Vec<JoinHandle<()>>,
}

impl KeepAwake {
    /// Starts the threads.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started, pinned, or given the policy `SCHED_IDLE`.
    pub fn start() -> Result<Self, SiteError> {
        let mut awake = Self { ended: Arc::new(AtomicBool::new(false)), spinners: Vec::new() };
        let (report, reports) = mpsc::channel();
        let failed = |error: io::Error| {
            SiteError::failed(format!("cannot keep the cores awake: {error}"), "remove `--keep-awake`")
        };
        for core in allowed_cores() {
            let (ended, report) = (Arc::clone(&awake.ended), report.clone());
            let spinner = thread::Builder::new()
                .name(format!("awake-{core}"))
                .spawn(move || {
                    let ready = settle(core);
                    let failed = ready.is_err();
                    let _ = report.send(ready);
                    // The receiver ends when all senders are dropped.
                    drop(report);
                    while !failed && !ended.load(Ordering::Relaxed) {
                        hint::spin_loop();
                    }
                })
                .map_err(failed)?;
            awake.spinners.push(spinner);
        }
        drop(report);
        for ready in reports {
            ready.map_err(failed)?;
        }
        Ok(awake)
    }
}

/// Pins the calling thread and gives it the policy `SCHED_IDLE`.
fn settle(core: u32) -> io::Result<()> {
    pin_to(&[core])?;
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread; `parameters` is a valid sched_param for the duration of the call.
    Errno::result(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) })?;
    Ok(())
}

impl Drop for KeepAwake {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for spinner in self.spinners.drain(..) {
            // A spinning thread cannot panic.
            let _ = spinner.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_awake_has_a_spinner_on_each_core_that_ends() {
        let awake = KeepAwake::start().unwrap();
        assert_eq!(awake.spinners.len(), allowed_cores().len());
        let ended = Arc::clone(&awake.ended);
        drop(awake);
        // Each thread held a clone.
        assert_eq!(Arc::strong_count(&ended), 1);
    }
}
