//! Limits of what a chart shows.

/// Maximum number of series in a chart with a panel or a row for each.
pub(crate) const MOST_SERIES: usize = 12;
/// Maximum number of series in one panel.
pub(crate) const ONE_PANEL: usize = 4;
