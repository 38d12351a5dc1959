//! Versions of the protocol: each change of a message has one of its own, listed in `frozen/versions.txt`.

use std::{collections::BTreeMap, fs, path::Path};

use control::{PROTOCOL, json_schema};
use serde_json::Value;

/// Returns a schema as text without its descriptions, which may be reworded, and with its keys in order.
fn canonical(schema: &Value) -> String {
    match schema {
        Value::Object(fields) => {
            // A property may have this name, too: it is an object.
            let kept = fields.iter().filter(|(name, value)| *name != "description" || !value.is_string());
            let fields: BTreeMap<&String, String> =
                kept.map(|(name, value)| (name, canonical(value))).collect();
            format!("{fields:?}")
        }
        Value::Array(values) => format!("{:?}", values.iter().map(canonical).collect::<Vec<_>>()),
        other => other.to_string(),
    }
}

/// Returns a version with a hash (FNV-1a) of a schema.
fn fingerprint(version: u32, schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let hash = canonical(&schema).bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{version} {hash:016x}")
}

/// Returns what contradicts the list of versions, which ends with that of the schema.
fn unlisted(versions: &str, version: u32, schema: &str) -> Option<String> {
    let lines: Vec<_> = versions.lines().filter(|line| !line.starts_with('#')).collect();
    let numbers: Vec<u32> = lines.iter().filter_map(|line| line.split_once(' ')?.0.parse().ok()).collect();
    if numbers.len() != lines.len() || !numbers.is_sorted_by(|one, next| one < next) {
        return Some("each line of frozen/versions.txt is `VERSION HASH`, in ascending order".to_owned());
    }
    let now = fingerprint(version, schema);
    (lines.last() != Some(&now.as_str())).then(|| {
        format!(
            "the messages changed: increment PROTOCOL, so that agents built before are rejected, and append the line \
             `VERSION HASH` to frozen/versions.txt; now `{now}`"
        )
    })
}

#[test]
fn each_change_of_a_message_has_a_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("frozen/versions.txt");
    let versions = fs::read_to_string(path).expect("the list of versions");
    assert_eq!(unlisted(&versions, PROTOCOL, &json_schema()), None);
}

#[test]
fn change_of_a_message_without_a_version_is_found() {
    let schema = json_schema();
    let versions = format!("# comment\n8 0123456789abcdef\n{}\n", fingerprint(9, &schema));
    assert_eq!(unlisted(&versions, 9, &schema), None);
    let changed = |from: &str, to: &str| {
        assert!(schema.contains(from), "{from}");
        schema.replacen(from, to, 1)
    };
    for (from, to) in [("\"wait_ns\"", "\"wait_us\""), ("\"minimum\": 0", "\"minimum\": 1")] {
        let found = unlisted(&versions, 9, &changed(from, to)).unwrap_or_default();
        assert!(found.contains("increment PROTOCOL"), "{to}: {found}");
    }
    let reworded = changed("\"description\": \"Messages to post", "\"description\": \"What to post");
    assert_eq!(unlisted(&versions, 9, &reworded), None);
    let unordered = format!("{}\n1 0123456789abcdef\n", fingerprint(9, &schema));
    assert!(unlisted(&unordered, 9, &schema).is_some_and(|found| found.contains("ascending")));
}
