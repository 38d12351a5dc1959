//! Rust mirror of `include/ddsmark/driver.h`: the same types, constants and layout, without functions.
//!
//! The header is the documentation; it is not repeated here. Names omit the prefix `ddsmark_` (`DDSMARK_`). The
//! assertions at the end and the test `layout`, which compiles the header and compares every offset and constant,
//! keep both in sync. A change here is a change of the ABI: see section 8 of the header.
#![allow(missing_docs, reason = "the header is the manual")]

mod constants;

use std::ffi::{c_char, c_void};

pub use constants::*;

pub type Status = i32;

/// Type of [`ENTRY_SYMBOL`].
pub type Entry = unsafe extern "C" fn() -> *const Driver;
/// Mirror of `ddsmark_sink`.
pub type Sink = unsafe extern "C" fn(context: *mut c_void, sample: *const Sample);
/// Mirror of `ddsmark_visitor`.
pub type Visitor = unsafe extern "C" fn(context: *mut c_void, name: *const c_char, value: *const c_char);

/// Opaque participant of a driver.
#[repr(C)]
pub struct Participant {
    _opaque: [u8; 0],
}

/// Opaque writer of a driver.
#[repr(C)]
pub struct Writer {
    _opaque: [u8; 0],
}

/// Opaque reader of a driver.
#[repr(C)]
pub struct Reader {
    _opaque: [u8; 0],
}

/// Mirror of `ddsmark_policy_support`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PolicySupport {
    pub writer: u32,
    pub reader: u32,
    pub note: *const c_char,
}

/// Mirror of `ddsmark_qos`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Qos {
    pub struct_size: u32,
    pub reserved: u32,
    pub present: u64,
    pub reliability: i32,
    pub history: i32,
    pub max_blocking_ns: u64,
    pub history_depth: i32,
    pub max_samples: i32,
    pub max_instances: i32,
    pub max_samples_per_instance: i32,
    pub durability: i32,
    pub service_history: i32,
    pub service_cleanup_ns: u64,
    pub service_history_depth: i32,
    pub service_max_samples: i32,
    pub service_max_instances: i32,
    pub service_max_samples_per_instance: i32,
    pub deadline_ns: u64,
    pub latency_budget_ns: u64,
    pub lifespan_ns: u64,
    pub liveliness_lease_ns: u64,
    pub liveliness: i32,
    pub ownership: i32,
    pub ownership_strength: i32,
    pub presentation_scope: i32,
    pub coherent_access: u32,
    pub ordered_access: u32,
    pub destination_order: i32,
    pub transport_priority: i32,
    pub minimum_separation_ns: u64,
    pub autodispose_unregistered: u32,
    pub autoenable_created: u32,
    pub autopurge_nowriter_ns: u64,
    pub autopurge_disposed_ns: u64,
    pub partitions: *const *const c_char,
    pub user_data: *const u8,
    pub topic_data: *const u8,
    pub group_data: *const u8,
    pub partition_count: u32,
    pub user_data_size: u32,
    pub topic_data_size: u32,
    pub group_data_size: u32,
}

/// Mirror of `ddsmark_transport_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TransportInfo {
    pub name: *const c_char,
    pub max_payload_bytes: u64,
    pub note: *const c_char,
}

/// Mirror of `ddsmark_option_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OptionInfo {
    pub name: *const c_char,
    pub default_value: *const c_char,
    pub help: *const c_char,
}

/// Mirror of `ddsmark_description`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Description {
    pub struct_size: u32,
    pub features: u32,
    pub name: *const c_char,
    pub driver_version: *const c_char,
    pub middleware: *const c_char,
    pub middleware_version: *const c_char,
    pub version_source: *const c_char,
    pub build: *const c_char,
    pub licence: *const c_char,
    pub receive_modes: u32,
    pub type_kinds: u32,
    pub transports: *const TransportInfo,
    pub options: *const OptionInfo,
    pub transport_count: u32,
    pub option_count: u32,
    pub policies: [PolicySupport; POLICY_COUNT],
    pub kept_threads: *const *const c_char,
    pub kept_thread_count: u32,
    pub variable_count: u32,
    pub variables: *const *const c_char,
}

/// Mirror of `ddsmark_option`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverOption {
    pub name: *const c_char,
    pub value: *const c_char,
}

/// Mirror of `ddsmark_participant_config`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ParticipantConfig {
    pub struct_size: u32,
    pub domain: u32,
    pub run_name: *const c_char,
    pub transport: *const c_char,
    pub interface: *const c_char,
    pub peers: *const *const c_char,
    pub options: *const DriverOption,
    pub peer_count: u32,
    pub option_count: u32,
    pub multicast: u32,
    pub vendor_defaults: u32,
    pub send_buffer_bytes: u64,
    pub receive_buffer_bytes: u64,
    pub send_queue_bytes: u64,
    pub participant_count: u32,
    pub reserved: u32,
}

/// Mirror of `ddsmark_writer_config`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WriterConfig {
    pub struct_size: u32,
    pub type_kind: u32,
    pub topic: *const c_char,
    pub qos: *const Qos,
    pub max_payload_bytes: u64,
    pub batch_bytes: u64,
    pub async_write: u32,
    pub loans: u32,
}

/// Mirror of `ddsmark_sample`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sample {
    pub payload: *const u8,
    pub size: u64,
    pub key: u32,
    pub reserved: u32,
    pub token: *const c_void,
}

/// Mirror of `ddsmark_reader_config`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReaderConfig {
    pub struct_size: u32,
    pub type_kind: u32,
    pub topic: *const c_char,
    pub qos: *const Qos,
    pub max_payload_bytes: u64,
    pub receive_mode: u32,
    pub batched: u32,
    pub sink: Option<Sink>,
    pub sink_context: *mut c_void,
    pub content_filter: *const c_char,
}

/// Mirror of `ddsmark_counters`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Counters {
    pub struct_size: u32,
    pub reserved: u32,
    pub valid: u64,
    pub values: [u64; COUNTER_COUNT],
}

/// Mirror of `ddsmark_match`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Match {
    pub struct_size: u32,
    pub count: u32,
    pub changed_ns: u64,
}

/// Mirror of `ddsmark_driver`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Driver {
    pub abi_version: u32,
    pub struct_size: u32,
    pub describe: Option<unsafe extern "C" fn() -> *const Description>,
    pub last_error: Option<unsafe extern "C" fn() -> *const c_char>,
    pub participant_open:
        Option<unsafe extern "C" fn(config: *const ParticipantConfig, out: *mut *mut Participant) -> Status>,
    pub participant_close: Option<unsafe extern "C" fn(participant: *mut Participant) -> Status>,
    pub participant_settings: Option<
        unsafe extern "C" fn(participant: *mut Participant, visit: Visitor, context: *mut c_void) -> Status,
    >,
    pub writer_open: Option<
        unsafe extern "C" fn(
            participant: *mut Participant,
            config: *const WriterConfig,
            out: *mut *mut Writer,
        ) -> Status,
    >,
    pub writer_close: Option<unsafe extern "C" fn(writer: *mut Writer) -> Status>,
    pub writer_matched: Option<unsafe extern "C" fn(writer: *mut Writer, out: *mut Match) -> Status>,
    pub writer_qos: Option<unsafe extern "C" fn(writer: *mut Writer, out: *mut Qos) -> Status>,
    pub writer_settings:
        Option<unsafe extern "C" fn(writer: *mut Writer, visit: Visitor, context: *mut c_void) -> Status>,
    pub writer_counters: Option<unsafe extern "C" fn(writer: *mut Writer, out: *mut Counters) -> Status>,
    pub writer_locator:
        Option<unsafe extern "C" fn(writer: *mut Writer, buffer: *mut c_char, capacity: u64) -> Status>,
    pub writer_connect:
        Option<unsafe extern "C" fn(writer: *mut Writer, reader_locator: *const c_char) -> Status>,
    pub writer_write:
        Option<unsafe extern "C" fn(writer: *mut Writer, key: u32, payload: *const u8, size: u64) -> Status>,
    pub writer_loan:
        Option<unsafe extern "C" fn(writer: *mut Writer, size: u64, out: *mut *mut u8) -> Status>,
    pub writer_publish:
        Option<unsafe extern "C" fn(writer: *mut Writer, key: u32, loan: *mut u8, size: u64) -> Status>,
    pub writer_discard: Option<unsafe extern "C" fn(writer: *mut Writer, loan: *mut u8) -> Status>,
    pub writer_flush: Option<unsafe extern "C" fn(writer: *mut Writer) -> Status>,
    pub writer_wait_acked: Option<unsafe extern "C" fn(writer: *mut Writer, timeout_ns: u64) -> Status>,
    pub writer_dispose: Option<unsafe extern "C" fn(writer: *mut Writer, key: u32) -> Status>,
    pub writer_unregister: Option<unsafe extern "C" fn(writer: *mut Writer, key: u32) -> Status>,
    pub writer_assert_liveliness: Option<unsafe extern "C" fn(writer: *mut Writer) -> Status>,
    pub reader_open: Option<
        unsafe extern "C" fn(
            participant: *mut Participant,
            config: *const ReaderConfig,
            out: *mut *mut Reader,
        ) -> Status,
    >,
    pub reader_close: Option<unsafe extern "C" fn(reader: *mut Reader) -> Status>,
    pub reader_matched: Option<unsafe extern "C" fn(reader: *mut Reader, out: *mut Match) -> Status>,
    pub reader_qos: Option<unsafe extern "C" fn(reader: *mut Reader, out: *mut Qos) -> Status>,
    pub reader_settings:
        Option<unsafe extern "C" fn(reader: *mut Reader, visit: Visitor, context: *mut c_void) -> Status>,
    pub reader_counters: Option<unsafe extern "C" fn(reader: *mut Reader, out: *mut Counters) -> Status>,
    pub reader_locator:
        Option<unsafe extern "C" fn(reader: *mut Reader, buffer: *mut c_char, capacity: u64) -> Status>,
    pub reader_connect:
        Option<unsafe extern "C" fn(reader: *mut Reader, writer_locator: *const c_char) -> Status>,
    pub reader_receive: Option<
        unsafe extern "C" fn(
            reader: *mut Reader,
            timeout_ns: u64,
            max_samples: u32,
            sink: Sink,
            context: *mut c_void,
            taken: *mut u32,
        ) -> Status,
    >,
    pub reader_sample_intact: Option<unsafe extern "C" fn(reader: *mut Reader, sample: *const Sample) -> u32>,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<PolicySupport>() == 16);
    assert!(size_of::<Qos>() == 224);
    assert!(size_of::<TransportInfo>() == 24);
    assert!(size_of::<OptionInfo>() == 24);
    assert!(size_of::<Description>() == 472);
    assert!(size_of::<DriverOption>() == 16);
    assert!(size_of::<ParticipantConfig>() == 96);
    assert!(size_of::<WriterConfig>() == 48);
    assert!(size_of::<Sample>() == 32);
    assert!(size_of::<ReaderConfig>() == 64);
    assert!(size_of::<Counters>() == 160);
    assert!(size_of::<Match>() == 16);
    assert!(size_of::<Driver>() == 264);
};
