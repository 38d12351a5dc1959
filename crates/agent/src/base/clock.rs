//! Clock of all timestamps: `CLOCK_MONOTONIC` of this host, converted to that of the reference host of the run.
//!
//! The conversion is set once, before the driver is opened. Only sleeping and times that a driver records need the clock
//! of this host.

use std::sync::OnceLock;

use control::Timeline;

/// Conversion; not set on the reference host.
static TIMELINE: OnceLock<Timeline> = OnceLock::new();

/// Sets the conversion of all following times. Returns false if it was set before to another one.
#[must_use]
pub fn set_timeline(timeline: &Timeline) -> bool {
    timeline.is_identity() || TIMELINE.get_or_init(|| *timeline) == timeline
}

/// Returns the current time in ns. One read through the vDSO; no system call with a `tsc` clock source.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    let now_ns = monotonic_ns();
    // One load and one branch, which is always predicted.
    match TIMELINE.get() {
        None => now_ns,
        Some(timeline) => timeline.on_reference(now_ns),
    }
}

/// Returns the time of this host's clock in ns.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid; this clock exists on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Converts a time of this host's clock, in ns.
#[must_use]
pub fn from_monotonic(monotonic_ns: u64) -> u64 {
    TIMELINE.get().map_or(monotonic_ns, |timeline| timeline.on_reference(monotonic_ns))
}

/// Converts a time to this host's clock, in ns.
#[must_use]
pub fn to_monotonic(at_ns: u64) -> u64 {
    TIMELINE.get().map_or(at_ns, |timeline| timeline.on_monotonic(at_ns))
}
