//! Command line of `ddsmark perftest`: settings are within bounds and can be offered, or the error has a hint.

use perftest::{
    Banner, CommandLine, Defaults, Generation, Json, JsonContext, Offer, Settings, Step, banner, help,
    progress,
};

const DEFAULTS: Defaults<'static> = Defaults { driver: "dds", raw_drivers: ["udp", "tcp", "shm"] };

pub fn run(input: &[u8]) {
    // first line: the generation; other lines: one argument each
    let Ok(input) = std::str::from_utf8(input) else { return };
    let mut lines = input.lines();
    let compat = lines.next();
    let arguments: Vec<&str> = lines.collect();
    let parsed = CommandLine::parse(&arguments, compat).and_then(|line| {
        if line.wants_help() {
            assert!(!help(line.generation(), line.given_role(), "perftest", "dds").is_empty());
        }
        line.settings(None, &DEFAULTS)
    });
    match parsed {
        Ok((settings, warnings)) => {
            assert!(warnings.iter().all(|warning| !warning.to_string().is_empty()));
            check(&settings);
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}

fn check(settings: &Settings) {
    let offer = settings.offer();
    offer.check().expect("a publisher offers valid settings");
    let text = serde_json::to_string(&offer).expect("an offer is JSON");
    let again: Offer = serde_json::from_str(&text).expect("what was sent is understood");
    assert_eq!(again, offer);
    let subscriber = CommandLine::parse(&["-sub"], Some(Generation::V4_3.name())).expect("a subscriber");
    let (mut subscriber, _) = subscriber.settings(None, &DEFAULTS).expect("a subscriber");
    subscriber.adopt(&offer).expect("without options nothing disagrees");
    assert!(settings.shared.initial_burst.is_none_or(|samples| samples <= 1_000_000));
    for size in &settings.shared.sizes {
        assert!(settings.shared.payload_bytes(*size, false) <= *size);
        assert!(settings.shared.samples_per_ping(*size) >= 1);
    }
    let pacing = &settings.local.pacing;
    assert!([pacing.samples_per_s, pacing.bits_per_s].iter().flatten().all(|rate| rate.per_second > 0));
    let text = banner(settings, &Banner { version: "0", middleware: "m", effective: &[] });
    assert!(text.contains("Perftest Configuration:") && !progress(settings, Step::Discover).is_empty());
    let json = Json::default().document(settings, &JsonContext::default());
    serde_json::from_str::<serde_json::Value>(&json).expect("valid JSON");
}
