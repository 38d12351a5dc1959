//! Flows: the streams of samples of a run, each with its own topic, phase and deadline.

use driver_abi::policies::Qos;
use rand::{Rng as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::factors::{endpoint_qos::EndpointQos, flow_sizes::FlowSizes, load::Load, sizes::Sizes};

/// Longest deadline that a flow has without one of its own, in ns.
const LONGEST_DEADLINE_NS: u64 = 50_000_000;
/// Share of the samples that may miss the deadline of a flow without a limit of its own, in millionths.
const MISSED_PPM: u32 = 1_000;

/// Process that writes the flows that name none.
pub(crate) const WRITING_PROCESS: &str = "writer";
/// Process that reads the flows that name none.
pub(crate) const READING_PROCESS: &str = "reader";

/// Kind of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// Traffic that the question is about.
    Foreground,
    /// Traffic beside it, which the factor `background` leaves out.
    Background,
}

/// Flow: one of several streams of samples in a run, with its own topic.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flow {
    /// Name, unique within the run; letters, digits and `-`.
    pub name: String,
    /// Name of the group, if the flow is one of several equal ones.
    pub group: Option<String>,
    /// Payload of a sample in bytes, including the 16-byte header; that of the largest one if they differ.
    pub size_bytes: u64,
    /// Sizes of the samples, if they are drawn.
    pub sizes: Option<Sizes>,
    /// Offered load. A trace may have the size of each sample.
    pub load: Load,
    /// Time of the first sample after the start of the schedule, in ns.
    #[serde(default, skip_serializing_if = "crate::syntax::is_default")]
    pub phase_ns: u64,
    /// Deadline of the response times. Absent for the only flow of a cell, and in results of earlier versions.
    pub deadline: Option<Deadline>,
    /// Names of the processes that write it, each with a writer of its own. Absent: the process `writer`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// Names of the processes that read it. Absent: the process `reader`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Whether it is background traffic, which the factor `background` leaves out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// QoS requested of its writer and reader, if the flow has policies of its own. Absent: the QoS of the cell.
    pub qos: Option<Qos>,
    /// QoS requested of each endpoint, if the flow requests a policy of one of them only.
    pub qos_of_ends: Option<EndpointQos>,
}

/// Deadline of the response times of a flow, and the share of the samples that may miss it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deadline {
    /// Time from the intended send time of a sample within which it has to arrive, in ns.
    pub deadline_ns: u64,
    /// Share of the planned samples that may miss it, lost ones included, in millionths.
    pub missed_ppm: u32,
}

impl Flow {
    /// Returns whether both are in one group of equal flows.
    #[must_use]
    pub fn is_in_group_of(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group
    }

    /// Creates a flow that starts with the schedule, with the QoS of its cell and without a deadline.
    #[must_use]
    pub fn new(name: &str, size_bytes: u64, load: Load) -> Self {
        Self { name: name.to_owned(), size_bytes, load, ..Self::default() }
    }

    /// Returns the sizes of its samples.
    #[must_use]
    pub fn flow_sizes(&self) -> FlowSizes<'_> {
        FlowSizes::new(self.size_bytes, self.sizes.as_ref(), Some(&self.load))
    }

    /// Formats the sizes of its samples in bytes, without a unit.
    #[must_use]
    pub fn size_text(&self) -> String {
        self.size_words(|bytes| bytes.to_string())
    }

    /// Describes the sizes of its samples, each formatted by `bytes`.
    #[must_use]
    pub fn size_words(&self, bytes: impl Fn(u64) -> String) -> String {
        self.flow_sizes().text(bytes)
    }

    /// Formats the sizes of its samples and how often each is drawn.
    pub(crate) fn exact_size_text(&self) -> String {
        self.sizes.as_ref().map_or_else(|| self.size_text(), |sizes| sizes.distribution.exact_text())
    }

    /// Returns the names of the processes that write it.
    pub fn writing_processes(&self) -> impl Iterator<Item = &str> {
        named_or(&self.from, WRITING_PROCESS)
    }

    /// Returns the names of the processes that read it.
    pub fn reading_processes(&self) -> impl Iterator<Item = &str> {
        named_or(&self.to, READING_PROCESS)
    }

    /// Returns whether it names its processes.
    #[must_use]
    pub fn names_processes(&self) -> bool {
        !self.from.is_empty() || !self.to.is_empty()
    }
}

fn named_or<'f>(names: &'f [String], default: &'static str) -> impl Iterator<Item = &'f str> {
    let default = names.is_empty().then_some(default);
    names.iter().map(String::as_str).chain(default)
}

impl Deadline {
    /// Creates a deadline. Without `deadline_ns` it is the mean period of the load, at most 50 ms; without `missed_ppm` one
    /// sample in a thousand may miss it. Returns `None` for a load without intended send times.
    pub(crate) fn new(load: &Load, deadline_ns: Option<u64>, missed_ppm: Option<u32>) -> Option<Self> {
        let period_ns = load.mean_period_ns()?;
        // At least 1 ns, for a trace of one sample.
        let usual_ns = (period_ns as u64).clamp(1, LONGEST_DEADLINE_NS);
        Some(Self {
            deadline_ns: deadline_ns.unwrap_or(usual_ns),
            missed_ppm: missed_ppm.unwrap_or(MISSED_PPM),
        })
    }

    /// Returns the share of the samples that may miss the deadline, in percent.
    #[must_use]
    pub fn limit_pct(self) -> f64 {
        f64::from(self.missed_ppm) / 1e4
    }

    /// Returns whether at most the tolerated share of the planned samples missed the deadline.
    #[must_use]
    pub fn is_met(self, missed: u64, planned: u64) -> bool {
        u128::from(missed) * 1_000_000 <= u128::from(self.missed_ppm) * u128::from(planned)
    }
}

/// Draws the phase of a flow: uniform within the mean period of its load, from its name and the seed. It is the same in each cell
/// and each run, so that they have the same coincidences. Returns 0 for loads whose times are random or recorded themselves.
pub(crate) fn random_phase_ns(name: &str, load: &Load, seed: u64) -> u64 {
    let (Load::Constant { .. } | Load::Burst { .. }) = load else { return 0 };
    let drawn = ChaCha8Rng::seed_from_u64(seed ^ hash(name)).next_u64();
    let period_ns = load.mean_period_ns().unwrap_or(0.0) as u64;
    ((u128::from(drawn) * u128::from(period_ns)) >> 64) as u64
}

/// Returns the seed of the sizes of a flow, from its name and the seed of the file: the same in each cell and each run.
pub(crate) fn seed_of_sizes(name: &str, seed: u64) -> u32 {
    let hash = hash(name) ^ seed;
    (hash ^ (hash >> 32)) as u32
}

/// Returns the hash of a name (FNV-1a).
fn hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::rate::Rate;

    #[test]
    fn phases_are_spread_over_the_period_and_depend_on_name_and_seed_only() {
        let load = Load::Constant { rate: Rate { samples: 1, period_ns: 10_000_000 } };
        let phases = |seed| -> Vec<u64> {
            (0..1_000).map(|number| random_phase_ns(&format!("small-{number}"), &load, seed)).collect()
        };
        let drawn = phases(0);
        assert_eq!(drawn, phases(0));
        assert_ne!(drawn, phases(1));
        assert!(drawn.iter().all(|phase| *phase < 10_000_000));
        for tenth in 0..10_u64 {
            let within = (tenth * 1_000_000)..((tenth + 1) * 1_000_000);
            let count = drawn.iter().filter(|phase| within.contains(phase)).count();
            // 100 expected; sd 9.5
            assert!((60..140).contains(&count), "{tenth}: {count}");
        }
        assert_eq!(random_phase_ns("a", &Load::Max, 0), 0);
    }

    #[test]
    fn deadline_is_the_period_up_to_50_ms_and_one_in_a_thousand_may_miss_it() {
        let of = |period_ns| {
            let load = Load::Constant { rate: Rate { samples: 1, period_ns } };
            Deadline::new(&load, None, None).expect("intended times").deadline_ns
        };
        assert_eq!([of(2_500_000), of(50_000_000), of(5_000_000_000)], [2_500_000, 50_000_000, 50_000_000]);
        let deadline = Deadline { deadline_ns: 1, missed_ppm: MISSED_PPM };
        assert!(deadline.is_met(1, 1_000) && !deadline.is_met(1, 999) && deadline.is_met(0, 0));
        assert!((deadline.limit_pct() - 0.1).abs() < 1e-12);
        assert_eq!(Deadline::new(&Load::Max, Some(5), None), None);
    }
}
