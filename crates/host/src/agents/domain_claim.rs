//! Reservation of DDS domains.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

use crate::site::DomainClaim;

/// Text before the number of a domain in the name of its socket.
pub(crate) const DOMAIN: &str = "ddsmark-domain";

/// Reserves a domain.
///
/// A socket with the domain's number in its abstract name reserves it. Such names belong to the network namespace,
/// like the traffic. They are common to all users, leave no file, and the kernel frees them even if the process
/// crashes.
pub(crate) fn claim(prefix: &str, number: u32) -> DomainClaim {
    let name = format!("{prefix}-{number}");
    match SocketAddr::from_abstract_name(name).and_then(|name| UnixDatagram::bind_addr(&name)) {
        Ok(socket) => DomainClaim::Reserved(Box::new(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => DomainClaim::InUse,
        Err(_) => DomainClaim::Unsupported,
    }
}
