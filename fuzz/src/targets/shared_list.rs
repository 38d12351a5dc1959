//! List of the files that a killed process has left: whatever it contains, only existing files match, and a `*`
//! matches only names that start with the text before it.

use std::collections::BTreeSet;

use host::ShmManifest;

/// Minimum length of the text before a `*`, in bytes.
const BEFORE_ANY: usize = 4;

pub fn run(input: &[u8]) {
    let Ok(input) = str::from_utf8(input) else { return };
    // input: existing names, one per line; after an empty line, the list
    let (there, list) = input.split_once("\n\n").unwrap_or(("", input));
    let there: BTreeSet<String> = there.lines().map(ToOwned::to_owned).collect();
    let begins: Vec<&str> = list
        .split([' ', '\n'])
        .filter_map(|word| word.split_once('*'))
        .map(|(begin, _)| begin)
        .filter(|begin| begin.len() >= BEFORE_ANY)
        .collect();
    for found in ShmManifest::parse(list).find(&there) {
        assert!(!found.names.is_empty());
        assert!(found.names.iter().all(|&name| there.contains(name)));
        assert!(!found.any || begins.iter().any(|begin| found.names[0].starts_with(begin)));
    }
}
