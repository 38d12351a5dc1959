//! Samples of a control topic, each after its length: any of them leave memory bounded, and a message that is delivered can be
//! sent and read again. The lobbies take each message.

use std::time::Duration;

use rendezvous::{
    Delivery, PeerAddress, PeerRole, ProcessId,
    envelope::{Arrival, HEADER_BYTES, MAX_CHUNK_BYTES, Reassembly, Sample},
    lobby::{Announcement, DriverIdentity, GuestLobby, LeaderLobby, LeaderRules, Peer},
    message::{Control, Message},
};

const RULES: LeaderRules<'static> = LeaderRules { interoperate: &|_, _| false, compare: &|_, _| Ok(()) };

pub fn run(bytes: &[u8]) {
    let own = PeerAddress { process: id(2), role: PeerRole::Publisher, id: 0 };
    let mut reassembly = Reassembly::new(own.process);
    let mut leader = LeaderLobby::new(Peer { address: own, announcement: announcement() });
    let mut guest = GuestLobby::new(PeerAddress { role: PeerRole::Subscriber, ..own });
    check(bytes);
    let mut rest = bytes;
    while let Some((length, more)) = rest.split_first_chunk() {
        let (sample, more) = more.split_at(usize::from(u16::from_le_bytes(*length)).min(more.len()));
        rest = more;
        // The fuzzer seldom finds a checksum by itself.
        for sample in [Some(sample.to_vec()), sealed(sample)].into_iter().flatten() {
            if let Ok(valid) = Sample::decode(&sample) {
                assert_eq!(valid.encode(), sample);
            }
            for arrival in reassembly.accept(&sample) {
                let Arrival::Message { from, to_all, bytes } = arrival else { continue };
                let Some(message) = check(&bytes) else { continue };
                if let Message::Control(Control::Announce(announcement)) = &message {
                    let _ = leader.announced(Duration::ZERO, from, announcement, &RULES);
                }
                let _ = guest.received(Duration::ZERO, Delivery::Message { from, to_all, message });
            }
        }
        assert!(reassembly.bytes < 64 << 20);
    }
    let _ = (
        leader.complete(Duration::MAX),
        leader.missing(Duration::MAX),
        guest.check(Duration::MAX),
        guest.hint(),
    );
}

fn id(number: u64) -> ProcessId {
    ProcessId::from_raw(number).expect("a number")
}

fn announcement() -> Announcement {
    Announcement {
        host: String::new(),
        pid: 0,
        driver: DriverIdentity { name: String::new(), version: String::new() },
        ddsmark: String::new(),
        generation: String::new(),
        options: Vec::new(),
        publishers: None,
        subscribers: Some(2),
        offer: serde_json::Value::Null,
    }
}

/// Reads a message. One that is valid can be sent and read again.
fn check(bytes: &[u8]) -> Option<Message> {
    let message = Message::decode(bytes).ok()?;
    let sent = message.encode();
    let again = Message::decode(&sent).expect("what was sent is understood");
    assert_eq!(again.encode(), sent);
    Some(message)
}

/// Returns the sample with valid fixed fields and a valid checksum.
fn sealed(sample: &[u8]) -> Option<Vec<u8>> {
    let (header, bytes) = sample.split_first_chunk::<HEADER_BYTES>()?;
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let number_at = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
    let role = if header[10] == 0 { PeerRole::Publisher } else { PeerRole::Subscriber };
    let from = PeerAddress { process: ProcessId::from_raw(number_at(16))?, role, id: u16_at(12) };
    let sealed = Sample {
        from,
        to: ProcessId::from_raw(number_at(24)),
        message: number_at(32),
        chunk: u16_at(14),
        chunks: u16_at(40),
        bytes: &bytes[..bytes.len().min(MAX_CHUNK_BYTES)],
    };
    Some(sealed.encode())
}
