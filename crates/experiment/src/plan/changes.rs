//! Keys of an experiment file that the command line sets.

use std::collections::BTreeMap;

/// Changes of an experiment file by the command line. Equality of files ignores them, as it ignores positions.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Keys with dots, such as `factors.size`, and whether a flag of its own sets each, such as `--size`.
    pub(crate) keys: BTreeMap<String, bool>,
    /// Length of the file: the positions of what the command line sets are behind it.
    pub(crate) file_length: usize,
    /// Notes of the plan about entries of the file that are left out for that reason.
    pub(crate) notes: Vec<String>,
}

impl PartialEq for Changes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Changes {
    /// Returns whether a key below this table and this entry is set.
    pub(crate) fn is_below(&self, table: &str, entry: &str) -> bool {
        let key = format!("{table}.{entry}");
        self.keys.keys().any(|set| set.starts_with(&key) || set == table)
    }
}
