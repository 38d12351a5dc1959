//! Types of option values.

/// Performance mode of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Share of the runs, 0 to 1.
    pub weight: f64,
    /// Factor of latency and server time.
    pub factor: f64,
}

/// Behaviour of a write when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverflowPolicy {
    /// The write waits.
    Block,
    /// A best effort sample is dropped; a reliable writer waits.
    Drop,
}

/// Policies that can add latency, by their names in results.
pub const POLICIES: [&str; 22] = [
    "reliability",
    "history",
    "resource_limits",
    "durability",
    "durability_service",
    "deadline",
    "latency_budget",
    "lifespan",
    "liveliness",
    "ownership",
    "ownership_strength",
    "partition",
    "presentation",
    "destination_order",
    "time_based_filter",
    "transport_priority",
    "writer_data_lifecycle",
    "reader_data_lifecycle",
    "user_data",
    "topic_data",
    "group_data",
    "entity_factory",
];
