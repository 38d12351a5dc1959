//! Event rates over many experiments.

use statrs::function::beta::inv_beta_reg;

/// Number of events and of experiments.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub times: u32,
    pub of: u32,
}

impl Rate {
    #[allow(dead_code, reason = "not all who count make the experiments one by one")]
    pub fn of(experiments: u32, mut happens: impl FnMut() -> bool) -> Self {
        Self { times: (0..experiments).map(|_| u32::from(happens())).sum(), of: experiments }
    }

    pub fn share(self) -> f64 {
        f64::from(self.times) / f64::from(self.of)
    }

    /// Returns the pooled counts.
    #[allow(dead_code, reason = "not all who count join counts")]
    pub fn and(self, other: Self) -> Self {
        Self { times: self.times + other.times, of: self.of + other.of }
    }

    /// Returns the 95 % Clopper-Pearson interval.
    pub fn bounds(self) -> (f64, f64) {
        let (times, of) = (f64::from(self.times), f64::from(self.of));
        let low = if self.times == 0 { 0.0 } else { inv_beta_reg(times, of - times + 1.0, 0.025) };
        let high = if self.times == self.of { 1.0 } else { inv_beta_reg(times + 1.0, of - times, 0.975) };
        (low, high)
    }
}
