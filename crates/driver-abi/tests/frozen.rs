//! Versions of the header: each change of its declarations has a version of its own, listed in `frozen/versions.txt`, and
//! the header is compatible with those of released versions, `frozen/TAG.h`. There is none before the first tag.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The only constant that may grow: the array that it sizes is at the end of its struct.
const GROWING: &str = "DDSMARK_COUNTER_COUNT";

/// Declarations of a header.
#[derive(Default)]
struct Header {
    version: String,
    /// Fields of each struct, in their order.
    structs: BTreeMap<String, Vec<String>>,
    /// Enumeration constants and macros with their values.
    constants: BTreeMap<String, String>,
    /// Other declarations: types of functions, names of types, the entry.
    others: BTreeSet<String>,
}

impl Header {
    fn parse(text: &str) -> Self {
        let mut header = Self::default();
        let mut code = String::new();
        // number of open conditional blocks that are skipped: C++, and assertions of sizes
        let mut skipped = 0_u32;
        for line in without_comments(text).lines() {
            let line = line.trim();
            if line.starts_with("#if") && (skipped > 0 || line.contains("__")) {
                skipped += 1;
            } else if line.starts_with("#endif") {
                skipped = skipped.saturating_sub(1);
            } else if skipped > 0 {
            } else if let Some(macro_) = line.strip_prefix("#define ") {
                let (name, value) = macro_.split_once(' ').unwrap_or((macro_, ""));
                header.constants.insert(name.to_owned(), value.trim().to_owned());
            } else if !line.starts_with('#') {
                code.push_str(line);
                code.push(' ');
            }
        }
        header.version = header.constants.remove("DDSMARK_ABI_VERSION").expect("an ABI version");
        for declaration in declarations(&code) {
            header.declare(&declaration);
        }
        header
    }

    fn declare(&mut self, declaration: &str) {
        let Some((before, rest)) = declaration.split_once('{') else {
            self.others.insert(declaration.to_owned());
            return;
        };
        let (body, _) = rest.rsplit_once('}').expect("a closing brace");
        let parts = |separator| body.split(separator).map(str::trim).filter(|part| !part.is_empty());
        if before.trim() == "enum" {
            let pairs = parts(',').map(|entry| entry.split_once(" = ").expect("a value for each constant"));
            self.constants.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        } else {
            self.structs.insert(before.trim().to_owned(), parts(';').map(str::to_owned).collect());
        }
    }
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |code, part| code + part.split_once("*/").map_or("", |(_, rest)| rest))
}

/// Returns the declarations of C code, each on one line.
fn declarations(code: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0_i32;
    for word in code.split_whitespace() {
        let last = found.last_mut().expect("one at least");
        *last += if last.is_empty() { "" } else { " " };
        *last += word;
        depth += word.matches('{').count() as i32 - word.matches('}').count() as i32;
        if depth == 0 && word.ends_with(';') {
            found.push(String::new());
        }
    }
    found.retain(|declaration| !declaration.is_empty());
    found
}

/// Returns what prevents a driver that was built against `frozen` from working with a host of `live`.
fn violations(frozen: &str, live: &str) -> Vec<String> {
    let (frozen, live) = (Header::parse(frozen), Header::parse(live));
    if frozen.version != live.version {
        // the host rejects the driver
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, fields) in &frozen.structs {
        let now = live.structs.get(name).map_or(&[][..], Vec::as_slice);
        if !now.starts_with(fields) {
            found.push(format!("`{name}`: fields were changed, or added before the end"));
        }
    }
    for (name, value) in &frozen.constants {
        let now = live.constants.get(name);
        let number = |value: &String| value.parse::<u64>().ok();
        let grown = name == GROWING && now.and_then(number) >= number(value);
        if now != Some(value) && !grown {
            found.push(format!("`{name}` was {value}"));
        }
    }
    let gone = frozen.others.difference(&live.others);
    found.extend(gone.map(|declaration| format!("`{declaration}` was changed or removed")));
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn live() -> String {
    fs::read_to_string(root().join("include/ddsmark/driver.h")).expect("the header")
}

#[test]
fn header_is_compatible_with_the_header_of_each_tag() {
    let output = Command::new("git").args(["tag", "--list", "v*"]).current_dir(root()).output();
    let output = output.expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for tag in String::from_utf8(output.stdout).expect("text").lines() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("frozen").join(format!("{tag}.h"));
        let frozen = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}; copy the header of the tag there, and never change it", path.display())
        });
        let found = violations(&frozen, &live());
        assert!(found.is_empty(), "{tag}: increment DDSMARK_ABI_VERSION, or undo: {}", found.join("; "));
    }
}

/// Returns the version of a header, and a hash of its declarations (FNV-1a): comments, white space and the version
/// itself do not change it.
fn fingerprint(text: &str) -> String {
    let code = without_comments(text);
    let lines = code.lines().filter(|line| !line.starts_with("#define DDSMARK_ABI_VERSION"));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let hash = words.join(" ").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{} {hash:016x}", Header::parse(text).version.trim_end_matches('u'))
}

/// Returns what contradicts the list of versions, which ends with that of the header.
fn unlisted(versions: &str, header: &str) -> Option<String> {
    let lines: Vec<_> = versions.lines().filter(|line| !line.starts_with('#')).collect();
    let numbers: Vec<u32> = lines.iter().filter_map(|line| line.split_once(' ')?.0.parse().ok()).collect();
    if numbers.len() != lines.len() || !numbers.is_sorted_by(|one, next| one < next) {
        return Some("each line of frozen/versions.txt is `VERSION HASH`, in ascending order".to_owned());
    }
    let now = fingerprint(header);
    (lines.last() != Some(&now.as_str())).then(|| {
        format!(
            "the declarations of driver.h changed: increment DDSMARK_ABI_VERSION and `ABI_VERSION`, so that drivers \
             built before are rejected, and append the line `VERSION HASH` to frozen/versions.txt; now `{now}`"
        )
    })
}

#[test]
fn each_change_of_a_declaration_has_a_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("frozen/versions.txt");
    let versions = fs::read_to_string(path).expect("the list of versions");
    assert_eq!(unlisted(&versions, &live()), None);
}

#[test]
fn change_of_a_declaration_without_a_version_is_found() {
    let header = live();
    let versions = format!("# comment\n1 0123456789abcdef\n{}\n", fingerprint(&header));
    assert_eq!(unlisted(&versions, &header), None);
    let changed = |from: &str, to: &str| {
        assert!(header.contains(from), "{from}");
        header.replacen(from, to, 1)
    };
    for (from, to) in [
        ("  uint32_t participant_count;", "  uint64_t participant_count;"),
        ("  uint64_t send_queue_bytes;", ""),
        ("} ddsmark_match;", "  uint32_t added;\n} ddsmark_match;"),
        ("DDSMARK_OK = 0", "DDSMARK_OK = 1"),
        ("(*writer_matched)(ddsmark_writer *writer, ddsmark_match *out)", "(*writer_matched)(uint32_t *out)"),
        ("DDSMARK_ABI_VERSION ", "DDSMARK_ABI_VERSION 9"),
    ] {
        let found = unlisted(&versions, &changed(from, to)).unwrap_or_default();
        assert!(found.contains("increment DDSMARK_ABI_VERSION"), "{to}: {found}");
    }
    let comment = changed("#ifndef DDSMARK_DRIVER_H", "/* a comment */\n\n#ifndef  DDSMARK_DRIVER_H");
    assert_eq!(unlisted(&versions, &comment), None);
    let unordered = format!("{}\n1 0123456789abcdef\n", fingerprint(&header));
    assert!(unlisted(&unordered, &header).is_some_and(|found| found.contains("ascending")));
}

#[test]
fn incompatible_headers_are_rejected() {
    let frozen = live();
    let parsed = Header::parse(&frozen);
    assert_eq!(parsed.version, format!("{}u", driver_abi::ABI_VERSION));
    assert_eq!(parsed.structs.len(), 13, "{:?}", parsed.structs.keys());
    assert!(parsed.constants.len() > 90 && parsed.others.len() >= 7, "{:?}", parsed.others);
    let changed = |from: &str, to: &str| {
        assert!(frozen.contains(from), "{from}");
        violations(&frozen, &frozen.replacen(from, to, 1))
    };
    assert_eq!(violations(&frozen, &frozen), [""; 0]);
    for (from, to, expected) in [
        ("  uint32_t struct_size;\n", "  uint64_t struct_size;\n", "fields were changed"),
        ("  const uint8_t *payload;\n", "", "`typedef struct ddsmark_sample`: fields were changed"),
        ("  uint64_t valid;", "  uint64_t added, valid;", "`typedef struct ddsmark_counters`: fields"),
        ("DDSMARK_TIMED_OUT = 2", "DDSMARK_TIMED_OUT = 8", "`DDSMARK_TIMED_OUT` was 2"),
        ("DDSMARK_COUNTER_COUNT = 18", "DDSMARK_COUNTER_COUNT = 17", "`DDSMARK_COUNTER_COUNT` was 18"),
        ("\"ddsmark_driver_entry\"", "\"entry\"", "`DDSMARK_ENTRY_SYMBOL` was"),
        ("void (*ddsmark_sink)(void *context", "void (*ddsmark_sink)(int context", "was changed or removed"),
    ] {
        let found = changed(from, to).join("\n");
        assert!(found.contains(expected), "{to}: {found}");
        // another version may change anything
        let other = frozen.replacen(from, to, 1).replacen("DDSMARK_ABI_VERSION ", "DDSMARK_ABI_VERSION 9", 1);
        assert_eq!(violations(&frozen, &other), [""; 0]);
    }
}

#[test]
fn additions_at_the_end_are_compatible() {
    let frozen = live();
    let later = frozen
        .replacen("} ddsmark_driver;", "  uint32_t (*added)(void);\n} ddsmark_driver;", 1)
        .replacen("} ddsmark_qos;", "  uint32_t added;\n} ddsmark_qos;", 1)
        .replacen(
            "DDSMARK_COUNTER_COUNT = 18",
            "DDSMARK_COUNTER_ADDED = 18,\n  DDSMARK_COUNTER_COUNT = 19",
            1,
        )
        .replacen("#ifndef DDSMARK_DRIVER_H", "/* added */\n#ifndef DDSMARK_DRIVER_H", 1);
    assert_ne!(frozen, later);
    assert_eq!(violations(&frozen, &later), [""; 0]);
    assert!(!violations(&later, &frozen).is_empty());
}
