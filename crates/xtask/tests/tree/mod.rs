//! Checks of the tree, and tests that each of them can fail.

mod capabilities;
mod documents;
mod privilege;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    crate_graph::{self, CRATES},
    imports::{self, Imports},
    pages::with_block,
    root,
};

/// Vendor names in lower case without separators.
const VENDORS: &[&str] =
    &["cyclone", "fastdds", "connext", "rustdds", "dustdds", "iceoryx", "zenoh", "opendds", "fastrtps"];
/// Names of options of another tool that contain a vendor's name, which users of that tool type.
const OPTIONS: &[&str] = &["printCycloneDdsUriXml"];

/// Returns the files of the tree that git does not ignore.
fn files() -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).expect("paths are text");
    list.split('\0')
        .filter(|path| !path.is_empty() && root().join(path).is_file())
        .map(PathBuf::from)
        .collect()
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(root().join(path)).expect("a file of the tree")).into_owned()
}

#[test]
fn crates_depend_only_on_later_rows() {
    let place = |name: &str| CRATES.iter().position(|listed| *listed == name);
    let packages = crate_graph::packages(&root().join("Cargo.toml")).expect("the workspace");
    assert!(packages["report"].uses.contains("results"), "dependencies are seen: {packages:?}");
    for (name, package) in packages {
        let not_shipped = ["validation", "testbed", "xtask", "fuzz"].contains(&name.as_str());
        for used in package.uses {
            assert!(place(&used) > place(&name) || not_shipped, "`{name}` -> `{used}` points back");
        }
    }
}

/// Returns the lines of a file that name a vendor.
fn vendor_lines(text: &str) -> Vec<String> {
    let named = |line: &&str| {
        let line = OPTIONS.iter().fold((*line).to_owned(), |line, option| line.replace(option, ""));
        let plain = line.to_lowercase().replace([' ', '-', '_'], "");
        VENDORS.iter().any(|vendor| plain.contains(vendor))
    };
    text.lines().filter(named).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn no_vendor_is_named_in_the_crates_or_the_contract() {
    let mut found = Vec::new();
    let mut seen = 0;
    for path in files() {
        let held = path.starts_with("crates") || path.starts_with("include");
        let test = path.components().any(|part| part.as_os_str() == "tests");
        if held && !test && path.extension().is_none_or(|extension| extension != "md") {
            seen += 1;
            found.extend(
                vendor_lines(&read(&path)).into_iter().map(|line| format!("{}: {line}", path.display())),
            );
        }
    }
    assert!(seen > 20, "only {seen} files were looked at");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn vendor_name_is_found() {
    let text = "let a = 1;\nuse Cyclone_DDS;\n// Fast DDS does so\n";
    assert_eq!(vendor_lines(text), ["use Cyclone_DDS;", "// Fast DDS does so"]);
    assert!(vendor_lines("a fast driver; DDS as OMG wrote it\n").is_empty());
    // An option of another tool may have the name of a vendor in it; the rest of its line may not.
    assert!(vendor_lines("\"printCycloneDdsUriXml\"\n").is_empty());
    assert_eq!(vendor_lines("\"printCycloneDdsUriXml\" of Cyclone\n").len(), 1);
}

#[test]
fn imports_have_no_cycles() {
    let imports = Imports::read(&root().join("crates/experiment/src/lib.rs")).expect("the crate");
    let uses = |edges: &BTreeMap<&Vec<String>, _>| edges.len() > 30;
    assert!(uses(&imports.edges()), "the files are seen");
    assert_eq!(imports::violations(&root().join("crates")).expect("all crates"), Vec::<String>::new());
}

/// Returns the folders of each crate in the table of a page, in its order.
fn folders(page: &str) -> BTreeMap<String, Vec<String>> {
    let rows = page.lines().skip_while(|line| *line != "| crate | folder | content |").skip(2);
    let mut found = BTreeMap::<String, Vec<String>>::new();
    let mut name = String::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        if !cells[1].is_empty() {
            cells[1].clone_into(&mut name);
        }
        found.entry(name.clone()).or_default().push(cells[2].to_owned());
    }
    found
}

#[test]
fn order_of_folders_on_the_page_is_the_one_that_is_checked() {
    let checked = imports::LAYERS.iter().map(|(name, folders)| {
        ((*name).to_owned(), folders.iter().map(|&folder| folder.to_owned()).collect::<Vec<_>>())
    });
    assert_eq!(folders(&read(Path::new("ARCHITECTURE.md"))), checked.collect());
    let planted =
        "| crate | folder | content |\n|---|---|---|\n| `a` | `x` | one |\n| | `y` | two |\n\ntext\n";
    assert_eq!(folders(planted)["a"], ["x", "y"]);
}

#[test]
fn planted_cycle_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    // `one` uses `two` through a name of the root, `two` uses `three` in a path, `three` uses `one` by `super`.
    write(
        "lib.rs",
        "mod one;\nmod two;\nmod low;\nmod three;\npub use std::path::Path;\npub use two::Two;\n",
    );
    write("one.rs", "use crate::{Path, Two, low::Low};\npub struct One(Two, Low);\n");
    write("two.rs", "pub struct Two(pub Option<Box<crate::three::inner::Three>>);\n");
    write("three/mod.rs", "pub mod inner;\npub use super::low::Low;\n");
    write("three/inner.rs", "use super::{super::one::One, Low};\npub struct Three(One, Low);\n");
    // Parents and tests make no cycle.
    write("low.rs", "pub struct Low;\n#[cfg(test)]\nmod tests {\n    use crate::one::One;\n}\n");
    let imports = Imports::read(&folder.path().join("lib.rs")).expect("a crate");
    assert_eq!(imports.cycles(), [["one", "three::inner", "two"]]);
    assert_eq!(imports.against(&["low", "two", "one"]), Vec::<String>::new());
    assert_eq!(imports.against(&["one", "low"]), ["one uses low"]);
    assert_eq!(
        imports.through_root(),
        ["one imports `Path` through the root", "one imports `Two` through the root"]
    );
    write("three/inner.rs", "pub struct Three;\n");
    let imports = Imports::read(&folder.path().join("lib.rs")).expect("a crate");
    assert_eq!(imports.cycles(), Vec::<Vec<String>>::new());
}

/// Directories that describe or change the host where agents run: the task of the crate `host`.
const OF_THE_HOST: &[&str] = &["\"/proc", "\"/sys", "\"/dev/shm"];

/// Returns the lines of a source file, without its tests, that name a directory of the host.
fn host_lines(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| OF_THE_HOST.iter().any(|directory| line.contains(directory))).collect()
}

#[test]
fn runner_reads_the_host_of_the_agents_through_its_site_only() {
    let sources: Vec<PathBuf> =
        files().into_iter().filter(|path| path.starts_with("crates/runner/src")).collect();
    assert!(sources.len() > 20, "{sources:?}");
    for path in sources {
        assert_eq!(host_lines(&read(&path)), Vec::<&str>::new(), "{}", path.display());
    }
    let planted = "fn maps() { read(\"/proc/self/maps\") }\n#[cfg(test)]\nfn other() { read(\"/sys/x\") }\n";
    assert_eq!(host_lines(planted).len(), 1);
}

/// Maximum number of lines of a source file.
const MOST_LINES: usize = 400;

/// Returns the number of lines of a file that has too many.
fn too_many_lines(text: &str) -> Option<usize> {
    Some(text.lines().count()).filter(|lines| *lines > MOST_LINES)
}

#[test]
fn source_files_are_within_the_line_limit() {
    let mut long = BTreeMap::new();
    let mut seen = 0;
    for path in files() {
        let test = path.components().any(|part| part.as_os_str() == "tests");
        if path.starts_with("crates") && !test && path.extension().is_some_and(|ending| ending == "rs") {
            seen += 1;
            long.extend(too_many_lines(&read(&path)).map(|lines| (path.display().to_string(), lines)));
        }
    }
    assert!(seen > 100, "only {seen} files were looked at");
    assert!(long.is_empty(), "over {MOST_LINES} lines: {long:?}");
}

#[test]
fn file_above_the_line_limit_is_reported() {
    assert_eq!(too_many_lines(&"\n".repeat(MOST_LINES)), None);
    assert_eq!(too_many_lines(&"\n".repeat(MOST_LINES + 1)), Some(MOST_LINES + 1));
}

#[test]
fn with_block_replaces_only_the_block() {
    let text = "a\n<!-- generated: t -->\nold\n<!-- end: t -->\nb\n";
    let new = with_block(text, "t", "new\n").expect("the block is there");
    assert_eq!(new, "a\n<!-- generated: t -->\nnew\n<!-- end: t -->\nb\n");
    assert!(with_block(text, "u", "").is_err());
}
