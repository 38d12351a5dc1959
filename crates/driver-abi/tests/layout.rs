//! Compares the mirror with the header: a C program, compiled here, prints every size, offset and constant.
use std::{collections::BTreeMap, mem::offset_of, path::Path, process::Command};

/// Creates the `(name, value)` rows of the Rust side, and the C expressions that must have the same values.
macro_rules! rows {
    (types { $($rust:ident = $c:literal { $($field:ident),* $(,)? })* } constants { $($name:ident)* }) => {
        #[allow(clippy::cast_lossless, reason = "constants of several types")]
        fn rust_side() -> BTreeMap<String, i64> {
            let mut rows = BTreeMap::new();
            $(
                rows.insert(format!("sizeof(ddsmark_{})", $c), size_of::<driver_abi::$rust>() as i64);
                $(rows.insert(
                    format!("offsetof(ddsmark_{}, {})", $c, stringify!($field)),
                    offset_of!(driver_abi::$rust, $field) as i64,
                );)*
            )*
            $(rows.insert(format!("DDSMARK_{}", stringify!($name)), driver_abi::$name as i64);)*
            rows
        }
    };
}

rows! {
    types {
    PolicySupport = "policy_support" { writer, reader, note }
    Qos = "qos" { struct_size, reserved, present, reliability, history, max_blocking_ns, history_depth, max_samples, max_instances, max_samples_per_instance, durability, service_history, service_cleanup_ns, service_history_depth, service_max_samples, service_max_instances, service_max_samples_per_instance, deadline_ns, latency_budget_ns, lifespan_ns, liveliness_lease_ns, liveliness, ownership, ownership_strength, presentation_scope, coherent_access, ordered_access, destination_order, transport_priority, minimum_separation_ns, autodispose_unregistered, autoenable_created, autopurge_nowriter_ns, autopurge_disposed_ns, partitions, user_data, topic_data, group_data, partition_count, user_data_size, topic_data_size, group_data_size }
    TransportInfo = "transport_info" { name, max_payload_bytes, note }
    OptionInfo = "option_info" { name, default_value, help }
    Description = "description" { struct_size, features, name, driver_version, middleware, middleware_version, version_source, build, licence, receive_modes, type_kinds, transports, options, transport_count, option_count, policies, kept_threads, kept_thread_count, variable_count, variables }
    DriverOption = "option" { name, value }
    ParticipantConfig = "participant_config" { struct_size, domain, run_name, transport, interface, peers, options, peer_count, option_count, multicast, vendor_defaults, send_buffer_bytes, receive_buffer_bytes, send_queue_bytes, participant_count, reserved }
    WriterConfig = "writer_config" { struct_size, type_kind, topic, qos, max_payload_bytes, batch_bytes, async_write, loans }
    Sample = "sample" { payload, size, key, reserved, token }
    ReaderConfig = "reader_config" { struct_size, type_kind, topic, qos, max_payload_bytes, receive_mode, batched, sink, sink_context, content_filter }
    Counters = "counters" { struct_size, reserved, valid, values }
    Match = "match" { struct_size, count, changed_ns }
    Driver = "driver" { abi_version, struct_size, describe, last_error, participant_open, participant_close, participant_settings, writer_open, writer_close, writer_matched, writer_qos, writer_settings, writer_counters, writer_locator, writer_connect, writer_write, writer_loan, writer_publish, writer_discard, writer_flush, writer_wait_acked, writer_dispose, writer_unregister, writer_assert_liveliness, reader_open, reader_close, reader_matched, reader_qos, reader_settings, reader_counters, reader_locator, reader_connect, reader_receive, reader_sample_intact }
    } constants {
    ABI_VERSION DURATION_INFINITE UNLIMITED
    OK ERROR TIMED_OUT REFUSED UNSUPPORTED BAD_ARGUMENT INCONSISTENT TOO_LARGE POLICY_RELIABILITY POLICY_HISTORY POLICY_RESOURCE_LIMITS POLICY_DURABILITY POLICY_DURABILITY_SERVICE POLICY_DEADLINE POLICY_LATENCY_BUDGET POLICY_LIFESPAN POLICY_LIVELINESS POLICY_OWNERSHIP POLICY_OWNERSHIP_STRENGTH POLICY_PARTITION POLICY_PRESENTATION POLICY_DESTINATION_ORDER POLICY_TIME_BASED_FILTER POLICY_TRANSPORT_PRIORITY POLICY_WRITER_DATA_LIFECYCLE POLICY_READER_DATA_LIFECYCLE POLICY_USER_DATA POLICY_TOPIC_DATA POLICY_GROUP_DATA POLICY_ENTITY_FACTORY POLICY_COUNT SUPPORT_UNSUPPORTED SUPPORT_IGNORED SUPPORT_MATCHED_ONLY SUPPORT_HINT SUPPORT_NEEDS_SERVICE SUPPORT_ENFORCED BEST_EFFORT RELIABLE KEEP_LAST KEEP_ALL VOLATILE TRANSIENT_LOCAL TRANSIENT PERSISTENT LIVELINESS_AUTOMATIC LIVELINESS_BY_PARTICIPANT LIVELINESS_BY_TOPIC OWNERSHIP_SHARED OWNERSHIP_EXCLUSIVE SCOPE_INSTANCE SCOPE_TOPIC SCOPE_GROUP ORDER_BY_RECEPTION ORDER_BY_SOURCE FEATURE_LOCATORS FEATURE_NATIVE_BATCHING FEATURE_APPLICATION_BATCHING FEATURE_WAIT_ACKED FEATURE_WRITER_LOANS FEATURE_READER_LOANS FEATURE_ECHO_IN_LISTENER FEATURE_CONTENT_FILTER FEATURE_INSTANCES FEATURE_MULTICAST FEATURE_ASYNC_WRITE FEATURE_SIMULATED FEATURE_ONE_PROCESS TYPE_OCTETS TYPE_KEYED TYPE_PLAIN RECEIVE_WAITSET RECEIVE_POLLING RECEIVE_LISTENER COUNTER_WRITE_BLOCKED COUNTER_WRITE_TIMED_OUT COUNTER_WRITE_REFUSED COUNTER_RETRANSMITTED COUNTER_RETRANSMITTED_BYTES COUNTER_PACKETS_SENT COUNTER_BYTES_SENT COUNTER_PACKETS_RECEIVED COUNTER_BYTES_RECEIVED COUNTER_SAMPLES_REJECTED COUNTER_SAMPLES_LOST COUNTER_BYTES_DISCARDED COUNTER_SAMPLES_OVERWRITTEN COUNTER_DEADLINE_MISSED COUNTER_LIVELINESS_LOST COUNTER_INCOMPATIBLE_QOS COUNTER_WRITE_BLOCKED_NS COUNTER_MALFORMED COUNTER_COUNT
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the C compiler runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn header_and_mirror_have_the_same_layout() {
    let expected = rust_side();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (source, program) = (directory.path().join("layout.c"), directory.path().join("layout"));
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let mut text = String::from(
        "#include <ddsmark/driver.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    for name in expected.keys() {
        text += &format!("  printf(\"%s=%lld\\n\", \"{name}\", (long long)({name}));\n");
    }
    text += "  return 0;\n}\n";
    std::fs::write(&source, text).expect("written");
    run(Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(&include)
        .arg(&source)
        .arg("-o")
        .arg(&program));
    let printed: BTreeMap<String, i64> = run(&mut Command::new(&program))
        .lines()
        .filter_map(|line| line.rsplit_once('='))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect();
    assert_eq!(printed, expected);
}

#[test]
fn no_constant_of_the_header_is_missing_here() {
    let header =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ddsmark/driver.h"))
            .expect("header");
    let known = rust_side();
    // `enum { DDSMARK_A = 0, DDSMARK_B = 1 };`, on one line or several
    let constants = header
        .split(['{', ',', '\n'])
        .filter_map(|piece| piece.trim().strip_prefix("DDSMARK_")?.split_once(" = "));
    let mut seen = 0;
    for (name, _) in constants {
        seen += 1;
        assert!(known.contains_key(&format!("DDSMARK_{name}")), "DDSMARK_{name} is in the header only");
    }
    assert!(seen > 80, "only {seen} constants were found in the header: is this test reading it right?");
}

#[test]
fn header_compiles_as_cpp() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("header.cpp");
    std::fs::write(&source, "#include <ddsmark/driver.h>\n").expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    run(Command::new("c++")
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(include)
        .arg(source));
}
