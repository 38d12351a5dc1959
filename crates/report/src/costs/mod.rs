//! Cost of settings: for each QoS profile its effect on every metric beside loss, CPU and bytes, as sentences and as a table.

mod beside_published;
mod brief;
mod sentences;

pub(crate) use beside_published::LEGEND as BESIDE_PUBLISHED;
pub use brief::Span;
pub(crate) use brief::brief;
pub(crate) use sentences::{TablePlace, sentences};

use experiment::{FACTORS, Factors, gather};
use results::{
    CellResult, Conclusion, EffectEstimate, EffectOverBases, MAX_LATENCY_LOSS_PCT, Metric, ResultDocument,
    Ring, Verdict, VerdictKind, format_micros, format_signed, format_value,
};
use stats::median;

use crate::{layout::Grid, number::count, short_name};

/// Fewest settings that are a table of costs; fewer are a list of verdicts.
const LEAST_SETTINGS: usize = 5;
/// Factors in which cells of one table may differ.
const OF_TABLE: [&str; 3] = ["profile", "qos", "in_flight"];
/// Level of p-values that are worth another measurement.
const EXPLORATORY: f64 = 0.05;

/// Legend of the table.
pub(crate) const LEGEND: &str = "Intervals hold for all comparisons at once (95 %). The row A/A is the baseline against itself: the noise floor. Entries with \
    a slash are of the round trip and of the flood. AVERAGE and AVERAGE 2 are means of odd and of even blocks, over all bases measured; \
    `--overlay seed-003` shows published ones beside them. Wire: bytes received on the interface, by all programs.";

/// Costs of the settings of one driver in one topology.
pub(crate) struct Costs<'d> {
    /// Name: driver and topology.
    pub title: String,
    rows: Vec<Row<'d>>,
    columns: Vec<Column>,
    over_bases: Vec<&'d EffectOverBases>,
    document: &'d ResultDocument,
}

/// Metric of the cells with a number of samples in flight.
#[derive(Clone, Copy, PartialEq)]
struct Column {
    in_flight: Option<u32>,
    metric: Metric,
}

/// Half of the blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Odd,
    Even,
}

impl Half {
    const fn has(self, block: u32) -> bool {
        block.is_multiple_of(2) == matches!(self, Self::Even)
    }
}

/// Setting with its cells, one for each number of samples in flight.
struct Row<'d> {
    setting: &'d str,
    cells: Vec<&'d CellResult>,
    verdicts: Vec<&'d Verdict>,
}

/// Returns the costs of each driver and topology; empty if the result compares few profiles.
pub(crate) fn costs(document: &ResultDocument) -> Vec<Costs<'_>> {
    let plan = &document.experiment;
    let of_first_tier = document.cells.iter().filter(|cell| !plan.is_of_second_tier(&cell.id));
    let groups: Vec<Vec<&CellResult>> = gather(
        of_first_tier.filter(|cell| cell.factors.profile.is_some()),
        |cell| (cell.factors.driver.clone(), cell.factors.base.clone()),
        |a, b| is_one_table(&a.factors, &b.factors),
    );
    let several = |of: fn(&Factors) -> String| {
        groups.iter().any(|group| of(&group[0].factors) != of(&groups[0][0].factors))
    };
    let topology: fn(&Factors) -> String = |factors| factors.topology.to_string();
    let base: fn(&Factors) -> String = |factors| format!("base {}", factors.base_name());
    let differing: Vec<fn(&Factors) -> String> =
        [topology, base].into_iter().filter(|of| several(*of)).collect();
    let title = |factors: &Factors| {
        let names = differing.iter().map(|of| format!(", {}", of(factors)));
        std::iter::once(short_name(&factors.driver).to_owned()).chain(names).collect::<String>()
    };
    let costs = groups.iter().filter_map(|cells| Costs::new(document, cells, title(&cells[0].factors)));
    costs.collect()
}

/// Returns whether cells are rows of one table.
fn is_one_table(a: &Factors, b: &Factors) -> bool {
    FACTORS.iter().all(|row| OF_TABLE.contains(&row.key) || row.same(a, b))
}

impl<'d> Costs<'d> {
    fn new(document: &'d ResultDocument, cells: &[&'d CellResult], title: String) -> Option<Self> {
        let mut rows: Vec<Row<'d>> = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        for &cell in cells {
            let setting = cell.factors.profile.as_deref()?;
            let verdicts = document.verdicts.iter().filter(|verdict| {
                let is_change = verdict.kind == VerdictKind::Comparison && verdict.metric != Metric::Arrived;
                let is_floor = verdict.kind == VerdictKind::NoiseFloor;
                verdict.treatment.cell == cell.id && (is_change || is_floor)
            });
            let verdicts: Vec<&Verdict> = verdicts.collect();
            for verdict in &verdicts {
                let column = Column { in_flight: cell.factors.in_flight, metric: verdict.metric };
                // The RTT of samples that wait for each other is not a cost by itself.
                let is_shown = column.in_flight.is_none() || verdict.metric == Metric::SampleHop;
                if is_shown && !columns.contains(&column) {
                    columns.push(column);
                }
            }
            match rows.iter_mut().find(|row| row.setting == setting) {
                Some(row) => {
                    row.cells.push(cell);
                    row.verdicts.extend(verdicts);
                }
                None => rows.push(Row { setting, cells: vec![cell], verdicts }),
            }
        }
        let first = *columns.first()?;
        let compared = rows.iter().filter(|row| row.verdicts.iter().any(|of| !is_floor(of))).count();
        if compared < LEAST_SETTINGS {
            return None;
        }
        let effect = |row: &Row<'_>| row.change(first).unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|left, right| effect(right).total_cmp(&effect(left)));
        let over_bases = document.over_bases.iter().filter(|effect| {
            let of = document.cells.iter().find(|cell| cell.id == effect.cell);
            of.is_some_and(|of| is_one_table(&of.factors, &cells[0].factors))
        });
        Some(Self { title, rows, columns, over_bases: over_bases.collect(), document })
    }

    /// Returns the mean time per hop with a setting in ns, of a round trip or of a sample among several in flight, over all bases and the
    /// blocks of this half. `None` unless it is a ring.
    fn average(&self, row: &Row<'_>, in_flight: Option<u32>, half: Half) -> Option<f64> {
        let cell = row.cells.iter().find(|cell| cell.factors.in_flight == in_flight)?;
        let blocks =
            self.document.experiment.design.second_tier.as_ref().map_or(u32::MAX, |tier| tier.blocks);
        // What arrived is a biased selection if much was lost.
        let is_whole = |other: &&CellResult| other.shortfall().pct() <= MAX_LATENCY_LOSS_PCT;
        let cells = self.document.cells.iter().filter(|other| other.factors.same_setting(&cell.factors));
        let runs = cells.filter(is_whole);
        let runs = runs.flat_map(CellResult::claimed_runs);
        let in_blocks = runs.filter(|run| half.has(run.block) && run.block <= blocks);
        let per_hop = |ring: &Ring| match in_flight {
            None => ring.per_hop_mean_ns,
            Some(_) => ring.per_sample_hop_ns,
        };
        let values: Vec<f64> = in_blocks.filter_map(|run| per_hop(run.ring()?)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    fn name(&self, column: Column) -> String {
        let several = self.columns.iter().filter(|of| of.metric == column.metric).count() > 1;
        match column.in_flight.filter(|_| several) {
            Some(n) => format!("{} with {n} in flight", column.metric.words()),
            None => column.metric.words().to_owned(),
        }
    }

    /// Returns the table, sorted by the effect on the first metric.
    pub(crate) fn table(&self) -> Grid {
        let mut grid = Grid::default().left(["Setting"]);
        for column in &self.columns {
            grid = grid.right([format!("{} (%)", self.name(*column))]).left([""]);
        }
        let has_average = self.rows.iter().any(|row| self.average(row, None, Half::Odd).is_some());
        grid = grid.right(["Lost (%)", "CPU (µs/sample)", "Wire (B/sample)"]);
        if has_average {
            grid = grid.right(["AVERAGE (µs/hop)", "AVERAGE 2 (µs/hop)"]);
        }
        for row in &self.rows {
            let mut entries = vec![match row.is_baseline() {
                true => format!("{} (A/A)", row.setting),
                false => row.setting.to_owned(),
            }];
            for column in &self.columns {
                entries.extend(row.effect(*column));
            }
            let each = |of: &dyn Fn(&CellResult) -> String| {
                row.cells.iter().map(|cell| of(cell)).collect::<Vec<_>>().join(" / ")
            };
            entries.push(each(&|cell| format_value(cell.shortfall().pct())));
            entries.push(each(&|cell| {
                cell.cpu_ns_per_sample
                    .as_ref()
                    .map_or_else(|| "n/a".to_owned(), |cpu| format_value((cpu.writer + cpu.reader) / 1e3))
            }));
            entries.push(each(&|cell| wire_bytes(cell).map_or_else(|| "n/a".to_owned(), format_value)));
            if has_average {
                let average =
                    |half| self.average(row, None, half).map_or_else(|| "n/a".to_owned(), format_micros);
                entries.extend([average(Half::Odd), average(Half::Even)]);
            }
            grid.row(entries);
        }
        grid
    }

    /// Returns the table of effects over the bases, and how many differ between them; `None` without a second tier.
    pub(crate) fn over_bases(&self) -> Option<(String, Grid)> {
        let shown: Vec<&&EffectOverBases> =
            self.over_bases.iter().filter(|effect| effect.metric != Metric::RttP99).collect();
        let widest = shown.iter().max_by_key(|effect| effect.bases.len())?;
        let names: Vec<&str> = widest.bases.iter().map(|base| base.base.as_str()).collect();
        let mut grid = Grid::default()
            .left(["Setting", "Metric"])
            .right(["All bases (%)"])
            .left(["95 %", "Worth a look"]);
        for name in &names {
            grid = grid.right([name]);
        }
        grid = grid.left(["Bases differ"]);
        let is_small = |p: f64| p <= EXPLORATORY;
        let mut sorted = shown.clone();
        sorted.sort_by(|left, right| right.change_pct.total_cmp(&left.change_pct));
        for effect in &sorted {
            let cell = self.document.cells.iter().find(|cell| cell.id == effect.cell);
            let setting = cell.and_then(|cell| cell.factors.profile.clone()).unwrap_or_default();
            let interval = effect.low_pct.zip(effect.high_pct);
            let mut entries = vec![
                setting,
                effect.metric.words().to_owned(),
                format_signed(effect.change_pct),
                interval.map_or_else(String::new, |(low, high)| range(low, high)),
                if is_small(effect.p_exploratory) { "yes" } else { "no" }.to_owned(),
            ];
            for name in &names {
                let base = effect.bases.iter().find(|base| base.base == *name);
                let change = base.and_then(|base| base.change_pct);
                entries.push(change.map_or_else(|| "n/a".to_owned(), format_signed));
            }
            entries.push(match effect.p_differs_exploratory {
                Some(p) if is_small(p) => "yes".to_owned(),
                Some(_) => "no".to_owned(),
                None => "n/a".to_owned(),
            });
            grid.row(entries);
        }
        let worth = self.over_bases.iter().filter(|effect| is_small(effect.p_exploratory)).count();
        let differ =
            self.over_bases.iter().filter(|effect| effect.p_differs_exploratory.is_some_and(is_small));
        let text = format!(
            "{}: second tier, exploratory, {} over {}: different from the default in {worth}, different between bases in {}. Of \
             each of these lists at most 5 % are expected to be false (Benjamini-Hochberg); it supports no claim.",
            self.title,
            count(self.over_bases.len(), "effect"),
            count(names.len(), "base"),
            differ.count()
        );
        Some((text, grid))
    }
}

fn is_floor(verdict: &Verdict) -> bool {
    verdict.kind == VerdictKind::NoiseFloor
}

impl Row<'_> {
    fn is_baseline(&self) -> bool {
        self.verdicts.iter().all(|verdict| is_floor(verdict))
    }

    fn verdict(&self, column: Column) -> Option<&Verdict> {
        let cell = self.cells.iter().find(|cell| cell.factors.in_flight == column.in_flight)?;
        let is_of =
            |verdict: &&&Verdict| verdict.treatment.cell == cell.id && verdict.metric == column.metric;
        self.verdicts.iter().find(is_of).copied()
    }

    fn answer(&self, column: Column) -> Option<&EffectEstimate> {
        self.verdict(column)?.answer.as_ref()
    }

    fn change(&self, column: Column) -> Option<f64> {
        self.answer(column)?.change_pct
    }

    /// Returns the change in percent if it is claimed, and may be large enough to matter.
    fn claim(&self, column: Column) -> Option<f64> {
        let answer = self.answer(column)?;
        let matters = matches!(
            answer.conclusion,
            Conclusion::Higher { within_margin: false, .. } | Conclusion::Lower { within_margin: false, .. }
        );
        answer.change_pct.filter(|_| matters)
    }

    fn could_have_seen(&self, column: Column) -> Option<f64> {
        match self.answer(column)?.conclusion {
            Conclusion::Inconclusive { could_have_seen_pct } => could_have_seen_pct,
            _ => None,
        }
    }

    /// Returns the change with its simultaneous interval, and the verdict.
    fn effect(&self, column: Column) -> [String; 2] {
        let Some(verdict) = self.verdict(column) else { return ["-".to_owned(), "not measured".to_owned()] };
        let Some(answer) = &verdict.answer else { return ["n/a".to_owned(), "no verdict".to_owned()] };
        let interval = answer
            .simultaneous_pct
            .map_or_else(String::new, |[low, high]| format!(" ({})", range(low, high)));
        let change = answer.change_pct.map_or_else(|| "n/a".to_owned(), format_signed);
        let word = match answer.conclusion {
            Conclusion::Higher { .. } => "higher",
            Conclusion::Lower { .. } => "lower",
            Conclusion::Equivalent { .. } => "equivalent",
            Conclusion::Inconclusive { .. } => "inconclusive",
            Conclusion::TooFew { .. } => "too few blocks",
        };
        [format!("{change}{interval}"), word.to_owned()]
    }
}

/// Returns the bytes received per sample and round trip on the interface, by all programs.
fn wire_bytes(cell: &CellResult) -> Option<f64> {
    let of_run = |run: &results::Run| {
        let samples = run.latency.get("rtt")?.n;
        (samples > 0).then_some(run.wire.as_ref()?.rx_bytes as f64 / samples as f64)
    };
    median(&cell.claimed_runs().filter_map(of_run).collect::<Vec<_>>())
}

fn signed(pct: f64) -> String {
    format!("{} %", format_signed(pct))
}

fn range(low: f64, high: f64) -> String {
    format!("{}..{}", format_signed(low), format_signed(high))
}
