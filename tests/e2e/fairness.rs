//! `docs/explain/fairness.md` names every setting that a driver changes by default. Each driver is measured tuned
//! and as shipped; the page must name each difference between the two.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use roxmltree::{Document, Node};
use serde_json::{Map, Value};

use crate::support::{Scene, drivers, list, root};

/// Drivers, each with the transports over which it is measured.
const DRIVERS: [(&str, &str); 4] = [
    ("udp", "\"udp4\""),
    ("tcp", "\"tcp4\""),
    ("cyclonedds", "\"udp4\""),
    ("fastdds", "[\"udp4\", \"tcp4\", \"shm\", \"data_sharing\"]"),
];
/// Setting that contains the text given to the middleware; its elements are compared.
const CONFIGURATION: &str = "configuration";
/// Heading of the section on all drivers.
const COMMON: &str = "The same on all";

const EXPERIMENT: &str = r#"
question = "What is left away?"
workload = "latency"
factors = { driver = "DRIVER", transport = TRANSPORT, size = 64, vendor_defaults = [false, true] }
design = { warm_up = "20ms", measure = "50ms" }
limits.match = "10s"
"#;

/// Heading of the section of a driver's README with the settings that the developers of its middleware advise.
const ADVICE: &str = "\n### What its developers advise\n";

type Names = BTreeSet<String>;

/// Returns the page, without the sections on other drivers.
fn page(driver: &str) -> String {
    let text = fs::read_to_string(root().join("docs/explain/fairness.md")).expect("the page");
    let sections = text.split("\n## ").filter(|section| {
        let title = section.lines().next().unwrap_or_default();
        title == COMMON || title == driver
    });
    let found: Vec<&str> = sections.collect();
    assert_eq!(found.len(), 2, "the page has a section of {driver}, and one of all");
    found.concat()
}

/// Returns the names that the page does not contain.
fn unnamed<'n>(names: &'n Names, page: &str) -> Vec<&'n String> {
    names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect()
}

/// Asserts that the page contains all names, and that the check detects the removal of each.
#[track_caller]
fn assert_named(driver: &str, names: &Names) {
    let page = page(driver);
    let missing = unnamed(names, &page);
    assert!(missing.is_empty(), "docs/explain/fairness.md does not say of {driver}: {missing:?}");
    for name in names {
        let without = page.replace(&format!("`{name}`"), "");
        assert_eq!(unnamed(names, &without), [name]);
    }
}

fn object(value: &Value, key: &str) -> Map<String, Value> {
    value[key].as_object().cloned().unwrap_or_default()
}

/// Returns the settings and effective policies in which two cells differ.
fn differing(one: &Value, other: &Value) -> Names {
    let mut names = Names::new();
    for group in ["settings", "effective_qos"] {
        let [one, other] = [one, other].map(|cell| object(cell, group));
        for entity in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
            let [one, other] = [&one, &other].map(|group| group.get(entity).cloned().unwrap_or_default());
            let keys = [&one, &other].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
            for name in keys.filter(|name| one[name.as_str()] != other[name.as_str()]) {
                if name == CONFIGURATION {
                    let [one, other] = [&one, &other]
                        .map(|entity| elements(entity[CONFIGURATION].as_str().unwrap_or_default()));
                    names.extend(one.symmetric_difference(&other).map(|(name, _)| name.clone()));
                } else {
                    names.insert(name.clone());
                }
            }
        }
    }
    names
}

/// Returns the settings of an XML document, by name and text: elements that contain text, lists, durations, and
/// properties. `<F></F>` is an empty section, `<B/>` is a setting. An empty text is a document without settings.
fn elements(xml: &str) -> BTreeSet<(String, String)> {
    if xml.is_empty() {
        return BTreeSet::new();
    }
    let document = Document::parse(xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    let is = |node: &Node<'_, '_>, names: &[&str]| names.iter().any(|name| node.has_tag_name(*name));
    let mut found = BTreeSet::new();
    for node in document.descendants().filter(Node::is_element) {
        let text = node.text().unwrap_or_default().trim();
        let sets = match node.first_element_child() {
            None => !text.is_empty() || xml[node.range()].ends_with("/>"),
            Some(child) => is(&child, &["sec", "element"]),
        };
        if is(&node, &["name"]) && text.contains('.') {
            found.insert((text.to_owned(), String::new()));
        } else if sets && !is(&node, &["name", "value", "element", "sec", "nanosec"]) {
            found.insert((node.tag_name().name().to_owned(), xml[node.range()].to_owned()));
        }
    }
    found
}

/// Returns the options that have a default of the driver's own.
fn options_with_defaults(scene: &Scene, driver: &str) -> Names {
    let file = drivers().join(format!("libddsmark_{driver}.so")).display().to_string();
    let info = scene.ddsmark(&["drivers", "info", &file]);
    info.assert_status(0);
    let (_, options) = info.stdout.split_once("\nOptions\n").expect("options");
    let (options, _) = options.split_once("\n\n").expect("policies behind them");
    let rows = options.lines().filter_map(|line| line.trim().split_once("  ")).skip(1);
    let own = rows.filter(|(_, default)| !default.trim_start().starts_with("the middleware's"));
    own.map(|(name, _)| name.to_owned()).collect()
}

/// Returns the advised settings of a driver: name and value of each.
fn advised(driver: &str) -> Vec<(String, String)> {
    let readme = fs::read_to_string(root().join(format!("drivers/{driver}/README.md"))).expect("its README");
    let Some((_, section)) = readme.split_once(ADVICE) else { return Vec::new() };
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| advice"));
    let rows = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    // `-`: the middleware does not say what it has.
    let rows = rows.filter_map(|row| Some((row.get(2)?.strip_prefix('`')?.strip_suffix('`')?, *row.get(3)?)));
    let rows: Vec<_> = rows.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    assert!(!rows.is_empty(), "{driver}: its section has no rows");
    rows
}

/// Returns the advised settings that a tuned cell has with another value, or that none has.
fn not_followed(advised: &[(String, String)], tuned: &[&Value]) -> Vec<String> {
    let of = |name: &str| -> Names {
        let entities = tuned.iter().flat_map(|cell| object(cell, "settings").into_values());
        let values = entities.filter_map(|entity| entity.get(name).cloned());
        values.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect()
    };
    let differs = advised.iter().filter(|(name, value)| of(name) != Names::from([value.clone()]));
    differs.map(|(name, value)| format!("`{name}` should be {value}, and is {:?}", of(name))).collect()
}

#[test]
fn page_on_fairness_names_every_default_of_a_driver() {
    let scene = Scene::new();
    for (driver, transport) in DRIVERS {
        let file = format!("{driver}.toml");
        let text = EXPERIMENT.replace("DRIVER", driver).replace("TRANSPORT", transport);
        fs::write(scene.path(&file), text).expect("a file");
        let outcome = scene.run_blocks_into(driver, &format!("./{file}"));
        let document = outcome.document();
        let cells = list(&document["cells"]);
        for run in cells.iter().flat_map(|cell| list(&cell["runs"])) {
            assert_eq!(run["state"], "valid", "{}: {run:#}", outcome.stderr);
        }
        let tuned: Vec<&Value> =
            cells.iter().filter(|cell| cell["factors"]["vendor_defaults"] != true).collect();
        let advice = advised(driver);
        assert_eq!(not_followed(&advice, &tuned), [""; 0], "{driver}");
        for (name, value) in &advice {
            let other = [(name.clone(), format!("{value}0"))];
            assert_eq!(not_followed(&other, &tuned).len(), 1, "{driver}: {name}");
        }
        let mut names = options_with_defaults(&scene, driver);
        let mut pairs = 0;
        for shipped in cells.iter().filter(|cell| cell["factors"]["vendor_defaults"] == true) {
            let id = shipped["id"].as_str().expect("an id");
            let tuned = cells.iter().find(|cell| cell["id"].as_str() == id.strip_suffix("/as-shipped"));
            let found = differing(tuned.expect("the same, tuned"), shipped);
            assert!(!found.is_empty(), "{id} is measured as it is tuned");
            names.extend(found);
            pairs += 1;
        }
        assert_eq!(2 * pairs, cells.len(), "{cells:?}");
        assert_named(driver, &names);
        let ids: Vec<&str> = cells.iter().filter_map(|cell| cell["id"].as_str()).collect();
        let of = |id: &str| format!("{driver}:{id}");
        let [tuned, shipped] = [ids[0], ids[1]].map(of);
        scene.ddsmark(&["compare", &shipped, &tuned, "--factor", "vendor_defaults"]).assert_status(0);
        scene.ddsmark(&["compare", &shipped, &tuned]).assert_status(2);
        let report = scene.ddsmark(&["report", driver, "--full"]);
        report.assert_status(0);
        let titles = report.stdout.lines().filter(|line| line.starts_with(&format!("{driver}: ")));
        assert_eq!(
            titles.filter(|title| title.contains(", as shipped,")).count(),
            pairs,
            "{}",
            report.stdout
        );
    }
}

/// The profile `shipped` leaves all policies to the middleware.
#[test]
fn shipped_qos_requests_nothing() {
    let scene = Scene::new();
    let flags = ["--qos", "shipped", "--vendor-defaults", "-s", "64", "--duration", "50ms", "--runs", "1"];
    let command =
        [&["latency", "-d", "cyclonedds,fastdds,udp", "-t", "udp4", "-o", "shipped"][..], &flags].concat();
    let outcome = scene.ddsmark(&command);
    outcome.assert_status(0);
    let result = fs::read_to_string(scene.path("shipped/result.json")).expect("a result");
    let document: Value = serde_json::from_str(&result).expect("a document");
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 3, "{}", outcome.stdout);
    for cell in cells {
        assert_eq!(cell["runs"][0]["state"], "valid", "{cell:#}");
        assert_eq!(object(&cell["factors"], "qos"), Map::new(), "{cell:#}");
        if cell["factors"]["driver"] == "udp" {
            continue;
        }
        let [writer, reader] = ["writer", "reader"].map(|end| cell["effective_qos"][end].clone());
        assert_eq!(
            (&writer["reliability"], &reader["reliability"]),
            (&"reliable".into(), &"best_effort".into())
        );
        assert_eq!((&reader["history"], &reader["history_depth"]), (&"keep_last".into(), &1.into()));
    }
}

/// Experiment whose traffic shows how large the messages of a middleware are.
const LARGE: &str = r#"
question = "How large are the messages?"
workload = "latency"
factors = { driver = "cyclonedds", transport = "udp4", size = 1000000, vendor_defaults = [false, true] }
design = { warm_up = "20ms", measure = "300ms" }
limits.match = "10s"
"#;

/// The message size is a setting that the middleware was given. What it does is seen in the packets of `lo`: their mean size,
/// which repairs do not change much, and acknowledgments reduce. In a network namespace of its own, because other tests send
/// small packets.
#[test]
fn packets_of_lo_have_the_message_sizes_that_are_reported() {
    /// IPv4 and UDP headers, and the Ethernet header that `lo` counts.
    const HEADERS: f64 = 42.0;
    let scene = Scene::new();
    fs::write(scene.path("large.toml"), LARGE).expect("a file");
    let script = "ip link set lo up; exec ddsmark run ./large.toml --json --no-reference --set design.noise_probe=false --set design.blocks=1";
    let outcome = scene.start("unshare", &["--map-root-user", "--net", "sh", "-ec", script]).end();
    let document = outcome.document();
    let mut seen = Vec::new();
    for cell in list(&document["cells"]) {
        let message = cell["settings"]["participant"]["max_message_size"].as_str().expect("a message size");
        let message: f64 = message.parse().expect("a number");
        for run in list(&cell["runs"]) {
            assert_eq!(run["state"], "valid", "{}: {run:#}", outcome.stderr);
            let wire = &run["wire"];
            assert_eq!(wire["interface"], "lo");
            let [bytes, packets] =
                ["tx_bytes", "tx_packets"].map(|name| wire[name].as_f64().expect("a number"));
            seen.push((message, bytes / packets));
        }
    }
    seen.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(as_shipped, small), (tuned, large)] = seen[..] else { panic!("two runs: {seen:?}") };
    assert_eq!((as_shipped, tuned), (14_720.0, 65_500.0));
    assert!(small <= as_shipped + HEADERS && large <= tuned + HEADERS, "{seen:?}");
    // No packet of the other form is as large.
    assert!(large > as_shipped + HEADERS, "{seen:?}");
}

/// Connext is not available everywhere: the test compares the documents that it would be given.
#[test]
fn page_on_fairness_names_every_default_for_connext() {
    let scene = Scene::new();
    let golden = |name: &str| -> PathBuf { root().join(format!("drivers/connext/tests/golden/{name}.xml")) };
    let of = |names: &[&str]| -> Names {
        let read = |path: &Path| fs::read_to_string(path).expect("a document");
        let all = names.iter().flat_map(|name| elements(&read(&golden(name))));
        all.map(|(name, _)| name).collect()
    };
    let tuned =
        of(&["participant-udp4", "participant-shm", "writer-tuned", "writer-batching", "reader-tuned"]);
    let shipped = of(&["participant-shipped", "writer-shipped", "reader-shipped"]);
    let mut names: Names = tuned.difference(&shipped).cloned().collect();
    assert!(
        names.contains("heartbeat_period") && names.contains("max_heartbeat_response_delay"),
        "{names:?}"
    );
    names.extend(options_with_defaults(&scene, "connext"));
    assert_named("connext", &names);
}

#[test]
fn elements_are_texts_lists_durations_and_properties() {
    let xml = "<A><B x=\"1\"/><C>2</C><D><sec>1</sec><nanosec>0</nanosec></D><E>\n<element>a</element></E><F></F>\
               <element><name>p.q</name><value>3</value></element></A>";
    let names: Vec<String> = elements(xml).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["B", "C", "D", "E", "p.q"]);
    assert_ne!(elements("<C>2</C>"), elements("<C>3</C>"));
    assert_ne!(elements("<B x=\"1\"/>"), elements("<B x=\"2\"/>"));
    assert_ne!(elements("<D><sec>1</sec></D>"), elements("<D><sec>2</sec></D>"));
    assert!(elements("").is_empty());
}
