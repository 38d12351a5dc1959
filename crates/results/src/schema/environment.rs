//! Properties of host and software that can affect the values, as fields that can be compared one by one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Fields by group and name, for example `sysctl`, `net.core.rmem_max`: `212992`. Fields that could not be read are
/// absent.
pub type EnvironmentFields = BTreeMap<String, BTreeMap<String, String>>;

/// Environment of a measurement, as fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// SHA-256 of all fields: `GROUP/NAME=VALUE`, sorted, each followed by a zero byte.
    pub sha256: String,
    /// Fields by group and name.
    pub fields: EnvironmentFields,
}

/// Field in which two environments differ. A value is `None` if an environment does not have the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentDifference {
    /// Path of the field: `GROUP/NAME`.
    pub path: String,
    /// Value in the first environment.
    pub left: Option<String>,
    /// Value in the second environment.
    pub right: Option<String>,
}

impl Environment {
    /// Creates an environment from its fields.
    #[must_use]
    pub fn new(fields: EnvironmentFields) -> Self {
        let mut environment = Self { sha256: String::new(), fields };
        environment.sha256 = environment.hash();
        environment
    }

    /// Returns all fields as `GROUP/NAME` and value, sorted by group and name.
    pub fn flat(&self) -> impl Iterator<Item = (String, &str)> {
        self.fields.iter().flat_map(|(group, fields)| {
            fields.iter().map(move |(name, value)| (format!("{group}/{name}"), value.as_str()))
        })
    }

    /// Returns the fields in which two environments differ, sorted.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<EnvironmentDifference> {
        let (left, right): (BTreeMap<_, _>, BTreeMap<_, _>) = (self.flat().collect(), other.flat().collect());
        let paths: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
        paths
            .into_iter()
            .filter(|path| left.get(*path) != right.get(*path))
            .map(|path| EnvironmentDifference {
                path: path.clone(),
                left: left.get(path).map(|value| (*value).to_owned()),
                right: right.get(path).map(|value| (*value).to_owned()),
            })
            .collect()
    }

    fn hash(&self) -> String {
        let fields: String = self.flat().map(|(path, value)| format!("{path}={value}\0")).collect();
        sha256(fields.as_bytes())
    }
}

/// Returns the SHA-256 of the bytes in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl std::fmt::Display for EnvironmentDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = |value: &Option<String>| value.as_ref().map_or("absent".to_owned(), |v| format!("`{v}`"));
        write!(f, "{}: {}, now {}", self.path, value(&self.left), value(&self.right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(fields: &[(&str, &str, &str)]) -> Environment {
        let mut groups = EnvironmentFields::new();
        for (group, name, value) in fields {
            groups.entry((*group).to_owned()).or_default().insert((*name).to_owned(), (*value).to_owned());
        }
        Environment::new(groups)
    }

    #[test]
    fn each_field_that_differs_is_named_and_the_hash_tells_all_of_them() {
        let here = environment(&[("host", "kernel", "6.1"), ("sysctl", "a.b", "1")]);
        let there = environment(&[("host", "kernel", "6.1"), ("host", "smt", "on"), ("sysctl", "a.b", "2")]);
        assert_eq!(here.differences(&here), []);
        assert_eq!(here, environment(&[("sysctl", "a.b", "1"), ("host", "kernel", "6.1")]));
        let texts: Vec<String> = here.differences(&there).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["host/smt: absent, now `on`", "sysctl/a.b: `1`, now `2`"]);
        assert_ne!(here.sha256, there.sha256);
        // SHA-256 of "a/b=c\0", computed by another program
        assert_eq!(
            environment(&[("a", "b", "c")]).sha256,
            "f50a80af568deb5db1163d8b9f12085315f4e458ff95206fc9783226b43da31a"
        );
    }
}
