//! Stream of a writer: any input yields the same samples, however it is split, and none above the size limit.

use driver_kit::stream::{Frames, GREETING};

const MAX_PAYLOAD: usize = 300;

/// Returns the lengths of the samples, a hash of their bytes, and the bytes left; `None` instead of the last for an
/// invalid stream.
fn cut(stream: &[u8], piece: usize) -> (Vec<usize>, u64, Option<usize>) {
    let mut frames = Frames::new(MAX_PAYLOAD);
    let (mut lengths, mut sum, mut rest) = (Vec::new(), 0u64, stream);
    loop {
        let room = frames.room();
        let length = rest.len().min(room.len()).min(piece);
        room[..length].copy_from_slice(&rest[..length]);
        rest = &rest[length..];
        frames.extend(length);
        loop {
            match frames.next() {
                Ok(Some(sample)) => {
                    assert!(sample.len() <= MAX_PAYLOAD);
                    lengths.push(sample.len());
                    sum = sample
                        .iter()
                        .fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
                }
                Ok(None) => break,
                Err(_) => return (lengths, sum, None),
            }
        }
        if rest.is_empty() {
            return (lengths, sum, Some(frames.pending_bytes()));
        }
    }
}

pub fn run(input: &[u8]) {
    let Some((piece, bytes)) = input.split_first() else { return };
    // the fuzzer seldom finds the greeting by itself
    for stream in [bytes.to_vec(), [GREETING.as_slice(), bytes].concat()] {
        let whole = cut(&stream, usize::MAX);
        assert_eq!(whole, cut(&stream, usize::from(*piece).max(1)));
    }
}
