//! Processes of a run: the endpoints in each, and what it used.

use serde::{Deserialize, Serialize};

use crate::schema::endpoints::Usage;

/// Process of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessRecord {
    /// Number, unique in the run, from 1.
    pub number: u32,
    /// Name, if the flows name processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Process identifier.
    pub pid: u32,
    /// Endpoints in the process, by id.
    pub endpoints: Vec<String>,
    /// Resource usage of the process, of all of its endpoints together: from before the first sample of one of them to
    /// after the last one, to within the time in which the runner starts them.
    pub usage: Usage,
}

impl ProcessRecord {
    /// Returns its name, or else those of its endpoints.
    #[must_use]
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.endpoints.join("+"))
    }
}

impl Usage {
    /// Returns the usage of a process from the readings of its endpoints: each read the usage of the whole process while
    /// its own traffic flowed. `None` without readings.
    ///
    /// The reading over the longest time counts, with the samples of all. The idle cost is the lowest one: an endpoint may
    /// still be idle while another one reports. It is absent if one of them had samples outstanding.
    #[must_use]
    pub fn of_process(readings: &[&Self]) -> Option<Self> {
        let (first, others) = readings.split_first()?;
        let longest = others.iter().fold(*first, |a, b| if b.elapsed_ns > a.elapsed_ns { *b } else { a });
        let idle: Option<Vec<_>> = readings.iter().map(|usage| usage.idle.as_ref()).collect();
        let idle = idle.and_then(|all| all.into_iter().min_by(|a, b| a.used().total_cmp(&b.used())));
        Some(Self {
            samples: readings.iter().map(|usage| usage.samples).fold(0, u64::saturating_add),
            idle: idle.cloned(),
            driving_ns: readings.iter().map(|usage| usage.driving_ns).max().flatten(),
            peak_memory_bytes: readings.iter().filter_map(|usage| usage.peak_memory_bytes).max(),
            ..longest.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::endpoints::Idle;

    #[test]
    fn usage_of_a_process_counts_once_and_its_samples_all() {
        let idle = |used_ns| Some(Idle { elapsed_ns: 100, used_ns, run_delay_ns: None });
        let long = Usage {
            elapsed_ns: 1_000,
            user_ns: 600,
            samples: 10,
            idle: idle(9),
            driving_ns: Some(1),
            ..Usage::default()
        };
        let short = Usage {
            elapsed_ns: 990,
            user_ns: 590,
            samples: 30,
            idle: idle(3),
            driving_ns: Some(7),
            ..Usage::default()
        };
        let process = Usage::of_process(&[&short, &long]).expect("readings");
        assert_eq!((process.elapsed_ns, process.cpu_ns(), process.samples), (1_000, 600, 40));
        assert_eq!((process.idle, process.driving_ns), (idle(3), Some(7)));
        let outstanding = Usage { idle: None, ..short };
        assert_eq!(Usage::of_process(&[&long, &outstanding]).expect("readings").idle, None);
        assert_eq!(Usage::of_process(&[&long]), Some(long));
        assert_eq!(Usage::of_process(&[]), None);
    }
}
