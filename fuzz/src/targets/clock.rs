//! Packets of a clock exchange, and the offset that follows from times in them: a packet is read only as it is written, and
//! an offset lies within its bounds.

use host::{ClockExchange, ClockOffset, ClockPacket, ExchangeKey, PACKET_BYTES};

pub fn run(bytes: &[u8]) {
    let key = ExchangeKey::from([7; 16]);
    let mut exchanges = Vec::new();
    for packet in bytes.chunks(PACKET_BYTES) {
        let Some(read) = ClockPacket::parse(packet, &key) else { continue };
        assert_eq!(read.bytes(&key).as_slice(), packet);
        if let ClockPacket::Reply { number, received_ns, replied_ns } = read {
            let sent_ns = number >> 1;
            let returned_ns = sent_ns.saturating_add(replied_ns.wrapping_sub(received_ns) >> 1);
            exchanges.push(ClockExchange { sent_ns, received_ns, replied_ns, returned_ns });
        }
    }
    if let Some(offset) = ClockOffset::from_exchanges(&exchanges) {
        assert!(offset.rtt_ns <= offset.rtt_p50_ns && offset.error_ns >= offset.rtt_ns / 2);
    }
}
