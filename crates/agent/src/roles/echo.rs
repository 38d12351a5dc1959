//! Latency roles `echo` and `relay`: send every ping back, or on to the next node of a ring, unchanged.

use std::{sync::Arc, time::Duration};

use control::{Drain, EchoReport, RoleReport};
use driver_host::{ListeningReader, Reader};

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::{SHORTEST_WAIT_NS, TrafficMeter},
        progress::{ProgressSource, ReceiveProgress},
        role::AgentRole,
    },
    roles::{
        echo_listener::{EchoListener, HandedPings},
        echo_sender::EchoSender,
    },
};

/// Duration for which a drain serves before it checks its conditions.
const SLICE: Duration = Duration::from_millis(2);

/// Source of pings, and the place that sends the echoes.
#[derive(Debug)]
pub enum EchoInput {
    /// Reader called by the role's own thread, by waitset or polling; its sink sends the echo.
    Asked {
        /// Reader of the pings.
        reader: Reader,
        /// Writer and counts of the echoes.
        sender: Box<EchoSender>,
        /// Whether the reader is polled.
        polling: bool,
    },
    /// Listener that sends the echo, or hands the ping to the role's own thread.
    Listening {
        /// Reader of the pings.
        reader: ListeningReader<EchoListener>,
        /// Pings handed over.
        handed: HandedPings,
    },
}

/// Role that echoes.
#[derive(Debug)]
pub struct Echo {
    inlet: Option<EchoInput>,
    progress: Arc<ReceiveProgress>,
    /// Whether several pings may be on their way when the pinger has ended.
    several_in_flight: bool,
}

impl Echo {
    /// Creates the role with this source of pings.
    #[must_use]
    pub const fn new(inlet: EchoInput, progress: Arc<ReceiveProgress>, several_in_flight: bool) -> Self {
        Self { inlet: Some(inlet), progress, several_in_flight }
    }

    /// Closes reader and writer. Returns the counts, with those of the listener, and the first failure of a write.
    fn close_inlet(&mut self) -> Result<(EchoReport, Option<AgentError>), AgentError> {
        let sender = match self.inlet.take().ok_or(AgentError::Closed)? {
            EchoInput::Asked { reader, sender, .. } => {
                reader.close()?;
                *sender
            }
            EchoInput::Listening { reader, handed } => {
                let EchoListener { origins, overwritten, dropped, sent, .. } = reader.close()?;
                let mut sender = handed.into_sender()?;
                sender.origins = origins;
                let counts = &mut sender.counts;
                counts.received += dropped;
                counts.refused += dropped;
                counts.overwritten += overwritten;
                counts.echoed_in_listener = Some(sent);
                sender
            }
        };
        let EchoSender { writer, origins, counts, failure, .. } = sender;
        writer.close()?;
        Ok((EchoReport { wrong_size: origins.wrong_size, foreign: origins.foreign, ..counts }, failure))
    }
}

impl AgentRole for Echo {
    fn serve(&mut self, slice: Duration, wait_ns: u64) -> Result<(), AgentError> {
        match &mut self.inlet {
            Some(EchoInput::Asked { reader, sender, polling }) => {
                let end_ns = now_ns() + slice.as_nanos() as u64;
                let timeout_ns = if *polling { 0 } else { wait_ns };
                loop {
                    reader.receive(timeout_ns, 1, |sample| sender.on_sample(sample))?;
                    if let Some(failure) = sender.failure.take() {
                        return Err(failure);
                    }
                    if now_ns() >= end_ns {
                        break;
                    }
                }
            }
            Some(EchoInput::Listening { handed, .. }) => handed.serve(slice)?,
            None => {}
        }
        Ok(())
    }

    fn progress(&self) -> ProgressSource {
        ProgressSource { reception: vec![Arc::clone(&self.progress)], ..ProgressSource::default() }
    }

    fn recorded(&self) -> u64 {
        self.progress.delivered()
    }

    /// With several pings in flight, passes on those that are still on their way, so that each is counted where it
    /// stops.
    fn drain(&mut self, drain: &Drain, meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        let begin_ns = now_ns();
        let (mut last_ns, mut passed_on) = (begin_ns, self.recorded());
        while self.several_in_flight && passed_on < drain.sent {
            self.serve(SLICE, SHORTEST_WAIT_NS)?;
            let (now, recorded) = (now_ns(), self.recorded());
            meter.look(recorded, now);
            if recorded > passed_on {
                (last_ns, passed_on) = (now, recorded);
            } else if now - last_ns >= drain.quiet_ns || now - begin_ns >= drain.timeout_ns {
                break;
            }
        }
        Ok(true)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let (counts, failure) = self.close_inlet()?;
        failure.map_or(Ok(RoleReport::Echo(counts)), Err)
    }

    fn close(&mut self) -> Result<(), AgentError> {
        if self.inlet.is_some() { self.close_inlet().map(|_| ()) } else { Ok(()) }
    }
}
