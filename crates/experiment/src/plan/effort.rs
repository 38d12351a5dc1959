//! Presets of the number and duration of runs.

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// Preset of the number and duration of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// First look.
    Quick,
    /// Default.
    Standard,
    /// Values to quote.
    Precise,
}

impl Effort {
    /// Returns `(runs of each cell, warm-up in ns, measured time in ns)`.
    #[must_use]
    pub const fn times(self) -> (u32, u64, u64) {
        match self {
            Self::Quick => (3, 50 * MS, 200 * MS),
            Self::Standard => (3, 200 * MS, 800 * MS),
            Self::Precise => (10, SECOND, 5 * SECOND),
        }
    }
}
