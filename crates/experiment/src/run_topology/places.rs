//! Places of the endpoints of a run: host and cores.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Endpoint, Role, RunTopology};
use crate::{
    factors::{Factors, placement::OWN_INTERFACE, topology::Topology},
    plan::{
        design::{Pin, PlannedHost},
        thread_priorities::ThreadPriorities,
    },
};

/// Name of the host of an experiment without hosts of its own: the one that the runner is on.
pub const LOCAL_HOST: &str = "local";

/// Maximum number of endpoints that a placement lists.
const LISTED: usize = 6;

/// Place of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of its host.
    pub host: String,
    /// Cores that its process may use; `None`: inherited.
    pub cpus: Option<Vec<u32>>,
    /// Priorities of its threads; `None`: inherited.
    pub priorities: Option<ThreadPriorities>,
    /// Whether its writers of a planned load spin for the last part of a wait; `None`: as the design has it.
    pub spin: Option<bool>,
}

impl Place {
    /// Returns the place of an endpoint on the only host.
    pub(super) fn on_the_only_host(pin: &Pin, role: Role) -> Self {
        Self { host: LOCAL_HOST.to_owned(), cpus: cpus(pin, role), priorities: None, spin: None }
    }
}

/// Returns the cores of an endpoint. A participant both drives and serves.
fn cpus(pin: &Pin, role: Role) -> Option<Vec<u32>> {
    match (pin, role) {
        (Pin::None, _) => None,
        (Pin::Cores(..), Role::Participant) => all_cpus(pin),
        (Pin::Cores(driving, _), role) if role.drives() => Some(driving.clone()),
        (Pin::Cores(_, serving), _) => Some(serving.clone()),
    }
}

/// Returns the cores of a process that both drives and serves.
pub(super) fn all_cpus(pin: &Pin) -> Option<Vec<u32>> {
    let Pin::Cores(driving, serving) = pin else { return None };
    let mut all = [&driving[..], serving].concat();
    all.sort_unstable();
    all.dedup();
    Some(all)
}

impl RunTopology {
    /// Places the endpoints on hosts. Without hosts, they stay on the only one.
    pub(super) fn place(&mut self, factors: &Factors, hosts: &[PlannedHost], pin: &Pin) {
        if hosts.is_empty() {
            return;
        }
        let default = self.default_hosts(factors.topology, hosts.len());
        let by_name = by_name(hosts);
        for (endpoint, default) in self.endpoints.iter_mut().zip(default) {
            let named = named_host(factors, endpoint);
            let host = named.and_then(|named| by_name.get(named).copied()).unwrap_or(&hosts[default]);
            let pin = host.pin.as_ref().unwrap_or(pin);
            endpoint.place = Place {
                host: host.name.clone(),
                cpus: if endpoint.participant.shared { all_cpus(pin) } else { cpus(pin, endpoint.role) },
                priorities: host.priorities,
                spin: host.spin,
            };
            if factors.interface == OWN_INTERFACE
                && let Some(interface) = &host.interface
            {
                endpoint.participant.interface.clone_from(interface);
            }
        }
        self.split_processes();
        self.name_peers(factors, hosts);
    }

    /// Names the hosts of the run to the middleware of each endpoint, unless it runs as shipped: discovery by multicast does
    /// not reach every host, and a middleware without it knows its own host only.
    fn name_peers(&mut self, factors: &Factors, hosts: &[PlannedHost]) {
        if factors.vendor_defaults || self.hosts().len() < 2 {
            return;
        }
        // `udp6`
        let is_ipv6 = factors.transport.ends_with('6');
        let by_name = by_name(hosts);
        let (mut peers, mut known): (Vec<String>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
        for endpoint in &self.endpoints {
            let host = by_name.get(endpoint.place.host.as_str());
            let address = host.and_then(|host| {
                let addresses = if is_ipv6 { &host.ipv6_addresses } else { &host.addresses };
                addresses.get(&endpoint.participant.interface)
            });
            peers.extend(address.filter(|address| known.insert(address.as_str())).cloned());
        }
        let peers: Arc<[String]> = peers.into();
        for endpoint in &mut self.endpoints {
            endpoint.participant.peers = Arc::clone(&peers);
        }
    }

    /// Returns the index of the host of each endpoint by default.
    fn default_hosts(&self, topology: Topology, hosts: usize) -> Vec<usize> {
        // Endpoints of one process have one host.
        let all = self.processes().len();
        let process = |endpoint: &Endpoint| endpoint.process as usize - 1;
        let is_system = self.endpoints.iter().any(|endpoint| endpoint.process_name.is_some());
        let in_turn = is_system || matches!(topology, Topology::Ring { .. } | Topology::FullMesh { .. });
        if in_turn || hosts >= all || hosts == 1 {
            return self.endpoints.iter().map(|endpoint| process(endpoint) % hosts).collect();
        }
        let mut serving = 0;
        let host = |endpoint: &Endpoint| {
            if endpoint.role.drives() {
                return 0;
            }
            serving += 1;
            1 + (serving - 1) % (hosts - 1)
        };
        self.endpoints.iter().map(host).collect()
    }

    /// Returns the names by which a placement can name an endpoint, the id first.
    fn names(endpoint: &Endpoint) -> [&str; 4] {
        let side = if endpoint.role.drives() { "writer" } else { "reader" };
        let process = endpoint.process_name.as_deref().unwrap_or(&endpoint.id);
        [&endpoint.id, process, endpoint.role.name(), side]
    }

    /// Returns whether a name in a placement is that of an endpoint.
    #[must_use]
    pub fn has_place_for(&self, name: &str) -> bool {
        self.endpoints.iter().any(|endpoint| Self::names(endpoint).contains(&name))
    }

    /// Returns the name of an endpoint in messages: its id, and its host if the run has several, `reader@pi2`.
    #[must_use]
    pub fn label(&self, id: &str) -> String {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.id == id);
        match endpoint.filter(|_| self.hosts().len() > 1) {
            Some(endpoint) => endpoint.label(),
            None => id.to_owned(),
        }
    }

    /// Returns which way the samples of a run over several hosts go, `writer@pi1 -> reader@pi2`; with many endpoints, its
    /// hosts only. `None` on one host.
    #[must_use]
    pub fn placement(&self, topology: Topology) -> Option<String> {
        let hosts = self.hosts();
        if hosts.len() < 2 {
            return None;
        }
        if self.endpoints.len() > LISTED {
            return Some(format!("on {}", hosts.join(", ")));
        }
        let names = |driving: bool| {
            let of_side = self.endpoints.iter().filter(move |endpoint| endpoint.role.drives() == driving);
            of_side.map(Endpoint::label).collect::<Vec<_>>()
        };
        let (driving, serving) = (names(true), names(false));
        Some(if matches!(topology, Topology::Ring { .. }) {
            [&driving[..], &serving[..], &driving[..1]].concat().join(" -> ")
        } else if serving.is_empty() {
            driving.join(", ")
        } else {
            format!("{} -> {}", driving.join(", "), serving.join(", "))
        })
    }

    /// Returns the names of the hosts that it uses, each once.
    #[must_use]
    pub fn hosts(&self) -> Vec<&str> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let hosts = self.endpoints.iter().map(|endpoint| endpoint.place.host.as_str());
        hosts.filter(|host| known.insert(host)).collect()
    }
}

impl Endpoint {
    /// Returns its name in messages of a run over several hosts: `reader@pi2`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}@{}", self.id, self.place.host)
    }
}

/// Returns hosts by name.
fn by_name(hosts: &[PlannedHost]) -> BTreeMap<&str, &PlannedHost> {
    hosts.iter().map(|host| (host.name.as_str(), host)).collect()
}

/// Returns the host that a placement names for an endpoint.
fn named_host<'f>(factors: &'f Factors, endpoint: &Endpoint) -> Option<&'f str> {
    let entries = &factors.placement.entries;
    let host = |name: &str| Some(entries.iter().find(|(known, _)| known == name)?.1.as_str());
    RunTopology::names(endpoint).into_iter().find_map(host)
}
