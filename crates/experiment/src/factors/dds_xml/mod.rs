//! QoS profiles of XML files as OMG DDS-XML 1.0 section 7.3.2 defines them; its writers and readers are the QoS of
//! RTI's XML files too.
//!
//! Applied are the policies of DDS 1.4 of `datawriter_qos`, `datareader_qos`, `publisher_qos` and `subscriber_qos`.
//! `base_name` is followed within the file, as attribute and as element. Everything else of a profile is reported.

mod values;

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use crate::{
    Policies, Qos, Span,
    factors::{endpoint_qos::End, policies::EndpointPolicies, presets},
    syntax::input_file::FileError,
};
use values::policy;

/// Maximum size of an XML file in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Maximum number of bases that a profile is built from.
const MAX_BASES: usize = 1_000;
/// Maximum number of bases one below another.
const MAX_DEPTH: usize = 50;
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
    /// Paths of the elements that are not applied.
    pub(super) not_applied: BTreeSet<String>,
}

/// Result of a step that may fail.
pub(super) type Outcome<T> = Result<T, FileError>;

/// Creates an error at an element.
pub(super) fn error(at: Node<'_, '_>, words: String, hint: impl Into<String>) -> FileError {
    let place = at.document().text_pos_at(at.range().start);
    FileError { line: place.row as usize, column: place.col as usize, words, hint: hint.into().into() }
}

/// Returns the elements of a node.
pub(super) fn elements<'a, 'i: 'a>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// Returns the text of an element, without blanks around it.
pub(super) fn text<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

/// Reads a profile, `(LIBRARY, PROFILE)`. `at` is the position that its policies get.
pub(super) fn read(text: &str, name: (&str, &str), at: &Span) -> Outcome<XmlProfile> {
    let whole =
        |words: String, hint: &'static str| FileError { line: 0, column: 0, words, hint: hint.into() };
    if text.len() > MAX_BYTES {
        return Err(whole(format!("larger than {} MiB", MAX_BYTES >> 20), "name a file of QoS profiles"));
    }
    let document = Document::parse(text).map_err(|fault| {
        let place = fault.pos();
        let hint = "write well-formed XML without a document type".into();
        FileError { line: place.row as usize, column: place.col as usize, words: fault.to_string(), hint }
    })?;
    let mut reader = Reader::new(document.root_element(), at);
    let Some(profile) = reader.find(name) else {
        let words = format!("profile `{}::{}` not found", name.0, name.1);
        let mut known: Vec<String> = reader.names().into_iter().collect();
        known.truncate(20);
        let hint = match known.as_slice() {
            [] => {
                "the file has no `qos_library` with a `qos_profile`; name a file of QoS profiles".to_owned()
            }
            known => format!("available: {}", known.join(", ")),
        };
        return Err(FileError { line: 0, column: 0, words, hint: hint.into() });
    };
    reader.profile(profile, name.0, &ENTITIES.map(|(entity, _)| entity))?;
    let standard = presets::standard(at);
    let [writer, reads] = End::BOTH.map(|end| reader.of_end(end).over(&standard.of_end(end)));
    let policies = if writer == reads {
        writer
    } else {
        let [writer, reader] = [writer, reads].map(|own| Some(EndpointPolicies::new(own)));
        Policies { writer, reader, ..Policies::default() }
    };
    Ok(XmlProfile { policies, not_applied: reader.not_applied })
}

struct Reader<'a, 'i> {
    root: Node<'a, 'i>,
    at: &'a Span,
    /// Policies of writers and of readers so far.
    ends: [Policies; 2],
    not_applied: BTreeSet<String>,
    /// Elements that are being read, to find one that is its own base.
    open: Vec<Node<'a, 'i>>,
    /// Number of bases that were read.
    bases: usize,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn new(root: Node<'a, 'i>, at: &'a Span) -> Self {
        let ends = [Policies::default(), Policies::default()];
        Self { root, at, ends, not_applied: BTreeSet::new(), open: Vec::new(), bases: 0 }
    }

    fn all(&self) -> impl Iterator<Item = (&'a str, Node<'a, 'i>)> {
        let is = |name: &'static str| move |node: &Node<'_, '_>| local(*node) == name;
        let libraries = self.root.descendants().filter(is("qos_library"));
        libraries.flat_map(move |library| {
            let name = library.attribute("name").unwrap_or_default();
            elements(library).filter(is("qos_profile")).map(move |profile| (name, profile))
        })
    }

    /// Returns the policies that were read for an endpoint. Those that DDS does not define for it are not applied.
    fn of_end(&mut self, end: End) -> Policies {
        let own = &self.ends[end as usize];
        let mut qos = Qos::default();
        own.apply(&mut qos);
        let foreign = end.foreign(&qos);
        self.not_applied.extend(foreign.iter().map(|field| format!("`{field}` of {}", end.name())));
        own.clone().without_fields(&foreign)
    }

    fn names(&self) -> BTreeSet<String> {
        let name = |(library, profile): (&str, Node<'_, '_>)| {
            format!("{library}::{}", profile.attribute("name").unwrap_or_default())
        };
        self.all().map(name).collect()
    }

    fn find(&self, (library, name): (&str, &str)) -> Option<Node<'a, 'i>> {
        let is =
            |(of, profile): &(&str, Node<'_, '_>)| *of == library && profile.attribute("name") == Some(name);
        self.all().find(is).map(|(_, profile)| profile)
    }

    /// Reads the elements of a profile with one of the names, after those of its bases.
    fn profile(&mut self, profile: Node<'a, 'i>, library: &str, entities: &[&str]) -> Outcome<()> {
        self.bases(profile, library, entities)?;
        for element in elements(profile) {
            let name = local(element);
            let Some((_, end)) = ENTITIES.iter().find(|(entity, _)| *entity == name) else {
                if name != "base_name" && entities.len() == ENTITIES.len() {
                    self.not_applied.insert(name.to_owned());
                }
                continue;
            };
            if !entities.contains(&name) {
                continue;
            }
            if let Some(filter) = element.attribute("topic_filter") {
                self.not_applied.insert(format!("{name} of the topics `{filter}`"));
                continue;
            }
            self.bases(element, library, &[name])?;
            for child in elements(element) {
                if local(child) != "base_name" {
                    policy(child, name, &mut self.ends[*end as usize], self.at, &mut self.not_applied)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the bases of a profile or of one of its elements, in their order.
    fn bases(&mut self, node: Node<'a, 'i>, library: &str, entities: &[&str]) -> Outcome<()> {
        if self.open.contains(&node) {
            return Err(error(node, "its base is itself".to_owned(), "remove a `base_name` of the circle"));
        }
        self.open.push(node);
        let listed = elements(node).filter(|child| local(*child) == "base_name");
        let listed = listed.flat_map(|list| elements(list).map(text).collect::<Vec<_>>());
        let bases: Vec<&str> = node.attribute("base_name").into_iter().chain(listed).collect();
        for base in bases {
            self.bases += 1;
            if self.bases > MAX_BASES || self.open.len() > MAX_DEPTH {
                let words = format!("more than {MAX_BASES} bases, or {MAX_DEPTH} one below another");
                return Err(error(node, words, "name fewer bases, or copy their policies"));
            }
            let (of, name) = base.rsplit_once("::").unwrap_or((library, base));
            let Some(profile) = self.find((of, name)) else {
                let words = format!("base profile `{of}::{name}` not found in the file");
                let hint =
                    "copy its policies into the file; profiles that are built into a middleware are not read";
                return Err(error(node, words, hint));
            };
            self.profile(profile, of, entities)?;
        }
        self.open.pop();
        Ok(())
    }
}

/// Returns the name of an element without its namespace.
pub(super) fn local<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}
