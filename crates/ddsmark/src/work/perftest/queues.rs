//! Limits of queues and of receive groups, as drivers can have them.

use experiment::MAX_GROUP_BYTES;
use perftest::{History, Settings};

use super::OwnPart;
use crate::cli::cli_error::{CliError, Result};

/// Largest queue in samples.
const MAX_QUEUE: u32 = i32::MAX as u32;
/// Minimum send queue of a throttle in samples.
const THROTTLE_QUEUE: u64 = 4000;

/// Limits of the queues in samples; `None`: no limit, or that of the driver.
#[derive(Clone, Copy, Debug)]
pub struct QueueSizes {
    /// Send queue of the publisher, in samples or in batches.
    pub send: Option<u32>,
    /// Receive queue of the subscribers.
    pub receive: Option<u32>,
}

/// Returns the limits of the queues. They have room for what the history keeps of each instance, as drivers require.
pub fn queues(settings: &Settings, subscriber: &OwnPart, notes: &mut Vec<String>) -> Result<QueueSizes> {
    let Settings { shared, local, .. } = settings;
    let depth = match shared.history {
        History::KeepAll => 1,
        History::KeepLast(depth) => u64::from(depth),
    };
    let kept = depth.saturating_mul(u64::from(shared.instances));
    let Some(kept) = u32::try_from(kept).ok().filter(|kept| *kept <= MAX_QUEUE) else {
        let error =
            format!("{} instances with {depth} samples each are more than {MAX_QUEUE}", shared.instances);
        return Err(CliError::usage(error, "reduce `-keepLastDepth` or `-instances`"));
    };
    let mut with_room = |option: &str, which: &str, queue: Option<u32>| {
        let size = queue.filter(|size| *size < kept);
        if let Some(size) = size {
            notes.push(format!(
                "the {which} queue has {kept} samples, not {size}: it holds {depth} of each instance, whatever `-{option}` is"
            ));
        }
        queue.map(|size| size.max(kept))
    };
    let send = with_room("sendQueueSize", "send", local.send_queue);
    let receive = subscriber.receive_queue.or(local.receive_queue);
    let receive = with_room("receiveQueueSize", "receive", receive);
    Ok(QueueSizes { send: send_queue(local.pacing.throttle, send, notes), receive })
}

/// Note about a receive group while one sample is in flight.
pub const GROUP_ALONE: &str = "each sample is received at once: `-waitsetEventCount` and `-waitsetDelayUsec` have no effect while one \
                               sample is in flight";

/// Returns the samples of a receive group; 1: none.
pub fn group(settings: &Settings, samples: u32, notes: &mut Vec<String>) -> u32 {
    let shared = &settings.shared;
    let payload = shared.payload_bytes(shared.max_size(), settings.local.raw_transport).max(1);
    let most = u32::try_from(MAX_GROUP_BYTES / payload).unwrap_or(u32::MAX).max(1);
    if samples > most {
        notes.push(format!(
            "samples are received in groups of {most}, not {samples} as by `-waitsetEventCount`: a group has at most \
             {MAX_GROUP_BYTES} bytes"
        ));
    }
    samples.min(most)
}

/// Returns the queue of a throttle in samples.
pub fn throttle_queue(send_queue: Option<u32>) -> u64 {
    send_queue.map_or(THROTTLE_QUEUE, |queue| u64::from(queue).max(THROTTLE_QUEUE))
}

/// Returns the send queue of the publisher in samples, or in batches; `None`: no limit.
fn send_queue(throttled: bool, send_queue: Option<u32>, notes: &mut Vec<String>) -> Option<u32> {
    let queue = send_queue?;
    let needed = u32::try_from(throttle_queue(send_queue)).unwrap_or(u32::MAX);
    if !throttled || queue >= needed {
        return send_queue;
    }
    notes.push(format!(
        "the send queue has {needed} samples, not {queue}: `-enableAutoThrottle` needs room between its marks"
    ));
    Some(needed)
}
