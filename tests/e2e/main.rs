//! ddsmark as a user runs it: real processes, real middleware. Needs `make drivers` once.

mod support;

mod batching;
mod characterize;
mod clocks;
mod conformance;
mod drivers;
mod duet;
mod experiments;
mod fastdds;
mod install;
mod kills;
mod neighbours;
mod network;
mod other_reader;
mod paced;
mod pairs;
mod resume;
mod search;
mod selftest;
mod sim;
mod slowdown;
mod streams;
mod trouble;
mod tutorial;
