//! Tests of the rules between options.

use experiment::Durability;
use perftest::{Batch, Generation, History, Mode, Nic, Pacing, Receive, Transport};

use crate::common::{error, options, quiet, text, valid};

const OLD: Generation = Generation::V5_1;
const NEW: Generation = Generation::V4_3;

#[test]
fn scan_decides_the_sizes_and_in_5_1_the_number_of_samples() {
    for generation in Generation::ALL {
        let (settings, warnings) = valid("-pub -scan -dataLen 64", generation);
        assert_eq!(options(&warnings), ["dataLen"]);
        assert_eq!((settings.shared.sizes[0], settings.shared.max_size()), (32, 63_000));
    }
    assert_eq!(quiet("-pub -scan", OLD).shared.samples, Some(10_000_000));
    assert_eq!(quiet("-pub -scan -numIter 20000", NEW).shared.samples, Some(20_000));
    error("-pub -scan -numIter 20000", OLD);
}

#[test]
fn defaults_of_counts_depend_on_generation_and_mode() {
    let counts = |line, generation| {
        let shared = quiet(line, generation).shared;
        (shared.latency_count, shared.samples)
    };
    assert_eq!(counts("-pub", NEW), (10_000, Some(100_000_000)));
    assert_eq!(counts("-pub -latencyTest", NEW), (1, Some(10_000_000)));
    assert_eq!(counts("-pub", OLD), (10_000, None));
    assert_eq!(counts("-pub -latencyTest", OLD), (1, None));
    assert_eq!(counts("-pub -latencyCount -1 -numIter 0", OLD), (10_000, None));
    assert_eq!(counts("-pub -latencyTest -numIter 100", OLD), (1, Some(100)));
}

#[test]
fn batches_by_default_only_in_throughput_mode_of_4_3() {
    let batch = |line, generation| quiet(line, generation).shared.batch;
    assert_eq!(batch("-pub", NEW), Batch::Bytes(8192));
    assert_eq!(batch("-pub", OLD), Batch::Off);
    assert_eq!(batch("-pub -batchSize 0", NEW), Batch::Off);
    assert_eq!(batch("-pub -latencyTest", NEW), Batch::Off);
    // A rate switches the default off, but not what the user asks for.
    assert_eq!(batch("-pub -pubRate 1000:spin", NEW), Batch::Off);
    assert_eq!(batch("-pub -pubRate 1000:spin -batchSize 8192", NEW), Batch::Bytes(8192));
    assert_eq!(batch("-pub -dataLen 4096", NEW), Batch::Bytes(8192));
    assert_eq!(batch("-pub -dataLen 4097", NEW), Batch::Off);
}

#[test]
fn batch_size_without_effect_is_a_warning() {
    for line in [
        "-pub -latencyTest -batchSize 4000",
        "-pub -dataLen 4097 -batchSize 8000",
        "-pub -dataLen 65471 -batchSize 1000000",
        "-pub -zeroCopy -batchSize 4000",
    ] {
        let (settings, warnings) = valid(line, NEW);
        assert_eq!((options(&warnings), settings.shared.batch), (vec!["batchSize"], Batch::Off), "{line}");
    }
    for generation in Generation::ALL {
        let (settings, warnings) = valid("-pub -enableTurboMode -batchSize 6400", generation);
        assert_eq!((options(&warnings), settings.shared.batch), (vec!["batchSize"], Batch::Turbo));
    }
    let (settings, warnings) = valid("-pub -enableTurboMode -latencyTest", NEW);
    assert_eq!((options(&warnings), settings.shared.batch), (vec!["enableTurboMode"], Batch::Off));
}

#[test]
fn scan_batches_the_sizes_of_which_two_fit() {
    let shared = quiet("-pub -scan 32:4096:8192", NEW).shared;
    let batches: Vec<_> = shared.sizes.iter().map(|size| shared.batch_bytes(*size)).collect();
    assert_eq!(batches, [Some(8192), Some(8192), None]);
    let samples: Vec<_> = shared.sizes.iter().map(|size| shared.samples_per_batch(*size)).collect();
    assert_eq!(samples, [256, 2, 1]);
    assert_eq!(shared.samples_per_ping(32), 2_560_000);
}

#[test]
fn latency_test_has_no_rate() {
    let (settings, warnings) = valid("-pub -latencyTest -pubRate 1000:spin", NEW);
    assert_eq!((options(&warnings), settings.local.pacing), (vec!["pubRate"], Pacing::default()));
    let (settings, warnings) = valid("-pub -latencyTest -sleep 1 -spin 5 -enableAutoThrottle", OLD);
    assert_eq!(options(&warnings), ["sleep", "spin", "enableAutoThrottle"]);
    assert_eq!(settings.local.pacing, Pacing::default());
}

#[test]
fn latency_test_with_samples_between_keeps_no_single_latencies() {
    assert!(quiet("-pub -latencyTest -latencyCount 1", NEW).shared.echoes_every_sample());
    assert!(!quiet("-pub -latencyTest -latencyCount 2", NEW).shared.echoes_every_sample());
    quiet("-pub -latencyTest -latencyCount 1 -latencyFile all", NEW);
    let error = error("-pub -latencyTest -latencyCount 2 -latencyFile all", NEW);
    assert!(text(&error).contains("`-latencyFile all` contradicts `-latencyCount`"), "{error}");
    // A thread of its own receives the echoes.
    quiet("-pub -latencyTest -latencyCount 2 -threadPriorities 2:3:0", NEW);
}

#[test]
fn rate_replaces_sleep_spin_and_throttle() {
    for rate in ["pubRate 1000:spin", "pubRatebps 800000:sleep"] {
        let line = format!("-pub -{rate} -sleep 1 -spin 5 -enableAutoThrottle -dataLen 100");
        let (settings, warnings) = valid(&line, NEW);
        assert_eq!(options(&warnings), ["sleep", "spin", "enableAutoThrottle"]);
        let pacing = settings.local.pacing;
        assert_eq!((pacing.sleep_ms, pacing.spin_count, pacing.throttle), (0, 0, false));
        assert!(pacing.samples_per_s.or(pacing.bits_per_s).is_some(), "{rate}");
    }
    let pacing = quiet("-pub -sleep 2 -spin 5 -enableAutoThrottle", OLD).local.pacing;
    assert_eq!((pacing.sleep_ms, pacing.spin_count, pacing.throttle), (2, 5, true));
    let (settings, warnings) = valid("-pub -latencyTest -enableAutoThrottle", OLD);
    assert_eq!((options(&warnings), settings.local.pacing.throttle), (vec!["enableAutoThrottle"], false));
}

#[test]
fn options_that_need_another_one_warn_without_it() {
    for (line, option) in [
        ("-instances 3", "instances"),
        ("-pub -writeInstance 1", "writeInstance"),
        ("-waitsetDelayUsec 5", "waitsetDelayUsec"),
        ("-waitsetEventCount 7", "waitsetEventCount"),
        ("-keepLastDepth 7", "keepLastDepth"),
        ("-qosLibrary Mine", "qosLibrary"),
        ("-pub -maximumAllocableBufferSize 10", "maximumAllocableBufferSize"),
        ("-qosFile a.xml -noXmlQos", "qosFile"),
        ("-pub -pidMultiPubTest 1 -latencyCount 5", "latencyCount"),
    ] {
        let (_, warnings) = valid(line, NEW);
        assert_eq!(options(&warnings), [option], "{line}");
    }
    let with = "-pub -keyed -instances 3 -writeInstance 1 -useReadThread -waitsetDelayUsec 5 -waitsetEventCount 7 -keepLast -keepLastDepth 7 \
                -qosFile a.xml -qosLibrary Mine -loadDataFromFile f -maximumAllocableBufferSize 10";
    let settings = quiet(with, NEW);
    assert_eq!((settings.shared.instances, settings.shared.write_instance), (3, Some(1)));
    assert_eq!(settings.shared.history, History::KeepLast(7));
    assert_eq!(settings.local.receive, Receive::ReadThread { group_samples: 7, group_us: 5 });
    assert_eq!(settings.local.qos_file.expect("a file").library, "Mine");
    assert_eq!(settings.local.payload.expect("a file").max_bytes, 10);
}

#[test]
fn bare_sockets_need_a_peer_and_do_not_scan() {
    let settings = quiet("-pub -raw -peer a", NEW);
    assert!(settings.local.raw_transport && !settings.shared.reliable);
    assert_eq!(settings.local.receive, Receive::ReadThread { group_samples: 1, group_us: 0 });
    assert!(quiet("-pub -raw -peer a -transport TCP", NEW).shared.reliable);
}

#[test]
fn bare_sockets_without_a_peer_are_on_this_host() {
    for (line, peer, nic) in [
        ("-pub -raw", "127.0.0.1", "127.0.0.1"),
        ("-pub -raw -nic lo", "127.0.0.1", "127.0.0.1"),
        ("-pub -raw -nic 10.0.0.1", "10.0.0.1", "10.0.0.1"),
    ] {
        let (settings, warnings) = valid(line, NEW);
        assert_eq!(options(&warnings), ["peer"], "{line}");
        assert_eq!(settings.local.peers.iter().map(|peer| peer.address.as_str()).collect::<Vec<_>>(), [peer]);
        assert_eq!(settings.local.nic, Some(Nic::from_text(nic)));
    }
}

#[test]
fn scan_measures_each_size_once() {
    let (settings, warnings) = valid("-pub -scan 64:32:64", NEW);
    assert_eq!((settings.shared.sizes, options(&warnings)), (vec![64, 32], vec!["scan"]));
}

#[test]
fn rate_of_0_is_no_limit() {
    let settings = quiet("-pub -pubRate 0:spin", NEW);
    assert_eq!((settings.local.pacing, settings.requested_rate()), (Pacing::default(), None));
    assert_eq!(settings.shared.batch, Batch::Bytes(8192));
    let rate = |line| valid(line, NEW).0.requested_rate();
    assert_eq!(rate("-pub -pubRate 10"), Some("-pubRate 10:spin".to_owned()));
    assert_eq!(rate("-pub -sleep 3 -spin 5"), Some("-sleep 3".to_owned()));
}

#[test]
fn transports_and_durability_have_their_names() {
    for (line, transport) in
        [("-enableSharedMemory", Transport::SharedMemory), ("-enableTcpOnly", Transport::Tcp)]
    {
        assert_eq!(quiet(line, OLD).local.transport, Some(transport));
    }
    for (name, transport) in
        [("udpv4", Transport::UdpV4), ("UDPv6", Transport::UdpV6), ("shmem", Transport::SharedMemory)]
    {
        assert_eq!(quiet(&format!("-transport {name}"), NEW).local.transport, Some(transport));
    }
    assert_eq!(quiet("-durability 1", OLD).shared.durability, Durability::TransientLocal);
    assert_eq!(quiet("-pub -latencyTest", NEW).shared.mode, Mode::Latency);
}

#[test]
fn a_serialized_sample_has_the_requested_length() {
    let payload = |line, raw| quiet(line, NEW).shared.payload_bytes(100, raw);
    assert_eq!(payload("-pub", false), 96, "the length of a sequence has 4 bytes");
    assert_eq!(payload("-pub -keyed", false), 92, "and the key 4 more");
    assert_eq!(payload("-pub -zeroCopy", false), 100);
    assert_eq!(payload("-pub", true), 100);
}

#[test]
fn contradictions() {
    let errors: Vec<String> = [
        ("-pub -scan -numIter 100", OLD),
        ("-pub -latencyTest -pidMultiPubTest 1", OLD),
        ("-pub -pubRate 10:spin -pubRatebps 10:spin", NEW),
        ("-multicast -nomulticast", OLD),
        ("-enableSharedMemory -enableTcpOnly", OLD),
        ("-pub -raw -nic eth0", NEW),
        ("-pub -raw -peer a -scan", NEW),
        ("-pub -latencyFile f", NEW),
        ("-pub -raw -peer a -qosFile f", NEW),
        ("-pub -pidMultiPubTest 1 -ddsmark-out d", NEW),
        ("-pub -threadPriorities h:n:l", NEW),
        ("-pub -pidMultiPubTest 1 -threadPriorities h:n:0", NEW),
        ("-pub -latencyTest -useReadThread -threadPriorities h:n:0", NEW),
        ("-sub -threadPriorities 0:50:0", NEW),
        ("-sub -useReadThread -threadPriorities 80:50:0", NEW),
        ("-pub -keyed -instances 3 -writeInstance 3", NEW),
        ("-pub -heartbeatPeriod 0:5 -fastHeartbeatPeriod 0:6", OLD),
        ("-pub -heartbeatPeriod 0:5", OLD),
        ("-pub -pub -sub", OLD),
    ]
    .map(|(line, generation)| text(&error(line, generation)))
    .to_vec();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn warnings_name_the_option_and_the_reason() {
    let warnings: Vec<String> = [
        ("-pub -scan -dataLen 64", NEW),
        ("-pub -latencyTest -batchSize 4000", NEW),
        ("-sub -batchSize 6400", OLD),
        ("-pub -numPublishers 2", OLD),
        ("-sub -latencyTest", NEW),
        ("-pub -raw", NEW),
        ("-pub -scan 32:64:32", NEW),
        ("-pub -flowController 10Gbps", NEW),
        ("-pub -zeroCopy -flatData", NEW),
        ("-instances 3", NEW),
        ("-pub -pubRate 10:spin -sleep 3", NEW),
        ("-pub -dataLen 64 -dataLen 128", NEW),
    ]
    .iter()
    .flat_map(|(line, generation)| valid(line, *generation).1)
    .map(|warning| format!("warning: {warning}"))
    .collect();
    insta::assert_snapshot!(warnings.join("\n"));
}
