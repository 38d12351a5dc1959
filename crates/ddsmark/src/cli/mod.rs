//! Command line: arguments, messages, exit statuses and progress.

pub mod arguments;
pub mod cli_error;
mod exit_status;
mod factor_flags;
pub mod lab_args;
pub mod measure_args;
pub mod output;
mod parse;
pub mod progress;
