//! Header: the first 16 bytes of every payload.
//!
//! ```text
//!  0  u32  sequence number of the sample within its writer and phase, from 0; unwrapped at the reader
//!  4  u16  writer
//!  6  u16  bits 0..=11 run tag, bits 12..=14 are 0, bit 15: warm-up
//!  8  u64  start of the write on the common clock of the run, ns
//! ```
//! Little endian. The intended send time is not transmitted: writer and reader compute it from the same schedule.

/// Size of the header in bytes; also the smallest payload.
pub const HEADER_BYTES: usize = 16;

const TAG_MASK: u16 = 0x0fff;
const WARM_UP: u16 = 0x8000;
/// Bits that are 0 in every valid header.
const ZERO: u16 = !(TAG_MASK | WARM_UP);

/// Content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Low 32 bits of the sequence number.
    pub sequence: u32,
    /// Number of the writer.
    pub writer: u16,
    /// Tag of the run, 12 bits.
    pub tag: u16,
    /// Whether the sample belongs to the warm-up.
    pub warm_up: bool,
    /// Start of the write, ns of the common clock.
    pub sent_ns: u64,
}

impl Header {
    /// Writes the header into the first bytes of a payload.
    ///
    /// # Panics
    /// Panics if the payload is shorter than a header.
    #[inline]
    pub fn stamp(&self, payload: &mut [u8]) {
        let tag_and_flags = (self.tag & TAG_MASK) | if self.warm_up { WARM_UP } else { 0 };
        let first = u64::from(self.sequence) | u64::from(self.writer) << 32 | u64::from(tag_and_flags) << 48;
        let (header, _) = payload.split_first_chunk_mut::<HEADER_BYTES>().expect("no sample is shorter");
        header[..8].copy_from_slice(&first.to_le_bytes());
        header[8..].copy_from_slice(&self.sent_ns.to_le_bytes());
    }

    /// Reads the header of a payload; `None` if the payload is too short or a bit is set that is 0 in every valid
    /// header.
    #[inline]
    #[must_use]
    pub fn read(payload: &[u8]) -> Option<Self> {
        let (header, _) = payload.split_first_chunk::<HEADER_BYTES>()?;
        let (words, _) = header.as_chunks::<8>();
        let (first, sent_ns) = (u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1]));
        let tag_and_flags = (first >> 48) as u16;
        if tag_and_flags & ZERO != 0 {
            return None;
        }
        Some(Self {
            sequence: first as u32,
            writer: (first >> 32) as u16,
            tag: tag_and_flags & TAG_MASK,
            warm_up: tag_and_flags & WARM_UP != 0,
            sent_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_as_documented() {
        let mut payload = [0xee; 20];
        let header = Header { sequence: 0x0403_0201, writer: 0x0605, tag: 0x0807, warm_up: true, sent_ns: 9 };
        header.stamp(&mut payload);
        assert_eq!(payload[..8], [1, 2, 3, 4, 5, 6, 7, 0x88]);
        assert_eq!(payload[8..16], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(payload[16..], [0xee; 4]);
        assert_eq!(Header::read(&payload), Some(header));
    }

    #[test]
    fn header_with_a_reserved_bit_is_foreign() {
        let mut payload = [0; HEADER_BYTES];
        Header { sequence: 1, writer: 2, tag: 0x0fff, warm_up: true, sent_ns: 3 }.stamp(&mut payload);
        assert!(Header::read(&payload).is_some());
        for bit in [0x10, 0x20, 0x40, 0x70] {
            let mut other = payload;
            other[7] |= bit;
            assert_eq!(Header::read(&other), None, "{bit:#x}");
        }
    }

    #[test]
    fn payload_shorter_than_a_header_is_foreign() {
        assert_eq!(Header::read(&[0; HEADER_BYTES - 1]), None);
    }
}
