//! Identification of runs.

use host::{Domain, Domains, Owner, SiteError, unix_ns};

use crate::sites::Sites;

/// Number of run tags: 12 bits.
const RUN_TAGS: u32 = 1 << 12;

/// Source of names, tags and domains that are unique among all experiments on the hosts.
pub(crate) struct RunIds {
    domains: Domains,
    first_tag: u32,
    /// Number of runs and trials so far.
    taken: u32,
}

/// Name, tag and domain of one run or trial.
pub(crate) struct RunId {
    pub(crate) run: String,
    pub(crate) tag: u16,
    pub(crate) domain: Domain,
}

impl RunIds {
    /// Creates a source for the runs of an experiment. `domain`: the one that all runs use; `None`: any.
    pub(crate) fn new(domain: Option<u32>) -> Self {
        let domains = domain.map_or_else(Domains::new, Domains::only);
        Self { domains, first_tag: (unix_ns() >> 10) as u32 ^ std::process::id(), taken: 0 }
    }

    /// Returns the identification of the next run, or of the next trial of the same run.
    ///
    /// # Errors
    /// Returns an error if a host does not answer.
    pub(crate) fn take(&mut self, run: u32, sites: &Sites<'_>) -> Result<RunId, SiteError> {
        self.taken = self.taken.wrapping_add(1);
        let tag = (self.first_tag.wrapping_add(self.taken) % RUN_TAGS) as u16;
        let run = format!("{}-{}", Owner::run_name_of(&sites.owners(), run), self.taken);
        Ok(RunId { run, tag, domain: self.domains.take(&sites.networks())? })
    }
}
