//! Times of a recording: the source of the times, segments between jumps of the clock, and gaps.

use super::recording::{Message, Recording};
use crate::error::ImportError;

/// Largest step back of the clock that is only a different order, in ns.
const REORDERED_NS: i64 = 1_000_000_000;
/// Largest distance of a publish time from its log time, in ns: beyond it they are of two clocks.
const SAME_CLOCK_NS: i64 = 10_000_000_000;
/// Shortest span of a recording in ns.
const MIN_SPAN_NS: i64 = 10_000_000;
/// Ratio of the longest gap to the next one from which it is reported.
const LONG_GAP: i64 = 10;

/// Times that a recording is replayed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeSource {
    /// Times of publication, if they are recorded and of the same clock; else those of recording.
    #[default]
    Publish,
    /// Times of recording.
    Log,
}

/// Message with its time from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    pub(super) topic: u32,
    pub(super) bytes: u64,
    pub(super) ns: i64,
}

/// Messages of a segment in the order of their times, from 0 on.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) messages: Vec<Timed>,
    pub(super) remarks: Vec<String>,
    /// Segments that are left out: number, messages.
    pub(super) others: Vec<(usize, usize)>,
}

/// Returns the messages of the longest segment, or of the one with this number (from 1).
pub(super) fn segment(
    recording: &Recording,
    source: TimeSource,
    number: Option<usize>,
) -> Result<Segment, ImportError> {
    let mut result = Segment::default();
    let has_publish = publish_topics(recording);
    if source == TimeSource::Publish && has_publish.contains(&true) {
        let topics = has_publish.iter().filter(|has| **has).count();
        result.remarks.push(format!(
            "times of {topics} topics: when messages were published; of the others: when they were recorded"
        ));
    }
    let time = |message: &Message| match source {
        TimeSource::Publish if has_publish[message.topic as usize] => message.publish_ns,
        _ => message.log_ns,
    };
    let mut segments: Vec<Vec<Timed>> = Vec::new();
    let mut latest = i64::MIN;
    for message in &recording.messages {
        let ns = time(message);
        if segments.is_empty() || ns < latest.saturating_sub(REORDERED_NS) {
            segments.push(Vec::new());
            latest = i64::MIN;
        }
        latest = latest.max(ns);
        let timed = Timed { topic: message.topic, bytes: message.bytes, ns };
        segments.last_mut().expect("there is one").push(timed);
    }
    if segments.is_empty() {
        return Err(ImportError::new("the bag has no messages", "record one with traffic"));
    }
    let longest = (0..segments.len()).max_by_key(|index| (segments[*index].len(), std::cmp::Reverse(*index)));
    let chosen = match number {
        Some(number) if !(1..=segments.len()).contains(&number) => {
            let message = format!("segment {number} not found: the bag has {}", segments.len());
            return Err(ImportError::new(message, format!("available: 1 to {}", segments.len())));
        }
        Some(number) => number - 1,
        None => longest.unwrap_or(0),
    };
    let sizes = segments.iter().map(Vec::len).enumerate().filter(|(index, _)| *index != chosen);
    result.others = sizes.map(|(index, length)| (index + 1, length)).collect();
    let mut messages = segments.swap_remove(chosen);
    messages.sort_by_key(|message| message.ns);
    let begin = messages[0].ns;
    for message in &mut messages {
        message.ns = message.ns.saturating_sub(begin);
    }
    let span = messages.last().map_or(0, |message| message.ns);
    if span < MIN_SPAN_NS {
        let message =
            format!("{} messages within {span} ns: their times are not those of traffic", messages.len());
        return Err(ImportError::new(message, "record at least 10 ms; a clock from 0 counts no real time"));
    }
    result.remarks.extend(long_gap(&messages));
    result.messages = messages;
    Ok(result)
}

/// Returns, for each topic, whether its publish times are recorded and of the clock of the log times.
fn publish_topics(recording: &Recording) -> Vec<bool> {
    let mut differs = vec![false; recording.topics.len()];
    let mut is_near = vec![true; recording.topics.len()];
    for message in &recording.messages {
        let topic = message.topic as usize;
        differs[topic] |= message.publish_ns != message.log_ns;
        is_near[topic] &= message.publish_ns.abs_diff(message.log_ns) <= SAME_CLOCK_NS.unsigned_abs();
    }
    differs.iter().zip(is_near).map(|(differs, is_near)| *differs && is_near).collect()
}

fn long_gap(messages: &[Timed]) -> Option<String> {
    let (mut first, mut second, mut at) = (0, 0, 0);
    for pair in messages.windows(2) {
        let gap = pair[1].ns - pair[0].ns;
        if gap > first {
            (first, second, at) = (gap, first, pair[0].ns);
        } else {
            second = second.max(gap);
        }
    }
    let is_long = first > LONG_GAP.saturating_mul(second) && second > 0;
    let seconds = |ns: i64| ns as f64 / 1e9;
    is_long.then(|| {
        format!("no messages for {:.3} s from {:.3} s on, the next longest gap is {:.3} s: check whether the recorder stopped", seconds(first), seconds(at), seconds(second))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rosbag2::recording::RecordedTopic;

    fn recording(times: &[(i64, i64)]) -> Recording {
        let mut recording = Recording::default();
        recording.topic(RecordedTopic { name: "a".into(), ..RecordedTopic::default() });
        let message = |(log_ns, publish_ns): &(i64, i64)| Message {
            topic: 0,
            bytes: 1,
            log_ns: *log_ns,
            publish_ns: *publish_ns,
        };
        recording.messages = times.iter().map(message).collect();
        recording
    }

    fn log(times: &[i64]) -> Recording {
        recording(&times.iter().map(|ns| (*ns, *ns)).collect::<Vec<_>>())
    }

    const MS: i64 = 1_000_000;

    fn times(recording: &Recording, source: TimeSource) -> Vec<i64> {
        segment(recording, source, None)
            .expect("a segment")
            .messages
            .iter()
            .map(|message| message.ns)
            .collect()
    }

    #[test]
    fn publish_times_of_the_same_clock_have_priority() {
        let near = recording(&[(100 * MS, 90 * MS), (200 * MS, 190 * MS), (300 * MS, 250 * MS)]);
        assert_eq!(times(&near, TimeSource::Publish), [0, 100 * MS, 160 * MS]);
        assert_eq!(times(&near, TimeSource::Log), [0, 100 * MS, 200 * MS]);
        let other = recording(&[(20_000 * MS, 0), (20_100 * MS, 100 * MS), (20_200 * MS, 150 * MS)]);
        assert_eq!(times(&other, TimeSource::Publish), [0, 100 * MS, 200 * MS]);
    }

    #[test]
    fn small_step_back_is_sorted_and_large_one_begins_a_segment() {
        assert_eq!(times(&log(&[0, 500 * MS, 20 * MS]), TimeSource::Log), [0, 20 * MS, 500 * MS]);
        let jump = log(&[5_000 * MS, 6_000 * MS, 100 * MS, 200 * MS, 300 * MS]);
        let found = segment(&jump, TimeSource::Log, None).expect("a segment");
        assert_eq!((found.messages.len(), found.others), (3, vec![(1, 2)]));
        assert_eq!(segment(&jump, TimeSource::Log, Some(1)).expect("a segment").messages.len(), 2);
        assert!(segment(&jump, TimeSource::Log, Some(3)).is_err());
    }

    #[test]
    fn short_or_empty_recording_is_rejected_and_long_gap_reported() {
        assert!(segment(&log(&[]), TimeSource::Log, None).is_err());
        let error = segment(&log(&[0, 408]), TimeSource::Log, None).expect_err("too short");
        assert!(error.message.contains("within 408 ns"), "{error}");
        let found =
            segment(&log(&[0, 10 * MS, 20 * MS, 500 * MS]), TimeSource::Log, None).expect("a segment");
        assert_eq!(
            found.remarks,
            [
                "no messages for 0.480 s from 0.020 s on, the next longest gap is 0.010 s: check whether the recorder stopped"
            ]
        );
    }
}
