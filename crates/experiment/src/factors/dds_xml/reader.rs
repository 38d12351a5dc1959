//! Reading of a profile: its bases, then its own elements.

use std::collections::{BTreeMap, BTreeSet};

use driver_abi::policies::{History, Qos};
use roxmltree::Node;

use super::{
    ENTITIES, Outcome, elements, error,
    library::{Library, ProfileNode, full_name},
    local, placed, text,
    values::policy,
    variables::resolved,
};
use crate::{
    factors::{endpoint_qos::End, policies::Policies},
    syntax::{input_file::InputFile, one_or_many::Span},
};

/// Maximum number of bases that a profile is built from.
const MAX_BASES: usize = 1_000;
/// Maximum number of bases one below another.
const MAX_DEPTH: usize = 50;
/// Writers and readers in a path of the built-in profiles.
const BOTH: &str = "*";
/// Filter that all topics pass.
const ALL_TOPICS: &str = "*";

/// Policies that are read so far.
pub(super) struct Reader<'a, 'i> {
    library: Library<'a, 'i>,
    files: &'a [&'a InputFile],
    at: &'a Span,
    /// Policies of writers and of readers so far.
    ends: [Policies; 2],
    /// Paths without a value that is known, `POLICY/FIELD`, each with the built-in profile, for writers and for readers.
    unknown: [BTreeMap<String, String>; 2],
    pub(super) not_applied: BTreeSet<String>,
    /// Profiles and elements that are being read, to find one that is its own base; and the built-in profile that the
    /// file names.
    open: Vec<(Node<'a, 'i>, Option<String>)>,
    /// Files that were read from, by their place.
    pub(super) documents: BTreeSet<usize>,
    /// Built-in profiles that the files name as bases.
    pub(super) built_in: BTreeSet<String>,
    /// Number of bases that were read.
    bases: usize,
}

impl<'a, 'i> Reader<'a, 'i> {
    pub(super) fn new(library: Library<'a, 'i>, files: &'a [&'a InputFile], at: &'a Span) -> Self {
        Self {
            library,
            files,
            at,
            ends: [Policies::default(), Policies::default()],
            unknown: [BTreeMap::new(), BTreeMap::new()],
            not_applied: BTreeSet::new(),
            open: Vec::new(),
            documents: BTreeSet::new(),
            built_in: BTreeSet::new(),
            bases: 0,
        }
    }

    /// Returns the policies that were read for an endpoint. Those that DDS does not define for it are not applied.
    pub(super) fn of_end(&mut self, end: End) -> Policies {
        let own = &self.ends[end as usize];
        let mut qos = Qos::default();
        own.apply(&mut qos);
        let foreign = end.foreign(&qos);
        self.not_applied.extend(foreign.iter().map(|field| format!("`{field}` of {}", end.name())));
        own.clone().without_fields(&foreign)
    }

    /// Returns the parts without a known value, each with its endpoint and its built-in profile.
    pub(super) fn unknown(&self) -> BTreeSet<String> {
        let of_end = |end: End| {
            let parts = &self.unknown[end as usize];
            parts.iter().map(move |(path, profile)| format!("{path} of {} in `{profile}`", end.name()))
        };
        End::BOTH.into_iter().flat_map(of_end).collect()
    }

    /// Reads the elements of a profile with one of the names, after those of its bases.
    pub(super) fn profile(&mut self, found: ProfileNode<'a, 'i>, entities: &[&str]) -> Outcome<()> {
        self.documents.insert(found.document);
        if local(found.node) != "qos_profile" {
            return self.entity(found, found.node, entities);
        }
        self.bases(found, found.node, entities)?;
        if self.library.is_built_in(found.document) {
            self.stated(found, entities);
        }
        // An explicit filter that every topic passes comes before the element without one.
        let catches = |element: &Node<'_, '_>| element.attribute("topic_filter") == Some(ALL_TOPICS);
        let mut caught: BTreeMap<&str, Node<'a, 'i>> = BTreeMap::new();
        for element in elements(found.node).filter(catches) {
            caught.entry(local(element)).or_insert(element);
        }
        for element in elements(found.node) {
            let filter = element.attribute("topic_filter").filter(|filter| *filter != ALL_TOPICS);
            if let Some(filter) = filter {
                self.not_applied.insert(format!("{} of the topics `{filter}`", local(element)));
            } else if caught.get(local(element)).is_none_or(|first| *first == element) {
                self.entity(found, element, entities)?;
            }
        }
        Ok(())
    }

    /// Reads the policies of an element of a profile, after those of its bases.
    fn entity(
        &mut self,
        found: ProfileNode<'a, 'i>,
        element: Node<'a, 'i>,
        entities: &[&str],
    ) -> Outcome<()> {
        let name = local(element);
        let Some((_, end)) = ENTITIES.iter().find(|(entity, _)| *entity == name) else {
            if name != "base_name" && entities.len() == ENTITIES.len() {
                self.not_applied.insert(name.to_owned());
            }
            return Ok(());
        };
        if !entities.contains(&name) {
            return Ok(());
        }
        self.bases(found, element, &[name])?;
        for child in elements(element).filter(|child| local(*child) != "base_name") {
            let (out, unknown) = (&mut self.ends[*end as usize], &mut self.unknown[*end as usize]);
            let read = policy(child, name, out, self.at, &mut self.not_applied);
            placed(read, found.document, self.files)?;
            for field in elements(child) {
                unknown.remove(&format!("{}/{}", local(child), local(field)));
            }
            if out.history.as_ref().is_some_and(|history| *history.get() == History::KeepAll) {
                unknown.remove("history/depth");
            }
        }
        Ok(())
    }

    /// Notes what the built-in profile says of itself: parts that are not applied, or without a known value.
    fn stated(&mut self, found: ProfileNode<'a, 'i>, entities: &[&str]) {
        let origin = self.open.iter().find_map(|(_, origin)| origin.clone());
        let origin = origin.unwrap_or_else(|| full_name(&found));
        let paths = |list: &str| found.node.attribute(list).unwrap_or_default().split_whitespace();
        for path in paths("not_applied") {
            let entity = path.split('/').next().unwrap_or(path);
            if entity == BOTH || entities.contains(&entity) || entities.len() == ENTITIES.len() {
                let part = path.strip_prefix("*/").unwrap_or(path);
                self.not_applied.insert(format!("{part} of `{origin}`"));
            }
        }
        for path in paths("unknown") {
            let Some((entity, part)) = path.split_once('/') else { continue };
            for end in End::BOTH {
                let own = ["datawriter_qos", "datareader_qos"][end as usize];
                if entities.contains(&own) && [BOTH, own].contains(&entity) {
                    self.unknown[end as usize].insert(part.to_owned(), origin.clone());
                }
            }
        }
    }

    /// Reads the bases of a profile or of one of its elements, in their order.
    fn bases(&mut self, found: ProfileNode<'a, 'i>, node: Node<'a, 'i>, entities: &[&str]) -> Outcome<()> {
        let document = found.document;
        if self.open.iter().any(|(open, _)| *open == node) {
            let own = error(node, "its base is itself".to_owned(), "remove a `base_name` of the circle");
            return placed(Err(own), document, self.files);
        }
        let listed = elements(node).filter(|child| local(*child) == "base_name");
        let listed = listed.flat_map(|list| elements(list).map(text).collect::<Vec<_>>());
        let bases: Vec<&str> = node.attribute("base_name").into_iter().chain(listed).collect();
        for base in bases {
            self.bases += 1;
            if self.bases > MAX_BASES || self.open.len() >= MAX_DEPTH {
                let words = format!("more than {MAX_BASES} bases, or {MAX_DEPTH} one below another");
                let error = error(node, words, "name fewer bases, or copy their policies");
                return placed(Err(error), document, self.files);
            }
            placed(resolved(node, base), document, self.files)?;
            let (of, name) = base.rsplit_once("::").unwrap_or((found.library, base));
            let Some(profile) = self.library.find((of, name)) else {
                let (words, hint) = self.library.unknown_base((of, name));
                return placed(Err(error(node, words, hint)), document, self.files);
            };
            let is_named = self.library.is_built_in(profile.document) && !self.library.is_built_in(document);
            let origin = is_named.then(|| format!("{of}::{name}"));
            self.built_in.extend(origin.clone());
            self.open.push((node, origin));
            self.profile(profile, entities)?;
            self.open.pop();
        }
        Ok(())
    }
}
