//! Colours and fonts of charts and pages.

use crate::model::Slot;

/// Fonts of charts and pages: faces that are not much wider than the space that charts reserve for text.
pub const FONT_STACK: &str =
    "\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,\"Noto Sans\",\"Liberation Sans\",sans-serif";

/// Strongest opacity of a field of a heat table: its text stays readable.
pub(crate) const STRONGEST_FIELD: f64 = 0.4;

/// Colours as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Background of the page, and of charts.
    pub background: &'static str,
    /// Background of boxes.
    pub panel: &'static str,
    /// Text.
    pub ink: &'static str,
    /// Less important text.
    pub muted: &'static str,
    /// Axes.
    pub axis: &'static str,
    /// Grid lines.
    pub grid: &'static str,
    /// Series, by the colour of their [`Slot`].
    pub series: [&'static str; 5],
    /// Fit.
    pub fit: &'static str,
    /// Fit with care.
    pub care: &'static str,
    /// Unfit.
    pub unfit: &'static str,
    /// Noise floor, noisy stretches and gaps.
    pub noise: &'static str,
}

/// Colours for light backgrounds and print.
pub const LIGHT: Palette = Palette {
    background: "#ffffff",
    panel: "#f6f7f8",
    ink: "#15191e",
    muted: "#56606b",
    axis: "#7f8993",
    grid: "#e3e6e9",
    series: ["#5b6570", "#0b4fb8", "#b5560b", "#125a46", "#6d1260"],
    fit: "#00705a",
    care: "#8a5a00",
    unfit: "#b3261e",
    noise: "#d9dde1",
};

/// Colours for dark backgrounds.
pub const DARK: Palette = Palette {
    background: "#13171b",
    panel: "#1b2026",
    ink: "#e9edf1",
    muted: "#a3adb8",
    axis: "#727d88",
    grid: "#2b323a",
    series: ["#a0aab4", "#4f9fff", "#f0a05a", "#7ff0cb", "#ff4f9a"],
    fit: "#4bcfa9",
    care: "#e8b04b",
    unfit: "#ff8f85",
    noise: "#39424b",
};

impl Palette {
    /// Returns the colour of a series.
    #[must_use]
    pub fn slot(&self, slot: Slot) -> &'static str {
        slot.colour().map_or(self.ink, |colour| self.series[colour])
    }

    /// Returns each custom property of CSS, without `--`, with its colour.
    pub(crate) fn properties(&self) -> [(&'static str, &'static str); 15] {
        [
            ("bg", self.background),
            ("panel", self.panel),
            ("ink", self.ink),
            ("muted", self.muted),
            ("axis", self.axis),
            ("grid", self.grid),
            ("s0", self.series[0]),
            ("s1", self.series[1]),
            ("s2", self.series[2]),
            ("s3", self.series[3]),
            ("s4", self.series[4]),
            ("fit", self.fit),
            ("care", self.care),
            ("unfit", self.unfit),
            ("noise", self.noise),
        ]
    }
}
