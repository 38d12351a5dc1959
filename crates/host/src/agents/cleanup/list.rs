//! Lists of shared-memory files: section 1 of `include/ddsmark/driver.h`.

use std::collections::BTreeSet;

/// Minimum number of characters before a `*`: a pattern selects files of one middleware, never all files.
const BEFORE_ANY: usize = 4;

/// List of files in `/dev/shm` whose names the run did not choose. Its writer may have been killed while writing, and
/// any user can write such a file: invalid lines are ignored.
#[derive(Clone, Debug)]
pub struct ShmManifest {
    lines: Vec<Vec<Word>>,
}

/// Existing files that match a line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestMatch<'names> {
    /// File names.
    pub names: Vec<&'names str>,
    /// Whether the line contains a `*`: a match does not prove that the writer of the list created the file.
    pub any: bool,
    /// Whether the line has several words: the files are removed only together, and only while none of them is
    /// locked.
    pub together: bool,
}

/// File name, or the texts before and after a `*`.
#[derive(Clone, Debug)]
struct Word {
    begin: String,
    end: Option<String>,
}

impl ShmManifest {
    /// Parses a list.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        // A last line without a line end may be incomplete.
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        Self { lines: whole.filter_map(line).collect() }
    }

    /// Returns the existing files that match the list.
    #[must_use]
    pub fn find<'names>(&self, there: &'names BTreeSet<String>) -> Vec<ManifestMatch<'names>> {
        let mut found = Vec::new();
        for words in &self.lines {
            let Some(first) = words.first() else { continue };
            let any = first.end.is_some();
            let texts: Vec<&str> = if any {
                let begun = there.range(first.begin.clone()..);
                begun
                    .take_while(|name| name.starts_with(&first.begin))
                    .filter_map(|name| first.text_in(name))
                    .collect()
            } else {
                vec![""]
            };
            found.extend(texts.into_iter().filter_map(|text| {
                let names: Vec<_> =
                    words.iter().filter_map(|word| there.get(&word.with(text))).map(String::as_str).collect();
                (!names.is_empty()).then_some(ManifestMatch { names, any, together: words.len() > 1 })
            }));
        }
        found
    }
}

/// Parses a line into words; `None` if it is invalid.
fn line(line: &str) -> Option<Vec<Word>> {
    let words = line.split(' ').map(Word::parse).collect::<Option<Vec<_>>>()?;
    let (first, others) = words.split_first()?;
    // The first word determines the text that `*` stands for.
    (first.end.is_some() || others.iter().all(|word| word.end.is_none())).then_some(words)
}

impl Word {
    fn parse(word: &str) -> Option<Self> {
        if word.contains(['/', '\0']) {
            return None;
        }
        match word.split_once('*') {
            Some((begin, end)) if begin.len() >= BEFORE_ANY && !end.contains('*') => {
                Some(Self { begin: begin.to_owned(), end: Some(end.to_owned()) })
            }
            None if !["", ".", ".."].contains(&word) => Some(Self { begin: word.to_owned(), end: None }),
            _ => None,
        }
    }

    /// Returns the text that `*` stands for in a name.
    fn text_in<'name>(&self, name: &'name str) -> Option<&'name str> {
        name.strip_prefix(self.begin.as_str())?.strip_suffix(self.end.as_deref()?)
    }

    /// Returns the name in which `*` stands for a text.
    fn with(&self, text: &str) -> String {
        match &self.end {
            Some(end) => format!("{}{text}{end}", self.begin),
            None => self.begin.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// Returns the matching names, line by line.
    fn matches<'names>(list: &str, there: &'names BTreeSet<String>) -> Vec<Vec<&'names str>> {
        ShmManifest::parse(list).find(there).into_iter().map(|found| found.names).collect()
    }

    #[test]
    fn list_line_is_a_name() {
        let there = names(&["ab", "ab_lock", "abc"]);
        assert_eq!(matches("ab\nab_lock\nnot-there\n", &there), [["ab"], ["ab_lock"]]);
        let found = ShmManifest::parse("ab\n").find(&there);
        assert_eq!(found, [ManifestMatch { names: vec!["ab"], any: false, together: false }]);
    }

    #[test]
    fn star_in_a_list_matches_any_text() {
        let there = names(&["data_1", "data_12_b", "data_", "dat_1", "x_data_1"]);
        assert_eq!(matches("data_*\n", &there), [["data_"], ["data_1"], ["data_12_b"]]);
        assert_eq!(matches("data*_b\n", &there), [["data_12_b"]]);
        assert_eq!(ShmManifest::parse("data_*\n").find(&there).iter().filter(|found| found.any).count(), 3);
    }

    #[test]
    fn words_of_a_list_line_match_the_same_text() {
        let there = names(&["seg_1", "seg_1_lock", "sem.seg_1_mutex", "seg_2", "seg_3_lock", "other"]);
        let list = "seg_*_lock seg_* sem.seg_*_mutex other\n";
        let expected = [vec!["seg_1_lock", "seg_1", "sem.seg_1_mutex", "other"], vec!["seg_3_lock", "other"]];
        assert_eq!(matches(list, &there), expected);
        assert!(ShmManifest::parse(list).find(&there).iter().all(|found| found.any && found.together));
        let exact = "seg_1 seg_2 seg_4\n";
        assert_eq!(matches(exact, &there), [["seg_1", "seg_2"]]);
        assert!(ShmManifest::parse(exact).find(&there).iter().all(|found| !found.any && found.together));
    }

    #[test]
    fn invalid_line_is_skipped_alone() {
        let there = names(&["name", "name_b", "fast_1", "fast_2", "a", "b"]);
        for wrong in [
            "",
            " ",
            ".",
            "..",
            "../name",
            "/dev/shm/name",
            "*",
            "fas*",
            "fast_*_*",
            "fast_**",
            "name  name_b",
            " name",
            "name ",
            "name fast_*",
            "name ../x",
            "name\0",
            "fast_*/..",
        ] {
            assert_eq!(matches(&format!("a\n{wrong}\nb\n"), &there), [["a"], ["b"]], "{wrong:?}");
        }
    }

    #[test]
    fn unterminated_line_is_ignored() {
        let there = names(&["name", "name_b"]);
        assert_eq!(matches("name\nname", &there), [["name"]]);
        assert_eq!(matches("name", &there), [[""; 0]; 0]);
    }

    /// Returns whether a word of a list matches a name.
    fn means(word: &str, name: &str) -> bool {
        match word.split_once('*') {
            None => word == name,
            Some((begin, end)) => {
                name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
            }
        }
    }

    proptest! {
        #[test]
        fn any_list_finds_existing_files_only_by_its_words(
            text in r"[ab_*./ \n\x00]{0,60}",
            there in prop::collection::btree_set("[ab_.]{1,8}", 0..20),
        ) {
            for found in ShmManifest::parse(&text).find(&there) {
                prop_assert!(!found.names.is_empty());
                for name in &found.names {
                    prop_assert!(there.contains(*name));
                    prop_assert!(text.split([' ', '\n']).any(|word| means(word, name)), "{}", name);
                }
                let begun = |word: &str| word.split_once('*').is_some_and(|(begin, _)| {
                    begin.len() >= BEFORE_ANY && found.names.iter().any(|name| name.starts_with(begin))
                });
                prop_assert!(!found.any || text.split([' ', '\n']).any(begun));
            }
        }

        #[test]
        fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let text = String::from_utf8_lossy(&bytes);
            let there = text.split(['\n', '/', '\0']).map(ToOwned::to_owned).collect();
            let _ = ShmManifest::parse(&text).find(&there);
        }

        #[test]
        fn list_line_matches_all_its_files(
            begin in "[a-z]{4,8}",
            ends in prop::collection::btree_set("[a-z_]{0,4}", 1..4),
            text in "[0-9]{1,4}",
        ) {
            let words: Vec<_> = ends.iter().map(|end| format!("{begin}*{end}")).collect();
            let there: BTreeSet<_> = ends.iter().map(|end| format!("{begin}{text}{end}")).collect();
            let list = ShmManifest::parse(&format!("{}\n", words.join(" ")));
            let all: BTreeSet<_> =
                list.find(&there).iter().flat_map(|found| &found.names).map(|&name| name.to_owned()).collect();
            prop_assert_eq!(all, there);
        }
    }
}
