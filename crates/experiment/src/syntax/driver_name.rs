//! Names of drivers: alone, with a version, in pairs, or as a path.

/// Separator of the writer's and the reader's driver.
pub(crate) const AND: char = '+';
/// Separator of a driver's name and the version of its middleware.
const AT: char = '@';

/// Returns whether a driver is given as a path rather than by name.
#[must_use]
pub fn is_driver_path(driver: &str) -> bool {
    driver.contains('/') || driver.ends_with(".so")
}

/// Returns the drivers of the writer (pinger) and of the reader (echo) of a cell. They are equal unless two are
/// named.
#[must_use]
pub fn drivers_of_ends(driver: &str) -> [&str; 2] {
    match driver.split_once(AND) {
        Some((writer, reader)) if !is_driver_path(driver) => [writer, reader],
        _ => [driver, driver],
    }
}

/// Returns the name of a driver without its version; `None` if it is given without one.
pub(crate) fn without_version(driver: &str) -> Option<&str> {
    let alone = !is_driver_path(driver) && !is_pair(driver);
    driver.split_once(AT).filter(|_| alone).map(|(name, _)| name)
}

/// Returns whether two drivers are named.
#[must_use]
pub fn is_pair(driver: &str) -> bool {
    !is_driver_path(driver) && driver.contains(AND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_are_two_drivers_and_a_path_is_one() {
        assert_eq!(drivers_of_ends("a"), ["a", "a"]);
        assert_eq!(drivers_of_ends("a@1+b@2.1"), ["a@1", "b@2.1"]);
        assert_eq!(drivers_of_ends("./a+b.so"), ["./a+b.so"; 2]);
        assert!(is_pair("a+b") && !is_pair("a") && !is_pair("x/a+b"));
    }

    #[test]
    fn version_is_split_from_a_single_driver_name() {
        assert_eq!(without_version("a@1.2"), Some("a"));
        for other in ["a", "a@1+a@2", "a+b@1", "./a@1.so", "a@1.so"] {
            assert_eq!(without_version(other), None, "{other}");
        }
    }
}
