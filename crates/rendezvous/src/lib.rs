//! Commands on several hosts that share only the network: `ddsmark perftest -pub` and `-sub`.
//!
//! ```text
//! publisher 0 (leader)                                     every other process (guest)
//!   runner -> site                                            steward -> site
//!        streams --- channel --- mailbox ~~~ network ~~~ mailbox --- channel --- streams
//! ```
//!
//! - A [`mailbox::Mailbox`] carries samples: over a topic of the middleware ([`mailbox::agent`]), or over TCP for drivers without
//!   discovery ([`mailbox::tcp`]). Both are separate from all measured topics and sockets, so no measured sample can be
//!   mistaken for a control message.
//! - The [`envelope`] makes messages of samples, and samples of messages. It trusts nothing that arrives.
//! - In the [`lobby`], processes announce themselves. The leader waits for all that it expects, rejects those that do not fit,
//!   and invites the others.
//! - [`streams`] are byte streams between the leader and each guest, with flow control and signs of life. A peer that ends, is
//!   killed or is not reachable ends its stream, with an error that names it.
//!
//! A process does this:
//!
//! 1. `AgentMailbox::open` or `TcpMailbox::listen` and `connect`, then `MessageChannel::new`
//! 2. `lobby::lead` or `lobby::join`
//! 3. `streams::Session::start`, which returns the streams
//! 4. `Session::end`, with the result of the process
#![forbid(unsafe_code)]

pub mod envelope;
mod error;
mod identity;
pub mod lobby;
pub mod mailbox;
pub mod message;
mod message_channel;
mod shared;
pub mod streams;

pub use error::RendezvousError;
pub use identity::{PeerAddress, PeerRole, ProcessId};
pub use message::Outcome;
pub use message_channel::{Delivery, MessageChannel};
