//! An experiment as written: what stands in a file, each value with its place. `characterize` writes one from its flags.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    BatchSamples, ReceiveMode, Refusal, Topology, VariableValue, Workload, WrittenGroup,
    ends::End,
    many::{At, Many},
    pairing::without_version,
    policies::Policies,
    rate::{Arrival, WrittenRate},
    search::WrittenSearch,
    units::{Percent, Size, Time},
};

/// The JSON Schema of [`Written`]: the text of `schemas/experiment.schema.json`.
///
/// # Panics
/// Never: a schema is JSON.
#[must_use]
pub fn json_schema() -> String {
    let mut schema =
        SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<Written>();
    schema.insert("title".to_owned(), "An experiment of ddsmark".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// An experiment: a question, and what is measured to answer it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// What it asks, for people. It stands in the result.
    pub question: At<String>,
    /// What is measured: one or several.
    pub workload: Many<Workload>,
    /// Who writes to whom.
    #[serde(default = "pair")]
    pub topology: Topology,
    /// What is varied: every combination is a cell.
    #[serde(default)]
    pub factors: Matrix,
    /// QoS of writers and readers in every cell.
    #[serde(default, skip_serializing_if = "is_default")]
    pub qos: Policies,
    /// Named sets of policies, for the factor `profile`. Each is laid over `[qos]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<At<String>, Policies>,
    /// Options of each driver, by driver and name; see `ddsmark drivers info D`. A list makes the option a factor. Those of `NAME`
    /// hold for each `NAME@VERSION` that has no table of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<At<String>, WrittenOptions>,
    /// Streams of samples of the workload `paced`, all in each run, each with a topic of its own. In the place of the factors
    /// `size`, `rate`, `arrival` and `trace`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<At<WrittenFlow>>,
    /// Of the workload `search`: what is searched for, and how exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<At<WrittenSearch>>,
    /// How often, how long, in which order.
    #[serde(default)]
    pub design: WrittenDesign,
    /// How long each phase of a run may take at most. A phase that takes longer fails the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: WrittenLimits,
}

/// Options of a driver, by name.
pub(crate) type WrittenOptions = BTreeMap<At<String>, Many<OptionValue>>;

/// One stream of samples. It has one of `rate` and `trace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenFlow {
    /// Its name: letters, digits and `-`.
    pub name: At<String>,
    /// Payload of a sample, with the 16-byte sample header in it.
    pub size: At<Size>,
    /// How many samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<At<WrittenRate>>,
    /// When they are to leave. Without it `constant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival: Option<At<Arrival>>,
    /// A file with the time of each sample, as the factor `trace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<At<String>>,
    /// QoS of its writer and reader: `{ reliability = "best_effort" }`. It is laid over `[qos]` and the profile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub qos: Policies,
}

impl Written {
    /// The policies of writers and of readers: of all, and of each profile over them; and of each flow over these.
    pub(crate) fn all_policies(&self) -> impl Iterator<Item = (End, Policies)> {
        let profiles = self.profiles.values().map(|profile| profile.over(&self.qos));
        let mut all: Vec<Policies> = profiles.chain([self.qos.clone()]).collect();
        for flow in &self.flows {
            let of_flow: Vec<Policies> = all.iter().map(|base| flow.get().qos.over(base)).collect();
            all.extend(of_flow);
        }
        all.into_iter().flat_map(|policies| End::BOTH.map(|end| (end, policies.of_end(end))))
    }

    /// Refuses policies that are asked of an end that has them not.
    pub(crate) fn check_ends(&self) -> Result<(), Refusal> {
        let of_flows = self.flows.iter().map(|flow| &flow.get().qos);
        self.profiles.values().chain([&self.qos]).chain(of_flows).try_for_each(Policies::check_ends)
    }

    /// The options of a driver, and for whom they are written: for it, or for its name without a version.
    pub(crate) fn options_of(&self, driver: &str) -> Option<(&At<String>, &WrittenOptions)> {
        let of = |name: &str| self.options.get_key_value(&At::nowhere(name.to_owned()));
        of(driver).or_else(|| of(without_version(driver)?))
    }

    /// Files of times that are to be followed.
    pub fn traces(&self) -> impl Iterator<Item = &At<String>> {
        let included = self.factors.include.iter().filter_map(|selection| selection.get().trace.as_ref());
        let factors = self.factors.trace.iter().chain(included).flat_map(|many| &many.0);
        factors.chain(self.flows.iter().filter_map(|flow| flow.get().trace.as_ref()))
    }
}

const fn pair() -> Topology {
    Topology::Pair
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The factors of an experiment, each one value or a list. Every combination of all values is a cell, but for those that
/// are excluded. A combination that cannot be is refused; where it is there only since no driver was named, it is left out
/// with a note.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Drivers: names, `NAME@VERSION` for a version of the middleware, `WRITER+READER` for ends with different drivers, or paths of
    /// files. Without it every installed driver that is no simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Many<String>>,
    /// Transports. Without it, or as `default`, the default of each driver; `all` is each one that a driver has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Many<String>>,
    /// Payload of a sample, with the 16-byte sample header in it. Without it 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Many<Size>>,
    /// Of the workload `paced`: how many samples are to leave. Each rate is measured with each arrival. With `%` it is of what the
    /// same cell has without a plan, which is measured before the first block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Many<WrittenRate>>,
    /// When the samples of a rate are to leave. Without it `constant`. A burst of `k` samples every `T` is the rate `"k/T"`; with
    /// one sample it is the same as `constant`. It changes nothing about `max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Many<Arrival>>,
    /// Further plans of the workload `paced`: files, beside the experiment's own, with the intended time of one sample a line, in
    /// seconds from the begin, ascending. Empty lines and those that begin with `#` are passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Many<String>>,
    /// Ceiling on payload bytes per flush of throughput and of a paced load; 0 is unbatched. Without it 0. It changes nothing
    /// about latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_bytes: Option<Many<Size>>,
    /// The same in samples: so many make a batch, 1 is unbatched. With `turbo` a batch holds as many as are due: a sample waits
    /// only while the next one is due already, up to 8 KiB, or to another ceiling as in `turbo 16KiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_samples: Option<Many<BatchSamples>>,
    /// How samples are received. Without it `waitset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<Many<ReceiveMode>>,
    /// Samples that a writer may hold back: its limit of RESOURCE_LIMITS; of a middleware that bounds bytes, those of so many
    /// samples. Without it as much as `[qos]` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<Many<u32>>,
    /// Samples that a reader may hold, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_queue: Option<Many<u32>>,
    /// Send buffer of the sockets in bytes; 0 is the driver's default. Without it 0. A kernel may grant another size: the result
    /// has what it granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Many<Size>>,
    /// Receive buffer of the sockets, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Many<Size>>,
    /// Samples that the reader's application is given together: `8/5ms` is a group of 8, or of what came 5 ms after the first.
    /// Without it 1: each as soon as it is there. ddsmark groups by itself, with every driver. It changes nothing about
    /// latency, and nothing about receiving by polling or listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_group: Option<Many<WrittenGroup>>,
    /// Of readers that receive by polling: how long they sleep when nothing is there, up to `100ms`; `0s` is not at all. Without it
    /// not at all. It changes nothing about latency, and nothing about receiving in other ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polling_delay: Option<Many<Time>>,
    /// Network interfaces. Without it `lo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Many<String>>,
    /// Whether data is to go by multicast. Without it `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multicast: Option<Many<bool>>,
    /// Whether each middleware runs as it is shipped: what a driver sets without being asked, and the sizes of queues, are left
    /// away; what the workload needs, and what is written here, still holds. Without it `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_defaults: Option<Many<bool>>,
    /// Names of `[profiles]`. Without it every one, `default` first. `default` is `[qos]` alone, unless there is a profile
    /// of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Many<String>>,
    /// Environment variables of the agents, by name: `LD_PRELOAD`, `LD_LIBRARY_PATH`, or those that a middleware reads. `false`
    /// removes a variable, `""` sets it to nothing; what is not named is inherited. A list makes the variable a factor, `env.NAME`.
    /// Only the agents are given them, and not what `ddsmark drivers` asks of a driver.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<At<String>, Many<VariableValue>>,
    /// Cells that are left out: those that match any of these. A driver need not be able to do what is left out of it. One that
    /// matches no cell is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<At<Selection>>,
    /// Further cells: every combination with what is given here in the place of the factors above. Not subject to
    /// `exclude`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<At<Selection>>,
}

/// Some cells of the matrix: those that have, of each factor given, one of the values given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Many<Workload>>,
    /// Drivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Many<String>>,
    /// Transports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Many<String>>,
    /// Sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Many<Size>>,
    /// Rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Many<WrittenRate>>,
    /// Arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Many<Arrival>>,
    /// Files of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Many<String>>,
    /// Ceilings of batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_bytes: Option<Many<Size>>,
    /// Samples of batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_samples: Option<Many<BatchSamples>>,
    /// Ways to receive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<Many<ReceiveMode>>,
    /// Send queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<Many<u32>>,
    /// Receive queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_queue: Option<Many<u32>>,
    /// Send buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Many<Size>>,
    /// Receive buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Many<Size>>,
    /// Groups at the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_group: Option<Many<WrittenGroup>>,
    /// Delays of polling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polling_delay: Option<Many<Time>>,
    /// Network interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Many<String>>,
    /// Multicast or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multicast: Option<Many<bool>>,
    /// As shipped or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_defaults: Option<Many<bool>>,
    /// Profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Many<String>>,
    /// Environment variables of the agents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<At<String>, Many<VariableValue>>,
}

/// How often, how long, in which order. Either `blocks`, or `precision` with `budget`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenDesign {
    /// Runs of each cell, at least 3: passes over all cells, each in random order. Default with a `baseline`: one more than the
    /// claims of the plan need, 8 for 2 claims and 12 for 38; without one 6, the minimum for a 95 % interval. With fewer than
    /// the claims need, the plan says that it supports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<At<u32>>,
    /// Instead of `blocks`: half the width of the 95 % interval to reach, of each ratio to the baseline; without a baseline, of
    /// each cell's own level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<At<Percent>>,
    /// What the whole may take. With `precision`, no more blocks are made than have room, `10min` without it; a fixed number
    /// of blocks that takes longer is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<At<Time>>,
    /// With `precision`: blocks before the number of blocks is decided, from the figures of every metric. Default: that of `blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pilot: Option<At<u32>>,
    /// Seed of the order of runs and of the payload. Without it, from the clock; it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Warm-up of each run: the same traffic, not recorded. Without it `200ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<At<Time>>,
    /// Measured time of each run. Without it `800ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<At<Time>>,
    /// Every byte of one in so many samples is checked; of the others the header. Without it 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_every: Option<At<u32>>,
    /// Of the workloads `throughput` and `paced`: every so manyth sample, 101st or rarer, is sent back by its reader, and the
    /// round trip under load is recorded as `rtt`. Without it none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_every: Option<At<u32>>,
    /// Cores for the two ends of each run. Without it `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<At<PinChoice>>,
    /// Keep the cores from idling, with spinning threads of the lowest priority. Without it they may idle.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_awake: bool,
    /// Whether each block measures a reference, the round trip and the rate of a bare UDP socket, before and after its runs: about
    /// 5 % of a block, 60 ms to 300 ms. Claims between two results need it. Default `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<bool>,
    /// Of the workload `paced`: whether the writer spins for the last part of a wait, to be on time. Without it `true`; with
    /// `false` it only sleeps, which costs less and is less exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<At<bool>>,
    /// Whether a block that other work on the host disturbed is made once more at the end; both stay in the result. Without it
    /// `true` where there is a baseline, else `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_noisy: Option<bool>,
    /// The cells that others are compared with: each of them is measured twice in every block, so that the result shows how
    /// far the same thing differs from itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<At<Selection>>,
    /// Whether each run is made at the same time as one of its baseline, each on half of the cores, swapped in every block:
    /// what disturbs the host disturbs both. Only the ratio of the two counts; absolute figures are under duet interference.
    /// Needs a baseline, 4 cores and workload `latency`. Without it `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duet: Option<At<bool>>,
}

/// How long each phase of a run may take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenLimits {
    /// From the start of a process until it says hello. Without it `10s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello: Option<At<Time>>,
    /// Opening the entities. Without it `20s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configure: Option<At<Time>>,
    /// Until both ends are matched. Without it `10s`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<At<Time>>,
    /// What a phase of traffic may take beyond its planned time. Without it `10s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<At<Time>>,
    /// From the last write until the reader gives up waiting. Without it `5s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<At<Time>>,
    /// Handing over what was recorded. Without it `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<At<Time>>,
    /// From the order to end until the process is killed. Without it `5s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<At<Time>>,
}

/// Value of an option of a driver: text, a whole number or true or false. A driver is always given its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OptionValue(pub String);

/// Which cores to use: `"auto"` (half of those that may be used for each end; a single core is not pinned), `"none"`, or
/// those of writer and reader, `"0,1"` or `"0-3,4-7"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinChoice {
    /// The scheduler decides.
    None,
    /// Half of the cores for each end.
    Auto,
    /// Writer (or pinger) on the first of these, reader (or ponger) on the second.
    Cores(Vec<u32>, Vec<u32>),
}

impl PinChoice {
    /// What to write.
    pub const EXPECTED: &str = "`none`, `auto`, or cores for the two ends such as `0,1` or `0-3,4-7`";

    /// As written.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse::<u32>().ok()?);
            (first <= last && last < 4096).then(|| (first..=last).collect::<Vec<u32>>())
        };
        match text {
            "none" => Some(Self::None),
            "auto" => Some(Self::Auto),
            _ => {
                let (writer, reader) = text.split_once(',')?;
                Some(Self::Cores(range(writer)?, range(reader)?))
            }
        }
    }
}

impl fmt::Display for PinChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |cores: &[u32]| match cores {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        };
        match self {
            Self::None => f.write_str("none"),
            Self::Auto => f.write_str("auto"),
            Self::Cores(writer, reader) => write!(f, "{},{}", range(writer), range(reader)),
        }
    }
}

impl Serialize for PinChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PinChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = PinChoice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(PinChoice::EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<PinChoice, E> {
                PinChoice::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            /// As `--set` has what it finds commas in.
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut parts: A) -> Result<PinChoice, A::Error> {
                let mut ends: Vec<String> = Vec::new();
                while let Some(OptionValue(end)) = parts.next_element()? {
                    ends.push(end);
                }
                self.visit_str(&ends.join(","))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for PinChoice {
    fn schema_name() -> Cow<'static, str> {
        "Cores".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`auto` (half of the cores that may be used for each end; a single core is not pinned), `none`, or those of writer and reader, `0,1` or `0-3,4-7`.",
            "type": "string",
        })
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for OptionValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = OptionValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a whole number, or true or false")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<OptionValue, E> {
                Ok(OptionValue(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<OptionValue, E> {
                Ok(OptionValue(number.to_string()))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<OptionValue, E> {
                Ok(OptionValue(value.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for OptionValue {
    fn schema_name() -> Cow<'static, str> {
        "OptionValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer", "boolean"] })
    }
}
