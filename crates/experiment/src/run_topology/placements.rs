//! Checks of hosts, and of placements on them.

use super::RunTopology;
use crate::{
    factors::placement::Placement,
    gather::distinct,
    plan::{
        experiment::Plan,
        experiment_file::{ExperimentFile, HostSection},
    },
    syntax::{
        host_spec::is_host_name,
        spanned_error::{PlanError, SpannedError, available, contradiction},
    },
};

impl ExperimentFile {
    /// Rejects names of hosts that are missing, invalid or given twice, labs beside other hosts, and factors of links without a
    /// lab.
    ///
    /// # Errors
    /// Returns an error with its position.
    pub fn check_hosts(&self) -> Result<(), SpannedError> {
        self.check_labs()?;
        for (index, host) in self.hosts.iter().enumerate() {
            let host = host.get();
            let (at, name) = match (&host.name, host.at.get().names_hosts()) {
                (None, true) => continue,
                (None, false) => {
                    let words = format!("host `{}` has no name", host.at.get());
                    let hint = "write `name = ...`; only `lab:N` and `slurm` name their hosts themselves";
                    return host.at.refused(words, hint);
                }
                (Some(name), true) => {
                    let words = format!("`{}` names its hosts itself", host.at.get());
                    return name.refused(words, "remove `name`");
                }
                (Some(name), false) => (name.span(), name.get()),
            };
            if !is_host_name(name) {
                let words = format!("`{}` is not a valid name of a host", name.escape_debug());
                return Err(contradiction(words, "use 1 to 64 letters, digits, `-`, `_` and `.`").at(at));
            }
            let is_name = |known: &HostSection| known.name.as_ref().is_some_and(|known| known.get() == name);
            if self.hosts[..index].iter().any(|known| is_name(known.get())) {
                return Err(PlanError::twice("host", name).at(at));
            }
        }
        Ok(())
    }

    /// Rejects placements that name a host or an endpoint that no run has.
    ///
    /// # Errors
    /// Returns an error with its position.
    pub fn check_placements(&self, plan: &Plan) -> Result<(), SpannedError> {
        let hosts = &plan.design.hosts;
        for placement in self.values_of::<Placement>("placement") {
            let cells = plan.cells.iter().filter(|cell| cell.factors.placement == *placement.get());
            let run_topologies: Vec<RunTopology> =
                cells.map(|cell| RunTopology::of(&cell.factors, &plan.design)).collect();
            for (endpoint, host) in &placement.get().entries {
                if hosts.iter().all(|known| known.name != *host) {
                    let known: Vec<String> = hosts.iter().map(|known| known.name.clone()).collect();
                    let hint = match known.is_empty() {
                        true => {
                            "name hosts with `--host NAME=SPEC`, or with `[[host]]` in the file".to_owned()
                        }
                        false => available(&known),
                    };
                    return placement.refused(format!("host `{host}` not found"), hint);
                }
                if run_topologies.is_empty()
                    || run_topologies.iter().any(|topology| topology.has_place_for(endpoint))
                {
                    continue;
                }
                let endpoints = run_topologies.iter().flat_map(|topology| &topology.endpoints);
                let known = distinct(endpoints.map(|endpoint| endpoint.id.clone()));
                let hint = format!("{}; roles such as `writer` and `reader`", available(&known));
                return placement.refused(format!("endpoint `{endpoint}` not found"), hint);
            }
        }
        Ok(())
    }
}
