//! Connection of a mailbox over TCP, after the greetings: samples with their length. Nothing that arrives is trusted.

use std::{
    collections::VecDeque,
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crate::shared::Shared;

/// Maximum number of bytes that wait to be written. A connection with more is closed.
const MAX_QUEUED_BYTES: usize = 16 << 20;
/// Longest wait of a thread that writes, before it looks again.
const LOOK: Duration = Duration::from_secs(1);

/// Reads a sample of at most `most` bytes.
pub(super) fn read_sample(mut stream: &TcpStream, most: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        let error = format!("a control sample of {length} bytes, more than {most}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    let mut sample = vec![0; length];
    stream.read_exact(&mut sample)?;
    Ok(sample)
}

/// Sending side of a connection. A thread writes what is queued.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Arc<TcpStream>,
    queue: Arc<Shared<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    samples: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether a sample is being written.
    is_writing: bool,
    closed: bool,
}

impl Shared<Queue> {
    /// Writes samples until the queue is closed or the stream fails.
    fn write_all(&self, stream: &TcpStream) {
        loop {
            self.change(|queue| queue.is_writing = false);
            let mut state = self.lock();
            let sample = loop {
                if state.closed {
                    return;
                }
                if let Some(sample) = state.samples.pop_front() {
                    break sample;
                }
                state = self.wait(state, LOOK);
            };
            state.bytes -= sample.len();
            state.is_writing = true;
            drop(state);
            if (&mut &*stream).write_all(&sample).is_err() {
                self.change(|queue| queue.closed = true);
                // The reading side ends, too.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

impl Connection {
    /// Starts the thread that writes.
    pub(super) fn start(stream: &Arc<TcpStream>) -> io::Result<Self> {
        let connection = Self { stream: Arc::clone(stream), queue: Arc::default() };
        let (stream, queue) = (Arc::clone(stream), Arc::clone(&connection.queue));
        let name = "control-write".to_owned();
        thread::Builder::new().name(name).spawn(move || queue.write_all(&stream))?;
        Ok(connection)
    }

    /// Queues a sample. Closes the connection if too much waits: the other side does not read.
    pub(super) fn queue(&self, sample: &[u8]) {
        let mut framed = (sample.len() as u32).to_le_bytes().to_vec();
        framed.extend(sample);
        let has_room = self.queue.change(|queue| {
            let has_room = queue.bytes + framed.len() <= MAX_QUEUED_BYTES;
            if has_room {
                queue.bytes += framed.len();
                queue.samples.push_back(framed);
            }
            has_room
        });
        if !has_room {
            self.close();
        }
    }

    /// Waits until everything that was queued is written.
    pub(super) fn flush(&self, deadline: Instant) {
        let mut state = self.queue.lock();
        while (!state.samples.is_empty() || state.is_writing) && !state.closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.queue.wait(state, left);
        }
    }

    /// Closes the connection in both directions.
    pub(super) fn close(&self) {
        self.queue.change(|queue| queue.closed = true);
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
