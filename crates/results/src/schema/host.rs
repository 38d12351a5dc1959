//! Hosts of a result.

use std::{collections::BTreeMap, sync::LazyLock};

use experiment::{HostSpec, LOCAL_HOST};
use serde::{Deserialize, Serialize};

use crate::schema::environment::Environment;

/// Host that agents ran on.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostRecord {
    /// Name in the experiment; `local` for the only host.
    pub name: String,
    /// Way to reach it.
    pub at: HostSpec,
    /// Name of an earlier host on the same machine: both share its kernel, processors and memory. Absent if there is
    /// none.
    pub machine_of: Option<String>,
    /// Network interface that leads to the other hosts. Absent if it is the only host.
    pub interface: Option<String>,
    /// Properties of the host, and its state at the start.
    pub properties: Host,
    /// Properties of host and software that can affect the values, field by field.
    pub environment: Environment,
}

impl HostRecord {
    /// Creates the only host of a result.
    #[must_use]
    pub fn only(properties: Host, environment: Environment) -> Self {
        let (name, at) = (LOCAL_HOST.to_owned(), HostSpec::Local);
        Self { name, at, machine_of: None, interface: None, properties, environment }
    }

    /// Returns the name of its machine: that of the first host on it.
    #[must_use]
    pub fn machine(&self) -> &str {
        self.machine_of.as_deref().unwrap_or(&self.name)
    }

    /// Returns its speed of an interface in 10^6 bit/s, if the kernel knows it. `None` for the loopback interface.
    #[must_use]
    pub fn link_mbps(&self, interface: &str) -> Option<u64> {
        self.properties.link_mbps.get(interface).copied()
    }

    /// Returns the rate of its link at an interface in bit/s: for a host of a lab the given rate, else the speed that the kernel
    /// knows. `None` if there is none, as for the loopback interface.
    #[must_use]
    pub fn link_bit_per_s(&self, interface: &str, of_lab: Option<u64>) -> Option<u64> {
        match self.at {
            HostSpec::Lab(_) => of_lab.filter(|_| self.interface.as_deref() == Some(interface)),
            _ => self.link_mbps(interface)?.checked_mul(1_000_000),
        }
    }
}

/// Properties of a host, and its state at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Kernel name, release and version, as `uname` returns them.
    pub kernel: String,
    /// Distribution name. Null if unknown.
    pub os: Option<String>,
    /// Processor model. Null if unknown.
    pub cpu: Option<String>,
    /// Number of logical processors that the process may use.
    pub cpus: u32,
    /// Total memory, in bytes. Null if unknown.
    pub memory_bytes: Option<u64>,
    /// Kind of virtual machine or container. Null if none was detected.
    pub virtualization: Option<String>,
    /// Clock source of the kernel. Null if unknown.
    pub clock_source: Option<String>,
    /// CPU frequency governor of the first processor. Null if unknown.
    pub governor: Option<String>,
    /// Median cost of one read of the clock that timestamps samples, in ns.
    pub clock_read_ns: Option<u64>,
    /// Kernel settings that affect the values, by name, for example `net.core.rmem_max`.
    pub sysctls: BTreeMap<String, String>,
    /// Correction of the clocks by a daemon (NTP, PTP), as the kernel reports it. It is not used: offsets between hosts
    /// are measured. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_discipline: Option<ClockDiscipline>,
    /// Speed of each network interface that reports one, in 10^6 bit/s. The loopback interface is absent, and so are virtual
    /// interfaces that no device limits.
    pub link_mbps: BTreeMap<String, u64>,
    /// Maximum transmission unit of each network interface, in bytes.
    #[serde(default)]
    pub mtu_bytes: BTreeMap<String, u64>,
    /// Start of the experiment, in ns since 1970-01-01 UTC.
    pub started_unix_ns: u64,
}

/// State of the kernel's correction of the clocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockDiscipline {
    /// Whether a daemon reports that the wall clock is synchronized.
    pub synchronized: bool,
    /// Maximum error of the wall clock that the daemon reports, in µs.
    pub max_error_us: i64,
    /// Estimated error of the wall clock that the daemon reports, in µs.
    pub estimated_error_us: i64,
    /// Correction of the frequency of all clocks, in ppm * 65536.
    pub frequency_ppm_65536: i64,
    /// Names of the PTP hardware clocks.
    pub ptp_clocks: Vec<String>,
}

/// Properties of the first of these hosts.
pub(crate) fn first(hosts: &[HostRecord]) -> &Host {
    // A file may have none.
    static UNKNOWN: LazyLock<Host> = LazyLock::new(Host::default);
    hosts.first().map_or(&*UNKNOWN, |host| &host.properties)
}
