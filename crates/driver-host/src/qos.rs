//! Effective QoS, without fields that have no effect.

use driver_abi::{
    self as abi,
    policies::{History, Qos, Reliability},
};

/// Converts from the driver ABI. `writes` is true for a writer: only a writer has `max_blocking_ns`. Values that the
/// contract does not define are absent.
///
/// # Safety
/// `raw` was filled by a driver, and its entity is still open.
pub unsafe fn effective(raw: &abi::Qos, writes: bool) -> Qos {
    // SAFETY: the caller guarantees the fields that the driver filled in.
    let (mut qos, _) = unsafe { Qos::from_raw(raw) };
    if !writes || qos.reliability != Some(Reliability::Reliable) {
        qos.max_blocking_ns = None;
    }
    if qos.history != Some(History::KeepLast) {
        qos.history_depth = None;
    }
    if qos.service_history != Some(History::KeepLast) {
        qos.service_history_depth = None;
    }
    qos
}
