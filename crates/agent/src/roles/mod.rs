//! Roles of a run: the two sides of throughput, latency and paced workloads, and idle participants.

pub mod echo;
pub mod echo_listener;
pub mod echo_recorder;
pub mod echo_return;
pub mod echo_sender;
pub mod flow_writer;
pub mod paced_reader;
pub mod paced_writer;
pub mod participant;
pub mod pinger;
pub mod pipelined_pinger;
pub mod pipelined_recorder;
pub mod pipelined_window;
pub mod repeats;
pub mod stream_reader;
pub mod throughput_reader;
pub mod throughput_writer;
