//! Comparison of the effective with the requested configuration.

use std::collections::BTreeMap;

use control::Configured;
use experiment::{Endpoint, Qos, RunTopology};

use crate::reports::{AgentOutcome, RunReports};

/// Effective configuration that contradicts the requested one. The run fails before its traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the agent.
    pub agent: usize,
    /// Entity and values.
    pub error: String,
}

/// One entity of a run, with its requested policies that are not effective.
struct Compared {
    agent: usize,
    entity: String,
    /// Requested policies without a known value.
    unknown: Vec<&'static str>,
    /// Requested policies with another value.
    wrong: Vec<String>,
}

/// Returns the first entity whose QoS or multicast setting contradicts the requested one; `None` if there is none.
/// A value that a driver does not report contradicts nothing. `configured` is in the order of the endpoints.
#[must_use]
pub fn mismatch(topology: &RunTopology, configured: &[Configured]) -> Option<Mismatch> {
    let compared = compare_qos(topology.endpoints.iter().zip(configured));
    let wrong = compared.into_iter().find(|entity| !entity.wrong.is_empty());
    let qos = wrong.map(|Compared { agent, entity, wrong, .. }| Mismatch {
        agent,
        error: format!(
            "the effective QoS of the {entity} differs from the requested QoS: {}",
            wrong.join("; ")
        ),
    });
    qos.or_else(|| multicast(topology, configured))
}

/// Returns the requested policies and socket buffers that the drivers do not report, as text.
pub(crate) fn unverified(reports: &RunReports) -> Vec<String> {
    let compared = compare_qos(reports.agents.iter().map(|agent| (&agent.endpoint, &agent.configured)));
    // What a driver ignores has no effective value.
    let policies = compared.iter().flat_map(|Compared { agent, entity, unknown, .. }| {
        let ignored = reports.agents[*agent].configured.ignored.get(kind(entity));
        let acts = move |field: &&&str| {
            !ignored.into_iter().flatten().any(|policy| Some(*policy) == Qos::policy_of(field))
        };
        unknown.iter().filter(acts).map(move |field| format!("{field} of the {}", kind(entity)))
    });
    let mut unverified: Vec<String> =
        policies.chain(reports.agents.iter().flat_map(unreported_buffers)).collect();
    unverified.sort();
    unverified.dedup();
    unverified
}

/// Returns the kind of an entity: its name without the number.
fn kind(entity: &str) -> &str {
    entity.split_once('-').map_or(entity, |(kind, _)| kind)
}

/// Returns each entity with its requested policies that are not effective.
fn compare_qos<'a>(agents: impl Iterator<Item = (&'a Endpoint, &'a Configured)>) -> Vec<Compared> {
    let mut compared = Vec::new();
    for (agent, (endpoint, configured)) in agents.enumerate() {
        for (entity, requested) in endpoint.entities() {
            let nothing = Qos::default();
            let effective = configured.effective_qos.get(entity).unwrap_or(&nothing);
            let (unknown, wrong): (Vec<_>, Vec<_>) = requested
                .differences(effective)
                .into_iter()
                .partition(|(_, _, effective)| effective == "unknown");
            let words = |(policy, requested, effective): &(&str, String, String)| {
                format!("{policy}: requested {requested}, effective {effective}")
            };
            compared.push(Compared {
                agent,
                entity: entity.to_owned(),
                unknown: unknown.iter().map(|(policy, ..)| *policy).collect(),
                wrong: wrong.iter().map(words).collect(),
            });
        }
    }
    compared
}

/// Returns the requested socket buffers of an agent whose effective size no setting reports. Buffers that only carry
/// the echoes of probes do not matter.
fn unreported_buffers(agent: &AgentOutcome) -> Vec<String> {
    let AgentOutcome { endpoint, configured, .. } = agent;
    let unreported = |(entity, setting, requested): (&str, &str, Option<u64>)| {
        let shown = configured.settings.values().any(|settings| settings.contains_key(setting));
        (requested.is_some() && endpoint.role.uses(entity) && !shown)
            .then(|| format!("{setting} of the {entity}"))
    };
    let participant = &endpoint.participant;
    [
        ("writer", "send_buffer_bytes", participant.send_buffer_bytes),
        ("reader", "receive_buffer_bytes", participant.receive_buffer_bytes),
    ]
    .into_iter()
    .filter_map(unreported)
    .collect()
}

/// Returns the entity whose driver reports the opposite of the requested multicast setting. The kernel counters show
/// what a driver does that reports `unknown` or nothing.
fn multicast(topology: &RunTopology, configured: &[Configured]) -> Option<Mismatch> {
    topology.endpoints.iter().zip(configured).enumerate().find_map(|(agent, (endpoint, configured))| {
        let (requested, contrary) =
            if endpoint.participant.multicast { ("on", "off") } else { ("off", "on") };
        let is_contrary = |settings: &BTreeMap<String, String>| {
            settings.get("multicast").is_some_and(|effective| effective == contrary)
        };
        let (entity, _) = configured.settings.iter().find(|(_, settings)| is_contrary(settings))?;
        let error = format!("multicast of the {entity}: requested {requested}, effective {contrary}");
        Some(Mismatch { agent, error })
    })
}
