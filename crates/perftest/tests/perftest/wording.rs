//! Tests of messages for users of the command line.

use perftest::{Generation, Settings};

use crate::common::valid;

fn settings(line: &str, generation: Generation) -> Settings {
    valid(line, generation).0
}

#[test]
fn keys_become_the_options_that_the_user_typed() {
    let new = settings("-pub -sendQueueSize 50 -scan 32:64 -zeroCopy -keyed -instances 51", Generation::V4_3);
    for (text, expected) in [
        ("`send_queue = 50` has no room", "`-sendQueueSize 50` has no room"),
        ("remove `loans`", "remove `-zeroCopy`"),
        ("raise `measure`", "raise `-executionTime`"),
        ("`size = 28` of `udp4`", "`-scan 32:64` of `udp4`"),
        ("`transport = \"shm\"` and driver `a`", "`-transport shm` and driver `a`"),
        ("use more `factors.instances`", "use more `-instances 51`"),
        ("send_queue without a mark", "send_queue without a mark"),
    ] {
        assert_eq!(new.in_options(text), expected);
    }
    let old = settings("-pub -enableTcpOnly", Generation::V5_1);
    assert_eq!(old.in_options("no transport `transport`"), "no transport `-enableTcpOnly`");
    let old = settings("-pub", Generation::V5_1);
    assert_eq!(old.in_options("`transport`"), "`-enableSharedMemory`", "the first that this generation has");
}

#[test]
fn alternatives_that_no_option_offers_are_left_out_of_a_hint() {
    let settings = settings("-pub", Generation::V4_3);
    let hint = |text| settings.hint_in_options(text);
    assert_eq!(
        hint(
            "allow their traffic in the firewall, or set a longer `limits.match` in the experiment (`--match-timeout`)"
        ),
        Some("allow their traffic in the firewall".to_owned())
    );
    assert_eq!(hint("set the option `shm_segment_size`"), None);
    assert_eq!(
        hint("increase `send_queue`; see `ulimit -r`"),
        Some("increase `-sendQueueSize`; see `ulimit -r`".to_owned())
    );
    assert_eq!(hint("use `--set design.pin=none`"), None);
}
