//! ddsmark as a user runs it: real processes, real middleware. Needs `make drivers` once.

mod support;

mod characterize;
mod conformance;
mod experiments;
mod sim;
mod trouble;
mod tutorial;
