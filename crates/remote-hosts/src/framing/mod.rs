//! Frames on the stream between a runner and a steward: a kind, a length, and as many bytes. The other host is not
//! trusted: memory grows only with bytes that have arrived, up to a limit.

pub(crate) mod greeting;
pub(crate) mod output;
pub(crate) mod timed_reader;
pub(crate) mod timed_writer;

use std::{
    io::{self, Read, Write},
    time::Duration,
};

pub use greeting::{GREETING, MAX_NOISE_BYTES, NoGreeting, find_greeting};

/// Longest frame in bytes: an agent's longest message, and room for what a message adds to it.
pub const MAX_FRAME_BYTES: u32 = (128 << 20) + (64 << 10);
/// Interval of heartbeats in each direction, on streams whose carrier does not notice the loss of the other side.
const HEARTBEAT: Duration = Duration::from_secs(1);

const HEADER_BYTES: usize = 5;
const KIND_HEARTBEAT: u8 = 0;
const KIND_MESSAGE: u8 = 1;
const KIND_LOG: u8 = 2;
const AGENT_BYTES: usize = 8;

/// Unit of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Sign of life.
    Heartbeat,
    /// Message as JSON.
    Message(Vec<u8>),
    /// Output of an agent.
    Log {
        /// Number of the agent.
        agent: u64,
        /// Bytes, as printed.
        bytes: Vec<u8>,
    },
}

/// Errors of the stream.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// End of the stream between two frames.
    #[error("the stream ended")]
    Ended,
    /// End of the stream within a frame.
    #[error("the stream ended within a frame")]
    Truncated,
    /// Stream without a byte for this time.
    #[error("no sign of life for {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// Invalid frame.
    #[error("invalid frame: {0}")]
    Invalid(String),
    /// I/O error.
    #[error("{0}")]
    Io(io::Error),
}

impl Frame {
    /// Reads one frame of at most `limit` bytes.
    ///
    /// # Errors
    /// Returns an error if the stream ends, fails or stays silent, or if the frame is invalid.
    pub fn read(stream: &mut impl Read, limit: u32) -> Result<Self, FrameError> {
        let mut header = [0; HEADER_BYTES];
        fill(stream, &mut header, FrameError::Ended)?;
        let [kind, length @ ..] = header;
        let length = u32::from_le_bytes(length);
        if length > limit {
            return Err(FrameError::Invalid(format!("{length} bytes, more than {limit}")));
        }
        let mut body = Vec::new();
        stream.by_ref().take(length.into()).read_to_end(&mut body).map_err(FrameError::from)?;
        if body.len() < length as usize {
            return Err(FrameError::Truncated);
        }
        match kind {
            KIND_HEARTBEAT if body.is_empty() => Ok(Self::Heartbeat),
            KIND_MESSAGE => Ok(Self::Message(body)),
            KIND_LOG => match body.split_first_chunk::<AGENT_BYTES>() {
                Some((agent, bytes)) => {
                    Ok(Self::Log { agent: u64::from_le_bytes(*agent), bytes: bytes.to_vec() })
                }
                None => Err(FrameError::Invalid(format!("output of an agent in {length} bytes"))),
            },
            _ => Err(FrameError::Invalid(format!("kind {kind} with {length} bytes"))),
        }
    }

    /// Writes the frame and flushes the stream.
    ///
    /// # Errors
    /// Returns an error if the stream fails or the frame is too long.
    pub fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let (kind, parts): (u8, [&[u8]; 2]) = match self {
            Self::Heartbeat => (KIND_HEARTBEAT, [&[], &[]]),
            Self::Message(body) => (KIND_MESSAGE, [body, &[]]),
            Self::Log { agent, bytes } => (KIND_LOG, [&agent.to_le_bytes(), bytes]),
        };
        let length = parts[0].len() + parts[1].len();
        let length =
            u32::try_from(length).ok().filter(|length| *length <= MAX_FRAME_BYTES).ok_or_else(|| {
                let text = format!("a message has {length} bytes, more than {MAX_FRAME_BYTES}");
                io::Error::new(io::ErrorKind::InvalidInput, text)
            })?;
        let mut header = [kind; HEADER_BYTES];
        header[1..].copy_from_slice(&length.to_le_bytes());
        for part in [&header[..], parts[0], parts[1]] {
            stream.write_all(part)?;
        }
        stream.flush()
    }
}

/// Fills a buffer. `at_once` is the error for a stream that ends before the first byte.
fn fill(stream: &mut impl Read, buffer: &mut [u8], at_once: FrameError) -> Result<(), FrameError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Err(at_once),
            Ok(0) => return Err(FrameError::Truncated),
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        match timed_reader::silence_of(&error) {
            Some(silence) => Self::Silent(silence),
            None => Self::Io(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..200);
        let frame = prop_oneof![
            Just(Frame::Heartbeat),
            bytes().prop_map(Frame::Message),
            (any::<u64>(), bytes()).prop_map(|(agent, bytes)| Frame::Log { agent, bytes }),
        ];
        prop::collection::vec(frame, 0..8)
    }

    fn read_all(mut stream: &[u8]) -> (Vec<Frame>, FrameError) {
        let mut read = Vec::new();
        loop {
            match Frame::read(&mut stream, MAX_FRAME_BYTES) {
                Ok(frame) => read.push(frame),
                Err(error) => return (read, error),
            }
        }
    }

    proptest! {
        #[test]
        fn written_frames_are_read_again(frames in frames()) {
            let mut stream = Vec::new();
            for frame in &frames {
                frame.write(&mut stream).expect("a vector takes all bytes");
            }
            let (read, end) = read_all(&stream);
            prop_assert_eq!(read, frames);
            prop_assert!(matches!(end, FrameError::Ended));
        }

        #[test]
        fn stream_that_ends_anywhere_is_read_up_to_there(frames in frames(), cut in any::<prop::sample::Index>()) {
            let mut stream = Vec::new();
            for frame in &frames {
                frame.write(&mut stream).expect("a vector takes all bytes");
            }
            stream.truncate(cut.index(stream.len() + 1));
            let (read, end) = read_all(&stream);
            prop_assert!(read.len() <= frames.len() && read[..] == frames[..read.len()]);
            prop_assert!(matches!(end, FrameError::Ended | FrameError::Truncated), "{}", end);
        }

        #[test]
        fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let (read, _) = read_all(&bytes);
            let length: usize = read.iter().map(|frame| match frame {
                Frame::Heartbeat => HEADER_BYTES,
                Frame::Message(body) => HEADER_BYTES + body.len(),
                Frame::Log { bytes, .. } => HEADER_BYTES + AGENT_BYTES + bytes.len(),
            }).sum();
            prop_assert!(length <= bytes.len());
        }
    }

    #[test]
    fn frame_over_the_limit_is_rejected_before_its_bytes() {
        let header = [KIND_MESSAGE, 0xff, 0xff, 0xff, 0xff];
        let error = Frame::read(&mut &header[..], 1000).unwrap_err();
        assert_eq!(error.to_string(), "invalid frame: 4294967295 bytes, more than 1000");
        // Within the limit, memory grows with the bytes that arrive, not with those that are announced.
        let header = [KIND_MESSAGE, 0, 0, 0, 8];
        assert!(matches!(Frame::read(&mut &header[..], u32::MAX), Err(FrameError::Truncated)));
    }

    #[test]
    fn unknown_kind_and_short_log_are_rejected() {
        for (frame, text) in [
            (&[9, 0, 0, 0, 0][..], "kind 9 with 0 bytes"),
            (&[KIND_HEARTBEAT, 1, 0, 0, 0, 7], "kind 0 with 1 bytes"),
            (&[KIND_LOG, 1, 0, 0, 0, 7], "output of an agent in 1 bytes"),
        ] {
            let error = Frame::read(&mut &frame[..], MAX_FRAME_BYTES).unwrap_err();
            assert_eq!(error.to_string(), format!("invalid frame: {text}"));
        }
    }
}
