//! Capture of everything outside an experiment that may influence its results, field by field. Read-only.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use experiment::{DriverDescription, Plan, VARIABLES_OF_ALL_PROGRAMS};
use results::{Environment, EnvironmentFields, Host, Tool, sha256};
use serde::{Deserialize, Serialize};

use super::{ethtool, variables::existing_paths};

/// Kernel settings read from files, as group, name and path.
const FILES: &[(&str, &str, &str)] = &[
    ("host", "boot_command_line", "/proc/cmdline"),
    ("host", "smt", "/sys/devices/system/cpu/smt/control"),
    ("host", "numa_nodes", "/sys/devices/system/node/online"),
    ("host", "isolated_cpus", "/sys/devices/system/cpu/isolated"),
    ("host", "idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver"),
    ("host", "frequency_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
    ("host", "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled"),
];
/// Files of an interface, relative to `/sys/class/net/NAME`.
const OF_INTERFACE: &[&str] =
    &["mtu", "speed", "duplex", "tx_queue_len", "gro_flush_timeout", "napi_defer_hard_irqs", "threaded"];
/// Files of a control group, relative to its directory.
const OF_GROUP: &[&str] = &["cpu.max", "cpu.weight", "cpuset.cpus.effective", "memory.max", "memory.high"];

/// Components of an experiment whose environment is captured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EnvironmentInputs {
    /// Name and version of this tool.
    pub tool: Tool,
    /// Revision of its source, if known.
    pub revision: Option<String>,
    /// Captured host.
    pub host: Host,
    /// Experiment.
    pub experiment: Plan,
    /// Names of the network interfaces that its cells use on this host.
    pub interfaces: BTreeSet<String>,
    /// Descriptions of the drivers, by driver name.
    pub descriptions: BTreeMap<String, DriverDescription>,
    /// Driver files, by driver name.
    pub files: BTreeMap<String, PathBuf>,
    /// Shared libraries that the agents have loaded, by driver name.
    pub libraries: BTreeMap<String, Vec<PathBuf>>,
}

/// Captures the environment of agents of this program. Values that cannot be read are absent.
pub(crate) fn capture_environment(agent: &Path, parts: &EnvironmentInputs) -> Environment {
    let mut fields = Fields::default();
    fields.put("tool", "version", &parts.tool.version);
    fields.put_some("tool", "revision", parts.revision.clone());
    fields.put_some("tool", "agent_sha256", fs::read(agent).ok().map(|bytes| sha256(&bytes)));
    fields.host(&parts.host);
    fields.limits();
    for interface in &parts.interfaces {
        fields.interface(Path::new("/sys/class/net"), interface);
        for (name, value) in ethtool::settings(interface) {
            fields.put("interface", &format!("{interface}/{name}"), &value);
        }
    }
    let mut hashes: BTreeMap<&Path, String> = BTreeMap::new();
    for (driver, description) in &parts.descriptions {
        fields.driver(driver, description);
        let files =
            parts.files.get(driver).into_iter().chain(parts.libraries.get(driver).into_iter().flatten());
        for file in files {
            let hash = hashes.entry(file).or_insert_with(|| hash_of(file));
            if parts.files.get(driver) == Some(file) {
                fields.put("driver", &format!("{driver}/file"), &file.to_string_lossy());
                fields.put("driver", &format!("{driver}/sha256"), hash);
            } else {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                fields.put("library", &format!("{driver}/{name}"), &format!("{} {hash}", file.display()));
            }
        }
    }
    let reads = |name: &str| parts.descriptions.values().any(|driver| driver.reads_variable(name));
    let variables = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    for (name, value) in variables {
        if reads(&name) || VARIABLES_OF_ALL_PROGRAMS.iter().any(|begin| name.starts_with(begin)) {
            fields.variable(&name, &value);
        }
    }
    let cells = parts.experiment.cells.iter().flat_map(|cell| &cell.factors.env);
    let values: BTreeSet<(&str, &str)> =
        cells.filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?))).collect();
    for (name, value) in values {
        fields.files("variable", name, value, &parts.libraries);
    }
    let options: BTreeSet<(&String, &String)> =
        parts.experiment.cells.iter().flat_map(|cell| &cell.factors.options).collect();
    for (name, value) in options {
        fields.files("option", name, value, &BTreeMap::new());
    }
    Environment::new(fields.0)
}

#[derive(Default)]
struct Fields(EnvironmentFields);

impl Fields {
    fn put(&mut self, group: &str, name: &str, value: &str) {
        self.0.entry(group.to_owned()).or_default().insert(name.to_owned(), value.to_owned());
    }

    fn put_some(&mut self, group: &str, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.put(group, name, &value);
        }
    }

    fn host(&mut self, host: &Host) {
        self.put("host", "name", &host.name);
        self.put("host", "kernel", &host.kernel);
        self.put("host", "cpus", &host.cpus.to_string());
        for (name, value) in [
            ("os", &host.os),
            ("cpu", &host.cpu),
            ("virtualization", &host.virtualization),
            ("clock_source", &host.clock_source),
            ("governor", &host.governor),
        ] {
            self.put_some("host", name, value.clone());
        }
        self.put_some("host", "memory_bytes", host.memory_bytes.map(|bytes| bytes.to_string()));
        for (group, name, path) in FILES {
            self.put_some(group, name, line(path));
        }
        for (name, value) in &host.sysctls {
            self.put("sysctl", name, value);
        }
        for entry in fs::read_dir("/sys/devices/system/cpu/vulnerabilities").into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            self.put_some("mitigation", &name, line(entry.path()));
        }
    }

    /// Adds the resource limits of this process, which its agents inherit.
    fn limits(&mut self) {
        let text = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        for (name, value) in limits(&text) {
            self.put("limit", &name, &value);
        }
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        if let Some(group) = groups.lines().find_map(|line| line.strip_prefix("0::/")) {
            let directory = Path::new("/sys/fs/cgroup").join(group);
            for name in OF_GROUP {
                self.put_some("cgroup", name, line(directory.join(name)));
            }
        }
    }

    fn interface(&mut self, interfaces: &Path, interface: &str) {
        let directory = interfaces.join(interface);
        for name in OF_INTERFACE {
            self.put_some("interface", &format!("{interface}/{name}"), line(directory.join(name)));
        }
        let driver = fs::read_link(directory.join("device/driver")).ok();
        let driver = driver.and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
        self.put_some("interface", &format!("{interface}/driver"), driver);
        for (name, beginning) in [("receive_queues", "rx-"), ("send_queues", "tx-")] {
            let Ok(entries) = fs::read_dir(directory.join("queues")) else { continue };
            let queues = entries.flatten().filter(|q| q.file_name().to_string_lossy().starts_with(beginning));
            self.put("interface", &format!("{interface}/{name}"), &queues.count().to_string());
        }
    }

    fn driver(&mut self, name: &str, description: &DriverDescription) {
        let version = format!("{} (by its {})", description.middleware_version, description.version_source);
        self.put("driver", &format!("{name}/version"), &description.driver_version);
        self.put("driver", &format!("{name}/middleware"), &description.middleware);
        self.put("driver", &format!("{name}/middleware_version"), &version);
        self.put_some("driver", &format!("{name}/build"), description.build.clone());
    }

    /// Adds a variable, and hashes of the files that it names.
    fn variable(&mut self, name: &str, value: &str) {
        self.put("variable", name, value);
        self.files("variable", name, value, &BTreeMap::new());
    }

    /// Adds hashes of the files that the value of a variable or option names; of a directory only those with the file
    /// names of `libraries`.
    fn files(&mut self, group: &str, owner: &str, value: &str, libraries: &BTreeMap<String, Vec<PathBuf>>) {
        for path in existing_paths(value) {
            let inside =
                || libraries.values().flatten().filter_map(|file| Some(path.join(file.file_name()?)));
            let files: Vec<PathBuf> = if path.is_dir() { inside().collect() } else { vec![path.clone()] };
            for file in files.iter().filter(|file| file.is_file()) {
                self.put(group, &format!("{owner}{}", file.display()), &hash_of(file));
            }
        }
    }
}

fn hash_of(file: &Path) -> String {
    fs::read(file).map_or_else(|_| "unreadable".to_owned(), |bytes| sha256(&bytes))
}

/// Returns the contents of a kernel file on one line; `None` if it is empty.
fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Parses `/proc/self/limits` into names, each with soft and hard limit. Columns are separated by two or more blanks.
fn limits(text: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
        let (name, soft, hard) = (columns.next()?, columns.next()?, columns.next()?);
        Some((name.to_lowercase().replace(' ', "_"), format!("{soft} {hard}")))
    };
    text.lines().skip(1).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_by_name() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max cpu time              unlimited            unlimited            seconds   \n\
                    Max nice priority         0                    0                    \n";
        let expected = [("max_cpu_time", "unlimited unlimited"), ("max_nice_priority", "0 0")];
        assert_eq!(limits(text), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let mut fields = Fields::default();
        fields.limits();
        assert!(fields.0["limit"].contains_key("max_locked_memory"), "{fields:?}", fields = fields.0);
    }

    #[test]
    fn an_interface_and_a_file_that_a_variable_names_are_captured() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("eth0/queues/rx-0")).unwrap();
        fs::write(directory.path().join("eth0/mtu"), "9000\n").unwrap();
        let mut fields = Fields::default();
        fields.interface(directory.path(), "eth0");
        let file = directory.path().join("eth0/mtu");
        fields.variable("URI", &format!("file://{}", file.display()));
        fields.variable("OTHER", "<inline/>");
        let interface = &fields.0["interface"];
        assert_eq!(
            (interface["eth0/mtu"].as_str(), interface["eth0/receive_queues"].as_str()),
            ("9000", "1")
        );
        assert!(!interface.contains_key("eth0/speed"));
        let variables: Vec<&String> = fields.0["variable"].keys().collect();
        assert_eq!(variables, ["OTHER", "URI", &format!("URI{}", file.display())]);
    }
}
