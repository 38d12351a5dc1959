//! Model of a page: everything that it says, before it is HTML.

use charts::{Chart, Estimate, Interval, Series, Slot};
use report::parts::{DataTable, NoteList, SettingsGroup};

/// Page about one result.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Title of the document.
    pub title: String,
    /// Tool, date and host, in the line above the question.
    pub eyebrow: Vec<String>,
    /// Question that the experiment answers.
    pub question: String,
    /// Answer: at most four sentences.
    pub answer: Vec<Sentence>,
    /// Whether the host was fit for the question.
    pub fitness: Fitness,
    /// Figures of each series; `None` without values.
    pub key_figures: Option<KeyFigures>,
    /// Topics of systems, those that suffer first at the top; `None` without deadlines.
    pub topics: Option<DataTable>,
    /// Host and date, in the line below the title of each chart.
    pub origin: String,
    /// Charts under their headings.
    pub sections: Vec<Section>,
    /// Charts that are left out, and why.
    pub omitted: Vec<String>,
    /// Failures, costs of settings, verdicts, findings and warnings; empty lists are absent.
    pub notes: Vec<NoteList>,
    /// Verdicts, one per row, if there are too many for a list.
    pub verdicts: Option<DataTable>,
    /// Facts about the measurement: drivers, hosts, design, noise, date.
    pub facts: Vec<(String, String)>,
    /// Effective QoS and settings of each group of cells.
    pub settings: Vec<SettingsGroup>,
    /// Support of each QoS policy by the drivers.
    pub policies: DataTable,
    /// Frames on the links of a lab.
    pub links: Vec<DataTable>,
    /// Published figures that are drawn, with their sources and what differs.
    pub published: Vec<String>,
    /// Command that repeats the measurement; `None` if it is unknown.
    pub command: Option<String>,
    /// Values of each cell, one table per kind of workload.
    pub cells: Vec<DataTable>,
    /// All runs.
    pub rows: DataTable,
    /// Meaning of the headings.
    pub legend: Vec<String>,
    /// Intervals of the key figures and charts, in a sentence.
    pub footer: String,
}

/// Sentence with emphasis.
pub type Sentence = Vec<Words>;

/// Part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Plain text.
    Plain(String),
    /// Name of a series, in its colour.
    Name(Series),
    /// Claim or value.
    Strong(String),
}

impl Words {
    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Strong(text) => text,
            Self::Name(series) => &series.name,
        }
    }
}

/// Fitness of the host, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitness {
    /// Worst grade of the checks.
    pub grade: Grade,
    /// Checks.
    pub checks: Vec<Check>,
}

/// Check of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Name.
    pub name: &'static str,
    /// Grade.
    pub grade: Grade,
    /// Reason.
    pub text: String,
}

/// Grade of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// No objection.
    Fit,
    /// Read with care.
    Care,
    /// Small differences cannot be seen.
    Unfit,
}

/// Figures of each series.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFigures {
    /// Columns, at most four.
    pub columns: Vec<KeyColumn>,
    /// Rows, one per series.
    pub rows: Vec<KeyRow>,
    /// Number of the rows among all series, and the reason of the choice; empty if all are shown.
    pub part: String,
}

/// Column of key figures.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyColumn {
    /// Heading: metric and fixed factors.
    pub heading: String,
    /// Unit, with the sign of the direction that is better.
    pub unit: String,
    /// Range of the marks, from 0.
    pub range: Interval,
}

/// Series with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRow {
    /// Name and colour.
    pub series: Series,
    /// Middleware and version.
    pub detail: String,
    /// Figures in the order of the columns; `None` if there is no value.
    pub figures: Vec<Option<KeyFigure>>,
}

/// Figure with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFigure {
    /// Formatted value, in the unit of the column.
    pub text: String,
    /// Subject of the value, as the worst flow of a mix; empty if it is the whole configuration.
    pub of: String,
    /// Formatted interval; may be empty.
    pub interval: String,
    /// Value with its interval, for the mark.
    pub estimate: Estimate,
}

/// Charts under a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading: a question.
    pub heading: &'static str,
    /// Charts.
    pub figures: Vec<Figure>,
}

/// Chart with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Identifier, unique on the page, and name of its file.
    pub id: String,
    /// Short name for navigation.
    pub short: &'static str,
    /// Chart.
    pub chart: Chart,
}

/// Returns a plain part of a sentence.
pub(crate) fn plain(text: impl Into<String>) -> Words {
    Words::Plain(text.into())
}

/// Returns an emphasized part of a sentence.
pub(crate) fn strong(text: impl Into<String>) -> Words {
    Words::Strong(text.into())
}

/// Returns the class of a grade.
pub(crate) const fn class(grade: Grade) -> &'static str {
    match grade {
        Grade::Fit => "fit",
        Grade::Care => "care",
        Grade::Unfit => "unfit",
    }
}

/// Returns colour and shape of a series at a position among those that are no bare socket. Beyond the twelfth they repeat: charts with more
/// have fields or rows with names.
pub(crate) const fn slot(position: usize) -> Slot {
    Slot::SERIES[1 + position % (Slot::SERIES.len() - 1)]
}
