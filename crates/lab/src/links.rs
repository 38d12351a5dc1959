//! Links of a lab: their rate, delay, loss and MTU, and what happened to the frames.

use experiment::LinkSpec;
use hdrhistogram::Histogram;

use crate::{
    counters::{self, Counters, HostCounters},
    error::LabError,
    host::Host,
    layout::{self, INTERFACE, port},
    link::{self, TABLE},
    namespace::Namespace,
    switch::{Switch, SwitchDrops, lateness_histogram},
    tools::Tool,
    virtual_clock::Timing,
};

/// Links between the hosts and the switch of a lab.
#[derive(Debug)]
pub(crate) struct Links {
    /// Namespaces of the hosts.
    pub(crate) hosts: Vec<Namespace>,
    /// Namespace of the bridge and the ports.
    middle: Namespace,
    /// Current properties. The MTU is the largest that a host has had: a queue may still hold such frames.
    now: LinkSpec,
    /// Switch that forwards the frames of links with a rate or a delay. Those of others go through the bridge.
    switch: Option<Switch>,
    /// Whether multicast is sent to each host.
    members: Vec<bool>,
    /// Whether the hosts have rules for a loss, which may be 0.
    pub(crate) has_loss_rules: bool,
    /// Names of the hosts, and drops that were counted by queues and switches that no longer exist.
    earlier: Vec<HostCounters>,
    /// Lateness of switches that no longer exist.
    earlier_lateness: Histogram<u64>,
}

impl Links {
    /// Creates the value for links that are attached to the bridge, and have no limits.
    pub(crate) fn new(hosts: &[Host], namespaces: Vec<Namespace>, middle: Namespace) -> Self {
        let earlier = hosts.iter().map(|host| HostCounters { host: host.name.clone(), ..Default::default() });
        let mtu_bytes = hosts.iter().map(|host| host.mtu_bytes).max().unwrap_or_default();
        Self {
            hosts: namespaces,
            middle,
            now: LinkSpec { mtu_bytes, ..LinkSpec::default() },
            switch: None,
            members: vec![true; hosts.len()],
            has_loss_rules: false,
            earlier: earlier.collect(),
            earlier_lateness: lateness_histogram(),
        }
    }

    /// Returns rate and delay of the switch; those of an unlimited link without one.
    pub(crate) fn timing(&self) -> Timing {
        self.switch.as_ref().map(Switch::timing).unwrap_or_default()
    }

    /// Returns by how many ns each frame was sent to its host later than on a real link, since the lab is up.
    pub(crate) fn lateness(&self) -> Histogram<u64> {
        let mut all = self.earlier_lateness.clone();
        if let Some(switch) = &self.switch {
            all.add(switch.lateness()).expect("the histograms have equal bounds");
        }
        all
    }

    /// Changes the hosts that multicast is sent to.
    pub(crate) fn set_members(&mut self, members: Vec<bool>) -> Result<(), LabError> {
        if self.members == members {
            return Ok(());
        }
        match &self.switch {
            Some(switch) => switch.set_members(&members),
            None => self.flood_members(&members)?,
        }
        self.members = members;
        Ok(())
    }

    /// Lets the bridge send multicast to some hosts only.
    fn flood_members(&self, members: &[bool]) -> Result<(), LabError> {
        let commands = layout::flood_members(members);
        let action = "choose the hosts that receive multicast";
        Tool::Bridge.run(Some(&self.middle), action, &["-batch", "-"], &commands).map(drop)
    }

    /// Changes rate, delay and loss. If that fails, the links have no rate and no delay.
    pub(crate) fn change(&mut self, to: &LinkSpec) -> Result<(), LabError> {
        self.apply(LinkSpec { mtu_bytes: self.now.mtu_bytes, ..*to })
    }

    fn apply(&mut self, to: LinkSpec) -> Result<(), LabError> {
        let changed = self.try_change(&to);
        if changed.is_ok() {
            self.now = to;
        } else {
            self.reset();
        }
        changed
    }

    /// Changes the MTU of the hosts at some indices. The ports and queues take the largest one.
    pub(crate) fn set_mtu(&mut self, indices: &[usize], mtu: u32) -> Result<(), LabError> {
        if mtu > self.now.mtu_bytes {
            let commands = layout::set_port_mtu(self.hosts.len(), mtu);
            Tool::Ip.run(Some(&self.middle), "set the MTU of the ports", &["-batch", "-"], &commands)?;
            self.apply(LinkSpec { mtu_bytes: mtu, ..self.now })?;
        }
        let mtu = mtu.to_string();
        for index in indices {
            let arguments = ["link", "set", INTERFACE, "mtu", &mtu];
            Tool::Ip.run(Some(&self.hosts[*index]), "set the MTU of a host", &arguments, "")?;
        }
        Ok(())
    }

    /// Ends the switch, whose sockets keep its namespace.
    pub(crate) fn close(&mut self) {
        self.switch = None;
    }

    /// Attaches the ports to the bridge, or detaches them from it.
    pub(crate) fn attach_ports(&self, is_attached: bool) -> Result<(), LabError> {
        let commands = layout::attach_ports(self.hosts.len(), is_attached);
        Tool::Ip.run(Some(&self.middle), "attach the links to the bridge", &["-batch", "-"], &commands)?;
        // A port that is attached again sends all multicast.
        if is_attached && self.members.contains(&false) { self.flood_members(&self.members) } else { Ok(()) }
    }

    fn try_change(&mut self, to: &LinkSpec) -> Result<(), LabError> {
        let from = self.now;
        let queue = link::change_send_queue(&from, to);
        let needs_switch = to.rate_bit_per_s.is_some() || to.delay_ns > 0;
        let ends_switch = self.switch.is_some() && !needs_switch;
        if queue.removes || ends_switch {
            self.keep_counters(queue.removes, ends_switch)?;
        }
        for (index, namespace) in self.hosts.iter().enumerate() {
            if !queue.command.is_empty() {
                Tool::Tc.run(Some(namespace), "set the rate (tbf)", &["-batch", "-"], &queue.command)?;
            }
            if from.loss_ppm != to.loss_ppm {
                let commands = link::change_loss(index, self.hosts.len(), to.loss_ppm);
                Tool::Nft.run(Some(namespace), "set the loss", &["-f", "-"], &commands)?;
            }
        }
        self.has_loss_rules |= to.loss_ppm > 0;
        match &self.switch {
            Some(switch) if needs_switch => switch.set_link(to),
            Some(_) => {
                self.switch = None;
                self.attach_ports(true)?;
            }
            None if needs_switch => {
                self.attach_ports(false)?;
                self.switch = Some(Switch::start(&self.middle, &self.members, to)?);
            }
            None => {}
        }
        Ok(())
    }

    /// Removes rate and delay of all links, as far as they are there.
    fn reset(&mut self) {
        let _ = self.keep_counters(true, true);
        for namespace in &self.hosts {
            let arguments = ["qdisc", "del", "dev", INTERFACE, "root"];
            // There may be none.
            let _ = Tool::Tc.run(Some(namespace), "reset the rate", &arguments, "");
        }
        self.switch = None;
        let _ = self.attach_ports(true);
        self.now = LinkSpec { rate_bit_per_s: None, delay_ns: 0, ..self.now };
    }

    /// Keeps the counters of queues and a switch that are removed.
    fn keep_counters(&mut self, of_queues: bool, of_switch: bool) -> Result<(), LabError> {
        let now = self.counters()?.hosts;
        for (earlier, now) in self.earlier.iter_mut().zip(now) {
            if of_queues {
                earlier.rate_out = now.rate_out;
            }
            if of_switch {
                (earlier.rate_in, earlier.switch_out, earlier.switch_in) =
                    (now.rate_in, now.switch_out, now.switch_in);
            }
        }
        if of_switch {
            self.earlier_lateness = self.lateness();
        }
        Ok(())
    }

    /// Returns what happened to the frames since the lab is up.
    pub(crate) fn counters(&self) -> Result<Counters, LabError> {
        let interfaces = |namespace: &Namespace| {
            let arguments = ["-s", "-j", "link", "show"];
            Tool::Ip.read(namespace, "read the counters of links", &arguments, counters::interfaces)
        };
        let rates = |namespace: &Namespace| {
            if self.now.rate_bit_per_s.is_none() {
                return Ok(Default::default());
            }
            let arguments = ["-s", "-j", "qdisc", "show"];
            Tool::Tc.read(namespace, "read the counters of rates", &arguments, counters::rate_drops)
        };
        let losses = |namespace: &Namespace| {
            if !self.has_loss_rules {
                return Ok(Default::default());
            }
            let arguments = ["-j", "list", "counters", "table", "netdev", TABLE];
            Tool::Nft.read(namespace, "read the counters of the loss", &arguments, counters::losses)
        };
        let port_links = interfaces(&self.middle)?;
        let host = |(index, namespace): (usize, &Namespace)| {
            let (links, rates, lost) = (interfaces(namespace)?, rates(namespace)?, losses(namespace)?);
            let link = links.get(INTERFACE).copied().unwrap_or_default();
            let at_port = port_links.get(&port(index)).copied().unwrap_or_default();
            let dropped: SwitchDrops =
                self.switch.as_ref().map(|switch| switch.dropped(index)).unwrap_or_default();
            let earlier = &self.earlier[index];
            let lost_from = |sender: usize| {
                let frames = lost.get(&link::loss_counter(sender)).copied().unwrap_or(0);
                (self.earlier[sender].host.clone(), frames)
            };
            Ok(HostCounters {
                host: earlier.host.clone(),
                sent: link.sent,
                received: link.received,
                rate_out: earlier.rate_out + rates.get(INTERFACE).copied().unwrap_or(0),
                rate_in: earlier.rate_in + dropped.overflows,
                lost_from: (0..self.hosts.len()).filter(|sender| *sender != index).map(lost_from).collect(),
                switch_out: earlier.switch_out + dropped.out,
                switch_in: earlier.switch_in + dropped.into,
                interface: link.dropped + at_port.dropped,
            })
        };
        let hosts = self.hosts.iter().enumerate().map(host).collect::<Result<_, LabError>>()?;
        Ok(Counters { hosts })
    }
}
