//! Command lines of the tutorial for two Raspberry Pi boards, written for releases 3 and 4.

use perftest::{Batch, Generation, Mode, Nic, OutputFormat, Role, SCAN_SIZES, Settings};

use crate::common::quiet;

const NEW: Generation = Generation::V4_3;

fn both(publisher: &str, subscriber: &str) -> (Settings, Settings) {
    let (one, mut two) = (quiet(publisher, NEW), quiet(subscriber, NEW));
    assert_eq!((one.role, two.role), (Role::Publisher, Role::Subscriber));
    for settings in [&one, &two] {
        assert_eq!(settings.local.nic, Some(Nic::Name("eth0".to_owned())));
        assert!(!settings.local.output.intervals);
        assert_eq!(settings.local.output.format, OutputFormat::Csv);
    }
    two.adopt(&one.offer()).expect("both sides agree");
    assert_eq!((one.shared.execution_time_s, &two.shared), (Some(20), &one.shared));
    (one, two)
}

#[test]
fn bare_sockets_throughput_of_each_size() {
    for size in SCAN_SIZES {
        let (one, two) = both(
            &format!("-pub -peer 10.45.3.119 -nic eth0 -raw -noPrint -exec 20 -datalen {size} -batchSize 0"),
            &format!("-sub -peer 10.45.3.120 -nic eth0 -raw -noPrint -datalen {size}"),
        );
        assert_eq!((one.shared.sizes.as_slice(), one.shared.batch), (&[size][..], Batch::Off));
        assert!(one.local.raw_transport && two.local.raw_transport);
        assert_eq!((one.driver.as_str(), two.local.peers[0].address.as_str()), ("udp", "10.45.3.120"));
    }
}

#[test]
fn bare_sockets_latency_of_each_size() {
    for size in SCAN_SIZES {
        let (one, _) = both(
            &format!("-pub -peer 10.45.3.119 -nic eth0 -raw -noPrint -exec 20 -datalen {size} -latencyTest"),
            &format!("-sub -peer 10.45.3.120 -nic eth0 -raw -noPrint -datalen {size}"),
        );
        assert_eq!((one.shared.mode, one.shared.latency_count), (Mode::Latency, 1));
    }
}

#[test]
fn middleware_throughput_without_and_with_batches() {
    let subscriber = "-sub -nic eth0 -noPrint";
    let (one, _) = both("-pub -nic eth0 -noPrint -exec 20 -scan -batchSize 0", subscriber);
    assert_eq!((one.shared.sizes.as_slice(), one.shared.batch), (SCAN_SIZES.as_slice(), Batch::Off));
    assert_eq!((one.shared.latency_count, one.shared.reliable, one.local.domain), (10_000, true, 1));
    // The line of the smaller middleware has no -batchSize: the default batches.
    let (one, _) = both("-pub -nic eth0 -noPrint -exec 20 -scan", subscriber);
    assert_eq!(one.shared.batch, Batch::Bytes(8192));
    assert_eq!((one.shared.batch_bytes(4096), one.shared.batch_bytes(8192)), (Some(8192), None));
}

#[test]
fn middleware_latency() {
    let (one, _) = both("-pub -nic eth0 -noPrint -exec 20 -scan -latencyTest", "-sub -nic eth0 -noPrint");
    assert_eq!((one.shared.mode, one.shared.latency_count, one.shared.batch), (Mode::Latency, 1, Batch::Off));
}
