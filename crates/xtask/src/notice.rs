//! Names, versions, licences and licence texts of the packages that the programs and the drivers contain.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::{Error, root};

/// Manifests of the workspaces, the packages of each whose binaries are shipped, and the features that `make dist` adds.
const SHIPPED: &[(&str, &[&str], &[&str])] = &[
    ("Cargo.toml", &["ddsmark", "agent"], &["ddsmark/png"]),
    ("drivers/Cargo.toml", &["ddsmark-udp", "ddsmark-tcp", "ddsmark-shm", "ddsmark-sim"], &[]),
];
/// Beginnings of the names of files with a licence, in capitals.
const TEXTS: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Package of a registry that a binary contains.
#[derive(Debug, Eq, PartialEq, Ord, PartialOrd)]
struct Contained {
    name: String,
    version: String,
    licence: String,
    manifest: String,
}

/// Prints the notice.
pub fn print() -> Result<(), Error> {
    let mut packages = BTreeSet::new();
    for (manifest, shipped, features) in SHIPPED {
        packages.extend(contained(&metadata(&root().join(manifest), features)?, shipped)?);
    }
    print!("{}", notice(&packages)?);
    Ok(())
}

/// Returns what cargo says of a workspace with these features and its dependencies on this platform.
fn metadata(manifest: &Path, features: &[&str]) -> Result<Value, Error> {
    let version = Command::new("rustc").arg("-vV").output()?;
    let version = String::from_utf8(version.stdout)?;
    let platform =
        version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let output = Command::new("cargo")
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            platform,
            "--features",
            &features.join(","),
            "--manifest-path",
        ])
        .arg(manifest)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the packages of registries that these packages contain: their dependencies, without those of tests and
/// builds, and without macros, which only the compiler runs.
fn contained(metadata: &Value, shipped: &[&str]) -> Result<BTreeSet<Contained>, Error> {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let mut pending = Vec::new();
    for name in shipped {
        let found =
            packages.iter().find(|(_, package)| package["name"] == *name && package["source"].is_null());
        pending.push(*found.ok_or_else(|| format!("package `{name}` not found"))?.0);
    }
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(id) = pending.pop() {
        let package = packages.get(id).ok_or_else(|| format!("package `{id}` not found"))?;
        let is_macro = list(&package["targets"])
            .iter()
            .any(|target| list(&target["kind"]).iter().any(|kind| kind == "proc-macro"));
        if is_macro || !seen.insert(id) {
            continue;
        }
        if !package["source"].is_null() {
            found.insert(contained_package(package)?);
        }
        let dependencies = nodes.get(id).map_or(&[][..], |node| list(&node["deps"]));
        let linked = dependencies
            .iter()
            .filter(|dependency| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
        pending.extend(linked.filter_map(|dependency| dependency["pkg"].as_str()));
    }
    Ok(found)
}

fn contained_package(package: &Value) -> Result<Contained, Error> {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let (name, version, licence) = (text("name"), text("version"), text("license"));
    if licence.is_empty() {
        return Err(format!("package `{name}` {version} names no licence").into());
    }
    Ok(Contained { name, version, licence, manifest: text("manifest_path") })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the text of the notice. Equal licence texts are printed once.
fn notice(packages: &BTreeSet<Contained>) -> Result<String, Error> {
    let mut notice = "Third-party software in ddsmark\n\n\
        The programs and the drivers in Rust contain the Rust standard library (MIT OR Apache-2.0,\n\
        https://www.rust-lang.org) and these packages of https://crates.io:\n\n"
        .to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        let Contained { name, version, licence, manifest } = package;
        writeln!(notice, "  {name} {version}: {licence}")?;
        let folder = Path::new(manifest).parent().ok_or("a manifest is in a folder")?;
        for text in licence_texts(folder)? {
            texts.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    for (text, names) in texts {
        write!(notice, "\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end())?;
    }
    Ok(notice)
}

/// Returns the texts of licences and notices in the folder of a package, in the order of their paths. What a package contains of others,
/// such as a font, has its own in a folder below.
fn licence_texts(folder: &Path) -> Result<Vec<String>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().to_uppercase();
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if TEXTS.iter().any(|begin| name.starts_with(begin)) && entry.path().is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files.iter().map(|file| Ok(String::from_utf8_lossy(&fs::read(file)?).replace('\r', ""))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workspace(licence: Option<&str>) -> Value {
        let package = |name: &str, source: Value, kind: &str| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": licence, "source": source,
                   "manifest_path": format!("/{name}/Cargo.toml"), "targets": [{"kind": [kind]}]})
        };
        let registry = || json!("registry+somewhere");
        let dependency = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        json!({
            "packages": [
                package("program", Value::Null, "bin"), package("own", Value::Null, "lib"),
                package("linked", registry(), "lib"), package("macro", registry(), "proc-macro"),
                package("of-the-macro", registry(), "lib"), package("of-tests", registry(), "lib"),
            ],
            "resolve": {"nodes": [
                {"id": "program", "deps": [
                    dependency("own", Value::Null), dependency("macro", Value::Null), dependency("of-tests", json!("dev")),
                ]},
                {"id": "own", "deps": [dependency("linked", Value::Null)]},
                {"id": "macro", "deps": [dependency("of-the-macro", Value::Null)]},
            ]},
        })
    }

    #[test]
    fn only_linked_packages_of_registries_are_contained() {
        let found = contained(&workspace(Some("MIT")), &["program"]).unwrap();
        assert_eq!(found.iter().map(|package| package.name.as_str()).collect::<Vec<_>>(), ["linked"]);
        assert!(contained(&workspace(Some("MIT")), &["linked"]).is_err(), "it is not of the workspace");
        let unlicensed = contained(&workspace(None), &["program"]).unwrap_err();
        assert_eq!(unlicensed.to_string(), "package `linked` 1.0.0 names no licence");
    }

    #[test]
    fn equal_texts_are_printed_once_under_all_names() {
        let place = tempfile::tempdir().unwrap();
        let package = |name: &str| {
            let folder = place.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("LICENSE-MIT"), "Permission is granted\r\n").unwrap();
            fs::write(folder.join("lib.rs"), "code").unwrap();
            let font = folder.join("assets/font");
            fs::create_dir_all(&font).unwrap();
            fs::write(font.join("LICENSE"), "Fonts are granted").unwrap();
            let manifest = folder.join("Cargo.toml").display().to_string();
            Contained {
                name: name.to_owned(),
                version: "1.0.0".to_owned(),
                licence: "MIT".to_owned(),
                manifest,
            }
        };
        let text = notice(&BTreeSet::from([package("one"), package("two")])).unwrap();
        assert!(text.contains("  one 1.0.0: MIT\n  two 1.0.0: MIT\n"), "{text}");
        assert!(text.contains("\none 1.0.0, two 1.0.0\n\nPermission is granted\n"), "{text}");
        assert_eq!((text.matches("Permission").count(), text.matches("code").count()), (1, 0));
        assert_eq!(text.matches("Fonts are granted").count(), 1, "{text}");
    }
}
