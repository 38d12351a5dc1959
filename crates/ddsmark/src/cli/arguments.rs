//! Command-line arguments: the source of help, man pages, completions and the reference.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

use super::{
    driver_args::Drivers,
    exit_status::EXIT_STATUS,
    experiment_args::{BuiltInCommand, RUN_EXAMPLES, RunArgs, SELFTEST_EXAMPLES, SelfTestArgs},
    host_args::Hosts,
    import_args::Import,
    lab_args::LabCommand,
    result_args::{COMPARE_EXAMPLES, CompareArgs, ReportArgs, ResultsArgs},
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

const REPEATED: &str = "\
Flags given twice:
  A flag that takes several values, such as --size, measures all of them. Any other flag given
  twice is an error, and so is a key that --set or --qos gives twice.";

const ENVIRONMENT: &str = "\
Environment:
  DDSMARK_DRIVER_PATH     directories of drivers, separated by colons
  DDSMARK_DRIVER_SOURCES  the directory with the sources that `drivers install` builds
  DDSMARK_SDK             the directory for the middleware that `drivers install` fetches
  DDSMARK_SSH             the command that connects to other hosts; by default ssh
  DDSMARK_AGENT           the agent program; by default the one in the directory of ddsmark
  NO_COLOR                if set, no output has colour";

/// Measure DDS middleware: latency, throughput and resource use, compared with a bare socket.
#[derive(Debug, Parser)]
#[command(
    name = "ddsmark",
    version,
    max_term_width = 100,
    before_help = EXAMPLES,
    after_help = "`ddsmark COMMAND -h` shows what most people need of a command, `--help` everything.",
    after_long_help = format!("{REPEATED}\n\n{EXIT_STATUS}\n\n{ENVIRONMENT}")
)]
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
    #[command(before_help = RUN_EXAMPLES, after_long_help = EXIT_STATUS)]
    Run(Box<RunArgs>),
    /// Determine the noise floor of this host: measure the same configuration twice in every block.
    ///
    /// Measures small and large samples, latency and throughput, in pairs of runs without any difference between
    /// them. Reports the spread of runs, the minimum detectable effect with 6, 12 and 24 blocks, and any cell that
    /// differs from itself. The result is stored in `$XDG_STATE_HOME/ddsmark/selftest.json` for
    /// `ddsmark run --dry-run`. Exits with status 1 if a cell differs from itself.
    #[command(before_help = SELFTEST_EXAMPLES, after_long_help = EXIT_STATUS)]
    Selftest(SelfTestArgs),
    /// Show the recipes: experiment files that come with ddsmark.
    #[command(subcommand)]
    Recipes(Recipes),
    /// Write an experiment file of a system that something else describes: a table, a topology, a bag.
    ///
    /// Writes `system.toml`, an experiment file for `ddsmark run`, the traces of recorded send times, and `import.txt`: what was
    /// read, and what of it is not applied, with the reasons.
    #[command(subcommand, after_long_help = EXIT_STATUS)]
    Import(Import),
    /// Print a result: the first screen, or all tables. Of many results, print what changed.
    ///
    /// The first screen has at most 40 lines: what was measured, one table over all drivers, the main findings,
    /// warnings, and what to do next.
    Report(ReportArgs),
    /// List results: when, what and where each was measured, and whether its runs are valid. The newest is first.
    Results(ResultsArgs),
    /// Compare two results, two cells of one result, or two variants that are measured now.
    ///
    /// Reports for each metric whether it is higher, lower, equivalent or inconclusive. Rejects results that differ
    /// in more than the named factors. Cells of one result are paired by block. Between two results, a difference
    /// counts only if it holds for any share of the host's change, which the reference of each block shows.
    /// `--interleave` measures two variants in alternating blocks, so that nothing else differs between them.
    #[command(before_help = COMPARE_EXAMPLES, after_long_help = EXIT_STATUS)]
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
