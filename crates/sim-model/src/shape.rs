//! Changes over time: warm-up, level changes and stalls.

/// Factor of the latency as a function of the time within a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shape {
    /// Constant factor 1.
    #[default]
    Flat,
    /// Linear change from the factor to 1.
    Ramp {
        /// Initial factor.
        factor: f64,
        /// Time at which the factor reaches 1, in ns.
        ns: f64,
    },
    /// The factor until a time, then 1.
    Step {
        /// Initial factor.
        factor: f64,
        /// Time of the change, in ns.
        ns: f64,
    },
    /// Alternation: 1 for the first half of each period, the factor for the second half.
    Cycle {
        /// Factor in the second half of a period.
        factor: f64,
        /// Period in ns.
        ns: f64,
    },
    /// 1 until a time, then the factor.
    Slowdown {
        /// Final factor.
        factor: f64,
        /// Time of the change, in ns.
        ns: f64,
    },
}

impl Shape {
    /// Returns the factor at a time since the start of the run.
    #[must_use]
    pub fn factor(&self, at_ns: u64) -> f64 {
        let at = at_ns as f64;
        match *self {
            Self::Flat => 1.0,
            Self::Ramp { factor, ns } => factor + (1.0 - factor) * (at / ns).min(1.0),
            Self::Step { factor, ns } => {
                if at < ns {
                    factor
                } else {
                    1.0
                }
            }
            Self::Cycle { factor, ns } => {
                if at % ns < ns / 2.0 {
                    1.0
                } else {
                    factor
                }
            }
            Self::Slowdown { factor, ns } => {
                if at < ns {
                    1.0
                } else {
                    factor
                }
            }
        }
    }
}

/// Periodic stall: at the end of each period nothing moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Period in ns, from the end of a stall to the end of the next one.
    pub period_ns: u64,
    /// Length of a stall in ns; less than the period.
    pub length_ns: u64,
}

impl Stall {
    /// Returns when an event that is due at `at_ns` happens: at the end of the stall if `at_ns` is in one. Times are
    /// since the start of the run.
    #[must_use]
    pub const fn postpone(&self, at_ns: u64) -> u64 {
        let into = at_ns % self.period_ns;
        if into >= self.period_ns - self.length_ns {
            at_ns.saturating_add(self.period_ns - into)
        } else {
            at_ns
        }
    }

    /// Returns the completion time of work that starts at `at_ns` and takes `takes_ns`. No work is done during a
    /// stall.
    #[must_use]
    pub const fn work(&self, at_ns: u64, takes_ns: u64) -> u64 {
        let open = self.period_ns - self.length_ns;
        let begin = self.postpone(at_ns);
        let (period, done) = (begin / self.period_ns, (begin % self.period_ns).saturating_add(takes_ns));
        // Work that ends exactly at the start of a stall is complete before the stall.
        let stalls = done.saturating_sub(1) / open;
        (period * self.period_ns).saturating_add(done).saturating_add(stalls.saturating_mul(self.length_ns))
    }

    /// Returns the share of time outside stalls.
    #[must_use]
    pub fn open_share(&self) -> f64 {
        1.0 - self.length_ns as f64 / self.period_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_has_its_factor_before_and_after() {
        let (factor, ns) = (3.0, 100.0);
        let at = |shape: Shape| [0, 25, 50, 99, 100, 130, 175].map(|at| shape.factor(at));
        assert_eq!(at(Shape::Flat), [1.0; 7]);
        assert_eq!(at(Shape::Ramp { factor, ns }), [3.0, 2.5, 2.0, 1.02, 1.0, 1.0, 1.0]);
        assert_eq!(at(Shape::Step { factor, ns }), [3.0, 3.0, 3.0, 3.0, 1.0, 1.0, 1.0]);
        assert_eq!(at(Shape::Cycle { factor, ns }), [1.0, 1.0, 3.0, 3.0, 1.0, 1.0, 3.0]);
        assert_eq!(at(Shape::Slowdown { factor, ns }), [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn nothing_moves_in_a_stall() {
        let stall = Stall { period_ns: 100, length_ns: 10 };
        assert_eq!([0, 89, 90, 99, 100, 195].map(|at| stall.postpone(at)), [0, 89, 100, 100, 100, 200]);
        // Start outside and inside a stall; end before, at and after a stall; work across two stalls.
        let done = [(0, 0), (0, 89), (0, 90), (0, 91), (95, 5), (80, 20), (0, 180), (0, 181)]
            .map(|(at, takes)| stall.work(at, takes));
        assert_eq!(done, [0, 89, 90, 101, 105, 110, 190, 201]);
        assert_eq!(stall.open_share(), 0.9);
    }
}
