//! Building blocks of the roles: samples, their schedule, and how they are written, received and counted.

pub mod awaited_echoes;
pub mod batch_flusher;
pub mod echo_content;
pub mod filtered;
pub mod flow_spec;
pub mod grouped_reader;
pub mod header;
pub mod identity;
pub mod keys;
pub mod lag_attribution;
pub mod late_join;
pub mod payload;
pub mod per_writer;
pub mod poll_policy;
pub mod probes;
pub mod processing;
pub mod rate_throttle;
pub mod receive_stats;
pub mod receiving_thread;
pub mod retry;
pub mod sample_input;
pub mod sample_writer;
pub mod timestamps;
