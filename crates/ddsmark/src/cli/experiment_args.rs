//! Arguments of the commands that measure an experiment.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    exit_status::EXIT_STATUS,
    measure_args::{MeasureArgs, ReferenceArgs},
    result_args::OutputArgs,
};

const CHARACTERIZE_EXAMPLES: &str = "\
Examples:
  ddsmark characterize
      every installed driver, 12 sizes, over loopback: some minutes
  ddsmark characterize --driver udp --size 64,1024 --quick
      one driver, two sizes: seconds
  ddsmark characterize --precise --keep-awake --out today
      values to quote, on a quiet host
  ddsmark characterize --driver ./libddsmark_mine.so --json >mine.json
      a driver of your own, for a program to read";

const LATENCY_EXAMPLES: &str = "\
Examples:
  ddsmark latency
      every installed driver, with samples of 64 bytes to 16 KiB
  ddsmark latency --driver udp --size 64 --quick
      one driver, one size: seconds
  ddsmark latency -d udp,tcp -s 64 --baseline udp
      is the second slower than the first, and by how much?
  ddsmark latency -d udp -s 64 --qos best_effort -n 10
      ten runs of a configuration";

const THROUGHPUT_EXAMPLES: &str = "\
Examples:
  ddsmark throughput --driver udp --size 1024 --quick
      one driver, one size: seconds
  ddsmark throughput -d tcp -s 64 --batch-bytes 0,8192
      without batches, and with batches of up to 8 KiB";

const LOAD_EXAMPLES: &str = "\
Examples:
  ddsmark load --driver udp --rate 10k --quick
      what does it do at 10,000 samples/s?
  ddsmark load -d tcp -s 64 -r 1000,10k,50% -o result
      two rates, and half of the highest one";

const SEARCH_EXAMPLES: &str = "\
Examples:
  ddsmark search --driver udp --size 64
      its highest rate
  ddsmark search -d tcp -s 64 --goal slo --deadline 1ms --duration 5s
      the highest rate at which 99.9 % arrive within 1 ms, by trials of 5 s
  ddsmark search ./system.toml -d udp --runs 1 --duration 5s
      how much more can a system carry? (headroom 1.8 x; cmd-vel fails first)";

const DISCOVERY_EXAMPLES: &str = "\
Examples:
  ddsmark discovery --participants 10 --endpoints 4
      ten processes with four writers and four readers each
  ddsmark discovery --participants 2,4,8,16,32 --join together,late
      how it grows, and what one late participant takes";

/// Examples of the command.
pub const RUN_EXAMPLES: &str = "\
Examples:
  ddsmark run qos-cost --dry-run
      what a recipe of `ddsmark recipes list` would measure, and for how long
  ddsmark run latency-vs-size --driver udp,tcp --size 64,1024 --runs 12
      a recipe with other values
  ddsmark run --resume today
      resume an interrupted experiment
  ddsmark recipes show receive-modes >mine.toml
      a recipe as the start of your own file: `ddsmark run mine.toml`";

/// Examples of the command.
pub const SELFTEST_EXAMPLES: &str = "\
Examples:
  ddsmark selftest --quick
      a first look, with the bare socket: under a minute
  ddsmark selftest --driver tcp --pairs 40
      smaller differences, with another driver";

/// Commands with an experiment that comes with them.
#[derive(Debug, Subcommand)]
pub enum BuiltInCommand {
    /// Measure round-trip times: one sample in flight.
    ///
    /// Without a driver, every installed one is measured. Each cell (driver, size, transport, ...) is measured several
    /// times with fresh processes, in random order. The result is saved after every run.
    #[command(before_help = LATENCY_EXAMPLES, after_long_help = EXIT_STATUS)]
    Latency(Box<MeasureArgs>),
    /// Measure throughput: samples as fast as back-pressure allows.
    ///
    /// Without a driver, every installed one is measured. `--batch-bytes 0,8192` adds batches.
    #[command(before_help = THROUGHPUT_EXAMPLES, after_long_help = EXIT_STATUS)]
    Throughput(Box<MeasureArgs>),
    /// Measure response times at given rates: samples at planned times, whether the middleware keeps up or not.
    ///
    /// Rates are in samples/s, in bit/s, or in percent of the maximum, which is measured first.
    #[command(before_help = LOAD_EXAMPLES, after_long_help = EXIT_STATUS)]
    Load(Box<MeasureArgs>),
    /// Search for the highest rate without loss, or for the headroom of a system.
    ///
    /// Each run is a search (MLRsearch): trials at rates that close in on the highest one. `--duration` is the time of a
    /// full-length trial, by default `1s`; three that agree judge a rate. With the file of a system, the rates of all its
    /// flows are multiplied, until one of them exceeds its limit of missed samples.
    #[command(before_help = SEARCH_EXAMPLES, after_long_help = EXIT_STATUS)]
    Search(Box<SearchArgs>),
    /// Measure discovery: how long participants take to find each other, and what it costs.
    ///
    /// All participants, each a process of its own, are opened at the same instant, or the last one when the others are
    /// matched. Only for drivers of middleware that has discovery.
    #[command(before_help = DISCOVERY_EXAMPLES, after_long_help = EXIT_STATUS)]
    Discovery(Box<DiscoveryArgs>),
    /// Measure latency and throughput over sample sizes, with and without batching.
    ///
    /// Each cell (driver, size, workload, batching) is measured several times with fresh processes, in random
    /// order. The result is saved after every run. The first screen of `ddsmark report` is printed at the end.
    #[command(before_help = CHARACTERIZE_EXAMPLES, after_long_help = EXIT_STATUS)]
    Characterize(Box<CharacterizeArgs>),
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// File or recipe of a system, to find its headroom.
    ///
    /// An experiment with `[[flows]]`. Without it, the rate of one flow is searched for. The name of a file has a `/` or an extension, such as
    /// `.toml`.
    #[arg(value_name = "FILE|RECIPE")]
    pub experiment: Option<String>,

    #[command(flatten)]
    pub measure: MeasureArgs,

    /// Goals `ndr`, `pdr` and `slo`; several with commas.
    ///
    /// `ndr` allows no loss, `pdr` at most 0.5 % lost, `slo` at most 0.1 % later than the deadline. By default `ndr,pdr`.
    /// A system has only `system`: each flow within its limit.
    #[arg(long, value_name = "GOAL", value_delimiter = ',', help_heading = "Design")]
    pub goal: Vec<String>,

    /// Deadline of the goal `slo`, such as `1ms`.
    ///
    /// Maximum time from the planned send time of a sample to its arrival.
    #[arg(long, value_name = "TIME", help_heading = "Design")]
    pub deadline: Option<String>,

    /// Try scales that this host or a link cannot carry.
    #[arg(long, requires = "experiment", help_heading = "Design")]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct DiscoveryArgs {
    /// Number of participants, 2 to 1000; several with commas. By default `10`.
    ///
    /// Each is a process of its own, unless `--participants-per-process` says otherwise. Short for `--topology full-mesh-N`.
    #[arg(
        short,
        long,
        value_name = "N",
        value_delimiter = ',',
        conflicts_with = "topology",
        help_heading = "Factors"
    )]
    pub participants: Vec<String>,

    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct CharacterizeArgs {
    /// Workload to measure; several with commas. By default `latency,throughput`.
    #[arg(short, long, value_name = "KIND", help_heading = "Factors")]
    pub workload: Option<String>,

    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Experiment file, or name of a recipe.
    ///
    /// The name of a file has a `/` or an extension, such as `.toml`.
    #[arg(value_name = "FILE|RECIPE", required_unless_present = "resume")]
    pub experiment: Option<String>,

    /// Resume the interrupted experiment in this result directory.
    ///
    /// After Ctrl-C, a crash or a reboot; also of the other commands that measure. Saved runs are kept, the others are measured as planned. Rejected if drivers, libraries or the host have
    /// changed; see `--force`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiment", "out"])]
    pub resume: Option<PathBuf>,

    /// Measure what this host or a link cannot carry; with `--resume`, ignore what has changed.
    ///
    /// A system is rejected if its flows need more than the links between its hosts carry, or more than twice what this host carries over
    /// loopback. With `--resume`: although drivers, libraries or the host have changed. The result records the changes.
    #[arg(long)]
    pub force: bool,

    /// Workload to measure; several with commas.
    #[arg(short, long, value_name = "KIND", help_heading = "Factors")]
    pub workload: Option<String>,

    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct SelfTestArgs {
    /// Driver to measure with. By default `udp`, the bare socket.
    ///
    /// A name, `NAME@VERSION`, or the path of a file.
    #[arg(long, value_name = "D")]
    pub driver: Option<String>,

    /// Take a first look: 8 pairs of short runs, under a minute. By default 20 pairs, about four minutes.
    #[arg(long)]
    pub quick: bool,

    /// Number of pairs of runs of each cell, 8 to 1000.
    ///
    /// Fewer pairs cannot show a difference.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=1000))]
    pub pairs: Option<u32>,

    /// Seed of the run order and the payload. By default from the clock. Recorded in the result.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// DDS domain of all runs, 0 to 232. By default a free one of 1 to 100 for each run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=232))]
    pub domain: Option<u32>,

    #[command(flatten)]
    pub reference: ReferenceArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}
