//! Frozen schemas: files of a tagged version stay valid. Each tag has a copy of the schemas in `schemas/frozen/TAG`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value, json};

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the tags that have a copy.
fn copies() -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(schemas().join("frozen")) else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn names(schema: &Map<String, Value>, key: &str) -> BTreeSet<String> {
    let list = schema.get(key).and_then(Value::as_array).into_iter().flatten();
    list.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect()
}

/// Collects the differences that break files of the frozen version, or programs that read such files: a field or a
/// value that is gone, another type, and a new field without which a file does not load.
fn broken(frozen: &Value, live: &Value, at: &str, found: &mut Vec<String>) {
    let (Value::Object(old), Value::Object(new)) = (frozen, live) else {
        if frozen != live {
            found.push(format!("{at}: {frozen} became {live}"));
        }
        return;
    };
    for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
        let inner = format!("{at}/{key}");
        match (key.as_str(), old.get(key), new.get(key)) {
            ("description" | "title" | "default", ..) => {}
            ("required", ..) => {
                let (before, after) = (names(old, key), names(new, key));
                found.extend(before.symmetric_difference(&after).map(|name| format!("{inner}: {name}")));
            }
            ("enum", Some(_), Some(_)) => {
                let (before, after) = (names(old, key), names(new, key));
                found.extend(before.difference(&after).map(|name| format!("{inner}: {name} is gone")));
            }
            // alternatives may be added, and are told apart by their content
            ("oneOf" | "anyOf", Some(Value::Array(before)), Some(Value::Array(after))) => {
                for (number, alternative) in before.iter().enumerate() {
                    let accepts = |other: &Value| {
                        let mut differences = Vec::new();
                        broken(alternative, other, &inner, &mut differences);
                        differences.is_empty()
                    };
                    if !after.iter().any(accepts) {
                        found.push(format!("{inner}/{number} is gone"));
                    }
                }
            }
            ("properties" | "$defs", Some(Value::Object(before)), Some(Value::Object(after))) => {
                for (name, value) in before {
                    match after.get(name) {
                        Some(other) => broken(value, other, &format!("{inner}/{name}"), found),
                        None => found.push(format!("{inner}/{name} is gone")),
                    }
                }
            }
            // absent from one of them
            ("properties" | "$defs", None, _) => {}
            (_, Some(before), Some(after)) => broken(before, after, &inner, found),
            (_, before, after) => found.push(format!("{inner}: {before:?} became {after:?}")),
        }
    }
}

fn differences(frozen: &Value, live: &Value) -> Vec<String> {
    let mut found = Vec::new();
    broken(frozen, live, "", &mut found);
    found
}

#[test]
fn schemas_of_every_tag_are_kept() {
    for tag in copies() {
        for name in ["result", "comparison", "selftest"] {
            let file = format!("{name}.schema.json");
            let frozen = read(&schemas().join("frozen").join(&tag).join(&file));
            let live = read(&schemas().join(&file));
            assert_eq!(
                differences(&frozen, &live),
                Vec::<String>::new(),
                "{file} differs from that of {tag}"
            );
        }
    }
}

/// A source archive has no tags, and a shallow clone may have none.
#[test]
fn every_tag_has_a_copy() {
    let listed = Command::new("git").args(["tag", "--list", "v*"]).current_dir(schemas()).output();
    let tags = listed.map(|output| String::from_utf8(output.stdout).expect("names")).unwrap_or_default();
    let copies = copies();
    let without: Vec<&str> = tags.lines().filter(|tag| !copies.contains(*tag)).collect();
    assert_eq!(without, [""; 0], "copy schemas/*.schema.json to schemas/frozen/TAG");
}

#[test]
fn change_that_breaks_files_is_found() {
    let frozen = read(&schemas().join("result.schema.json"));
    assert_eq!(differences(&frozen, &frozen), Vec::<String>::new());
    type Change = (&'static str, fn(&mut Value));
    let breaks: [Change; 7] = [
        ("removed field", |live| {
            live["properties"].as_object_mut().unwrap().remove("tool");
        }),
        ("new required field", |live| {
            live["properties"]["speed"] = json!({"type": "number"});
            live["required"].as_array_mut().unwrap().push(json!("speed"));
        }),
        ("field that may be absent now", |live| {
            live["required"].as_array_mut().unwrap().pop();
        }),
        ("other type", |live| live["$defs"]["Host"]["properties"]["cpus"]["type"] = json!("string")),
        ("field that may be null now", |live| {
            live["$defs"]["Host"]["properties"]["name"]["type"] = json!(["string", "null"]);
        }),
        ("removed value", |live| {
            live["$defs"]["State"]["oneOf"].as_array_mut().unwrap().pop();
        }),
        ("other reference", |live| live["properties"]["tool"]["$ref"] = json!("#/$defs/Host")),
    ];
    for (what, change) in breaks {
        let mut live = frozen.clone();
        change(&mut live);
        assert!(!differences(&frozen, &live).is_empty(), "{what} passes");
    }
    let mut live = frozen.clone();
    live["properties"]["speed"] = json!({"type": ["number", "null"]});
    live["properties"]["tool"]["description"] = json!("Other text.");
    live["$defs"]["State"]["oneOf"].as_array_mut().unwrap().push(json!({"const": "paused"}));
    assert_eq!(
        differences(&frozen, &live),
        Vec::<String>::new(),
        "optional fields and new values may be added"
    );
}
