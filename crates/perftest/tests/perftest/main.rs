//! The command line of RTI Perftest, as a whole.

mod agreement;
mod command_line;
mod common;
mod drivers;
mod help;
mod ini;
mod listed;
mod names;
mod output;
mod percentiles;
mod rules;
mod scripts;
mod seed_000;
mod seed_002;
mod table;
mod wording;
