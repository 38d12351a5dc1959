//! Cells whose endpoints share too few cores.

use std::fmt;

use experiment::{Design, Factors, Pin, Shape};

use crate::{CellResult, Host, ResultDocument};

/// Endpoints that share fewer cores than there are of them: they wait for each other, so the values are not those of a
/// host with a core for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crowding {
    /// Number of driving endpoints.
    pub driving: usize,
    /// Number of serving endpoints.
    pub serving: usize,
    /// Number of cores that they share.
    pub cores: usize,
}

impl Crowding {
    /// Returns the crowding of the runs of a cell; `None` if each endpoint has a core.
    #[must_use]
    pub fn of(factors: &Factors, design: &Design, host: &Host) -> Option<Self> {
        let shape = Shape::of(factors, design);
        let (driving, serving) = (shape.driving().count(), shape.serving().count());
        let has_room = |endpoints: usize, cores: &[u32]| endpoints <= cores.len();
        let (fits, cores) = match &design.pin {
            // A simulated host has no cores.
            Pin::None if host.cpus == 0 => return None,
            Pin::None => (driving + serving <= host.cpus as usize, host.cpus as usize),
            Pin::Cores(of_driving, of_serving) => {
                let mut cores = [&of_driving[..], of_serving].concat();
                cores.sort_unstable();
                cores.dedup();
                let fits = has_room(driving, of_driving)
                    && has_room(serving, of_serving)
                    && has_room(driving + serving, &cores);
                (fits, cores.len())
            }
        };
        (!fits).then_some(Self { driving, serving, cores })
    }
}

impl fmt::Display for Crowding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { driving, serving, cores } = self;
        let core = if *cores == 1 { "core" } else { "cores" };
        match serving {
            0 => write!(f, "{driving} driving endpoints share {cores} {core}"),
            _ => write!(f, "{driving} driving and {serving} serving endpoints share {cores} {core}"),
        }
    }
}

impl ResultDocument {
    /// Returns the crowding of a cell; `None` if each endpoint has a core.
    #[must_use]
    pub fn crowding(&self, cell: &CellResult) -> Option<Crowding> {
        Crowding::of(&cell.factors, &self.experiment.design, &self.host)
    }

    /// Returns the largest crowding of these cells, by the number of endpoints, and the number of crowded cells.
    #[must_use]
    pub fn most_crowded<'c>(&self, cells: impl Iterator<Item = &'c CellResult>) -> Option<(Crowding, usize)> {
        let crowded: Vec<Crowding> = cells.filter_map(|cell| self.crowding(cell)).collect();
        let most = crowded.iter().max_by_key(|of| (of.driving + of.serving, **of))?;
        Some((*most, crowded.len()))
    }
}
