//! QoS profiles that an experiment names without defining them: presets, and profiles of XML files.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    factors::{Factors, dds_xml, policies::Policies, presets},
    syntax::{
        input_file::{FileError, InputFile},
        one_or_many::Span,
        spanned_error::{PlanError, available, contradiction, of_file},
    },
};

pub use dds_xml::variable_names;

/// Separator of a file and the profile in it.
const IN_FILE: char = '#';
/// Separator of a library and a profile of it.
const IN_LIBRARY: &str = "::";

/// QoS profile: its policies, and a note for the user about it.
#[derive(Clone, Debug, PartialEq)]
pub struct QosProfile {
    /// Policies of the profile.
    pub policies: Policies,
    /// Origin of the policies, and the settings of the file that are not applied; `None` for a preset.
    pub note: Option<String>,
    /// SHA-256 of the files that the policies are from, and the variables in them; `None` for a preset.
    pub identity: Option<String>,
}

/// Returns the file that a profile's name refers to, `FILE` of `FILE#LIBRARY::PROFILE`, or its list of files; `None` for
/// other names.
#[must_use]
pub fn profile_file(name: &str) -> Option<&str> {
    name.rsplit_once(IN_FILE).map(|(file, _)| file)
}

/// Returns the QoS profile with this name: `shipped`, `ros2:PRESET`, or `FILE#LIBRARY::PROFILE`, a profile of an XML file as OMG
/// DDS-XML 1.0 defines it. Returns `None` for any other name. `files` has the content of the file, by the name that
/// [`profile_file`] returns. `at` is the position of the name, which becomes that of each policy; `0..0` if the name is
/// not from an experiment file.
///
/// Policies that a file or a preset of ROS 2 leaves out are not requested, except for reliability and history, for which
/// an experiment file has defaults of its own: those are the defaults of DDS 1.4.
///
/// # Errors
/// Returns an error if there is no such preset, or if the file was not read, is invalid, or lacks the profile.
pub fn qos_profile(
    name: &str,
    files: &BTreeMap<String, InputFile>,
    at: &Span,
) -> Result<Option<QosProfile>, PlanError> {
    if name == presets::SHIPPED {
        return Ok(Some(QosProfile { policies: presets::shipped(at), note: None, identity: None }));
    }
    if let Some(preset) = name.strip_prefix(presets::PREFIX) {
        let unknown = || contradiction(format!("profile `{name}` not found"), available(&presets::names()));
        let policies = presets::policies(preset, at).ok_or_else(unknown)?;
        return Ok(Some(QosProfile { policies, note: None, identity: None }));
    }
    let Some((file, profile)) = name.rsplit_once(IN_FILE) else { return Ok(None) };
    let error = |fault| of_file("QoS file", file, &fault);
    let Some(input) = files.get(file) else {
        let hint = "name a file that exists".into();
        return Err(error(FileError { line: 0, column: 0, words: "the file was not read".to_owned(), hint }));
    };
    let Some((library, profile)) = profile.split_once(IN_LIBRARY) else {
        let words = format!("`{profile}` is not a name of a library and a profile");
        let hint = "write `FILE#LIBRARY::PROFILE`".into();
        return Err(error(FileError { line: 0, column: 0, words, hint }));
    };
    let read = dds_xml::read(input, (library, profile), at).map_err(error)?;
    let list = |parts: &BTreeSet<String>| parts.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let variables: Vec<String> =
        read.variables.iter().map(|(name, value)| format!("{name} = `{value}`")).collect();
    let files: Vec<String> =
        read.files.iter().map(|(path, sha256)| format!("{path} (SHA-256 {sha256})")).collect();
    let mut note = format!("profile `{name}` is from {}", files.join(" and "));
    for (title, parts) in [
        ("environment variables", variables.join(", ")),
        ("built on profiles whose values are those of public sources", list(&read.built_in)),
        ("unknown and left at the default", list(&read.unknown)),
        ("not applied", list(&read.not_applied)),
    ] {
        if !parts.is_empty() {
            note = format!("{note}; {title}: {parts}");
        }
    }
    let hashes = read.files.into_iter().map(|(_, sha256)| sha256);
    let identity = hashes.chain(variables).collect::<Vec<_>>().join(", ");
    Ok(Some(QosProfile { policies: read.policies, note: Some(note), identity: Some(identity) }))
}

/// Returns the parts of ids for profiles. A profile of a file has its name in the file, or all of its name if another
/// profile of the experiment ends in the same.
pub(super) fn ids(all: &[Factors]) -> Vec<Vec<String>> {
    let names: BTreeSet<&str> = all.iter().filter_map(|cell| cell.profile.as_deref()).collect();
    let short = |name: &str| match name.rsplit_once(IN_FILE) {
        None => name.to_owned(),
        Some((_, profile)) => profile.rsplit(IN_LIBRARY).next().unwrap_or(profile).to_owned(),
    };
    let of = |name: &str| {
        let is_unique = names.iter().filter(|other| short(other) == short(name)).count() == 1;
        if is_unique { short(name) } else { name.to_owned() }
    };
    all.iter().map(|cell| cell.profile.as_deref().map(of).into_iter().collect()).collect()
}
