//! Virtual hosts of an experiment: created before it, and removed after it.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use experiment::{LabSpec, LinkSpec};
use hosts::{StewardCommand, lab_steward};
use lab::{DelayMethod, HostCounters, Lab, LabError};
use results::{LinkFrames, LinkRecord};
use runner::{HostLinks, RunnerError};

/// Maximum difference between a requested and an effective delay in ns: `tc` counts in ticks of 64 ns.
const DELAY_TOLERANCE_NS: u64 = 1_000;
/// Maximum difference between a requested and an effective rate in bit/s: `tc` counts in bytes.
const RATE_TOLERANCE: u64 = 8;

/// Lab of an experiment. It is removed when the value is dropped; if this process is killed, by the next lab.
pub struct ExperimentLab(Mutex<State>);

struct State {
    lab: Lab,
    /// Links as requested, and as they were read back. `None`: not read yet.
    links: Option<(LinkSpec, LinkRecord)>,
}

impl ExperimentLab {
    /// Creates a lab.
    pub fn create(spec: &LabSpec) -> Result<Self, LabError> {
        Ok(Self(Mutex::new(State { lab: Lab::up(spec)?, links: None })))
    }

    /// Returns its hosts.
    pub fn hosts(&self) -> Vec<lab::Host> {
        self.state().lab.hosts().to_vec()
    }

    /// Returns the way to start a steward on a host of the lab, with this agent.
    pub fn steward(&self, host: &str, program: &Path, agent: &Path) -> Result<StewardCommand, LabError> {
        let state = self.state();
        let mut steward = lab_steward(state.lab.host(host)?, program);
        let (usual, agent) = (Arc::clone(&steward.command), agent.to_owned());
        steward.command = Arc::new(move || {
            let mut command = usual();
            command.env("DDSMARK_AGENT", &agent);
            command
        });
        Ok(steward)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic of another run, the links are read again.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostLinks for ExperimentLab {
    fn set(&self, link: &LinkSpec) -> Result<LinkRecord, RunnerError> {
        let mut state = self.state();
        if let Some((known, record)) = state.links.take().filter(|(known, _)| known == link) {
            state.links = Some((known, record.clone()));
            return Ok(record);
        }
        state.lab.set_link(link).map_err(|error| links_error(&error))?;
        let effective = state.lab.read_link().map_err(|error| links_error(&error))?;
        if !is_like(link, &effective) {
            let lab = |link: LinkSpec| LabSpec { hosts: state.lab.record().spec.hosts, link };
            let error = format!("the links are `{}` instead of `{}`", lab(effective), lab(*link));
            let hint = "check whether another program changes the network of the lab".to_owned();
            return Err(RunnerError::Links { error, hint });
        }
        let delay_by = state.lab.record().delay_by.map(DelayMethod::name);
        let record = LinkRecord::new(&effective, delay_by);
        state.links = Some((*link, record.clone()));
        Ok(record)
    }

    fn frames(&self) -> Result<LinkFrames, RunnerError> {
        let counters = self.state().lab.counters().map_err(|error| links_error(&error))?;
        let sum = |of: fn(&HostCounters) -> u64| counters.hosts.iter().map(of).sum();
        Ok(LinkFrames {
            sent: sum(|host| host.sent),
            lost: sum(HostCounters::lost),
            queue_drops: sum(|host| host.rate_out + host.rate_in + host.switch_out + host.switch_in),
            interface_drops: sum(|host| host.interface),
        })
    }
}

fn links_error(error: &LabError) -> RunnerError {
    let hint = error.hint();
    RunnerError::Links { error: error.to_string(), hint }
}

/// Returns whether links are in effect as they were requested, as exactly as the kernel counts.
fn is_like(requested: &LinkSpec, effective: &LinkSpec) -> bool {
    let rate = match (requested.rate_bit_per_s, effective.rate_bit_per_s) {
        (Some(requested), Some(effective)) => requested.abs_diff(effective) <= RATE_TOLERANCE,
        (requested, effective) => requested == effective,
    };
    rate && requested.delay_ns.abs_diff(effective.delay_ns) <= DELAY_TOLERANCE_NS
        && (requested.loss_ppm, requested.mtu_bytes) == (effective.loss_ppm, effective.mtu_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_links_are_compared_as_exactly_as_the_kernel_counts() {
        let link = |text: &str| text.parse::<LinkSpec>().expect("a link");
        let requested = link("rate=12345678bit,delay=1ms,loss=1%");
        for (effective, expected) in [
            ("rate=12345672bit,delay=1ms,loss=1%", true),
            ("rate=12345678bit,delay=1000500ns,loss=1%", true),
            ("rate=12345578bit,delay=1ms,loss=1%", false),
            ("delay=1ms,loss=1%", false),
            ("rate=12345678bit,delay=1002us,loss=1%", false),
            ("rate=12345678bit,delay=1ms,loss=1.0001%", false),
            ("rate=12345678bit,delay=1ms,loss=1%,mtu=9000", false),
        ] {
            assert_eq!(is_like(&requested, &link(effective)), expected, "{effective}");
        }
    }
}
