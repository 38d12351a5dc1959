//! Priorities of the threads of this process.

use std::{
    collections::BTreeMap, marker::PhantomData, os::unix::thread::JoinHandleExt as _, thread::JoinHandle,
};

use nix::errno::Errno;

use crate::base::error::AgentError;

/// A thread of this process that is not joined while this value exists, and its name in messages and settings.
#[derive(Clone, Copy, Debug)]
pub struct NamedThread<'t> {
    name: &'static str,
    thread: libc::pthread_t,
    /// Borrow of the handle, so that it can be neither joined nor dropped. The pointer keeps the value in the calling
    /// thread, which may be the one that it names.
    _handle: PhantomData<(&'t (), *const ())>,
}

impl<'t> NamedThread<'t> {
    /// Returns the calling thread.
    #[must_use]
    pub fn current(name: &'static str) -> Self {
        // SAFETY: the call has no preconditions.
        Self { name, thread: unsafe { libc::pthread_self() }, _handle: PhantomData }
    }

    /// Returns another thread. It cannot be joined while this value is used:
    ///
    /// ```
    /// use agent::base::priority::NamedThread;
    ///
    /// let handle = std::thread::spawn(|| ());
    /// let thread = NamedThread::of("receive", &handle);
    /// assert_eq!(thread.scheduling().len(), 1);
    /// handle.join().expect("no panic");
    /// ```
    ///
    /// ```compile_fail,E0505
    /// use agent::base::priority::NamedThread;
    ///
    /// let handle = std::thread::spawn(|| ());
    /// let thread = NamedThread::of("receive", &handle);
    /// handle.join().expect("no panic");
    /// assert_eq!(thread.scheduling().len(), 1);
    /// ```
    #[must_use]
    pub fn of<T>(name: &'static str, handle: &'t JoinHandle<T>) -> Self {
        Self { name, thread: handle.as_pthread_t(), _handle: PhantomData }
    }

    /// Gives the thread this priority of SCHED_FIFO. 0 leaves it as it is.
    ///
    /// # Errors
    /// Returns an error with the cause of the kernel, such as a missing permission.
    pub fn set(self, priority: u32) -> Result<(), AgentError> {
        if priority == 0 {
            return Ok(());
        }
        let parameters = libc::sched_param { sched_priority: priority.cast_signed() };
        // SAFETY: the lifetime keeps the thread from being joined, and the parameters are valid for the call.
        let failed =
            unsafe { libc::pthread_setschedparam(self.thread, libc::SCHED_FIFO, &raw const parameters) };
        if failed == 0 {
            return Ok(());
        }
        Err(AgentError::Priority { priority, thread: self.name, error: Errno::from_raw(failed) })
    }

    /// Returns its policy and priority, as the kernel has them, by name.
    #[must_use]
    pub fn scheduling(self) -> BTreeMap<String, String> {
        let (mut policy, mut parameters) = (0, libc::sched_param { sched_priority: 0 });
        // SAFETY: the lifetime keeps the thread from being joined, and both results are valid for the call.
        let failed =
            unsafe { libc::pthread_getschedparam(self.thread, &raw mut policy, &raw mut parameters) };
        let policy = match policy {
            _ if failed != 0 => "unknown",
            libc::SCHED_OTHER => "SCHED_OTHER",
            libc::SCHED_FIFO => "SCHED_FIFO",
            libc::SCHED_RR => "SCHED_RR",
            _ => "another policy",
        };
        [(format!("{} thread", self.name), format!("{policy} {}", parameters.sched_priority))].into()
    }
}
