//! Command line: arguments, messages, exit statuses and progress.

pub mod arguments;
pub mod cli_error;
pub mod driver_args;
mod exit_status;
pub mod experiment_args;
mod factor_flags;
pub mod flag_hints;
pub mod help;
pub mod host_args;
pub mod import_args;
pub mod lab_args;
pub mod measure_args;
pub mod output;
mod parse;
pub mod progress;
pub mod result_args;
pub mod value_errors;
