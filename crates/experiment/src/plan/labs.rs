//! Virtual hosts that an experiment creates, and the factors of their links.

use crate::{
    factors::LINK_KEYS,
    plan::{
        experiment_file::{ExperimentFile, HostSection},
        plan_inputs::PlanInputs,
    },
    syntax::{
        link::{LabSpec, LinkSpec},
        link_values::{LinkDelay, LinkLoss, LinkRate},
        one_or_many::Located,
        spanned_error::{SpannedError, contradiction},
    },
};

impl PlanInputs<'_> {
    /// Returns the links of the virtual hosts of the plan; `None` for other hosts.
    pub(crate) fn link(&self) -> Option<LinkSpec> {
        Some(self.hosts.first()?.at.lab()?.link)
    }
}

impl ExperimentFile {
    /// Returns the virtual hosts that the experiment creates, if it does.
    #[must_use]
    pub fn lab(&self) -> Option<LabSpec> {
        self.hosts.iter().find_map(|host| host.get().at.get().lab().copied())
    }

    /// Returns a link that has each property that the links of any cell have: what the host of a lab has to support.
    #[must_use]
    pub fn any_link(&self) -> LinkSpec {
        let mut link = self.lab().map_or_else(LinkSpec::default, |lab| lab.link);
        let rates = self.values_of::<LinkRate>("link_rate");
        link.rate_bit_per_s = rates.filter_map(|rate| rate.get().0).last().or(link.rate_bit_per_s);
        let delays = self.values_of::<LinkDelay>("link_delay");
        link.delay_ns = delays.map(|delay| delay.get().0).fold(link.delay_ns, u64::max);
        let losses = self.values_of::<LinkLoss>("link_loss");
        link.loss_ppm = losses.map(|loss| loss.get().0).fold(link.loss_ppm, u32::max);
        link
    }

    /// Rejects a lab beside other hosts, and factors of links without a lab.
    pub(crate) fn check_labs(&self) -> Result<(), SpannedError> {
        let labs: Vec<&HostSection> =
            self.hosts.iter().map(Located::get).filter(|host| host.at.get().lab().is_some()).collect();
        match labs[..] {
            [] => return self.check_links(),
            [lab] => {
                if let Some(interface) = &lab.interface {
                    let words = "each host of a lab has one interface to the others";
                    return interface.refused(words, "remove `interface`");
                }
            }
            [_, second, ..] => {
                let words = "an experiment can have one lab only";
                return second.at.refused(words, "use one lab with more hosts, such as `lab:4`");
            }
        }
        if let Some(other) = self.hosts.iter().map(Located::get).find(|host| host.at.get().lab().is_none()) {
            let words = format!(
                "`{}` cannot be used beside a lab, whose hosts reach each other only",
                other.at.get()
            );
            return other.at.refused(words, "remove it, or use a lab with one more host");
        }
        Ok(())
    }

    /// Rejects factors of links: there is no lab.
    fn check_links(&self) -> Result<(), SpannedError> {
        let Some((at, key)) = self.first_given(&LINK_KEYS) else { return Ok(()) };
        let words = format!("`{key}` needs a lab: ddsmark sets the links of virtual hosts only");
        let hint = "add `--host lab:2`, or `[[host]]` with `at = \"lab:2\"` in the file";
        Err(contradiction(words, hint).at(at))
    }
}
