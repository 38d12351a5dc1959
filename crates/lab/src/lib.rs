//! Virtual hosts on this host: network namespaces, joined by links with a rate, a delay and a loss.
//!
//! ```text
//!   h1                                    switch                                   h2
//!   eth0 --- tbf (the sender waits) ---> p1 ------- Switch ------- p2 ----------> eth0
//!                                     rate and delay of each link, drops      nftables: loss
//! ```
//!
//! - Each host, and the switch between them, is a network namespace. Nothing of a lab is in the network of this host, so
//!   labs share addresses and collide neither with each other nor with it.
//! - [`Lab::up`] creates a lab that this process owns. It is removed when the value is dropped. If the owner is killed, the
//!   next lab removes it: `/run/ddsmark/labs` has a record of each lab with its owner.
//! - A link with a rate or a delay is that of a model, `virtual_clock`: each frame takes its time on the wire, and a frame is
//!   forwarded when all of it has arrived. A thread of the owner is the switch. Other links go through a bridge.
//! - [`Lab::set_members`] limits multicast to the hosts of a run, as a switch with IGMP snooping does.
//! - [`Host::command`] makes a command that runs in a host, with the host's name, `/sys`, `/etc/hosts` and `/dev/shm`.
//! - [`Lab::set_link`] and [`Lab::set_mtu`] change the links while programs run; [`Lab::read_link`] reads them back, and
//!   [`Lab::counters`] has every dropped frame.
//! - [`keep`] owns a lab until it is ended by [`down`]: a lab that outlives the command that created it.

mod command;
mod counters;
mod effective_link;
mod error;
mod host;
mod keeper;
mod lab;
mod layout;
mod link;
mod links;
mod namespace;
mod owner;
mod packet_socket;
mod registry;
mod switch;
mod tools;
mod virtual_clock;

pub use counters::{Counters, HostCounters};
pub use error::LabError;
pub use experiment::{LabSpec, LinkSpec};
pub use host::Host;
pub use keeper::{down, keep};
pub use lab::{Lab, LabOptions};
pub use owner::Owner;
pub use registry::{LabRecord, list, sweep};
pub use tools::check;
