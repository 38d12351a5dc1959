//! Placement: the hosts of the endpoints of a run.

use std::fmt;

use crate::syntax::{host_spec::is_host_name, scalar::textual};

/// Value of the factor `interface` for the interface that each host has of its own.
pub const OWN_INTERFACE: &str = "auto";

/// Hosts of endpoints, by the ids of the endpoints or by their roles.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement {
    /// Id or role of endpoints, and the name of their host; in the order of the text.
    pub entries: Vec<(String, String)>,
}

impl Placement {
    const EXPECTED: &str = "endpoints or roles with their hosts, such as `writer@pi1,reader@pi2`";
    /// Text of the placement by default.
    const DEFAULT: &str = "default";

    /// Parses a placement. `+` separates like a comma, as in the ids of cells.
    fn parse(text: &str) -> Option<Self> {
        if text.trim() == Self::DEFAULT {
            return Some(Self::default());
        }
        let entry = |entry: &str| {
            let (endpoint, host) = entry.trim().split_once('@')?;
            let named = is_host_name(endpoint) && is_host_name(host);
            named.then(|| (endpoint.to_owned(), host.to_owned()))
        };
        let entries: Vec<(String, String)> = text.split([',', '+']).map(entry).collect::<Option<_>>()?;
        let is_twice = |index: usize| entries[..index].iter().any(|(known, _)| *known == entries[index].0);
        (!(0..entries.len()).any(is_twice)).then_some(Self { entries })
    }

    /// Returns whether endpoints are placed by default.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the placement as a part of an id, without commas.
    pub(crate) fn id(&self) -> String {
        self.to_string().replace(',', "+")
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_default() {
            return f.write_str(Self::DEFAULT);
        }
        for (index, (endpoint, host)) in self.entries.iter().enumerate() {
            write!(f, "{}{endpoint}@{host}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

textual!(
    Placement,
    Invalid,
    {
        "description": "Hosts of endpoints or roles, such as `writer@pi1,reader@pi2`; `default` places them by a rule.",
        "type": "string",
        "pattern": "^ *(default|[^@ ]+@[^@ ]+( *[,+] *[^@ ]+@[^@ ]+)*) *$",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placement_names_a_host_for_each_endpoint() {
        let placement = Placement::parse("writer@pi1, reader-2@pi2").expect("a placement");
        assert_eq!(
            (placement.to_string(), placement.id()),
            ("writer@pi1,reader-2@pi2".to_owned(), "writer@pi1+reader-2@pi2".to_owned())
        );
        assert_eq!(Placement::parse(&placement.id()), Some(placement));
        assert_eq!(Placement::parse("default"), Some(Placement::default()));
        for wrong in [
            "",
            "writer",
            "writer@",
            "@pi1",
            "writer@pi1,",
            "writer@pi1@pi2",
            "writer@pi1,writer@pi2",
            "a b@c",
        ] {
            assert_eq!(Placement::parse(wrong), None, "{wrong}");
        }
    }
}
