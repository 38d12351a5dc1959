//! Case on multicast.

use std::{fs, time::Duration};

use driver_abi::{FEATURE_MULTICAST, UNSUPPORTED};
use driver_host::ParticipantConfig;

use crate::{
    CaseResult, Stop, broken,
    cases::CaseSpec,
    fixture::{Fixture, write_all},
    not_applicable,
};

/// Cases on multicast.
pub const CASES: &[CaseSpec] = cases! {
    "multicast" multicast, "participant_open(), participant_settings()" =>
        "multicast fails with DDSMARK_UNSUPPORTED if it is not declared, or if the transport or interface lacks it; \
         else samples arrive, and the setting `multicast` is `on` only if requested and if the kernel sends multicast";
};

const SIZE: usize = 1_000;
const COUNT: u64 = 50;

fn multicast(fixture: &Fixture<'_>) -> CaseResult {
    let requested = ParticipantConfig { multicast: true, ..fixture.config() };
    if !fixture.driver.has(FEATURE_MULTICAST) {
        return match fixture.driver.open(&requested) {
            Err(error) if error.status == UNSUPPORTED => Ok(()),
            Err(error) => broken(format!(
                "undeclared multicast failed with another status than DDSMARK_UNSUPPORTED: {error}"
            )),
            Ok(_) => broken("undeclared multicast was accepted"),
        };
    }
    reported_setting(fixture, &fixture.config(), "on", "not requested")?;

    let participant = match fixture.driver.open(&requested) {
        // the transport or the interface may not support it
        Err(error) if error.status == UNSUPPORTED => return not_applicable(error.to_string()),
        other => other?,
    };
    let mut pair = fixture.pair(&participant, &fixture.pair_config(SIZE as u64))?;
    let before = sent_by_multicast();
    write_all(&pair.writer, 0..COUNT, SIZE)?;
    pair.writer.flush()?;
    let arrived = pair.inlet.receive(COUNT as usize, Duration::from_secs(2))?.len();
    fail_if!(arrived as u64 != COUNT, "{arrived} of {COUNT} samples arrived by multicast");
    let sent = before.zip(sent_by_multicast()).map(|(before, after)| after.saturating_sub(before));
    pair.close()?;
    drop(participant);

    let payload = COUNT * SIZE as u64;
    match (reported_setting(fixture, &requested, "off", "requested")?.as_str(), sent) {
        ("on", Some(sent)) if sent < payload => broken(format!(
            "the setting `multicast` is `on`, but the kernel sent {sent} of {payload} B by multicast"
        )),
        _ => Ok(()),
    }
}

/// Returns the setting `multicast`; fails the case if it is `contrary`.
fn reported_setting(
    fixture: &Fixture<'_>,
    config: &ParticipantConfig,
    contrary: &str,
    requested: &str,
) -> Result<String, Stop> {
    let settings = fixture.driver.open(config)?.settings()?;
    match settings.get("multicast").map(String::as_str) {
        Some(reported @ ("on" | "off" | "unknown")) if reported != contrary => Ok(reported.to_owned()),
        Some(reported) => {
            broken(format!("multicast was {requested}, but the setting `multicast` is `{reported}`"))
        }
        None => broken("multicast is declared, but the settings of the participant lack `multicast`"),
    }
}

/// Returns the bytes that all processes of this network namespace have sent by multicast, over IPv4 and IPv6;
/// `None` if the kernel does not report them.
fn sent_by_multicast() -> Option<u64> {
    let netstat = fs::read_to_string("/proc/self/net/netstat").ok()?;
    let mut lines = netstat.lines().filter_map(|line| line.strip_prefix("IpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|name| name == "OutMcastOctets")?;
    let over4: u64 = values.split_whitespace().nth(place)?.parse().ok()?;
    let snmp6 = fs::read_to_string("/proc/self/net/snmp6").unwrap_or_default();
    let over6 = snmp6.lines().find_map(|line| line.strip_prefix("Ip6OutMcastOctets"));
    Some(over4 + over6.and_then(|value| value.trim().parse().ok()).unwrap_or(0))
}
