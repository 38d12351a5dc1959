//! ddsmark as a user runs it: real processes, real middleware. Needs `make drivers` once.

mod support;

mod bad_days;
mod batching;
mod between_results;
mod characterize;
mod clocks;
mod conformance;
mod drivers;
mod duet;
mod experiments;
mod fairness;
mod fastdds;
mod install;
mod interleave;
mod kills;
mod limits;
mod neighbours;
mod network;
mod other_reader;
mod paced;
mod pairs;
mod refusals;
mod resume;
mod round_trips;
mod search;
mod selftest;
mod shared_memory;
mod sim;
mod slowdown;
mod streams;
mod tail;
mod trouble;
mod tutorial;
mod variables;
mod witnesses;
