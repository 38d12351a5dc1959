//! Protocol between runner and agent: one JSON object per line, over one descriptor passed at start-up.
//!
//! The runner leads: it sends a [`Request`], and the agent answers each one with exactly one [`Reply`]. Only
//! [`Reply::Hello`] has no order; the agent sends it when it has loaded its driver. An agent that fails answers
//! [`Reply::Failed`] and exits. When the channel closes, the agent exits, whatever it is doing.
//!
//! Requests are answered in order, with one exception: if a reader joins late, its writers get a second `match` while they
//! measure, and answer it when they are matched with that reader, before or after `measured`. A request for `progress`
//! can be sent at any time after `configured`; an agent that drives answers it while it measures if the request `measure`
//! announces it.
//!
//! ```text
//! runner            agent
//!                <- hello          description of the driver
//! configure      -> configured     entities opened; effective QoS and settings; locators
//! match          -> matched        writers and readers matched
//! warm_up        -> warmed_up      the same traffic as measured
//! measure        -> measured       (a reader or echo answers at once, and serves until drain)
//! drain          -> drained        a writer: all acknowledged; a reader: all received, or the time limit
//! report         -> report         measurements
//! exit           -> bye
//! ```
//!
//! Instead of a run, the runner may list the conformance cases (`cases`) and run one of them (`check`), or exchange messages
//! with agents of other hosts over a topic (`open_mailbox`, `exchange`).
//!
//! All timestamps are ns of `CLOCK_MONOTONIC` of the reference host. An agent elsewhere converts its own clock with the
//! [`Timeline`] of its configuration.
#![forbid(unsafe_code)]

mod channel;
mod clock;
mod discovery;
mod late_join;
mod libraries;
mod mailbox;
mod payload;
mod progress;
mod reply;
mod report;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod timeline;
mod timestamp_log;
mod timing;

pub use channel::{ChannelError, Inbox, Message, from_json, receive_line, send, to_json};
pub use clock::{MonotonicClock, boot_id};
pub use discovery::{EntityMatch, InterfaceReading, ParticipantReport, TrafficAhead};
pub use late_join::{JoinReception, JoinTimes, PastReception, WrittenBeforeJoin};
pub use libraries::loaded_libraries;
pub use mailbox::{Exchange, Exchanged, MAILBOX_TAG_BYTES, MAX_RECEIVED, MailboxMessage, OpenMailbox};
pub use payload::PayloadBytes;
pub use progress::{CpuProgress, Progress, ReceptionProgress, RoundTripProgress};
pub use reply::{CaseInfo, CaseOutcome, Configured, Hello, MeasureReply, PolicyProbe, Reply};
pub use report::{
    AgentReport, EchoReport, FlowReaderReport, FlowWriterReport, NegativeTimes, PingerReport,
    ProbeEchoReport, ProbeReport, ReaderReport, ReturnReport, RoleReport, WriterReport,
};
pub use request::{Configure, Drain, LateJoin, Match, MatchedPeers, OpenOptions, Request};
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use timeline::Timeline;
pub use timestamp_log::{TimestampLog, TimestampLogError, TimestampPair};
pub use timing::{IDLE_NS, QUIET_NS, lead_ns, ping_timeout_ns, windows_of_flow};

/// Version of these messages. Runner and agent must have the same. Each change of a message increments it, even if a field is
/// optional: an agent that ignores a request would measure something else. `frozen/versions.txt` lists the versions.
pub const PROTOCOL: u32 = 23;
/// Maximum number of windows of a run: each recorder of an agent has a histogram for each window.
pub const MAX_WINDOWS: u32 = 1_000;
