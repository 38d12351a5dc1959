//! Profiles by name: those of the files, and those that are built into a middleware.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use super::{elements, local};
use crate::syntax::similar::similar;

/// Standard policies of profiles that are built into a middleware, with their sources.
pub(super) const BUILT_IN: &str = include_str!("../../../qos/built-in.xml");
/// Prefix of the names of libraries that are built in.
const BUILT_IN_PREFIX: &str = "Builtin";
/// Older name of a library that is built in, and its name.
const RENAMED: (&str, &str) = ("BuiltinQosLibExp", "BuiltinQosLib");

/// Profile in a file.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct ProfileNode<'a, 'i> {
    /// Place of its file in the list of documents; the last one is [`BUILT_IN`].
    pub(super) document: usize,
    pub(super) library: &'a str,
    /// A `qos_profile`, or the QoS of an entity that stands directly in a library.
    pub(super) node: Node<'a, 'i>,
}

/// Documents that profiles are searched in.
pub(super) struct Library<'a, 'i> {
    /// The file that the experiment names, those that are loaded before it from the last one, and [`BUILT_IN`].
    pub(super) documents: &'a [Document<'i>],
}

impl<'a, 'i> Library<'a, 'i> {
    pub(super) fn is_built_in(&self, document: usize) -> bool {
        document + 1 == self.documents.len()
    }

    fn all(&self) -> impl Iterator<Item = ProfileNode<'a, 'i>> + use<'a, 'i> {
        let documents: &'a [Document<'i>] = self.documents;
        documents.iter().enumerate().flat_map(|(document, tree)| {
            let libraries = tree.root_element().descendants().filter(|node| local(*node) == "qos_library");
            libraries.flat_map(move |node| {
                let library = node.attribute("name").unwrap_or_default();
                let named = elements(node).filter(|child| {
                    local(*child) == "qos_profile"
                        || (local(*child).ends_with("_qos") && child.attribute("name").is_some())
                });
                named.map(move |node| ProfileNode { document, library, node })
            })
        })
    }

    /// Returns the names of the profiles of the files.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.all().filter(|found| !self.is_built_in(found.document)).map(|found| full_name(&found)).collect()
    }

    /// Returns a profile of the files.
    pub(super) fn of_files(&self, name: (&str, &str)) -> Option<ProfileNode<'a, 'i>> {
        self.named(name).find(|found| !self.is_built_in(found.document))
    }

    /// Returns a profile of the files, or of those that are built in.
    pub(super) fn find(&self, name: (&str, &str)) -> Option<ProfileNode<'a, 'i>> {
        let built_in = (if name.0 == RENAMED.0 { RENAMED.1 } else { name.0 }, name.1);
        self.of_files(name).or_else(|| self.named(built_in).find(|found| self.is_built_in(found.document)))
    }

    /// Returns the profiles with this name, `(LIBRARY, PROFILE)`.
    fn named(&self, (library, name): (&str, &str)) -> impl Iterator<Item = ProfileNode<'a, 'i>> {
        self.all().filter(move |found| found.library == library && found.node.attribute("name") == Some(name))
    }

    /// Returns the error and the hint for a base that does not exist.
    pub(super) fn unknown_base(&self, (library, name): (&str, &str)) -> (String, String) {
        let unknown = format!("{library}::{name}");
        let known: Vec<String> = self.all().map(|found| full_name(&found)).collect();
        let of = if library == RENAMED.0 { RENAMED.1 } else { library };
        let meant = similar(&format!("{of}::{name}"), known.iter().map(String::as_str));
        let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
        if library.starts_with(BUILT_IN_PREFIX) {
            let hint =
                format!("{meant}copy its policies into the file if it is newer than those that are known");
            return (format!("built-in profile `{unknown}` is unknown"), hint);
        }
        let hint =
            format!("{meant}name the file that has it as well, separated by `;`, or in `NDDS_QOS_PROFILES`");
        (format!("base profile `{unknown}` not found"), hint)
    }
}

/// Returns the name of a profile with that of its library.
pub(super) fn full_name(found: &ProfileNode<'_, '_>) -> String {
    format!("{}::{}", found.library, found.node.attribute("name").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{super::ENTITIES, *};
    use crate::{factors::profiles::qos_profile, syntax::input_file::InputFile};

    #[test]
    fn each_built_in_profile_has_a_source_and_can_be_a_base() {
        let documents = [Document::parse(BUILT_IN).expect("well-formed XML")];
        let library = Library { documents: &documents };
        let names: Vec<String> = library.all().map(|found| full_name(&found)).collect();
        assert!(names.len() > 80, "{}", names.len());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "each name is unique");
        for found in library.all() {
            let name = full_name(&found);
            let sources = found.node.attribute("source").unwrap_or_default();
            assert!(sources.split(' ').all(|source| source.parse::<u8>().is_ok()), "{name}: {sources}");
            for path in ["unknown", "not_applied"].iter().filter_map(|list| found.node.attribute(*list)) {
                for path in path.split_whitespace() {
                    let (entity, _) = path.split_once('/').unwrap_or((path, ""));
                    let known = ["*", "participant_qos"].contains(&entity);
                    assert!(known || ENTITIES.iter().any(|(known, _)| *known == entity), "{name}: {path}");
                }
            }
            let text = format!(
                "<dds><qos_library name='L'><qos_profile name='P' base_name='{name}'/></qos_library></dds>"
            );
            let file = InputFile::new("f.xml".to_owned(), text, String::new());
            let read = qos_profile("f.xml#L::P", &BTreeMap::from([("f.xml".to_owned(), file)]), &(0..0));
            let read = read.unwrap_or_else(|error| panic!("{name}: {error}")).expect("a file");
            assert!(read.note.expect("a note").contains(&name));
        }
    }
}
