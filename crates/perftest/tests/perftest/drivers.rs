//! Tests of settings and the abilities of drivers.

use experiment::{DriverDescription, Policy, ReceiveMode};
use perftest::{Batch, Generation, Need, Receive};

use crate::common::{UNSUPPORTED, able, error as error_of, options, quiet, socket, text};

const NEW: Generation = Generation::V4_3;

/// Returns the error of a driver for a command line.
#[track_caller]
fn error(line: &str, driver: &DriverDescription) -> String {
    let error = quiet(line, NEW).adapt(driver).expect_err(line);
    assert!(error.cause.to_string().starts_with(UNSUPPORTED), "{error}");
    text(&error)
}

#[test]
fn able_driver_honours_everything() {
    let line = "-pub -keyed -instances 3 -asynchronous -multicast -durability 1 -keepLast -bestEffort -transport SHMEM \
                -useReadThread -receiveQueueSize 7 -enableTurboMode";
    let mut settings = quiet(line, NEW);
    let before = settings.clone();
    assert_eq!(settings.adapt(&able()), Ok(Vec::new()));
    assert_eq!(settings, before);
    assert_eq!(quiet("-sub -keyed -cft 3", NEW).adapt(&able()), Ok(Vec::new()));
    assert_eq!(quiet("-pub -zeroCopy", NEW).adapt(&able()), Ok(Vec::new()));
}

#[test]
fn missing_ability_is_an_error_that_names_the_option() {
    let without = |change: fn(&mut DriverDescription)| {
        let mut driver = able();
        change(&mut driver);
        driver
    };
    let without_feature = |name: &str| {
        let mut driver = able();
        driver.features.retain(|feature| feature != name);
        driver
    };
    let without_policy = |policy| {
        let mut driver = able();
        driver.policies.remove(&policy);
        driver
    };
    let errors = [
        error("-pub -batchSize 6400", &without_feature("native_batching")),
        error("-pub -enableTurboMode", &without_feature("native_batching")),
        error("-pub -keyed", &without(|driver| driver.type_kinds.clear())),
        error("-sub -keyed -cft 3", &without_feature("content_filter")),
        error("-pub -zeroCopy", &without_feature("writer_loans")),
        error("-asynchronous", &without_feature("async_write")),
        error("-multicast", &without_feature("multicast")),
        error("-useReadThread", &without(|driver| driver.receive_modes.clear())),
        error("-bestEffort", &without_policy(Policy::Reliability)),
        error("-durability 2", &without_policy(Policy::Durability)),
        error("-keepLast", &without_policy(Policy::History)),
        error("-sendQueueSize 30", &without_policy(Policy::ResourceLimits)),
        error("-receiveQueueSize 30", &without_policy(Policy::ResourceLimits)),
        error("-transport TCP", &without(|driver| driver.transports.truncate(3))),
        error("-domain 233", &able()),
        error("-pub -dataLen 70000", &without(|driver| driver.transports[0].max_payload_bytes = 65_507)),
        error("-pub -scan", &without(|driver| driver.transports[0].max_payload_bytes = 60_000)),
        error("-pub -raw -peer a", &able()),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn bare_sockets_need_their_option() {
    let error = error("-pub", &socket());
    assert!(error.contains("`-driver` is not supported: driver `socket` has bare sockets"), "{error}");
    assert!(error.contains("hint: add `-rawTransport`"), "{error}");
}

#[test]
fn defaults_that_a_driver_lacks_are_changed_with_a_warning() {
    let mut driver = able();
    driver.features.retain(|feature| feature != "native_batching");
    driver.policies.remove(&Policy::ResourceLimits);
    driver.receive_modes = vec![ReceiveMode::Waitset];
    let mut settings = quiet("-pub", NEW);
    assert_eq!((settings.shared.batch, settings.local.send_queue), (Batch::Bytes(8192), Some(50)));
    let warnings = settings.adapt(&driver).expect("defaults");
    assert_eq!(options(&warnings), ["batchSize", "sendQueueSize", "useReadThread"]);
    assert_eq!((settings.shared.batch, settings.local.send_queue), (Batch::Off, None));
    assert_eq!(settings.local.receive, Receive::ReadThread { group_samples: 1, group_us: 0 });
}

#[test]
fn bare_socket_takes_the_command_line_of_bare_sockets() {
    let mut settings = quiet("-pub -raw -peer a -dataLen 63000", NEW);
    assert_eq!(settings.adapt(&socket()), Ok(Vec::new()));
    assert_eq!((settings.shared.batch, settings.local.send_queue), (Batch::Off, None));
    for line in [
        "-pub -raw -peer a -batchSize 6400",
        "-pub -raw -peer a -multicast",
        "-pub -raw -peer a -durability 1",
    ] {
        error(line, &socket());
    }
}

#[test]
fn adopted_setting_that_a_driver_lacks_is_an_error() {
    let offer = quiet("-pub -keyed", NEW).offer();
    let mut subscriber = quiet("-sub", NEW);
    subscriber.adopt(&offer).expect("no options");
    assert!(subscriber.adapt(&socket()).is_err());
    assert!(subscriber.adapt(&able()).is_ok());
}

#[test]
fn every_need_can_be_missing() {
    for need in [
        Need::Batching,
        Need::KeyedType,
        Need::ContentFilter,
        Need::Loans,
        Need::AsyncWrite,
        Need::Multicast,
        Need::Durability,
        Need::ResourceLimits,
        Need::History,
    ] {
        assert_eq!(need.missing_in(&able()), None, "{need:?}");
        assert!(need.missing_in(&socket()).is_some(), "{need:?}");
    }
    assert!(Need::Sockets.missing_in(&able()).is_some() && Need::Sockets.missing_in(&socket()).is_none());
    error_of("-transport WAN", NEW);
}
