//! Histograms as text: base64 of the deflated V2 format of HdrHistogram. The input may be damaged or untrusted. It
//! is checked for the one shape that ddsmark writes before the library decodes it, so that memory and sums are
//! bounded.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer as _, V2DeflateSerializer},
};

use super::histogram_shape::{HIGHEST_NS, HistogramError, SIGNIFICANT_DIGITS};

/// Magic numbers of the deflated format and of the format inside it.
const DEFLATED_COOKIE: u32 = 0x1c84_9314;
const COOKIE: u32 = 0x1c84_9313;
/// Size of the header: cookie, length, offset, digits, lowest, highest and ratio.
const HEADER_BYTES: usize = 40;
/// Number of counters of our shape. Each is encoded in at most nine bytes.
const COUNTERS: usize = 28_672;
const LONGEST: usize = HEADER_BYTES + 9 * COUNTERS;
/// Number of bytes of a counter. A counter that continues after this many bytes is 2^48 or more, which no window
/// reaches. If all counters are below that, their sum is below 2^63.
const NUMBER_BYTES: usize = 7;

/// Encodes a histogram as text.
pub(crate) fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("a vector takes all bytes");
    STANDARD.encode(bytes)
}

/// Decodes a histogram from text.
pub(crate) fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(text)?;
    let (begin, deflated) = bytes.split_at_checked(8).ok_or_else(|| damaged("it is too short"))?;
    if begin != framed(DEFLATED_COOKIE, deflated.len()) {
        return Err(damaged("it is not of the deflated V2 format, or not whole"));
    }
    let mut inner = Vec::new();
    // bounded, because a few bytes can inflate to gigabytes
    ZlibDecoder::new(deflated)
        .take(LONGEST as u64 + 1)
        .read_to_end(&mut inner)
        .map_err(|error| damaged(&error.to_string()))?;
    if inner.len() > LONGEST {
        return Err(damaged("it has more counters than ours have"));
    }
    let (header, numbers) = inner.split_at_checked(HEADER_BYTES).ok_or_else(|| damaged("it is too short"))?;
    if header[..8] != framed(COOKIE, numbers.len()) || header[8..] != our_shape() {
        return Err(damaged("it is of another shape than ours, or not whole"));
    }
    if numbers.windows(NUMBER_BYTES).any(|bytes| bytes.iter().all(|byte| byte & 0x80 != 0)) {
        return Err(too_many());
    }
    Deserializer::new().deserialize(&mut inner.as_slice()).map_err(|error| damaged(&error.to_string()))
}

/// Returns the error for histograms with too many values to count.
pub(crate) fn too_many() -> HistogramError {
    damaged("it has more values than can be counted")
}

fn damaged(why: &str) -> HistogramError {
    HistogramError::Decode(why.to_owned())
}

/// Returns a cookie followed by the number of bytes after it.
fn framed(cookie: u32, follow: usize) -> [u8; 8] {
    (u64::from(cookie) << 32 | follow as u64 & u64::from(u32::MAX)).to_be_bytes()
}

/// Returns the offset, digits, lowest, highest and ratio of our histograms.
fn our_shape() -> [u8; HEADER_BYTES - 8] {
    let mut shape = [0; HEADER_BYTES - 8];
    let words = [u64::from(SIGNIFICANT_DIGITS), 1, HIGHEST_NS, 1_f64.to_bits()];
    for (bytes, word) in shape.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
    shape
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;
    use crate::histogram_shape::new_histogram;

    /// Returns the text of a histogram whose header has the length `length`.
    fn text(length: usize, shape: [u8; HEADER_BYTES - 8], numbers: &[u8]) -> String {
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::best());
        for part in [&framed(COOKIE, length)[..], &shape, numbers] {
            deflated.write_all(part).unwrap();
        }
        let deflated = deflated.finish().unwrap();
        STANDARD.encode([&framed(DEFLATED_COOKIE, deflated.len())[..], &deflated].concat())
    }

    fn rejected(text: &str) -> String {
        decode(text).unwrap_err().to_string()
    }

    #[test]
    fn the_fullest_histogram_reads_back() {
        assert_eq!(new_histogram().distinct_values(), COUNTERS);
        let mut full = new_histogram();
        let values: Vec<u64> = full.iter_all().map(|step| step.value_iterated_to()).collect();
        for value in values.into_iter().filter(|value| *value <= HIGHEST_NS) {
            full.record_n(value, (1 << 48) - 1).unwrap();
        }
        assert_eq!(decode(&encode(&full)).unwrap(), full);
    }

    #[test]
    fn huge_length_or_shape_is_rejected() {
        assert_eq!(decode(&text(1, our_shape(), &[2])).unwrap().len(), 1);
        assert!(rejected(&text(u32::MAX as usize, our_shape(), &[2])).contains("not whole"));
        let mut shape = our_shape();
        // highest value: 5 digits and 2^64 - 1 need 6 million counters
        shape[16..24].fill(0xff);
        assert!(rejected(&text(1, shape, &[2])).contains("another shape"));
    }

    #[test]
    fn decompression_bomb_is_rejected() {
        assert!(rejected(&text(0, our_shape(), &vec![0; 4 << 20])).contains("more counters"));
    }

    #[test]
    fn overflowing_numbers_are_rejected() {
        // a gap of 2^63, which cannot be negated; and a count of 2^62
        for numbers in [[0xff; 9], [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
            assert!(rejected(&text(9, our_shape(), &numbers)).contains("than can be counted"));
        }
    }
}
