//! Labs: creation, change and removal.

use std::{
    path::Path,
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use experiment::{LabSpec, LinkError, LinkSpec, MAX_HOSTS, MIN_HOSTS};
use serde::{Deserialize, Serialize};

use crate::{
    command,
    counters::{self, Counters, HostCounters},
    error::LabError,
    host::Host,
    layout::{self, INTERFACE, port},
    link::{self, Sender, TABLE},
    namespace::Namespace,
    registry::{self, LabRecord},
    switch::Switch,
    tools::{self, Tool},
};

/// Mechanism that delays frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayMethod {
    /// The kernel's `netem`.
    Netem,
    /// Thread of the owner that forwards the frames itself, for kernels without `netem`.
    Switch,
}

/// Options of a lab that do not describe its hosts and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabOptions {
    /// Name of the lab. By default one with the process id of the owner, the boot and a number.
    pub name: Option<String>,
    /// Mechanism of the delay. By default `netem` if the kernel has it.
    pub delay_by: Option<DelayMethod>,
    /// Whether this process only keeps the lab, so that [`down`](crate::down) may end it.
    pub is_kept: bool,
}

/// Virtual hosts and links that this process owns. They are removed when the value is dropped, and everything that runs in
/// the hosts is killed.
#[derive(Debug)]
pub struct Lab {
    record: LabRecord,
    /// Namespaces of the hosts.
    hosts: Vec<Namespace>,
    /// Namespace of the bridge and the ports.
    middle: Namespace,
    delay_by: Option<DelayMethod>,
    switch: Option<Switch>,
    has_loss_rules: bool,
    /// Drops that were counted by disciplines and switches that no longer exist.
    earlier: Vec<HostCounters>,
    is_up: bool,
}

/// Link without limits, which a lab has until its own is set.
const PLAIN: LinkSpec = LinkSpec { rate_bit_per_s: None, delay_ns: 0, loss_ppm: 0 };

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
        if !(MIN_HOSTS..=MAX_HOSTS).contains(&spec.hosts) {
            return Err(LinkError::Hosts(spec.hosts.to_string()).into());
        }
        let name = options.name.clone().unwrap_or_else(unique_name);
        if !layout::is_valid_name(&name) {
            return Err(LabError::Name(name));
        }
        tools::check(&spec.link)?;
        let record = registry::create(name, *spec, options.is_kept)?;
        let mut hosts = record.namespaces();
        let middle = hosts.pop().expect("the last namespace is that of the switch");
        let earlier = record
            .hosts
            .iter()
            .map(|host| HostCounters { host: host.name.clone(), ..HostCounters::default() });
        let mut lab = Self {
            earlier: earlier.collect(),
            record,
            hosts,
            middle,
            delay_by: options.delay_by,
            switch: None,
            has_loss_rules: false,
            is_up: true,
        };
        lab.create()?;
        lab.change_link(&PLAIN, &spec.link)?;
        lab.note_link(&spec.link)?;
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

    /// Changes rate, delay and loss of all links. The hosts, and what runs in them, stay. Frames that are on the way may be
    /// lost.
    ///
    /// # Errors
    /// Returns an error if a program is missing or fails. Then the links have no rate and no delay.
    pub fn set_link(&mut self, link: &LinkSpec) -> Result<(), LabError> {
        tools::check(link)?;
        let from = self.record.spec.link;
        let changed = self.change_link(&from, link);
        if changed.is_err() {
            self.reset_link();
            self.note_link(&LinkSpec { rate_bit_per_s: None, delay_ns: 0, ..from })?;
        }
        changed?;
        self.note_link(link)
    }

    /// Returns a command that runs a program in a host. The process, and all that it starts, has the network, the host name,
    /// `/sys` and `/etc/hosts` of the host, and a `/dev/shm` of its own; everything else is that of this host.
    ///
    /// # Errors
    /// Returns an error if the lab has no such host.
    pub fn command(&self, host: &str, program: impl AsRef<std::ffi::OsStr>) -> Result<Command, LabError> {
        let index = self.record.hosts.iter().position(|known| known.name == host);
        let index = index.ok_or_else(|| LabError::NoHost {
            name: host.to_owned(),
            available: self.record.hosts.iter().map(|host| host.name.clone()).collect(),
        })?;
        command::within(&self.hosts[index], host, &self.record.hosts_file(), program.as_ref())
    }

    /// Returns what happened to the frames since the lab is up.
    ///
    /// # Errors
    /// Returns an error if the counters cannot be read.
    pub fn counters(&self) -> Result<Counters, LabError> {
        let unreadable = |what: &str| {
            let message = "unexpected output".to_owned();
            LabError::Tool { action: format!("read the counters of {what}"), message }
        };
        let interfaces = |namespace: &Namespace| {
            let text = Tool::Ip.run(
                Some(namespace),
                "read the counters of links",
                &["-s", "-j", "link", "show"],
                "",
            )?;
            counters::interfaces(&text).ok_or_else(|| unreadable("links"))
        };
        let rates = |namespace: &Namespace| {
            if self.record.spec.link.rate_bit_per_s.is_none()
                && self.record.delay_by != Some(DelayMethod::Netem)
            {
                return Ok(Default::default());
            }
            let text = Tool::Tc.run(
                Some(namespace),
                "read the counters of rates",
                &["-s", "-j", "qdisc", "show"],
                "",
            )?;
            counters::rate_drops(&text).ok_or_else(|| unreadable("rates"))
        };
        let losses = |namespace: &Namespace| {
            if !self.has_loss_rules {
                return Ok(Default::default());
            }
            let arguments = ["-j", "list", "counters", "table", "netdev", TABLE];
            let text = Tool::Nft.run(Some(namespace), "read the counters of the loss", &arguments, "")?;
            counters::losses(&text).ok_or_else(|| unreadable("the loss"))
        };
        let (port_links, port_rates) = (interfaces(&self.middle)?, rates(&self.middle)?);
        let host = |(index, namespace): (usize, &Namespace)| {
            let (links, rates, lost) = (interfaces(namespace)?, rates(namespace)?, losses(namespace)?);
            let link = links.get(INTERFACE).copied().unwrap_or_default();
            let port = port(index);
            let at_port = port_links.get(&port).copied().unwrap_or_default();
            let (switch_out, switch_in) = self.switch.as_ref().map_or((0, 0), |switch| switch.dropped(index));
            let earlier = &self.earlier[index];
            let lost_from = |sender: usize| {
                let frames = lost.get(&link::loss_counter(sender)).copied().unwrap_or(0);
                (self.record.hosts[sender].name.clone(), frames)
            };
            Ok(HostCounters {
                host: earlier.host.clone(),
                sent: link.sent,
                received: link.received,
                rate_out: earlier.rate_out + rates.get(INTERFACE).copied().unwrap_or(0),
                rate_in: earlier.rate_in + port_rates.get(&port).copied().unwrap_or(0),
                lost_from: (0..self.hosts.len()).filter(|sender| *sender != index).map(lost_from).collect(),
                switch_out: earlier.switch_out + switch_out,
                switch_in: earlier.switch_in + switch_in,
                interface: link.dropped + at_port.dropped,
            })
        };
        let hosts = self.hosts.iter().enumerate().map(host).collect::<Result<_, LabError>>()?;
        Ok(Counters { hosts })
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
        // Its sockets keep the namespace.
        self.switch = None;
        self.record.remove()
    }

    /// Creates namespaces and links, without limits.
    fn create(&self) -> Result<(), LabError> {
        let has_ipv6 = Path::new("/proc/sys/net/ipv6").exists();
        let hosts = &self.record.hosts;
        let ip = |namespace: Option<&Namespace>, action: &str, commands: &str| {
            Tool::Ip.run(namespace, action, &["-batch", "-"], commands).map(drop)
        };
        ip(None, "create network namespaces", &layout::create_namespaces(&self.record.name, hosts))?;
        ip(Some(&self.middle), "create the bridge", &layout::create_bridge(has_ipv6))?;
        ip(Some(&self.middle), "create the links (veth)", &layout::create_links(hosts, has_ipv6))?;
        for (index, namespace) in self.hosts.iter().enumerate() {
            // With segmentation offloads, the rate limit counts what Ethernet adds once for many frames.
            for (place, device) in [(namespace, INTERFACE), (&self.middle, port(index).as_str())] {
                let arguments = ["-K", device, "tso", "off", "gso", "off", "gro", "off"];
                Tool::Ethtool.run(Some(place), "switch off segmentation offloads", &arguments, "")?;
            }
            let commands = layout::configure_host(index, &hosts[index], has_ipv6);
            ip(Some(namespace), "configure the interface of a host", &commands)?;
        }
        self.attach_ports(true)
    }

    fn attach_ports(&self, is_attached: bool) -> Result<(), LabError> {
        let commands = layout::attach_ports(self.hosts.len(), is_attached);
        Tool::Ip
            .run(Some(&self.middle), "attach the links to the bridge", &["-batch", "-"], &commands)
            .map(drop)
    }

    fn change_link(&mut self, from: &LinkSpec, to: &LinkSpec) -> Result<(), LabError> {
        if to.delay_ns > 0 && self.delay_by.is_none() {
            self.delay_by = Some(self.best_delay_method());
        }
        let has_netem = self.delay_by == Some(DelayMethod::Netem);
        let tc = |namespace: &Namespace, commands: &str| match commands {
            "" => Ok(()),
            _ => Tool::Tc
                .run(Some(namespace), "set the rate (tbf) or delay (netem)", &["-batch", "-"], commands)
                .map(drop),
        };
        let at_ports: Vec<_> = (0..self.hosts.len())
            .map(|index| link::change_queues(&port(index), Sender::Port, (from, to), has_netem))
            .collect();
        let at_host = link::change_queues(INTERFACE, Sender::Host, (from, to), has_netem);
        if at_host.replaces || at_ports[0].replaces || (self.switch.is_some() && to.delay_ns == 0) {
            self.keep_counters(at_host.replaces, at_ports[0].replaces)?;
        }
        tc(&self.middle, &at_ports.into_iter().map(|change| change.commands).collect::<String>())?;
        for (index, namespace) in self.hosts.iter().enumerate() {
            tc(namespace, &at_host.commands)?;
            if from.loss_ppm != to.loss_ppm {
                let commands = link::change_loss(index, self.hosts.len(), to.loss_ppm);
                Tool::Nft.run(Some(namespace), "set the loss", &["-f", "-"], &commands)?;
            }
        }
        self.has_loss_rules |= to.loss_ppm > 0;
        self.change_switch(if has_netem { 0 } else { to.delay_ns })
    }

    /// Starts, changes or ends the userspace switch.
    fn change_switch(&mut self, delay_ns: u64) -> Result<(), LabError> {
        match &self.switch {
            Some(switch) if delay_ns > 0 => switch.set_delay(delay_ns),
            Some(_) => {
                self.switch = None;
                self.attach_ports(true)?;
            }
            None if delay_ns > 0 => {
                self.attach_ports(false)?;
                self.switch = Some(Switch::start(&self.middle, self.hosts.len(), delay_ns)?);
            }
            None => {}
        }
        Ok(())
    }

    /// Returns `netem` if the kernel has it.
    fn best_delay_method(&self) -> DelayMethod {
        let lo =
            |verb: &[&str]| Tool::Tc.run(Some(&self.middle), "try netem", &[&["qdisc"], verb].concat(), "");
        match lo(&["add", "dev", "lo", "root", "netem", "delay", "1ms"]) {
            Ok(_) => {
                let _ = lo(&["del", "dev", "lo", "root"]);
                DelayMethod::Netem
            }
            Err(_) => DelayMethod::Switch,
        }
    }

    /// Keeps the counters of disciplines and a switch that are replaced.
    fn keep_counters(&mut self, of_hosts: bool, of_ports: bool) -> Result<(), LabError> {
        let now = self.counters()?.hosts;
        for (earlier, now) in self.earlier.iter_mut().zip(now) {
            if of_hosts {
                earlier.rate_out = now.rate_out;
            }
            if of_ports {
                earlier.rate_in = now.rate_in;
            }
            (earlier.switch_out, earlier.switch_in) = (now.switch_out, now.switch_in);
        }
        Ok(())
    }

    /// Removes rate and delay of all links, as far as they are there.
    fn reset_link(&mut self) {
        for index in 0..self.hosts.len() {
            for (place, device) in [(&self.middle, port(index).as_str()), (&self.hosts[index], INTERFACE)] {
                // There may be none.
                let _ =
                    Tool::Tc.run(Some(place), "reset the rate", &["qdisc", "del", "dev", device, "root"], "");
            }
        }
        self.switch = None;
        let _ = self.attach_ports(true);
    }

    /// Records the link.
    fn note_link(&mut self, link: &LinkSpec) -> Result<(), LabError> {
        self.record.spec.link = *link;
        self.record.delay_by = self.delay_by.filter(|_| link.delay_ns > 0);
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
    let owner = crate::owner::Owner::this_process();
    format!("ddsmark-{}-{}-{}", process::id(), owner.boot, NEXT.fetch_add(1, Relaxed))
}
