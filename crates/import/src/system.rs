//! System: topics with their load, QoS and processes, and notes about what of the source is not in it.

use experiment::{Rate, SizeDistribution};

use crate::qos::TopicQos;

/// System as an experiment can measure it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    /// Question that the experiment answers.
    pub question: String,
    /// Lines about the source: what was read, its versions, its figures.
    pub source: Vec<String>,
    /// Topics, in the order of the source.
    pub topics: Vec<Topic>,
    /// Parts of the source that the experiment does not have.
    pub not_applied: Vec<NotApplied>,
    /// Remarks that are not about missing parts, such as doubts about the recording.
    pub remarks: Vec<String>,
}

/// Topic of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Name in the source.
    pub name: String,
    /// Number of equal topics; `None` for one topic without a number.
    pub count: Option<u32>,
    /// Payload of a sample in bytes; the mean if samples differ.
    pub size_bytes: u64,
    /// Distribution of the sizes, if they are drawn.
    pub sizes: Option<SizeDistribution>,
    /// Send times.
    pub sends: Sends,
    /// Processes that write it. Empty: one process `writer`.
    pub from: Vec<String>,
    /// Processes that read it. Empty: one process `reader`.
    pub to: Vec<String>,
    /// Whether it is traffic beside the one that the question is about.
    pub is_background: bool,
    /// QoS of its endpoints.
    pub qos: TopicQos,
    /// Deadline of the response times in ns.
    pub deadline_ns: Option<u64>,
    /// Tolerated share of samples that miss the deadline, in percent.
    pub missed_pct: Option<f64>,
}

/// Send times of a topic.
#[derive(Clone, Debug, PartialEq)]
pub enum Sends {
    /// Constant rate.
    Rate(Rate),
    /// Recorded times.
    Recorded(RecordedSends),
}

/// Recorded samples of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedSends {
    /// Times in ns from the start, in ascending order.
    pub times_ns: Vec<u64>,
    /// Size of each sample in bytes. Empty if all have one.
    pub sizes_bytes: Vec<u64>,
}

/// Part of the source that the experiment does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotApplied {
    /// Name of the part, such as a key.
    pub item: String,
    /// Number of its occurrences.
    pub count: u64,
    /// Reason, and what is measured instead.
    pub reason: String,
}

impl Topic {
    /// Creates a topic with the default processes and QoS.
    #[must_use]
    pub fn new(name: impl Into<String>, size_bytes: u64, sends: Sends) -> Self {
        Self {
            name: name.into(),
            count: None,
            size_bytes,
            sizes: None,
            sends,
            from: Vec::new(),
            to: Vec::new(),
            is_background: false,
            qos: TopicQos::default(),
            deadline_ns: None,
            missed_pct: None,
        }
    }

    /// Creates a topic whose samples have these sizes.
    #[must_use]
    pub fn with_sizes(name: impl Into<String>, sizes: SizeDistribution, sends: Sends) -> Self {
        let mean_bytes = sizes.mean_bytes();
        Self { sizes: Some(sizes), ..Self::new(name, mean_bytes, sends) }
    }

    /// Creates a topic with these recorded samples.
    #[must_use]
    pub fn recorded(name: impl Into<String>, times_ns: Vec<u64>, mut sizes_bytes: Vec<u64>) -> Self {
        let mean_bytes = mean_bytes(&sizes_bytes);
        if sizes_bytes.iter().all(|size| *size == mean_bytes) {
            sizes_bytes.clear();
        }
        Self::new(name, mean_bytes, Sends::Recorded(RecordedSends { times_ns, sizes_bytes }))
    }

    /// Returns the recorded sizes of its samples; none if all have one, or if they are drawn.
    #[must_use]
    pub fn recorded_sizes(&self) -> &[u64] {
        match &self.sends {
            Sends::Recorded(recorded) => &recorded.sizes_bytes,
            Sends::Rate(_) => &[],
        }
    }

    /// Returns the mean rate of one writer in samples/s. `None` for less than two recorded times.
    #[must_use]
    pub fn sps(&self) -> Option<f64> {
        match &self.sends {
            Sends::Rate(rate) => Some(rate.sps()),
            Sends::Recorded(RecordedSends { times_ns, .. }) => {
                let (first, last) = (times_ns.first()?, times_ns.last()?);
                (last > first).then(|| (times_ns.len() - 1) as f64 * 1e9 / (last - first) as f64)
            }
        }
    }

    /// Returns the number of topics.
    #[must_use]
    pub fn number(&self) -> u64 {
        u64::from(self.count.unwrap_or(1))
    }
}

/// Returns the mean of sizes in whole bytes; 0 without sizes.
pub(crate) fn mean_bytes(sizes: &[u64]) -> u64 {
    let number = sizes.len().max(1) as u64;
    (sizes.iter().sum::<u64>() + number / 2) / number
}

impl System {
    /// Adds a part that is not applied.
    pub fn not_applied(&mut self, item: impl Into<String>, reason: impl Into<String>) {
        self.not_applied_often(item, 1, reason);
    }

    /// Adds parts that are not applied: to an entry of the same item and reason, if there is one.
    pub fn not_applied_often(&mut self, item: impl Into<String>, count: u64, reason: impl Into<String>) {
        let (item, reason) = (item.into(), reason.into());
        match self.not_applied.iter_mut().find(|note| note.item == item && note.reason == reason) {
            Some(note) => note.count += count,
            None => self.not_applied.push(NotApplied { item, count, reason }),
        }
    }
}
