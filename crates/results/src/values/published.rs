//! Values of a cell beside the published figures of its experiment.

use experiment::{Figure, Plan, Published, RttStatistic};
use stats::{Spread, median_interval};

use crate::schema::{CellResult, MeasuredValue, PublishedValue, ResultDocument, Run, latency::Latency};

/// Hops of the round trip of a pair.
const PAIR_HOPS: u16 = 2;

impl ResultDocument {
    /// Adds published figures beside the values of their cells, as if the experiment had had them. A system that it has already is
    /// left as it is.
    pub fn show_published(&mut self, tables: Vec<Published>) {
        for table in tables {
            if self.experiment.published.iter().all(|known| known.system != table.system) {
                self.experiment.published.push(table);
            }
        }
        for cell in &mut self.cells {
            cell.published = PublishedValue::beside(cell, &self.experiment);
        }
    }
}

impl PublishedValue {
    /// Returns the published figures of a cell, each with the measured value beside it, in the order of the plan.
    #[must_use]
    pub fn beside(cell: &CellResult, plan: &Plan) -> Vec<Self> {
        let of_table = |table: &Published| {
            let figures = table.figures.iter().filter(|figure| figure.cell == cell.id);
            let hops = cell.factors.topology.hops().unwrap_or(PAIR_HOPS);
            let value = |figure: &experiment::PublishedFigure| Self {
                system: table.system.clone(),
                batch_bytes: figure.batch_bytes,
                figure: figure.figure,
                published: figure.value,
                metric: metric(figure.figure),
                converted: figure.value * figure.figure.to_measured(hops),
                measured: MeasuredValue::of_cell(cell, figure.figure),
            };
            figures.map(value).collect::<Vec<_>>()
        };
        plan.published.iter().flat_map(of_table).collect()
    }
}

impl MeasuredValue {
    fn of_cell(cell: &CellResult, figure: Figure) -> Option<Self> {
        let values: Vec<f64> = cell.claimed_runs().filter_map(|run| value(run, figure)).collect();
        let Spread { n, min, median, max } = Spread::from_values(&values)?;
        let interval = median_interval(&values);
        let (ci_low, ci_high) = (interval.map(|(low, _)| low), interval.map(|(_, high)| high));
        Some(Self { n: n as u32, median, min, max, ci_low, ci_high })
    }
}

/// Returns the value of a run that a figure is shown beside, in the unit of [`metric`].
fn value(run: &Run, figure: Figure) -> Option<f64> {
    let throughput = run.throughput();
    match (figure, figure.statistic()) {
        (_, Some(of)) => statistic(run.latency.get("rtt")?, of),
        (Figure::Delivered, None) => Some(throughput?.delivered_sps),
        (Figure::Goodput, None) => Some(throughput?.goodput_mbps),
        (Figure::TwoHopsPerSample, None) => run.ring()?.per_sample_hop_ns,
        (_, None) => Some(throughput?.lost_pct),
    }
    .filter(|value| value.is_finite())
}

fn statistic(rtt: &Latency, of: RttStatistic) -> Option<f64> {
    let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
    match of {
        RttStatistic::Mean => Some(rtt.mean_ns),
        RttStatistic::Sd => Some(rtt.sd_ns),
        RttStatistic::Min => Some(rtt.min_ns as f64),
        RttStatistic::Max => Some(rtt.max_ns as f64),
        RttStatistic::P50 => ns(rtt.p50_ns),
        RttStatistic::P90 => ns(rtt.p90_ns),
        RttStatistic::P99 => ns(rtt.p99_ns),
        RttStatistic::P9999 => ns(rtt.p99_99_ns),
        RttStatistic::P999999 => ns(rtt.p99_9999_ns),
    }
}

/// Returns the path of the measured value in the JSON of a run.
fn metric(figure: Figure) -> String {
    match (figure, figure.statistic()) {
        (_, Some(statistic)) => format!("latency.rtt.{statistic}_ns"),
        (Figure::TwoHopsPerSample, None) => "ring.per_sample_hop_ns".to_owned(),
        (_, None) => format!("throughput.{figure}"),
    }
}
