//! Hosts of the command line: `pi1=ssh:user@pi1,interface=eth0`.

use std::fmt;

use super::{
    host_spec::{HostSpec, LAB, is_host_name},
    spanned_error::{PlanError, contradiction},
};

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
    /// Returns an error if the name, the specification or the interface is invalid.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        if text.starts_with(LAB) {
            return Ok(Self { name: None, at: HostSpec::Lab(text.parse()?), interface: None });
        }
        let word = text.split(',').next().unwrap_or_default();
        if HostSpec::parse(word).is_some_and(|at| at.names_hosts()) {
            let (at, interface) = Self::reached(text)?;
            return Ok(Self { name: None, at, interface });
        }
        let (name, rest) = text.split_once('=').ok_or_else(|| {
            contradiction(
                "the host has no name",
                "write for instance `pi1=ssh:user@pi1`; only `lab:N` and `slurm` name their hosts",
            )
        })?;
        if !is_host_name(name) {
            let error = format!("`{}` is not a valid name of a host", name.escape_debug());
            return Err(contradiction(error, "use letters, digits, `-`, `_` and `.`"));
        }
        if rest.starts_with(LAB) {
            let hint = format!("write `{}` without a name", rest.escape_debug());
            return Err(contradiction("a lab names its hosts h1, h2 and so on", hint));
        }
        let (at, interface) = Self::reached(rest)?;
        if at.names_hosts() {
            let hint = format!("write `{rest}` without a name");
            return Err(contradiction(format!("`{at}` names its hosts itself"), hint));
        }
        Ok(Self { name: Some(name.to_owned()), at, interface })
    }

    /// Parses `SPEC[,interface=NAME]`.
    fn reached(text: &str) -> Result<(HostSpec, Option<String>), PlanError> {
        let (spec, rest) = text.split_once(',').map_or((text, None), |(spec, rest)| (spec, Some(rest)));
        let at = HostSpec::parse(spec).ok_or_else(|| {
            let error = format!("`{}` is not a valid way to reach a host", spec.escape_debug());
            contradiction(error, format!("use {}", HostSpec::EXPECTED))
        })?;
        let interface = match rest.map(|rest| (rest, rest.split_once('='))) {
            None => None,
            Some((_, Some(("interface", name)))) if !name.is_empty() && !name.contains(',') => {
                Some(name.to_owned())
            }
            Some((rest, _)) => {
                let error = format!("`{}` is not an interface", rest.escape_debug());
                return Err(contradiction(error, "after the comma, write for instance `interface=eth0`"));
            }
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
    }

    #[test]
    fn lab_of_the_command_line_names_its_hosts() {
        let flag = HostFlag::parse("lab:4,rate=100mbit,loss=0.1%").expect("a lab");
        assert_eq!((&flag.name, flag.to_string().as_str()), (&None, "lab:4,rate=100mbit,loss=0.1%"));
        assert_eq!(flag.entry(), r#"{ at = "lab:4,rate=100mbit,loss=0.1%" }"#);
        assert_eq!(flag.at.without_link().to_string(), "lab:4");
    }

    #[test]
    fn invalid_host_is_rejected_with_the_next_step() {
        for (wrong, error, hint) in [
            ("local", "the host has no name", "write for instance `pi1=ssh:user@pi1`"),
            ("slurm:n1", "the host has no name", "write for instance"),
            ("=local", "`` is not a valid name of a host", "use letters"),
            ("a b=local", "`a b` is not a valid name of a host", "use letters"),
            ("a=pi1", "`pi1` is not a valid way to reach a host", "`ssh:[USER@]HOST[:PORT]`"),
            ("a=local,", "`` is not an interface", "`interface=eth0`"),
            ("a=local,eth0", "`eth0` is not an interface", "`interface=eth0`"),
            ("a=local,interface=", "`interface=` is not an interface", "`interface=eth0`"),
            ("a=local,mtu=9000", "`mtu=9000` is not an interface", "`interface=eth0`"),
            ("a=local,interface=eth0,x=1", "is not an interface", "`interface=eth0`"),
            ("a=slurm", "`slurm` names its hosts itself", "write `slurm` without a name"),
            ("a=lab:2", "a lab names its hosts", "write `lab:2` without a name"),
            ("lab:1", "invalid number of hosts `1`", "write a whole number from 2 to 200"),
            ("lab:2,speed=1", "unknown property of a link: `speed=1`", "available: rate, delay, loss, mtu"),
        ] {
            let found = HostFlag::parse(wrong).expect_err(wrong);
            assert!(found.to_string().contains(error) && found.hint().contains(hint), "{wrong}: {found:?}");
        }
    }
}
