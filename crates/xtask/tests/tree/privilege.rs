//! Tests that need root: they say so, and are listed.

use std::path::Path;

use super::{files, read};
use crate::root;

/// List of the tests that need root.
const LIST: &str = ".config/needs-root.txt";
/// Words of a test that creates virtual hosts.
const HOSTS: &[&str] = &["Lab::up", "netns add", "\"--host\", \"lab:", "testbed::Cluster::start"];
/// Binary whose tests all need root.
const WHOLE: &str = "lab::lab";

fn creates_hosts_unsaid(text: &str) -> bool {
    HOSTS.iter().any(|word| text.contains(word)) && !text.contains("needs_root();")
}

#[test]
fn tests_that_create_hosts_say_that_they_need_root() {
    let list = read(Path::new(LIST));
    assert!(list.lines().any(|line| line == WHOLE), "{list}");
    let mut seen = 0;
    for path in files() {
        let text = path.display().to_string();
        let is_test = path.extension().is_some_and(|ending| ending == "rs")
            && (path.starts_with("tests") || path.starts_with("crates") && text.contains("/tests/"));
        if !is_test || path.starts_with("crates/lab") || path.ends_with("privilege.rs") {
            continue;
        }
        seen += 1;
        let hint = "call `testbed::needs_root()` where hosts are created";
        assert!(!creates_hosts_unsaid(&read(&path)), "{text} creates hosts\nhint: {hint}");
    }
    assert!(seen > 100, "only {seen} files were looked at");
    assert!(creates_hosts_unsaid("ip(\"netns add a\")") && !creates_hosts_unsaid("needs_root(); Lab::up()"));
}

#[test]
fn listed_tests_exist() {
    let mut seen = 0;
    for line in read(Path::new(LIST)).lines().filter(|line| !line.starts_with('#') && *line != WHOLE) {
        let name = line.strip_prefix("ddsmark::e2e ").unwrap_or_else(|| panic!("{line}"));
        let (module, test) = name.split_once("::").unwrap_or_else(|| panic!("{line}"));
        let file = Path::new("tests/e2e").join(module).with_extension("rs");
        assert!(root().join(&file).is_file(), "{line}: {} is missing", file.display());
        assert!(read(&file).contains(&format!("fn {test}")), "{line}: {} has no such test", file.display());
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}
