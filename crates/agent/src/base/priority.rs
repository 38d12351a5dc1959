//! Priorities of the threads of this process.

use std::{collections::BTreeMap, os::unix::thread::JoinHandleExt as _, thread::JoinHandle};

use nix::errno::Errno;

use crate::base::error::AgentError;

/// A thread of this process, and its name in messages and settings.
#[derive(Clone, Copy, Debug)]
pub struct NamedThread {
    name: &'static str,
    thread: libc::pthread_t,
}

impl NamedThread {
    /// Returns the calling thread.
    #[must_use]
    pub fn current(name: &'static str) -> Self {
        // SAFETY: the call has no preconditions.
        Self { name, thread: unsafe { libc::pthread_self() } }
    }

    /// Returns another thread, which must not be joined while this value is used.
    #[must_use]
    pub fn of<T>(name: &'static str, handle: &JoinHandle<T>) -> Self {
        Self { name, thread: handle.as_pthread_t() }
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
        // SAFETY: the thread is not joined, and the parameters are valid for the call.
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
        // SAFETY: the thread is not joined, and both results are valid for the call.
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
