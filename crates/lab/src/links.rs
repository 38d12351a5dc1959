//! Links of a lab: their rate, delay, loss and MTU, and what happened to the frames.

use experiment::LinkSpec;

use crate::{
    counters::{self, Counters, HostCounters},
    delay_method::DelayMethod,
    error::LabError,
    host::Host,
    layout::{self, INTERFACE, port},
    link::{self, Sender, TABLE},
    namespace::Namespace,
    switch::Switch,
    tools::Tool,
};

/// Links between the hosts and the switch of a lab.
#[derive(Debug)]
pub(crate) struct Links {
    /// Namespaces of the hosts.
    hosts: Vec<Namespace>,
    /// Namespace of the bridge and the ports.
    middle: Namespace,
    /// Current properties. The MTU is the largest that a host has had: a queue may still hold such frames.
    now: LinkSpec,
    delay_by: Option<DelayMethod>,
    switch: Option<Switch>,
    has_loss_rules: bool,
    /// Names of the hosts, and drops that were counted by disciplines and switches that no longer exist.
    earlier: Vec<HostCounters>,
}

impl Links {
    /// Creates the value for links that are attached to the bridge, and have no limits.
    pub(crate) fn new(
        hosts: &[Host],
        namespaces: Vec<Namespace>,
        middle: Namespace,
        delay_by: Option<DelayMethod>,
    ) -> Self {
        let earlier = hosts.iter().map(|host| HostCounters { host: host.name.clone(), ..Default::default() });
        let mtu_bytes = hosts.iter().map(|host| host.mtu_bytes).max().unwrap_or_default();
        Self {
            hosts: namespaces,
            middle,
            now: LinkSpec { mtu_bytes, ..LinkSpec::default() },
            delay_by,
            switch: None,
            has_loss_rules: false,
            earlier: earlier.collect(),
        }
    }

    /// Returns the mechanism of the delay; `None` without a delay.
    pub(crate) fn delay_by(&self) -> Option<DelayMethod> {
        self.delay_by.filter(|_| self.now.delay_ns > 0)
    }

    /// Returns the namespaces of the hosts.
    pub(crate) fn hosts(&self) -> &[Namespace] {
        &self.hosts
    }

    /// Returns the namespace of the bridge and the ports.
    pub(crate) const fn middle(&self) -> &Namespace {
        &self.middle
    }

    /// Returns whether the hosts have rules for a loss, which may be 0.
    pub(crate) const fn has_loss_rules(&self) -> bool {
        self.has_loss_rules
    }

    /// Returns the delay of the userspace switch; 0 without one.
    pub(crate) fn switch_delay_ns(&self) -> u64 {
        self.switch.as_ref().map_or(0, Switch::delay_ns)
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
        Tool::Ip
            .run(Some(&self.middle), "attach the links to the bridge", &["-batch", "-"], &commands)
            .map(drop)
    }

    fn try_change(&mut self, to: &LinkSpec) -> Result<(), LabError> {
        let from = self.now;
        if to.delay_ns > 0 && self.delay_by.is_none() {
            self.delay_by = Some(self.best_delay_method());
        }
        let has_netem = self.delay_by == Some(DelayMethod::Netem);
        let tc = |namespace: &Namespace, commands: &str| {
            // An error names the part of the kernel that may be missing.
            let action =
                if commands.contains("netem") { "set the delay (netem)" } else { "set the rate (tbf)" };
            match commands {
                "" => Ok(()),
                _ => Tool::Tc.run(Some(namespace), action, &["-batch", "-"], commands).map(drop),
            }
        };
        let at_ports: Vec<_> = (0..self.hosts.len())
            .map(|index| link::change_queues(&port(index), Sender::Port, (&from, to), has_netem))
            .collect();
        let at_host = link::change_queues(INTERFACE, Sender::Host, (&from, to), has_netem);
        let ends_switch = self.switch.is_some() && to.delay_ns == 0;
        if at_host.replaces || at_ports[0].replaces || ends_switch {
            self.keep_counters(at_host.replaces, at_ports[0].replaces, ends_switch)?;
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

    /// Removes rate and delay of all links, as far as they are there.
    fn reset(&mut self) {
        let _ = self.keep_counters(true, true, true);
        for index in 0..self.hosts.len() {
            for (place, device) in [(&self.middle, port(index).as_str()), (&self.hosts[index], INTERFACE)] {
                // There may be none.
                let _ =
                    Tool::Tc.run(Some(place), "reset the rate", &["qdisc", "del", "dev", device, "root"], "");
            }
        }
        self.switch = None;
        let _ = self.attach_ports(true);
        self.now = LinkSpec { rate_bit_per_s: None, delay_ns: 0, ..self.now };
    }

    /// Keeps the counters of disciplines and a switch that are replaced.
    fn keep_counters(&mut self, of_hosts: bool, of_ports: bool, of_switch: bool) -> Result<(), LabError> {
        let now = self.counters()?.hosts;
        for (earlier, now) in self.earlier.iter_mut().zip(now) {
            if of_hosts {
                earlier.rate_out = now.rate_out;
            }
            if of_ports {
                earlier.rate_in = now.rate_in;
            }
            if of_switch {
                (earlier.switch_out, earlier.switch_in) = (now.switch_out, now.switch_in);
            }
        }
        Ok(())
    }

    /// Returns what happened to the frames since the lab is up.
    pub(crate) fn counters(&self) -> Result<Counters, LabError> {
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
            if self.now.rate_bit_per_s.is_none() && self.delay_by() != Some(DelayMethod::Netem) {
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
                (self.earlier[sender].host.clone(), frames)
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
}
