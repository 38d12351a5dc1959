//! Ways to reach a host, as texts: `ssh:user@pi1`.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{ssh_target::Target, units::textual};

/// Way to reach a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostSpec {
    /// This host.
    Local,
    /// Host that `ssh` reaches.
    Ssh(Target),
    /// Network namespace of this host, by the name that `ip netns` has for it.
    Netns(String),
    /// Node of the allocation of Slurm that ddsmark runs in; `None`: each of its nodes.
    Slurm(Option<String>),
}

/// Word, example, and parser of the rest of a kind of host specification.
type Kind = (&'static str, &'static str, fn(&str) -> Option<HostSpec>);

/// Kinds of host specifications: the word, an example, and a parser of the text after `WORD:`, or of the empty text
/// after the word alone.
const KINDS: &[Kind] = &[
    ("local", "local", |rest| rest.is_empty().then_some(HostSpec::Local)),
    ("ssh", "ssh:[USER@]HOST[:PORT]", |rest| rest.parse().ok().map(HostSpec::Ssh)),
    ("netns", "netns:NAME", |rest| is_word(rest).then(|| HostSpec::Netns(rest.to_owned()))),
    ("slurm", "slurm[:NODE]", |rest| match rest {
        "" => Some(HostSpec::Slurm(None)),
        node => is_word(node).then(|| HostSpec::Slurm(Some(node.to_owned()))),
    }),
];

/// Returns whether a text can be the name of a network namespace or a node. It is an argument of `ip` or `srun`.
fn is_word(name: &str) -> bool {
    is_host_name(name) && !name.starts_with(['-', '.'])
}

/// Returns whether a text can be the name of a host: letters, digits, `-`, `_` and `.`, at most 64.
#[must_use]
pub(crate) fn is_host_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

impl HostSpec {
    /// Accepted texts, for error messages.
    pub const EXPECTED: &str = "`local`, `ssh:[USER@]HOST[:PORT]`, `netns:NAME` or `slurm[:NODE]`";

    /// Parses a specification; returns `None` if it is invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let (.., parse) = KINDS.iter().find(|(known, ..)| *known == word)?;
        // A colon announces more.
        parse(rest).filter(|_| text == word || !rest.is_empty())
    }

    /// Returns whether it stands for several hosts, which have names of their own.
    #[must_use]
    pub const fn names_hosts(&self) -> bool {
        matches!(self, Self::Slurm(None))
    }
}

impl fmt::Display for HostSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Ssh(target) => write!(f, "ssh:{target}"),
            Self::Netns(name) => write!(f, "netns:{name}"),
            Self::Slurm(None) => f.write_str("slurm"),
            Self::Slurm(Some(node)) => write!(f, "slurm:{node}"),
        }
    }
}

impl Serialize for HostSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

textual!(
    HostSpec,
    false,
    json_schema!({
        "description": "Way to reach a host: `local`, `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this host, or `slurm[:NODE]`, a node of the allocation of Slurm, or each of its nodes.",
        "type": "string",
        "pattern": "^(local|slurm|(ssh|netns|slurm):.+)$",
    })
);

/// Host of the command line: `NAME=SPEC[,interface=NAME]`. A specification of several hosts needs no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFlag {
    /// Name of the host in the experiment.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Network interface to the other hosts, if it is given.
    pub interface: Option<String>,
}

impl HostFlag {
    /// Parses a host of the command line.
    ///
    /// # Errors
    /// Returns the text of an error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let word = text.split(',').next().unwrap_or_default();
        let (name, rest) = match HostSpec::parse(word) {
            Some(at) if at.names_hosts() => (word, text),
            _ => text.split_once('=').ok_or("write for instance `pi1=ssh:user@pi1`")?,
        };
        if !is_host_name(name) {
            return Err(format!("`{name}` is not a valid name: use letters, digits, `-`, `_` and `.`"));
        }
        let (spec, rest) = rest.split_once(',').map_or((rest, None), |(spec, rest)| (spec, Some(rest)));
        let at = HostSpec::parse(spec).ok_or_else(|| {
            let spec = spec.escape_debug();
            format!("`{spec}` is not a valid way to reach a host: use {}", HostSpec::EXPECTED)
        })?;
        let interface = match rest.map(|rest| rest.split_once('=')) {
            None => None,
            Some(Some(("interface", name))) if !name.is_empty() && !name.contains(',') => {
                Some(name.to_owned())
            }
            Some(_) => return Err("after the comma, write for instance `interface=eth0`".to_owned()),
        };
        Ok(Self { name: name.to_owned(), at, interface })
    }

    /// Returns it as an entry of the array `host` of an experiment file.
    #[must_use]
    pub fn entry(&self) -> String {
        let Self { name, at, interface } = self;
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut entry = format!("{{ name = {}, at = {}", text(name), text(&at.to_string()));
        if let Some(interface) = interface {
            entry.push_str(&format!(", interface = {}", text(interface)));
        }
        entry.push_str(" }");
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specification_names_a_way_to_a_host() {
        for text in [
            "local",
            "ssh:pi1",
            "ssh:user@pi1:2222",
            "ssh:u@[fe80::1%eth0]",
            "netns:left",
            "slurm",
            "slurm:n1",
        ] {
            assert_eq!(HostSpec::parse(text).expect(text).to_string(), text);
        }
        for (word, example, _) in KINDS {
            assert!(example.starts_with(word) && HostSpec::EXPECTED.contains(example), "{example}");
        }
        for text in [
            "",
            "local:",
            "local:x",
            "ssh",
            "ssh:",
            "ssh:-oProxyCommand=x",
            "netns:",
            "netns:-x",
            "netns:a/b",
            "netns:..",
            "slurm:",
            "slurm:-N2",
            "slurm:n[1-2]",
            "telnet:pi1",
            "pi1",
        ] {
            assert_eq!(HostSpec::parse(text), None, "{text}");
        }
    }

    #[test]
    fn host_of_the_command_line_has_a_name_and_perhaps_an_interface() {
        let flag = HostFlag::parse("pi1=ssh:user@pi1,interface=eth0").expect("a host");
        assert_eq!((flag.name.as_str(), flag.interface.as_deref()), ("pi1", Some("eth0")));
        assert_eq!(flag.entry(), r#"{ name = "pi1", at = "ssh:user@pi1", interface = "eth0" }"#);
        let flag = HostFlag::parse("here=local").expect("a host");
        assert_eq!(
            (flag.at.clone(), flag.entry().as_str()),
            (HostSpec::Local, r#"{ name = "here", at = "local" }"#)
        );
        let flag = HostFlag::parse("slurm,interface=ib0").expect("hosts");
        assert_eq!(flag.entry(), r#"{ name = "slurm", at = "slurm", interface = "ib0" }"#);
        assert_eq!(HostFlag::parse("slurm"), HostFlag::parse("slurm=slurm"));
        for wrong in [
            "local",
            "slurm:n1",
            "=local",
            "a b=local",
            "a=pi1",
            "a=local,",
            "a=local,eth0",
            "a=local,interface=",
            "a=local,mtu=9000",
            "a=local,interface=eth0,x=1",
        ] {
            assert!(HostFlag::parse(wrong).is_err(), "{wrong}");
        }
    }
}
