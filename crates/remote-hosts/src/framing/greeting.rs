//! Start of a steward's stream: whatever a shell prints, then the greeting, then frames.

use std::{
    io::{self, Read},
    time::Duration,
};

use super::timed_reader::silence_of;

/// Bytes that a steward sends first. A shell that prints them is not one that prints text.
pub const GREETING: &[u8] = b"\0\x01ddsmark steward\x02\n";
/// Maximum number of bytes before the greeting.
pub const MAX_NOISE_BYTES: usize = 64 << 10;

/// Stream without a greeting.
#[derive(Debug, thiserror::Error)]
pub enum NoGreeting {
    /// End of the stream, with the bytes before it.
    #[error("the stream ended before a greeting")]
    Ended(Vec<u8>),
    /// More noise than accepted, with its bytes.
    #[error("no greeting within the first {MAX_NOISE_BYTES} bytes")]
    TooMuchNoise(Vec<u8>),
    /// Stream that stays silent or is not greeted in time, with the bytes until then.
    #[error("no greeting within {} s", .1.as_secs_f64())]
    Silent(Vec<u8>, Duration),
    /// I/O error.
    #[error("{0}")]
    Io(io::Error),
}

impl NoGreeting {
    /// Returns the bytes that arrived instead of a greeting.
    #[must_use]
    pub fn noise(&self) -> &[u8] {
        match self {
            Self::Ended(noise) | Self::TooMuchNoise(noise) | Self::Silent(noise, _) => noise,
            Self::Io(_) => &[],
        }
    }
}

/// Reads up to the end of the greeting, and returns the bytes before it. The stream should be buffered: it is read byte
/// by byte.
///
/// # Errors
/// Returns an error if the stream ends, fails or stays silent before, or has too many other bytes.
pub fn find_greeting(stream: &mut impl Read) -> Result<Vec<u8>, NoGreeting> {
    let mut found = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => return Err(NoGreeting::Ended(found)),
            Ok(_) => found.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(match silence_of(&error) {
                    Some(silence) => NoGreeting::Silent(found, silence),
                    None => NoGreeting::Io(error),
                });
            }
        }
        if let Some(noise) = found.strip_suffix(GREETING) {
            return Ok(noise.to_vec());
        }
        if found.len() >= MAX_NOISE_BYTES + GREETING.len() {
            return Err(NoGreeting::TooMuchNoise(found));
        }
    }
}

/// Returns the last non-empty lines of a text of unknown origin, at most `most`, without control characters.
pub(crate) fn last_lines(bytes: &[u8], most: usize) -> Vec<String> {
    const LINE_CHARACTERS: usize = 300;
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let clean = |line: &&str| -> String {
        line.chars()
            .take(LINE_CHARACTERS)
            .map(|character| if character.is_control() { '\u{fffd}' } else { character })
            .collect()
    };
    lines[lines.len().saturating_sub(most)..].iter().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn noise_before_the_greeting_is_skipped(noise in prop::collection::vec(any::<u8>(), 0..500), rest in any::<u8>()) {
            let mut stream = noise.clone();
            stream.extend(GREETING);
            stream.push(rest);
            let mut stream = stream.as_slice();
            let found = find_greeting(&mut stream).expect("a greeting");
            // Noise that contains a greeting ends there.
            if !noise.windows(GREETING.len()).any(|part| part == GREETING) {
                prop_assert_eq!(found, noise);
                prop_assert_eq!(stream, &[rest][..]);
            }
        }
    }

    #[test]
    fn too_much_noise_is_an_error_with_its_bytes() {
        let most = [vec![b'x'; MAX_NOISE_BYTES], GREETING.to_vec()].concat();
        assert_eq!(find_greeting(&mut most.as_slice()).expect("within the limit").len(), MAX_NOISE_BYTES);
        let error = find_greeting(&mut io::repeat(b'x')).unwrap_err();
        assert!(matches!(error, NoGreeting::TooMuchNoise(_)), "{error}");
        assert_eq!(error.noise().len(), MAX_NOISE_BYTES + GREETING.len());
    }

    #[test]
    fn stream_without_greeting_ends_with_its_bytes() {
        let error = find_greeting(&mut &b"sh: 1: ddsmark: not found\n"[..]).unwrap_err();
        assert_eq!(last_lines(error.noise(), 3), ["sh: 1: ddsmark: not found"]);
    }

    #[test]
    fn quoted_lines_are_the_last_ones_without_control_characters() {
        assert_eq!(last_lines(b"a\n\n\x1b[31mb\r\nc\n", 2), ["\u{fffd}[31mb", "c"]);
        assert_eq!(last_lines(b"", 2), [""; 0]);
        assert_eq!(last_lines(&[b'x'; 1000], 2)[0].len(), 300);
    }
}
