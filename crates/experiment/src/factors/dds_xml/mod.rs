//! QoS profiles of XML files as OMG DDS-XML 1.0 section 7.3.2 defines them; its writers and readers are the QoS of
//! RTI's XML files too.
//!
//! Applied are the policies of DDS 1.4 of `datawriter_qos`, `datareader_qos`, `publisher_qos` and `subscriber_qos`.
//! `base_name` is followed in all files, and to the profiles that are built into a middleware: first the base of the
//! attribute, then those of the list, then the elements of the profile. Everything else of a profile is reported.

mod library;
mod reader;
#[cfg(test)]
mod tests;
mod values;
mod variables;

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};

use crate::{
    factors::{
        endpoint_qos::End,
        policies::{EndpointPolicies, Policies},
        presets,
    },
    syntax::{
        input_file::{FileError, InputFile},
        one_or_many::Span,
    },
};
use library::{BUILT_IN, Library};
use reader::Reader;

pub use variables::variable_names;

/// Maximum size of an XML file in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Elements of a profile whose policies are applied, with the endpoint that has them.
const ENTITIES: [(&str, End); 4] = [
    ("datawriter_qos", End::Writer),
    ("publisher_qos", End::Writer),
    ("datareader_qos", End::Reader),
    ("subscriber_qos", End::Reader),
];

/// Profile that was read.
#[derive(Debug)]
pub(super) struct XmlProfile {
    pub(super) policies: Policies,
    /// Path and SHA-256 of each file that the profile is from.
    pub(super) files: Vec<(String, String)>,
    /// Environment variables of these files, with their values.
    pub(super) variables: BTreeMap<String, String>,
    /// Names of the built-in profiles that it builds on.
    pub(super) built_in: BTreeSet<String>,
    /// Paths of the elements that are not applied.
    pub(super) not_applied: BTreeSet<String>,
    /// Parts of built-in profiles whose value no source states, and the profile.
    pub(super) unknown: BTreeSet<String>,
}

/// Result of a step that may fail.
pub(super) type Outcome<T> = Result<T, FileError>;

/// Creates an error at an element.
pub(super) fn error(at: Node<'_, '_>, words: String, hint: impl Into<String>) -> FileError {
    let place = at.document().text_pos_at(at.range().start);
    FileError { line: place.row as usize, column: place.col as usize, words, hint: hint.into().into() }
}

/// Creates an error that concerns a whole file.
fn whole(words: String, hint: impl Into<String>) -> FileError {
    FileError { line: 0, column: 0, words, hint: hint.into().into() }
}

/// Returns the elements of a node.
pub(super) fn elements<'a, 'i: 'a>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// Returns the text of an element, without blanks around it.
pub(super) fn text<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

/// Returns the name of an element without its namespace.
pub(super) fn local<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

fn parse(text: &str) -> Outcome<Document<'_>> {
    if text.len() > MAX_BYTES {
        return Err(whole(format!("larger than {} MiB", MAX_BYTES >> 20), "name a file of QoS profiles"));
    }
    Document::parse(text).map_err(|fault| {
        let place = fault.pos();
        let hint = "write well-formed XML without a document type".into();
        FileError { line: place.row as usize, column: place.col as usize, words: fault.to_string(), hint }
    })
}

/// Adds the path of a file to an error in it, unless it is the one that the experiment names.
fn placed<T>(outcome: Outcome<T>, document: usize, files: &[&InputFile]) -> Outcome<T> {
    outcome.map_err(|error| match files.get(document) {
        Some(file) if document > 0 => {
            FileError { words: format!("{}, in `{}`", error.words, file.path), ..error }
        }
        _ => error,
    })
}

/// Reads a profile, `(LIBRARY, PROFILE)`. `at` is the position that its policies get.
pub(super) fn read(input: &InputFile, name: (&str, &str), at: &Span) -> Outcome<XmlProfile> {
    let files: Vec<&InputFile> = std::iter::once(input).chain(input.before.iter().rev()).collect();
    let texts = files.iter().enumerate().map(|(place, file)| placed(variables::expand(file), place, &files));
    let texts: Vec<variables::Expanded<'_>> = texts.collect::<Result<_, _>>()?;
    let all = texts.iter().map(|expanded| &*expanded.text).chain([BUILT_IN]).enumerate();
    let documents: Vec<Document<'_>> =
        all.map(|(place, text)| placed(parse(text), place, &files)).collect::<Result<_, _>>()?;
    let library = Library { documents: &documents };
    let Some(profile) = library.of_files(name) else {
        let words = format!("profile `{}::{}` not found", name.0, name.1);
        let mut known: Vec<String> = library.names().into_iter().collect();
        known.truncate(20);
        let hint = match known.as_slice() {
            [] => {
                "the file has no `qos_library` with a `qos_profile`; name a file of QoS profiles".to_owned()
            }
            known => format!("available: {}", known.join(", ")),
        };
        return Err(whole(words, hint));
    };
    let mut reader = Reader::new(library, &files, at);
    reader.profile(profile, &ENTITIES.map(|(entity, _)| entity))?;
    let standard = presets::standard(at);
    let [writer, reads] = End::BOTH.map(|end| reader.of_end(end).over(&standard.of_end(end)));
    let policies = if writer == reads {
        writer
    } else {
        let [writer, reader] = [writer, reads].map(|own| Some(EndpointPolicies::new(own)));
        Policies { writer, reader, ..Policies::default() }
    };
    let used = reader.documents.clone();
    let of_used = used.iter().filter_map(|document| files.get(*document).zip(texts.get(*document)));
    let mut profile = XmlProfile {
        policies,
        files: Vec::new(),
        variables: BTreeMap::new(),
        built_in: reader.built_in.clone(),
        unknown: reader.unknown(),
        not_applied: reader.not_applied,
    };
    for (file, expanded) in of_used {
        profile.files.push((file.path.clone(), file.sha256.clone()));
        profile.variables.extend(expanded.used.clone());
    }
    Ok(profile)
}
