//! ddsmark as a user runs it: real processes, real middleware. Needs `make drivers` once.

mod support;

mod batching;
mod between_results;
mod characterize;
mod clocks;
mod conformance;
mod drivers;
mod duet;
mod experiments;
mod failures;
mod fairness;
mod fastdds;
mod install;
mod interleave;
mod kills;
mod limits;
mod neighbours;
mod network;
mod other_reader;
mod overload;
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
mod tutorial;
mod variables;
mod witnesses;
