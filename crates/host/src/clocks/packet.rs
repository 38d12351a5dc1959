//! Packets of a clock exchange. They come from the network, so each byte is checked.
//!
//! ```text
//!  0  [u8; 4]   "ddck"
//!  4  u8        1: request, 2: reply
//!  5  [u8; 3]   0
//!  8  [u8; 16]  key of the exchange
//! 24  u64       number of the request
//! 32  u64       reply: time of reception in ns; request: 0
//! 40  u64       reply: time of sending in ns; request: 0
//! ```
//! Little endian. A reply is as long as its request, so a responder cannot amplify traffic.

use crate::values::clock_exchange::{ExchangeKey, KEY_BYTES};

/// Size of each packet in bytes.
pub const PACKET_BYTES: usize = 48;

const MAGIC: [u8; 4] = *b"ddck";
const REQUEST: u8 = 1;
const REPLY: u8 = 2;

/// Content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockPacket {
    /// Request of the client.
    Request {
        /// Number of the request.
        number: u64,
    },
    /// Reply of the responder.
    Reply {
        /// Number of the request.
        number: u64,
        /// Time at which the request was received, in ns.
        received_ns: u64,
        /// Time at which the reply is sent, in ns.
        replied_ns: u64,
    },
}

impl ClockPacket {
    /// Returns the bytes of the packet.
    #[must_use]
    pub fn bytes(&self, key: &ExchangeKey) -> [u8; PACKET_BYTES] {
        let (kind, number, received_ns, replied_ns) = match *self {
            Self::Request { number } => (REQUEST, number, 0, 0),
            Self::Reply { number, received_ns, replied_ns } => (REPLY, number, received_ns, replied_ns),
        };
        let mut bytes = [0; PACKET_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = kind;
        bytes[8..8 + KEY_BYTES].copy_from_slice(&key.0);
        for (place, value) in [(24, number), (32, received_ns), (40, replied_ns)] {
            bytes[place..place + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Reads a packet; `None` if it is not one of the exchange with this key.
    #[must_use]
    pub fn parse(bytes: &[u8], key: &ExchangeKey) -> Option<Self> {
        let bytes: &[u8; PACKET_BYTES] = bytes.try_into().ok()?;
        let different =
            bytes[8..8 + KEY_BYTES].iter().zip(key.0).fold(0, |all, (byte, of_key)| all | (byte ^ of_key));
        if bytes[..4] != MAGIC || bytes[5..8] != [0; 3] || different != 0 {
            return None;
        }
        let (words, _) = bytes.as_chunks::<8>();
        let [number, received_ns, replied_ns] = [3, 4, 5].map(|word| u64::from_le_bytes(words[word]));
        match bytes[4] {
            REQUEST if received_ns == 0 && replied_ns == 0 => Some(Self::Request { number }),
            REPLY => Some(Self::Reply { number, received_ns, replied_ns }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packets() -> impl Strategy<Value = ClockPacket> {
        prop_oneof![
            any::<u64>().prop_map(|number| ClockPacket::Request { number }),
            any::<(u64, u64, u64)>().prop_map(|(number, received_ns, replied_ns)| {
                ClockPacket::Reply { number, received_ns, replied_ns }
            }),
        ]
    }

    proptest! {
        #[test]
        fn packet_is_read_as_written(packet in packets(), key: [u8; KEY_BYTES]) {
            let key = ExchangeKey::from(key);
            prop_assert_eq!(ClockPacket::parse(&packet.bytes(&key), &key), Some(packet));
        }

        #[test]
        fn packet_without_the_key_is_ignored(packet in packets(), key: [u8; KEY_BYTES], bit in 0_usize..128) {
            let mut other = key;
            other[bit / 8] ^= 1 << (bit % 8);
            let bytes = packet.bytes(&ExchangeKey::from(other));
            prop_assert_eq!(ClockPacket::parse(&bytes, &ExchangeKey::from(key)), None);
        }

        #[test]
        fn bytes_are_read_only_if_they_are_a_packet(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            packet in packets(),
            at in 0_usize..PACKET_BYTES,
            value: u8,
        ) {
            let key = ExchangeKey::from([7; KEY_BYTES]);
            let mut changed = packet.bytes(&key).to_vec();
            changed[at] = value;
            let longer = [packet.bytes(&key).as_slice(), &[0]].concat();
            for bytes in [bytes, changed, packet.bytes(&key)[..at].to_vec(), longer] {
                if let Some(read) = ClockPacket::parse(&bytes, &key) {
                    prop_assert_eq!(read.bytes(&key).to_vec(), bytes);
                }
            }
        }
    }

    #[test]
    fn bytes_are_as_documented() {
        let key: ExchangeKey = "000102030405060708090a0b0c0d0e0f".parse().expect("a key");
        let reply = ClockPacket::Reply { number: 1, received_ns: 2, replied_ns: 3 };
        let mut expected = b"ddck\x02\0\0\0".to_vec();
        expected.extend(0..16_u8);
        for value in [1_u64, 2, 3] {
            expected.extend(value.to_le_bytes());
        }
        assert_eq!(reply.bytes(&key).as_slice(), expected);
        assert_eq!(String::from(key), "000102030405060708090a0b0c0d0e0f");
        assert!("00".parse::<ExchangeKey>().is_err());
        assert!("+00102030405060708090a0b0c0d0e0f".parse::<ExchangeKey>().is_err());
    }
}
