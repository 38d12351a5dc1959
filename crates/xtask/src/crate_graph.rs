//! The table of crates in ARCHITECTURE.md: their order, and what Cargo says of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::{Error, root};

/// Crates from the command down to those without dependencies, and then those that are not shipped.
pub const CRATES: &[&str] = &[
    "ddsmark",
    "runner",
    "remote-hosts",
    "rendezvous",
    "lab",
    "host",
    "agent",
    "html-report",
    "report",
    "simulate",
    "findings",
    "verdicts",
    "stopping-rule",
    "collector",
    "conformance",
    "import",
    "perftest",
    "control",
    "results",
    "recording",
    "charts",
    "driver-testing",
    "driver-host",
    "driver-kit",
    "experiment",
    "stats",
    "sim-model",
    "driver-abi",
    "validation",
    "testbed",
    "xtask",
    "fuzz",
];

/// Package of a cargo workspace, with its build dependencies in this tree, without those of its tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Folder of the package below the root of the tree.
    pub folder: String,
    /// Description of the package.
    pub description: String,
    /// Other packages of this tree that it uses.
    pub uses: BTreeSet<String>,
}

/// Returns the packages of the workspace at `manifest`, by name.
pub fn packages(manifest: &Path) -> Result<BTreeMap<String, Package>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]).into_iter().map(|package| {
        let uses = list(&package["dependencies"])
            .iter()
            .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev")
            .map(|dependency| text(&dependency["name"]))
            .collect();
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().and_then(|folder| folder.strip_prefix(root()).ok());
        let folder = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
        (text(&package["name"]), Package { folder, description: text(&package["description"]), uses })
    });
    Ok(packages.collect())
}

/// Returns the table of crates for ARCHITECTURE.md.
pub fn table() -> Result<String, Error> {
    let mut packages = packages(&root().join("Cargo.toml"))?;
    let mut drivers = BTreeSet::new();
    for driver in std::fs::read_dir(root().join("drivers"))? {
        let manifest = driver?.path().join("Cargo.toml");
        if manifest.exists() {
            drivers.extend(self::packages(&manifest)?.into_values().flat_map(|package| package.uses));
        }
    }
    drivers.retain(|used| packages.contains_key(used));
    let list = |uses: BTreeSet<String>| uses.into_iter().collect::<Vec<_>>().join(", ");
    let mut table = "| crate | what it is for | uses |\n|---|---|---|\n".to_owned();
    for name in CRATES {
        let Package { folder, description, uses } =
            packages.remove(*name).ok_or_else(|| format!("there is no crate `{name}`"))?;
        let uses = if uses.is_empty() { "nothing".to_owned() } else { list(uses) };
        table += &format!("| `{folder}` | {description} | {uses} |\n");
    }
    if let Some(name) = packages.keys().next() {
        return Err(format!("`{name}` is not in crates/xtask/src/crate_graph.rs").into());
    }
    Ok(table + &format!("| `drivers/*` | One middleware each. | the header, {} |\n", list(drivers)))
}
