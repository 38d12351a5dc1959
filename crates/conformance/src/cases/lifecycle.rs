//! Cases on the description of a driver, on open and close, and on rejected arguments.

use std::collections::BTreeSet;

use driver_abi::{BAD_ARGUMENT, Status, TOO_LARGE, UNSUPPORTED};
use driver_host::{DriverError, ParticipantConfig, TypeKind};
use experiment::ReceiveMode;

use super::CaseSpec;
use crate::{
    CaseResult, broken,
    endpoint::{PairConfig, reader_config, writer_config},
    fixture::{Fixture, TIME_LIMIT, write},
    process_snapshot::ProcessSnapshot,
    sample::numbered,
};

/// Longest thread name that the kernel keeps, in bytes without the terminator.
const MAX_THREAD_NAME_BYTES: usize = 15;

/// Cases on the description of a driver, on open and close, and on rejected arguments.
pub const CASES: &[CaseSpec] = cases! {
    "describe" describe, "describe()" =>
        "the description is complete and consistent";
    "clean-close" clean_close, "1" =>
        "participant_close() leaves no thread except those in `kept_threads`, no descriptor and no shared memory; \
         a participant can be opened again";
    "bad-arguments" bad_arguments, "2, participant_open()" =>
        "an unknown transport, interface or option fails with DDSMARK_BAD_ARGUMENT and leaves nothing open";
    "undeclared-refused" undeclared_refused, "writer_open()" =>
        "a type, receive mode or batching that is not declared fails with DDSMARK_UNSUPPORTED";
    "too-large" too_large, "4, writer_open()" =>
        "a writer larger than the transport allows, and a sample larger than its writer allows, fail with \
         DDSMARK_TOO_LARGE";
    "error-text" error_text, "4" =>
        "after a failure last_error() returns what failed and why";
};

fn describe(fixture: &Fixture<'_>) -> CaseResult {
    let description = fixture.driver.description();
    for (name, text) in [
        ("name", &description.name),
        ("driver_version", &description.driver_version),
        ("middleware", &description.middleware),
        ("middleware_version", &description.middleware_version),
        ("licence", &description.licence),
    ] {
        fail_if!(text.trim().is_empty(), "`{name}` is empty");
    }
    let source = description.version_source.as_str();
    fail_if!(
        !["library", "headers", "kernel"].contains(&source),
        "`version_source` is `{source}`, not library, headers or kernel"
    );
    fail_if!(description.type_kinds.is_empty(), "no type is declared");
    let mut names = BTreeSet::new();
    for transport in &description.transports {
        fail_if!(
            transport.name.is_empty() || !names.insert(&transport.name),
            "transport `{}`: duplicate or empty name",
            transport.name
        );
        fail_if!(
            transport.max_payload_bytes == 0,
            "transport `{}`: the maximum payload is 0",
            transport.name
        );
    }
    let mut names = BTreeSet::new();
    for option in &description.options {
        fail_if!(
            option.name.is_empty() || option.help.is_empty() || !names.insert(&option.name),
            "option `{}`: duplicate name, empty name or empty help",
            option.name
        );
    }
    let mut names = BTreeSet::new();
    for name in &description.kept_threads {
        fail_if!(
            name.is_empty() || name.len() > MAX_THREAD_NAME_BYTES || !names.insert(name),
            "kept thread `{name}`: duplicate name, or not 1 to {MAX_THREAD_NAME_BYTES} bytes long"
        );
    }
    fail_if!(
        description.has("instances") && !description.type_kinds.iter().any(|kind| kind == "keyed"),
        "instances are declared, but no keyed type"
    );
    Ok(())
}

fn clean_close(fixture: &Fixture<'_>) -> CaseResult {
    let census = ProcessSnapshot::take();
    let description = fixture.driver.description();
    let mut kept = description.kept_threads.clone();
    let pair_config = fixture.pair_config(64);
    let mut rounds = vec![
        ("the first close".to_owned(), pair_config.mode),
        ("the second close".to_owned(), pair_config.mode),
    ];
    let others = description.receive_modes.iter().filter(|mode| **mode != pair_config.mode);
    rounds.extend(others.map(|mode| (format!("a close in mode `{}`", mode.name()), *mode)));
    for (round, mode) in rounds {
        let participant = fixture.open()?;
        let mut pair = fixture.pair(&participant, &PairConfig { mode, ..pair_config.clone() })?;
        write(&pair.writer, 0, &numbered(1, 64))?;
        pair.inlet.receive(1, TIME_LIMIT)?;
        pair.close()?;
        participant.close()?;
        if let Some(left) = census.left(fixture.name, &kept) {
            return broken(format!("after {round} remains: {left}"));
        }
        // a later close leaves at most the threads of the first
        let stayed = census.started();
        kept.retain(|name| stayed.contains(name));
    }
    Ok(())
}

/// Checks that the call failed with this status.
pub fn rejected<T>(what: &str, expected: Status, name: &str, result: Result<T, DriverError>) -> CaseResult {
    match result {
        Err(error) if error.status == expected => Ok(()),
        Err(error) => broken(format!("{what} failed with another status than {name}: {error}")),
        Ok(_) => broken(format!("{what} was accepted; expected {name}")),
    }
}

fn unknown_option(fixture: &Fixture<'_>) -> ParticipantConfig {
    let mut config = fixture.config();
    config.options.insert("ddsmark_no_such_option".to_owned(), "1".to_owned());
    config
}

fn bad_arguments(fixture: &Fixture<'_>) -> CaseResult {
    let census = ProcessSnapshot::take();
    let unknown = |config: ParticipantConfig, what: &str| {
        rejected(what, BAD_ARGUMENT, "DDSMARK_BAD_ARGUMENT", fixture.driver.open(&config))?;
        match census.left(fixture.name, &fixture.driver.description().kept_threads) {
            None => Ok(()),
            Some(left) => broken(format!("after {what} remains: {left}")),
        }
    };
    unknown(
        ParticipantConfig { transport: Some("nosuchtransport".into()), ..fixture.config() },
        "an unknown transport",
    )?;
    unknown(
        ParticipantConfig { interface: Some("nosuchif0".into()), ..fixture.config() },
        "an unknown interface",
    )?;
    unknown(unknown_option(fixture), "an unknown option")
}

fn undeclared_refused(fixture: &Fixture<'_>) -> CaseResult {
    let description = fixture.driver.description();
    let participant = fixture.open()?;
    let pair_config = fixture.pair_config(64);
    let mut interruptions = 0;
    let mut check = |what: &str, pair_config: &PairConfig, writes: bool| {
        interruptions += 1;
        let topic = fixture.topic();
        // called directly, because `Stop` hides the status of a failed open
        let result = if writes {
            participant.writer(&writer_config(&topic, pair_config)).map(drop)
        } else {
            let config = reader_config(&topic, pair_config);
            match pair_config.mode {
                ReceiveMode::Listener => participant.listening_reader(&config, (), |(), _| {}).map(drop),
                _ => participant.reader(&config).map(drop),
            }
        };
        rejected(what, UNSUPPORTED, "DDSMARK_UNSUPPORTED", result)
    };
    for (name, type_kind) in
        [("octets", TypeKind::Octets), ("keyed", TypeKind::Keyed), ("plain", TypeKind::Plain)]
    {
        if !description.type_kinds.iter().any(|kind| kind == name) {
            let pair_config = PairConfig { type_kind, ..pair_config.clone() };
            check(&format!("a writer of the undeclared type `{name}`"), &pair_config, true)?;
            check(&format!("a reader of the undeclared type `{name}`"), &pair_config, false)?;
        }
    }
    for mode in [ReceiveMode::Waitset, ReceiveMode::Polling, ReceiveMode::Listener] {
        if !fixture.receives_by(mode) {
            let pair_config = PairConfig { mode, ..pair_config.clone() };
            check(
                &format!("a reader with the undeclared receive mode `{}`", mode.name()),
                &pair_config,
                false,
            )?;
        }
    }
    if !batches(fixture) {
        check("undeclared batching", &PairConfig { batch_bytes: 4096, ..pair_config }, true)?;
    }
    skip_if!(interruptions == 0, "all types, receive modes and batching are declared");
    Ok(())
}

/// Returns whether the driver declares any kind of batching.
pub fn batches(fixture: &Fixture<'_>) -> bool {
    ["native_batching", "application_batching"]
        .iter()
        .any(|feature| fixture.driver.description().has(feature))
}

fn too_large(fixture: &Fixture<'_>) -> CaseResult {
    const NAME: &str = "DDSMARK_TOO_LARGE";
    let participant = fixture.open()?;
    if let Some(over) = fixture.largest().checked_add(1) {
        let pair_config = fixture.pair_config(over);
        let config = writer_config(&fixture.topic(), &pair_config);
        rejected("a writer larger than the transport allows", TOO_LARGE, NAME, participant.writer(&config))?;
    }
    let pair = fixture.pair(&participant, &fixture.pair_config(64))?;
    rejected(
        "a sample larger than its writer allows",
        TOO_LARGE,
        NAME,
        pair.writer.write(0, &numbered(1, 65)),
    )?;
    pair.close()
}

fn error_text(fixture: &Fixture<'_>) -> CaseResult {
    match fixture.driver.open(&unknown_option(fixture)) {
        Ok(_) => broken("an unknown option was accepted"),
        Err(error) if error.silent => broken("last_error() is empty after an unknown option"),
        Err(_) => Ok(()),
    }
}
