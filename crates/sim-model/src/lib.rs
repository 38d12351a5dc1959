//! A simulated middleware whose true answer is known. Pure: no clock, no file, no socket; time is what the caller says.
//!
//! - [`Config`]: what is simulated, from text options ([`OPTIONS`] lists them, with units and ranges).
//! - [`Flow`]: one writer's way to its readers: what becomes of each sample, and when.
//! - [`Truth`]: what measuring must find: exact quantiles and moments of the latency, capacity and loss.
//! - [`Waiting`]: what waiting for the server adds to it in an open loop, where that is known.
//!
//! [`Truth`] integrates and inverts distribution functions; [`Flow`] draws random numbers. They share the configuration and
//! nothing else, so that each checks the other.
#![forbid(unsafe_code)]

mod config;
mod distribution;
mod flow;
mod parse;
mod random;
mod round_trip;
mod shape;
mod special;
mod truth;
mod waiting;

pub use config::{Config, ConfigError, Mode, OPTIONS, OptionText, WhenFull};
pub use distribution::{Component, Mixture};
pub use flow::{Fate, Flow};
pub use parse::POLICIES;
pub use random::Random;
pub use round_trip::RoundTrip;
pub use shape::{Shape, Stall};
pub use truth::{MOST_RETRANSMISSIONS, Truth};
pub use waiting::Waiting;
