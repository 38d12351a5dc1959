//! QoS policies, each with two different values, of which a driver has at most one by default.

use experiment::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Policy, Presentation, Qos, QosDuration,
    Reliability, Scope,
};

/// Kind of endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Writer.
    Writer,
    /// Reader.
    Reader,
}

impl Side {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Writer, Self::Reader];

    /// Returns the name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }
}

/// Returns two values of a policy for one kind of endpoint; `None` if DDS does not define it there, or if it cannot
/// be requested.
pub fn two_of(policy: Policy, side: Side) -> Option<[Qos; 2]> {
    let writer = side == Side::Writer;
    let some = |ns| Some(QosDuration::Ns(ns));
    let none = Qos::default;
    Some(match policy {
        Policy::Reliability => [Reliability::Reliable, Reliability::BestEffort].map(|kind| {
            let blocks = writer && kind == Reliability::Reliable;
            Qos {
                reliability: Some(kind),
                max_blocking_ns: if blocks { some(50_000_000) } else { None },
                ..none()
            }
        }),
        Policy::History => [
            Qos { history: Some(History::KeepLast), history_depth: Some(7), ..none() },
            Qos { history: Some(History::KeepAll), ..none() },
        ],
        Policy::ResourceLimits => [100, 200].map(|limit| Qos {
            max_samples: Some(limit),
            max_instances: Some(limit / 10),
            max_samples_per_instance: Some(limit / 10),
            ..none()
        }),
        Policy::Durability => [Durability::TransientLocal, Durability::Volatile]
            .map(|kind| Qos { durability: Some(kind), ..none() }),
        // The rest as by default: not every middleware that has the history acts on it.
        Policy::DurabilityService if writer => [4, 5].map(|depth| Qos {
            service_cleanup_ns: some(0),
            service_history: Some(History::KeepLast),
            service_history_depth: Some(depth),
            service_max_samples: Some(-1),
            service_max_instances: Some(-1),
            service_max_samples_per_instance: Some(-1),
            ..none()
        }),
        Policy::Deadline => {
            [500_000_000, 700_000_000].map(|period| Qos { deadline_ns: some(period), ..none() })
        }
        Policy::LatencyBudget => {
            [5_000_000, 7_000_000].map(|budget| Qos { latency_budget_ns: some(budget), ..none() })
        }
        Policy::Lifespan if writer => {
            [1_000_000_000, 2_000_000_000].map(|span| Qos { lifespan_ns: some(span), ..none() })
        }
        Policy::Liveliness => [2_000_000_000, 3_000_000_000].map(|lease| Qos {
            liveliness: Some(Liveliness::ManualByTopic),
            liveliness_lease_ns: some(lease),
            ..none()
        }),
        Policy::Ownership => {
            [Ownership::Exclusive, Ownership::Shared].map(|kind| Qos { ownership: Some(kind), ..none() })
        }
        Policy::OwnershipStrength if writer => {
            [5, 6].map(|strength| Qos { ownership_strength: Some(strength), ..none() })
        }
        Policy::Partition => {
            ["one", "two"].map(|name| Qos { partitions: Some(vec![name.to_owned()]), ..none() })
        }
        Policy::Presentation => [Scope::Topic, Scope::Instance].map(|scope| {
            let presentation = Presentation { scope, coherent_access: false, ordered_access: true };
            Qos { presentation: Some(presentation), ..none() }
        }),
        Policy::DestinationOrder => {
            [DestinationOrder::BySourceTimestamp, DestinationOrder::ByReceptionTimestamp]
                .map(|kind| Qos { destination_order: Some(kind), ..none() })
        }
        Policy::TimeBasedFilter if !writer => {
            [1_000_000, 2_000_000].map(|separation| Qos { minimum_separation_ns: some(separation), ..none() })
        }
        Policy::TransportPriority if writer => {
            [3, 4].map(|priority| Qos { transport_priority: Some(priority), ..none() })
        }
        Policy::WriterDataLifecycle if writer => {
            [false, true].map(|dispose| Qos { autodispose_unregistered: Some(dispose), ..none() })
        }
        Policy::ReaderDataLifecycle if !writer => [1_000_000_000, 3_000_000_000].map(|delay| Qos {
            autopurge_nowriter_ns: some(delay),
            autopurge_disposed_ns: some(2 * delay),
            ..none()
        }),
        Policy::UserData => ["one", "two"].map(|data| Qos { user_data: Some(data.to_owned()), ..none() }),
        Policy::TopicData => ["one", "two"].map(|data| Qos { topic_data: Some(data.to_owned()), ..none() }),
        Policy::GroupData => ["one", "two"].map(|data| Qos { group_data: Some(data.to_owned()), ..none() }),
        Policy::EntityFactory => {
            [false, true].map(|enables| Qos { autoenable_created: Some(enables), ..none() })
        }
        _ => return None,
    })
}
