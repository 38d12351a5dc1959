//! Commands that make the send queues of the hosts, and the loss of the links. Pure.

use experiment::LinkSpec;

use crate::{
    layout::{INTERFACE, mac, mac_text},
    virtual_clock::{MIN_WIRE_BYTES, OVERHEAD},
};

/// Table of nftables in the namespace of each host with a loss.
pub(crate) const TABLE: &str = "ddsmark";

/// Bytes on the wire around an IP packet: those around the frame, and its header of 14.
const PACKET_OVERHEAD: u64 = OVERHEAD + 14;
/// Frames in the send queue of a host, as that of a usual network interface.
const SEND_QUEUE_FRAMES: u64 = 1_000;

/// Returns the queueing discipline of a host for a rate: a sender waits for it. The switch gives each frame its time on the
/// wire; this token bucket only keeps what waits in the host.
///
/// The size table counts each length up to 16,384 bytes as it is on the wire; the usual one rounds up.
fn send_queue(rate: u64, mtu: u32) -> String {
    let frame = u64::from(mtu) + PACKET_OVERHEAD;
    // Two frames: one that is longer than the burst never leaves. 1.25 ms: if the kernel wakes up later than that, the link is
    // slower than its rate.
    let burst = (2 * frame).max(rate / 8 / 800);
    let limit = SEND_QUEUE_FRAMES * frame + burst;
    format!(
        "root handle 1: stab mtu 16383 tsize 16384 mpu {MIN_WIRE_BYTES} overhead {OVERHEAD} linklayer ethernet \
         tbf rate {rate}bit burst {burst} limit {limit}"
    )
}

/// Change of the send queues of the hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueueChange {
    /// Command of `tc`; empty without a change.
    pub(crate) command: String,
    /// Whether the queue, with its counters, is removed.
    pub(crate) removes: bool,
}

/// Returns the change of the send queue of a host from one link to another. The MTU of each is the largest of the hosts.
pub(crate) fn change_send_queue(from: &LinkSpec, to: &LinkSpec) -> QueueChange {
    let queue = |link: &LinkSpec| link.rate_bit_per_s.map(|rate| send_queue(rate, link.mtu_bytes));
    let command = match (queue(from), queue(to)) {
        (old, new) if old == new => String::new(),
        (None, Some(new)) => format!("qdisc add dev {INTERFACE} {new}\n"),
        (Some(_), Some(new)) => format!("qdisc change dev {INTERFACE} {new}\n"),
        (_, None) => format!("qdisc del dev {INTERFACE} root\n"),
    };
    let removes = from.rate_bit_per_s.is_some() && to.rate_bit_per_s.is_none();
    QueueChange { command, removes }
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
        text += &format!(
            "add counter netdev {TABLE} {counter}\nadd rule netdev {TABLE} lost ether saddr {mac} counter name {counter} drop\n"
        );
    }
    let chance = match loss_ppm {
        0 => return text,
        // All: nft rejects a comparison that is always true.
        1_000_000.. => String::new(),
        _ => format!("numgen random mod 1000000 < {loss_ppm} "),
    };
    text += &format!("add rule netdev {TABLE} ingress meta protocol {{ ip, ip6 }} {chance}goto lost\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> LinkSpec {
        text.parse().unwrap()
    }

    #[test]
    fn send_queues_follow_the_link() {
        let stab = "root handle 1: stab mtu 16383 tsize 16384 mpu 84 overhead 24 linklayer ethernet";
        let queue = "tbf rate 100000000bit burst 15625 limit 1553625";
        for (from, to, command, removes) in [
            ("", "delay=1ms", String::new(), false),
            ("", "rate=100mbit", format!("qdisc add dev eth0 {stab} {queue}\n"), false),
            ("rate=100mbit", "rate=100mbit,delay=1ms", String::new(), false),
            // Changed in place, with its counters.
            ("rate=1mbit", "rate=100mbit,loss=1%", format!("qdisc change dev eth0 {stab} {queue}\n"), false),
            ("rate=1mbit", "", "qdisc del dev eth0 root\n".to_owned(), true),
        ] {
            let found = change_send_queue(&link(from), &link(to));
            assert_eq!(found, QueueChange { command, removes }, "{from} -> {to}");
        }
        // A frame that is longer than the burst would never leave.
        assert!(send_queue(1_000_000, 1_500).ends_with("tbf rate 1000000bit burst 3076 limit 1541076"));
        assert!(send_queue(1_000_000, 9_000).ends_with("tbf rate 1000000bit burst 18076 limit 9056076"));
        assert!(send_queue(1_000_000_000, 1_500).ends_with("burst 156250 limit 1694250"));
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
