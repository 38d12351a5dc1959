//! Middleware versions, and driver names that contain one.

use std::{cmp::Reverse, fmt, str::FromStr};

/// Separator between the name of a driver and the version of its middleware: `NAME@VERSION`.
pub(crate) const AT: char = '@';

/// Version: numbers separated by dots, compared number by number. 2.14 is higher than 2.9, and 3.2.1 higher than 3.2.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(Vec<u64>);

impl Version {
    /// Returns whether this version equals `wanted` or starts with it: 3.2.1 matches 3.2, 3.20 does not.
    #[must_use]
    pub fn is_of(&self, wanted: &Self) -> bool {
        self.0.starts_with(&wanted.0)
    }

    /// Returns the version at the start of a text: the version text of a library may have a suffix.
    #[must_use]
    pub fn leading(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        text[..end].trim_end_matches('.').parse().ok()
    }
}

/// Invalid version text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a version: numbers separated by dots")]
pub struct ParseVersionError;

impl FromStr for Version {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, ParseVersionError> {
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if digits { part.parse().map_err(|_| ParseVersionError) } else { Err(ParseVersionError) }
        };
        text.split('.').map(number).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.pad(&numbers.join("."))
    }
}

/// Splits the name of a driver at the `@` into name and version.
#[must_use]
pub fn split(driver: &str) -> (&str, Option<&str>) {
    driver.split_once(AT).map_or((driver, None), |(name, version)| (name, Some(version)))
}

/// Returns a sort key: by name, then the driver without a version, then by descending version.
pub(crate) fn order(driver: &str) -> impl Ord + use<> {
    let (name, version) = split(driver);
    let version = version.map(|version| (Reverse(version.parse::<Version>().ok()), version.to_owned()));
    (name.to_owned(), version)
}

/// Returns the known drivers that match a requested one, the best match first: the one with exactly this name, then
/// those whose version starts with the requested one, in descending order.
pub(crate) fn select<'a>(driver: &str, known: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let same = known.clone().find(|name| *name == driver);
    let (name, wanted) = split(driver);
    let Ok(wanted) = wanted.map(str::parse::<Version>).transpose() else { return Vec::from_iter(same) };
    let versions = known.filter_map(|other| {
        let (of, version) = split(other);
        let version: Version = version?.parse().ok()?;
        let is_meant =
            other != driver && of == name && wanted.as_ref().is_none_or(|wanted| version.is_of(wanted));
        is_meant.then_some((version, other))
    });
    let mut versions: Vec<(Version, &str)> = versions.collect();
    versions.sort_by(|one, other| other.cmp(one));
    same.into_iter().chain(versions.into_iter().map(|(_, driver)| driver)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let ascending = ["0.9", "0.10", "0.10.2", "0.10.5", "2.9.1", "2.14.5", "3.2", "3.2.0", "3.2.2", "11"];
        for pair in ascending.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn version_matches_its_prefixes_at_dots() {
        assert!(version("3.2.1").is_of(&version("3.2")) && version("3.2").is_of(&version("3.2")));
        assert!(version("3.2.1").is_of(&version("3")));
        assert!(!version("3.20").is_of(&version("3.2")) && !version("3").is_of(&version("3.2")));
    }

    #[test]
    fn invalid_version_is_rejected() {
        for wrong in ["", ".", "1.", ".1", "1..2", "1.x", "v1", "1.2-rc1", "+1", "1 ", "99999999999999999999"]
        {
            assert_eq!(wrong.parse::<Version>(), Err(ParseVersionError), "{wrong}");
        }
    }

    #[test]
    fn a_library_may_say_more_than_its_version() {
        assert_eq!(Version::leading("11.0.1"), Some(version("11.0.1")));
        assert_eq!(Version::leading("0.11.0-dev+7"), Some(version("0.11.0")));
        assert_eq!(Version::leading("6.1.2. build 3"), Some(version("6.1.2")));
        assert_eq!(Version::leading("unknown"), None);
        assert_eq!(Version::leading(""), None);
    }

    #[test]
    fn prefix_selects_the_highest_version() {
        let known = ["a@2.9", "a@2.14.1", "a@2.14.0", "a@3.0", "ab@9", "b", "b@1", "c@x"];
        let of = |driver| select(driver, known.into_iter()).into_iter().next();
        assert_eq!(of("a@2"), Some("a@2.14.1"));
        assert_eq!(of("a@2.9"), Some("a@2.9"));
        assert_eq!(of("a"), Some("a@3.0"));
        assert_eq!(of("b"), Some("b"), "the one without a version comes first");
        assert_eq!(of("c@x"), Some("c@x"), "a file is found by its very name");
        for nothing in ["a@2.1", "a@", "a@x", "a@4", "c", "d", "@2", ""] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn candidates_are_in_descending_order_of_version() {
        let known = ["a@2.9", "a", "a@2.14.1", "a@3.0", "ab@9", "a@x"];
        let of = |driver| select(driver, known.into_iter());
        assert_eq!(of("a"), ["a", "a@3.0", "a@2.14.1", "a@2.9"]);
        assert_eq!(of("a@2"), ["a@2.14.1", "a@2.9"]);
        assert_eq!(of("a@x"), ["a@x"]);
    }

    proptest! {
        #[test]
        fn version_text_parses_back(numbers in prop::collection::vec(any::<u64>(), 1..5)) {
            let version = Version(numbers);
            prop_assert_eq!(version.to_string().parse(), Ok(version));
        }

        #[test]
        fn any_input_parses_or_is_rejected(text in ".{0,40}") {
            let read = text.parse::<Version>();
            prop_assert!(read.is_err() || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
            if let Ok(version) = read {
                prop_assert_eq!(Version::leading(&text), Some(version));
            }
            let (name, behind) = split(&text);
            let again = behind.map_or_else(|| name.to_owned(), |behind| format!("{name}{AT}{behind}"));
            prop_assert_eq!(again, text);
        }

        /// Compares with a linear search, over versions of few numbers with many common prefixes.
        #[test]
        fn prefix_selects_the_highest_installed_version(
            versions in prop::collection::vec(prop::collection::vec(0_u64..12, 1..4), 0..8),
            wanted in prop::collection::vec(0_u64..12, 1..3),
        ) {
            let text = |numbers: &[u64]| Version(numbers.to_vec()).to_string();
            let known: Vec<String> = versions.iter().map(|numbers| format!("d@{}", text(numbers))).collect();
            let found = select(&format!("d@{}", text(&wanted)), known.iter().map(String::as_str)).into_iter().next();
            let mut begins: Vec<&Vec<u64>> = versions.iter().filter(|numbers| numbers.starts_with(&wanted)).collect();
            begins.sort();
            let expected = match begins.last() {
                // The exact name comes before a longer one.
                Some(_) if versions.contains(&wanted) => Some(format!("d@{}", text(&wanted))),
                highest => highest.map(|numbers| format!("d@{}", text(numbers))),
            };
            prop_assert_eq!(found.map(str::to_owned), expected);
        }
    }
}
