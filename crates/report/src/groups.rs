//! Groups of cells that share a curve: their titles, and what was in effect.

use results::{CellResult, ResultDocument};

use crate::{settings, short_name};

/// Returns the title of a group: driver, middleware, transport, and how the reader receives.
pub(crate) fn title(document: &ResultDocument, cells: &[&CellResult]) -> String {
    let factors = &cells[0].factors;
    let middleware = document.drivers.get(&factors.driver).map_or_else(String::new, |description| {
        format!(": {} {}", description.middleware, description.middleware_version)
    });
    let profile = factors.profile.as_ref().map_or_else(String::new, |name| format!(", profile {name}"));
    let variant = document.experiment.variant(&cells[0].id);
    let variant = variant.map_or_else(String::new, |name| format!("{name}: "));
    let topology = factors.topology;
    let shared = factors.shared_process().map_or_else(String::new, |text| format!("{text}, "));
    let topology = if topology.is_pair() { String::new() } else { format!("topology {topology}, {shared}") };
    format!(
        "{variant}{}{middleware}{}, {topology}transport {}{}, interface {}, receiving by {}, {}{profile}",
        short_name(&factors.driver),
        factors.as_shipped(),
        factors.transport,
        if factors.multicast { " by multicast" } else { "" },
        factors.interface,
        factors.reception(),
        settings::reliability(cells)
    )
}

/// Returns the effective QoS and settings of a group, and what was requested that its title does not say.
pub(crate) fn settings(document: &ResultDocument, cells: &[&CellResult]) -> Vec<String> {
    let factors = &cells[0].factors;
    let mut lines = settings::qos(cells);
    lines.extend(settings::not_enforced(document, cells));
    lines.extend(settings::settings(cells));
    if factors.vendor_defaults {
        lines.push(
            "as shipped: the driver sets only what the workload needs and what is requested".to_owned(),
        );
    }
    let listed = factors.listed_labels();
    if !listed.is_empty() {
        lines.push(format!("requested: {}", listed.join(", ")));
    }
    if !factors.options.is_empty() {
        let options: Vec<String> =
            factors.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(format!("options requested: {}", options.join(", ")));
    }
    if !factors.env.is_empty() {
        lines.push(format!("environment of the agents: {}", factors.env_text()));
    }
    lines
}
