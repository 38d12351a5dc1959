//! What changes with time: warm-up and its like, and stalls.

/// How latency changes over a run: a factor over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shape {
    /// It does not.
    #[default]
    Flat,
    /// From the factor at the beginning straight to 1.
    Ramp {
        /// The factor at the beginning.
        factor: f64,
        /// When 1 is reached.
        ns: f64,
    },
    /// The factor at first, then 1.
    Step {
        /// The factor.
        factor: f64,
        /// When it ends.
        ns: f64,
    },
    /// For half a period 1, for the other half the factor, again and again.
    Cycle {
        /// The factor.
        factor: f64,
        /// The whole period.
        ns: f64,
    },
    /// First 1, then the factor for good.
    Slowdown {
        /// The factor.
        factor: f64,
        /// When it begins.
        ns: f64,
    },
}

impl Shape {
    /// The factor at a time since the beginning.
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

/// Again and again nothing moves for a while: at the end of each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// From the end of one to the end of the next.
    pub period_ns: u64,
    /// How long; less than the period.
    pub length_ns: u64,
}

impl Stall {
    /// What would happen at this time (since the beginning) happens then.
    #[must_use]
    pub const fn postpone(&self, at_ns: u64) -> u64 {
        let into = at_ns % self.period_ns;
        if into >= self.period_ns - self.length_ns {
            at_ns.saturating_add(self.period_ns - into)
        } else {
            at_ns
        }
    }

    /// When work that begins at this time, and takes so long, is done: nothing is worked in a stall.
    #[must_use]
    pub const fn work(&self, at_ns: u64, takes_ns: u64) -> u64 {
        let open = self.period_ns - self.length_ns;
        let begin = self.postpone(at_ns);
        let (period, done) = (begin / self.period_ns, (begin % self.period_ns).saturating_add(takes_ns));
        // work that ends just where a stall begins is done before it
        let stalls = done.saturating_sub(1) / open;
        (period * self.period_ns).saturating_add(done).saturating_add(stalls.saturating_mul(self.length_ns))
    }

    /// The share of time that is not stalled.
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
        // begun outside and inside, ended before, at and behind a stall, over two stalls
        let done = [(0, 0), (0, 89), (0, 90), (0, 91), (95, 5), (80, 20), (0, 180), (0, 181)]
            .map(|(at, takes)| stall.work(at, takes));
        assert_eq!(done, [0, 89, 90, 101, 105, 110, 190, 201]);
        assert_eq!(stall.open_share(), 0.9);
    }
}
