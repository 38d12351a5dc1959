//! Replies of virtual agents, in a file: the lines that real agents would send over their control channels.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Write as _},
    os::unix::fs::FileExt as _,
    path::Path,
};

use collector::{AgentOutcome, RunReports};
use control::{Hello, MeasureReply, PROTOCOL, Reply, send};
use simulate::describe;

use super::plan::clock_of;
use crate::Error;

/// Phases of a run, in the order of the replies of an agent.
pub const PHASES: [&str; 8] =
    ["hello", "configure", "match", "warm_up", "measure", "drain", "report", "exit"];

/// Replies of the agents of one run. Only their places are in memory.
pub struct Script {
    file: File,
    /// Begin of each line, and the end of the last one.
    bounds: Vec<u64>,
}

impl Script {
    /// Writes what the agents of these reports would send.
    pub fn write(path: &Path, reports: &RunReports) -> Result<(), Error> {
        let mut file = BufWriter::new(File::create(path)?);
        for (pid, agent) in (1..).zip(&reports.agents) {
            for reply in replies(pid, agent) {
                send(&mut file, &reply)?;
            }
        }
        Ok(file.flush()?)
    }

    /// Opens the replies that were written to a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut lines = BufReader::new(File::open(path)?);
        let (mut bounds, mut end) = (vec![0], 0);
        loop {
            let length = lines.skip_until(b'\n')?;
            if length == 0 {
                break;
            }
            end += length as u64;
            bounds.push(end);
        }
        Ok(Self { file: File::open(path)?, bounds })
    }

    /// Returns the line that an agent sends in a phase.
    pub fn line(&self, agent: usize, phase: &str) -> io::Result<Vec<u8>> {
        let index = PHASES.iter().position(|known| *known == phase).map(|phase| agent * PHASES.len() + phase);
        let missing = || io::Error::other(format!("agent {agent} has no reply in phase `{phase}`"));
        let [begin, end] = index.and_then(|index| self.bounds.get(index..index + 2)).ok_or_else(missing)?
        else {
            return Err(missing());
        };
        let mut line = vec![0; (end - begin) as usize];
        self.file.read_exact_at(&mut line, *begin)?;
        Ok(line)
    }
}

/// Returns the replies of an agent, in the order of [`PHASES`].
fn replies(pid: u32, agent: &AgentOutcome) -> [Reply; PHASES.len()] {
    let hello = Hello {
        protocol: PROTOCOL,
        pid,
        roles: vec![agent.endpoint.role],
        clock: clock_of(&agent.endpoint.place.host),
        libraries: Vec::new(),
        driver: describe(&agent.endpoint.driver, false),
    };
    [
        Reply::Hello(Box::new(hello)),
        Reply::Configured(Box::new(agent.configured.clone())),
        Reply::Matched { waited_ns: agent.matched_ns, at_ns: 0 },
        Reply::WarmedUp,
        Reply::Measured(MeasureReply { sent: agent.sent }),
        Reply::Drained { complete: agent.drained },
        Reply::Report(Box::new(agent.report.clone())),
        Reply::Bye,
    ]
}
