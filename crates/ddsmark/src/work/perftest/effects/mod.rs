//! Tests of the effect of every option: what changes in a process and its plan if the option is given.
//!
//! [`words`] has the words for each option that is honoured. The snapshot lists what was observed to change: on the way from the
//! command line over the settings to the announcement of the process, the plan of the leader, the banner and the rows.

mod messages;
mod words;

use std::{fmt::Write as _, fs, path::Path};

use host::{LocalSite, Site as _};
use perftest::{
    Banner, CommandLine, Defaults, Generation, Honouring, IniFile, Kind, LatencyInterval, LatencyRow,
    OPTIONS, OptionRow, Role, Roles, Rows, Step, ThroughputInterval, ThroughputRow, banner, progress,
};
use runner::StopToken;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use self::words::{ALWAYS, GIVEN, IN_PROCESSES, PROFILES, Words, description};
use super::{
    Process,
    distances::Topology,
    experiment::TestExperiment,
    leader::result_directory,
    meeting::{Offered, announcement},
    printer::Printer,
};
use crate::work::drivers::Drivers;

/// Files that options name.
fn files() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in [("profiles.xml", PROFILES), ("data.bin", "some bytes of samples"), ("other.ini", "")]
    {
        fs::write(directory.path().join(name), text).expect("a file");
    }
    directory
}

/// Creates a process with these words, and adds its warnings.
fn process(
    words: &str,
    ini: Option<&str>,
    generation: Generation,
    seen: &mut Map<String, Value>,
) -> Result<Option<Process>, String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let rejected = |error: &perftest::PerftestError| format!("{error}; hint: {}", error.hint());
    let line = CommandLine::parse(&words, Some(generation.name())).map_err(|error| rejected(&error))?;
    if line.wants_help() {
        seen.insert("help".to_owned(), true.into());
        return Ok(None);
    }
    seen.insert("config file".to_owned(), line.config_file().map(|file| file.path).into());
    let ini = ini.map(|text| IniFile { path: "perftest.ini", text });
    let defaults = Defaults { driver: "dds", raw_drivers: ["udp", "tcp", "shm"] };
    let (settings, mut warnings) = line.settings(ini, &defaults).map_err(|error| rejected(&error))?;
    let name = settings.driver.clone();
    let mut adapted = settings.clone();
    let description = description(&name);
    warnings.extend(adapted.adapt(&description).map_err(|error| rejected(&error))?);
    seen.insert("warnings".to_owned(), warnings.iter().map(ToString::to_string).collect());
    let mut drivers = Drivers { names: vec![name.clone()], ..Drivers::default() };
    drivers.descriptions.insert(name.clone(), description);
    drivers.files.insert(name, "driver.so".into());
    let site = LocalSite::new("agent");
    let mut facts = site.facts().expect("facts");
    facts.host.name = "here".to_owned();
    facts.interfaces = Some(["lo", "eth0", "eth1"].map(str::to_owned).into());
    facts.addresses.clear();
    let made = Process::on_host(settings, drivers, site, facts, StopToken::new());
    made.map(Some).map_err(|error| format!("{}; hint: {}", error.text(), error.hint().unwrap_or_default()))
}

/// Returns the plan of a leader and a subscriber, as the leader makes it.
fn plan(leader: &Process, subscriber: &Process, seen: &mut Map<String, Value>) -> Result<Value, String> {
    let said = |error: &crate::cli::cli_error::CliError| error.text().to_owned();
    let topology = Topology {
        publishers: subscriber.settings.local.partners as usize,
        subscribers: leader.settings.local.partners as usize,
    };
    let driver = leader.settings.driver.as_str();
    let echoes = leader.description().echoes_probes_in_listener();
    let transport = leader.test_transport();
    let own = subscriber.own_part();
    let made = TestExperiment::new(
        &leader.settings,
        (driver, &transport),
        echoes,
        &vec![leader.publisher().expect("a publisher"); topology.publishers],
        &[&own],
        topology,
        leader.qos.as_ref(),
    );
    let experiment = made.map_err(|error| said(&error))?;
    seen.insert("notes".to_owned(), experiment.notes.clone().into());
    let intervals = leader.own_part().intervals;
    let plan = experiment.plan(leader, &leader.drivers.descriptions, &[], 1, intervals);
    let plan = plan.map_err(|error| said(&error))?;
    Ok(serde_json::to_value(plan).expect("JSON"))
}

/// Returns headings and rows as a process prints them.
fn rows(process: &Process) -> Value {
    let rows = Rows::new(&process.settings);
    let latency = LatencyRow {
        size: 100,
        samples: 20,
        ave_us: Some(20.0),
        std_us: Some(1.0),
        min_us: Some(10.0),
        max_us: Some(30.0),
        percentiles: [Some(20.0), None, None, None, None],
        unsupported: if rows.numbers {
            [None, Some(28.0), Some(30.0), Some(30.0), Some(30.0)]
        } else {
            [None; 5]
        },
        cpu_percent: Some(5.0),
    };
    let interval = LatencyInterval {
        size: 100,
        latency_us: 20.0,
        ave_us: 20.0,
        std_us: None,
        min_us: 10.0,
        max_us: 30.0,
        cpu_percent: None,
    };
    let throughput = ThroughputRow {
        size: 100,
        samples: 1000,
        samples_per_s: 10.0,
        mbps: 1.0,
        lost: None,
        lost_percent: None,
        cpu_percent: Some(5.0),
    };
    let during = ThroughputInterval {
        size: 100,
        samples: 1000,
        samples_per_s: 10.0,
        samples_per_s_ave: 10.0,
        mbps: 1.0,
        mbps_ave: 1.0,
        lost: None,
        lost_percent: None,
        cpu_percent: None,
    };
    match process.settings.role {
        Role::Publisher => json!({
            "summary heading": rows.heading::<LatencyRow>(0), "summary": rows.row(&latency),
            "interval": rows.row(&interval),
        }),
        Role::Subscriber => json!({
            "summary heading": rows.heading::<ThroughputRow>(0), "summary": rows.row(&throughput),
            "interval": rows.row(&during),
        }),
    }
}

/// Returns the labels of a banner with their values.
fn labels(text: &str) -> Value {
    let lines = text.lines().filter_map(|line| line.trim().split_once(": "));
    lines.map(|(label, value)| (label.to_owned(), Value::from(value))).collect::<Map<_, _>>().into()
}

/// Returns what is observed with these words.
fn observe(words: &str, generation: Generation) -> Value {
    let directory = files();
    let at = directory.path().display().to_string();
    let mut seen = Map::new();
    let ini = words.contains("INI").then_some("is multicast = true\n");
    let words = words.replace("INI", "").replace("DIR", &at);
    if let Err(error) = observe_process(&words, ini, generation, &mut seen) {
        seen.insert("error".to_owned(), error.into());
    }
    let made = fs::read_dir(directory.path()).expect("the directory");
    let mut made: Vec<String> =
        made.flatten().map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    made.sort();
    seen.insert("files".to_owned(), made.into());
    let text = Value::from(seen).to_string().replace(&at, "DIR");
    serde_json::from_str(&text).expect("JSON")
}

fn observe_process(
    words: &str,
    ini: Option<&str>,
    generation: Generation,
    seen: &mut Map<String, Value>,
) -> Result<(), String> {
    let role = if words.contains("-sub") { "" } else { "-pub" };
    let Some(process) = process(&format!("{role} {words}"), ini, generation, seen)? else { return Ok(()) };
    let announced = announcement(&process).map_err(|error| error.text().to_owned())?;
    let Offered { own, .. } = serde_json::from_value(announced.offer.clone()).expect("an offer");
    seen.insert("part".to_owned(), serde_json::to_value(own).expect("JSON"));
    seen.insert("partners".to_owned(), json!([announced.publishers, announced.subscribers]));
    let peers = process.control_participant(process.transport()).peers;
    seen.insert("discovery".to_owned(), json!(peers.iter().collect::<Vec<_>>()));
    seen.insert("role".to_owned(), json!([process.settings.role.option(), process.settings.local.id]));
    seen.insert("waits".to_owned(), progress(&process.settings, Step::Discover).into());
    let text = banner(&process.settings, &Banner { version: "0", middleware: "M", effective: &[] });
    seen.insert("banner".to_owned(), labels(&text));
    seen.insert("rows".to_owned(), rows(&process));
    drop(Printer::new(&process.settings).map_err(|error| error.text().to_owned())?);
    let (result, temporary) = result_directory(&process.settings).map_err(|error| error.text().to_owned())?;
    let result = if temporary.is_some() { "temporary".to_owned() } else { result.display().to_string() };
    seen.insert("result".to_owned(), result.into());
    let driver = match process.settings.local.raw_transport {
        true => "-rawTransport -peer 10.0.0.9".to_owned(),
        false => format!("-driver {}", process.settings.driver),
    };
    let other = match process.settings.role {
        Role::Publisher => format!("-sub {driver}"),
        Role::Subscriber => format!("-pub {driver} {}", if words.contains("-keyed") { "-keyed" } else { "" }),
    };
    let other = self::process(&other, None, generation, &mut Map::new())?.expect("a process");
    let (leader, subscriber) = match process.settings.role {
        Role::Publisher => (&process, &other),
        Role::Subscriber => (&other, &process),
    };
    let plan = plan(leader, subscriber, seen)?;
    seen.insert("plan".to_owned(), plan);
    Ok(())
}

/// Adds the differences of two values, one a line. A part that one of them lacks is one difference.
fn differences(before: &Value, after: &Value, path: &str, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                differences(&of(one), &of(other), &path, found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for place in 0..one.len().max(other.len()) {
                let of = |list: &[Value]| list.get(place).cloned().unwrap_or_default();
                differences(&of(one), &of(other), &format!("{path}[{place}]"), found);
            }
        }
        _ if before == after => {}
        _ => found.push(format!("{path}: {} -> {}", short(before), short(after))),
    }
}

/// Returns a value as text, abridged.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.replace('\n', " | "),
        other => other.to_string(),
    };
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Returns the newest generation that has an option.
fn generation(row: &OptionRow) -> Generation {
    if row.v4_3.is_some() { Generation::V4_3 } else { Generation::V5_1 }
}

/// Returns the words that give an option which is rejected, other than its default.
fn rejected_words(row: &OptionRow) -> Words {
    let edition = row.edition(generation(row)).expect("an edition");
    let number = edition
        .range
        .map(|range| if range.min.to_string() == edition.default { range.max } else { range.min });
    let value = match row.kind {
        Kind::Flag => String::new(),
        Kind::Period => "0:1000".to_owned(),
        Kind::Choice(words) => words.last().expect("a word").to_string(),
        _ => number.map_or_else(|| "text".to_owned(), |number| number.to_string()),
    };
    let base = if edition.roles == Roles::Subscriber { "-sub" } else { "" };
    let needed = match row.only_with {
        "" => String::new(),
        "compressionId" => "-compressionId ZLIB ".to_owned(),
        needed => format!("-{needed} "),
    };
    (row.name, base, format!("{needed}-{} {value}", row.name).leak())
}

/// Returns the differences that an option makes.
fn effect((_, base, words): Words, generation: Generation) -> Vec<String> {
    let mut found = Vec::new();
    let beside = if matches!(words, "-pub" | "-sub") { "" } else { base };
    differences(
        &observe(base, generation),
        &observe(&format!("{beside} {words}"), generation),
        "",
        &mut found,
    );
    // A process that ends at once has nothing else.
    let is_end = |line: &String| line.starts_with("error: ") || line.starts_with("help: ");
    if found.iter().any(is_end) {
        found.retain(is_end);
    }
    found
}

#[test]
fn every_option_has_the_effect_that_is_listed() {
    let mut list = String::new();
    for row in OPTIONS.iter() {
        let generation = generation(row);
        let given: Vec<Words> = match row.honouring {
            Honouring::Rejected { .. } => vec![rejected_words(row)],
            Honouring::Honoured(_) => {
                GIVEN.iter().filter(|(option, ..)| *option == row.name).copied().collect()
            }
        };
        assert!(!given.is_empty(), "`-{}` has no effect in the list", row.name);
        for words in given {
            let found = effect(words, generation);
            let (_, base, given) = words;
            let beside = if base.is_empty() { String::new() } else { format!(" beside {base}") };
            let _ = writeln!(list, "{given}{beside}");
            match row.honouring {
                Honouring::Rejected { reason, instead } => {
                    let error = format!("is not supported: {reason}; hint: {instead}");
                    let is_error = |line: &String| line.starts_with("error: ") && line.contains(&error[..40]);
                    assert!(found.iter().any(is_error), "{given}: {found:?}");
                    let _ = writeln!(list, "  rejected");
                    continue;
                }
                Honouring::Honoured(_) => {
                    let is_always = ALWAYS.contains(&row.name);
                    assert_eq!(found.is_empty(), is_always, "{given}: {found:?}");
                    // The banner says what is requested: it is not the effect.
                    let is_effect = |line: &&String| !line.starts_with("banner.");
                    let in_processes = IN_PROCESSES.iter().any(|(option, _)| *option == row.name);
                    let shown = found.iter().filter(is_effect).count() > 0;
                    let of_banner = row.name == "showResourceLimits";
                    assert!(
                        shown || in_processes || is_always || of_banner,
                        "{given} has no effect: {found:?}"
                    );
                }
            }
            for line in &found {
                // The loop of `-spin` is measured.
                let line = if row.name == "spin" { without_digits(line) } else { line.clone() };
                let _ = writeln!(list, "  {line}");
            }
            if found.is_empty() {
                let _ = writeln!(list, "  nothing: it is always so");
            }
        }
    }
    insta::assert_snapshot!(list);
}

fn without_digits(text: &str) -> String {
    let mut masked = text.replace(|digit: char| digit.is_ascii_digit(), "#");
    while masked.contains("##") {
        masked = masked.replace("##", "#");
    }
    // A rate below 1000 has decimals.
    masked.replace("#.#", "#")
}

#[test]
fn words_are_for_options_of_the_table() {
    for name in
        GIVEN.iter().map(|(name, ..)| name).chain(IN_PROCESSES.iter().map(|(name, _)| name)).chain(ALWAYS)
    {
        let row = OPTIONS.iter().find(|row| row.name == *name);
        assert!(matches!(row.map(|row| row.honouring), Some(Honouring::Honoured(_))), "{name}");
    }
}

#[test]
fn tests_with_real_processes_exist() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e");
    let files = fs::read_dir(directory).expect("the tests").flatten();
    let texts: String = files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    for (option, test) in IN_PROCESSES {
        assert!(texts.contains(&format!("fn {test}()")), "{option}: {test}");
        assert!(texts.contains(&format!("-{option}")) || *option == "checkConsistency", "{option}");
    }
}
