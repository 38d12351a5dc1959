//! What runner and agent say to each other: one JSON object a line, over one descriptor passed at start-up.
//!
//! The runner leads. It sends an [`Order`]; the agent answers each with exactly one [`Reply`], and sends one unasked,
//! [`Reply::Hello`], when it has loaded its driver. An agent that fails answers [`Reply::Failed`] and exits. When the channel
//! closes, the agent exits, whatever it is doing.
//!
//! ```text
//! runner            agent
//!                <- hello          what the driver is
//! configure      -> configured     entities opened; QoS and settings in force; locators
//! match          -> matched        both ends see each other
//! warm_up        -> warmed_up      the same traffic as measured
//! measure        -> measured       (a reader or ponger answers at once, and serves until drain)
//! drain          -> drained        a writer: all acknowledged; a reader: all there, or the time limit
//! report         -> report         what was recorded
//! exit           -> bye
//! ```
//!
//! Instead of a run the runner may ask for the cases of the contract (`cases`), and have one tried (`check`).
//!
//! All stamps are of `CLOCK_MONOTONIC`, in ns.
#![forbid(unsafe_code)]

mod channel;
mod order;
mod reply;
mod report;
mod stamps;

pub use channel::{ChannelError, Inbox, Message, receive_line, send};
pub use order::{Configure, Drain, Match, Order, Role, Way};
pub use reply::{CaseInfo, Configured, Measured, Reply, Verdict};
pub use report::{
    FlowRead, FlowWritten, PacedRead, PacedWritten, Pinged, Ponged, ProbesRead, ProbesWritten, ReaderReport,
    Report, Written,
};
pub use stamps::{Stamp, Stamps, StampsError};

/// Version of these messages, and of the factors in them; runner and agent must have the same.
pub const PROTOCOL: u32 = 5;
/// The most windows of a run: each recorder of an agent has a histogram for each of them.
pub const MAX_WINDOWS: u32 = 1_000;
