//! Arguments about results: their output, reports and comparisons.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use experiment::Percent;
use results::MetricSelector;

use super::{output, parse};

/// Examples of the command.
pub const COMPARE_EXAMPLES: &str = "\
Examples:
  ddsmark compare before after --factor driver.middleware_version
      two results: what changed with another version of the middleware
  ddsmark compare qos:'*/default/*' qos:'*/deadline/*' --factor profile
      cells of one result, paired by block
  ddsmark compare before after --fail-if 'rtt-p99 > +5%'
      for CI: exit status 1 only if the difference is real
  ddsmark compare before after --factor host-settings
      a host before and after its settings were changed
  ddsmark compare --interleave 'mine.toml --vendor-defaults' mine.toml
      measures both in alternating blocks, and compares the second with the first";

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

impl FormatArgs {
    /// Returns whether a format is selected.
    pub const fn is_any(&self) -> bool {
        self.json || self.csv || self.jsonl || self.markdown
    }
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

    /// Show the values so far in a table on the terminal, instead of a line for each run.
    ///
    /// The table is drawn between the runs, from what the agents have reported at their ends: no agent is asked while it measures.
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub live: bool,

    /// Do not write `report.html`, the page with charts, into the directory of the result.
    #[arg(long, help_heading = "Output")]
    pub no_html: bool,
}

impl OutputArgs {
    /// Sets what is printed while runs are made.
    pub fn apply(&self) {
        output::set_quiet(self.quiet);
        output::set_live(self.live);
    }
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Directory of a result, or its `result.json` or `result.json.gz`; or several, or a directory that contains results.
    ///
    /// A report of many results is an index: a table of them, and the history of each cell with its changes.
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    pub results: Vec<PathBuf>,

    /// Print all tables, their legend, and all findings and warnings.
    #[arg(
        long,
        visible_alias = "verbose",
        short_alias = 'v',
        conflicts_with = "format",
        help_heading = "Output"
    )]
    pub full: bool,

    /// Show the published figures of this name, such as `seed-000`, beside the measured values, and what differs. Can be repeated.
    ///
    /// Prints their tables. With `--full` or a format, they are a part of that output.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Output")]
    pub overlay: Vec<String>,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Write a page with charts and all rows, one file that needs no network. By default `report.html` in the directory of the
    /// result; of many, `index.html` in the directory that contains them, or here if several are named. `-` prints it.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        conflicts_with_all = ["format", "full"],
        help_heading = "Output"
    )]
    pub html: Option<Option<PathBuf>>,

    /// Exit with status 1 if the newest of many results adds a change of a level to its line, for an alarm.
    ///
    /// A change takes some results before it is found. It is an alarm once: with the first result that shows it.
    #[arg(long, conflicts_with_all = ["format", "full"], help_heading = "Criteria")]
    pub fail_on_change: bool,

    /// Write each chart of the page as an SVG file into a folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "full"], help_heading = "Output")]
    pub svg: Option<PathBuf>,

    /// Write each chart of the page as a PNG file into a folder, at 1176 pixels of width. Packages can; a build of the sources needs
    /// the feature `png`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "full"], help_heading = "Output")]
    pub png: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Baseline: directory of a result, or its `result.json`.
    ///
    /// A colon and the name of a cell select cells; `*` matches any text.
    #[arg(value_name = "BASELINE[:CELL]", required_unless_present = "interleave")]
    pub baseline: Option<String>,

    /// Candidate, in the same form.
    ///
    /// By default, BASELINE is a result of `--interleave`, and its variants are compared.
    #[arg(value_name = "RESULT[:CELL]")]
    pub treatment: Option<String>,

    /// Measure two variants in alternating blocks, and compare B with A.
    ///
    /// Each variant is one quoted text with the arguments of `ddsmark run`, or `characterize` and the arguments of `ddsmark
    /// characterize`.
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

    /// Number of blocks. By default as in the variants.
    ///
    /// In each block, all cells of both variants are measured.
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

    /// Factor in which the two may differ, such as `driver` or `qos`. Can be repeated.
    ///
    /// A field, such as `driver`, `size`, `qos.reliability`, `design.pin` or `env.net.core.rmem_max`; or a group, such as `qos`
    /// or `env`. `host-settings` compares a host before and after tuning: the change of the reference is then a part of the
    /// effect.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Comparison")]
    pub factor: Vec<String>,

    /// Metric to compare, such as `p99`. Can be repeated.
    ///
    /// By default p50 and p99 of the latency (RTT, or response time under load), goodput of throughput, and the rates that a
    /// search found. `p99` is RTT p99, the full round trip, or response p99 under load.
    #[arg(long, value_name = "METRIC", value_delimiter = ',', value_parser = parse::metric(), help_heading = "Comparison")]
    pub metric: Vec<MetricSelector>,

    /// Exit with status 1 if this change is significant: `rtt-p99 > +5%`. Can be repeated.
    ///
    /// The status is 4 if the runs are inconclusive. `goodput < -5%` is a criterion, too.
    #[arg(long, value_name = "CRITERION", help_heading = "Criteria")]
    pub fail_if: Vec<String>,

    /// Exit with status 0 if a criterion is inconclusive.
    #[arg(long, requires = "fail_if", help_heading = "Criteria")]
    pub allow_inconclusive: bool,

    /// Compare results that differ in more than the named factors. The output says so.
    #[arg(long, help_heading = "Comparison")]
    pub force: bool,

    /// Print the comparison as JSON.
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print Markdown, for a comment on a pull request.
    ///
    /// Criteria and a table of verdicts.
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub markdown: bool,

    /// Print no progress and no notes: only verdicts, criteria and errors.
    #[arg(short, long, conflicts_with_all = ["json", "markdown"], help_heading = "Output")]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ResultsArgs {
    /// Directory that contains results, at most four levels below it.
    #[arg(value_name = "DIR", default_value = "results")]
    pub directory: PathBuf,
}
