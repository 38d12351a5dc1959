//! Abilities of a driver, from its description.

use experiment::{DriverDescription, Policy, ReceiveMode, Support};
use perftest::DriverAbilities;

/// Largest DDS domain whose ports are valid with the default mapping of RTPS.
const LAST_DOMAIN: u32 = 232;

/// Returns what a driver can do.
pub fn abilities(description: &DriverDescription) -> DriverAbilities {
    let has = |feature| description.has(feature);
    let supports = |policy: Policy| description.support(policy) != Support::Unsupported;
    let discovery = !has("locators");
    let transports = description.transports.iter();
    DriverAbilities {
        name: description.name.clone(),
        discovery,
        batching: has("native_batching") || has("application_batching"),
        keyed_type: description.type_kinds.iter().any(|kind| kind == "keyed"),
        content_filter: has("content_filter"),
        loans: has("writer_loans"),
        async_write: has("async_write"),
        multicast: has("multicast"),
        waitset: description.receive_modes.contains(&ReceiveMode::Waitset),
        listener: description.receive_modes.contains(&ReceiveMode::Listener),
        reliability: supports(Policy::Reliability),
        durability: supports(Policy::Durability),
        history: supports(Policy::History),
        queue_limits: supports(Policy::ResourceLimits),
        transports: transports.map(|own| (own.name.clone(), own.max_payload_bytes)).collect(),
        domains: discovery.then_some((0, LAST_DOMAIN)),
    }
}
