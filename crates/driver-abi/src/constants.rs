//! Constants of the driver ABI.

use crate::Status;

pub const ABI_VERSION: u32 = 3;
/// Symbol that a driver exports, of type [`crate::Entry`].
pub const ENTRY_SYMBOL: &str = "ddsmark_driver_entry";
pub const DURATION_INFINITE: u64 = u64::MAX;
pub const UNLIMITED: i32 = -1;

// Status codes.
pub const OK: Status = 0;
pub const ERROR: Status = 1;
pub const TIMED_OUT: Status = 2;
pub const REFUSED: Status = 3;
pub const UNSUPPORTED: Status = 4;
pub const BAD_ARGUMENT: Status = 5;
pub const INCONSISTENT: Status = 6;
pub const TOO_LARGE: Status = 7;

// Policies of DDS 1.4.
pub const POLICY_RELIABILITY: u32 = 0;
pub const POLICY_HISTORY: u32 = 1;
pub const POLICY_RESOURCE_LIMITS: u32 = 2;
pub const POLICY_DURABILITY: u32 = 3;
pub const POLICY_DURABILITY_SERVICE: u32 = 4;
pub const POLICY_DEADLINE: u32 = 5;
pub const POLICY_LATENCY_BUDGET: u32 = 6;
pub const POLICY_LIFESPAN: u32 = 7;
pub const POLICY_LIVELINESS: u32 = 8;
pub const POLICY_OWNERSHIP: u32 = 9;
pub const POLICY_OWNERSHIP_STRENGTH: u32 = 10;
pub const POLICY_PARTITION: u32 = 11;
pub const POLICY_PRESENTATION: u32 = 12;
pub const POLICY_DESTINATION_ORDER: u32 = 13;
pub const POLICY_TIME_BASED_FILTER: u32 = 14;
pub const POLICY_TRANSPORT_PRIORITY: u32 = 15;
pub const POLICY_WRITER_DATA_LIFECYCLE: u32 = 16;
pub const POLICY_READER_DATA_LIFECYCLE: u32 = 17;
pub const POLICY_USER_DATA: u32 = 18;
pub const POLICY_TOPIC_DATA: u32 = 19;
pub const POLICY_GROUP_DATA: u32 = 20;
pub const POLICY_ENTITY_FACTORY: u32 = 21;
pub const POLICY_COUNT: usize = 22;

// Support of a policy by a driver.
pub const SUPPORT_UNSUPPORTED: u32 = 0;
pub const SUPPORT_IGNORED: u32 = 1;
pub const SUPPORT_MATCHED_ONLY: u32 = 2;
pub const SUPPORT_HINT: u32 = 3;
pub const SUPPORT_NEEDS_SERVICE: u32 = 4;
pub const SUPPORT_ENFORCED: u32 = 5;

// Values of policies.
pub const BEST_EFFORT: i32 = 0;
pub const RELIABLE: i32 = 1;
pub const KEEP_LAST: i32 = 0;
pub const KEEP_ALL: i32 = 1;
pub const VOLATILE: i32 = 0;
pub const TRANSIENT_LOCAL: i32 = 1;
pub const TRANSIENT: i32 = 2;
pub const PERSISTENT: i32 = 3;
pub const LIVELINESS_AUTOMATIC: i32 = 0;
pub const LIVELINESS_BY_PARTICIPANT: i32 = 1;
pub const LIVELINESS_BY_TOPIC: i32 = 2;
pub const OWNERSHIP_SHARED: i32 = 0;
pub const OWNERSHIP_EXCLUSIVE: i32 = 1;
pub const SCOPE_INSTANCE: i32 = 0;
pub const SCOPE_TOPIC: i32 = 1;
pub const SCOPE_GROUP: i32 = 2;
pub const ORDER_BY_RECEPTION: i32 = 0;
pub const ORDER_BY_SOURCE: i32 = 1;

// Features of a driver.
pub const FEATURE_LOCATORS: u32 = 1 << 0;
pub const FEATURE_NATIVE_BATCHING: u32 = 1 << 1;
pub const FEATURE_APPLICATION_BATCHING: u32 = 1 << 2;
pub const FEATURE_WAIT_ACKED: u32 = 1 << 3;
pub const FEATURE_WRITER_LOANS: u32 = 1 << 4;
pub const FEATURE_READER_LOANS: u32 = 1 << 5;
pub const FEATURE_ECHO_IN_LISTENER: u32 = 1 << 6;
pub const FEATURE_CONTENT_FILTER: u32 = 1 << 7;
pub const FEATURE_INSTANCES: u32 = 1 << 8;
pub const FEATURE_MULTICAST: u32 = 1 << 9;
pub const FEATURE_ASYNC_WRITE: u32 = 1 << 10;
pub const FEATURE_SIMULATED: u32 = 1 << 11;
pub const FEATURE_ONE_PROCESS: u32 = 1 << 12;

// Type kinds.
pub const TYPE_OCTETS: u32 = 0;
pub const TYPE_KEYED: u32 = 1;
pub const TYPE_PLAIN: u32 = 2;

// Receive modes.
pub const RECEIVE_WAITSET: u32 = 0;
pub const RECEIVE_POLLING: u32 = 1;
pub const RECEIVE_LISTENER: u32 = 2;

// Counters.
pub const COUNTER_WRITE_BLOCKED: u32 = 0;
pub const COUNTER_WRITE_TIMED_OUT: u32 = 1;
pub const COUNTER_WRITE_REFUSED: u32 = 2;
pub const COUNTER_RETRANSMITTED: u32 = 3;
pub const COUNTER_RETRANSMITTED_BYTES: u32 = 4;
pub const COUNTER_PACKETS_SENT: u32 = 5;
pub const COUNTER_BYTES_SENT: u32 = 6;
pub const COUNTER_PACKETS_RECEIVED: u32 = 7;
pub const COUNTER_BYTES_RECEIVED: u32 = 8;
pub const COUNTER_SAMPLES_REJECTED: u32 = 9;
pub const COUNTER_SAMPLES_LOST: u32 = 10;
pub const COUNTER_BYTES_DISCARDED: u32 = 11;
pub const COUNTER_SAMPLES_OVERWRITTEN: u32 = 12;
pub const COUNTER_DEADLINE_MISSED: u32 = 13;
pub const COUNTER_LIVELINESS_LOST: u32 = 14;
pub const COUNTER_INCOMPATIBLE_QOS: u32 = 15;
pub const COUNTER_WRITE_BLOCKED_NS: u32 = 16;
pub const COUNTER_MALFORMED: u32 = 17;
pub const COUNTER_COUNT: usize = 18;
