//! Crates and their allowed dependencies: one table, compared with cargo's metadata and shown in ARCHITECTURE.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::{Error, root};

/// Each crate with its allowed dependencies, from the command down to the crates without dependencies.
pub const CRATES: &[(&str, &str)] = &[
    (
        "ddsmark",
        "runner remote-hosts lab host experiment findings verdicts results stats report html-report \
         perftest rendezvous control import",
    ),
    ("runner", "stopping-rule collector control experiment findings host verdicts results stats"),
    ("remote-hosts", "control experiment lab results host"),
    ("rendezvous", "control experiment host"),
    ("lab", "experiment"),
    ("host", "control experiment results stats"),
    ("agent", "conformance control driver-abi driver-host experiment results"),
    ("html-report", "charts experiment report results stats"),
    ("report", "control experiment results stats"),
    ("simulate", "stopping-rule collector control experiment findings results sim-model stats"),
    ("findings", "experiment results stats"),
    ("verdicts", "experiment results stats"),
    ("stopping-rule", "experiment results stats"),
    ("collector", "control experiment results stats"),
    ("conformance", "control driver-abi driver-host experiment"),
    ("import", "experiment stats"),
    ("perftest", "experiment"),
    ("control", "experiment results"),
    ("results", "experiment recording stats"),
    ("recording", "stats"),
    ("charts", "stats"),
    ("driver-testing", "driver-abi driver-host"),
    ("driver-host", "driver-abi"),
    ("driver-kit", "driver-abi"),
    ("experiment", "driver-abi"),
    ("stats", ""),
    ("sim-model", ""),
    ("driver-abi", ""),
    ("validation", "lab host results stats testbed"),
    ("testbed", "experiment lab"),
    ("xtask", "charts control experiment perftest results stats"),
    (
        "fuzz",
        "agent control driver-host driver-kit experiment findings host import perftest remote-hosts \
         rendezvous report results",
    ),
];

/// Crates of this tree that a driver may use in addition to the header.
pub const DRIVERS_MAY_USE: &str = "driver-kit sim-model";

/// Package of a cargo workspace, with its build dependencies in this tree. Dependencies of its tests are not
/// checked.
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

/// Returns descriptions of all dependencies of the workspace and of the Rust drivers that are not allowed.
pub fn all_violations() -> Result<Vec<String>, Error> {
    let mut found = violations(&packages(&root().join("Cargo.toml"))?);
    for driver in std::fs::read_dir(root().join("drivers"))? {
        let manifest = driver?.path().join("Cargo.toml");
        if manifest.exists() {
            found.extend(driver_violations(&packages(&manifest)?));
        }
    }
    Ok(found)
}

/// Returns descriptions of the dependencies of the workspace that [`CRATES`] does not allow.
pub fn violations(packages: &BTreeMap<String, Package>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, package) in packages {
        match CRATES.iter().find(|(listed, _)| listed == name) {
            None => found.push(format!("`{name}` is not in crates/xtask/src/crate_graph.rs")),
            Some((_, may)) => found.extend(forbidden(name, package, may)),
        }
    }
    found
}

/// Returns descriptions of the dependencies of a Rust driver that are not allowed. Its own packages are not
/// checked.
pub fn driver_violations(packages: &BTreeMap<String, Package>) -> Vec<String> {
    packages.iter().flat_map(|(name, package)| forbidden(name, package, DRIVERS_MAY_USE)).collect()
}

fn forbidden(name: &str, package: &Package, may: &str) -> Vec<String> {
    let crates = package.uses.iter().filter(|used| CRATES.iter().any(|(listed, _)| listed == used));
    let forbidden = crates.filter(|used| may.split(' ').all(|allowed| allowed != *used));
    forbidden.map(|used| format!("`{name}` uses `{used}`: this dependency is not allowed")).collect()
}

/// Returns the table of existing crates for ARCHITECTURE.md.
pub fn table(packages: &BTreeMap<String, Package>) -> String {
    let mut table = "| crate | what it is for | may use |\n|---|---|---|\n".to_owned();
    for (listed, may) in CRATES {
        if let Some(package) = packages.get(*listed) {
            let may = if may.is_empty() { "nothing".to_owned() } else { may.replace(' ', ", ") };
            table += &format!("| `{}` | {} | {may} |\n", package.folder, package.description);
        }
    }
    table += &format!(
        "| `drivers/*` | One middleware each. | the header, or {} |\n",
        DRIVERS_MAY_USE.replace(' ', ", ")
    );
    table
}
