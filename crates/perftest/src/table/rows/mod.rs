//! Rows of the table of options.

mod common;
mod features;
mod output;
mod own;
mod publisher;
mod qos;
mod receiving;
mod security;
mod transport;

use std::sync::LazyLock;

use super::row::OptionRow;

/// Options of one subject.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Title in the help.
    pub title: &'static str,
    /// Options in the order of the help.
    pub rows: &'static [OptionRow],
}

/// All options by subject.
pub static SECTIONS: &[Section] = &[
    Section { title: "The test", rows: common::ROWS },
    Section { title: "Publishing", rows: publisher::ROWS },
    Section { title: "Receiving", rows: receiving::ROWS },
    Section { title: "QoS and queues", rows: qos::ROWS },
    Section { title: "Network", rows: transport::ROWS },
    Section { title: "Output", rows: output::ROWS },
    Section { title: "Features of one middleware", rows: features::ROWS },
    Section { title: "Security", rows: security::ROWS },
    Section { title: "ddsmark", rows: own::ROWS },
];

/// All options.
pub static OPTIONS: LazyLock<Vec<&'static OptionRow>> =
    LazyLock::new(|| SECTIONS.iter().flat_map(|section| section.rows).collect());
