//! The loads that are tried: a range in steps of one ratio, so that goals meet at the same loads and share trials.

use super::Refused;

/// Where to search, in samples/s offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loads {
    /// The lowest load. If that is too much, there is no result.
    pub floor_sps: f64,
    /// The highest load. If that is sustained, nobody knows what more would be.
    pub ceiling_sps: f64,
    /// The first load: what is thought to be possible, as of a run with back-pressure.
    pub start_sps: f64,
}

impl Loads {
    pub(super) fn check(&self, shortest_ns: u64) -> Result<(), Refused> {
        let &Self { floor_sps, ceiling_sps, start_sps } = self;
        let is_range = floor_sps > 0.0 && floor_sps < ceiling_sps && (ceiling_sps / floor_sps).is_finite();
        if !is_range || !(floor_sps..=ceiling_sps).contains(&start_sps) {
            return Err(Refused::NoRange { floor_sps, ceiling_sps, start_sps });
        }
        if floor_sps * shortest_ns as f64 / 1e9 < 1.0 {
            return Err(Refused::FloorTooLow { floor_sps, shortest_ns });
        }
        Ok(())
    }
}

/// From floor to ceiling in equal ratios, each narrower than the narrowest goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    loads: Loads,
    /// The logarithm of a step.
    step: f64,
    last: u32,
}

impl Grid {
    pub fn new(loads: Loads, narrowest: f64) -> Self {
        let span = (loads.ceiling_sps / loads.floor_sps).ln();
        // one more than fit, so that rounding makes none too wide
        let last = (span / log_width(narrowest)).floor() as u32 + 1;
        Self { loads, step: span / f64::from(last), last }
    }

    /// The highest load's number; the lowest one's is 0.
    pub const fn last(&self) -> u32 {
        self.last
    }

    pub fn load(&self, number: u32) -> f64 {
        match number {
            0 => self.loads.floor_sps,
            number if number == self.last => self.loads.ceiling_sps,
            number => self.loads.floor_sps * (self.step * f64::from(number)).exp(),
        }
    }

    pub fn nearest(&self, load_sps: f64) -> u32 {
        // a conversion to a whole number keeps to what fits
        (((load_sps / self.loads.floor_sps).ln() / self.step).round() as u32).min(self.last)
    }

    /// How many steps are no wider than this.
    pub fn steps_in(&self, width: f64) -> u32 {
        (log_width(width) / self.step * (1.0 - 1e-12)).floor().max(1.0) as u32
    }
}

/// The logarithm of the ratio of two loads that lie so far apart, relative to the upper one.
fn log_width(width: f64) -> f64 {
    -(-width).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(floor_sps: f64, ceiling_sps: f64, width: f64) -> Grid {
        Grid::new(Loads { floor_sps, ceiling_sps, start_sps: floor_sps }, width)
    }

    #[test]
    fn neighbours_are_no_farther_apart_than_the_narrowest_goal() {
        for width in [1e-4, 0.005, 0.01, 0.3, 0.99] {
            for (floor, ceiling) in [(1.0, 1e5), (1e3, 1.0005e3), (0.2, 1e9), (1.0, 1.0 / 0.99)] {
                let grid = grid(floor, ceiling, width);
                assert_eq!((grid.load(0), grid.load(grid.last())), (floor, ceiling));
                for number in 0..grid.last() {
                    let (low, high) = (grid.load(number), grid.load(number + 1));
                    assert!(low < high && high - low <= width * high, "{width}: {low} {high}");
                    assert_eq!(grid.nearest(low), number);
                }
            }
        }
    }

    #[test]
    fn a_wider_goal_has_more_steps_and_no_wider_ones() {
        let grid = grid(1.0, 1e5, 0.01);
        assert_eq!(grid.steps_in(0.01), 1);
        for width in [0.01, 0.0199, 0.05, 0.5] {
            let steps = grid.steps_in(width);
            let (low, high) = (grid.load(100), grid.load(100 + steps));
            assert!(high - low <= width * high, "{width}: {steps}");
            assert!(grid.load(101 + steps) - low > width * grid.load(101 + steps), "{width}: {steps}");
        }
    }
}
