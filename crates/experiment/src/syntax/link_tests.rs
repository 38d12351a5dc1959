use proptest::prelude::*;

use super::*;

fn link(rate: Option<u64>, delay_ns: u64, loss_ppm: u32) -> LinkSpec {
    LinkSpec { rate_bit_per_s: rate, delay_ns, loss_ppm, mtu_bytes: 1_500 }
}

#[test]
fn specs_have_the_units_of_tc() {
    let full = link(Some(100_000_000), 1_000_000, 1_000);
    for (text, expected) in [
        ("4", LabSpec { hosts: 4, link: LinkSpec::default() }),
        ("4,rate=100mbit,delay=1ms,loss=0.1%", LabSpec { hosts: 4, link: full }),
        (" 4 , loss = 0.1 % , rate = 0.1gbit , delay = 1000us ", LabSpec { hosts: 4, link: full }),
        ("200,rate=2.5Gbit", LabSpec { hosts: 200, link: link(Some(2_500_000_000), 0, 0) }),
        ("2,delay=1.5ms", LabSpec { hosts: 2, link: link(None, 1_500_000, 0) }),
        ("2,delay=10s,loss=100%", LabSpec { hosts: 2, link: link(None, 10_000_000_000, 1_000_000) }),
        ("2,delay=0,loss=0%", LabSpec { hosts: 2, link: LinkSpec::default() }),
        ("lab:4", LabSpec { hosts: 4, link: LinkSpec::default() }),
        (" lab:4,rate=100mbit,delay=1ms,loss=0.1%,mtu=1500", LabSpec { hosts: 4, link: full }),
        ("2,mtu = 9000", LabSpec { hosts: 2, link: LinkSpec { mtu_bytes: 9_000, ..LinkSpec::default() } }),
        ("2,loss=0.0001%,rate=10kbit", LabSpec { hosts: 2, link: link(Some(10_000), 0, 1) }),
    ] {
        assert_eq!(text.parse(), Ok(expected), "{text}");
    }
    let printed = LabSpec { hosts: 4, link: full }.to_string();
    assert_eq!(printed, "lab:4,rate=100mbit,delay=1ms,loss=0.1%");
    assert_eq!(LinkSpec { mtu_bytes: 1_280, ..LinkSpec::default() }.to_string(), "mtu=1280");
    assert_eq!(link(Some(1_500_000), 1_500, 10_001).to_string(), "rate=1500kbit,delay=1500ns,loss=1.0001%");
    assert_eq!((LinkSpec::default().to_string(), "".parse()), (String::new(), Ok(LinkSpec::default())));
}

#[test]
fn invalid_specs_name_the_part_and_the_next_step() {
    for (spec, error, hint) in [
        ("", "invalid number of hosts ``", "2 to 200"),
        ("1", "invalid number of hosts `1`", "2 to 200"),
        ("201", "invalid number of hosts `201`", "2 to 200"),
        ("+4", "invalid number of hosts `+4`", "2 to 200"),
        ("rate=1mbit", "invalid number of hosts `rate=1mbit`", "2 to 200"),
        ("4,", "unknown property of a link: ``", "rate, delay, loss, mtu"),
        ("4,,rate=1mbit", "unknown property of a link: ``", "rate, delay, loss, mtu"),
        ("4,speed=1mbit", "unknown property of a link: `speed=1mbit`", "rate, delay, loss, mtu"),
        ("4,delay", "unknown property of a link: `delay`", "rate, delay, loss, mtu"),
        ("4,delay=1ms,delay=2ms", "`delay` is given twice", "remove one `delay`"),
        ("4,rate=100", "invalid rate `100`", "`100mbit`"),
        ("4,rate=100mbps", "invalid rate `100mbps`", "bits per second"),
        ("4,rate=100Mbit/s", "invalid rate `100Mbit/s`", "bits per second"),
        ("4,rate=-1mbit", "invalid rate `-1mbit`", "10kbit"),
        ("4,rate=0mbit", "invalid rate `0mbit`", "10kbit"),
        ("4,rate=101gbit", "invalid rate `101gbit`", "100gbit"),
        ("4,rate=10000.5bit", "invalid rate `10000.5bit`", "100gbit"),
        ("4,rate=1.mbit", "invalid rate `1.mbit`", "100gbit"),
        ("4,delay=1", "invalid delay `1`", "with its unit"),
        ("4,delay=11s", "invalid delay `11s`", "at most 10s"),
        ("4,delay=0.1ns", "invalid delay `0.1ns`", "at most 10s"),
        ("lab:lab:4", "invalid number of hosts `lab:4`", "2 to 200"),
        ("4,mtu=1279", "invalid MTU `1279`", "1280 to 9000"),
        ("4,mtu=9001", "invalid MTU `9001`", "1280 to 9000"),
        ("4,mtu=1500B", "invalid MTU `1500B`", "without a unit"),
        ("4,mtu=1500,mtu=1500", "`mtu` is given twice", "remove one `mtu`"),
        ("4,loss=1", "invalid loss `1`", "`0.1%`"),
        ("4,loss=100.1%", "invalid loss `100.1%`", "100%"),
        ("4,loss=0.00001%", "invalid loss `0.00001%`", "four decimals"),
    ] {
        let found = spec.parse::<LabSpec>().expect_err(spec);
        assert_eq!(found.to_string(), error, "{spec}");
        assert!(found.hint().contains(hint), "{spec}: {}", found.hint());
    }
}

proptest! {
    #[test]
    fn printed_spec_is_the_same_spec(
        hosts in MIN_HOSTS..=MAX_HOSTS,
        rate in proptest::option::of(MIN_RATE..=MAX_RATE),
        delay_ns in prop_oneof![0..=MAX_DELAY_NS, (0..=10_000_u64).prop_map(|ms| ms * 1_000_000)],
        loss_ppm in 0..=1_000_000_u32,
        mtu_bytes in MIN_MTU..=MAX_MTU,
    ) {
        let spec = LabSpec { hosts, link: LinkSpec { mtu_bytes, ..link(rate, delay_ns, loss_ppm) } };
        prop_assert_eq!(spec.to_string().parse(), Ok(spec));
        prop_assert_eq!(spec.link.to_string().parse(), Ok(spec.link));
    }

    #[test]
    fn any_text_parses_without_panic(text in "\\PC{0,24}", near in "(lab:)?[0-9]{1,3},?(rate|delay|loss|mtu)?=?[0-9.]{0,24}(m|k|g|µ)?(bit|s|%)?") {
        let _ = text.parse::<LabSpec>();
        let _ = near.parse::<LabSpec>();
    }

    #[test]
    fn decimals_are_exact(ppm in 0..=1_000_000_u32) {
        let text = format!("{}.{:04}%", ppm / 10_000, ppm % 10_000);
        prop_assert_eq!(LinkSpec::parse_loss(&text), Ok(ppm));
    }
}
