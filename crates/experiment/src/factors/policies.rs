//! QoS policies of an experiment file: those of [`Qos`], with durations as text.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos,
    factors::policy_values::{Lasting, ReliabilityChoice},
    syntax::many::{At, Span},
};

macro_rules! policies {
    ($($(#[$doc:meta])* $field:ident: $type:ty => $meant:ident, $policy:ident;)*) => {
        /// QoS policies of writers and readers. A policy that is not given is not requested, except for those with
        /// a default. A default is requested only if the driver enforces the policy.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Policies {
            /// RELIABILITY kind. Default: the strongest that each driver supports.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub reliability: Option<At<ReliabilityChoice>>,
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<At<$type>>,)*
            /// Policies of writers only, over those above: the same keys, except those that only readers have, such
            /// as `minimum_separation`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub writer: Option<OfOneEnd>,
            /// Policies of readers only, over those above: the same keys, except those that only writers have, such
            /// as `lifespan`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reader: Option<OfOneEnd>,
        }

        impl Policies {
            /// Returns these policies, completed with those of `base`. A policy of both endpoints replaces what
            /// `base` requests of one of them.
            #[must_use]
            pub fn over(&self, base: &Self) -> Self {
                let base = &base.clone().without_depths_before(self);
                let of_one_end = |own: &Option<OfOneEnd>, of_base: &Option<OfOneEnd>| {
                    let own = own.as_ref().map_or_else(Self::default, OfOneEnd::policies);
                    let of_base = of_base.as_ref().map_or_else(Self::default, OfOneEnd::policies);
                    let both = own.over(&of_base.without(self));
                    (both != Self::default()).then(|| OfOneEnd::new(both))
                };
                let ended = self.has_ends() || base.has_ends();
                Self {
                    reliability: self.reliability.clone().or_else(|| base.reliability.clone()),
                    $($field: self.$field.clone().or_else(|| base.$field.clone()),)*
                    writer: ended.then(|| of_one_end(&self.writer, &base.writer)).flatten(),
                    reader: ended.then(|| of_one_end(&self.reader, &base.reader)).flatten(),
                }
            }

            /// Removes the policies that `other` has.
            fn without(&self, other: &Self) -> Self {
                Self {
                    reliability: self.reliability.clone().filter(|_| other.reliability.is_none()),
                    $($field: self.$field.clone().filter(|_| other.$field.is_none()),)*
                    ..Self::default()
                }
                .without_depths_before(other)
            }

            /// Removes these fields of [`Qos`].
            pub(crate) fn without_fields(self, fields: &[&str]) -> Self {
                Self { $($field: self.$field.filter(|_| !fields.contains(&stringify!($meant))),)* ..self }
            }

            /// Returns all policies except the reliability kind: name, policy, position.
            pub(crate) fn written(&self) -> Vec<(&'static str, Policy, Span)> {
                let mut written = Vec::new();
                $(if let Some(value) = &self.$field {
                    written.push((stringify!($field), Policy::$policy, value.span()));
                })*
                written
            }

            /// Sets all policies except the reliability kind.
            pub(crate) fn apply(&self, qos: &mut Qos) {
                $(if let Some(value) = &self.$field {
                    qos.$meant = Some(value.get().clone().into());
                })*
            }
        }
    };
}

policies! {
    /// RELIABILITY: maximum time that a write may block. Default `1s` with reliable delivery, unless
    /// `vendor_defaults`.
    max_blocking: Lasting => max_blocking_ns, Reliability;
    /// HISTORY kind. Default `keep_all`.
    history: History => history, History;
    /// HISTORY depth in samples, at least 1; needs `history = "keep_last"`.
    history_depth: i32 => history_depth, History;
    /// RESOURCE_LIMITS: maximum number of samples, at least 1; -1 is unlimited. Default: 64 MiB of samples, 64 to
    /// 10,000, unless `vendor_defaults`.
    max_samples: i32 => max_samples, ResourceLimits;
    /// RESOURCE_LIMITS: maximum number of instances, at least 1; -1 is unlimited.
    max_instances: i32 => max_instances, ResourceLimits;
    /// RESOURCE_LIMITS: maximum number of samples per instance, at least 1; -1 is unlimited.
    max_samples_per_instance: i32 => max_samples_per_instance, ResourceLimits;
    /// DURABILITY kind. Default `volatile`.
    durability: Durability => durability, Durability;
    /// DURABILITY_SERVICE: delay before an instance that was disposed of is removed.
    service_cleanup: Lasting => service_cleanup_ns, DurabilityService;
    /// DURABILITY_SERVICE: HISTORY kind of the samples for late joiners.
    service_history: History => service_history, DurabilityService;
    /// DURABILITY_SERVICE: HISTORY depth in samples, at least 1; needs `service_history = "keep_last"`.
    service_history_depth: i32 => service_history_depth, DurabilityService;
    /// DURABILITY_SERVICE: maximum number of samples, at least 1; -1 is unlimited.
    service_max_samples: i32 => service_max_samples, DurabilityService;
    /// DURABILITY_SERVICE: maximum number of instances, at least 1; -1 is unlimited.
    service_max_instances: i32 => service_max_instances, DurabilityService;
    /// DURABILITY_SERVICE: maximum number of samples per instance, at least 1; -1 is unlimited.
    service_max_samples_per_instance: i32 => service_max_samples_per_instance, DurabilityService;
    /// DEADLINE period, at least `minimum_separation`.
    deadline: Lasting => deadline_ns, Deadline;
    /// LATENCY_BUDGET duration.
    latency_budget: Lasting => latency_budget_ns, LatencyBudget;
    /// LIFESPAN duration.
    lifespan: Lasting => lifespan_ns, Lifespan;
    /// LIVELINESS kind.
    liveliness: Liveliness => liveliness, Liveliness;
    /// LIVELINESS lease duration.
    liveliness_lease: Lasting => liveliness_lease_ns, Liveliness;
    /// OWNERSHIP kind.
    ownership: Ownership => ownership, Ownership;
    /// OWNERSHIP_STRENGTH value.
    ownership_strength: i32 => ownership_strength, OwnershipStrength;
    /// PARTITION names.
    partitions: Vec<String> => partitions, Partition;
    /// PRESENTATION policy, such as `{ scope = "topic", coherent_access = false, ordered_access = true }`.
    presentation: Presentation => presentation, Presentation;
    /// DESTINATION_ORDER kind.
    destination_order: DestinationOrder => destination_order, DestinationOrder;
    /// TIME_BASED_FILTER: minimum separation of samples.
    minimum_separation: Lasting => minimum_separation_ns, TimeBasedFilter;
    /// TRANSPORT_PRIORITY value.
    transport_priority: i32 => transport_priority, TransportPriority;
    /// WRITER_DATA_LIFECYCLE: whether instances that are unregistered are also disposed of.
    autodispose_unregistered: bool => autodispose_unregistered, WriterDataLifecycle;
    /// READER_DATA_LIFECYCLE: delay before the samples of an instance without writers are removed.
    autopurge_nowriter: Lasting => autopurge_nowriter_ns, ReaderDataLifecycle;
    /// READER_DATA_LIFECYCLE: delay before the samples of an instance that was disposed of are removed.
    autopurge_disposed: Lasting => autopurge_disposed_ns, ReaderDataLifecycle;
    /// USER_DATA of writers and readers, as text.
    user_data: String => user_data, UserData;
    /// TOPIC_DATA, as text.
    topic_data: String => topic_data, TopicData;
    /// GROUP_DATA of publishers and subscribers, as text.
    group_data: String => group_data, GroupData;
    /// ENTITY_FACTORY: whether entities are enabled when they are created.
    autoenable_created: bool => autoenable_created, EntityFactory;
}

/// Policies of writers only, or of readers only.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct OfOneEnd(pub(super) Box<Policies>);

impl OfOneEnd {
    pub(crate) fn new(policies: Policies) -> Self {
        Self(Box::new(policies))
    }

    pub(crate) fn policies(&self) -> Policies {
        Policies::clone(&self.0)
    }
}

impl<'de> Deserialize<'de> for OfOneEnd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let policies = Policies::deserialize(deserializer)?;
        if policies.has_ends() {
            return Err(de::Error::custom("one end has no `writer` and no `reader` of its own"));
        }
        Ok(Self::new(policies))
    }
}

/// HISTORY and RESOURCE_LIMITS of an entity or of its durability service.
struct Kept<'p> {
    /// Prefix of the keys.
    prefix: &'static str,
    history: &'p Option<At<History>>,
    depth: &'p Option<At<i32>>,
    samples: &'p Option<At<i32>>,
    instances: &'p Option<At<i32>>,
    samples_each: &'p Option<At<i32>>,
}

impl Kept<'_> {
    fn contradiction(&self) -> Option<(Span, String, &'static str)> {
        let prefix = self.prefix;
        let unlimited_or_positive = [
            ("max_samples", self.samples),
            ("max_instances", self.instances),
            ("max_samples_per_instance", self.samples_each),
        ];
        for (name, limit) in unlimited_or_positive {
            if let Some(limit) = limit.as_ref().filter(|limit| *limit.get() < 1 && *limit.get() != -1) {
                let words = format!("`{prefix}{name} = {}` is no limit", limit.get());
                return Some((limit.span(), words, "use 1 or more, or -1 for unlimited"));
            }
        }
        if let Some(depth) = self.depth {
            let words = |why: &str| format!("`{prefix}history_depth = {}` {why}", depth.get());
            if *depth.get() < 1 {
                return Some((depth.span(), words("is no depth"), "use 1 or more"));
            }
            if self.history.as_ref().is_none_or(|history| *history.get() != History::KeepLast) {
                let hint = match prefix {
                    "" => "add `history = \"keep_last\"`, or leave the depth out",
                    _ => "add `service_history = \"keep_last\"`, or leave the depth out",
                };
                return Some((depth.span(), words("says nothing without keep_last"), hint));
            }
            // DDS 1.4, 2.2.3.18
            let most = [self.samples_each, self.samples];
            let most = most.into_iter().flatten().map(|limit| *limit.get()).filter(|limit| *limit > 0).min();
            if most.is_some_and(|most| most < *depth.get()) {
                let hint = "DDS 1.4 section 2.2.3.18 wants the depth within RESOURCE_LIMITS";
                return Some((depth.span(), words("is more than the limits of samples allow"), hint));
            }
        }
        if let (Some(each), Some(all)) = (self.samples_each, self.samples) {
            // DDS 1.4, 2.2.3.19
            if *all.get() > 0 && (*each.get() > *all.get() || *each.get() == -1) {
                let words = format!(
                    "`{prefix}max_samples_per_instance = {}` is more than `{prefix}max_samples = {}`",
                    each.get(),
                    all.get()
                );
                let hint = "DDS 1.4 section 2.2.3.19 wants max_samples the larger one";
                return Some((each.span(), words, hint));
            }
        }
        None
    }
}

impl Policies {
    /// Returns whether a policy is requested of one endpoint only.
    pub(crate) const fn has_ends(&self) -> bool {
        self.writer.is_some() || self.reader.is_some()
    }

    /// Removes the history depth if `said`, which overrides these policies, keeps all samples.
    fn without_depths_before(mut self, said: &Self) -> Self {
        let keeps_all = |history: &Option<At<History>>| {
            history.as_ref().is_some_and(|history| *history.get() == History::KeepAll)
        };
        if keeps_all(&said.history) {
            self.history_depth = None;
        }
        if keeps_all(&said.service_history) {
            self.service_history_depth = None;
        }
        self
    }

    /// Returns the first contradiction: position, error text and hint.
    pub(crate) fn contradiction(&self) -> Option<(Span, String, &'static str)> {
        let own = Kept {
            prefix: "",
            history: &self.history,
            depth: &self.history_depth,
            samples: &self.max_samples,
            instances: &self.max_instances,
            samples_each: &self.max_samples_per_instance,
        };
        let of_the_service = Kept {
            prefix: "service_",
            history: &self.service_history,
            depth: &self.service_history_depth,
            samples: &self.service_max_samples,
            instances: &self.service_max_instances,
            samples_each: &self.service_max_samples_per_instance,
        };
        if let Some(found) = own.contradiction().or_else(|| of_the_service.contradiction()) {
            return Some(found);
        }
        if let (Some(deadline), Some(separation)) = (&self.deadline, &self.minimum_separation) {
            // DDS 1.4, 2.2.3.7
            if deadline.get().0.raw() < separation.get().0.raw() {
                let words = "the deadline is shorter than the minimum separation".to_owned();
                return Some((deadline.span(), words, "DDS 1.4 section 2.2.3.7 wants it as long at least"));
            }
        }
        None
    }
}
