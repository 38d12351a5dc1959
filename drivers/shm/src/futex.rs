//! Futexes in memory that processes share: without `FUTEX_PRIVATE_FLAG`.
#![allow(unsafe_code)]
use std::{ptr, sync::atomic::AtomicU32};

use nix::{errno::Errno, libc};

/// Sleeps while the word has this value. Returns false after the timeout; true after a wake-up, a signal, or if the
/// word has another value.
pub(crate) fn wait(word: &AtomicU32, value: u32, timeout_ns: u64) -> bool {
    let timeout = libc::timespec {
        // at most 2^64 ns, which are far fewer seconds than this type holds
        tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the kernel reads the word and the timeout, both valid for the call, and writes to neither.
    let outcome =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const timeout) };
    outcome == 0 || Errno::last() != Errno::ETIMEDOUT
}

/// Wakes one thread that sleeps on the word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: the kernel uses only the address of the word, which is valid for the call. A failure needs an address
    // that is not mapped or not aligned, which an `AtomicU32` excludes.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1, ptr::null::<libc::timespec>());
    }
}
