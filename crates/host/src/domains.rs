//! Selection of a DDS domain that no other experiment on this network uses.

use std::process;

use crate::{
    site::{DomainClaim, Guard, Site},
    values::{clock::unix_ns, error::SiteError},
};

/// Number of domains for drivers: 1 to this. Their RTPS ports are below the ephemeral ports of Linux.
const DOMAINS: u32 = 100;

/// Source of domains for the runs of one experiment: each run gets another domain, starting at a random one. Traffic
/// that a run left on the network does not reach the next run.
#[derive(Debug)]
pub struct Domains {
    next: u32,
    /// Number of the only domain; `None`: any.
    only: Option<u32>,
    /// Reservations of the only domain, from the first run to the last one.
    held: Option<Vec<Guard>>,
}

/// Domain of one run.
#[derive(Debug)]
pub struct Domain {
    /// Number of the domain.
    pub number: u32,
    /// Whether another experiment has reserved it, too.
    pub is_shared: bool,
    /// Reservations among all experiments, one for each network that supports them.
    _claims: Vec<Guard>,
}

impl Domains {
    /// Creates a source that starts at a random domain.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two sources differ")]
    pub fn new() -> Self {
        let now = unix_ns();
        let (seconds, micros) = (now / 1_000_000_000, now % 1_000_000_000 / 1000);
        Self { next: micros as u32 ^ seconds as u32 ^ process::id().wrapping_mul(37), only: None, held: None }
    }

    /// Creates a source of one domain, which all runs use. It is reserved from the first run until the source is dropped.
    #[must_use]
    pub const fn only(number: u32) -> Self {
        Self { next: 0, only: Some(number), held: None }
    }

    /// Returns the next domain that is not reserved in the network of any site, and reserves it in all of them. A network
    /// that does not support reservations is left out. If all domains are reserved, returns the next one unreserved; the
    /// same applies to the only domain.
    ///
    /// # Errors
    /// Returns an error if the host of a site does not answer.
    pub fn take(&mut self, sites: &[&dyn Site]) -> Result<Domain, SiteError> {
        self.take_with(sites, Site::claim_domain)
    }

    fn take_with<S: Copy, E>(
        &mut self,
        sites: &[S],
        claim: impl Fn(S, u32) -> Result<DomainClaim, E>,
    ) -> Result<Domain, E> {
        if let (Some(number), Some(_)) = (self.only, &self.held) {
            return Ok(Domain { number, is_shared: false, _claims: Vec::new() });
        }
        let attempts = if self.only.is_some() { 1 } else { DOMAINS };
        'numbers: for _ in 0..attempts {
            let number = self.number();
            let mut claims = Vec::new();
            for &site in sites {
                match claim(site, number)? {
                    DomainClaim::Reserved(hold) => claims.push(hold),
                    DomainClaim::InUse => continue 'numbers,
                    DomainClaim::Unsupported => {}
                }
            }
            if self.only.is_some() {
                self.held = Some(std::mem::take(&mut claims));
            }
            return Ok(Domain { number, is_shared: false, _claims: claims });
        }
        Ok(Domain { number: self.number(), is_shared: true, _claims: Vec::new() })
    }

    fn number(&mut self) -> u32 {
        if let Some(only) = self.only {
            return only;
        }
        self.next = self.next.wrapping_add(1);
        self.next % DOMAINS + 1
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::agents::domain_claim;

    fn claim(prefix: &str, number: u32) -> Result<DomainClaim, Infallible> {
        Ok(domain_claim::claim(prefix, number))
    }

    fn take(domains: &mut Domains, claim: impl Fn(u32) -> Result<DomainClaim, Infallible>) -> Domain {
        let Ok(domain) = domains.take_with(&[()], |(), number| claim(number));
        domain
    }

    #[test]
    fn domain_is_free_in_all_networks() {
        let networks = ["ddsmark-test-one", "ddsmark-test-two"];
        let mut domains = Domains { next: 41, only: None, held: None };
        let in_second = claim(networks[1], 43);
        let Ok(domain) = domains.take_with(&networks, claim);
        assert_eq!((domain.number, domain._claims.len()), (44, 2));
        // The reservation of 43 in the first network was given up.
        assert!(matches!(claim(networks[0], 43), Ok(DomainClaim::Reserved(_))));
        assert!(matches!(claim(networks[0], 44), Ok(DomainClaim::InUse)));
        drop(in_second);
    }

    #[test]
    fn domain_in_use_is_skipped() {
        let claim = |number| claim("ddsmark-test-use", number);
        let (mut ours, mut theirs) =
            (Domains { next: 41, only: None, held: None }, Domains { next: 41, only: None, held: None });
        let held = take(&mut ours, claim);
        assert_eq!(held.number, 43);
        assert_eq!(take(&mut theirs, claim).number, 44);
        drop(held);
        theirs.next = 41;
        assert_eq!(take(&mut theirs, claim).number, 43);
    }

    #[test]
    fn domains_stay_within_the_contract() {
        let mut domains = Domains { next: u32::MAX - 50, only: None, held: None };
        let numbers: std::collections::BTreeSet<u32> = (0..2 * DOMAINS)
            .map(|_| take(&mut domains, |number| claim("ddsmark-test-range", number)).number)
            .collect();
        assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&DOMAINS)));
    }

    #[test]
    fn domain_is_unreserved_if_all_are_taken() {
        let claim = |number| claim("ddsmark-test-full", number);
        let mut domains = Domains { next: 0, only: None, held: None };
        let all: Vec<_> = (0..DOMAINS).map(|_| take(&mut domains, claim)).collect();
        assert!(all.iter().all(|domain| domain._claims.len() == 1));
        let extra = take(&mut domains, claim);
        assert!(extra._claims.is_empty() && (1..=DOMAINS).contains(&extra.number));
    }

    #[test]
    fn only_domain_is_used_even_if_it_is_reserved() {
        let claim = |number| claim("ddsmark-test-only", number);
        let (mut ours, mut theirs) = (Domains::only(7), Domains::only(7));
        let held = take(&mut ours, claim);
        assert_eq!((held.number, held.is_shared), (7, false));
        let shared = take(&mut theirs, claim);
        assert_eq!((shared.number, shared.is_shared), (7, true));
        drop(held);
        assert!(take(&mut theirs, claim).is_shared, "the first source keeps it between its runs");
        assert!(!take(&mut ours, claim).is_shared, "its own reservation");
        drop(ours);
        assert!(!take(&mut theirs, claim).is_shared);
    }

    #[test]
    fn host_without_reservation_gets_the_next_domain() {
        let mut domains = Domains { next: 41, only: None, held: None };
        let domain = take(&mut domains, |_| Ok(DomainClaim::Unsupported));
        assert!(domain._claims.is_empty() && domain.number == 43);
    }
}
