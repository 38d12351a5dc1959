//! Charts of the pages that quote measurements: `docs/explain/data/charts.toml` says what of which table each one draws.

use std::{
    fs,
    path::{Path, PathBuf},
};

use charts::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Claim, Colours, Estimate, Forest, ForestRow, Line,
    LineStyle, Lines, Panel, Point, Scale, Series, Slot, Unit, Width,
};
use serde::Deserialize;

use crate::{
    Error,
    page_tables::{Data, PAGES},
    root,
};

/// The file of all charts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Charts {
    chart: Vec<PageChart>,
}

/// Chart of a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageChart {
    /// Name of the chart: that of its file.
    name: String,
    /// Name of the table, if it is another one.
    table: Option<String>,
    title: String,
    better: Option<Direction>,
    subtitle: String,
    #[serde(default)]
    note: String,
    description: String,
    /// Kind of the intervals, as in `range of the runs`.
    #[serde(default)]
    intervals: String,
    /// Number of runs, host and date.
    footer: String,
    #[serde(default)]
    x: PageAxis,
    #[serde(default)]
    y: PageAxis,
    /// Columns that are drawn.
    #[serde(default)]
    series: Vec<PageSeries>,
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Direction {
    Lower,
    Higher,
}

/// Type of a chart.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// A line for each column, over the first one.
    Lines,
    /// A bar for each row, of the column that is the label of y; the label of x is that of the axis.
    Bars,
    /// A ratio for each row, of the column `ratio` with its interval.
    Ratios,
    /// A change in percent for each row, of the column that is the label of y, of which less is better; the column `claim` has the claim on it.
    Changes,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageAxis {
    #[serde(default)]
    label: String,
    #[serde(default)]
    unit: Unit,
    /// Number by which the values of the table are multiplied, as 1000 for µs.
    factor: Option<f64>,
    #[serde(default)]
    log: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageSeries {
    /// Heading of the column; with bars, text that the first cell of a row contains.
    of: String,
    #[serde(default)]
    name: String,
    /// Place among the series: 0 is a bare socket. Without it, the colour is that of text.
    slot: Option<usize>,
    #[serde(default)]
    style: LineStyle,
    /// Words that distinguish the line from another one of the same series.
    #[serde(default)]
    role: String,
}

impl PageAxis {
    fn axis(&self, ticks: Vec<f64>) -> Axis {
        let scale = if self.log { Scale::Log } else { Scale::FromZero };
        Axis { label: self.label.clone(), unit: self.unit, scale, ticks }
    }

    fn value(&self, text: &str) -> Option<f64> {
        text.parse::<f64>().ok().map(|value| value * self.factor.unwrap_or(1.0))
    }
}

impl PageSeries {
    fn series(&self) -> Series {
        Series::new(&self.name, self.slot.map_or(Slot::Ink, |slot| Slot::SERIES[slot]))
    }
}

impl PageChart {
    /// Returns the position of a column of the table.
    fn column(&self, data: &Data, heading: &str) -> Result<usize, Error> {
        let at = data.headings.iter().position(|found| found == heading);
        at.ok_or_else(|| format!("chart `{}`: the table has no column `{heading}`", self.name).into())
    }

    /// Returns the value in a column of a row, with the interval or range in the next two columns.
    fn estimate(&self, data: &Data, row: &[String], at: usize) -> Option<Estimate> {
        let value = self.y.value(&row[at])?;
        let has_interval = data.headings.get(at + 2).is_some_and(|heading| {
            heading
                .strip_prefix(data.headings[at].as_str())
                .is_some_and(|rest| [" max", " high"].contains(&rest))
        });
        let limits =
            if has_interval { self.y.value(&row[at + 1]).zip(self.y.value(&row[at + 2])) } else { None };
        Some(limits.map_or(Estimate::exact(value), |(low, high)| Estimate::within(value, low, high)))
    }

    fn lines(&self, data: &Data) -> Result<ChartKind, Error> {
        let xs: Vec<f64> = data.rows.iter().filter_map(|row| self.x.value(&row[0])).collect();
        let mut lines = Vec::new();
        for series in &self.series {
            let at = self.column(data, &series.of)?;
            let points = data
                .rows
                .iter()
                .filter_map(|row| Some(Point::new(self.x.value(&row[0])?, self.estimate(data, row, at)?)));
            lines.push(Line {
                series: series.series(),
                role: series.role.clone(),
                named: !series.name.is_empty(),
                style: series.style,
                points: points.collect(),
                ..Line::default()
            });
        }
        let panel = Panel { lines, ..Panel::default() };
        Ok(ChartKind::Lines(Lines { x: self.x.axis(xs), y: self.y.axis(Vec::new()), panels: vec![panel] }))
    }

    /// Returns a bar for each row whose first cell contains the name of a series.
    fn bars(&self, data: &Data) -> Result<ChartKind, Error> {
        let at = self.column(data, &self.y.label)?;
        let bars = data.rows.iter().filter_map(|row| {
            let series = self.series.iter().find(|series| row[0].contains(&series.of))?;
            let total = self.estimate(data, row, at)?;
            let words: Vec<&str> =
                row.iter().map_while(|cell| cell.parse::<f64>().err().and(Some(cell.as_str()))).collect();
            let name = words.join(", ").replace('`', "");
            Some(Bar { series: Series { name, ..series.series() }, parts: vec![total.value], total })
        });
        let groups = vec![BarGroup { label: String::new(), bars: bars.collect() }];
        let x = Axis { label: self.x.label.clone(), ..self.y.axis(Vec::new()) };
        Ok(ChartKind::Bars(Bars { x, group_label: String::new(), parts: Vec::new(), groups }))
    }

    /// Returns a ratio for each row.
    fn ratios(&self, data: &Data) -> Result<ChartKind, Error> {
        let (ratio, within) = (self.column(data, "ratio")?, self.column(data, "within")?);
        let mut rows = Vec::new();
        for row in &data.rows {
            let Some(estimate) = self.estimate(data, row, ratio) else { continue };
            let is_shown = row[within].ends_with('%');
            rows.push(ForestRow {
                group: row[0].replace('`', ""),
                label: format!("{}, {}", row[1].trim_end_matches(" *"), row[2]),
                ratio: estimate,
                claim: if is_shown { Claim::Equivalent } else { Claim::Inconclusive },
                slot: Slot::Ink,
                noise: None,
                words: if is_shown { format!("< {}", row[within]) } else { row[within].clone() },
                interval_words: String::new(),
            });
        }
        Ok(ChartKind::Forest(Forest {
            axis_label: self.x.label.clone(),
            margin: Some(1.05),
            rows,
            ..Forest::default()
        }))
    }

    /// Returns a change for each row.
    fn changes(&self, data: &Data) -> Result<ChartKind, Error> {
        let (change, claim) = (self.column(data, &self.y.label)?, self.column(data, "claim")?);
        let series = self.series.first().ok_or_else(|| format!("chart `{}` has no series", self.name))?;
        let ratio = |pct: f64| 1.0 + pct / 100.0;
        let mut rows = Vec::new();
        for row in &data.rows {
            let Some(pct) = self.estimate(data, row, change) else { continue };
            let claim = match row[claim].as_str() {
                "higher" => Claim::Worse,
                "lower" => Claim::Better,
                _ => Claim::Inconclusive,
            };
            let estimate = Estimate::exact(ratio(pct.value));
            rows.push(ForestRow {
                group: String::new(),
                label: row[0].clone(),
                ratio: pct.interval.map_or(estimate, |limits| {
                    Estimate::within(ratio(pct.value), ratio(limits.low), ratio(limits.high))
                }),
                claim,
                slot: if claim == Claim::Inconclusive { Slot::Ink } else { series.series().slot },
                noise: None,
                words: format!("{} %", row[change]).replace('-', "\u{2212}"),
                interval_words: format!("({} to {})", row[change + 1], row[change + 2])
                    .replace('-', "\u{2212}"),
            });
        }
        Ok(ChartKind::Forest(Forest { axis_label: self.x.label.clone(), rows, ..Forest::default() }))
    }

    fn draw(&self) -> Result<String, Error> {
        let table = format!("{}.csv", self.table.as_ref().unwrap_or(&self.name));
        let data = Data::read(&Path::new(PAGES).join("data").join(table))?;
        let kind = match self.kind {
            Kind::Lines => self.lines(&data),
            Kind::Bars => self.bars(&data),
            Kind::Ratios => self.ratios(&data),
            Kind::Changes => self.changes(&data),
        };
        let chart = Chart {
            title: self.title.clone(),
            better: self.better.as_ref().map(|direction| match direction {
                Direction::Lower => Better::Less,
                Direction::Higher => Better::More,
            }),
            subtitle: self.subtitle.clone(),
            note: self.note.clone(),
            description: self.description.clone(),
            interval_name: self.intervals.clone(),
            footer: self.footer.clone(),
            kind: kind?,
        };
        Ok(charts::standalone(&chart, Width::Wide, Colours::Preferred))
    }
}

/// Returns the charts of the pages: the path of each from the root of the tree, and its SVG.
///
/// # Errors
/// Returns an error if the list of charts or a table cannot be read, or if a table lacks a column that a chart names.
pub fn charts() -> Result<Vec<(PathBuf, String)>, Error> {
    let folder = Path::new(PAGES).join("data");
    let path = folder.join("charts.toml");
    let text = fs::read_to_string(root().join(&path))?;
    let list: Charts = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let draw = |chart: &PageChart| Ok((folder.join(format!("{}.svg", chart.name)), chart.draw()?));
    list.chart.iter().map(draw).collect()
}
