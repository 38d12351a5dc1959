//! Model of a simulated middleware with known true results. Pure: no clock, no file, no socket; the caller supplies
//! the time.
//!
//! - [`Config`]: configuration, parsed from text options ([`OPTIONS`] lists them with units and ranges).
//! - [`Flow`]: link from one writer to its readers; decides the outcome and the arrival time of each sample at each of them.
//! - [`GroundTruth`]: exact quantiles and moments of the latency, capacity and loss.
//! - [`discover`]: times at which participants find each other, and [`DiscoveryTruth`], their exact values.
//! - [`Mg1Queue`]: distribution of the waiting time for the server in an open loop, where it is known.
//!
//! [`GroundTruth`] integrates and inverts distribution functions; [`Flow`] draws random numbers. They share only the
//! configuration: each checks the other.
#![forbid(unsafe_code)]

mod config;
mod discovery;
mod distribution;
mod flow;
mod ground_truth;
mod mg1_queue;
mod parse;
mod quantile;
mod random;
mod round_trip;
mod shape;
mod values;

pub use config::{Config, ConfigError, OPTIONS, OptionText};
pub use discovery::{Announcements, Discovered, DiscoveryTruth, discover};
pub use distribution::{Component, Mixture};
pub use flow::{Flow, SampleOutcome};
pub use ground_truth::{GroundTruth, MOST_RETRANSMISSIONS};
pub use mg1_queue::Mg1Queue;
pub use random::Random;
pub use round_trip::RoundTrip;
pub use shape::{Shape, Stall};
pub use values::{Mode, OverflowPolicy, POLICIES};
