//! Capture of the host properties that influence results. Read-only.

use std::{collections::BTreeMap, fs, net::Ipv6Addr, path::Path, time::Instant};

use nix::{
    ifaddrs::{InterfaceAddress as InterfaceAddressOfOs, getifaddrs},
    net::if_::InterfaceFlags,
    sys::utsname::uname,
};
use results::{ClockDiscipline, Host, Warning, WarningKind};

use super::cores::allowed_cores;
use crate::values::{clock::unix_ns, facts::Facts, networks::InterfaceAddress};

/// Kernel settings that influence results.
const SYSCTLS: &[&str] = &[
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
    "kernel.timer_migration",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_time",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv4.udp_wmem_min",
];
/// Clock source of the kernel.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Clock sources that are read without a system call.
const QUICK_CLOCKS: &[&str] =
    &["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "riscv_clocksource"];
/// Maximum cost of a clock read without a warning, in ns.
const QUICK_NS: u64 = 200;

/// Captures the facts about this host.
pub(crate) fn capture_facts() -> Facts {
    Facts {
        host: capture_host(),
        cores: allowed_cores(),
        interfaces: interfaces(),
        addresses: addresses(),
        ipv6_addresses: ipv6_addresses(),
        network: network_namespace(),
    }
}

/// Captures the properties of this host.
fn capture_host() -> Host {
    let names = uname().ok();
    let text = |of: fn(&nix::sys::utsname::UtsName) -> &std::ffi::OsStr| {
        names.as_ref().map(|names| of(names).to_string_lossy().into_owned()).unwrap_or_default()
    };
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    Host {
        name: text(|names| names.nodename()),
        kernel: [text(|names| names.sysname()), text(|names| names.release()), text(|names| names.version())]
            .join(" "),
        os: read("/etc/os-release").as_deref().and_then(pretty_name),
        cpu: cpu_model(&cpuinfo),
        cpus: allowed_cores().len() as u32,
        memory_bytes: read("/proc/meminfo").as_deref().and_then(memory),
        virtualization: virtualization(&cpuinfo),
        clock_source: read(CLOCK_SOURCE),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        clock_read_ns: Some(clock_read_ns()),
        clock_discipline: clock_discipline(),
        sysctls: sysctls(),
        link_mbps: speeds(Path::new("/sys/class/net")),
        mtu_bytes: of_interfaces(Path::new("/sys/class/net"), "mtu"),
        started_unix_ns: unix_ns(),
    }
}

/// Reads the state of the kernel's correction of the clocks. Changes nothing.
fn clock_discipline() -> Option<ClockDiscipline> {
    // SAFETY: all zeros are valid values of its numbers. `modes` 0 only reads.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for the call.
    let result = unsafe { libc::adjtimex(&raw mut state) };
    let clocks = fs::read_dir("/sys/class/ptp").into_iter().flatten().flatten();
    let name = |clock: fs::DirEntry| {
        let name = read(clock.path().join("clock_name").to_str()?)?;
        Some(format!("{} ({name})", clock.file_name().to_string_lossy()))
    };
    let mut ptp_clocks: Vec<String> = clocks.filter_map(name).collect();
    ptp_clocks.sort();
    (result >= 0).then_some(ClockDiscipline {
        synchronized: result != libc::TIME_ERROR && state.status & libc::STA_UNSYNC == 0,
        max_error_us: state.maxerror,
        estimated_error_us: state.esterror,
        frequency_ppm_65536: state.freq,
        ptp_clocks,
    })
}

/// Returns warnings about host properties that limit all results.
#[must_use]
pub fn host_warnings(host: &Host) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |text: String, hint: Option<String>| {
        warnings.push(Warning { kind: WarningKind::Host, text, hint });
    };
    let cost = host.clock_read_ns.map(|ns| format!(" ({ns} ns a read)")).unwrap_or_default();
    if let Some(source) = &host.clock_source
        && !QUICK_CLOCKS.contains(&source.as_str())
    {
        warn(
            format!(
                "the kernel's clock source is `{source}`, which is slow to read{cost}; small latencies are overestimated"
            ),
            Some(format!("if `available_clocksource` beside it has `tsc`, `echo tsc >{CLOCK_SOURCE}`")),
        );
    } else if host.clock_read_ns.is_some_and(|ns| ns > QUICK_NS) {
        warn(format!("reading the clock is slow{cost}; small latencies are overestimated"), None);
    }
    if let Some(governor) = host.governor.as_deref().filter(|governor| *governor != "performance") {
        let hint = "`echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor`";
        warn(
            format!("the frequency governor is `{governor}`: `performance` reduces the spread"),
            Some(hint.to_owned()),
        );
    }
    if host.cpus < 2 {
        warn("only one core is available; writer and reader share it".to_owned(), None);
    }
    warnings
}

/// Returns the names of the network interfaces, sorted; `None` if they cannot be listed.
fn interfaces() -> Option<Vec<String>> {
    let entries = fs::read_dir("/sys/class/net").ok()?.flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Some(names)
}

/// Returns the IPv4 addresses of the interfaces that are up, without those of the loopback interface.
fn addresses() -> Vec<InterfaceAddress> {
    let Ok(all) = getifaddrs() else { return Vec::new() };
    let address = |found: InterfaceAddressOfOs| {
        let usable = is_usable(&found);
        let address = found.address.as_ref()?.as_sockaddr_in()?.ip();
        let mask = found.netmask.as_ref()?.as_sockaddr_in()?.ip();
        let prefix = u32::from(mask).leading_ones() as u8;
        usable.then_some(InterfaceAddress { interface: found.interface_name, address, prefix })
    };
    all.filter_map(address).collect()
}

/// Returns the first IPv6 address of each interface that is up, without the loopback interface and without addresses of one
/// link only, which need the name of an interface beside them.
fn ipv6_addresses() -> BTreeMap<String, Ipv6Addr> {
    let mut addresses = BTreeMap::new();
    for found in getifaddrs().into_iter().flatten().filter(is_usable) {
        let address = found.address.as_ref().and_then(|address| Some(address.as_sockaddr_in6()?.ip()));
        if let Some(address) = address.filter(|address| !address.is_unicast_link_local()) {
            addresses.entry(found.interface_name).or_insert(address);
        }
    }
    addresses
}

/// Returns whether an interface is up and leads to other hosts.
fn is_usable(found: &InterfaceAddressOfOs) -> bool {
    found.flags.contains(InterfaceFlags::IFF_UP) && !found.flags.contains(InterfaceFlags::IFF_LOOPBACK)
}

/// Returns the identity of the network namespace of this process; `None` if it cannot be read.
fn network_namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/net").ok()?;
    Some(format!("{} {}", control::boot_id()?, link.to_string_lossy()))
}

/// Returns the trimmed text of a kernel file; `None` if it is empty.
fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// Returns the value of a line `name : value`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "cpu", "uarch"]
        .iter()
        .find_map(|name| field(cpuinfo, name))
        .map(ToOwned::to_owned)
}

fn memory(meminfo: &str) -> Option<u64> {
    let kibibytes: u64 = field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns the kinds of virtual machine and container, if detected.
fn virtualization(cpuinfo: &str) -> Option<String> {
    let hypervisor =
        field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let kind = read("/sys/hypervisor/type");
    let machine = (hypervisor || kind.is_some()).then(|| {
        let product = ["sys_vendor", "product_name"].map(|name| read(format!("/sys/class/dmi/id/{name}")));
        let named: Vec<String> = kind.into_iter().chain(product.into_iter().flatten()).collect();
        if named.is_empty() {
            "virtual machine".to_owned()
        } else {
            format!("virtual machine ({})", named.join(", "))
        }
    });
    let container = [("/.dockerenv", "container (docker)"), ("/run/.containerenv", "container (podman)")]
        .into_iter()
        .find(|(file, _)| Path::new(file).exists())
        .map(|(_, name)| name.to_owned())
        .or_else(|| read("/run/systemd/container").map(|kind| format!("container ({kind})")));
    let parts: Vec<String> = [machine, container].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn sysctls() -> BTreeMap<String, String> {
    SYSCTLS
        .iter()
        .filter_map(|name| {
            let value = read(format!("/proc/sys/{}", name.replace('.', "/")))?;
            Some(((*name).to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
        })
        .collect()
}

/// Returns a number of each interface from its file with this name: `speed` in Mbit/s, `mtu` in bytes. Without a speed
/// the kernel reports an error or a negative number.
fn of_interfaces(interfaces: &Path, file: &str) -> BTreeMap<String, u64> {
    let Ok(entries) = fs::read_dir(interfaces) else { return BTreeMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let number = read(entry.path().join(file))?.parse().ok().filter(|number| *number > 0)?;
            Some((entry.file_name().into_string().ok()?, number))
        })
        .collect()
}

/// Returns the speed of each interface in Mbit/s that has a link. Virtual interfaces report a speed, too, such as 10 Gbit/s of a
/// veth pair, which limits nothing: it counts only for an interface of a device, or of other interfaces, such as a VLAN or bond.
fn speeds(interfaces: &Path) -> BTreeMap<String, u64> {
    let mut speeds = of_interfaces(interfaces, "speed");
    speeds.retain(|name, _| {
        let interface = interfaces.join(name);
        let names = fs::read_dir(&interface).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let lower = names.into_iter().any(|name| name.to_string_lossy().starts_with("lower_"));
        lower || interface.join("device").exists()
    });
    speeds
}

/// Returns the cost of one read of the monotonic clock in ns: the median of many batches.
fn clock_read_ns() -> u64 {
    const BATCHES: usize = 101;
    const READS: u32 = 1000;
    let mut costs: Vec<u64> = (0..BATCHES)
        .map(|_| {
            let began = Instant::now();
            for _ in 1..READS {
                std::hint::black_box(Instant::now());
            }
            (began.elapsed().as_nanos() as u64 + u64::from(READS) / 2) / u64::from(READS)
        })
        .collect();
    costs.sort_unstable();
    costs[BATCHES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_all_properties() {
        let host = capture_host();
        assert!(!host.name.is_empty() && host.kernel.starts_with("Linux "));
        assert!(host.cpus >= 1 && host.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(
            host.sysctls.contains_key("net.ipv4.udp_mem")
                || !Path::new("/proc/sys/net/ipv4/udp_mem").exists()
        );
    }

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(pretty_name("ID=debian\nPRETTY_NAME=\"Debian 13\"\n").as_deref(), Some("Debian 13"));
        assert_eq!(memory("MemTotal:       2048 kB\nMemFree: 1 kB"), Some(2048 * 1024));
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Fast 9000\n").as_deref(), Some("Fast 9000"));
    }

    #[test]
    fn link_speed_is_read_if_the_interface_has_one() {
        let interfaces = tempfile::tempdir().unwrap();
        for (name, speed, link) in [
            ("eth0", Some("1000\n"), "device"),
            ("bond0", Some("2000\n"), "lower_eth0"),
            ("veth0", Some("10000\n"), "queues"),
            ("down", Some("-1\n"), "device"),
            ("lo", None, "queues"),
            ("odd", Some("0"), "device"),
        ] {
            let interface = interfaces.path().join(name);
            fs::create_dir_all(interface.join(link)).unwrap();
            if let Some(speed) = speed {
                fs::write(interface.join("speed"), speed).unwrap();
            }
        }
        let expected = [("bond0".to_owned(), 2000), ("eth0".to_owned(), 1000)];
        assert_eq!(speeds(interfaces.path()), BTreeMap::from(expected));
        assert_eq!(speeds(&interfaces.path().join("none")), BTreeMap::new());
    }

    #[test]
    fn each_host_warning_depends_on_its_property() {
        let good = Host {
            clock_source: Some("tsc".to_owned()),
            governor: Some("performance".to_owned()),
            clock_read_ns: Some(25),
            cpus: 8,
            ..capture_host()
        };
        assert_eq!(host_warnings(&good), []);
        let bad = [
            Host { clock_source: Some("hpet".to_owned()), ..good.clone() },
            Host { clock_read_ns: Some(900), ..good.clone() },
            Host { governor: Some("powersave".to_owned()), ..good.clone() },
            Host { cpus: 1, ..good },
        ];
        for host in bad {
            assert_eq!(host_warnings(&host).len(), 1, "{host:?}");
        }
        let powersave =
            Host { governor: Some("powersave".to_owned()), ..Host { cpus: 8, ..Host::default() } };
        assert!(host_warnings(&powersave)[0].to_string().contains("; hint: `echo performance | tee /sys/"));
    }
}
