//! Command line: arguments, messages, exit statuses and progress.

pub mod arguments;
pub mod output;
mod parse;
pub mod problem;
pub mod progress;
