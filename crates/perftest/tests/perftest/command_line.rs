//! Tests of values on the command line.

use std::net::IpAddr;

use experiment::{KeyFilter, ThreadPriorities};
use perftest::{
    COMPAT_VARIABLE, CommandLine, ConfigFile, Generation, Nic, Peer, Rate, Role, SCAN_SIZES, Source,
    WaitMethod, driver_of_program,
};

use crate::common::{DEFAULTS, error, options, quiet, text, valid, words};

const NEW: Generation = Generation::V4_3;

#[test]
fn values_of_each_kind_become_settings() {
    let line = "-pub -dataLen 64 -scan 32:64:128 -pubRate 1000:sleep -threadPriorities h:L:0 -peer a -peer 10.0.0.2:3 \
                -nic eth0 -unbounded -domain 7 -outputFormat LEGACY";
    let (settings, warnings) = valid(line, NEW);
    assert_eq!(options(&warnings), ["dataLen"]);
    assert_eq!(settings.shared.sizes, [32, 64, 128]);
    let rate = Rate { per_second: 1000, method: WaitMethod::Sleep };
    assert_eq!(settings.local.pacing.samples_per_s, Some(rate));
    assert_eq!(settings.local.priorities, Some(ThreadPriorities { main: 99, receive: 1 }));
    let peer = |address: &str, number| Peer { address: address.to_owned(), number };
    assert_eq!(settings.local.peers, [peer("a", None), peer("10.0.0.2", Some(3))]);
    assert_eq!(settings.local.nic, Some(Nic::Name("eth0".to_owned())));
    assert_eq!(settings.local.domain, 7);
    assert_eq!(settings.given("unbounded").map(|given| given.value.as_str()), Some("true"));
    assert_eq!(settings.given("outputFormat").map(|given| given.value.as_str()), Some("legacy"));
    assert_eq!(settings.given("domain").map(|given| &given.source), Some(&Source::CommandLine));
    assert!(settings.given("numIter").is_none());
}

#[test]
fn interface_is_a_name_or_an_address() {
    let address: IpAddr = "192.168.1.7".parse().unwrap();
    assert_eq!(quiet("-nic 192.168.1.7", NEW).local.nic, Some(Nic::Address(address)));
    assert_eq!(quiet("-allowInterfaces eth1", NEW).local.nic, Some(Nic::Name("eth1".to_owned())));
}

#[test]
fn optional_values_can_be_left_out() {
    assert_eq!(quiet("-pub -scan -exec 1", NEW).shared.sizes, SCAN_SIZES);
    assert_eq!(quiet("-pub -scan", NEW).shared.sizes, SCAN_SIZES);
    assert!(quiet("-unbounded 1000 -sub", NEW).given("unbounded").is_some());
    // Generation 5.1 has no lists.
    insta::assert_snapshot!(text(&error("-pub -scan 32:64", Generation::V5_1)), @"
    error: command line: `32:64` is not an option
    hint: an option begins with one `-`, and has at most one value
    ");
}

#[test]
fn content_filter_has_one_key_or_a_range() {
    let filter = |line| quiet(line, NEW).local.filter;
    assert_eq!(filter("-sub -keyed -cft 3"), Some(KeyFilter { first: 3, last: 3 }));
    assert_eq!(filter("-sub -keyed -cft 3:9"), Some(KeyFilter { first: 3, last: 9 }));
}

#[test]
fn errors_of_values() {
    let errors: Vec<String> = [
        "-pub -dataLen 20",
        "-pub -dataLen 1e6",
        "-pub -dataLen",
        "-pub -dataLen -noPrint",
        "-pub -pubRate 1000:fast",
        "-pub -scan 32:16",
        "-sub -cft 9:3",
        "-transport tls",
        "-transport carrier",
        "-outputFormat xml",
        "-peer udpv4://10.0.0.2",
        "-instances 100001",
        "-threadPriorities h:n",
        "-dynamicData",
        "-secureLibrary lib",
        "-pub -sub",
    ]
    .map(|line| text(&error(line, NEW)))
    .to_vec();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn last_of_two_values_applies_with_a_warning() {
    let (settings, warnings) = valid("-pub -dataLen 64 -dataLen 128 -pub", NEW);
    assert_eq!(settings.shared.sizes, [128]);
    assert_eq!(options(&warnings), ["dataLen"]);
    quiet("-pub -dataLen 64 -dataLen 64", NEW);
}

#[test]
fn generation_is_that_of_the_option_then_of_the_variable() {
    let generation =
        |line: &str, variable| CommandLine::parse(&words(line), variable).map(|line| line.generation());
    assert_eq!(generation("", None), Ok(Generation::V4_3));
    assert_eq!(generation("", Some("")), Ok(Generation::V4_3));
    assert_eq!(generation("", Some("5.1")), Ok(Generation::V5_1));
    assert_eq!(generation("-pub -compat 4.3", Some("5.1")), Ok(Generation::V4_3));
    // The generation decides about options before it, too.
    assert_eq!(generation("-enableTcpOnly -COMPAT 5.1", None), Ok(Generation::V5_1));
    let errors: Vec<String> = [("-compat 6", None), ("-compat", None), ("", Some("6")), ("-compa 5.1", None)]
        .map(|(line, variable)| text(&generation(line, variable).unwrap_err()))
        .to_vec();
    insta::assert_snapshot!(errors.join("\n"));
    assert_eq!(COMPAT_VARIABLE, "DDSMARK_PERFTEST_COMPAT");
}

#[test]
fn help_role_and_file_are_known_before_the_settings() {
    let line = |line: &str, compat| CommandLine::parse(&words(line), Some(compat)).unwrap();
    assert!(line("-h -pub", "4.3").wants_help() && !line("-pub", "4.3").wants_help());
    assert_eq!(line("-h -pub", "4.3").given_role(), Some(Role::Publisher));
    assert_eq!(line("-h -sub", "4.3").given_role(), Some(Role::Subscriber));
    assert_eq!(line("-h", "4.3").given_role(), None);
    assert_eq!(line("", "4.3").config_file(), None);
    let file = |path: &str, required| Some(ConfigFile { path: path.to_owned(), required });
    assert_eq!(line("", "5.1").config_file(), file("perftest.ini", false));
    assert_eq!(line("-configfile mine.ini", "5.1").config_file(), file("mine.ini", true));
}

#[test]
fn driver_is_that_of_the_option_or_the_default() {
    let driver = |line| quiet(line, NEW).driver;
    assert_eq!(driver("-pub"), DEFAULTS.driver);
    assert_eq!(driver("-pub -driver other@2"), "other@2");
    assert_eq!(driver("-pub -raw -peer a"), "udp");
    assert_eq!(driver("-pub -raw -peer a -transport UDPv6"), "udp");
    assert_eq!(driver("-pub -raw -peer a -transport SHMEM"), "shm");
    assert_eq!(driver("-pub -raw -peer a -transport TCP"), "tcp");
    assert_eq!(driver("-pub -raw -peer a -driver tcp"), "tcp");
    assert_eq!(driver_of_program("/usr/bin/perftest_udp"), Some("udp"));
    for program in ["perftest_cpp", "bin/perftest_cpp_micro", "perftest_java", "ddsmark", "perftest_", ""] {
        assert_eq!(driver_of_program(program), None, "{program}");
    }
}

#[test]
fn without_a_role_a_process_subscribes() {
    assert_eq!(quiet("", NEW).role, Role::Subscriber);
    assert_eq!(quiet("-noPrint", Generation::V5_1).role, Role::Subscriber);
}
