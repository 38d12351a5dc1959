//! QoS policies of an experiment file: those of [`Qos`], with durations as text.

use driver_abi::policies::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos,
};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    factors::policy_values::{PolicyDuration, ReliabilityChoice},
    syntax::{
        one_or_many::{Located, Span},
        spanned_error::{SpannedError, contradiction},
    },
};

/// Valid values of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    Positive,
    /// 1 or more, or -1.
    PositiveOrUnlimited,
}

impl Range {
    const fn contains(self, value: i32) -> bool {
        value >= 1 || (matches!(self, Self::PositiveOrUnlimited) && value == -1)
    }

    const fn hint(self) -> &'static str {
        match self {
            Self::Positive => "use 1 or more",
            Self::PositiveOrUnlimited => "use 1 or more, or -1 for unlimited",
        }
    }
}

macro_rules! policies {
    ($(
        $(#[$doc:meta])* $file_doc:literal $key:ident: $in_file:ty => $field:ident: $type:ty,
        policy $policy:ident, ends $ends:ident, default $scope:ident($default:expr), abi($($abi:ident),+)
        $(, range $range:ident)? $(, agree $agree:path)?;
    )*) => {
        /// QoS policies of writers and readers. A policy that is not given is not requested, except for those with
        /// a default. A default is requested only if the driver enforces the policy.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct Policies {
            $(
                $(#[$doc])*
                #[doc = $file_doc]
                pub $key: Option<Located<$in_file>>,
            )*
            /// Policies of writers only, over those above: the same keys, except those that only readers have, such
            /// as `minimum_separation`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub writer: Option<EndpointPolicies>,
            /// Policies of readers only, over those above: the same keys, except those that only writers have, such
            /// as `lifespan`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reader: Option<EndpointPolicies>,
        }

        impl Policies {
            /// Returns these policies, completed with those of `base`. A policy of both endpoints replaces what
            /// `base` requests of one of them.
            #[must_use]
            pub fn over(&self, base: &Self) -> Self {
                let base = &base.clone().without_depths_before(self);
                let of_one_end = |own: &Option<EndpointPolicies>, of_base: &Option<EndpointPolicies>| {
                    let own = own.as_ref().map_or_else(Self::default, EndpointPolicies::policies);
                    let of_base = of_base.as_ref().map_or_else(Self::default, EndpointPolicies::policies);
                    let both = own.over(&of_base.without(self));
                    (both != Self::default()).then(|| EndpointPolicies::new(both))
                };
                let ended = self.has_ends() || base.has_ends();
                Self {
                    $($key: self.$key.clone().or_else(|| base.$key.clone()),)*
                    writer: ended.then(|| of_one_end(&self.writer, &base.writer)).flatten(),
                    reader: ended.then(|| of_one_end(&self.reader, &base.reader)).flatten(),
                }
            }

            /// Removes the policies that `other` has.
            fn without(&self, other: &Self) -> Self {
                Self {
                    $($key: self.$key.clone().filter(|_| other.$key.is_none()),)*
                    ..Self::default()
                }
                .without_depths_before(other)
            }

            /// Removes these fields of [`Qos`].
            pub(crate) fn without_fields(self, fields: &[&str]) -> Self {
                Self { $($key: self.$key.filter(|_| !fields.contains(&stringify!($field))),)* ..self }
            }

            /// Returns all policies: name, policy, position.
            pub(crate) fn set_fields(&self) -> Vec<(&'static str, Policy, Span)> {
                let mut set_fields = Vec::new();
                $(if let Some(value) = &self.$key {
                    set_fields.push((stringify!($key), Policy::$policy, value.span()));
                })*
                set_fields
            }

            /// Sets all policies except the reliability kind, which depends on the driver.
            pub(crate) fn apply(&self, qos: &mut Qos) {
                $(if let Some(Ok(value)) = self.$key.as_ref().map(|value| value.get().clone().try_into()) {
                    qos.$field = Some(value);
                })*
            }

            /// Returns the error of the first value out of range.
            fn out_of_range(&self) -> Option<SpannedError> {
                $($(if let Some(value) = self.$key.as_ref().filter(|value| !Range::$range.contains(*value.get())) {
                    let words = format!("`{} = {}` is out of range", stringify!($key), value.get());
                    return Some(contradiction(words, Range::$range.hint()).at(value.span()));
                })?)*
                None
            }
        }
    };
}

driver_abi::policy_table!(policies);

/// Policies of writers only, or of readers only.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct EndpointPolicies(pub(super) Box<Policies>);

impl EndpointPolicies {
    /// Creates the policies of one endpoint from those without `writer` and `reader`.
    #[must_use]
    pub fn new(policies: Policies) -> Self {
        Self(Box::new(policies))
    }

    pub(crate) fn policies(&self) -> Policies {
        Policies::clone(&self.0)
    }
}

impl<'de> Deserialize<'de> for EndpointPolicies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let policies = Policies::deserialize(deserializer)?;
        if policies.has_ends() {
            return Err(de::Error::custom(
                "`writer` and `reader` are not valid in the policies of one endpoint",
            ));
        }
        Ok(Self::new(policies))
    }
}

/// HISTORY and RESOURCE_LIMITS of an entity or of its durability service.
struct PolicyEntry<'p> {
    /// Prefix of the keys.
    prefix: &'static str,
    history: &'p Option<Located<History>>,
    depth: &'p Option<Located<i32>>,
    samples: &'p Option<Located<i32>>,
    samples_each: &'p Option<Located<i32>>,
}

impl PolicyEntry<'_> {
    fn contradiction(&self) -> Option<SpannedError> {
        let prefix = self.prefix;
        if let Some(depth) = self.depth {
            let words = |why: &str| format!("`{prefix}history_depth = {}` {why}", depth.get());
            if self.history.as_ref().is_none_or(|history| *history.get() != History::KeepLast) {
                let hint = match prefix {
                    "" => "add `history = \"keep_last\"`, or remove the depth",
                    _ => "add `service_history = \"keep_last\"`, or remove the depth",
                };
                return Some(contradiction(words("has no effect without keep_last"), hint).at(depth.span()));
            }
            // DDS 1.4, 2.2.3.18
            let most = [self.samples_each, self.samples];
            let most = most.into_iter().flatten().map(|limit| *limit.get()).filter(|limit| *limit > 0).min();
            if most.is_some_and(|most| most < *depth.get()) {
                let hint = "choose a depth within RESOURCE_LIMITS (DDS 1.4 section 2.2.3.18)";
                return Some(contradiction(words("exceeds the limits of samples"), hint).at(depth.span()));
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
                let hint = "choose a larger `max_samples` (DDS 1.4 section 2.2.3.19)";
                return Some(contradiction(words, hint).at(each.span()));
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

    /// Removes the history depth if `later`, which overrides these policies, keeps all samples.
    fn without_depths_before(mut self, later: &Self) -> Self {
        let keeps_all = |history: &Option<Located<History>>| {
            history.as_ref().is_some_and(|history| *history.get() == History::KeepAll)
        };
        if keeps_all(&later.history) {
            self.history_depth = None;
        }
        if keeps_all(&later.service_history) {
            self.service_history_depth = None;
        }
        self
    }

    /// Returns the error of the first contradiction.
    pub(crate) fn contradiction(&self) -> Option<SpannedError> {
        let own = PolicyEntry {
            prefix: "",
            history: &self.history,
            depth: &self.history_depth,
            samples: &self.max_samples,
            samples_each: &self.max_samples_per_instance,
        };
        let of_the_service = PolicyEntry {
            prefix: "service_",
            history: &self.service_history,
            depth: &self.service_history_depth,
            samples: &self.service_max_samples,
            samples_each: &self.service_max_samples_per_instance,
        };
        let found = self.out_of_range().or_else(|| own.contradiction());
        if let Some(found) = found.or_else(|| of_the_service.contradiction()) {
            return Some(found);
        }
        if let (Some(deadline), Some(separation)) = (&self.deadline, &self.minimum_separation) {
            // DDS 1.4, 2.2.3.7
            if deadline.get().0.raw() < separation.get().0.raw() {
                let words = "the deadline is shorter than the minimum separation";
                let hint = "choose a deadline of at least the minimum separation (DDS 1.4 section 2.2.3.7)";
                return Some(contradiction(words, hint).at(deadline.span()));
            }
        }
        None
    }
}
