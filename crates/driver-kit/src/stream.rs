//! Samples in a byte stream without packet boundaries. Each is preceded by its length (u32, little endian), as in a
//! [batch](crate::batch), so a batch is sent unchanged. The stream starts with a greeting that identifies a writer.
use crate::batch::FRAMING;

/// First bytes of a stream, before any sample.
pub const GREETING: [u8; 8] = *b"ddsmark1";

/// Number of bytes to receive in addition to a frame of maximum length.
const READ_AHEAD: usize = 128 << 10;
/// A frame that lacks more bytes than this is received alone, so that the next frame starts at the front of the
/// buffer and no bytes are moved.
const LONG: usize = 64 << 10;

/// Error of a stream with a wrong greeting or a sample above the maximum length. The stream cannot be
/// resynchronised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramingError;

/// Splits a stream into samples. Its buffer has a fixed size, that of the longest sample plus the read-ahead.
#[derive(Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    max_payload: usize,
    greeted: bool,
}

impl Frames {
    /// Creates the state for a new stream.
    #[must_use]
    pub fn new(max_payload: usize) -> Self {
        let buffer = vec![0; FRAMING + max_payload + READ_AHEAD];
        Self { buffer, start: 0, end: 0, max_payload, greeted: false }
    }

    /// Returns the buffer space for the next bytes, never empty. Call it when [`Self::next`] returns `None`.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let lacks = self.lacks();
        let until = if lacks > LONG { self.end + lacks } else { self.buffer.len() };
        &mut self.buffer[self.end..until]
    }

    /// Returns the number of bytes that the started frame lacks; 0 if unknown.
    fn lacks(&self) -> usize {
        let held = &self.buffer[self.start..self.end];
        match held.split_first_chunk::<FRAMING>() {
            Some((length, rest)) if self.greeted => {
                // limited to the buffer size, even for an invalid length
                (u32::from_le_bytes(*length) as usize).min(self.max_payload).saturating_sub(rest.len())
            }
            _ => 0,
        }
    }

    /// Records that `bytes` bytes were put into the buffer space.
    #[inline]
    pub fn extend(&mut self, bytes: usize) {
        self.end += bytes;
        assert!(self.end <= self.buffer.len(), "no more than there was room for");
    }

    /// Returns the number of bytes that belong to an incomplete frame or wait for [`Self::next`].
    #[must_use]
    pub const fn pending_bytes(&self) -> usize {
        self.end - self.start
    }

    /// Returns the next sample, if it is complete.
    ///
    /// # Errors
    /// Returns an error if the stream is invalid. All further bytes are invalid, too.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "what it lends is its own")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, FramingError> {
        if !self.greeted && !self.greet()? {
            return Ok(None);
        }
        let held = &self.buffer[self.start..self.end];
        let Some((length, rest)) = held.split_first_chunk::<FRAMING>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.max_payload {
            return Err(FramingError);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let begin = self.start + FRAMING;
        self.start = begin + length;
        Ok(Some(&self.buffer[begin..self.start]))
    }

    #[cold]
    fn greet(&mut self) -> Result<bool, FramingError> {
        let held = &self.buffer[self.start..self.end];
        let known = held.len().min(GREETING.len());
        if held[..known] != GREETING[..known] {
            return Err(FramingError);
        }
        self.greeted = known == GREETING.len();
        self.start += if self.greeted { known } else { 0 };
        Ok(self.greeted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn stream_of(samples: &[Vec<u8>]) -> Vec<u8> {
        let mut stream = GREETING.to_vec();
        for sample in samples {
            stream.extend_from_slice(&(sample.len() as u32).to_le_bytes());
            stream.extend_from_slice(sample);
        }
        stream
    }

    /// Returns all samples of a stream that arrives in pieces of these lengths, repeated in turn, and its final
    /// state.
    fn cut(
        stream: &[u8],
        max_payload: usize,
        pieces: &[usize],
    ) -> (Vec<Vec<u8>>, Result<usize, FramingError>) {
        let mut frames = Frames::new(max_payload);
        let memory = frames.buffer.capacity();
        let (mut samples, mut rest) = (Vec::new(), stream);
        for piece in pieces.iter().cycle() {
            let room = frames.room();
            assert!(!room.is_empty());
            let length = rest.len().min(room.len()).min(*piece);
            room[..length].copy_from_slice(&rest[..length]);
            rest = &rest[length..];
            frames.extend(length);
            loop {
                match frames.next() {
                    Ok(Some(sample)) => samples.push(sample.to_vec()),
                    Ok(None) => break,
                    Err(garbage) => return (samples, Err(garbage)),
                }
            }
            if rest.is_empty() {
                break;
            }
        }
        assert_eq!(frames.buffer.capacity(), memory);
        (samples, Ok(frames.pending_bytes()))
    }

    #[test]
    fn samples_come_whole_wherever_the_stream_is_cut() {
        let samples = vec![b"ab".to_vec(), vec![], b"cdefg".to_vec()];
        let stream = stream_of(&samples);
        assert_eq!(stream, b"ddsmark1\x02\0\0\0ab\0\0\0\0\x05\0\0\0cdefg");
        for first in 1..stream.len() {
            assert_eq!(cut(&stream, 5, &[first, usize::MAX]), (samples.clone(), Ok(0)), "cut at {first}");
        }
        // an incomplete sample is not returned
        for end in 0..stream.len() {
            let (given, left) = cut(&stream[..end], 5, &[usize::MAX]);
            assert!(given.len() < 3 && samples.starts_with(&given), "cut off at {end}");
            let given: usize = given.iter().map(|sample| sample.len() + FRAMING).sum();
            let greeting = if end < GREETING.len() { 0 } else { GREETING.len() };
            assert_eq!(left, Ok(end - given - greeting));
        }
    }

    #[test]
    fn garbage_is_rejected_at_its_first_byte_without_allocation() {
        assert_eq!(cut(b"GET / HTTP/1.1\r\n", 1 << 20, &[usize::MAX]), (vec![], Err(FramingError)));
        assert_eq!(cut(b"ddsmarx", 10, &[1]), (vec![], Err(FramingError)));
        let mut stream = stream_of(&[b"good".to_vec()]);
        stream.extend_from_slice(b"\xff\xff\xff\xff");
        assert_eq!(cut(&stream, 4, &[usize::MAX]), (vec![b"good".to_vec()], Err(FramingError)));
        assert_eq!(cut(&stream, 4, &[1]), (vec![b"good".to_vec()], Err(FramingError)));
        // one byte more than the maximum
        assert_eq!(cut(&stream_of(&[vec![0; 5]]), 4, &[usize::MAX]), (vec![], Err(FramingError)));
    }

    #[test]
    fn a_long_sample_is_received_alone_at_the_front() {
        let long = vec![7; 3 * READ_AHEAD];
        let mut frames = Frames::new(long.len());
        let stream = stream_of(&[vec![1; 10], long]);
        // the first part of it, which arrives with the previous sample
        let first = frames.room().len().min(1_000);
        frames.room()[..first].copy_from_slice(&stream[..first]);
        frames.extend(first);
        assert_eq!(frames.next().map(|sample| sample.map(<[u8]>::len)), Ok(Some(10)));
        assert_eq!(frames.next(), Ok(None));
        assert_eq!(frames.room().len(), stream.len() - first, "no more than its rest");
        let rest = stream.len() - first;
        frames.room().copy_from_slice(&stream[first..]);
        frames.extend(rest);
        assert_eq!(frames.next().map(|sample| sample.map(<[u8]>::len)), Ok(Some(3 * READ_AHEAD)));
        assert_eq!(frames.next(), Ok(None));
        assert_eq!(frames.pending_bytes(), 0);
    }

    proptest! {
        #[test]
        fn framed_stream_is_cut_into_its_samples(
            samples in vec(vec(any::<u8>(), 0..300), 0..40),
            pieces in vec(1usize..700, 1..10),
        ) {
            prop_assert_eq!(cut(&stream_of(&samples), 300, &pieces), (samples, Ok(0)));
        }

        #[test]
        fn any_bytes_are_framed_or_rejected_however_they_are_split(
            bytes in vec(prop_oneof![Just(0u8), 0u8..8, any::<u8>()], 0..400),
            greeted in any::<bool>(),
            pieces in vec(1usize..50, 1..10),
        ) {
            let mut stream = if greeted { GREETING.to_vec() } else { Vec::new() };
            stream.extend_from_slice(&bytes);
            let (samples, end) = cut(&stream, 100, &pieces);
            prop_assert!(samples.iter().all(|sample| sample.len() <= 100));
            prop_assert_eq!((samples, end), cut(&stream, 100, &[usize::MAX]));
        }
    }
}
