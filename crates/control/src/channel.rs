//! Control channel: JSON lines over a descriptor, with a time limit on every wait.

use std::{
    io::{BufRead, BufReader, Read, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

/// Message of one direction of the channel.
///
/// Its type converts it, and not the functions that send and receive: they would be compiled once more in each crate that
/// calls them, and optimized there.
pub trait Message: Sized {
    /// Longest line that is accepted, in bytes.
    const MAX_LINE_BYTES: u64;

    /// Returns the message as a line without its end: [`to_json`].
    ///
    /// # Errors
    /// Returns an error if the message cannot be serialized.
    fn to_line(&self) -> Result<Vec<u8>, ChannelError>;

    /// Reads the message of a line: [`from_json`].
    ///
    /// # Errors
    /// Returns an error if the line is not such a message.
    fn from_line(line: &[u8]) -> Result<Self, ChannelError>;
}

/// Implements [`Message`] with lines of JSON. `$max`: longest line in bytes.
#[macro_export]
macro_rules! json_message {
    ($message:ty, $max:expr) => {
        impl $crate::Message for $message {
            const MAX_LINE_BYTES: u64 = $max;

            fn to_line(&self) -> Result<Vec<u8>, $crate::ChannelError> {
                $crate::to_json(self)
            }

            fn from_line(line: &[u8]) -> Result<Self, $crate::ChannelError> {
                $crate::from_json(line)
            }
        }
    };
}

/// Returns a message as JSON on one line, without the end of the line.
///
/// # Errors
/// Returns an error if the message cannot be serialized.
pub fn to_json(message: &impl Serialize) -> Result<Vec<u8>, ChannelError> {
    serde_json::to_vec(message).map_err(|error| ChannelError::Malformed(error.to_string()))
}

/// Reads a message from a line of JSON.
///
/// # Errors
/// Returns an error with the beginning of the line if it is not such a message.
pub fn from_json<M: DeserializeOwned>(line: &[u8]) -> Result<M, ChannelError> {
    serde_json::from_slice(line).map_err(|error| {
        let begin = String::from_utf8_lossy(&line[..line.len().min(80)]).trim_end().to_owned();
        ChannelError::Malformed(format!("{error}: `{begin}`"))
    })
}

/// Errors of the control channel.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// Channel closed by the other process.
    #[error("the other process closed the control channel")]
    Closed,
    /// No message within this time.
    #[error("the control channel timed out: no message within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// Invalid message.
    #[error("invalid control message: {0}")]
    Malformed(String),
    /// I/O error of the channel.
    #[error("the control channel failed: {0}")]
    Broken(#[from] std::io::Error),
}

/// Sends one message as one line.
///
/// # Errors
/// Returns an error if the message cannot be serialized, or if the other process is gone.
pub fn send<M: Message>(stream: &mut impl Write, message: &M) -> Result<(), ChannelError> {
    let mut line = message.to_line()?;
    line.push(b'\n');
    stream.write_all(&line)?;
    stream.flush()?;
    Ok(())
}

/// Reads one message, without a time limit on the wait; [`Inbox`] does so in a thread of its own.
///
/// # Errors
/// Returns an error if the channel is closed or broken, or if the line is not a valid message.
pub fn receive_line<M: Message>(stream: &mut impl BufRead) -> Result<M, ChannelError> {
    let mut line = Vec::new();
    stream.by_ref().take(M::MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(if line.len() as u64 == M::MAX_LINE_BYTES {
            ChannelError::Malformed(format!("a line is longer than {} bytes", M::MAX_LINE_BYTES))
        } else {
            ChannelError::Closed
        });
    }
    M::from_line(&line)
}

/// Received messages, read by a thread that ends with the channel.
#[derive(Debug)]
pub struct Inbox<M> {
    messages: Receiver<Result<M, ChannelError>>,
}

impl<M: Message + Send + 'static> Inbox<M> {
    /// Starts the reading thread. It calls `on_end` when the channel closes or breaks, or after an invalid message.
    pub fn start(stream: impl Read + Send + 'static, on_end: impl FnOnce() + Send + 'static) -> Self {
        let (sender, messages) = sync_channel(16);
        thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            loop {
                let message = receive_line(&mut stream);
                let end = message.is_err();
                if sender.send(message).is_err() || end {
                    break;
                }
            }
            on_end();
        });
        Self { messages }
    }

    /// Returns the next message.
    ///
    /// # Errors
    /// Returns an error if no message arrives in time, or if the channel has ended.
    pub fn receive(&self, timeout: Duration) -> Result<M, ChannelError> {
        match self.messages.recv_timeout(timeout) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => Err(ChannelError::TimedOut(timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(ChannelError::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::repeat;

    use super::*;
    use crate::{reply::Reply, request::Request};

    fn rejected<M: Message + std::fmt::Debug>(stream: &mut impl BufRead) -> String {
        receive_line::<M>(stream).unwrap_err().to_string()
    }

    #[test]
    fn line_without_end_is_read_up_to_the_limit() {
        let limit = format!("longer than {} bytes", Request::MAX_LINE_BYTES);
        assert!(rejected::<Request>(&mut BufReader::new(repeat(b' '))).contains(&limit));
    }

    #[test]
    fn deeply_nested_json_is_rejected() {
        let nested = |begin: &str, end: &str| {
            let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
            format!("{begin}{open}{close}{end}\n")
        };
        let line = nested(r#"{"request":"exit","other":"#, "}");
        assert!(rejected::<Request>(&mut line.as_bytes()).contains("recursion limit"));
        let line = nested(r#"{"reply":"bye","other":"#, "}");
        assert!(rejected::<Reply>(&mut line.as_bytes()).contains("recursion limit"));
    }
}
