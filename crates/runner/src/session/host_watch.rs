//! Noise, counters and references of all hosts around a block.

use std::collections::BTreeMap;

use experiment::{Design, Pin, Plan};
use host::{Counters, SiteError};
use results::{BlockHost, HostNoise, NoiseProbe, NoiseRule, Reference};

use crate::sites::{SiteHost, Sites};

/// Watch over the hosts of an experiment.
pub(super) struct HostWatch<'a> {
    sites: &'a Sites<'a>,
    /// Cores that agents may use, host by host.
    cores: Vec<Vec<u32>>,
    /// Cores of sender and receiver of a reference, host by host; none if the scheduler chooses.
    reference_cores: Vec<(Vec<u32>, Vec<u32>)>,
    /// Duration of a reference measurement in ns; 0: no reference.
    reference_ns: u64,
}

/// Noise and reference of a host at one moment.
#[derive(Clone, Default)]
pub(super) struct Moment {
    probe: Option<NoiseProbe>,
    reference: Option<Reference>,
    error: Option<String>,
}

impl<'a> HostWatch<'a> {
    pub(super) fn new(experiment: &Plan, sites: &'a Sites<'a>) -> Result<Self, SiteError> {
        let design = &experiment.design;
        let pins = pins(design, sites);
        Ok(Self {
            sites,
            cores: used_cores(design, &pins, sites)?,
            reference_cores: pins.iter().map(|pin| reference_cores(design, pin)).collect(),
            reference_ns: design.reference_ns(experiment.runs_per_block()),
        })
    }

    /// Measures noise and reference of all machines, except for those that are known already. The hosts of one machine
    /// share its cores: the first one is measured.
    pub(super) fn measure(
        &self,
        rule: &NoiseRule,
        known: Option<&[Moment]>,
    ) -> Result<Vec<Moment>, SiteError> {
        let moments = self.sites.on_each_machine(|index, host| {
            let known = known.map(|moments| moments[index].clone()).unwrap_or_default();
            let probe = match known.probe {
                Some(probe) => Some(probe),
                None if rule.probe_ns == 0 => None,
                None => host.site.probe(&self.cores[index], rule)?,
            };
            if known.reference.is_some() || self.reference_ns == 0 {
                return Ok(Moment { probe, reference: known.reference, error: None });
            }
            let (sender, receiver) = &self.reference_cores[index];
            Ok(match host.site.reference(sender, receiver, self.reference_ns) {
                Ok(reference) => Moment { probe, reference: Some(reference), error: None },
                Err(error) => Moment { probe, reference: None, error: Some(error) },
            })
        })?;
        Ok(moments.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Returns the counters of all hosts.
    pub(super) fn counters(&self) -> Result<Vec<Counters>, SiteError> {
        let hosts = self.sites.hosts().iter().zip(&self.cores);
        hosts.map(|(host, cores)| host.site.counters(cores)).collect()
    }

    /// Returns the hosts of a block that begins.
    pub(super) fn begin(&self, moments: Vec<Moment>) -> Vec<BlockHost> {
        let host = |(host, moment): (&SiteHost<'_>, Moment)| BlockHost {
            host: host.name.clone(),
            before: moment.probe,
            reference_before: moment.reference,
            reference_error: moment.error,
            ..BlockHost::default()
        };
        self.sites.hosts().iter().zip(moments).map(host).collect()
    }
}

/// Adds what was measured after a block. `counters` are those over the whole block, if it was not resumed.
pub(super) fn end(hosts: &mut [BlockHost], moments: &[Moment], counters: Option<Vec<HostNoise>>) {
    for (host, moment) in hosts.iter_mut().zip(moments) {
        host.after.clone_from(&moment.probe);
        host.reference_after.clone_from(&moment.reference);
        host.reference_error = host.reference_error.take().or_else(|| moment.error.clone());
    }
    for (host, counters) in hosts.iter_mut().zip(counters.into_iter().flatten()) {
        host.counters = Some(counters);
    }
}

/// Returns the pinning on each host.
fn pins<'d>(design: &'d Design, sites: &Sites<'_>) -> Vec<&'d Pin> {
    let planned = design.hosts.iter().filter_map(|host| Some((host.name.as_str(), host.pin.as_ref()?)));
    let planned: BTreeMap<&str, &Pin> = planned.collect();
    let pin = |host: &SiteHost<'_>| planned.get(host.name.as_str()).copied().unwrap_or(&design.pin);
    sites.hosts().iter().map(pin).collect()
}

/// Returns the cores that agents may use, host by host. Without pinning they may use all cores of their machine, which its
/// first host reports.
fn used_cores(design: &Design, pins: &[&Pin], sites: &Sites<'_>) -> Result<Vec<Vec<u32>>, SiteError> {
    let pinned: Vec<Option<Vec<u32>>> = pins.iter().map(|pin| pinned_cores(design, pin)).collect();
    if let Some(pinned) = pinned.iter().cloned().collect() {
        return Ok(pinned);
    }
    let of_machines = sites.on_each_machine(|_, host| Ok(host.site.facts()?.cores))?;
    let cores = |(host, pinned): (usize, Option<Vec<u32>>)| {
        pinned.or_else(|| of_machines[sites.first_on_machine(host)].clone()).unwrap_or_default()
    };
    Ok(pinned.into_iter().enumerate().map(cores).collect())
}

/// Returns the cores that agents are pinned to; `None` if one of them may use all.
fn pinned_cores(design: &Design, pin: &Pin) -> Option<Vec<u32>> {
    let halves = if design.duet { pin.halves() } else { None };
    let mut cores = Vec::new();
    for pin in halves.as_ref().map_or(std::slice::from_ref(pin), |halves| halves) {
        match pin {
            Pin::None => return None,
            Pin::Cores(writer, reader) => cores.extend(writer.iter().chain(reader)),
        }
    }
    cores.sort_unstable();
    cores.dedup();
    Some(cores)
}

/// Returns the cores of sender and receiver of a reference measurement; none if the scheduler chooses.
fn reference_cores(design: &Design, pin: &Pin) -> (Vec<u32>, Vec<u32>) {
    let halves = if design.duet { pin.halves() } else { None };
    // The halves of a duet are swapped in every block: the first half represents both.
    let pin = halves.map_or_else(|| pin.clone(), |[first, _]| first);
    match pin {
        Pin::None => (Vec::new(), Vec::new()),
        Pin::Cores(sender, receiver) => (sender, receiver),
    }
}
