//! Foundation of all roles: errors, the interface of a role, clock, waiting and resource usage.

pub mod clock;
pub mod counters;
pub mod error;
pub mod memory;
pub mod meters;
pub mod priority;
pub mod progress;
pub mod role;
pub mod sleep_spin_timer;
pub mod threads;
pub mod udp_sockets;
