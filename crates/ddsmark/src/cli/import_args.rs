//! Arguments of `ddsmark import`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};

use super::parse;

const EXAMPLES: &str = "\
Examples:
  ddsmark import table robot.csv --out robot
      a table with the columns topic, size and rate
  ddsmark import irobot sierra_nevada.json --out sierra
      a topology of iRobot's ros2-performance
  ddsmark import rosbag2 drive/ --out drive --from 10s --for 20s
      20 s of a bag: sizes, times and QoS as recorded
  ddsmark run robot/system.toml --dry-run
      what would be measured, and for how long";

/// Sources of a system.
#[derive(Debug, Subcommand)]
#[command(before_help = EXAMPLES, subcommand_value_name = "KIND", subcommand_help_heading = "Kinds")]
pub enum Import {
    /// Read a table: CSV with a heading, one topic in a row.
    ///
    /// Columns: topic, size, rate; optional: count, from, to, reliability, depth, durability, deadline, missed. Sizes, rates and times
    /// have the units of experiment files; `from` and `to` are names of processes, separated by spaces. `depth` may be `all`.
    Table {
        /// Table.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        output: ImportOutput,
    },
    /// Read a topology of iRobot's ros2-performance: JSON files, each a process with nodes.
    ///
    /// A file with a performance target sets the deadlines, and its figures are quoted.
    Irobot {
        /// Topologies, and performance targets of them.
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Nodes of a process: each node is one, or each file as in ros2-performance.
        #[arg(long, value_name = "PER", default_value = "node")]
        processes: ProcessesPer,
        /// Size of a message type that is not built in, in bytes without the header; can be repeated.
        #[arg(long = "type", value_name = "NAME=BYTES", value_parser = message_type)]
        types: Vec<(String, u64)>,
        #[command(flatten)]
        output: ImportOutput,
    },
    /// Read a bag of rosbag2: a directory, or a file `.mcap` or `.db3`.
    ///
    /// Sizes, times and QoS are those of the recording. A bag does not have the readers, nor the processes of the writers.
    Rosbag2 {
        /// Directory or file.
        #[arg(value_name = "BAG")]
        bag: PathBuf,
        /// Begin of the part to use, from the first message.
        #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse::time)]
        from: Duration,
        /// Length of the part to use. Default: up to 30s.
        #[arg(long = "for", value_name = "TIME", value_parser = parse::time)]
        length: Option<Duration>,
        /// Number of processes that read all topics.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=199))]
        readers: Option<u32>,
        /// Use the first word of each topic as the process that writes it. Default: one process, `writer`.
        #[arg(long, value_name = "RULE")]
        processes: Option<BagProcesses>,
        /// Times: when messages were published, where that is recorded, or when they were recorded.
        #[arg(long, value_name = "SOURCE", default_value = "publish")]
        time: Times,
        /// Use the mean rate of each topic instead of the recorded times.
        #[arg(long)]
        rates: bool,
        /// Number of the part between jumps of the clock, from 1. Default: the one with the most messages.
        #[arg(long, value_name = "N")]
        segment: Option<usize>,
        /// Include the topics of ROS 2 itself, such as `/rosout`.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: ImportOutput,
    },
    /// Read producers of the benchmark of rosbag2: YAML with groups of publishers.
    Producers {
        /// File.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        output: ImportOutput,
    },
}

/// Output of an import.
#[derive(Debug, Args)]
pub struct ImportOutput {
    /// Directory for `system.toml`, traces and `import.txt`. Created if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Exit with status 1 if anything of the source is not applied.
    #[arg(long)]
    pub strict: bool,
}

/// Nodes of a process.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ProcessesPer {
    /// Each node is a process.
    Node,
    /// Each file is a process.
    File,
}

/// Rule for the processes of the topics of a bag.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BagProcesses {
    /// The first word of the topic.
    Prefix,
}

/// Source of the times of a bag.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Times {
    /// Times of publication.
    Publish,
    /// Times of recording.
    Log,
}

impl Import {
    /// Returns the output of the import.
    pub const fn output(&self) -> &ImportOutput {
        match self {
            Self::Table { output, .. }
            | Self::Irobot { output, .. }
            | Self::Rosbag2 { output, .. }
            | Self::Producers { output, .. } => output,
        }
    }
}

/// Parses `NAME=BYTES`.
fn message_type(text: &str) -> Result<(String, u64), String> {
    let parsed = text.split_once('=').and_then(|(name, bytes)| Some((name.to_owned(), bytes.parse().ok()?)));
    parsed
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "write a name and a number of bytes, such as `image=921600`".to_owned())
}
