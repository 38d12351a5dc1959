//! Commands that give the links their rate, delay and loss. Pure.

use std::fmt::Write as _;

use experiment::LinkSpec;

use crate::layout::{INTERFACE, mac, mac_text};

/// Table of nftables in the namespace of each host with a loss.
pub(crate) const TABLE: &str = "ddsmark";

/// Bytes on the wire around a frame: preamble 8, checksum 4, gap 12.
const OVERHEAD: u64 = 24;
/// Minimum bytes on the wire of a frame.
const MIN_WIRE_BYTES: u64 = 84;
/// Bytes on the wire around an IP packet: those around the frame, and its header of 14.
const PACKET_OVERHEAD: u64 = OVERHEAD + 14;
/// Frames in the send queue of a host, as that of a usual network interface.
const SEND_QUEUE_FRAMES: u64 = 1_000;
/// Minimum buffer of a port of the switch in bytes.
const MIN_PORT_BUFFER: u64 = 131_072;

/// End of a link that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// Interface of a host. Its send queue is large: a sender waits for it.
    Host,
    /// Port of the switch. Its buffer is small: it drops frames, as a switch does.
    Port,
}

/// Returns the queueing discipline that limits the rate.
fn tbf(sender: Sender, rate: u64, mtu: u32) -> String {
    let frame = u64::from(mtu) + PACKET_OVERHEAD;
    // Two frames: one that is longer than the burst never leaves. 1.25 ms: if the kernel wakes up later than that, the link is
    // slower than its rate.
    let burst = (2 * frame).max(rate / 8 / 800);
    let limit = match sender {
        Sender::Host => SEND_QUEUE_FRAMES * frame,
        // 50 ms.
        Sender::Port => MIN_PORT_BUFFER.max(rate / 8 / 20),
    } + burst;
    format!("tbf rate {rate}bit burst {burst} limit {limit}")
}

/// Returns the size table that counts frames as they are on the wire.
fn stab() -> String {
    format!("stab mpu {MIN_WIRE_BYTES} overhead {OVERHEAD} linklayer ethernet")
}

/// Returns the number of frames that a delay may hold.
fn netem_limit(link: &LinkSpec) -> u64 {
    let rate = link.rate_bit_per_s.unwrap_or(10_000_000_000);
    let in_flight =
        u128::from(rate) * u128::from(link.delay_ns) / (8 * u128::from(MIN_WIRE_BYTES) * 1_000_000_000);
    // Twice of what arrives within the delay; several hosts may send to one.
    u64::try_from(in_flight * 2).unwrap_or(u64::MAX).clamp(10_000, 1_000_000)
}

/// Queueing disciplines of one device of a link, from the root down.
fn disciplines(sender: Sender, link: &LinkSpec, has_netem: bool) -> Vec<(&'static str, String)> {
    let is_delayed = has_netem && sender == Sender::Port && link.delay_ns > 0;
    let delay =
        is_delayed.then(|| format!("netem delay {}us limit {}", micros(link.delay_ns), netem_limit(link)));
    let rate = link.rate_bit_per_s.map(|rate| format!("{} {}", stab(), tbf(sender, rate, link.mtu_bytes)));
    match (delay, rate) {
        (Some(delay), Some(rate)) => vec![("root handle 1:", delay), ("parent 1:1 handle 10:", rate)],
        (delay, rate) => delay.or(rate).map(|only| ("root handle 1:", only)).into_iter().collect(),
    }
}

/// Formats a time in µs for `tc`.
fn micros(ns: u64) -> String {
    let text = format!("{}.{:03}", ns / 1_000, ns % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Change of the queueing disciplines of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueueChange {
    /// Commands of `tc`.
    pub(crate) commands: String,
    /// Whether the disciplines, with their counters, are replaced by others.
    pub(crate) replaces: bool,
}

/// Returns the change of the disciplines of a device from one link to another. The MTU of each is the largest of the hosts.
pub(crate) fn change_queues(
    device: &str,
    sender: Sender,
    (from, to): (&LinkSpec, &LinkSpec),
    has_netem: bool,
) -> QueueChange {
    let (old, new) = (disciplines(sender, from, has_netem), disciplines(sender, to, has_netem));
    let kinds = |list: &[(&str, String)]| -> Vec<bool> {
        list.iter().map(|(_, text)| text.starts_with("netem")).collect()
    };
    let (mut commands, is_same) = (String::new(), kinds(&old) == kinds(&new));
    let replaces = !is_same && !old.is_empty();
    if replaces {
        writeln!(commands, "qdisc del dev {device} root").expect("a string grows");
    }
    for (index, (place, text)) in new.iter().enumerate() {
        let verb = match is_same {
            true if old[index].1 == *text => continue,
            true => "change",
            false => "add",
        };
        // The size table precedes the kind.
        writeln!(commands, "qdisc {verb} dev {device} {place} {text}").expect("a string grows");
    }
    QueueChange { commands, replaces }
}

/// Returns the name of the counter of lost frames from the host at an index.
pub(crate) fn loss_counter(sender: usize) -> String {
    format!("from_h{}", sender + 1)
}

/// Returns the `nft` commands that set the loss of all IP packets to the host at an index. The counters continue.
///
/// ARP is not lost: a lost request would delay the first sample by a second.
pub(crate) fn change_loss(receiver: usize, hosts: usize, loss_ppm: u32) -> String {
    let mut text = format!(
        "add table netdev {TABLE}\nadd chain netdev {TABLE} ingress {{ type filter hook ingress device \"{INTERFACE}\" priority -300; policy accept; }}\nadd chain netdev {TABLE} lost\nflush chain netdev {TABLE} ingress\nflush chain netdev {TABLE} lost\n"
    );
    for sender in (0..hosts).filter(|sender| *sender != receiver) {
        let (counter, mac) = (loss_counter(sender), mac_text(mac(sender)));
        write!(
            text,
            "add counter netdev {TABLE} {counter}\nadd rule netdev {TABLE} lost ether saddr {mac} counter name {counter} drop\n"
        )
        .expect("a string grows");
    }
    let chance = match loss_ppm {
        0 => return text,
        // All: nft rejects a comparison that is always true.
        1_000_000.. => String::new(),
        _ => format!("numgen random mod 1000000 < {loss_ppm} "),
    };
    writeln!(text, "add rule netdev {TABLE} ingress meta protocol {{ ip, ip6 }} {chance}goto lost")
        .expect("a string grows");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> LinkSpec {
        text.parse().unwrap()
    }

    fn change(sender: Sender, from: &str, to: &str, has_netem: bool) -> (String, bool) {
        let change = change_queues("p1", sender, (&link(from), &link(to)), has_netem);
        (change.commands, change.replaces)
    }

    #[test]
    fn queues_follow_the_link() {
        let stab = "stab mpu 84 overhead 24 linklayer ethernet";
        let host = "tbf rate 100000000bit burst 15625 limit 1553625";
        let port = "tbf rate 100000000bit burst 15625 limit 640625";
        let netem = "netem delay 1000us limit 10000";
        let unlimited = "netem delay 1000us limit 29760";
        for (sender, from, to, has_netem, commands, replaces) in [
            (Sender::Host, "", "", true, String::new(), false),
            (
                Sender::Host,
                "",
                "rate=100mbit",
                true,
                format!("qdisc add dev p1 root handle 1: {stab} {host}\n"),
                false,
            ),
            (
                Sender::Port,
                "",
                "rate=100mbit",
                true,
                format!("qdisc add dev p1 root handle 1: {stab} {port}\n"),
                false,
            ),
            (Sender::Host, "rate=100mbit", "rate=100mbit", true, String::new(), false),
            // Changed in place, with its counters.
            (
                Sender::Host,
                "rate=1mbit",
                "rate=100mbit,loss=1%",
                true,
                format!("qdisc change dev p1 root handle 1: {stab} {host}\n"),
                false,
            ),
            (Sender::Host, "rate=1mbit", "", true, "qdisc del dev p1 root\n".to_owned(), true),
            // The delay is at the port only, and only netem is a queue.
            (Sender::Host, "", "delay=1ms", true, String::new(), false),
            (Sender::Port, "", "delay=1ms", false, String::new(), false),
            (
                Sender::Port,
                "",
                "delay=1ms",
                true,
                format!("qdisc add dev p1 root handle 1: {unlimited}\n"),
                false,
            ),
            (
                Sender::Port,
                "rate=1mbit",
                "rate=100mbit,delay=1ms",
                true,
                format!(
                    "qdisc del dev p1 root\nqdisc add dev p1 root handle 1: {netem}\nqdisc add dev p1 parent 1:1 handle 10: {stab} {port}\n"
                ),
                true,
            ),
            (
                Sender::Port,
                "rate=100mbit,delay=2ms",
                "rate=100mbit,delay=1ms",
                true,
                format!("qdisc change dev p1 root handle 1: {netem}\n"),
                false,
            ),
        ] {
            assert_eq!(
                change(sender, from, to, has_netem),
                (commands, replaces),
                "{sender:?} {from} -> {to}"
            );
        }
    }

    #[test]
    fn buffers_follow_the_rate() {
        assert_eq!(tbf(Sender::Port, 1_000_000, 1_500), "tbf rate 1000000bit burst 3076 limit 134148");
        // A frame that is longer than the burst would never leave.
        assert_eq!(tbf(Sender::Port, 1_000_000, 9_000), "tbf rate 1000000bit burst 18076 limit 149148");
        assert_eq!(
            tbf(Sender::Port, 1_000_000_000, 1_500),
            "tbf rate 1000000000bit burst 156250 limit 6406250"
        );
        assert_eq!(netem_limit(&link("rate=100gbit,delay=10s")), 1_000_000);
        assert_eq!(netem_limit(&link("rate=1gbit,delay=100ms")), 297_618);
        assert_eq!(
            (micros(1), micros(1_500), micros(10_000_000)),
            ("0.001".into(), "1.5".into(), "10000".into())
        );
    }

    #[test]
    fn loss_names_the_sender() {
        let text = change_loss(1, 3, 1_000);
        assert!(text.contains("lost ether saddr 02:4c:41:42:00:03 counter name from_h3 drop\n"), "{text}");
        assert!(!text.contains("from_h2") && text.contains("mod 1000000 < 1000 goto lost\n"), "{text}");
        assert!(!change_loss(1, 3, 0).contains("numgen") && !change_loss(1, 3, 0).contains("goto"));
        assert!(change_loss(1, 3, 1_000_000).contains("{ ip, ip6 } goto lost\n"));
    }
}
