//! Ways to reach a host, as texts: `ssh:user@pi1`.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    link::{LabSpec, LinkSpec},
    ssh_target::Target,
};

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
    /// Virtual hosts that the experiment creates. Each of them has this specification.
    Lab(LabSpec),
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
    ("lab", "lab:N", |rest| {
        let lab = if rest.starts_with(LAB) { None } else { rest.parse().ok() };
        lab.map(HostSpec::Lab)
    }),
];

/// Beginning of the specification of a lab.
const LAB: &str = "lab:";

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
    pub const EXPECTED: &str = "`local`, `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, `slurm[:NODE]` or `lab:N`";

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
        matches!(self, Self::Slurm(None) | Self::Lab(_))
    }

    /// Returns the virtual hosts, if it creates some.
    #[must_use]
    pub const fn lab(&self) -> Option<&LabSpec> {
        match self {
            Self::Lab(lab) => Some(lab),
            _ => None,
        }
    }

    /// Returns it without rate, delay and loss of links: they are factors of the cells.
    #[must_use]
    pub fn without_link(&self) -> Self {
        let Self::Lab(lab) = self else { return self.clone() };
        let link = LinkSpec { mtu_bytes: lab.link.mtu_bytes, ..LinkSpec::default() };
        Self::Lab(LabSpec { link, ..*lab })
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
            Self::Lab(lab) => lab.fmt(f),
        }
    }
}

impl Serialize for HostSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        match Self::parse(&text) {
            Some(at) => Ok(at),
            None if text.starts_with(LAB) => Err(de::Error::custom(lab_error(&text, "\nhint: "))),
            None => Err(de::Error::invalid_value(de::Unexpected::Str(&text), &Self::EXPECTED)),
        }
    }
}

/// Returns why a text is not a lab, and the next step after a separator.
fn lab_error(text: &str, separator: &str) -> String {
    let error = text.parse::<LabSpec>().err();
    error.map_or_else(String::new, |error| format!("{error}{separator}{}", error.hint()))
}

impl JsonSchema for HostSpec {
    fn schema_name() -> Cow<'static, str> {
        "HostSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Way to reach a host: `local`, `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this host, `slurm[:NODE]`, a node of the allocation of Slurm, or each of its nodes, or `lab:N`, virtual hosts that the experiment creates: `lab:4,rate=100mbit,delay=1ms,loss=0.1%,mtu=1500`.",
            "type": "string",
            "pattern": "^(local|slurm|(ssh|netns|slurm|lab):.+)$",
        })
    }
}

/// Host of the command line: `NAME=SPEC[,interface=NAME]`. A specification of several hosts has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFlag {
    /// Name of the host in the experiment; `None` for a specification that names its hosts.
    pub name: Option<String>,
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
        if text.starts_with(LAB) {
            let at = HostSpec::parse(text).ok_or_else(|| lab_error(text, "; "))?;
            return Ok(Self { name: None, at, interface: None });
        }
        let word = text.split(',').next().unwrap_or_default();
        if HostSpec::parse(word).is_some_and(|at| at.names_hosts()) {
            let (at, interface) = Self::reached(text)?;
            return Ok(Self { name: None, at, interface });
        }
        let (name, rest) = text.split_once('=').ok_or("write for instance `pi1=ssh:user@pi1`, or `lab:2`")?;
        if !is_host_name(name) {
            return Err(format!("`{name}` is not a valid name: use letters, digits, `-`, `_` and `.`"));
        }
        if rest.starts_with(LAB) {
            return Err(format!("a lab names its hosts h1, h2 and so on: write `{rest}` without a name"));
        }
        let (at, interface) = Self::reached(rest)?;
        if at.names_hosts() {
            return Err(format!("`{at}` names its hosts itself: write `{rest}` without a name"));
        }
        Ok(Self { name: Some(name.to_owned()), at, interface })
    }

    /// Parses `SPEC[,interface=NAME]`.
    fn reached(text: &str) -> Result<(HostSpec, Option<String>), String> {
        let (spec, rest) = text.split_once(',').map_or((text, None), |(spec, rest)| (spec, Some(rest)));
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
        Ok((at, interface))
    }

    /// Returns it as an entry of the array `host` of an experiment file.
    #[must_use]
    pub fn entry(&self) -> String {
        let Self { name, at, interface } = self;
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let name = name.as_ref().map_or_else(String::new, |name| format!("name = {}, ", text(name)));
        let mut entry = format!("{{ {name}at = {}", text(&at.to_string()));
        if let Some(interface) = interface {
            entry.push_str(&format!(", interface = {}", text(interface)));
        }
        entry.push_str(" }");
        entry
    }
}

impl fmt::Display for HostFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map_or_else(String::new, |name| format!("{name}="));
        write!(f, "{name}{}", self.at)
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
            "lab:2",
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
            "lab:",
            "lab:1",
            "lab:lab:2",
            "lab:2,interface=eth0",
            "telnet:pi1",
            "pi1",
        ] {
            assert_eq!(HostSpec::parse(text), None, "{text}");
        }
    }

    #[test]
    fn host_of_the_command_line_has_a_name_and_perhaps_an_interface() {
        let flag = HostFlag::parse("pi1=ssh:user@pi1,interface=eth0").expect("a host");
        assert_eq!((flag.name.as_deref(), flag.interface.as_deref()), (Some("pi1"), Some("eth0")));
        assert_eq!(flag.to_string(), "pi1=ssh:user@pi1");
        assert_eq!(flag.entry(), r#"{ name = "pi1", at = "ssh:user@pi1", interface = "eth0" }"#);
        let flag = HostFlag::parse("here=local").expect("a host");
        assert_eq!(
            (flag.at.clone(), flag.entry().as_str()),
            (HostSpec::Local, r#"{ name = "here", at = "local" }"#)
        );
        let flag = HostFlag::parse("slurm,interface=ib0").expect("hosts");
        assert_eq!(flag.entry(), r#"{ at = "slurm", interface = "ib0" }"#);
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
    #[test]
    fn lab_of_the_command_line_names_its_hosts() {
        let flag = HostFlag::parse("lab:4,rate=100mbit,loss=0.1%").expect("a lab");
        assert_eq!((&flag.name, flag.to_string().as_str()), (&None, "lab:4,rate=100mbit,loss=0.1%"));
        assert_eq!(flag.entry(), r#"{ at = "lab:4,rate=100mbit,loss=0.1%" }"#);
        assert_eq!(flag.at.without_link().to_string(), "lab:4");
        for (wrong, cause) in [
            ("lab:1", "invalid number of hosts `1`; write a whole number from 2 to 200"),
            ("lab:2,speed=1", "unknown property of a link: `speed=1`; available: rate, delay, loss, mtu"),
            ("a=lab:2", "write `lab:2` without a name"),
        ] {
            let error = HostFlag::parse(wrong).expect_err(wrong);
            assert!(error.contains(cause), "{error}");
        }
        let error = serde_json::from_str::<HostSpec>("\"lab:2,rate=5\"").expect_err("a rate without a unit");
        assert!(error.to_string().contains("invalid rate `5`\nhint: write 10kbit"), "{error}");
    }
}
