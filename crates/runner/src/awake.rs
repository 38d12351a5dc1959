//! Keeping cores from idling: waking an idle core costs more than a small sample.

use std::{
    hint, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
};

use nix::{
    errno::Errno,
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};

use crate::{RunnerError, allowed_cores};

/// One spinning thread on each core that this process may use, which runs only when nothing else wants to
/// (`SCHED_IDLE`). They end when this is dropped.
#[derive(Debug)]
pub struct KeepAwake {
    ended: Arc<AtomicBool>,
    spinners: Vec<JoinHandle<()>>,
}

impl KeepAwake {
    /// Starts the spinners.
    ///
    /// # Errors
    /// A thread cannot be started, pinned, or given the lowest priority.
    pub fn start() -> Result<Self, RunnerError> {
        let mut awake = Self { ended: Arc::new(AtomicBool::new(false)), spinners: Vec::new() };
        let (report, reports) = mpsc::channel();
        for core in allowed_cores() {
            let (ended, report) = (Arc::clone(&awake.ended), report.clone());
            let spinner = thread::Builder::new()
                .name(format!("awake-{core}"))
                .spawn(move || {
                    let ready = settle(core as usize);
                    let failed = ready.is_err();
                    let _ = report.send(ready);
                    // the reports end when the last one has been made
                    drop(report);
                    while !failed && !ended.load(Ordering::Relaxed) {
                        hint::spin_loop();
                    }
                })
                .map_err(|error| RunnerError::KeepAwake { error })?;
            awake.spinners.push(spinner);
        }
        drop(report);
        for ready in reports {
            ready.map_err(|error| RunnerError::KeepAwake { error })?;
        }
        Ok(awake)
    }
}

/// Pins the calling thread, and gives it the lowest priority.
fn settle(core: usize) -> io::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core)?;
    sched_setaffinity(Pid::from_raw(0), &cores)?;
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread; `parameters` is a valid sched_param for the duration of the call.
    Errno::result(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) })?;
    Ok(())
}

impl Drop for KeepAwake {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for spinner in self.spinners.drain(..) {
            // a spinner cannot panic
            let _ = spinner.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_spinner_on_each_core_and_they_end() {
        let awake = KeepAwake::start().unwrap();
        assert_eq!(awake.spinners.len(), allowed_cores().len());
        let ended = Arc::clone(&awake.ended);
        drop(awake);
        // each spinner held a clone
        assert_eq!(Arc::strong_count(&ended), 1);
    }
}
