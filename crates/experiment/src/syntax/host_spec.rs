//! Ways to reach a host, as texts: `ssh:user@pi1`.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, de};

use super::{
    link::{LabSpec, LinkSpec},
    scalar::{schema, to_text},
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
    /// Process of `ddsmark perftest` that was started on another host, by its role and id. Only in results.
    Peer(String),
    /// Virtual hosts that the experiment creates. Each of them has this specification.
    Lab(LabSpec),
}

/// Word, example, and parser of the rest of a kind of host specification.
type Kind = (&'static str, &'static str, fn(&str) -> Option<HostSpec>);

/// Kinds of host specifications: the word, an example, and a parser of the text after `WORD:`, or of the empty text
/// after the word alone.
const KINDS: &[Kind] = &[
    ("local", "local", |rest| rest.is_empty().then_some(HostSpec::Local)),
    ("ssh", "ssh:[USER@]HOST[:PORT]", |rest| Target::parse(rest).map(HostSpec::Ssh)),
    ("netns", "netns:NAME", |rest| is_word(rest).then(|| HostSpec::Netns(rest.to_owned()))),
    ("slurm", "slurm[:NODE]", |rest| match rest {
        "" => Some(HostSpec::Slurm(None)),
        node => is_word(node).then(|| HostSpec::Slurm(Some(node.to_owned()))),
    }),
    ("peer", "peer:NAME", |rest| is_word(rest).then(|| HostSpec::Peer(rest.to_owned()))),
    ("lab", "lab:N", |rest| {
        let lab = if rest.starts_with(LAB) { None } else { rest.parse().ok() };
        lab.map(HostSpec::Lab)
    }),
];

/// Beginning of the specification of a lab.
pub(crate) const LAB: &str = "lab:";

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

    /// Returns the word that each kind of specification begins with.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(word, ..)| *word)
    }

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
            Self::Peer(name) => write!(f, "peer:{name}"),
            Self::Slurm(None) => f.write_str("slurm"),
            Self::Slurm(Some(node)) => write!(f, "slurm:{node}"),
            Self::Lab(lab) => lab.fmt(f),
        }
    }
}

to_text!(HostSpec);

impl<'de> Deserialize<'de> for HostSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        match Self::parse(&text) {
            Some(at) => Ok(at),
            None if text.starts_with(LAB) => Err(de::Error::custom(lab_error(&text))),
            None => Err(de::Error::invalid_value(de::Unexpected::Str(&text), &Self::EXPECTED)),
        }
    }
}

/// Returns why a text is not a lab, and the next step.
fn lab_error(text: &str) -> String {
    let error = text.parse::<LabSpec>().err();
    error.map_or_else(String::new, |error| format!("{error}\nhint: {}", error.hint()))
}

schema!(HostSpec, "HostSpec", {
    "description": "Way to reach a host: `local`, `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this host, `slurm[:NODE]`, a node of the allocation of Slurm, or each of its nodes, `peer:NAME`, a process of `ddsmark perftest`, or `lab:N`, virtual hosts that the experiment creates: `lab:4,rate=100mbit,delay=1ms,loss=0.1%,mtu=1500`.",
    "type": "string",
    "pattern": "^(local|slurm|(ssh|netns|slurm|lab|peer):.+)$",
});

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
            "peer:subscriber-0",
        ] {
            assert_eq!(HostSpec::parse(text).expect(text).to_string(), text);
        }
        // Only results have the last one: such a process starts by itself.
        for (word, example, _) in KINDS.iter().filter(|(word, ..)| *word != "peer") {
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
    fn lab_of_a_file_is_rejected_with_the_next_step() {
        let error = serde_json::from_str::<HostSpec>("\"lab:2,rate=5\"").expect_err("a rate without a unit");
        assert!(error.to_string().contains("invalid rate `5`\nhint: write 10kbit"), "{error}");
    }
}
