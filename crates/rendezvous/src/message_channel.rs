//! A mailbox for messages instead of samples.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::{
    envelope::{Arrival, Reassembly, Splitter},
    error::RendezvousError,
    identity::{PeerAddress, ProcessId},
    mailbox::{Mailbox, Waker},
    message::{Control, Message},
};

/// Mailbox of a process that has an address.
pub struct MessageChannel {
    mailbox: Box<dyn Mailbox>,
    splitter: Splitter,
    reassembly: Reassembly,
    arrivals: VecDeque<Arrival>,
}

/// Message that a channel receives, or the lack of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// Message.
    Message {
        /// Sender.
        from: PeerAddress,
        /// Whether it was sent to all processes.
        to_all: bool,
        /// The message.
        message: Message,
    },
    /// Process of another version of the messages.
    OtherVersion {
        /// Sender.
        from: PeerAddress,
        /// Version of the sender.
        version: u16,
    },
    /// Process whose messages cannot be read any longer.
    Broken {
        /// Sender.
        from: PeerAddress,
        /// Cause.
        cause: String,
    },
}

impl MessageChannel {
    /// Creates the channel of a process with this address.
    #[must_use]
    pub fn new(mailbox: Box<dyn Mailbox>, own: PeerAddress) -> Self {
        Self {
            mailbox,
            splitter: Splitter::new(own),
            reassembly: Reassembly::new(own.process),
            arrivals: VecDeque::new(),
        }
    }

    /// Returns the address of this process.
    #[must_use]
    pub const fn own(&self) -> PeerAddress {
        self.splitter.own
    }

    /// Posts a message to a process, or to all.
    ///
    /// # Errors
    /// Returns an error if the message is too long, or if the mailbox is broken.
    pub fn post(&mut self, to: Option<ProcessId>, message: &Message) -> Result<(), RendezvousError> {
        for sample in self.splitter.split(to, &message.encode())? {
            self.mailbox.post(&sample)?;
        }
        Ok(())
    }

    /// Posts a message without bytes of a stream.
    ///
    /// # Errors
    /// Returns an error if the message is too long, or if the mailbox is broken.
    pub fn tell(&mut self, to: Option<ProcessId>, control: Control) -> Result<(), RendezvousError> {
        self.post(to, &Message::Control(control))
    }

    /// Waits for a message, for at most `limit`. Returns `None` after the limit, and when it is woken.
    ///
    /// # Errors
    /// Returns an error if the mailbox is broken.
    pub fn receive(&mut self, limit: Duration) -> Result<Option<Delivery>, RendezvousError> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(arrival) = self.arrivals.pop_front() {
                return Ok(Some(delivery(arrival)));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(sample) = self.mailbox.receive(left)? else { return Ok(None) };
            self.arrivals.extend(self.reassembly.accept(&sample));
            if self.arrivals.is_empty() && Instant::now() >= deadline {
                // Strangers do not hold up whoever waits.
                return Ok(None);
            }
        }
    }

    /// Returns a handle that ends a wait from another thread.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.mailbox.waker()
    }

    /// Returns the number of samples that no process of ddsmark has sent, or that are damaged.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.mailbox.ignored() + self.reassembly.strangers + self.reassembly.invalid
    }

    /// Returns lines that say whom the mailbox reaches, for an error about a process that is missing.
    #[must_use]
    pub fn diagnosis(&self) -> Vec<String> {
        let mut lines = self.mailbox.diagnosis();
        match self.ignored() {
            0 => {}
            count => lines.push(format!("{count} control samples of other programs were ignored")),
        }
        lines
    }

    /// Sends what was posted, and closes the mailbox.
    ///
    /// # Errors
    /// Returns an error if the mailbox is broken.
    pub fn close(&mut self, limit: Duration) -> Result<(), RendezvousError> {
        self.mailbox.close(limit)
    }
}

fn delivery(arrival: Arrival) -> Delivery {
    match arrival {
        Arrival::Message { from, to_all, bytes } => match Message::decode(&bytes) {
            Ok(message) => Delivery::Message { from, to_all, message },
            Err(cause) => Delivery::Broken { from, cause },
        },
        Arrival::OtherVersion { from, version } => Delivery::OtherVersion { from, version },
        Arrival::Broken { from, cause } => Delivery::Broken { from, cause: cause.to_owned() },
    }
}
