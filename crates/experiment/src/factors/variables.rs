//! The factor `env`: environment variables of the agents.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use driver_abi::description::DriverDescription;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    factors::Factors,
    syntax::{
        one_or_many::{Located, OneOrMany},
        scalar::{Rejection, Scalar, scalar, schema},
        spanned_error::{PlanError, SpannedError, all_distinct},
    },
};

/// Environment variables of the agents by name; `None` removes the variable.
pub type Variables = BTreeMap<String, Option<String>>;

/// Values of each variable in the experiment file.
pub(crate) type VariableAxes = BTreeMap<Located<String>, OneOrMany<VariableValue>>;

/// Prefixes of variables that affect every program.
pub const VARIABLES_OF_ALL_PROGRAMS: &[&str] = &["LD_", "GLIBC_TUNABLES", "MALLOC_"];

/// Prefix of the variables that ddsmark sets and reads itself.
const RESERVED: &str = "DDSMARK_";
/// Maximum length of a value in a cell's id.
const ID_CHARS: usize = 32;
/// Maximum length of a value in a table.
const SHOWN_CHARS: usize = 60;

const VALUE: &str =
    "text, a whole number, or `false`, which removes the variable; the texts `true` and `false` in quotes";

/// Value of an environment variable in the file: text, a whole number, or `false`, which removes the variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariableValue(pub Option<String>);

impl fmt::Display for VariableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("false"))
    }
}

impl Serialize for VariableValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for VariableValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer, VALUE, |scalar| match scalar {
            Scalar::Text(text) => Ok(Self(Some(text.clone()))),
            Scalar::Integer(number) => Ok(Self(Some(number.to_string()))),
            Scalar::Flag(false) => Ok(Self(None)),
            // `true` would look like the opposite of `false`, which is not a text either.
            Scalar::Flag(true) => Err(Rejection::Value),
            Scalar::Float(_) => Err(Rejection::Type),
        })
    }
}

schema!(VariableValue, "VariableValue", {
    "description": "Text, a whole number, or `false`, which removes the variable.",
    "anyOf": [{ "type": ["string", "integer"] }, { "const": false }],
});

/// Rejects invalid names and values, and names that ddsmark sets itself.
pub(crate) fn check(axes: &VariableAxes) -> Result<(), SpannedError> {
    for (name, values) in axes {
        let text = name.get();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if text.is_empty() || !text.chars().all(plain) || text.starts_with(|c: char| c.is_ascii_digit()) {
            let words = format!("`{}` is not a valid name of an environment variable", text.escape_debug());
            return name.refused(words, "use letters, digits and `_`, and begin with no digit");
        }
        if text.starts_with(RESERVED) {
            let words = format!("`{text}` is a variable of ddsmark itself");
            return name.refused(words, "remove it: `DDSMARK_` variables are not factors");
        }
        if values.0.is_empty() {
            return Err(PlanError::nothing("values of the variable").at(name.span()));
        }
        for value in &values.0 {
            if value.get().0.as_ref().is_some_and(|text| text.contains('\0')) {
                let words = format!("the value of `{text}` contains a NUL byte");
                return value.refused(words, "remove the NUL byte");
            }
        }
        all_distinct("value of the variable", values)?;
    }
    Ok(())
}

/// Returns the number of combinations.
pub(crate) fn count(axes: &VariableAxes) -> usize {
    axes.values().map(|values| values.0.len()).fold(1, usize::saturating_mul)
}

/// Returns every combination. The caller has checked their number.
pub(crate) fn combinations(axes: &VariableAxes) -> Vec<Variables> {
    let mut all = vec![Variables::new()];
    for (name, values) in axes {
        let with = |combination: Variables| {
            values.values().map(move |value| {
                let mut with = combination.clone();
                with.insert(name.get().clone(), value.0.clone());
                with
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all
}

/// Returns whether a cell has one of the selected values of each selected variable.
pub(crate) fn selects(selection: &VariableAxes, variables: &Variables) -> bool {
    selection.iter().all(|(name, values)| {
        variables.get(name.get()).is_some_and(|value| values.values().any(|requested| requested.0 == *value))
    })
}

/// Returns the variables of a cell by name; a removed variable has no value.
pub(crate) fn by_name(cell: &Factors) -> BTreeMap<&str, Option<&str>> {
    cell.env.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect()
}

/// Returns the names of the variables with a value that the middleware of a driver does not read, as far as the driver declares some.
pub(crate) fn unread<'v>(axes: &'v VariableAxes, driver: &DriverDescription) -> Vec<&'v str> {
    let is_unread = |name: &str| {
        let is_of_all = VARIABLES_OF_ALL_PROGRAMS.iter().any(|beginning| name.starts_with(beginning));
        !driver.variables.is_empty() && !driver.reads_variable(name) && !is_of_all
    };
    let has_value = |values: &OneOrMany<VariableValue>| values.values().any(|value| value.0.is_some());
    let set = axes.iter().filter(|(_, values)| has_value(values)).map(|(name, _)| name.get().as_str());
    set.filter(|name| is_unread(name)).collect()
}

/// Returns the names of the variables whose values differ.
pub(crate) fn varied<'v>(all: impl Iterator<Item = &'v Variables>) -> Vec<&'v String> {
    let all: Vec<&Variables> = all.collect();
    let names: BTreeSet<&String> = all.iter().flat_map(|variables| variables.keys()).collect();
    let differ = |name: &&String| all.iter().any(|variables| variables.get(*name) != all[0].get(*name));
    names.into_iter().filter(differ).collect()
}

/// Returns the parts of the cells' ids: each variable that differs between cells, with a short form of its value.
pub(crate) fn ids(all: &[Factors]) -> Vec<Vec<String>> {
    let varied = varied(all.iter().map(|factors| &factors.env));
    let of = |factors: &Factors| {
        let part = |name: &&String| {
            let word = match factors.env.get(*name)? {
                None => "unset".to_owned(),
                Some(value) => {
                    let values: BTreeSet<&str> =
                        all.iter().filter_map(|factors| factors.env.get(*name)?.as_deref()).collect();
                    short(value, &values)
                }
            };
            Some(format!("{name}-{word}"))
        };
        varied.iter().filter_map(part).collect()
    };
    all.iter().map(of).collect()
}

/// Returns the short form of a value for an id; of a path, as many of its last components as distinguish it from
/// the others.
fn short(value: &str, values: &BTreeSet<&str>) -> String {
    let is_path = |text: &str| ["/", "./", "../", "file://"].iter().any(|begin| text.starts_with(begin));
    let tail = |text: &str, components: usize| -> String {
        let all: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
        all[all.len().saturating_sub(components)..].join("-")
    };
    let is_sane = |c: char| c.is_ascii_alphanumeric() || ".@+".contains(c);
    let words = |text: &str| -> String {
        let words = text.split(|c| !is_sane(c)).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    };
    let word = if is_path(value) {
        let differs = |components: &usize| {
            values.iter().all(|other| *other == value || tail(other, *components) != tail(value, *components))
        };
        let most = value.split('/').count();
        let tail = tail(value, (1..most).find(differs).unwrap_or(most));
        // A configuration file is known by its stem.
        let tail = words(tail.strip_suffix(".xml").unwrap_or(&tail));
        tail[tail.len().saturating_sub(ID_CHARS)..].to_owned()
    } else {
        words(value).chars().take(ID_CHARS).collect()
    };
    if word.is_empty() { "empty".to_owned() } else { word }
}

impl Factors {
    /// Returns the environment variables for tables: `NAME=VALUE, OTHER not set`; empty without variables.
    #[must_use]
    pub fn env_text(&self) -> String {
        let text = |(name, value): (&String, &Option<String>)| match value {
            None => format!("{name} not set"),
            Some(value) => {
                let plain: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                match plain.char_indices().nth(SHOWN_CHARS) {
                    Some((end, _)) => format!("{name}={}...", &plain[..end]),
                    None => format!("{name}={plain}"),
                }
            }
        };
        self.env.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_value_is_safe_and_tells_paths_apart() {
        let of = |value: &str, others: &[&str]| short(value, &others.iter().copied().collect());
        assert_eq!(of("/opt/new/lib/libx.so", &["/opt/new/lib/libx.so"]), "libx.so");
        let both = ["/opt/new/lib/libx.so", "/opt/old/lib/libx.so"];
        assert_eq!(both.map(|path| of(path, &both)), ["new-lib-libx.so", "old-lib-libx.so"]);
        assert_eq!(of("file:///etc/dds.xml", &["file:///etc/dds.xml"]), "dds");
        let both = ["file:///a/dds.xml", "file:///b/dds.xml"];
        assert_eq!(both.map(|uri| of(uri, &both)), ["a-dds", "b-dds"]);
        assert_eq!(of("<Domain id=\"any\">\n</Domain>", &[]), "Domain-id-any-Domain");
        assert_eq!([of("4", &[]), of("", &[]), of("/", &[])], ["4", "empty", "empty"]);
        assert_eq!(of(&"a".repeat(100), &[]).len(), 32);
    }
}
