//! Values of rows.

/// Percents of the percentiles of a row.
pub const PERCENTS: [&str; 5] = ["50", "90", "99", "99.99", "99.9999"];

/// Percentiles of RTT/2 in µs, in the order of [`PERCENTS`]; `None` if there is no value. An infinite value stands for
/// echoes that never came.
pub type Percentiles = [Option<f64>; 5];

/// Row of a publisher during the test. Times are RTT/2 in µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyInterval {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Newest value.
    pub latency_us: f64,
    /// Mean since the start.
    pub ave_us: f64,
    /// Standard deviation since the start; `None` with fewer than two values.
    pub std_us: Option<f64>,
    /// Minimum since the start.
    pub min_us: f64,
    /// Maximum since the start.
    pub max_us: f64,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Row of a publisher at the end of a size. Times are RTT/2 in µs, `None` if there is no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyRow {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Number of values.
    pub samples: u64,
    /// Mean.
    pub ave_us: Option<f64>,
    /// Standard deviation.
    pub std_us: Option<f64>,
    /// Minimum.
    pub min_us: Option<f64>,
    /// Maximum.
    pub max_us: Option<f64>,
    /// Percentiles that the samples support.
    pub percentiles: Percentiles,
    /// Values of the histogram at the other percentiles, if the rows have numbers in each column.
    pub unsupported: Percentiles,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Row of a subscriber during the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputInterval {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Samples since the start.
    pub samples: u64,
    /// Samples per second since the row before.
    pub samples_per_s: f64,
    /// Samples per second since the start.
    pub samples_per_s_ave: f64,
    /// Megabits per second since the row before.
    pub mbps: f64,
    /// Megabits per second since the start.
    pub mbps_ave: f64,
    /// Lost samples since the start; `None` if unknown.
    pub lost: Option<u64>,
    /// Lost samples in percent of those sent; `None` if unknown.
    pub lost_percent: Option<f64>,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

/// Row of a subscriber at the end of a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputRow {
    /// Size of the samples in bytes.
    pub size: u64,
    /// Samples.
    pub samples: u64,
    /// Samples per second.
    pub samples_per_s: f64,
    /// Megabits per second.
    pub mbps: f64,
    /// Lost samples; `None` if unknown.
    pub lost: Option<u64>,
    /// Lost samples in percent of those sent; `None` if unknown.
    pub lost_percent: Option<f64>,
    /// CPU time of the process in percent of all cores; `None` if unknown.
    pub cpu_percent: Option<f64>,
}

impl LatencyRow {
    /// Returns the percentiles that rows print.
    pub(super) fn printed(&self) -> Percentiles {
        std::array::from_fn(|place| self.percentiles[place].or(self.unsupported[place]))
    }
}
