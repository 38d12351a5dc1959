//! The driver contract in Rust: a mirror of `include/ddsmark/driver.h`, the same types, constants and layout; and the
//! safe types of what it describes, [`policies`] and [`description`], for hosts and for drivers.
//!
//! The header is the documentation; it is not repeated here. Names omit the prefix `ddsmark_` (`DDSMARK_`). The
//! assertions and the test `layout`, which compiles the header and compares every offset and constant,
//! keep both in sync. A change here is a change of the ABI: see section 8 of the header.
#![allow(missing_docs, reason = "the header is the manual")]

mod constants;
pub mod description;
pub mod policies;
mod words;

use std::{
    ffi::{c_char, c_void},
    mem::offset_of,
};

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

/// Defines the structs, each with its name in C and its size, and the list of them.
macro_rules! structs {
    ($($type:ident = $name:literal, $size:literal { $($field:ident: $field_type:ty,)* })*) => {
        $(
            #[doc = concat!("Mirror of `ddsmark_", $name, "`.")]
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $type { $(pub $field: $field_type,)* }

            #[cfg(target_pointer_width = "64")]
            const _: () = assert!(size_of::<$type>() == $size);
        )*

        /// Name in C, size, and fields with their offsets of each struct.
        pub const STRUCTS: &[(&str, usize, &[(&str, usize)])] = &[
            $(($name, size_of::<$type>(), &[$((stringify!($field), offset_of!($type, $field)),)*]),)*
        ];
    };
}

structs! {
    PolicySupport = "policy_support", 16 {
        writer: u32,
        reader: u32,
        note: *const c_char,
    }
    Qos = "qos", 224 {
        struct_size: u32,
        reserved: u32,
        present: u64,
        reliability: i32,
        history: i32,
        max_blocking_ns: u64,
        history_depth: i32,
        max_samples: i32,
        max_instances: i32,
        max_samples_per_instance: i32,
        durability: i32,
        service_history: i32,
        service_cleanup_ns: u64,
        service_history_depth: i32,
        service_max_samples: i32,
        service_max_instances: i32,
        service_max_samples_per_instance: i32,
        deadline_ns: u64,
        latency_budget_ns: u64,
        lifespan_ns: u64,
        liveliness_lease_ns: u64,
        liveliness: i32,
        ownership: i32,
        ownership_strength: i32,
        presentation_scope: i32,
        coherent_access: u32,
        ordered_access: u32,
        destination_order: i32,
        transport_priority: i32,
        minimum_separation_ns: u64,
        autodispose_unregistered: u32,
        autoenable_created: u32,
        autopurge_nowriter_ns: u64,
        autopurge_disposed_ns: u64,
        partitions: *const *const c_char,
        user_data: *const u8,
        topic_data: *const u8,
        group_data: *const u8,
        partition_count: u32,
        user_data_size: u32,
        topic_data_size: u32,
        group_data_size: u32,
    }
    TransportInfo = "transport_info", 24 {
        name: *const c_char,
        max_payload_bytes: u64,
        note: *const c_char,
    }
    OptionInfo = "option_info", 24 {
        name: *const c_char,
        default_value: *const c_char,
        help: *const c_char,
    }
    Description = "description", 472 {
        struct_size: u32,
        features: u32,
        name: *const c_char,
        driver_version: *const c_char,
        middleware: *const c_char,
        middleware_version: *const c_char,
        version_source: *const c_char,
        build: *const c_char,
        licence: *const c_char,
        receive_modes: u32,
        type_kinds: u32,
        transports: *const TransportInfo,
        options: *const OptionInfo,
        transport_count: u32,
        option_count: u32,
        policies: [PolicySupport; POLICY_COUNT],
        kept_threads: *const *const c_char,
        kept_thread_count: u32,
        variable_count: u32,
        variables: *const *const c_char,
    }
    DriverOption = "option", 16 {
        name: *const c_char,
        value: *const c_char,
    }
    ParticipantConfig = "participant_config", 96 {
        struct_size: u32,
        domain: u32,
        run_name: *const c_char,
        transport: *const c_char,
        interface: *const c_char,
        peers: *const *const c_char,
        options: *const DriverOption,
        peer_count: u32,
        option_count: u32,
        multicast: u32,
        vendor_defaults: u32,
        send_buffer_bytes: u64,
        receive_buffer_bytes: u64,
        send_queue_bytes: u64,
        participant_count: u32,
        reserved: u32,
    }
    WriterConfig = "writer_config", 48 {
        struct_size: u32,
        type_kind: u32,
        topic: *const c_char,
        qos: *const Qos,
        max_payload_bytes: u64,
        batch_bytes: u64,
        async_write: u32,
        loans: u32,
    }
    Sample = "sample", 32 {
        payload: *const u8,
        size: u64,
        key: u32,
        reserved: u32,
        token: *const c_void,
    }
    ReaderConfig = "reader_config", 64 {
        struct_size: u32,
        type_kind: u32,
        topic: *const c_char,
        qos: *const Qos,
        max_payload_bytes: u64,
        receive_mode: u32,
        batched: u32,
        sink: Option<Sink>,
        sink_context: *mut c_void,
        content_filter: *const c_char,
    }
    Counters = "counters", 160 {
        struct_size: u32,
        reserved: u32,
        valid: u64,
        values: [u64; COUNTER_COUNT],
    }
    Match = "match", 16 {
        struct_size: u32,
        count: u32,
        changed_ns: u64,
    }
    Driver = "driver", 264 {
        abi_version: u32,
        struct_size: u32,
        describe: Option<unsafe extern "C" fn() -> *const Description>,
        last_error: Option<unsafe extern "C" fn() -> *const c_char>,
        participant_open:
            Option<unsafe extern "C" fn(config: *const ParticipantConfig, out: *mut *mut Participant) -> Status>,
        participant_close: Option<unsafe extern "C" fn(participant: *mut Participant) -> Status>,
        participant_settings: Option<
            unsafe extern "C" fn(participant: *mut Participant, visit: Visitor, context: *mut c_void) -> Status,
        >,
        writer_open: Option<
            unsafe extern "C" fn(
                participant: *mut Participant,
                config: *const WriterConfig,
                out: *mut *mut Writer,
            ) -> Status,
        >,
        writer_close: Option<unsafe extern "C" fn(writer: *mut Writer) -> Status>,
        writer_matched: Option<unsafe extern "C" fn(writer: *mut Writer, out: *mut Match) -> Status>,
        writer_qos: Option<unsafe extern "C" fn(writer: *mut Writer, out: *mut Qos) -> Status>,
        writer_settings:
            Option<unsafe extern "C" fn(writer: *mut Writer, visit: Visitor, context: *mut c_void) -> Status>,
        writer_counters: Option<unsafe extern "C" fn(writer: *mut Writer, out: *mut Counters) -> Status>,
        writer_locator:
            Option<unsafe extern "C" fn(writer: *mut Writer, buffer: *mut c_char, capacity: u64) -> Status>,
        writer_connect:
            Option<unsafe extern "C" fn(writer: *mut Writer, reader_locator: *const c_char) -> Status>,
        writer_write:
            Option<unsafe extern "C" fn(writer: *mut Writer, key: u32, payload: *const u8, size: u64) -> Status>,
        writer_loan:
            Option<unsafe extern "C" fn(writer: *mut Writer, size: u64, out: *mut *mut u8) -> Status>,
        writer_publish:
            Option<unsafe extern "C" fn(writer: *mut Writer, key: u32, loan: *mut u8, size: u64) -> Status>,
        writer_discard: Option<unsafe extern "C" fn(writer: *mut Writer, loan: *mut u8) -> Status>,
        writer_flush: Option<unsafe extern "C" fn(writer: *mut Writer) -> Status>,
        writer_wait_acked: Option<unsafe extern "C" fn(writer: *mut Writer, timeout_ns: u64) -> Status>,
        writer_dispose: Option<unsafe extern "C" fn(writer: *mut Writer, key: u32) -> Status>,
        writer_unregister: Option<unsafe extern "C" fn(writer: *mut Writer, key: u32) -> Status>,
        writer_assert_liveliness: Option<unsafe extern "C" fn(writer: *mut Writer) -> Status>,
        reader_open: Option<
            unsafe extern "C" fn(
                participant: *mut Participant,
                config: *const ReaderConfig,
                out: *mut *mut Reader,
            ) -> Status,
        >,
        reader_close: Option<unsafe extern "C" fn(reader: *mut Reader) -> Status>,
        reader_matched: Option<unsafe extern "C" fn(reader: *mut Reader, out: *mut Match) -> Status>,
        reader_qos: Option<unsafe extern "C" fn(reader: *mut Reader, out: *mut Qos) -> Status>,
        reader_settings:
            Option<unsafe extern "C" fn(reader: *mut Reader, visit: Visitor, context: *mut c_void) -> Status>,
        reader_counters: Option<unsafe extern "C" fn(reader: *mut Reader, out: *mut Counters) -> Status>,
        reader_locator:
            Option<unsafe extern "C" fn(reader: *mut Reader, buffer: *mut c_char, capacity: u64) -> Status>,
        reader_connect:
            Option<unsafe extern "C" fn(reader: *mut Reader, writer_locator: *const c_char) -> Status>,
        reader_receive: Option<
            unsafe extern "C" fn(
                reader: *mut Reader,
                timeout_ns: u64,
                max_samples: u32,
                sink: Sink,
                context: *mut c_void,
                taken: *mut u32,
            ) -> Status,
        >,
        reader_sample_intact: Option<unsafe extern "C" fn(reader: *mut Reader, sample: *const Sample) -> u32>,
    }
}
