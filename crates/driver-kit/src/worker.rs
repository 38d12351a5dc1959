//! Thread of a driver, such as the receiving thread of a listener, with a stop request and a result.
use std::{
    fmt,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use crate::error::{OrFailed, Result};

/// Thread that regularly checks for a stop request, and can be woken for it. Dropping it joins the thread.
pub struct Worker {
    stop: Arc<AtomicBool>,
    wake: Box<dyn Fn() + Send + Sync>,
    /// `None` once joined.
    thread: Option<JoinHandle<Result<()>>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts a thread. `run` must return soon after its flag was set and `wake` was called.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started.
    pub fn start(
        name: &str,
        wake: impl Fn() + Send + Sync + 'static,
        run: impl FnOnce(&AtomicBool) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&stopped).inspect_err(|error| eprintln!("{error}")))
            .or_failed(&format!("cannot start thread `{name}`"))?;
        Ok(Self { stop, wake: Box::new(wake), thread: Some(thread) })
    }

    /// Stops and joins the thread, and returns its result.
    ///
    /// # Errors
    /// Returns the error of the thread. A panic of the thread is resumed here, to be reported like any other.
    pub fn stop(mut self) -> Result<()> {
        self.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn join(&mut self) -> thread::Result<Result<()>> {
        let Some(thread) = self.thread.take() else { return Ok(Ok(())) };
        self.stop.store(true, Ordering::Release);
        (self.wake)();
        thread.join()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::error::Error;

    fn until_woken(end: impl FnOnce() -> Result<()> + Send + 'static) -> (Worker, mpsc::Receiver<()>) {
        let (wake, woken) = mpsc::channel();
        let (tell, ended) = mpsc::channel();
        let run = move |stop: &AtomicBool| {
            woken.recv().expect("woken");
            assert!(stop.load(Ordering::Acquire), "woken to stop");
            tell.send(()).expect("the test waits");
            end()
        };
        let wake = move || wake.send(()).expect("the worker waits");
        (Worker::start("test", wake, run).expect("a thread"), ended)
    }

    #[test]
    fn worker_ends_and_reports_its_outcome_when_stopped_or_dropped() {
        let (worker, ended) = until_woken(|| Err(Error::failed("tired")));
        assert_eq!(worker.stop().map_err(|error| error.to_string()), Err("tired".to_owned()));
        assert_eq!(ended.try_recv(), Ok(()));
        let (worker, ended) = until_woken(|| Ok(()));
        drop(worker);
        assert_eq!(ended.try_recv(), Ok(()), "it has ended when it is dropped");
    }

    #[test]
    #[should_panic(expected = "out of luck")]
    fn a_panic_goes_on_where_it_is_stopped() {
        let (worker, _ended) = until_woken(|| panic!("out of luck"));
        let _ = worker.stop();
    }
}
