//! Participant without traffic: its writers and readers only match those of other participants.

use std::{thread, time::Duration};

use control::RoleReport;
use driver_host::{Reader, Writer};

use crate::base::{
    error::AgentError,
    meters::TrafficMeter,
    role::{AgentRole, TrafficLimit},
};

/// Opened entities, which are idle.
#[derive(Debug)]
pub struct IdleParticipant {
    writers: Vec<Writer>,
    readers: Vec<Reader>,
}

impl IdleParticipant {
    /// Creates the role from its entities.
    #[must_use]
    pub const fn new(writers: Vec<Writer>, readers: Vec<Reader>) -> Self {
        Self { writers, readers }
    }
}

impl AgentRole for IdleParticipant {
    fn recorded(&self) -> u64 {
        0
    }

    /// Waits until the traffic of discovery has ended.
    fn run(&mut self, limit: TrafficLimit, mut meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        meter.iter_mut().for_each(|meter| meter.begin());
        thread::sleep(Duration::from_nanos(limit.duration_ns));
        meter.iter_mut().for_each(|meter| meter.end(0));
        Ok(())
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        Ok(RoleReport::Participant)
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.writers.drain(..).try_for_each(Writer::close)?;
        self.readers.drain(..).try_for_each(Reader::close)?;
        Ok(())
    }
}
