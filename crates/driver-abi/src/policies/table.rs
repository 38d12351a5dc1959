//! The table of QoS policies: the only list of their fields in Rust, besides the mirror of `ddsmark_qos`.

/// Calls the macro `$use` with the table of QoS policies, one row per field of a policy.
///
/// ```text
/// /// Description. The text after it is only for the experiment file: range and default there.
/// "" key: type in the file => field: type in a [`Qos`](crate::policies::Qos),
///     policy P,          policy of DDS 1.4 section 2.2.3; it is present in the driver ABI if one of its fields is
///     ends both,         endpoints that have it: `both`, `writer` or `reader`
///     default common(V), default of the standard; `per_end(V)` if writers and readers have different defaults: then V is
///                        the value if only other fields of the policy are requested
///     abi(F),            fields of the driver ABI that hold the value
///     range R,           valid values, if not all are
///     agree F;           condition on the offered and the requested value, if the two endpoints must agree to match
/// ```
///
/// Drivers and their host use the columns of the contract, the experiment file uses the others.
#[macro_export]
macro_rules! policy_table {
    ($use:ident) => {
        $use! {
            /// RELIABILITY kind.
            "Default: the strongest that each driver supports."
            reliability: ReliabilityChoice => reliability: Reliability,
                policy Reliability, ends both, default per_end(Reliability::BestEffort), abi(reliability), agree at_least;
            /// RELIABILITY: maximum time that a write may block.
            "Default `1s` with reliable delivery, unless `vendor_defaults`."
            max_blocking: PolicyDuration => max_blocking_ns: QosDuration,
                policy Reliability, ends writer, default per_end(QosDuration::Ns(100_000_000)), abi(max_blocking_ns);
            /// HISTORY kind.
            "Default `keep_all`."
            history: History => history: History,
                policy History, ends both, default per_end(History::KeepLast), abi(history);
            /// HISTORY depth in samples.
            "At least 1; needs `history = \"keep_last\"`."
            history_depth: i32 => history_depth: i32,
                policy History, ends both, default per_end(1), abi(history_depth), range Positive;
            /// RESOURCE_LIMITS: maximum number of samples.
            "At least 1; -1 is unlimited. Default: 64 MiB of samples, 64 to 10,000, unless `vendor_defaults`."
            max_samples: i32 => max_samples: i32,
                policy ResourceLimits, ends both, default common(-1), abi(max_samples), range PositiveOrUnlimited;
            /// RESOURCE_LIMITS: maximum number of instances.
            "At least 1; -1 is unlimited."
            max_instances: i32 => max_instances: i32,
                policy ResourceLimits, ends both, default common(-1), abi(max_instances), range PositiveOrUnlimited;
            /// RESOURCE_LIMITS: maximum number of samples per instance.
            "At least 1; -1 is unlimited."
            max_samples_per_instance: i32 => max_samples_per_instance: i32,
                policy ResourceLimits, ends both, default common(-1), abi(max_samples_per_instance), range PositiveOrUnlimited;
            /// DURABILITY kind.
            "Default `volatile`."
            durability: Durability => durability: Durability,
                policy Durability, ends both, default common(Durability::Volatile), abi(durability), agree at_least;
            /// DURABILITY_SERVICE: delay before an instance that was disposed of is removed.
            ""
            service_cleanup: PolicyDuration => service_cleanup_ns: QosDuration,
                policy DurabilityService, ends writer, default common(QosDuration::Ns(0)), abi(service_cleanup_ns);
            /// DURABILITY_SERVICE: HISTORY kind of the samples for late joiners.
            ""
            service_history: History => service_history: History,
                policy DurabilityService, ends writer, default common(History::KeepLast), abi(service_history);
            /// DURABILITY_SERVICE: HISTORY depth in samples.
            "At least 1; needs `service_history = \"keep_last\"`."
            service_history_depth: i32 => service_history_depth: i32,
                policy DurabilityService, ends writer, default common(1), abi(service_history_depth), range Positive;
            /// DURABILITY_SERVICE: maximum number of samples.
            "At least 1; -1 is unlimited."
            service_max_samples: i32 => service_max_samples: i32,
                policy DurabilityService, ends writer, default common(-1), abi(service_max_samples), range PositiveOrUnlimited;
            /// DURABILITY_SERVICE: maximum number of instances.
            "At least 1; -1 is unlimited."
            service_max_instances: i32 => service_max_instances: i32,
                policy DurabilityService, ends writer, default common(-1), abi(service_max_instances),
                range PositiveOrUnlimited;
            /// DURABILITY_SERVICE: maximum number of samples per instance.
            "At least 1; -1 is unlimited."
            service_max_samples_per_instance: i32 => service_max_samples_per_instance: i32,
                policy DurabilityService, ends writer, default common(-1), abi(service_max_samples_per_instance),
                range PositiveOrUnlimited;
            /// DEADLINE period.
            "At least `minimum_separation`."
            deadline: PolicyDuration => deadline_ns: QosDuration,
                policy Deadline, ends both, default common(QosDuration::INFINITE), abi(deadline_ns), agree at_most;
            /// LATENCY_BUDGET duration.
            ""
            latency_budget: PolicyDuration => latency_budget_ns: QosDuration,
                policy LatencyBudget, ends both, default common(QosDuration::Ns(0)), abi(latency_budget_ns), agree at_most;
            /// LIFESPAN duration.
            ""
            lifespan: PolicyDuration => lifespan_ns: QosDuration,
                policy Lifespan, ends writer, default common(QosDuration::INFINITE), abi(lifespan_ns);
            /// LIVELINESS kind.
            ""
            liveliness: Liveliness => liveliness: Liveliness,
                policy Liveliness, ends both, default common(Liveliness::Automatic), abi(liveliness), agree at_least;
            /// LIVELINESS lease duration.
            ""
            liveliness_lease: PolicyDuration => liveliness_lease_ns: QosDuration,
                policy Liveliness, ends both, default common(QosDuration::INFINITE), abi(liveliness_lease_ns), agree at_most;
            /// OWNERSHIP kind.
            ""
            ownership: Ownership => ownership: Ownership,
                policy Ownership, ends both, default common(Ownership::Shared), abi(ownership), agree PartialEq::eq;
            /// OWNERSHIP_STRENGTH value.
            ""
            ownership_strength: i32 => ownership_strength: i32,
                policy OwnershipStrength, ends writer, default common(0), abi(ownership_strength);
            /// PARTITION names.
            ""
            partitions: Vec<String> => partitions: Vec<String>,
                policy Partition, ends both, default common(Vec::new()),
                abi(partitions, partition_count), agree meet;
            /// PRESENTATION policy.
            "Example: `{ scope = \"topic\", coherent_access = false, ordered_access = true }`."
            presentation: Presentation => presentation: Presentation,
                policy Presentation, ends both, default common(Presentation::UNORDERED),
                abi(presentation_scope, coherent_access, ordered_access), agree presents;
            /// DESTINATION_ORDER kind.
            ""
            destination_order: DestinationOrder => destination_order: DestinationOrder,
                policy DestinationOrder, ends both, default common(DestinationOrder::ByReceptionTimestamp),
                abi(destination_order), agree at_least;
            /// TIME_BASED_FILTER: minimum separation of samples.
            ""
            minimum_separation: PolicyDuration => minimum_separation_ns: QosDuration,
                policy TimeBasedFilter, ends reader, default common(QosDuration::Ns(0)), abi(minimum_separation_ns);
            /// TRANSPORT_PRIORITY value.
            ""
            transport_priority: i32 => transport_priority: i32,
                policy TransportPriority, ends writer, default common(0), abi(transport_priority);
            /// WRITER_DATA_LIFECYCLE: whether instances that are unregistered are also disposed of.
            ""
            autodispose_unregistered: bool => autodispose_unregistered: bool,
                policy WriterDataLifecycle, ends writer, default common(true), abi(autodispose_unregistered);
            /// READER_DATA_LIFECYCLE: delay before the samples of an instance without writers are removed.
            ""
            autopurge_nowriter: PolicyDuration => autopurge_nowriter_ns: QosDuration,
                policy ReaderDataLifecycle, ends reader, default common(QosDuration::INFINITE), abi(autopurge_nowriter_ns);
            /// READER_DATA_LIFECYCLE: delay before the samples of an instance that was disposed of are removed.
            ""
            autopurge_disposed: PolicyDuration => autopurge_disposed_ns: QosDuration,
                policy ReaderDataLifecycle, ends reader, default common(QosDuration::INFINITE), abi(autopurge_disposed_ns);
            /// USER_DATA of writers and readers, as text.
            ""
            user_data: String => user_data: String,
                policy UserData, ends both, default common(String::new()),
                abi(user_data, user_data_size);
            /// TOPIC_DATA, as text.
            ""
            topic_data: String => topic_data: String,
                policy TopicData, ends both, default common(String::new()),
                abi(topic_data, topic_data_size);
            /// GROUP_DATA of publishers and subscribers, as text.
            ""
            group_data: String => group_data: String,
                policy GroupData, ends both, default common(String::new()),
                abi(group_data, group_data_size);
            /// ENTITY_FACTORY: whether entities are enabled when they are created.
            ""
            autoenable_created: bool => autoenable_created: bool,
                policy EntityFactory, ends both, default common(true), abi(autoenable_created);
        }
    };
}
