//! Locators as text. That of a reader is its process, the descriptor of its memory there, and the inode of the memory:
//! `shm:1234:7:56789`. That of a writer is its process and its number there: `shm:1234#5`.
use std::{
    fmt, process,
    str::FromStr,
    sync::atomic::{AtomicU32, Ordering},
};

use driver_kit::{Error, Result};

/// Name of the transport.
pub(crate) const NAME: &str = "shm";

/// Locator of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReaderLocator {
    pub(crate) pid: u32,
    pub(crate) descriptor: u32,
    pub(crate) inode: u64,
}

/// Locator of a writer, which identifies it on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriterId {
    pub(crate) pid: u32,
    serial: u32,
}

impl WriterId {
    /// Returns the next writer of this process.
    pub(crate) fn next() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self { pid: process::id(), serial: LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1) }
    }

    /// Returns the writer as one number, which is not 0.
    pub(crate) const fn bits(self) -> u64 {
        (self.pid as u64) << 32 | self.serial as u64
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self { pid: (bits >> 32) as u32, serial: bits as u32 }
    }
}

impl fmt::Display for ReaderLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, descriptor, inode } = self;
        write!(f, "{NAME}:{pid}:{descriptor}:{inode}")
    }
}

impl fmt::Display for WriterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}:{}#{}", self.pid, self.serial)
    }
}

impl FromStr for ReaderLocator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let (pid, rest) = text.strip_prefix(NAME)?.strip_prefix(':')?.split_once(':')?;
            let (descriptor, inode) = rest.split_once(':')?;
            Some(Self { pid: pid_of(pid)?, descriptor: number(descriptor)?, inode: number(inode)? })
        };
        parse().ok_or_else(|| not_a_locator(text, "reader", "`shm:1234:7:56789`"))
    }
}

impl FromStr for WriterId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let (pid, serial) = text.strip_prefix(NAME)?.strip_prefix(':')?.split_once('#')?;
            Some(Self { pid: pid_of(pid)?, serial: number(serial)? })
        };
        parse().ok_or_else(|| not_a_locator(text, "writer", "`shm:1234#5`"))
    }
}

fn not_a_locator(text: &str, what: &str, example: &str) -> Error {
    Error::bad_argument(format!("`{text}` is not a locator of a {what} of this driver"))
        .hint(format!("example: {example}"))
}

fn pid_of(text: &str) -> Option<u32> {
    number(text).filter(|pid| *pid > 0)
}

/// Parses digits only: no sign.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn locators_of_the_other_end_and_other_texts_are_rejected() {
        for text in [
            "",
            "shm",
            "shm:",
            "shm:1",
            "shm:1:2",
            "shm:1:2:",
            "shm:1:2:3:4",
            "shm:0:2:3",
            "shm:-1:2:3",
            "shm:1:+2:3",
            "shm:1:2:x",
            "shm:4294967296:2:3",
            "shm: 1:2:3",
            "udp4:127.0.0.1:5",
            "shm:1#2",
        ] {
            let error = text.parse::<ReaderLocator>().expect_err(text).to_string();
            assert!(
                error.contains("is not a locator of a reader of this driver; hint: example: "),
                "{error}"
            );
        }
        for text in ["", "shm:1", "shm:1#", "shm:#1", "shm:0#1", "shm:1#2#3", "shm:1#-2", "shm:1:2:3"] {
            let error = text.parse::<WriterId>().expect_err(text).to_string();
            assert!(
                error.contains("is not a locator of a writer of this driver; hint: example: "),
                "{error}"
            );
        }
    }

    #[test]
    fn writers_of_a_process_differ() {
        let (first, second) = (WriterId::next(), WriterId::next());
        assert_ne!(first, second);
        assert_eq!(first.pid, process::id());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pid in 1u32.., descriptor in any::<u32>(), inode in any::<u64>()) {
            let reader = ReaderLocator { pid, descriptor, inode };
            prop_assert_eq!(reader.to_string().parse(), Ok(reader));
            let writer = WriterId { pid, serial: descriptor };
            prop_assert_eq!(writer.to_string().parse(), Ok(writer));
            prop_assert_eq!(WriterId::from_bits(writer.bits()), writer);
        }

        #[test]
        fn any_text_parses_or_is_rejected(text in ".*", near in "shm:[0-9:#+-]{0,30}") {
            for text in [text, near] {
                let _ = (text.parse::<ReaderLocator>(), text.parse::<WriterId>());
            }
        }
    }
}
