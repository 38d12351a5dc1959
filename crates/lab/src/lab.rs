//! Labs: creation, change and removal.

use std::{
    ffi::OsStr,
    path::Path,
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use experiment::{LabSpec, LinkSpec};
use hdrhistogram::Histogram;
use nix::unistd::Pid;

use crate::{
    counters::Counters,
    error::LabError,
    host::Host,
    layout::{self, INTERFACE, port},
    links::Links,
    namespace::{Namespace, processes_in},
    owner::Owner,
    registry::{self, LabRecord},
    tools::{self, Tool},
};

/// Options of a lab that do not describe its hosts and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabOptions {
    /// Name of the lab. By default one with the process id of the owner, the boot and a number.
    pub name: Option<String>,
    /// Whether this process only keeps the lab, so that [`down`](crate::down) may end it.
    pub is_kept: bool,
}

/// Virtual hosts and links that this process owns. They are removed when the value is dropped, and everything that runs in
/// the hosts is killed.
#[derive(Debug)]
pub struct Lab {
    record: LabRecord,
    links: Links,
    is_up: bool,
}

impl Lab {
    /// Creates a lab, and first removes labs whose owner was killed.
    ///
    /// # Errors
    /// Returns an error if this process lacks a privilege or a program, which is checked before anything is created; or if a
    /// step fails, after which nothing is left.
    pub fn up(spec: &LabSpec) -> Result<Self, LabError> {
        Self::up_with(&LabOptions::default(), spec)
    }

    /// Creates a lab with options; see [`Lab::up`].
    ///
    /// # Errors
    /// Returns the errors of [`Lab::up`], and an error if the name is invalid or in use.
    pub fn up_with(options: &LabOptions, spec: &LabSpec) -> Result<Self, LabError> {
        LabSpec::parse_hosts(&spec.hosts.to_string())?;
        let name = options.name.clone().unwrap_or_else(unique_name);
        if !layout::is_valid_name(&name) {
            return Err(LabError::Name(name));
        }
        tools::check(&spec.link)?;
        let record = registry::create(name, *spec, options.is_kept)?;
        let mut hosts = record.namespaces();
        let middle = hosts.pop().expect("the last namespace is that of the switch");
        let links = Links::new(&record.hosts, hosts.clone(), middle.clone());
        let mut lab = Self { record, links, is_up: true };
        lab.create(&hosts, &middle)?;
        lab.links.change(&spec.link)?;
        lab.note_links(&spec.link)?;
        Ok(lab)
    }

    /// Returns the name of the lab.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// Returns the hosts.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.record.hosts
    }

    /// Returns the lab as it is recorded.
    #[must_use]
    pub const fn record(&self) -> &LabRecord {
        &self.record
    }

    /// Changes all links. The hosts, and what runs in them, stay. Frames that are on the way may be lost. An MTU that
    /// [`Lab::set_mtu`] has set stays unless the MTU of the links changes.
    ///
    /// # Errors
    /// Returns an error if a program is missing or fails. Then the links have no rate and no delay.
    pub fn set_link(&mut self, link: &LinkSpec) -> Result<(), LabError> {
        tools::check(link)?;
        let from = self.record.spec.link;
        if from.mtu_bytes != link.mtu_bytes {
            let all: Vec<usize> = (0..self.record.hosts.len()).collect();
            self.change_mtu(&all, link.mtu_bytes)?;
        }
        let changed = self.links.change(link);
        if changed.is_err() {
            self.note_links(&LinkSpec { rate_bit_per_s: None, delay_ns: 0, ..from })?;
        }
        changed?;
        self.note_links(link)
    }

    /// Reads rate, delay, loss and MTU of the links back from the kernel and the switch.
    ///
    /// # Errors
    /// Returns an error if they cannot be read, or if the links are not alike.
    pub fn read_link(&self) -> Result<LinkSpec, LabError> {
        self.links.read()
    }

    /// Changes the MTU of one host. Frames of another host that are longer do not arrive there, as on a network whose hosts have
    /// different MTUs; the counter `interface` has them.
    ///
    /// # Errors
    /// Returns an error if there is no such host, if the MTU is out of range, or if a program fails.
    pub fn set_mtu(&mut self, host: &str, mtu_bytes: u32) -> Result<(), LabError> {
        LinkSpec::parse_mtu(&mtu_bytes.to_string())?;
        let index = self.index(host)?;
        self.change_mtu(&[index], mtu_bytes)?;
        self.record.write()
    }

    fn change_mtu(&mut self, indices: &[usize], mtu_bytes: u32) -> Result<(), LabError> {
        self.links.set_mtu(indices, mtu_bytes)?;
        for index in indices {
            self.record.hosts[*index].mtu_bytes = mtu_bytes;
        }
        Ok(())
    }

    /// Returns a host by its name.
    ///
    /// # Errors
    /// Returns an error if the lab has no such host.
    pub fn host(&self, name: &str) -> Result<&Host, LabError> {
        Ok(&self.record.hosts[self.index(name)?])
    }

    /// Returns a command that runs a program in a host; see [`Host::command`].
    ///
    /// # Errors
    /// Returns an error if the lab has no such host.
    pub fn command(&self, host: &str, program: impl AsRef<OsStr>) -> Result<Command, LabError> {
        Ok(self.host(host)?.command(program))
    }

    /// Returns the ids of the processes in the hosts.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        processes_in(&self.links.hosts).into_iter().map(Pid::as_raw).collect()
    }

    fn index(&self, host: &str) -> Result<usize, LabError> {
        let hosts = &self.record.hosts;
        hosts.iter().position(|known| known.name == host).ok_or_else(|| LabError::NoHost {
            name: host.to_owned(),
            available: hosts.iter().map(|host| host.name.clone()).collect(),
        })
    }

    /// Returns what happened to the frames since the lab is up.
    ///
    /// # Errors
    /// Returns an error if the counters cannot be read.
    pub fn counters(&self) -> Result<Counters, LabError> {
        self.links.counters()
    }

    /// Lets multicast reach some hosts only. At the start it reaches all.
    ///
    /// # Errors
    /// Returns an error if the lab has no such host, or if a program fails.
    pub fn set_members<'n>(&mut self, hosts: impl IntoIterator<Item = &'n str>) -> Result<(), LabError> {
        let mut members = vec![false; self.record.hosts.len()];
        for host in hosts {
            members[self.index(host)?] = true;
        }
        self.links.set_members(members)
    }

    /// Returns by how many ns each frame was sent to its host later than on a real link, since the lab is up. Links without a
    /// rate and a delay have no such frames.
    #[must_use]
    pub fn lateness(&self) -> Histogram<u64> {
        self.links.lateness()
    }

    /// Removes the lab, and reports whether that failed. Dropping the value does the same without a report.
    ///
    /// # Errors
    /// Returns an error if something cannot be removed.
    pub fn down(mut self) -> Result<(), LabError> {
        self.remove()
    }

    fn remove(&mut self) -> Result<(), LabError> {
        self.is_up = false;
        self.links.close();
        self.record.remove()
    }

    /// Creates namespaces and links, without limits.
    fn create(&self, namespaces: &[Namespace], middle: &Namespace) -> Result<(), LabError> {
        let has_ipv6 = Path::new("/proc/sys/net/ipv6").exists();
        let hosts = &self.record.hosts;
        let ip = |namespace: Option<&Namespace>, action: &str, commands: &str| {
            Tool::Ip.run(namespace, action, &["-batch", "-"], commands).map(drop)
        };
        ip(None, "create network namespaces", &layout::create_namespaces(&self.record.name, hosts))?;
        ip(Some(middle), "create the bridge", &layout::create_bridge(has_ipv6))?;
        ip(Some(middle), "create the links (veth)", &layout::create_links(hosts, has_ipv6))?;
        for (index, namespace) in namespaces.iter().enumerate() {
            // With segmentation offloads, the rate limit counts what Ethernet adds once for many frames.
            for (place, device) in [(namespace, INTERFACE), (middle, port(index).as_str())] {
                let arguments = ["-K", device, "tso", "off", "gso", "off", "gro", "off"];
                Tool::Ethtool.run(Some(place), "switch off segmentation offloads", &arguments, "")?;
            }
            let commands = layout::configure_host(index, &hosts[index], has_ipv6);
            ip(Some(namespace), "configure the interface of a host", &commands)?;
        }
        self.links.attach_ports(true)
    }

    /// Records the links.
    fn note_links(&mut self, link: &LinkSpec) -> Result<(), LabError> {
        self.record.spec.link = *link;
        self.record.write()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if self.is_up {
            // The next lab tries again: this process will have ended.
            let _ = self.remove();
        }
    }
}

/// Returns a name that no other lab has: the process id, the boot, and a number.
fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let owner = Owner::this_process();
    format!("ddsmark-{}-{}-{}", process::id(), owner.boot, NEXT.fetch_add(1, Relaxed))
}
