//! Default limits of the queues of endpoints, and whether two cells request the same QoS.

use driver_abi::policies::Qos;

/// Maximum queue of a writer or reader in bytes, and the limits of its number of samples, if the file requests none.
const QUEUE_BYTES: u64 = 64 << 20;
const QUEUE_SAMPLES: std::ops::RangeInclusive<u64> = 64..=10_000;

/// Returns the limit of samples that is requested if the file requests none, for samples of this size. It has room
/// for the requested history depth and samples per instance.
pub(crate) fn default_max_samples(size: u64, depth: Option<i32>, per_instance: Option<i32>) -> i32 {
    let samples = (QUEUE_BYTES / size.max(1)).clamp(*QUEUE_SAMPLES.start(), *QUEUE_SAMPLES.end());
    let samples = i32::try_from(samples).expect("at most 10,000");
    samples.max(depth.unwrap_or(0)).max(per_instance.unwrap_or(0))
}

/// Returns whether the same policies were requested for samples of these two sizes. Default limits of samples
/// depend on the size.
pub(crate) fn same_request(qos: &Qos, size: u64, other: &Qos, other_size: u64) -> bool {
    let is_default = |qos: &Qos, size| {
        let limit = default_max_samples(size, qos.history_depth, qos.max_samples_per_instance);
        qos.max_samples == Some(limit)
    };
    let without_limit = |qos: &Qos| Qos { max_samples: None, ..qos.clone() };
    qos == other
        || (is_default(qos, size)
            && is_default(other, other_size)
            && without_limit(qos) == without_limit(other))
}
