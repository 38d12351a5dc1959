//! Tests of `perftest.ini`.

use perftest::{Generation, Receive, Source};

use crate::common::{options, quiet, text, with_file};

/// File with every key of the guide at its default.
const DEFAULTS: &str = "\
[perftest]
# comment
; comment
is reliable = true
data length = 100
is debug = false
durability = 0
domain = 1
enable shared memory = false
enable tcp only = false
instance hash buckets = -1
instances = 1
keep duration usec = 1000
is multicast = false
direct communication = true
use positive acks = true
print intervals = true
qos profile file = perftest.xml
use read thread = false
waitset delay usec = 100
waitset event count = 5
num publishers = 1
batch size = 0
heartbeat period sec = 0
heartbeat period nanosec = 0
fast heartbeat period sec = 0
fast heartbeat period nanosec = 0
latency count = -1
run latency test = false
num inter = 0
num subscribers = 1
scan = false
send queue size = 50
sleep millisec = 0
spin loop count = 0
";

#[test]
fn file_of_defaults_changes_nothing() {
    for line in ["-pub", "-sub"] {
        let (settings, warnings) = with_file(line, DEFAULTS).expect("defaults");
        assert_eq!(warnings, []);
        assert_eq!(settings, quiet(line, Generation::V5_1));
    }
}

#[test]
fn keys_set_their_options_also_inverted_ones() {
    let file = "\u{feff}Is  Reliable = FALSE\r\nprint intervals=false\r\ndata length = 200\r\nUSE READ THREAD = true\n\
                waitset delay usec = 50\nnum inter = 20000\nrun latency test = true\ninterface = eth0\nscan = false\n";
    let (settings, warnings) = with_file("-pub", file).expect("a file");
    assert_eq!(warnings, []);
    assert!(!settings.shared.reliable && !settings.local.output.intervals);
    assert_eq!((settings.shared.sizes.as_slice(), settings.shared.samples), (&[200][..], Some(20_000)));
    assert_eq!(settings.local.receive, Receive::ReadThread { group_samples: 5, group_us: 50 });
    let given = settings.given("dataLen").expect("given");
    assert_eq!(given.source, Source::File { path: "perftest.ini".into(), line: 3 });
}

#[test]
fn num_iter_is_the_same_key_as_num_inter() {
    for key in ["num inter", "num iter"] {
        let (settings, _) = with_file("-pub", &format!("{key} = 12345\n")).expect(key);
        assert_eq!(settings.shared.samples, Some(12_345), "{key}");
    }
}

#[test]
fn command_line_takes_precedence() {
    let file = "data length = 200\nis multicast = true\nis reliable = false\n";
    let (settings, warnings) = with_file("-pub -dataLen 300 -nomulticast", file).expect("a file");
    assert_eq!(warnings, []);
    assert_eq!(settings.shared.sizes, [300]);
    assert!(!settings.shared.multicast && !settings.shared.reliable);
    assert!(with_file("-pub", file).expect("a file").0.shared.multicast);
}

#[test]
fn keys_of_the_other_role_have_no_effect() {
    let file = "num inter = 20000\nbatch size = 6400\n";
    let (settings, warnings) = with_file("-sub", file).expect("a file");
    assert_eq!(warnings, []);
    assert!(settings.given("batchSize").is_none());
}

#[test]
fn rules_hold_for_files_too() {
    let (settings, warnings) = with_file("-pub -scan", "data length = 200\n").expect("a file");
    assert_eq!(options(&warnings), ["dataLen"]);
    assert_eq!(settings.shared.sizes.len(), 12);
}

#[test]
fn errors_of_files() {
    let errors: Vec<String> = [
        "data length = 20\n",
        "\ndata length = many\n",
        "# first\n\ndata lenght = 32\n",
        "pub = true\n",
        "qqq = 1\n",
        "data length 32\n",
        "data length = 32\ndata length = 64\n",
        "num inter = 20000\nnum iter = 20000\n",
        "is reliable = yes\n",
        "use positive acks = false\n",
        "heartbeat period sec = 1\n",
        "heartbeat period sec = 1\nfast heartbeat period sec = 2\n",
        "heartbeat period nanosec = 1000000000\n",
        "scan = true\nnum inter = 20000\n",
        "send queue size = 100000001\n",
        "interface =\n",
    ]
    .map(|file| text(&with_file("-pub", file).expect_err(file)))
    .to_vec();
    insta::assert_snapshot!(errors.join("\n"));
}
