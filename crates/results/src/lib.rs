//! Result schema, and result directory.
//!
//! ```text
//! DIR/experiment.json     plan of the experiment, the tool and the host
//! DIR/runs/0001.json      one record per run, written when the run has ended
//! DIR/runs/0001.hlog      histograms of the run: an HdrHistogram V2 interval log, one tag per kind
//! DIR/traces/SHA256.txt   trace files used by the plan, named by the SHA-256 of their bytes
//! DIR/logs/0001-*.log     output of the agent processes
//! DIR/log.json         blocks, host noise, planned number of blocks, and the rate that is 100 %
//! DIR/result.json         complete result, written when the experiment has ended or was interrupted
//! ```
//!
//! [`ResultDocument`] is the complete result: the output of `--json`, described by `schemas/result.schema.json`.
#![forbid(unsafe_code)]

mod directory;
mod schema;
mod values;

pub use directory::{Directory, DirectoryError, LogWindow, SavedExperiment, log_windows, save_file};
pub use recording::{
    ARRIVAL_WINDOWS, Arrivals, COARSE_WINDOWS, Distribution, EncodedWindows, HistogramError, Histograms,
    IntervalLog, Pool, QUANTILES, Received, SequenceSet, TimelinessRecorder, TimelinessReport, WindowCounts,
    Windows, nearest, new_histogram,
};
pub use schema::*;
pub use values::*;
