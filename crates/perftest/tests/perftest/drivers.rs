//! Tests of settings and the abilities of drivers.

use perftest::{Batch, DriverAbilities, Generation, Need, Receive};

use crate::common::{UNSUPPORTED, able, error as error_of, options, quiet, socket, text};

const NEW: Generation = Generation::V4_3;

/// Returns the error of a driver for a command line.
#[track_caller]
fn error(line: &str, driver: &DriverAbilities) -> String {
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
    let without = |change: fn(&mut DriverAbilities)| {
        let mut driver = able();
        change(&mut driver);
        driver
    };
    let errors = [
        error("-pub -batchSize 6400", &without(|driver| driver.batching = false)),
        error("-pub -enableTurboMode", &without(|driver| driver.batching = false)),
        error("-pub -keyed", &without(|driver| driver.keyed_type = false)),
        error("-sub -keyed -cft 3", &without(|driver| driver.content_filter = false)),
        error("-pub -zeroCopy", &without(|driver| driver.loans = false)),
        error("-asynchronous", &without(|driver| driver.async_write = false)),
        error("-multicast", &without(|driver| driver.multicast = false)),
        error("-useReadThread", &without(|driver| driver.waitset = false)),
        error("-bestEffort", &without(|driver| driver.reliability = false)),
        error("-durability 2", &without(|driver| driver.durability = false)),
        error("-keepLast", &without(|driver| driver.history = false)),
        error("-sendQueueSize 30", &without(|driver| driver.queue_limits = false)),
        error("-receiveQueueSize 30", &without(|driver| driver.queue_limits = false)),
        error("-transport TCP", &without(|driver| driver.transports.truncate(3))),
        error("-domain 200", &without(|driver| driver.domains = Some((1, 100)))),
        error("-pub -dataLen 70000", &without(|driver| driver.transports[0].1 = 65_507)),
        error("-pub -scan", &without(|driver| driver.transports[0].1 = 60_000)),
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
    (driver.batching, driver.queue_limits, driver.listener) = (false, false, false);
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
        assert_eq!(able().lacks(need), None, "{need:?}");
        assert!(socket().lacks(need).is_some(), "{need:?}");
    }
    assert!(able().lacks(Need::Sockets).is_some() && socket().lacks(Need::Sockets).is_none());
    error_of("-transport WAN", NEW);
}
