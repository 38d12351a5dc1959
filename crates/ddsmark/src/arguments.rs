//! The command line. Help, completions, man pages and the reference are made from this.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use experiment::{Percent, PinChoice, ReceiveMode, Workload};
use results::Wanted;

use crate::parse::{self, DriverOption};

const EXAMPLES: &str = "\
Examples:
  ddsmark characterize
      latency and throughput of every installed driver, and of a bare UDP socket
  ddsmark characterize --driver udp --size 64,1024 --quick
      a first look: one driver, two sizes, seconds
  ddsmark run qos-cost
      what each QoS policy costs: one of the questions of `ddsmark recipes list`
  ddsmark report results/characterize-2026-11-21T20-50-44Z
      the tables of a result again
  ddsmark compare before after --fail-if 'p99 > +5%'
      two results: what differs, what is equivalent, what cannot be told
  ddsmark drivers list
      what can be measured here";

const EXIT_STATUS: &str = "\
Exit status:
  0    done
  1    a driver breaks its contract, a stated criterion (`--fail-if`) is broken, or something
       differs from itself (`selftest`)
  2    wrong use: asked for what cannot be; nothing was measured
  3    a driver, the host or an agent failed; what was measured is saved
  4    measured, but figures contradict each other, or cannot tell whether a criterion is broken
  130  interrupted; what was measured is saved";

const ENVIRONMENT: &str = "\
Environment:
  DDSMARK_DRIVER_PATH     directories that hold drivers, separated by colons
  DDSMARK_DRIVER_SOURCES  the directory with the sources that `drivers install` builds
  DDSMARK_AGENT           the agent program, if not the one beside ddsmark
  NO_COLOR                if set, help and errors have no colour";

const CHARACTERIZE_EXAMPLES: &str = "\
Examples:
  ddsmark characterize
      every installed driver, 12 sizes, over loopback: some minutes
  ddsmark characterize --driver udp --size 64,1024 --quick
      one driver, two sizes: seconds
  ddsmark characterize --precise --keep-awake --out today
      figures to quote, on a quiet host
  ddsmark characterize --driver ./libddsmark_mine.so --json >mine.json
      a driver of your own, for a program to read";

const RUN_EXAMPLES: &str = "\
Examples:
  ddsmark recipes list
      the questions that come with ddsmark
  ddsmark run qos-cost --dry-run
      what would be measured, and for how long
  ddsmark run latency-vs-size --set factors.size=64,1024 --set design.blocks=12
      a recipe with other values
  ddsmark run --resume today
      goes on with what was interrupted
  ddsmark recipes show receive-modes >mine.toml && ddsmark run mine.toml --out today
      a file of your own";

const COMPARE_EXAMPLES: &str = "\
Examples:
  ddsmark compare before after --factor driver.middleware_version
      two results: what changed with another version of the middleware
  ddsmark compare results/qos:'*/default/*' results/qos:'*/deadline/*' --factor profile
      cells of one result, paired by block
  ddsmark compare before after --fail-if 'p99 > +5%' --fail-if 'goodput < -5%'
      for CI: ends with 1 only where the difference is real
  ddsmark compare before after --factor env.net.core.rmem_max
      two results between which a setting of the kernel was changed
  ddsmark compare --interleave 'mine.toml --vendor-defaults' mine.toml --fail-if 'p99 > +5%'
      measures both in alternating blocks, and compares the second with the first";

const INSTALL_EXAMPLES: &str = "\
Examples:
  ddsmark drivers versions
      which drivers can be built, and against which versions
  ddsmark drivers install example@2.14
      the highest version that begins with 2.14, beside those that are installed
  ddsmark drivers install example --prefix /opt/ros/jazzy
      against what is installed there; nothing is fetched
  ddsmark characterize --driver example@2.14,example@3.2
      two versions, held against each other";

/// Measures DDS middleware: latency, throughput and what they cost, beside a bare socket.
#[derive(Debug, Parser)]
#[command(name = "ddsmark", version, max_term_width = 100, after_help = format!("{EXAMPLES}\n\n{EXIT_STATUS}\n\n{ENVIRONMENT}"))]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure latency and throughput over sample sizes, throughput unbatched and batched.
    ///
    /// Each cell (driver, size, workload, batching) is measured several times with fresh processes, in shuffled order. The
    /// result is saved after every run; the tables are printed at the end.
    #[command(after_help = format!("{CHARACTERIZE_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Characterize(Box<Characterize>),
    /// Measure what an experiment file or a recipe asks.
    ///
    /// Everything in the file is checked before the first packet. The result is saved after every run; the tables are
    /// printed at the end.
    #[command(after_help = format!("{RUN_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Run(Run),
    /// Tell what this host can and cannot resolve today: measure the same thing twice in every block.
    ///
    /// An experiment of small and large samples, latency and throughput, in pairs of runs with nothing different between
    /// them. It says how far runs scatter, which effects 6, 12 and 24 blocks would find, and whether anything is said to differ from
    /// itself. The outcome is kept for `ddsmark run --dry-run`, in `$XDG_STATE_HOME/ddsmark/selftest.json`. Ends with 1 if
    /// something differs from itself.
    #[command(after_help = EXIT_STATUS)]
    Selftest(SelfTest),
    /// Show the recipes: experiment files that come with ddsmark.
    #[command(subcommand)]
    Recipes(Recipes),
    /// Print a result again.
    Report(Report),
    /// Compare two results, two cells of one result, or two variants that are measured now.
    ///
    /// Says of each figure whether it is higher, lower, equivalent, or whether the runs cannot tell. Refuses to compare what
    /// differs in more than the named factors. Cells of one result are paired by block. A claim between two results must hold
    /// whatever part of the change of the host is in the difference, as the reference of each block shows it. `--interleave`
    /// measures two variants in alternating blocks, so that nothing else differs between them.
    #[command(after_help = format!("{COMPARE_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Compare(Compare),
    /// Show the drivers that can be measured.
    #[command(subcommand)]
    Drivers(Drivers),
    /// Generate completions, man pages and the reference of this command.
    #[command(subcommand, hide = true)]
    Generate(Generate),
}

#[derive(Debug, Args)]
pub struct Characterize {
    /// Driver to measure: a name, `NAME@VERSION`, `WRITER+READER` for ends with different drivers, or the path of a file. May be
    /// given several times.
    ///
    /// A version is any that is installed and begins so, the highest of several. Without one it is the driver that has none,
    /// else the highest. Without `--driver`: `udp`, the bare socket, and then every other name that `ddsmark drivers list` shows
    /// and that is no simulation.
    #[arg(long, value_name = "D", value_delimiter = ',')]
    pub driver: Vec<String>,

    /// Payload size in bytes, with the 16-byte sample header in it. May be given several times.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 63000],
    )]
    pub size: Vec<u64>,

    /// What to measure: one or both.
    #[arg(long, value_name = "W", value_delimiter = ',', value_parser = parse::workload(), default_values = ["latency", "throughput"])]
    pub workload: Vec<Workload>,

    /// Measure throughput also with samples packed into batches of at most so many bytes; 0: do not.
    #[arg(long, value_name = "BYTES", default_value_t = 8192)]
    pub batch_bytes: u64,

    /// Delivery guarantee to ask for.
    #[arg(long, value_name = "R", value_enum, default_value_t = Reliability::Strongest)]
    pub reliability: Reliability,

    /// How samples are received.
    #[arg(long, value_name = "MODE", value_parser = parse::receive_mode(), default_value = "waitset")]
    pub receive: ReceiveMode,

    /// With `--receive polling`: how long a reader sleeps when nothing is there, up to `100ms`. Without it, not at all.
    ///
    /// It changes nothing about latency.
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    pub polling_delay: Option<Duration>,

    /// Network interface to use.
    #[arg(long, value_name = "NAME", default_value = "lo")]
    pub interface: String,

    /// Send data by multicast; refused for a driver that cannot. Without it, by unicast.
    ///
    /// A run in which the kernel sent less by multicast than the samples hold is invalid.
    #[arg(long)]
    pub multicast: bool,

    /// Run each middleware as it is shipped: without what its driver sets unasked, and without sizes of queues.
    ///
    /// What the workload needs, and what is asked for by name, still holds. The tables say `as shipped`.
    #[arg(long)]
    pub vendor_defaults: bool,

    /// Transport to use. Without it, the default of each driver.
    #[arg(long, value_name = "NAME")]
    pub transport: Option<String>,

    /// Option of one driver; `ddsmark drivers info D` lists them. May be given several times.
    #[arg(long, value_name = "D.KEY=VALUE", value_parser = parse::driver_option)]
    pub option: Vec<DriverOption>,

    /// Short runs: a first look.
    #[arg(long, conflicts_with = "precise")]
    pub quick: bool,

    /// More and longer runs: figures to quote.
    #[arg(long)]
    pub precise: bool,

    /// Runs of each cell, at least 3.
    #[arg(long, value_name = "N", help_heading = "Design")]
    pub runs: Option<u32>,

    /// Measured time of each run, such as `800ms` or `5s`.
    #[arg(long, value_name = "TIME", value_parser = parse::time, help_heading = "Design")]
    pub duration: Option<Duration>,

    /// Warm-up of each run: the same traffic, not recorded.
    #[arg(long, value_name = "TIME", value_parser = parse::time, help_heading = "Design")]
    pub warm_up: Option<Duration>,

    /// Check every byte of one in so many samples; of the others the header.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Design")]
    pub check_every: u32,

    /// Seed of the order of the runs and of the payload. Without it, from the clock; it is recorded.
    #[arg(long, value_name = "N", help_heading = "Design")]
    pub seed: Option<u64>,

    /// Time limit for the two ends of a run to find each other.
    #[arg(long, value_name = "TIME", value_parser = parse::time, help_heading = "Design")]
    pub match_timeout: Option<Duration>,

    /// Cores for the two ends of each run: `auto` (half of those that may be used for each; a single core is not pinned),
    /// `none`, or those of writer and reader, `0,1` or `0-3,4-7`. Recorded in the result.
    #[arg(long, value_name = "CORES", value_parser = parse::pin, default_value = "auto", help_heading = "Host")]
    pub pin: PinChoice,

    /// Keep the cores from idling, with spinning threads of the lowest priority. Recorded in the result.
    #[arg(long, help_heading = "Host")]
    pub keep_awake: bool,

    #[command(flatten)]
    pub reference: Reference,

    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Run {
    /// An experiment file, with a `/` or an ending such as `.toml`; or the name of a recipe.
    #[arg(value_name = "FILE|RECIPE", required_unless_present = "resume")]
    pub experiment: Option<String>,

    /// Go on with an interrupted experiment, after Ctrl-C, a crash or a reboot: the directory of its result. Also one that
    /// `characterize` began.
    ///
    /// Runs that were saved are kept, the others are made as they were planned. Refused where drivers, libraries or host are
    /// no longer as they were.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiment", "set", "duet", "vendor_defaults", "dry_run", "no_reference", "out"])]
    pub resume: Option<PathBuf>,

    /// With `--resume`: go on although something differs. The result says what.
    #[arg(long, requires = "resume")]
    pub force: bool,

    /// Put another value in the place of one in the file, such as `factors.size=64,1024`. May be given several times.
    ///
    /// Dots in the key lead into tables. The value is as in the file; quotes around a single word, and brackets around a
    /// list, may be left out.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Make each run at the same time as one of its baseline, each on half of the cores, swapped in every block. The same as
    /// `--set design.duet=true`.
    ///
    /// What disturbs the host disturbs both, so that their ratio shows smaller differences. Only the ratio counts: absolute
    /// figures are under duet interference, and labelled so. Refused without a baseline, for other workloads than `latency`, and
    /// with fewer than 4 cores.
    #[arg(long)]
    pub duet: bool,

    /// Run each middleware as it is shipped, without what its driver sets unasked. The same as
    /// `--set factors.vendor_defaults=true`; with `--set factors.vendor_defaults=false,true` both are measured side by side.
    #[arg(long)]
    pub vendor_defaults: bool,

    /// Print the plan and measure nothing: cells, blocks, runs, about what they take, and the smallest effect that they will
    /// be able to see, if a selftest of this host is kept.
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub reference: Reference,

    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct SelfTest {
    /// Driver to measure with: a name, `NAME@VERSION`, or the path of a file. Without it `udp`, the bare socket.
    #[arg(long, value_name = "D")]
    pub driver: Option<String>,

    /// 8 pairs of short runs: a first look, under a minute. Without it 20 pairs, about four minutes.
    #[arg(long)]
    pub quick: bool,

    /// Pairs of runs of each cell. With fewer than 8 nothing could be said to differ.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=1000))]
    pub pairs: Option<u32>,

    /// Seed of the order of the runs and of the payload. Without it, from the clock; it is recorded.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub reference: Reference,

    #[command(flatten)]
    pub output: Output,
}

/// Whether blocks measure a reference.
#[derive(Debug, Args)]
pub struct Reference {
    /// Measure no reference: the round trip and the rate of a bare UDP socket, before and after each block.
    ///
    /// It takes about 5 % of a block, 60 ms to 300 ms. `ddsmark compare` makes no claim between two results without it. Recorded
    /// in the result.
    #[arg(long, help_heading = "Host")]
    pub no_reference: bool,
}

/// Where a result goes.
#[derive(Debug, Args)]
pub struct Output {
    /// Directory for the result, new or empty. Without it, `results/NAME-TIME`.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Print the whole result as JSON instead of tables.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Recipes {
    /// All recipes, and what each asks.
    List,
    /// The text of a recipe: a file to begin with.
    Show {
        /// Its name.
        recipe: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reliability {
    /// The strongest that each driver has.
    Strongest,
    /// Delivery guaranteed; refused for a driver that cannot.
    Reliable,
    /// Samples may be lost.
    BestEffort,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Directory of a result, or its `result.json`.
    pub result: PathBuf,

    /// Print the whole result as JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// What is held against: the directory of a result or its `result.json`; after a colon the cell that is meant, where `*`
    /// stands for anything.
    #[arg(value_name = "BASELINE[:CELL]", required_unless_present = "interleave")]
    pub baseline: Option<String>,

    /// What is judged, in the same way. Without it, BASELINE is a result of `--interleave`, whose variants are compared again.
    #[arg(value_name = "RESULT[:CELL]")]
    pub treatment: Option<String>,

    /// Measure two variants in alternating blocks, and compare B with A. Each is the arguments of `ddsmark run`, or of `ddsmark
    /// characterize` with that word in front, quoted as one.
    ///
    /// Each cell of B is compared with the cell of A that agrees with it in all factors that the variants have in common. Design
    /// and limits must be the same in both. The result is an ordinary one: `ddsmark run --resume DIR` resumes it, `ddsmark compare DIR`
    /// compares its variants again.
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = ["baseline", "treatment", "factor", "force"],
        help_heading = "Interleaved"
    )]
    pub interleave: Option<Vec<String>>,

    /// Runs of each cell of both variants.
    #[arg(
        long,
        value_name = "N",
        requires = "interleave",
        conflicts_with = "precision",
        help_heading = "Interleaved"
    )]
    pub blocks: Option<u32>,

    /// Half the width of the 95 % interval to reach, such as `2%`, instead of a number of blocks.
    #[arg(long, value_name = "PERCENT", value_parser = parse::percent, requires = "interleave", help_heading = "Interleaved")]
    pub precision: Option<Percent>,

    /// Maximum duration of the whole measurement, such as `10min`.
    #[arg(long, value_name = "TIME", value_parser = parse::time, requires = "interleave", help_heading = "Interleaved")]
    pub budget: Option<Duration>,

    /// Print the plan and measure nothing.
    #[arg(long, requires = "interleave", help_heading = "Interleaved")]
    pub dry_run: bool,

    /// Directory for the result, new or empty. By default `results/NAME-TIME`.
    #[arg(long, value_name = "DIR", requires = "interleave", help_heading = "Interleaved")]
    pub out: Option<PathBuf>,

    /// In what the two may differ, such as `driver`, `size`, `qos.reliability`, `design.pin` or `env.net.core.rmem_max`; or a
    /// group, such as `qos` or `env`. May be given several times.
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub factor: Vec<String>,

    /// Figure to compare. May be given several times. Without it, p50 and p99 of the latency (RTT, or response under load), goodput of throughput.
    #[arg(long, value_name = "METRIC", value_delimiter = ',', value_parser = parse::metric())]
    pub metric: Vec<Wanted>,

    /// End with 1 if this change is real, with 4 if the runs cannot tell: `p99 > +5%`, `goodput < -5%`. May be given several
    /// times.
    #[arg(long, value_name = "CRITERION")]
    pub fail_if: Vec<String>,

    /// End with 0 where the runs cannot tell whether a criterion is broken.
    #[arg(long, requires = "fail_if")]
    pub allow_inconclusive: bool,

    /// Compare also what differs in more than the named factors. The output says so.
    #[arg(long)]
    pub force: bool,

    /// Print the comparison as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Drivers {
    /// All drivers that can be named, and those that could be installed.
    List,
    /// The versions of the middleware of a driver that can be fetched, the default first.
    Versions {
        /// The driver. Without it all that there are sources of.
        driver: Option<String>,

        /// Directory with the sources of drivers, one folder each. Without it `$DDSMARK_DRIVER_SOURCES`, else the tree that this
        /// program lies in or was built from.
        #[arg(long, value_name = "DIR")]
        sources: Option<PathBuf>,
    },
    /// Build a driver from its sources, against a version of its middleware, and put it beside the others.
    ///
    /// The middleware is fetched from package registries and kept; each version is a driver of its own, `NAME@VERSION`. Goes into
    /// the first directory of `$DDSMARK_DRIVER_PATH`, else beside the drivers that are there. A driver that does not load, or says
    /// that it is of another version, is not installed.
    #[command(after_help = format!("{INSTALL_EXAMPLES}\n\n{EXIT_STATUS}"))]
    Install(Install),
    /// All that a driver says of itself: transports, options, and what it does with each policy.
    Info {
        /// A name, `NAME@VERSION`, `WRITER+READER` for what a pair can do, or the path of a file.
        driver: String,
    },
    /// Try a driver against the contract, case by case.
    ///
    /// Each case runs in a process of its own, over loopback: a driver that crashes, exits or hangs costs one case. Ends
    /// with 0 if no case failed, with 1 if one did.
    #[command(after_help = EXIT_STATUS)]
    Check {
        /// A name, `NAME@VERSION`, or the path of a file.
        driver: String,

        /// Over this transport; by default over the driver's first.
        #[arg(long, value_name = "NAME")]
        transport: Option<String>,

        /// With an option of the driver's, as `KEY=VALUE`. May be given several times.
        #[arg(long, value_name = "KEY=VALUE", value_parser = parse::key_value)]
        option: Vec<(String, String)>,

        /// Try this case only. May be given several times.
        #[arg(long, value_name = "ID", value_delimiter = ',')]
        case: Vec<String>,

        /// Time limit of each case.
        #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "60s")]
        limit: Duration,
    },
}

#[derive(Debug, Args)]
pub struct Install {
    /// The driver. Without a version the default one; else any that begins so, the highest of several.
    #[arg(value_name = "NAME[@VERSION]")]
    pub driver: String,

    /// Build against the middleware that is installed in this directory, such as one of ROS 2, and fetch nothing. The driver's
    /// version is what the library says.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,

    /// Accept the licence of the middleware, where it asks for that. `ddsmark drivers versions` shows it.
    #[arg(long)]
    pub accept_licence: bool,

    /// Directory with the sources of drivers, one folder each. Without it `$DDSMARK_DRIVER_SOURCES`, else the tree that this
    /// program lies in or was built from.
    #[arg(long, value_name = "DIR")]
    pub sources: Option<PathBuf>,

    /// Time limit of each step: to fetch, and to build.
    #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "1h")]
    pub limit: Duration,
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Completions for a shell, on stdout.
    Completions {
        /// Which.
        shell: clap_complete::Shell,
    },
    /// Man pages, into a directory.
    Man {
        /// The directory. It is made if it does not exist.
        directory: PathBuf,
    },
    /// The reference of the command line in Markdown, on stdout.
    Reference {
        /// Columns of the help text.
        #[arg(long, default_value_t = 100, action = ArgAction::Set)]
        width: usize,
    },
}
