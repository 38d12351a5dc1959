//! Mailboxes in memory, for tests: processes that are threads, on a network that drops, delays and repeats.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use rendezvous::{
    RendezvousError,
    mailbox::{Mailbox, Waker, check_length, closed},
};

/// Network of mailboxes in memory. Each sample reaches all other mailboxes, also those that are created later.
#[derive(Clone, Debug, Default)]
pub struct MemoryNetwork {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    mailboxes: Vec<Option<Sender<Event>>>,
    history: Vec<(usize, Vec<u8>)>,
    delay: Duration,
    repeats: usize,
    cut: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Event {
    Sample(Instant, Vec<u8>),
    Wake,
}

/// Mailbox in memory.
#[derive(Debug)]
pub struct MemoryMailbox {
    network: MemoryNetwork,
    number: usize,
    events: Receiver<Event>,
    wake: Sender<Event>,
    /// Sample that arrives later.
    next: Option<(Instant, Vec<u8>)>,
}

impl MemoryNetwork {
    /// Creates a network without delay.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the delay of the samples that are posted from now on.
    pub fn set_delay(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// Sets how often each sample arrives in addition to the first time.
    pub fn set_repeats(&self, repeats: usize) {
        self.state().repeats = repeats;
    }

    /// Cuts a mailbox off, in both directions: as a process that was killed, or a lost link.
    pub fn cut(&self, mailbox: usize) {
        self.state().cut.push(mailbox);
    }

    /// Creates a mailbox. Its number is the count of those created before.
    pub fn mailbox(&self) -> MemoryMailbox {
        let (wake, events) = channel();
        let mut state = self.state();
        let number = state.mailboxes.len();
        for (from, sample) in &state.history {
            if !state.cut.contains(from) {
                // The receiver is there.
                let _ = wake.send(Event::Sample(Instant::now(), sample.clone()));
            }
        }
        state.mailboxes.push(Some(wake.clone()));
        drop(state);
        MemoryMailbox { network: self.clone(), number, events, wake, next: None }
    }

    /// Posts a sample that no mailbox sends: of a stranger.
    pub fn inject(&self, sample: &[u8]) {
        self.deliver(usize::MAX, sample);
    }

    fn deliver(&self, from: usize, sample: &[u8]) {
        let mut state = self.state();
        if state.cut.contains(&from) {
            return;
        }
        state.history.push((from, sample.to_vec()));
        let arrival = Instant::now() + state.delay;
        for (to, mailbox) in state.mailboxes.iter().enumerate() {
            let Some(mailbox) = mailbox else { continue };
            if to == from || state.cut.contains(&to) {
                continue;
            }
            for _ in 0..=state.repeats {
                // Its mailbox may be gone.
                let _ = mailbox.send(Event::Sample(arrival, sample.to_vec()));
            }
        }
    }
}

impl Mailbox for MemoryMailbox {
    fn post(&mut self, sample: &[u8]) -> Result<(), RendezvousError> {
        check_length(sample)?;
        self.network.deliver(self.number, sample);
        Ok(())
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>, RendezvousError> {
        let deadline = Instant::now() + limit;
        loop {
            let now = Instant::now();
            if let Some((_, sample)) = self.next.take_if(|(at, _)| *at <= now) {
                return Ok(Some(sample));
            }
            if let Some((at, _)) = &self.next {
                if *at >= deadline {
                    std::thread::sleep(deadline.saturating_duration_since(now));
                    return Ok(None);
                }
                std::thread::sleep(at.saturating_duration_since(now));
                continue;
            }
            match self.events.recv_timeout(deadline.saturating_duration_since(now)) {
                Ok(Event::Sample(at, sample)) => self.next = Some((at, sample)),
                Ok(Event::Wake) | Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
    }

    fn waker(&self) -> Waker {
        let wake = self.wake.clone();
        Waker::new(move || {
            // Its mailbox may be gone.
            let _ = wake.send(Event::Wake);
        })
    }

    fn ignored(&self) -> u64 {
        0
    }

    fn diagnosis(&self) -> Vec<String> {
        let others = self.network.state().mailboxes.iter().flatten().count() - 1;
        vec![format!("{others} other mailboxes in memory")]
    }

    fn close(&mut self, _: Duration) -> Result<(), RendezvousError> {
        Ok(())
    }
}

impl Drop for MemoryMailbox {
    fn drop(&mut self) {
        self.network.state().mailboxes[self.number] = None;
    }
}
