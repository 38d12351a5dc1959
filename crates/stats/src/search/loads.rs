//! Grid of loads: a range in steps of a constant ratio, so that goals use the same loads and share trials.

use super::SearchError;

/// Range of offered loads in samples/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loads {
    /// Lowest load. If it is not sustained, there is no result.
    pub floor_sps: f64,
    /// Highest load. If it is sustained, higher loads remain unknown.
    pub ceiling_sps: f64,
    /// First load: an estimate of the maximum, for example from a run with back-pressure.
    pub start_sps: f64,
}

impl Loads {
    pub(super) fn check(&self, shortest_ns: u64) -> Result<(), SearchError> {
        let &Self { floor_sps, ceiling_sps, start_sps } = self;
        let is_range = floor_sps > 0.0 && floor_sps < ceiling_sps && (ceiling_sps / floor_sps).is_finite();
        if !is_range || !(floor_sps..=ceiling_sps).contains(&start_sps) {
            return Err(SearchError::NoRange { floor_sps, ceiling_sps, start_sps });
        }
        if floor_sps * shortest_ns as f64 / 1e9 < 1.0 {
            return Err(SearchError::FloorTooLow { floor_sps, shortest_ns });
        }
        Ok(())
    }
}

/// Grid from floor to ceiling in steps of a constant ratio, each narrower than the narrowest goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    loads: Loads,
    /// Logarithm of the ratio between neighbouring loads.
    step: f64,
    /// Index of the highest load; that of the lowest is 0.
    pub(super) last: u32,
}

impl Grid {
    /// Creates a grid from the floor to the ceiling in steps narrower than `narrowest`, a share of the load.
    pub fn new(loads: Loads, narrowest: f64) -> Self {
        let span = (loads.ceiling_sps / loads.floor_sps).ln();
        // one step more than fits, so that rounding cannot make a step too wide
        let last = (span / log_width(narrowest)).floor() as u32 + 1;
        Self { loads, step: span / f64::from(last), last }
    }

    /// Returns the load with that number, in samples/s.
    pub fn load(&self, number: u32) -> f64 {
        match number {
            0 => self.loads.floor_sps,
            number if number == self.last => self.loads.ceiling_sps,
            number => self.loads.floor_sps * (self.step * f64::from(number)).exp(),
        }
    }

    /// Returns the number of the load nearest to one in samples/s.
    pub fn nearest(&self, load_sps: f64) -> u32 {
        // a float-to-integer cast saturates
        (((load_sps / self.loads.floor_sps).ln() / self.step).round() as u32).min(self.last)
    }

    /// Returns the number of steps within a relative width, at least 1.
    pub fn steps_in(&self, width: f64) -> u32 {
        (log_width(width) / self.step * (1.0 - 1e-12)).floor().max(1.0) as u32
    }
}

/// Returns the logarithm of the ratio of two loads with this width relative to the upper one.
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
                assert_eq!((grid.load(0), grid.load(grid.last)), (floor, ceiling));
                for number in 0..grid.last {
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
