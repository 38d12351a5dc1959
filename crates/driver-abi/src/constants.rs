//! Constants of the driver ABI.

use crate::Status;

/// Symbol that a driver exports, of type [`crate::Entry`].
pub const ENTRY_SYMBOL: &str = "ddsmark_driver_entry";

/// Defines the constants and the list of them.
macro_rules! constants {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(pub const $name: $type = $value;)*

        /// Name in C, without its prefix, and value of each constant.
        pub const CONSTANTS: &[(&str, i64)] = &[$((stringify!($name), $name as i64),)*];
    };
}

constants! {
    ABI_VERSION: u32 = 3;
    DURATION_INFINITE: u64 = u64::MAX;
    UNLIMITED: i32 = -1;

    // Status codes.
    OK: Status = 0;
    ERROR: Status = 1;
    TIMED_OUT: Status = 2;
    REFUSED: Status = 3;
    UNSUPPORTED: Status = 4;
    BAD_ARGUMENT: Status = 5;
    INCONSISTENT: Status = 6;
    TOO_LARGE: Status = 7;

    // Policies of DDS 1.4.
    POLICY_RELIABILITY: u32 = 0;
    POLICY_HISTORY: u32 = 1;
    POLICY_RESOURCE_LIMITS: u32 = 2;
    POLICY_DURABILITY: u32 = 3;
    POLICY_DURABILITY_SERVICE: u32 = 4;
    POLICY_DEADLINE: u32 = 5;
    POLICY_LATENCY_BUDGET: u32 = 6;
    POLICY_LIFESPAN: u32 = 7;
    POLICY_LIVELINESS: u32 = 8;
    POLICY_OWNERSHIP: u32 = 9;
    POLICY_OWNERSHIP_STRENGTH: u32 = 10;
    POLICY_PARTITION: u32 = 11;
    POLICY_PRESENTATION: u32 = 12;
    POLICY_DESTINATION_ORDER: u32 = 13;
    POLICY_TIME_BASED_FILTER: u32 = 14;
    POLICY_TRANSPORT_PRIORITY: u32 = 15;
    POLICY_WRITER_DATA_LIFECYCLE: u32 = 16;
    POLICY_READER_DATA_LIFECYCLE: u32 = 17;
    POLICY_USER_DATA: u32 = 18;
    POLICY_TOPIC_DATA: u32 = 19;
    POLICY_GROUP_DATA: u32 = 20;
    POLICY_ENTITY_FACTORY: u32 = 21;
    POLICY_COUNT: usize = 22;

    // Support of a policy by a driver.
    SUPPORT_UNSUPPORTED: u32 = 0;
    SUPPORT_IGNORED: u32 = 1;
    SUPPORT_MATCHED_ONLY: u32 = 2;
    SUPPORT_HINT: u32 = 3;
    SUPPORT_NEEDS_SERVICE: u32 = 4;
    SUPPORT_ENFORCED: u32 = 5;

    // Values of policies.
    BEST_EFFORT: i32 = 0;
    RELIABLE: i32 = 1;
    KEEP_LAST: i32 = 0;
    KEEP_ALL: i32 = 1;
    VOLATILE: i32 = 0;
    TRANSIENT_LOCAL: i32 = 1;
    TRANSIENT: i32 = 2;
    PERSISTENT: i32 = 3;
    LIVELINESS_AUTOMATIC: i32 = 0;
    LIVELINESS_BY_PARTICIPANT: i32 = 1;
    LIVELINESS_BY_TOPIC: i32 = 2;
    OWNERSHIP_SHARED: i32 = 0;
    OWNERSHIP_EXCLUSIVE: i32 = 1;
    SCOPE_INSTANCE: i32 = 0;
    SCOPE_TOPIC: i32 = 1;
    SCOPE_GROUP: i32 = 2;
    ORDER_BY_RECEPTION: i32 = 0;
    ORDER_BY_SOURCE: i32 = 1;

    // Features of a driver.
    FEATURE_LOCATORS: u32 = 1 << 0;
    FEATURE_NATIVE_BATCHING: u32 = 1 << 1;
    FEATURE_APPLICATION_BATCHING: u32 = 1 << 2;
    FEATURE_WAIT_ACKED: u32 = 1 << 3;
    FEATURE_WRITER_LOANS: u32 = 1 << 4;
    FEATURE_READER_LOANS: u32 = 1 << 5;
    FEATURE_ECHO_IN_LISTENER: u32 = 1 << 6;
    FEATURE_CONTENT_FILTER: u32 = 1 << 7;
    FEATURE_INSTANCES: u32 = 1 << 8;
    FEATURE_MULTICAST: u32 = 1 << 9;
    FEATURE_ASYNC_WRITE: u32 = 1 << 10;
    FEATURE_SIMULATED: u32 = 1 << 11;
    FEATURE_ONE_PROCESS: u32 = 1 << 12;

    // Type kinds.
    TYPE_OCTETS: u32 = 0;
    TYPE_KEYED: u32 = 1;
    TYPE_PLAIN: u32 = 2;

    // Receive modes.
    RECEIVE_WAITSET: u32 = 0;
    RECEIVE_POLLING: u32 = 1;
    RECEIVE_LISTENER: u32 = 2;

    // Counters.
    COUNTER_WRITE_BLOCKED: u32 = 0;
    COUNTER_WRITE_TIMED_OUT: u32 = 1;
    COUNTER_WRITE_REFUSED: u32 = 2;
    COUNTER_RETRANSMITTED: u32 = 3;
    COUNTER_RETRANSMITTED_BYTES: u32 = 4;
    COUNTER_PACKETS_SENT: u32 = 5;
    COUNTER_BYTES_SENT: u32 = 6;
    COUNTER_PACKETS_RECEIVED: u32 = 7;
    COUNTER_BYTES_RECEIVED: u32 = 8;
    COUNTER_SAMPLES_REJECTED: u32 = 9;
    COUNTER_SAMPLES_LOST: u32 = 10;
    COUNTER_BYTES_DISCARDED: u32 = 11;
    COUNTER_SAMPLES_OVERWRITTEN: u32 = 12;
    COUNTER_DEADLINE_MISSED: u32 = 13;
    COUNTER_LIVELINESS_LOST: u32 = 14;
    COUNTER_INCOMPATIBLE_QOS: u32 = 15;
    COUNTER_WRITE_BLOCKED_NS: u32 = 16;
    COUNTER_MALFORMED: u32 = 17;
    COUNTER_COUNT: usize = 18;
}
