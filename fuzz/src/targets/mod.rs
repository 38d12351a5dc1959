//! A module for each target, whose function takes one input.

mod clock;
mod envelope;
mod header;
mod import_db3;
mod import_irobot;
mod import_mcap;
mod import_producers;
mod import_table;
mod interval_log;
mod perftest_ini;
mod perftest_line;
mod qos_file;
mod replies;
mod requests;
mod result;
mod shared_list;
mod steward;
mod stream;
mod trace;

/// Target: its name, which is that of its module and of its folder in the corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 19] = [
    ("clock", clock::run),
    ("envelope", envelope::run),
    ("header", header::run),
    ("import_db3", import_db3::run),
    ("import_irobot", import_irobot::run),
    ("import_mcap", import_mcap::run),
    ("import_producers", import_producers::run),
    ("import_table", import_table::run),
    ("interval_log", interval_log::run),
    ("perftest_ini", perftest_ini::run),
    ("perftest_line", perftest_line::run),
    ("qos_file", qos_file::run),
    ("replies", replies::run),
    ("requests", requests::run),
    ("result", result::run),
    ("shared_list", shared_list::run),
    ("steward", steward::run),
    ("stream", stream::run),
    ("trace", trace::run),
];
