//! Probes of the QoS policies: the one table of the cases that observe what a policy does.

use experiment::Policy;

/// Cases that observe what a policy does, or why none can.
pub struct Probe {
    /// Policy.
    pub policy: Policy,
    /// Kinds of the policy that the row is about; empty: all others.
    pub kinds: &'static str,
    /// Cases that pass if the policy has its effect.
    pub effect: &'static [&'static str],
    /// Cases that pass if the policy decides whether writer and reader match.
    pub matching: &'static [&'static str],
    /// Reason why no case can observe the effect; empty if one does.
    pub unobservable: &'static str,
}

/// Case that passes if requests for unsupported policies are rejected.
pub const REJECTION: &str = "qos-refused";

const fn observed(
    policy: Policy,
    effect: &'static [&'static str],
    matching: &'static [&'static str],
) -> Probe {
    Probe { policy, kinds: "", effect, matching, unobservable: "" }
}

const fn unobservable(policy: Policy, matching: &'static [&'static str], why: &'static str) -> Probe {
    Probe { policy, kinds: "", effect: &[], matching, unobservable: why }
}

/// The probes of each policy, in the order of the contract.
pub const PROBES: &[Probe] = &[
    observed(Policy::Reliability, &["back-pressure"], &["match-reliability"]),
    observed(Policy::History, &["history-depth", "back-pressure"], &[]),
    observed(Policy::ResourceLimits, &["reader-limit", "writer-limit", "reader-instances"], &[]),
    observed(Policy::Durability, &["late-joiner"], &["match-durability"]),
    Probe {
        policy: Policy::Durability,
        kinds: "transient or persistent",
        effect: &["durable-store"],
        matching: &[],
        unobservable: "",
    },
    observed(Policy::DurabilityService, &["durability-service"], &[]),
    observed(Policy::Deadline, &["deadline"], &["match-deadline"]),
    unobservable(
        Policy::LatencyBudget,
        &["match-latency-budget"],
        "a hint: DDS promises no effect that can be observed",
    ),
    observed(Policy::Lifespan, &["lifespan"], &[]),
    observed(Policy::Liveliness, &["liveliness", "liveliness-asserted"], &["match-liveliness"]),
    observed(Policy::Ownership, &["ownership"], &["match-ownership"]),
    observed(Policy::OwnershipStrength, &["ownership"], &[]),
    observed(Policy::Partition, &["partition"], &[]),
    observed(Policy::Presentation, &["presentation-order"], &["match-presentation"]),
    observed(Policy::DestinationOrder, &["destination-order"], &["match-destination-order"]),
    observed(Policy::TimeBasedFilter, &["time-based-filter"], &[]),
    unobservable(Policy::TransportPriority, &[], "a hint: DDS promises no effect that can be observed"),
    observed(Policy::WriterDataLifecycle, &["autodispose"], &[]),
    observed(Policy::ReaderDataLifecycle, &["autopurge"], &[]),
    unobservable(Policy::UserData, &[], NOT_QUERIED),
    unobservable(Policy::TopicData, &[], NOT_QUERIED),
    unobservable(Policy::GroupData, &[], NOT_QUERIED),
    unobservable(Policy::EntityFactory, &[], "the contract has no function that enables an entity"),
];

const NOT_QUERIED: &str = "the contract has no function that returns the data of a peer";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_policy_has_a_probe_or_a_reason_for_none() {
        for policy in Policy::ALL {
            let rows: Vec<&Probe> = PROBES.iter().filter(|probe| probe.policy == *policy).collect();
            assert_eq!(rows.iter().filter(|probe| probe.kinds.is_empty()).count(), 1, "{policy}");
            assert!(
                rows.iter().all(|probe| probe.effect.is_empty() != probe.unobservable.is_empty()),
                "{policy}"
            );
        }
    }

    #[test]
    fn probes_are_cases_and_each_case_of_policies_is_a_probe() {
        let cases: BTreeSet<&str> = crate::cases::specs().map(|case| case.id).collect();
        let probes: BTreeSet<&str> =
            PROBES.iter().flat_map(|probe| probe.effect.iter().chain(probe.matching)).copied().collect();
        assert_eq!(probes.difference(&cases).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert!(cases.contains(REJECTION));
        let of_policies: BTreeSet<&str> = crate::cases::of_policies().map(|case| case.id).collect();
        assert_eq!(of_policies.difference(&probes).collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}
