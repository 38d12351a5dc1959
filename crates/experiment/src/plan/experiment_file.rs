//! Experiment file as the user wrote it, each value with its position in the text. `characterize` builds one from
//! its flags.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use crate::{
    factors::{
        FactorType, FactorValues, Matrix, Workload, driver_options::DriverOptions, flow::FlowKind,
        load::Arrival, policies::Policies, profiles::profile_file, rate::RateSpec,
    },
    plan::{
        changes::Changes, choices::PinChoice, flow_sizes::SizeSpec, published_section::PublishedSection,
        search_section::SearchSection, threads::WritingThreads,
    },
    syntax::{
        driver_name::without_version,
        host_spec::HostSpec,
        is_default,
        one_or_many::{Located, OneOrMany, Span},
        source::{Diagnostic, Source},
        units::{Percent, Time},
    },
};

/// Returns the JSON Schema of [`ExperimentFile`], the text of `schemas/experiment.schema.json`.
///
/// # Panics
/// Never panics: a schema always serializes to JSON.
#[cfg(feature = "schema")]
#[must_use]
pub fn json_schema() -> String {
    let mut schema = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator()
        .into_root_schema_for::<ExperimentFile>();
    schema.insert("title".to_owned(), "An experiment of ddsmark".into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// An experiment: a question, and the measurements that answer it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Question that the experiment answers, as free text. Recorded in the result.
    pub question: Located<String>,
    /// Workloads to measure, one or several: `latency` (one sample in flight), `throughput` (as fast as
    /// back-pressure allows), `paced` (open loop, at planned times), `search` (the highest sustained rate).
    pub workload: OneOrMany<Workload>,
    /// Factors to vary. Every combination of their values is a cell.
    #[serde(default)]
    pub factors: Matrix,
    /// QoS policies of writers and readers in every cell.
    #[serde(default, skip_serializing_if = "is_default")]
    pub qos: Policies,
    /// Named sets of QoS policies, the values of the factor `profile`. Each overrides `[qos]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<Located<String>, Policies>,
    /// Named sets of QoS policies that profiles are measured over, the values of the factor `base`. Each overrides `[qos]`, and each
    /// profile overrides it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bases: BTreeMap<Located<String>, Policies>,
    /// Driver options, by driver and option name; `ddsmark drivers info D` lists them. A list makes the option a
    /// factor. The options of `NAME` also apply to each `NAME@VERSION` that has no table of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<Located<String>, DriverOptions>,
    /// Flows of the workload `paced`, at most 1000: all of them run at the same time, each with its own topic. They
    /// replace the factors `size`, `rate`, `arrival` and `trace`. Only the workloads `paced` and `search` are allowed with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Located<FlowSection>>,
    /// Hosts of the experiment, each an entry `[[host]]`. Default: only this host.
    #[serde(rename = "host", default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Located<HostSection>>,
    /// Goals and precision of the workload `search`.
    pub search: Option<Located<SearchSection>>,
    /// Published figures to show beside the measured values, one table of a source in each entry `[[published]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Located<PublishedSection>>,
    /// Names of published figures that the command contains, to show in the same way: `seed-000` and others, which `ddsmark report
    /// --overlay` shows beside the values of any result.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub overlay: OneOrMany<String>,
    /// Number, duration and order of runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub design: DesignSection,
    /// Maximum duration of each phase of a run. A phase that takes longer fails the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: LimitsSection,
    /// Keys with dots that the command line sets, and what it leaves out of the file.
    #[serde(skip)]
    pub changes: Changes,
}

/// A stream of samples with its own topic. It needs exactly one of `rate` and `trace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlowSection {
    /// Unique name: 1 to 64 letters, digits and `-`.
    pub name: Located<String>,
    /// Number of equal flows, 1 to 1000: `NAME-1`, `NAME-2` and so on, which share a row of the report. Default: one flow, `NAME`.
    pub count: Option<Located<u32>>,
    /// Payload of a sample in bytes, at least 16, with the 16-byte header. Samples of different sizes: `{ values = [64, 1024], weights =
    /// [9, 1] }`, or `{ median = "200kB", p99 = "450kB" }` (log-normal), drawn with `seed` of `[design]`: the same in all cells and runs.
    /// Rejected with a `trace` that has sizes; needed by all other flows.
    pub size: Option<Located<SizeSpec>>,
    /// Offered rate, such as `1000` samples/s or `"1/5s"`. Percentages, `max` and `throttled` are rejected.
    pub rate: Option<Located<RateSpec>>,
    /// Distribution of the send times of `rate`. Default `constant`. Rejected with `trace`.
    pub arrival: Option<Located<Arrival>>,
    /// File with the intended send time of each sample, as for the factor `trace`. After each time the size of the sample in bytes may
    /// follow, as in `0.0125 1024`: the samples then have these sizes in this order.
    pub trace: Option<Located<String>>,
    /// Time of the first sample after the start, less than `measure`. Default: random within the period, from the name of the flow and
    /// `seed` of `[design]` (0 by default here): the same in all cells and runs. 0 with `poisson` and `trace`.
    pub phase: Option<Located<Time>>,
    /// Deadline of the response times, 1 µs to 1 hour: a planned sample that has not arrived by then is missed. Default: the period,
    /// at most `50ms`.
    pub deadline: Option<Located<Time>>,
    /// Share of the planned samples that may be missed, less than `100%`. Default `0.1%`.
    pub missed: Option<Located<Percent>>,
    /// Name of the process that writes the flow, or a list of names: each has a writer of its own, with this rate. Names have 1 to 64
    /// letters, digits and `-`. A process is one participant, which writes its flows and reads those that name it in `to`. Default:
    /// `writer`.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub from: OneOrMany<String>,
    /// Name of the process that reads the flow, or a list of names. Default: `reader`.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub to: OneOrMany<String>,
    /// `foreground`, or `background` for traffic that the factor `background` leaves out. Default `foreground`.
    pub kind: Option<FlowKind>,
    /// QoS of the flow's writer and reader, such as `{ reliability = "best_effort" }`. Overrides `[qos]` and the
    /// profile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub qos: Policies,
}

impl ExperimentFile {
    /// Creates an experiment of these workloads that is not from a file.
    #[must_use]
    pub fn new(question: &str, workload: OneOrMany<Workload>) -> Self {
        Self { question: Located::nowhere(question.to_owned()), workload, ..Self::default() }
    }

    /// Returns the options of a driver, and the name they are given for: the driver's own, or its name without a
    /// version.
    pub(crate) fn options_of(&self, driver: &str) -> Option<(&Located<String>, &DriverOptions)> {
        let of = |name: &str| self.options.get_key_value(&Located::nowhere(name.to_owned()));
        of(driver).or_else(|| of(without_version(driver)?))
    }

    /// Returns whether a selection is of profiles or bases that the file defines, of which these cells have none.
    pub(crate) fn defines_unused(&self, selection: &FactorValues, cells: &FactorValues) -> bool {
        [("profile", &self.profiles), ("base", &self.bases)].into_iter().any(|(key, defined)| {
            let selected = selection.all::<String>(key);
            let is_unused = |name: &Located<String>| {
                defined.contains_key(name) && !cells.contains(key, &name.get().clone().into())
            };
            !selected.0.is_empty() && selected.0.iter().all(is_unused)
        })
    }

    /// Returns the values of a factor: those of `[factors]`, then those of the included cells.
    ///
    /// # Panics
    /// Panics if no factor has this key, or if its values have another type.
    pub fn values_of<T: FactorType>(&self, key: &str) -> impl Iterator<Item = Located<T>> {
        self.all_values().flat_map(move |values| values.all(key).0)
    }

    /// Returns the values of `[factors]`, then those of each entry of `include`.
    pub fn all_values(&self) -> impl Iterator<Item = &FactorValues> {
        std::iter::once(&self.factors.values).chain(self.factors.include.iter().map(Located::get))
    }

    /// Returns the first of these factors that is given in `[factors]`, else in `include`, with its position.
    pub(crate) fn first_given<'k>(&self, keys: &[&'k str]) -> Option<(Span, &'k str)> {
        self.all_values().find_map(|values| keys.iter().find_map(|key| Some((values.span(key)?, *key))))
    }

    /// Returns the files of QoS profiles that the experiment names, each a name or a list of names.
    pub fn qos_files(&self) -> impl Iterator<Item = Located<String>> {
        self.values_of::<String>("profile").filter_map(|name| {
            let file = profile_file(name.get()).filter(|_| !self.profiles.contains_key(&name))?.to_owned();
            Some(name.map(|_| file))
        })
    }

    /// Returns the trace files that factors, included cells and flows name.
    pub fn traces(&self) -> impl Iterator<Item = Located<String>> {
        self.values_of("trace").chain(self.flows.iter().filter_map(|flow| flow.get().trace.clone()))
    }
}

impl Source {
    /// Parses the file and applies the changes.
    ///
    /// # Errors
    /// Returns an error if the text is not valid TOML, or not a valid experiment.
    pub fn read(&self) -> Result<ExperimentFile, Diagnostic> {
        let mut file: ExperimentFile = self.read_as()?;
        file.adapt(self.overridden(), self.text.len());
        Ok(file)
    }
}

// The schema has the default of the whole section, in which absent keys are absent.
/// Number, duration and order of runs. Give either `blocks` or `precision`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DesignSection {
    /// Number of blocks: each block runs all cells once, in random order. Findings need 3. Default with a `baseline`:
    /// one more than the claims of the plan need, 8 for 2 claims and 12 for 38. Default without one: 6, the minimum
    /// for a 95 % CI. With fewer blocks than the claims need, the plan notes that it supports no claim.
    pub blocks: Option<Located<u32>>,
    /// Target precision instead of `blocks`, `0.1%` to `50%`: half the width of the 95 % CI of each ratio to the
    /// baseline; without a baseline, of each cell's own level.
    pub precision: Option<Located<Percent>>,
    /// Maximum duration of the experiment. With `precision` it limits the number of blocks; default `10min`. A plan
    /// that takes longer is rejected.
    pub budget: Option<Located<Time>>,
    /// Blocks that are measured before `precision` determines the number of blocks, 3 to 40. Default: as for
    /// `blocks`.
    pub pilot: Option<Located<u32>>,
    /// Seed of the run order, the payload and random send times. Default: from the clock. Recorded in the result.
    pub seed: Option<u64>,
    /// DDS domain of all runs, 0 to 232. Default: a free one of 1 to 100 for each run. Recorded in the result.
    pub domain: Option<Located<u32>>,
    /// Warm-up of each run, 0 to 10 minutes: the same traffic, not recorded. Default `200ms`.
    pub warm_up: Option<Located<Time>>,
    /// Measured time of each run, 20 ms to 1 hour. Default `800ms`.
    pub measure: Option<Located<Time>>,
    /// Every byte of every Nth sample is checked; of the other samples, only the header. N is at least 1, by
    /// default 64.
    pub check_every: Option<Located<u32>>,
    /// Every Nth sample of the workloads `throughput` and `paced`, N at least 101, is echoed by its reader, from the first on. Of
    /// several writers the first one probes, and of several readers the first one echoes. The round-trip time under load
    /// is recorded as `rtt`. Default: no echo probes.
    pub probe_every: Option<Located<u32>>,
    /// CPU cores of writer and reader. `auto` gives each of them half of the available cores; a single core is not
    /// pinned. Default `auto`.
    pub pin: Option<Located<PinChoice>>,
    /// Whether spinning threads of the lowest priority keep the cores from idling. Default `false`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_awake: bool,
    /// Whether each block measures a reference, the round-trip time and rate of a bare UDP socket, before and after
    /// its runs: about 5 % of a block, 60 ms to 300 ms. Claims between two results need it. Default `true`.
    pub reference: Option<bool>,
    /// Whether each block measures before and after its runs how much time other work takes from the cores: about 5 % of a
    /// block, 100 ms to 2 s, in which it keeps all cores of the runs busy. Without it, no block counts as noisy. Default `true`.
    pub noise_probe: Option<bool>,
    /// Whether the writer of the workloads `paced` and `search` spins for the last part of a wait, for exact send
    /// times. With `false` it only sleeps: less CPU time, less exact. Default `true`; `false` if several threads write more than
    /// 2000 samples/s.
    pub spin: Option<Located<bool>>,
    /// Threads that write the flows of a process: `per-topic`, `one`, or groups of names such as `[["imu"], ["camera", "lidar"]]`,
    /// with a thread for each other flow. A table has one of these for each process that it names, such as `{ sensors = "one" }`; the
    /// others have a thread for each flow. One thread delays a small sample while it writes a large one. Default `per-topic`; `one` for
    /// a reader that joins late.
    pub threads: Option<Located<WritingThreads>>,
    /// Whether a block that other load on the host disturbed is repeated at the end; both stay in the result.
    /// Default `true` with a baseline, else `false`.
    pub repeat_noisy: Option<bool>,
    /// Cells that the others are compared with. Each of them is measured twice in every block; the difference
    /// between the two is the noise floor (A/A).
    pub baseline: Option<Located<FactorValues>>,
    /// Cells that are measured in few blocks and support no claim, if the budget has time for them.
    pub second_tier: Option<Located<SecondTierSection>>,
    /// Whether each run is made at the same time as a run of its baseline, each on half of the cores, swapped in
    /// every block. Host noise then disturbs both. Only their ratio is valid: absolute values are under duet
    /// interference. Needs a baseline, 4 cores, `workload = "latency"` and no multicast. Default `false`.
    pub duet: Option<Located<bool>>,
}

/// Cells that are measured in few blocks, to explore: no claim is made about them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecondTierSection {
    /// Cells of the second tier: those that have one of the given values of each given factor. They are measured if `budget` has time for
    /// them after all blocks of the others, and left out with a note if not.
    pub cells: Located<FactorValues>,
    /// Number of blocks, 2 or more: the first ones of the experiment. Default 3.
    pub blocks: Option<Located<u32>>,
}

/// Maximum duration of each phase of a run, 1 ms to 1 hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsSection {
    /// From the start of an agent process to its first message. Default `10s`.
    pub hello: Option<Located<Time>>,
    /// Opening of the DDS entities. Default `20s`.
    pub configure: Option<Located<Time>>,
    /// From the opened entities until writer and reader match. Default `10s`.
    #[serde(rename = "match")]
    pub matching: Option<Located<Time>>,
    /// Additional time of a traffic phase, beyond its planned duration. Default `10s`.
    pub grace: Option<Located<Time>>,
    /// From the last write until the reader stops waiting for samples. Default `5s`.
    pub drain: Option<Located<Time>>,
    /// Transfer of the agents' records. Default `30s`.
    pub report: Option<Located<Time>>,
    /// From the request to exit until the process is killed. Default `5s`.
    pub exit: Option<Located<Time>>,
    /// Minimum time without an echo after which a ping is lost; at least 100 times the median of the warm-up. Default `200ms`
    /// and the delay of the links of a lab. Set it for longer paths between hosts: a ping that is late does not fail the run.
    pub ping: Option<Located<Time>>,
}

/// Host of an experiment, or the hosts of a lab. Agents run on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Unique name: letters, digits, `-`, `_` and `.`. Not for `lab:N`, whose hosts are `h1`, `h2` and so on, and not for
    /// `slurm`, whose hosts have the names of the nodes.
    pub name: Option<Located<String>>,
    /// Way to reach the host: `local` (this host), `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this
    /// host, or `slurm[:NODE]`, a node of the allocation of Slurm that ddsmark runs in, or each of its nodes.
    /// `lab:N` creates N virtual hosts with links, and removes them at the end:
    /// `lab:4,rate=100mbit,delay=1ms,loss=0.1%,mtu=1500`, of which all but the number may be left out. A lab needs root, and
    /// is the only entry.
    pub at: Located<HostSpec>,
    /// Network interface that leads to the other hosts, for `interface = "auto"`. Default: the one in the network that
    /// all hosts share.
    pub interface: Option<Located<String>>,
}
