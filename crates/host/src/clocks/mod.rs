//! Clock of another host: exchanges of packets with it, and what follows from their times.

pub(crate) mod client;
pub(crate) mod estimate;
pub(crate) mod measure;
pub(crate) mod packet;
pub(crate) mod responder;
pub(crate) mod socket;
