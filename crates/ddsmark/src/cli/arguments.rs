//! Command-line arguments: the source of help, man pages, completions and the reference.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Parser, Subcommand};
use experiment::{HostFlag, Percent};
use results::MetricSelector;

use super::{
    exit_status::EXIT_STATUS,
    lab_args::LabCommand,
    measure_args::{MeasureArgs, ReferenceArgs},
    parse,
};

const EXAMPLES: &str = "\
Examples:
  ddsmark characterize
      latency and throughput of every installed driver, and of a bare UDP socket
  ddsmark characterize --driver udp --size 64,1024 --quick
      a first look: one driver, two sizes, seconds
  ddsmark run qos-cost
      what each QoS policy costs: one of the questions of `ddsmark recipes list`
  ddsmark report results/characterize-2026-11-21T20-50-44Z --full
      print all tables of a result
  ddsmark compare before after --fail-if 'rtt-p99 > +5%'
      two results: what differs, what is equivalent, what is inconclusive
  ddsmark drivers list
      what can be measured here";

const ENVIRONMENT: &str = "\
Environment:
  DDSMARK_DRIVER_PATH     directories of drivers, separated by colons
  DDSMARK_DRIVER_SOURCES  the directory with the sources that `drivers install` builds
  DDSMARK_SDK             the directory for the middleware that `drivers install` fetches
  DDSMARK_SSH             the command that connects to other hosts; by default ssh
  DDSMARK_AGENT           the agent program; by default the one in the directory of ddsmark
  NO_COLOR                if set, no output has colour";

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
  ddsmark search -d tcp -s 1KiB --set search.width=5%
      with a wider interval: sooner";

const DISCOVERY_EXAMPLES: &str = "\
Examples:
  ddsmark discovery --participants 10 --endpoints 4
      ten processes with four writers and four readers each
  ddsmark discovery --participants 2,4,8,16,32 --join together,late
      how it grows, and what one late participant takes";

const RUN_EXAMPLES: &str = "\
Examples:
  ddsmark recipes list
      the questions that come with ddsmark
  ddsmark run qos-cost --dry-run
      what would be measured, and for how long
  ddsmark run latency-vs-size --driver udp,tcp --size 64,1024 --runs 12
      a recipe with other values
  ddsmark run --resume today
      resume an interrupted experiment
  ddsmark recipes show receive-modes >mine.toml && ddsmark run mine.toml --out today
      a file of your own";

const COMPARE_EXAMPLES: &str = "\
Examples:
  ddsmark compare before after --factor driver.middleware_version
      two results: what changed with another version of the middleware
  ddsmark compare results/qos:'*/default/*' results/qos:'*/deadline/*' --factor profile
      cells of one result, paired by block
  ddsmark compare before after --fail-if 'rtt-p99 > +5%' --fail-if 'goodput < -5%'
      for CI: exit status 1 only if the difference is real
  ddsmark compare before after --factor host-settings
      a host before and after its settings were changed
  ddsmark compare --interleave 'mine.toml --vendor-defaults' mine.toml --fail-if 'rtt-p99 > +5%'
      measures both in alternating blocks, and compares the second with the first";

const HOSTS_EXAMPLES: &str = "\
Examples:
  ddsmark hosts check pi1=ssh:user@pi1 pi2=ssh:pi2:2222
      can these two be used?
  ddsmark hosts check pi1=ssh:pi1 --driver udp
      and does this driver load there?
  salloc -N2 ddsmark hosts check slurm
      can the nodes of this allocation be used?";

const INSTALL_EXAMPLES: &str = "\
Examples:
  ddsmark drivers versions
      which drivers can be built, and against which versions
  ddsmark drivers install example@2.14
      the highest version that begins with 2.14, beside those that are installed
  ddsmark drivers install example --prefix /opt/ros/jazzy
      against the middleware installed there; nothing is fetched
  ddsmark characterize --driver example@2.14,example@3.2
      two versions, compared with each other";

/// Measure DDS middleware: latency, throughput and resource use, compared with a bare socket.
#[derive(Debug, Parser)]
#[command(name = "ddsmark", version, max_term_width = 100, after_help = format!("{EXAMPLES}\n\n{EXIT_STATUS}\n\n{ENVIRONMENT}"))]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    BuiltIn(BuiltInCommand),
    /// Measure an experiment file or a recipe.
    ///
    /// The whole file is checked before anything is measured. The result is saved after every run. The first
    /// screen of `ddsmark report` is printed at the end.
    #[command(after_help = format!("{RUN_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Run(Box<RunArgs>),
    /// Determine the noise floor of this host: measure the same configuration twice in every block.
    ///
    /// Measures small and large samples, latency and throughput, in pairs of runs without any difference between
    /// them. Reports the spread of runs, the minimum detectable effect with 6, 12 and 24 blocks, and any cell that
    /// differs from itself. The result is stored in `$XDG_STATE_HOME/ddsmark/selftest.json` for
    /// `ddsmark run --dry-run`. Exits with status 1 if a cell differs from itself.
    #[command(after_help = EXIT_STATUS)]
    Selftest(SelfTestArgs),
    /// Show the recipes: experiment files that come with ddsmark.
    #[command(subcommand)]
    Recipes(Recipes),
    /// Print a result: the first screen, or all tables.
    ///
    /// The first screen has at most 40 lines: what was measured, one table over all drivers, the main findings,
    /// warnings, and what to do next.
    Report(ReportArgs),
    /// Compare two results, two cells of one result, or two variants that are measured now.
    ///
    /// Reports for each metric whether it is higher, lower, equivalent or inconclusive. Rejects results that differ
    /// in more than the named factors. Cells of one result are paired by block. Between two results, a difference
    /// counts only if it holds for any share of the host's change, which the reference of each block shows.
    /// `--interleave` measures two variants in alternating blocks, so that nothing else differs between them.
    #[command(after_help = format!("{COMPARE_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Compare(CompareArgs),
    /// Show, install and check drivers.
    #[command(subcommand)]
    Drivers(Drivers),
    /// Check hosts that agents can run on.
    #[command(subcommand)]
    Hosts(Hosts),
    /// Measure with the command line of RTI Perftest: two commands, `-pub` and `-sub`, on hosts that share only the network.
    #[command(disable_help_flag = true)]
    Perftest(PerftestArgs),
    /// Serve agents on this host over standard input and output, for a runner on another one.
    #[command(hide = true)]
    Steward,
    /// Create, remove and list virtual hosts on this host, joined by links with a rate, a delay and a loss.
    #[command(subcommand)]
    Lab(LabCommand),
    /// Generate man pages, completions and the reference of this command.
    #[command(subcommand, hide = true)]
    Generate(Generate),
}

/// Commands with an experiment that comes with them.
#[derive(Debug, Subcommand)]
pub enum BuiltInCommand {
    /// Measure round-trip times: one sample in flight.
    ///
    /// Without a driver, every installed one is measured. Each cell (driver, size, transport, ...) is measured several
    /// times with fresh processes, in random order. The result is saved after every run.
    #[command(after_help = format!("{LATENCY_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Latency(Box<WorkloadArgs>),
    /// Measure throughput: samples as fast as back-pressure allows.
    ///
    /// Without a driver, every installed one is measured. `--batch-bytes 0,8192` adds batches.
    #[command(after_help = format!("{THROUGHPUT_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Throughput(Box<WorkloadArgs>),
    /// Measure response times at given rates: samples at planned times, whether the middleware keeps up or not.
    ///
    /// Rates are in samples/s, in bit/s, or in percent of the maximum, which is measured first.
    #[command(after_help = format!("{LOAD_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Load(Box<WorkloadArgs>),
    /// Search for the highest rate that is sustained without loss.
    #[command(after_help = format!("{SEARCH_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Search(Box<WorkloadArgs>),
    /// Measure discovery: how long participants take to find each other, and what it costs.
    ///
    /// All participants, each a process of its own, are opened at the same instant, or the last one when the others are
    /// matched. Only for drivers of middleware that has discovery.
    #[command(after_help = format!("{DISCOVERY_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Discovery(Box<DiscoveryArgs>),
    /// Measure latency and throughput over sample sizes, with and without batching.
    ///
    /// Each cell (driver, size, workload, batching) is measured several times with fresh processes, in random
    /// order. The result is saved after every run. The first screen of `ddsmark report` is printed at the end.
    #[command(after_help = format!("{CHARACTERIZE_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Characterize(Box<CharacterizeArgs>),
}

/// Arguments of a command with one workload.
#[derive(Debug, Args)]
pub struct WorkloadArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct DiscoveryArgs {
    /// Number of participants, 2 to 1000, each a process of its own: short for `--topology full-mesh-N`; several with
    /// commas. By default `10`.
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

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct CharacterizeArgs {
    /// Workload to measure; several with commas. By default `latency,throughput`.
    #[arg(short, long, value_name = "KIND", help_heading = "Factors")]
    pub workload: Option<String>,

    #[command(flatten)]
    pub measure: MeasureArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Experiment file, with a `/` or an extension such as `.toml`; or name of a recipe.
    #[arg(value_name = "FILE|RECIPE", required_unless_present = "resume")]
    pub experiment: Option<String>,

    /// Resume the interrupted experiment in this result directory, after Ctrl-C, a crash or a reboot. Also resumes
    /// the other commands that measure.
    ///
    /// Saved runs are kept, the others are measured as planned. Rejected if drivers, libraries or the host have
    /// changed; see `--force`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiment", "out"])]
    pub resume: Option<PathBuf>,

    /// Resume although drivers, libraries or the host have changed. The result records the changes.
    #[arg(long, requires = "resume")]
    pub force: bool,

    /// Workload to measure; several with commas.
    #[arg(short, long, value_name = "KIND", help_heading = "Factors")]
    pub workload: Option<String>,

    #[command(flatten)]
    pub measure: MeasureArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct SelfTestArgs {
    /// Driver to measure with: a name, `NAME@VERSION`, or the path of a file. By default `udp`, the bare socket.
    #[arg(long, value_name = "D")]
    pub driver: Option<String>,

    /// Take a first look: 8 pairs of short runs, under a minute. By default 20 pairs, about four minutes.
    #[arg(long)]
    pub quick: bool,

    /// Number of pairs of runs of each cell, 8 to 1000. Fewer pairs cannot show a difference.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=1000))]
    pub pairs: Option<u32>,

    /// Seed of the run order and the payload. By default from the clock. Recorded in the result.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub reference: ReferenceArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Format of a result.
#[derive(Debug, Args)]
#[group(id = "format", multiple = false)]
pub struct FormatArgs {
    /// Print the whole result as JSON.
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print CSV: a row for each run and metric, with its unit and value.
    #[arg(long, help_heading = "Output")]
    pub csv: bool,

    /// Print JSON Lines: an object for each run and metric, with the columns of `--csv`.
    #[arg(long, help_heading = "Output")]
    pub jsonl: bool,

    /// Print Markdown: tables, findings and verdicts for a comment on a pull request.
    #[arg(long, help_heading = "Output")]
    pub markdown: bool,
}

/// Output of a result.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Directory for the result, new or empty. By default `results/NAME-TIME`.
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Print all tables instead of the first screen. Same as `ddsmark report DIR --full` afterwards.
    #[arg(short, long, conflicts_with = "format", help_heading = "Output")]
    pub verbose: bool,

    /// Print no progress and no notes; errors are still printed.
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum Recipes {
    /// List all recipes and their questions.
    List,
    /// Print a recipe, for example as the start of your own file.
    Show {
        /// Name of the recipe.
        recipe: String,
    },
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Directory of a result, or its `result.json`.
    pub result: PathBuf,

    /// Print all tables, their legend, and all findings and warnings.
    #[arg(
        long,
        visible_alias = "verbose",
        short_alias = 'v',
        conflicts_with = "format",
        help_heading = "Output"
    )]
    pub full: bool,

    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Baseline: directory of a result, or its `result.json`; optionally a colon and a cell, in which `*` matches
    /// any text.
    #[arg(value_name = "BASELINE[:CELL]", required_unless_present = "interleave")]
    pub baseline: Option<String>,

    /// Candidate, in the same form. By default, BASELINE is a result of `--interleave`, and its variants are
    /// compared.
    #[arg(value_name = "RESULT[:CELL]")]
    pub treatment: Option<String>,

    /// Measure two variants in alternating blocks, and compare B with A. Each variant is one quoted text with the
    /// arguments of `ddsmark run`, or `characterize` and the arguments of `ddsmark characterize`.
    ///
    /// Each cell of B is compared with the cell of A that agrees with it in all factors that the variants have in
    /// common. Design and limits of both must be equal. `ddsmark run --resume DIR` resumes the result,
    /// `ddsmark compare DIR` compares its variants again.
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = ["baseline", "treatment", "factor", "force"],
        help_heading = "Interleaved"
    )]
    pub interleave: Option<Vec<String>>,

    /// Number of blocks, in each of which all cells of both variants are measured. By default as in the variants.
    #[arg(
        long,
        value_name = "N",
        requires = "interleave",
        conflicts_with = "precision",
        help_heading = "Interleaved"
    )]
    pub blocks: Option<u32>,

    /// Target precision instead of a number of blocks: half the width of the 95 % CI, such as `2%`.
    #[arg(long, value_name = "PERCENT", value_parser = parse::percent, requires = "interleave", help_heading = "Interleaved")]
    pub precision: Option<Percent>,

    /// Maximum duration of the whole measurement, such as `10min`.
    #[arg(long, value_name = "TIME", value_parser = parse::time, requires = "interleave", help_heading = "Interleaved")]
    pub budget: Option<Duration>,

    /// Print the plan without measuring.
    #[arg(long, requires = "interleave", help_heading = "Interleaved")]
    pub dry_run: bool,

    /// Directory for the result, new or empty. By default `results/NAME-TIME`.
    #[arg(short, long, value_name = "DIR", requires = "interleave", help_heading = "Interleaved")]
    pub out: Option<PathBuf>,

    /// Factor in which the two may differ, such as `driver`, `size`, `qos.reliability`, `design.pin` or
    /// `env.net.core.rmem_max`; or a group, such as `qos` or `env`. `host-settings` compares a host before and after tuning:
    /// the change of the reference is then a part of the effect. Can be repeated.
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub factor: Vec<String>,

    /// Metric to compare. Can be repeated. By default p50 and p99 of the latency (RTT, or response time under
    /// load), goodput of throughput, and the rates that a search found. `p99` is RTT p99, the full round trip, or
    /// response p99 under load.
    #[arg(long, value_name = "METRIC", value_delimiter = ',', value_parser = parse::metric())]
    pub metric: Vec<MetricSelector>,

    /// Exit with status 1 if this change is significant, with 4 if the runs are inconclusive: `rtt-p99 > +5%`,
    /// `goodput < -5%`. Can be repeated.
    #[arg(long, value_name = "CRITERION")]
    pub fail_if: Vec<String>,

    /// Exit with status 0 if a criterion is inconclusive.
    #[arg(long, requires = "fail_if")]
    pub allow_inconclusive: bool,

    /// Compare results that differ in more than the named factors. The output says so.
    #[arg(long)]
    pub force: bool,

    /// Print the comparison as JSON.
    #[arg(long)]
    pub json: bool,

    /// Print Markdown: criteria and a table of verdicts, for a comment on a pull request.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

#[derive(Debug, Subcommand)]
pub enum Drivers {
    /// List the installed drivers, and those that can be installed.
    List,
    /// List the versions of a driver's middleware that can be fetched, the default first.
    Versions {
        /// Name of the driver. By default all drivers with sources.
        driver: Option<String>,

        /// Directory with the sources of drivers, one folder each. By default `$DDSMARK_DRIVER_SOURCES`, else the
        /// sources installed with this program, else the source tree that contains it or that it was built from.
        #[arg(long, value_name = "DIR")]
        sources: Option<PathBuf>,
    },
    /// Build a driver from its sources against a version of its middleware, and install it.
    ///
    /// The middleware is fetched from package registries and kept. Each version is a separate driver,
    /// `NAME@VERSION`. The driver is installed in the first directory of `$DDSMARK_DRIVER_PATH`, else in the
    /// directory of the other drivers if you can write to it, else in `ddsmark/drivers` of `$XDG_DATA_HOME` or
    /// `~/.local/share`. It is rejected if it does not load or reports another version.
    #[command(after_help = format!("{INSTALL_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Install(InstallArgs),
    /// Show the description of a driver: transports, options, and support of each policy.
    Info {
        /// Name, `NAME@VERSION`, `WRITER+READER` for what a pair supports, or path of a file.
        driver: String,
    },
    /// Check a driver against the contract, case by case.
    ///
    /// Each case runs in a separate process, over loopback: a driver that crashes, exits or hangs fails only one
    /// case. Exits with status 0 if no case failed, else with 1.
    #[command(after_help = EXIT_STATUS)]
    Check {
        /// Name, `NAME@VERSION`, or path of a file.
        driver: String,

        /// Transport to use. By default the first one of the driver.
        #[arg(long, value_name = "NAME")]
        transport: Option<String>,

        /// Set an option of the driver. Can be repeated.
        #[arg(long, value_name = "KEY=VALUE", value_parser = parse::key_value)]
        option: Vec<(String, String)>,

        /// Check only this case. Can be repeated.
        #[arg(long, value_name = "ID", value_delimiter = ',')]
        case: Vec<String>,

        /// Time limit of each case.
        #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "60s")]
        limit: Duration,

        /// Number of cases to execute at the same time. Most of them wait, so four at a time take about a quarter of
        /// the time, but on a busy host a case may fail because it was disturbed.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
        jobs: u32,
    },
}

#[derive(Debug, Subcommand)]
pub enum Hosts {
    /// Check that agents can run on hosts, one line for each.
    ///
    /// Takes the same hosts as `--host` of the commands that measure. Connects to those with `ssh:` by `ssh`, as your
    /// configuration says, and without asking for anything, and to the nodes of an allocation by `srun`. Copies ddsmark, its
    /// agent and the drivers to `~/.cache/ddsmark` of the host, unless they are there already. Starts the steward, the
    /// process that runs agents there, and a driver in it. Exits with status 3 if a host cannot be used.
    #[command(after_help = format!("{HOSTS_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Check {
        /// Name of each host, and a way to reach it: `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, `slurm:NODE` or `local`.
        /// `slurm` is each node of the allocation.
        #[arg(value_name = "NAME=SPEC", required = true, value_parser = parse::host)]
        host: Vec<HostFlag>,

        /// Driver to copy and to load there; several with commas.
        #[arg(short, long, value_name = "D", value_delimiter = ',')]
        driver: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Driver to build. `NAME` is the default version; `NAME@VERSION` is the highest version that starts with
    /// VERSION.
    #[arg(value_name = "NAME[@VERSION]")]
    pub driver: String,

    /// Build against the middleware in this directory, such as a ROS 2 installation, and fetch nothing. The library
    /// determines the driver's version.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,

    /// Accept the licence of the middleware, if it requires that. `ddsmark drivers versions` shows it.
    #[arg(long)]
    pub accept_licence: bool,

    /// Directory with the sources of drivers, one folder each. By default `$DDSMARK_DRIVER_SOURCES`, else the
    /// sources installed with this program, else the source tree that contains it or that it was built from.
    #[arg(long, value_name = "DIR")]
    pub sources: Option<PathBuf>,

    /// Time limit of each step: to fetch, and to build.
    #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "1h")]
    pub limit: Duration,
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Write man pages and shell completions to a directory with the layout of `/usr/local/share`.
    Share {
        /// Output directory. Created if it does not exist.
        directory: PathBuf,
    },
    /// Print the reference of the command line in Markdown.
    Reference {
        /// Width of the help text in columns.
        #[arg(long, default_value_t = 100, action = ArgAction::Set)]
        width: usize,
    },
}

/// Options of RTI Perftest.
#[derive(Debug, Args)]
pub struct PerftestArgs {
    /// Options, which begin with a single dash. `-help` lists them.
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub options: Vec<String>,
}
