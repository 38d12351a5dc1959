//! Tests of every row of the table.

use std::collections::BTreeSet;

use perftest::{Edition, Generation, Honouring, Kind, OPTIONS, OptionRow, Part, Role, Roles, find};

use crate::{
    common::{DEFAULTS, UNSUPPORTED, options, parse, with_file},
    listed::{GUIDE_5_1, KEYS_5_1, RELEASE_4_3},
};

/// Options that ddsmark adds to a generation.
const ADDED: &[(&str, Generation)] = &[
    ("keyed", Generation::V5_1),
    ("executionTime", Generation::V5_1),
    ("scan", Generation::V4_3),
    ("driver", Generation::V5_1),
    ("driver", Generation::V4_3),
    ("compat", Generation::V5_1),
    ("compat", Generation::V4_3),
    ("ddsmark-out", Generation::V5_1),
    ("ddsmark-out", Generation::V4_3),
    ("ddsmark-numbers", Generation::V5_1),
    ("ddsmark-numbers", Generation::V4_3),
];

/// Calls a function for each option of each generation.
fn each(mut check: impl FnMut(&'static OptionRow, &'static Edition, Generation)) {
    let mut seen = 0;
    for generation in Generation::ALL {
        for row in OPTIONS.iter() {
            if let Some(edition) = row.edition(generation) {
                seen += 1;
                check(row, edition, generation);
            }
        }
    }
    assert!(seen > 150, "only {seen} options were looked at");
}

/// Returns valid values of an option, other than its default if it has others. `None`: without a value.
fn valid_values(row: &OptionRow, edition: &Edition, generation: Generation) -> Vec<Option<String>> {
    let numbers = || {
        let range = edition.range.expect("numbers have a range");
        let max = row.limit.map_or(range.max, |limit| range.max.min(limit.max));
        [range.min, range.min + 1, max]
            .map(|number| number.to_string())
            .into_iter()
            .chain(range.also.map(|n| n.to_string()))
    };
    let texts = |texts: &[&str]| texts.iter().map(|&text| Some(text.to_owned())).collect();
    match row.kind {
        Kind::Flag => vec![None],
        Kind::Integer(_) => numbers().map(Some).collect(),
        Kind::OptionalInteger(_) => numbers().map(Some).chain([None]).collect(),
        Kind::Sizes if generation == Generation::V5_1 => vec![None],
        Kind::Sizes => vec![None, Some("28".to_owned()), Some("32:64:63000".to_owned())],
        Kind::Rate => {
            numbers().flat_map(|n| [n.clone(), format!("{n}:spin"), format!("{n}:SLEEP")]).map(Some).collect()
        }
        Kind::Keys => numbers().take(3).chain(["3:5".to_owned()]).map(Some).collect(),
        Kind::Text(_) => texts(&["some-text"]),
        Kind::Choice(words) if row.name == "transport" => texts(&words[..4]),
        Kind::Choice(_) if row.name == "compat" => texts(&[generation.name()]),
        Kind::Choice(words) => texts(words),
        Kind::Period => texts(&["0:1", "1:0", "31536000:0"]),
        Kind::Priorities => texts(&["h:h:0", "50:50:0", "0:n:0", "0:0:0"]),
        Kind::Peer => texts(&["10.0.0.2", "10.0.0.2:1", "host", "[fd00::1]:2", "fd00::1"]),
    }
}

/// Returns values outside of the range.
fn invalid_values(row: &OptionRow, edition: &Edition) -> Vec<String> {
    let around = edition.range.map_or(Vec::new(), |range| {
        let below = range.min - 1;
        let below = if range.also == Some(below) { below - 1 } else { below };
        [Some(below), range.max.checked_add(1)]
            .into_iter()
            .flatten()
            .map(|number| number.to_string())
            .collect()
    });
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    match row.kind {
        Kind::Flag => Vec::new(),
        Kind::Integer(_) | Kind::OptionalInteger(_) | Kind::Keys | Kind::Sizes => around,
        Kind::Rate => around.into_iter().chain(texts(&["10:fast", ":spin", "10:spin:spin"])).collect(),
        Kind::Text(_) => texts(&["\u{7}"]),
        Kind::Choice(_) => texts(&["other"]),
        Kind::Period => texts(&["1", "0:-1", "0:1000000000", "31536000:1", "31536001:0"]),
        Kind::Priorities => texts(&["h:n", "h:n:l:l", "x:n:l", "100:0:0", "-1:0:0"]),
        Kind::Peer => texts(&[":1", "a:b", "[fd00::1", "udpv4://10.0.0.1", "4@10.0.0.1"]),
    }
}

/// Returns options that a value needs beside it.
fn companions(row: &OptionRow, role: Role) -> &'static str {
    match (row.name, role) {
        ("rawTransport", _) => "-peer 10.0.0.2",
        ("numIter", _) => "-latencyCount 1",
        ("latencyCount", _) => "-numIter 9223372036854775807",
        ("latencyFile", _) => "-latencyTest",
        ("threadPriorities", Role::Subscriber) => "-useReadThread",
        _ => match row.only_with {
            "" => "",
            "asynchronous" => "-asynchronous",
            "compressionId" => "-compressionId ZLIB",
            "crc" => "-crc",
            "enableMonitoring2" => "-enableMonitoring2",
            "networkCapture" => "-networkCapture",
            "noPositiveAcks" => "-noPositiveAcks",
            other => panic!("no words for `-{other}`"),
        },
    }
}

fn line(row: &OptionRow, value: Option<&str>, role: Role) -> String {
    let option = if row.name == role.option() { "" } else { row.name };
    let dash = if option.is_empty() { "" } else { "-" };
    let companions = companions(row, role);
    let (before, after) = if row.only_with.is_empty() { ("", companions) } else { (companions, "") };
    let value = value.unwrap_or_default();
    format!("-{} {before} {dash}{option} {value} {after}", role.option())
}

fn roles(edition: &Edition) -> Vec<Role> {
    [Role::Publisher, Role::Subscriber].into_iter().filter(|role| edition.roles.contains(*role)).collect()
}

#[test]
fn every_option_accepts_valid_values_or_rejects_them_with_a_reason() {
    each(|row, edition, generation| {
        for role in roles(edition) {
            for value in valid_values(row, edition, generation) {
                let line = line(row, value.as_deref(), role);
                let is_default = value.as_deref().is_some_and(|value| value == edition.default);
                match (row.honouring, parse(&line, generation)) {
                    (Honouring::Honoured(_), Ok((settings, _))) => assert_eq!(settings.role, role, "{line}"),
                    (Honouring::Rejected { .. }, Ok(_)) => {
                        assert!(is_default, "{line} of {generation} is accepted");
                    }
                    // The option that it needs is rejected for the same reason.
                    (Honouring::Rejected { .. }, Err(_)) if is_default && !row.only_with.is_empty() => {}
                    (Honouring::Rejected { reason, instead }, Err(error)) => {
                        assert!(!is_default, "{line} of {generation}: {error}");
                        let cause = error.cause.to_string();
                        assert_eq!(cause, format!("{UNSUPPORTED}{reason}"), "{line} of {generation}");
                        assert_eq!(error.hint(), instead, "{line} of {generation}");
                        assert!(!reason.is_empty() && !error.hint().is_empty());
                    }
                    (Honouring::Honoured(_), Err(error)) => panic!("{line} of {generation}: {error}"),
                }
            }
        }
    });
}

#[test]
fn every_option_rejects_values_outside_its_range() {
    let mut seen = 0;
    each(|row, edition, generation| {
        for value in invalid_values(row, edition) {
            if row.kind == Kind::Sizes && generation == Generation::V5_1 {
                continue;
            }
            seen += 1;
            // The value is one argument, also if it contains control characters.
            let name = format!("-{}", row.name);
            let parsed = perftest::CommandLine::parse(&[name.as_str(), &value], Some(generation.name()));
            let error = parsed.expect_err(&format!("{name} {value} of {generation}"));
            let cause = error.cause.to_string();
            let expected = ["is out of range", "is not valid"].contains(&cause.as_str());
            assert!(expected || cause.starts_with(UNSUPPORTED), "{error}");
            assert!(error.item.contains(row.name), "{error}");
        }
        if let Some(limit) = row.limit {
            let value = (limit.max + 1).to_string();
            let error = parse(&format!("-{} {value}", row.name), generation).expect_err("above the limit");
            assert!(error.cause.to_string().starts_with(UNSUPPORTED), "{error}");
        }
        let is_optional = matches!(row.kind, Kind::OptionalInteger(_) | Kind::Sizes);
        if row.kind.placeholder(generation).is_some() && !is_optional {
            let error = parse(&format!("-{} -pub", row.name), generation).expect_err("no value");
            assert_eq!(error.cause.to_string(), "has no value", "{error}");
        }
    });
    assert!(seen > 100, "only {seen} values");
}

#[test]
fn every_option_is_for_its_roles_only() {
    each(|row, edition, generation| {
        let role = match edition.roles {
            Roles::Both => return,
            Roles::Publisher => Role::Subscriber,
            Roles::Subscriber => Role::Publisher,
        };
        if matches!(row.name, "pub" | "sub") {
            return;
        }
        for value in valid_values(row, edition, generation) {
            let line = format!("-{} -{} {}", role.option(), row.name, value.unwrap_or_default());
            let (settings, warnings) =
                parse(&line, generation).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(options(&warnings), [row.name], "{line}");
            assert_eq!(
                settings.given(row.name),
                None,
                "{line}: what has no effect is not compared with the other side"
            );
        }
    });
}

#[test]
fn option_of_one_generation_is_rejected_by_the_other() {
    let mut seen = 0;
    for row in OPTIONS.iter() {
        for generation in Generation::ALL {
            if row.edition(generation).is_none() {
                seen += 1;
                let error = parse(&format!("-{}", row.name), generation).expect_err(row.name);
                let theirs = generation.other();
                let expected = format!("is an option of generation {theirs}, not of {generation}");
                assert_eq!(error.cause.to_string(), expected, "{}", row.name);
                assert!(error.hint().starts_with(row.instead), "{}", row.name);
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn every_option_of_the_guide_and_of_the_release_has_a_row() {
    let names = |generation| {
        let rows =
            OPTIONS.iter().filter(move |row| row.edition(generation).is_some_and(|edition| !edition.added));
        rows.map(|row| row.name).collect::<BTreeSet<_>>()
    };
    let listed = |list: &[&'static str]| list.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(names(Generation::V5_1), listed(GUIDE_5_1));
    let mut release = listed(RELEASE_4_3);
    release.remove("scan");
    assert_eq!(names(Generation::V4_3), release);
    let mut added = 0;
    each(|row, edition, generation| {
        assert_eq!(edition.added, ADDED.contains(&(row.name, generation)), "{} of {generation}", row.name);
        added += usize::from(edition.added);
    });
    assert_eq!(added, ADDED.len());
}

#[test]
fn every_key_of_the_guide_sets_its_option() {
    let keys: BTreeSet<&str> = OPTIONS.iter().flat_map(|row| row.ini).map(|key| key.name).collect();
    assert_eq!(keys, KEYS_5_1.iter().copied().collect());
    for row in OPTIONS.iter() {
        for key in row.ini {
            let edition = row.edition(Generation::V5_1).expect("keys are of 5.1");
            let role = roles(edition)[0];
            let value = match (key.part, row.kind) {
                (Part::Inverted, _) => "false".to_owned(),
                (Part::Whole, Kind::Flag | Kind::Sizes) => "true".to_owned(),
                (Part::Seconds | Part::Nanoseconds, _) => "1".to_owned(),
                (Part::Whole, _) => {
                    valid_values(row, edition, Generation::V5_1).pop().flatten().expect("a value")
                }
            };
            let line = format!("-{} {}", role.option(), companions(row, role));
            let file = format!("{} = {value}\n", key.name);
            match (row.honouring, with_file(&line, &file)) {
                (Honouring::Rejected { .. }, Err(error)) => {
                    assert!(error.cause.to_string().starts_with(UNSUPPORTED), "{file}{error}");
                }
                // The last value of some options is the default, which changes nothing.
                (_, Ok((settings, _))) => {
                    assert!(settings.given(row.name).is_some() || value == edition.default, "{file}");
                }
                (Honouring::Honoured(_), Err(error)) => panic!("{file}{error}"),
            }
        }
    }
}

#[test]
fn rows_are_complete_and_unique() {
    let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for row in OPTIONS.iter() {
        let all = std::iter::once(&row.name).chain(row.aliases);
        for name in all {
            assert!(names.insert(name.to_ascii_lowercase()), "{name} twice");
        }
        assert!(row.ini.iter().all(|key| keys.insert(key.name)), "{}", row.name);
        assert!(row.v5_1.is_some() || row.v4_3.is_some(), "{}", row.name);
        assert!(row.about.ends_with('.') && row.about.len() > 5, "{}", row.name);
        match row.honouring {
            Honouring::Honoured(effect) => assert!(effect.len() > 5, "{}", row.name),
            Honouring::Rejected { reason, instead } => {
                assert!(reason.len() > 5 && instead.len() > 5, "{}", row.name);
            }
        }
        assert!(std::ptr::eq(find(row.name).expect("a row"), *row));
    }
    each(|row, edition, generation| {
        if let (Ok(default), Some(range)) = (edition.default.parse(), edition.range) {
            assert!(range.contains(default), "default of {} of {generation}", row.name);
        }
    });
}

#[test]
fn defaults_of_the_command_line_are_settings_without_warnings() {
    for generation in Generation::ALL {
        for role in [Role::Publisher, Role::Subscriber] {
            let (settings, warnings) = parse(&format!("-{}", role.option()), generation).expect("defaults");
            assert_eq!((settings.role, settings.driver.as_str()), (role, DEFAULTS.driver));
            assert_eq!(warnings, []);
        }
    }
}
