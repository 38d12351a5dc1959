//! Comparison of the effective with the requested configuration.

use std::collections::BTreeMap;

use control::{Configured, Role};
use experiment::{Design, Factors, Qos};

use crate::{
    RunContext, RunReports,
    reports::{entities, entity_name, probe_every, requested_qos, roles},
};

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
    kind: &'static str,
    entity: String,
    /// Requested policies without a known value.
    unknown: Vec<&'static str>,
    /// Requested policies with another value.
    wrong: Vec<String>,
}

/// Returns the first entity whose QoS or multicast setting contradicts the requested one; `None` if there is none.
/// A value that a driver does not report contradicts nothing. Agents are at the indices of their roles.
#[must_use]
pub fn mismatch(factors: &Factors, design: &Design, configured: [&Configured; 2]) -> Option<Mismatch> {
    let wrong = compare_qos(factors, design, configured).into_iter().find(|entity| !entity.wrong.is_empty());
    let qos = wrong.map(|Compared { agent, entity, wrong, .. }| Mismatch {
        agent,
        error: format!(
            "the effective QoS of the {entity} differs from the requested QoS: {}",
            wrong.join("; ")
        ),
    });
    qos.or_else(|| multicast(factors, configured))
}

/// Returns the requested policies and socket buffers that the drivers do not report, as text.
pub(crate) fn unverified(context: &RunContext<'_>, reports: &RunReports) -> Vec<String> {
    let RunContext { factors, design, .. } = *context;
    let configured = reports.agents.each_ref().map(|agent| &agent.configured);
    let compared = compare_qos(factors, design, configured);
    let policies = compared.iter().flat_map(|Compared { kind, unknown, .. }| {
        unknown.iter().map(move |policy| format!("{policy} of the {kind}"))
    });
    let mut unverified: Vec<String> = policies.chain(unreported_buffers(factors, configured)).collect();
    unverified.sort();
    unverified.dedup();
    unverified
}

/// Returns each entity with its requested policies that are not effective.
fn compare_qos(factors: &Factors, design: &Design, configured: [&Configured; 2]) -> Vec<Compared> {
    let probed = probe_every(factors, design).is_some();
    let streams = factors.flows.len().max(1);
    let mut compared = Vec::new();
    for (agent, role) in roles(factors.workload).into_iter().enumerate() {
        for (kind, stream) in entities_of_streams(role, probed, streams) {
            let requested = requested_qos(factors, kind, stream);
            let entity = entity_name(kind, stream);
            let nothing = Qos::default();
            let effective = configured[agent].effective_qos.get(&entity).unwrap_or(&nothing);
            let (unknown, wrong): (Vec<_>, Vec<_>) = requested
                .differences(effective)
                .into_iter()
                .partition(|(_, _, effective)| effective == "unknown");
            let words = |(policy, requested, effective): &(&str, String, String)| {
                format!("{policy}: requested {requested}, effective {effective}")
            };
            compared.push(Compared {
                agent,
                kind,
                entity,
                unknown: unknown.iter().map(|(policy, ..)| *policy).collect(),
                wrong: wrong.iter().map(words).collect(),
            });
        }
    }
    compared
}

/// Returns the entities of a role as kind and stream index.
fn entities_of_streams(
    role: Role,
    probed: bool,
    streams: usize,
) -> impl Iterator<Item = (&'static str, usize)> {
    entities(role, probed).iter().flat_map(move |&kind| (0..streams).map(move |stream| (kind, stream)))
}

/// Returns the requested socket buffers whose effective size no setting reports.
fn unreported_buffers(factors: &Factors, configured: [&Configured; 2]) -> Vec<String> {
    let buffers = [
        ("writer", "send_buffer_bytes", factors.queues.send_buffer_bytes),
        ("reader", "receive_buffer_bytes", factors.queues.receive_buffer_bytes),
    ];
    let mut unreported = Vec::new();
    for (role, configured) in roles(factors.workload).into_iter().zip(configured) {
        for (entity, setting, requested) in &buffers {
            let shown = configured.settings.values().any(|settings| settings.contains_key(*setting));
            if requested.is_some() && entities(role, false).contains(entity) && !shown {
                unreported.push(format!("{setting} of the {entity}"));
            }
        }
    }
    unreported
}

/// Returns the entity whose driver reports the opposite of the requested multicast setting. The kernel counters show
/// what a driver does that reports `unknown` or nothing.
fn multicast(factors: &Factors, configured: [&Configured; 2]) -> Option<Mismatch> {
    let (requested, contrary) = if factors.multicast { ("on", "off") } else { ("off", "on") };
    let is_contrary = |settings: &BTreeMap<String, String>| {
        settings.get("multicast").is_some_and(|effective| effective == contrary)
    };
    configured.into_iter().enumerate().find_map(|(agent, configured)| {
        let (entity, _) = configured.settings.iter().find(|(_, settings)| is_contrary(settings))?;
        let error = format!("multicast of the {entity}: requested {requested}, effective {contrary}");
        Some(Mismatch { agent, error })
    })
}
