//! Factors and policies that the simulation supports.

use experiment::{Design, Durability, Factors, Load, Policy, Qos, Reliability};
use sim_model::ConfigError;

use crate::host_model::HostModel;

/// Returns the names of the explicitly requested policies; reliability and durability only above their lowest kind.
pub(crate) fn policies(qos: &Qos) -> impl Iterator<Item = &'static str> {
    let reliable = qos.reliability == Some(Reliability::Reliable);
    let durable = qos.durability.is_some_and(|durability| durability != Durability::Volatile);
    let requested = move |policy: &&Policy| match **policy {
        Policy::Reliability => reliable,
        Policy::Durability => durable,
        policy => qos.has(policy),
    };
    Policy::ALL.iter().filter(requested).map(|policy| policy.name())
}

/// Returns an error for factors that the simulation does not support.
pub(crate) fn refuse(factors: &Factors, design: &Design, host: &HostModel) -> Result<(), ConfigError> {
    let rejected =
        |message: &str, hint: &str| Err(ConfigError { message: message.to_owned(), hint: hint.to_owned() });
    if factors.queues.receive_group.is_some() {
        return rejected("samples are not received in groups in virtual time", "leave `receive_group` out");
    }
    if factors.qos_of_ends.is_some() {
        let message = "writers and readers have one QoS in virtual time";
        return rejected(message, "leave `writer` and `reader` out of `[qos]` and the profiles");
    }
    if factors.flows.iter().any(|flow| flow.qos.is_some()) {
        return rejected("flows have no QoS of their own in virtual time", "leave it out of the flows");
    }
    if experiment::probe_every(factors, design).is_some() {
        return rejected("no sample is echoed to probe a stream in virtual time", "leave `probe_every` out");
    }
    if !factors.flows.is_empty() && !design.threads.is_one() {
        return rejected("one thread writes all flows in virtual time", "use `threads = \"one\"`");
    }
    if factors.queues.polling_delay_ns.is_some() {
        return rejected("readers do not sleep between looks in virtual time", "leave `polling_delay` out");
    }
    if factors.streams().iter().any(|flow| matches!(flow.load, Load::Throttled { .. })) {
        let message = "a throttled rate follows probes, and there are none in virtual time";
        return rejected(message, "plan another rate, such as `max`");
    }
    if factors.batching.is_turbo() && host.link_mbps.is_some() {
        let message =
            "the packets of turbo have many sizes, and a link in virtual time carries packets of one";
        return rejected(message, "leave `link_mbps` out, or pack a fixed number of samples");
    }
    Ok(())
}
