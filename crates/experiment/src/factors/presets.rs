//! Presets as QoS profiles: `shipped`, which requests nothing, and those of ROS 2.
//!
//! The values of ROS 2 are the public constants `rmw_qos_profile_*` of `rmw/qos_profiles.h` in the repository `ros2/rmw`, which REP
//! 2003 describes (<https://www.ros.org/reps/rep-2003.html>). A policy that a constant leaves to the middleware, as deadline,
//! lifespan and liveliness of all of them, is not requested. `system_default` leaves reliability and history to the
//! middleware as well; here it requests the defaults of DDS 1.4 for them, so that every middleware gets the same.

use driver_abi::policies::{Durability, History, Reliability};

use crate::{
    factors::{
        policies::{EndpointPolicies, Policies},
        policy_values::ReliabilityChoice,
    },
    syntax::one_or_many::{Located, Span},
};

/// Preset that requests nothing.
pub(super) const SHIPPED: &str = "shipped";
/// Prefix of the names of presets of ROS 2.
pub(super) const PREFIX: &str = "ros2:";
/// Preset without values of its own.
const SYSTEM_DEFAULT: &str = "system_default";

/// Preset: its name, reliability, and history depth. All of them keep the last samples, and are volatile.
type Preset = (&'static str, Reliability, i32);

/// Presets with values of their own.
const PRESETS: [Preset; 5] = [
    ("sensor_data", Reliability::BestEffort, 5),
    ("default", Reliability::Reliable, 10),
    ("services_default", Reliability::Reliable, 10),
    ("parameters", Reliability::Reliable, 1000),
    ("parameter_events", Reliability::Reliable, 1000),
];

/// Returns the names of all presets.
pub(super) fn names() -> Vec<String> {
    let names = PRESETS.iter().map(|(name, ..)| *name).chain([SYSTEM_DEFAULT]);
    names.map(|name| format!("{PREFIX}{name}")).collect()
}

/// Returns the policies of the preset [`SHIPPED`].
pub(super) fn shipped(at: &Span) -> Policies {
    let reliability = Some(Located::at(at.clone(), ReliabilityChoice::Shipped));
    Policies { reliability, ..Policies::default() }
}

/// Returns the policies of a preset of ROS 2 by its name without the prefix; `None` if there is no such preset.
pub(super) fn policies(name: &str, at: &Span) -> Option<Policies> {
    if name == SYSTEM_DEFAULT {
        return Some(standard(at));
    }
    let (_, reliability, depth) = PRESETS.iter().find(|(known, ..)| *known == name)?;
    Some(Policies {
        reliability: Some(Located::at(at.clone(), ReliabilityChoice::from(*reliability))),
        durability: Some(Located::at(at.clone(), Durability::Volatile)),
        ..keep_last(*depth, at)
    })
}

/// Returns the defaults of DDS 1.4 section 2.2.3 for reliability and history, for which an experiment file has defaults
/// of its own.
pub(super) fn standard(at: &Span) -> Policies {
    let reliability = |kind| {
        let reliability = Some(Located::at(at.clone(), ReliabilityChoice::from(kind)));
        Some(EndpointPolicies::new(Policies { reliability, ..Policies::default() }))
    };
    Policies {
        writer: reliability(Reliability::Reliable),
        reader: reliability(Reliability::BestEffort),
        ..keep_last(1, at)
    }
}

fn keep_last(depth: i32, at: &Span) -> Policies {
    Policies {
        history: Some(Located::at(at.clone(), History::KeepLast)),
        history_depth: Some(Located::at(at.clone(), depth)),
        ..Policies::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::endpoint_qos::End;
    use driver_abi::policies::Qos;

    /// Constants of `rmw/qos_profiles.h` and `rmw/types.h` (ROS 2 Jazzy), as text of that file: history, depth, reliability,
    /// durability.
    const PUBLISHED: &str = "\
rmw_qos_profile_sensor_data: RMW_QOS_POLICY_HISTORY_KEEP_LAST, 5, RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT, RMW_QOS_POLICY_DURABILITY_VOLATILE
rmw_qos_profile_parameters: RMW_QOS_POLICY_HISTORY_KEEP_LAST, 1000, RMW_QOS_POLICY_RELIABILITY_RELIABLE, RMW_QOS_POLICY_DURABILITY_VOLATILE
rmw_qos_profile_default: RMW_QOS_POLICY_HISTORY_KEEP_LAST, 10, RMW_QOS_POLICY_RELIABILITY_RELIABLE, RMW_QOS_POLICY_DURABILITY_VOLATILE
rmw_qos_profile_services_default: RMW_QOS_POLICY_HISTORY_KEEP_LAST, 10, RMW_QOS_POLICY_RELIABILITY_RELIABLE, RMW_QOS_POLICY_DURABILITY_VOLATILE
rmw_qos_profile_parameter_events: RMW_QOS_POLICY_HISTORY_KEEP_LAST, 1000, RMW_QOS_POLICY_RELIABILITY_RELIABLE, RMW_QOS_POLICY_DURABILITY_VOLATILE";

    #[test]
    fn presets_have_the_published_values() {
        let lines: Vec<&str> = PUBLISHED.lines().collect();
        assert_eq!(lines.len() + 1, names().len(), "and `system_default`");
        for line in lines {
            let (name, values) = line.split_once(": ").expect("a name");
            let name = name.strip_prefix("rmw_qos_profile_").expect("a constant");
            let policies = policies(name, &(0..1)).expect("a preset");
            let mut qos = Qos::default();
            policies.apply(&mut qos);
            let reliability = policies.reliability.expect("a reliability").get().kind().expect("a kind");
            let reliability = reliability.name().to_uppercase();
            let found = format!(
                "RMW_QOS_POLICY_HISTORY_{}, {}, RMW_QOS_POLICY_RELIABILITY_{reliability}, RMW_QOS_POLICY_DURABILITY_{}",
                qos.history.expect("a history").name().to_uppercase(),
                qos.history_depth.expect("a depth"),
                qos.durability.expect("a durability").name().to_uppercase(),
            );
            assert_eq!(found, values, "{name}");
            let others = Qos { history: None, history_depth: None, durability: None, ..qos };
            assert_eq!(others, Qos::default(), "{name} requests nothing else");
        }
    }

    #[test]
    fn system_default_has_the_defaults_of_dds() {
        let policies = policies(SYSTEM_DEFAULT, &(0..1)).expect("a preset");
        let kind = |end| *policies.of_end(end).reliability.expect("a reliability").get();
        assert_eq!(kind(End::Writer), ReliabilityChoice::from(Reliability::Reliable));
        assert_eq!(kind(End::Reader), ReliabilityChoice::from(Reliability::BestEffort));
        assert_eq!(*policies.history_depth.as_ref().expect("a depth").get(), 1);
    }
}
