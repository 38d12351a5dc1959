//! What the operating system counts while an agent measures.

use std::{collections::BTreeMap, fs};

use nix::{
    sched::sched_getcpu,
    sys::{
        resource::{UsageWho, getrusage},
        time::TimeVal,
    },
};
use results::{Interface, MulticastSent, Sockets, Usage};

use crate::clock::now_ns;

/// A reading of all meters, to be compared with a later one.
#[derive(Debug)]
pub struct Meters {
    at_ns: u64,
    usage: Usage,
    driving_ns: Option<u64>,
    waited: Option<Waited>,
    sockets: Option<Sockets>,
    interface: Option<Interface>,
}

/// For how long each thread has waited for a core, in ns.
type Waited = BTreeMap<String, u64>;

impl Meters {
    /// Reads them, in the thread that drives. `interface` is the network interface in use.
    #[must_use]
    pub fn read(interface: &str) -> Self {
        Self {
            sockets: sockets(),
            interface: counters_of(interface),
            waited: waited(),
            driving_ns: driving_ns(),
            usage: usage(),
            at_ns: now_ns(),
        }
    }

    /// What was used from this reading to a later one.
    #[must_use]
    pub fn until(&self, later: &Self) -> (Usage, Option<Sockets>, Option<Interface>) {
        let (a, b) = (&self.usage, &later.usage);
        let usage = Usage {
            elapsed_ns: later.at_ns - self.at_ns,
            user_ns: b.user_ns - a.user_ns,
            system_ns: b.system_ns - a.system_ns,
            voluntary_switches: b.voluntary_switches - a.voluntary_switches,
            involuntary_switches: b.involuntary_switches - a.involuntary_switches,
            run_delay_ns: self.waited.as_ref().zip(later.waited.as_ref()).map(|(a, b)| {
                // a thread that is new has waited all of it; of one that has ended nothing is known
                b.iter().map(|(thread, ns)| ns.saturating_sub(a.get(thread).copied().unwrap_or(0))).sum()
            }),
            driving_ns: self.driving_ns.zip(later.driving_ns).map(|(a, b)| b.saturating_sub(a)),
            core: b.core,
            minor_faults: b.minor_faults - a.minor_faults,
            major_faults: b.major_faults - a.major_faults,
            max_resident_bytes: b.max_resident_bytes,
        };
        // counters of the kernel may be reset under us; a difference is never negative
        let sockets = self.sockets.as_ref().zip(later.sockets.as_ref()).map(|(a, b)| Sockets {
            in_datagrams: b.in_datagrams.saturating_sub(a.in_datagrams),
            in_errors: b.in_errors.saturating_sub(a.in_errors),
            receive_buffer_errors: b.receive_buffer_errors.saturating_sub(a.receive_buffer_errors),
            send_buffer_errors: b.send_buffer_errors.saturating_sub(a.send_buffer_errors),
            multicast: a.multicast.as_ref().zip(b.multicast.as_ref()).map(|(a, b)| MulticastSent {
                packets: b.packets.saturating_sub(a.packets),
                bytes: b.bytes.saturating_sub(a.bytes),
            }),
        });
        let interface = self.interface.as_ref().zip(later.interface.as_ref()).map(|(a, b)| Interface {
            name: b.name.clone(),
            rx_bytes: b.rx_bytes.saturating_sub(a.rx_bytes),
            rx_packets: b.rx_packets.saturating_sub(a.rx_packets),
            tx_bytes: b.tx_bytes.saturating_sub(a.tx_bytes),
            tx_packets: b.tx_packets.saturating_sub(a.tx_packets),
        });
        (usage, sockets, interface)
    }
}

fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Usage::default() };
    let ns = |time: TimeVal| {
        time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_usec().cast_unsigned() * 1_000
    };
    Usage {
        elapsed_ns: 0,
        user_ns: ns(usage.user_time()),
        system_ns: ns(usage.system_time()),
        voluntary_switches: usage.voluntary_context_switches().cast_unsigned(),
        involuntary_switches: usage.involuntary_context_switches().cast_unsigned(),
        run_delay_ns: None,
        driving_ns: None,
        core: sched_getcpu().ok().and_then(|core| u32::try_from(core).ok()),
        minor_faults: usage.minor_page_faults().cast_unsigned(),
        major_faults: usage.major_page_faults().cast_unsigned(),
        max_resident_bytes: usage.max_rss().cast_unsigned() * 1024,
    }
}

/// Of the threads of this process: the second figure of `schedstat`. None where the kernel keeps none.
fn waited() -> Option<Waited> {
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    let of = |thread: fs::DirEntry| {
        // one that has just ended has none
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let ns = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name().to_string_lossy().into_owned(), ns))
    };
    Some(threads.filter_map(of).collect::<Waited>()).filter(|waited| !waited.is_empty())
}

/// Of this thread: time on a core, and time waiting for one. None where the kernel keeps none.
fn driving_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut figures = text.split_whitespace().map_while(|figure| figure.parse::<u64>().ok());
    figures.next()?.checked_add(figures.next()?)
}

/// UDP over IPv4 and IPv6 of this network namespace, together.
fn sockets() -> Option<Sockets> {
    let four = fs::read_to_string("/proc/self/net/snmp").ok()?;
    let mut sockets = udp4(&four)?;
    sockets.multicast = fs::read_to_string("/proc/self/net/netstat").ok().and_then(|text| multicast4(&text));
    if let Ok(six) = fs::read_to_string("/proc/self/net/snmp6") {
        let value = |name: &str| {
            six.lines()
                .filter_map(|line| line.split_once(char::is_whitespace))
                .find(|(key, _)| *key == name)
                .and_then(|(_, value)| value.trim().parse::<u64>().ok())
                .unwrap_or(0)
        };
        sockets.in_datagrams += value("Udp6InDatagrams");
        sockets.in_errors += value("Udp6InErrors");
        sockets.receive_buffer_errors += value("Udp6RcvbufErrors");
        sockets.send_buffer_errors += value("Udp6SndbufErrors");
        if let Some(multicast) = &mut sockets.multicast {
            multicast.packets += value("Ip6OutMcastPkts");
            multicast.bytes += value("Ip6OutMcastOctets");
        }
    }
    Some(sockets)
}

/// A value of the two lines with this beginning, in files such as `/proc/self/net/snmp`: names, then values.
fn named(text: &str, beginning: &str, wanted: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(beginning));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut columns = names.split_whitespace().zip(values.split_whitespace());
    columns.find(|(name, _)| *name == wanted)?.1.parse().ok()
}

/// Of `/proc/self/net/netstat`.
fn multicast4(text: &str) -> Option<MulticastSent> {
    let value = |wanted: &str| named(text, "IpExt:", wanted);
    Some(MulticastSent { packets: value("OutMcastPkts")?, bytes: value("OutMcastOctets")? })
}

/// Of `/proc/self/net/snmp`.
fn udp4(text: &str) -> Option<Sockets> {
    let value = |wanted: &str| named(text, "Udp:", wanted);
    Some(Sockets {
        in_datagrams: value("InDatagrams")?,
        in_errors: value("InErrors")?,
        receive_buffer_errors: value("RcvbufErrors")?,
        send_buffer_errors: value("SndbufErrors")?,
        multicast: None,
    })
}

fn counters_of(interface: &str) -> Option<Interface> {
    if interface.is_empty() || interface.contains('/') {
        return None;
    }
    let read = |counter: &str| {
        fs::read_to_string(format!("/sys/class/net/{interface}/statistics/{counter}"))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    Some(Interface {
        name: interface.to_owned(),
        rx_bytes: read("rx_bytes")?,
        rx_packets: read("rx_packets")?,
        tx_bytes: read("tx_bytes")?,
        tx_packets: read("tx_packets")?,
    })
}

#[cfg(test)]
mod tests {
    use nix::{sched::sched_getaffinity, unistd::Pid};

    use super::*;

    #[test]
    fn udp_counters_are_found_by_name_not_by_place() {
        let text =
            "Ip: A B\nIp: 1 2\nUdp: InErrors RcvbufErrors InDatagrams X SndbufErrors\nUdp: 1 2 3 4 5\n";
        let expected = Sockets {
            in_datagrams: 3,
            in_errors: 1,
            receive_buffer_errors: 2,
            send_buffer_errors: 5,
            multicast: None,
        };
        assert_eq!(udp4(text), Some(expected));
        assert_eq!(udp4("Udp: InErrors\n"), None);
        let text =
            "TcpExt: OutMcastPkts\nTcpExt: 9\nIpExt: OutMcastOctets InMcastPkts OutMcastPkts\nIpExt: 1 2 3\n";
        assert_eq!(multicast4(text), Some(MulticastSent { packets: 3, bytes: 1 }));
        assert_eq!(multicast4("IpExt: OutMcastOctets\nIpExt: 1\n"), None);
    }

    #[test]
    fn work_between_two_readings_is_seen() {
        let before = Meters::read("lo");
        let begin = now_ns();
        while now_ns() - begin < 20_000_000 {}
        let (usage, sockets, interface) = before.until(&Meters::read("lo"));
        assert!(usage.elapsed_ns >= 20_000_000);
        // this thread did nothing but want its core; the kernel counts by its tick
        assert!(usage.driving_ns.expect("the kernel says") > 5_000_000, "{usage:?}");
        assert!(usage.user_ns + usage.system_ns > 0);
        let allowed = sched_getaffinity(Pid::this()).expect("the kernel says");
        assert!(allowed.is_set(usage.core.expect("the kernel says") as usize).expect("a core"));
        assert!(sockets.is_some());
        assert_eq!(interface.expect("every host has a loopback").name, "lo");
        assert_eq!(Meters::read("no-such-interface").interface, None);
    }
}
