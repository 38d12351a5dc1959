//! Flags of the factors: one for each key of the table of factors.

use std::sync::LazyLock;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use experiment::{FACTORS, Factor, Form, Kind, Override};

/// Values of factors on the command line, such as `--size 64,1024`.
#[derive(Clone, Debug, Default)]
pub struct FactorFlags {
    /// Changes of the experiment file, in the order of the table.
    pub overrides: Vec<Override>,
}

/// Flag of a factor.
struct Flag {
    row: &'static Factor,
    kind: Kind,
    long: String,
    help: String,
    long_help: String,
}

static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let of = |row: &'static Factor| match row.form {
        Form::Key(kind) => {
            let long = row.key.replace('_', "-");
            Some(Flag { row, kind, long, help: help(row, kind), long_help: long_help(row, kind) })
        }
        Form::FileKey(_) | Form::Table(_) => None,
    };
    FACTORS.iter().filter_map(of).collect()
});

fn help(row: &Factor, kind: Kind) -> String {
    let words = row.brief.trim_end_matches('.').to_owned();
    match kind {
        Kind::Flag | Kind::Placement => words,
        _ => words + "; several with commas",
    }
}

/// Returns the description of the key of a file, without its default: each command has its own.
fn long_help(row: &Factor, kind: Kind) -> String {
    let sentences = row.about.split_inclusive(". ");
    let words: String = sentences.filter(|sentence| !sentence.starts_with("Default ")).collect();
    let more = match kind {
        Kind::Flag => "Alone it means `true`; `=false,true` measures both.",
        Kind::Placement => "Given twice, both values are measured.",
        _ => "Several values with commas.",
    };
    format!("{} {more}", words.trim_end())
}

const fn value_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "NAME",
        Kind::Size => "BYTES",
        Kind::Number => "N",
        Kind::Scale => "FACTOR",
        Kind::Flag => "BOOL",
        Kind::Time | Kind::LinkDelay => "TIME",
        Kind::LinkLoss => "PERCENT",
        Kind::Rate | Kind::LinkRate => "RATE",
        Kind::Arrival | Kind::Receive | Kind::Workload | Kind::Join => "KIND",
        Kind::BatchSamples => "N|turbo",
        Kind::Group => "N/TIME",
        Kind::Filter => "CONDITION",
        Kind::Topology => "W-R",
        Kind::Placement => "ENDPOINT@HOST,...",
    }
}

impl Args for FactorFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|flag| {
            let arg = Arg::new(flag.row.key)
                .long(&*flag.long)
                .value_name(value_name(flag.kind))
                .action(ArgAction::Append)
                .help(&*flag.help)
                .long_help(&*flag.long_help)
                .help_heading("Factors");
            let arg = match flag.kind {
                Kind::Flag => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
                _ => arg,
            };
            match flag.row.short {
                Some(letter) => arg.short(letter),
                None => arg,
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FactorFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let overrides = FLAGS.iter().filter_map(|flag| {
            let values: Vec<&str> = matches.get_many::<String>(flag.row.key)?.map(String::as_str).collect();
            let values = match flag.kind {
                // Commas are part of a value; `+` means the same.
                Kind::Placement => {
                    values.iter().map(|value| value.replace(',', "+")).collect::<Vec<_>>().join(",")
                }
                _ => values.join(","),
            };
            Some(Override::flag(format!("--{}", flag.long), flag.row.key_in_file(), values))
        });
        Ok(Self { overrides: overrides.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
