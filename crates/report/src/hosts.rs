//! Hosts of a result, what runs on each of them, and how they differ.

use std::collections::BTreeSet;

use experiment::{RunTopology, distinct};
use results::{Host, HostRecord, ResultDocument, Run};

use crate::{fact::Fact, number::count};

/// Maximum number of placements that are listed.
const PLACEMENTS: usize = 4;
/// Groups of the environment in which a difference between hosts is named, and their fields; without fields, all whose
/// names end with a version.
const NAMED: [(&str, &[&str]); 2] = [("host", &["kernel", "cpu", "cpus"]), ("driver", &[])];

/// Describes a host in a few words.
pub(crate) fn host(host: &Host) -> String {
    let virtualization = host.virtualization.as_deref().map_or_else(String::new, |kind| format!(" ({kind})"));
    format!(
        "{}{virtualization}, {}, {}, {}",
        host.name,
        count(host.cpus as usize, "processor"),
        host.cpu.as_deref().unwrap_or("unknown processor"),
        // name and release, without the build
        host.kernel.split(' ').take(2).collect::<Vec<_>>().join(" ")
    )
}

/// Describes the hosts, one fact for each, and the places of the endpoints. With one host: one fact.
pub(crate) fn facts(document: &ResultDocument) -> Vec<Fact> {
    let [_, _, ..] = &document.hosts[..] else { return vec![Fact::new("Host", host(document.host()))] };
    let mut facts: Vec<Fact> = document.hosts.iter().map(named).collect();
    facts.extend(placement(document));
    facts
}

fn named(record: &HostRecord) -> Fact {
    let link = record.interface.as_ref().map_or_else(String::new, |interface| {
        let speed = record.link_mbps(interface).map(|mbps| format!("{mbps} Mbit/s"));
        let mtu = record.properties.mtu_bytes.get(interface).map(|bytes| format!("MTU {bytes}"));
        let known: Vec<String> = speed.into_iter().chain(mtu).collect();
        let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
        format!(", interface {interface}{known}")
    });
    let machine = match &record.machine_of {
        Some(other) => format!("on the machine of {other}"),
        None => host(&record.properties),
    };
    Fact::new(format!("Host {}", record.name), format!("{machine}, at {}{link}", record.at))
}

/// Returns the places of the endpoints of each topology.
fn placement(document: &ResultDocument) -> Option<Fact> {
    let places = document.experiment.cells.iter().map(|cell| {
        let topology = RunTopology::of(&cell.factors, &document.experiment.design);
        let place =
            topology.endpoints.iter().map(|endpoint| format!("{}@{}", endpoint.id, endpoint.place.host));
        place.collect::<Vec<_>>().join(" ")
    });
    let mut places = distinct(places);
    let more = places.len().saturating_sub(PLACEMENTS);
    places.truncate(PLACEMENTS);
    let more = if more > 0 { format!("; {}", count(more, "other placement")) } else { String::new() };
    (!places.is_empty()).then(|| Fact::new("Endpoints", format!("{}{more}", places.join("; "))))
}

/// Names the endpoint that is the cause of a failed run, and its host if there are several: ` of the reader@pi2`. Empty without
/// one.
pub(crate) fn of_endpoint(document: &ResultDocument, run: &Run) -> String {
    let Some(id) = run.failure.as_ref().and_then(|failure| failure.endpoint.as_ref()) else {
        return String::new();
    };
    // A failed run has no record of its endpoints.
    let cell = document.experiment.cells.iter().find(|cell| cell.id == run.cell);
    let topology = cell.map(|cell| RunTopology::of(&cell.factors, &document.experiment.design));
    format!(" of the {}", topology.map_or_else(|| id.clone(), |topology| topology.label(id)))
}

/// Names the properties and versions in which the hosts differ; `None` if they do not.
pub(crate) fn differences(document: &ResultDocument) -> Option<Fact> {
    let machines: Vec<&HostRecord> = document.hosts.iter().filter(|host| host.machine_of.is_none()).collect();
    let mut differing = Vec::new();
    for (group, fields) in NAMED {
        let of = |host: &HostRecord, field: &str| host.environment.fields.get(group)?.get(field).cloned();
        let is_named = |field: &&String| {
            fields.contains(&field.as_str()) || fields.is_empty() && field.ends_with("version")
        };
        let names: BTreeSet<&String> = machines
            .iter()
            .filter_map(|host| host.environment.fields.get(group))
            .flat_map(|fields| fields.keys())
            .filter(is_named)
            .collect();
        for name in names {
            let values: Vec<Option<String>> = machines.iter().map(|host| of(host, name)).collect();
            if values.iter().any(|value| *value != values[0]) {
                let shown = machines.iter().zip(&values).map(|(host, value)| {
                    format!("{} on {}", value.as_deref().unwrap_or("unknown"), host.name)
                });
                differing.push(format!("{name} {}", shown.collect::<Vec<_>>().join(", ")));
            }
        }
    }
    differing.extend(mtu_difference(&document.hosts));
    (!differing.is_empty()).then(|| Fact::warning("The hosts differ", differing.join("; ")))
}

/// Names the MTU of the interface of each host if they differ: packets that one host sends may be too long for another.
fn mtu_difference(hosts: &[HostRecord]) -> Option<String> {
    let mtu = |host: &HostRecord| {
        let interface = host.interface.as_ref()?;
        Some((host.name.clone(), *host.properties.mtu_bytes.get(interface)?))
    };
    let known: Vec<(String, _)> = hosts.iter().filter_map(mtu).collect();
    let differ = known.iter().any(|(_, bytes)| *bytes != known[0].1);
    let shown =
        || known.iter().map(|(name, bytes)| format!("{bytes} on {name}")).collect::<Vec<_>>().join(", ");
    differ.then(|| format!("MTU {}", shown()))
}

#[cfg(test)]
mod tests {
    use results::Environment;

    use super::*;

    #[test]
    fn different_mtu_is_a_difference_of_hosts_of_one_machine_too() {
        let host = |name: &str, mtu| {
            let mut properties = Host::default();
            properties.mtu_bytes.insert("eth0".to_owned(), mtu);
            let only = HostRecord::only(properties, Environment::default());
            HostRecord { name: name.to_owned(), interface: Some("eth0".to_owned()), ..only }
        };
        let (one, other) = (host("h1", 1_500), host("h2", 1_280));
        assert_eq!(
            mtu_difference(&[one.clone(), other.clone()]).as_deref(),
            Some("MTU 1500 on h1, 1280 on h2")
        );
        assert_eq!(mtu_difference(&[one.clone(), one.clone()]), None);
        assert_eq!(mtu_difference(&[one, HostRecord { interface: None, ..other }]), None);
        assert_eq!(mtu_difference(&[]), None);
    }
}
