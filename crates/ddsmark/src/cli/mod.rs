//! Command line: arguments, messages, exit statuses and progress.

pub mod arguments;
pub mod cli_error;
pub mod output;
mod parse;
pub mod progress;
