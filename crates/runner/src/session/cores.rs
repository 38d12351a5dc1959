//! Cores of an experiment.

use experiment::{Design, Pin, Plan};
use site::{Site, SiteError};

/// Returns the cores that agents may use.
pub(super) fn used_cores(experiment: &Plan, site: &dyn Site) -> Result<Vec<u32>, SiteError> {
    let Design { pin, duet, .. } = &experiment.design;
    let halves = if *duet { pin.halves() } else { None };
    let mut cores = Vec::new();
    for pin in halves.as_ref().map_or(std::slice::from_ref(pin), |halves| halves) {
        match pin {
            Pin::None => return Ok(site.facts()?.cores),
            Pin::Cores(writer, reader) => cores.extend(writer.iter().chain(reader)),
        }
    }
    cores.sort_unstable();
    cores.dedup();
    Ok(cores)
}

/// Returns the cores of sender and receiver of a reference measurement; none if the scheduler chooses.
pub(super) fn reference_cores(design: &Design) -> (Vec<u32>, Vec<u32>) {
    let halves = if design.duet { design.pin.halves() } else { None };
    // The halves of a duet are swapped in every block: the first half represents both.
    let pin = halves.map_or_else(|| design.pin.clone(), |[first, _]| first);
    match pin {
        Pin::None => (Vec::new(), Vec::new()),
        Pin::Cores(sender, receiver) => (sender, receiver),
    }
}
