//! Session: the streams of a process, from the invitation to the goodbye.

use std::{
    fmt,
    fs::File,
    io::{self, pipe},
    os::fd::OwnedFd,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    DEFAULT_SILENCE,
    end::{SessionEnd, SessionEvent},
    pipes::{Incoming, Outgoing},
    pump::{Pump, State, Stream},
};
use crate::{
    error::RendezvousError,
    lobby::Peer,
    mailbox::{Waker, no_thread},
    message::Outcome,
    message_channel::MessageChannel,
    shared::Shared,
};

/// Stream to a peer, and from it. A side that closes its output ends that direction only.
#[derive(Debug)]
pub struct PeerStream {
    /// Peer.
    pub peer: Peer,
    /// Bytes from the peer: the reading end of a pipe.
    pub input: File,
    /// Bytes to the peer: the writing end of a pipe.
    pub output: File,
}

/// Options of a session.
pub struct SessionOptions {
    /// Time without a sign of life after which a peer is lost.
    pub silence: Duration,
    /// Called for each event, on the thread of the session. It must not block.
    pub observer: Box<dyn FnMut(SessionEvent) + Send>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { silence: DEFAULT_SILENCE, observer: Box::new(|_| {}) }
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions").field("silence", &self.silence).finish_non_exhaustive()
    }
}

/// Running streams of this process. Dropping it says goodbye with a failure.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared<State>>,
    waker: Waker,
    pump: Option<JoinHandle<()>>,
}

impl Session {
    /// Starts a stream to each of these peers, in this order. The leader passes its guests, a guest the leader.
    ///
    /// # Errors
    /// Returns an error if a pipe or a thread cannot be created.
    pub fn start(
        channel: MessageChannel,
        peers: Vec<Peer>,
        options: SessionOptions,
    ) -> Result<(Self, Vec<PeerStream>), RendezvousError> {
        let (shared, waker) = (Arc::<Shared<State>>::default(), channel.waker());
        let (mut streams, mut ends) = (Vec::new(), Vec::new());
        for peer in peers {
            let (stream, end) = connect(peer, &waker).map_err(|error| no_thread(&error))?;
            streams.push(stream);
            ends.push(end);
        }
        let pump = Pump::new(channel, streams, options.silence, options.observer, Arc::clone(&shared));
        let pump = thread::Builder::new()
            .name("control".to_owned())
            .spawn(|| pump.run())
            .map_err(|error| no_thread(&error))?;
        Ok((Self { shared, waker, pump: Some(pump) }, ends))
    }

    /// Returns why the first stream has ended that this process did not end. It is set before the pipes of that stream end.
    #[must_use]
    pub fn end_of_peer(&self) -> Option<SessionEnd> {
        self.shared.end()
    }

    /// Waits until the first stream ends that this process does not end, for at most `limit`. A peer that has ended its stream
    /// says goodbye after it.
    #[must_use]
    pub fn wait_for_end_of_peer(&self, limit: Duration) -> Option<SessionEnd> {
        self.shared.wait_for_end(limit)
    }

    /// Sends what waits, says goodbye to all peers with the result of this process, and closes the channel. After a
    /// success, everything is sent that was written to the streams: close their outputs before; otherwise this waits 2 s
    /// for it. Returns as [`Session::end_of_peer`] does.
    #[must_use]
    pub fn end(mut self, outcome: Outcome) -> Option<SessionEnd> {
        self.close(outcome);
        self.shared.end()
    }

    fn close(&mut self, outcome: Outcome) {
        let Some(pump) = self.pump.take() else { return };
        self.shared.close(outcome);
        self.waker.wake();
        // A pump that panicked has ended.
        let _ = pump.join();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close(Outcome::failure("it ended early", None));
    }
}

/// Creates the pipes of a stream, and the threads that read and write them.
fn connect(peer: Peer, waker: &Waker) -> io::Result<(Stream, PeerStream)> {
    let (input, to_application) = pipe()?;
    let (from_application, output) = pipe()?;
    let (outgoing, incoming) = (Arc::<Outgoing>::default(), Arc::<Incoming>::default());
    let (reads, wake) = (Arc::clone(&outgoing), waker.clone());
    thread::Builder::new()
        .name("control-out".to_owned())
        .spawn(move || reads.read_all(from_application, &wake))?;
    let (writes, wake) = (Arc::clone(&incoming), waker.clone());
    thread::Builder::new()
        .name("control-in".to_owned())
        .spawn(move || writes.write_all(to_application, &wake))?;
    let stream = Stream::new(peer.clone(), outgoing, incoming);
    let [input, output] = [OwnedFd::from(input), OwnedFd::from(output)].map(File::from);
    Ok((stream, PeerStream { peer, input, output }))
}
