//! Selection of a DDS domain that no other experiment on this network uses.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// Number of domains for drivers: 1 to this. Their RTPS ports are below the ephemeral ports of Linux.
const DOMAINS: u32 = 100;

/// Source of domains for the runs of one experiment: each run gets another domain, starting at a random one. Traffic
/// that a run left on the network does not reach the next run.
#[derive(Debug)]
pub(crate) struct Domains {
    next: u32,
    claims: &'static str,
}

/// Domain reserved for one run among all experiments.
///
/// A socket with the domain's number in its abstract name reserves it. Such names belong to the network namespace,
/// like the traffic. They are common to all users, leave no file, and the kernel frees them even if the runner
/// crashes.
#[derive(Debug)]
pub(crate) struct Domain {
    pub(crate) number: u32,
    _claim: Option<UnixDatagram>,
}

impl Domains {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let next = now.subsec_micros() ^ now.as_secs() as u32 ^ std::process::id().wrapping_mul(37);
        Self { next, claims: "ddsmark-domain" }
    }

    /// Returns the next domain that is not reserved. If reservation fails or all are reserved, returns the next one
    /// unreserved.
    pub(crate) fn take(&mut self) -> Domain {
        for _ in 0..DOMAINS {
            let number = self.number();
            match claim(&format!("{}-{number}", self.claims)) {
                Ok(claim) => return Domain { number, _claim: Some(claim) },
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(_) => return Domain { number, _claim: None },
            }
        }
        Domain { number: self.number(), _claim: None }
    }

    fn number(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next % DOMAINS + 1
    }
}

fn claim(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_in_use_is_skipped() {
        let mut ours = Domains { next: 41, claims: "ddsmark-test-use" };
        let mut theirs = Domains { next: 41, ..ours };
        let held = ours.take();
        assert_eq!(held.number, 43);
        assert_eq!(theirs.take().number, 44);
        drop(held);
        theirs.next = 41;
        assert_eq!(theirs.take().number, 43);
    }

    #[test]
    fn domains_stay_within_the_contract() {
        let mut domains = Domains { next: u32::MAX - 50, claims: "ddsmark-test-range" };
        let numbers: std::collections::BTreeSet<u32> =
            (0..2 * DOMAINS).map(|_| domains.take().number).collect();
        assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&DOMAINS)));
    }

    #[test]
    fn domain_is_unreserved_if_all_are_taken() {
        let mut domains = Domains { next: 0, claims: "ddsmark-test-full" };
        let all: Vec<_> = (0..DOMAINS).map(|_| domains.take()).collect();
        assert!(all.iter().all(|domain| domain._claim.is_some()));
        let extra = domains.take();
        assert!(extra._claim.is_none() && (1..=DOMAINS).contains(&extra.number));
    }
}
