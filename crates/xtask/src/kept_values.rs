//! Values of kept results, as texts of the tables that follow from them.

use std::{collections::BTreeMap, path::Path};

use experiment::Topology;
use results::{
    CellResult, Directory, Finding, FindingKind, Growth, GrowthEstimate, GrowthLaw, GrowthValue, Metric,
    ResultDocument, Run, Verdict, format_value,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use stats::{Spread, median_interval};

use crate::{Error, kept_changes, kept_ratios, kept_topics::Topic, page_tables::Column};

/// Kept result with the factors of its cells.
pub struct KeptResult {
    document: ResultDocument,
    factors: Vec<Value>,
}

impl KeptResult {
    /// Reads a kept result.
    ///
    /// # Errors
    /// Returns an error if the result cannot be loaded.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let document = Directory::load(path)?;
        let factors = document.cells.iter().map(|cell| serde_json::to_value(&cell.factors));
        Ok(Self { factors: factors.collect::<Result<_, _>>()?, document })
    }

    /// Returns the cells whose factors have these values. A factor that a cell lacks is `none`.
    pub fn cells(&self, wanted: &BTreeMap<String, Value>) -> Vec<&CellResult> {
        let value = |cell: &CellResult, factors: &Value, name: &str| match name {
            "endpoints" => Some(Value::from(match cell.factors.topology {
                Topology::Mesh { readers, .. } => readers,
                Topology::Ring { nodes } => nodes,
                Topology::FullMesh { participants } => participants,
            })),
            _ => factors.pointer(&format!("/{}", name.replace('.', "/"))).cloned(),
        };
        let has = |(cell, factors): &(&CellResult, &Value)| {
            let own = |name| value(cell, factors, name).unwrap_or_else(|| "none".into());
            wanted.iter().all(|(name, wanted)| is_same(&own(name), wanted))
        };
        self.document.cells.iter().zip(&self.factors).filter(has).map(|(cell, _)| cell).collect()
    }

    /// Returns the verdict on a metric of a cell.
    fn verdict(&self, cell: &CellResult, metric: Metric) -> Option<&Verdict> {
        let is_of = |verdict: &&Verdict| {
            verdict.treatment.cell == cell.id && verdict.metric == metric && verdict.flow.is_none()
        };
        self.document.verdicts.iter().find(is_of)
    }

    /// Returns what fits of a finding about no other cells than these.
    fn finding<'f, T>(&'f self, cells: &[&CellResult], fits: impl Fn(&'f Finding) -> Option<T>) -> Option<T> {
        let is_of = |finding: &&Finding| {
            !finding.cells.is_empty()
                && finding.cells.iter().all(|id| cells.iter().any(|cell| cell.id == *id))
        };
        self.document.findings.iter().filter(is_of).find_map(fits)
    }
}

/// Value of a column in a row.
pub struct Wanted<'w> {
    /// Cells that have the factors of the row and of the column.
    pub cells: Vec<&'w CellResult>,
    /// Cells that the value is divided by in the same block; `None` without a ratio.
    pub over: Option<Vec<&'w CellResult>>,
    /// Topic of a system, or the group of its copies.
    pub topic: Option<&'w str>,
    /// Name of the value.
    pub value: &'w str,
    /// Number by which it is divided.
    pub divisor: f64,
}

impl Wanted<'_> {
    /// Returns the texts of a column of this kind; `None` without a value.
    ///
    /// # Errors
    /// Returns an error if the name of the value is unknown, or if several cells have it.
    pub fn texts(&self, kept: &KeptResult, kind: Column) -> Result<Option<Vec<String>>, Error> {
        if let Some(grown) = self.value.strip_prefix("growth_of_") {
            let grown: GrowthValue = named(grown)?;
            let is_of = |growth: &&Growth| growth.value == grown;
            let growth = kept.finding(&self.cells, |finding| finding.growth.as_ref().filter(is_of));
            return Ok(growth.map(|growth| law(&growth.law, |value| self.number(value))));
        }
        if self.value == "rtt_slope" {
            return Ok(kept.finding(&self.cells, |finding| self.slope(finding)));
        }
        let Some(cell) = only(&self.cells)? else { return Ok(None) };
        if let Some(over) = &self.over {
            let Some(over) = only(over)? else { return Ok(None) };
            return self.ratio(cell, over, kind);
        }
        if let Some(metric) = self.value.strip_prefix("change_of_") {
            return Ok(kept.verdict(cell, named(metric)?).and_then(kept_changes::change));
        }
        if let Some(metric) = self.value.strip_prefix("claim_on_") {
            return Ok(kept.verdict(cell, named(metric)?).and_then(kept_changes::claim));
        }
        if let Some(name) = self.topic {
            return Topic::of(cell, name).map_or(Ok(None), |topic| self.of_topic(&topic, kind));
        }
        let values: Option<Vec<f64>> = match self.value {
            "packets" => {
                of_runs(cell, |run| Some(run.discovery()?.until_matched.as_ref()?.tx_packets as f64))
            }
            "memory" => of_runs(cell, |run| Some(run.discovery()?.memory_per_participant_bytes? as f64)),
            metric => cell.values_of(named::<Metric>(metric)?, None),
        };
        self.over_all(values.as_deref(), kind)
    }

    /// Returns the texts of the ratio of two cells; `None` without a value.
    fn ratio(
        &self,
        cell: &CellResult,
        over: &CellResult,
        kind: Column,
    ) -> Result<Option<Vec<String>>, Error> {
        if cell.id == over.id {
            return Ok(Some(vec!["1".to_owned()]));
        }
        let ratios = kept_ratios::in_blocks(cell, over, named(self.value)?);
        let undivided = Wanted { cells: Vec::new(), over: None, divisor: 1.0, ..*self };
        undivided.over_all(Some(&ratios), kind)
    }

    /// Returns the texts of a value of a topic; `None` without one.
    fn of_topic(&self, topic: &Topic<'_>, kind: Column) -> Result<Option<Vec<String>>, Error> {
        match self.value {
            "met" => Ok(Some(vec![topic.met()])),
            "missed" => Ok(topic.missed_pct().map(|pct| vec![self.number(pct)])),
            metric => self.over_all(topic.values_of(named(metric)?).as_deref(), kind),
        }
    }

    /// Like [`Wanted::over_runs`]; `None` without a value.
    fn over_all(&self, values: Option<&[f64]>, kind: Column) -> Result<Option<Vec<String>>, Error> {
        match values {
            Some(values) if !values.is_empty() => self.over_runs(values, kind).map(Some),
            _ => Ok(None),
        }
    }

    /// Formats a value.
    fn number(&self, value: f64) -> String {
        format_value(value / self.divisor)
    }

    /// Formats the median of runs, and what follows it.
    fn over_runs(&self, values: &[f64], kind: Column) -> Result<Vec<String>, Error> {
        let spread = Spread::from_values(values).ok_or("no value")?;
        let mut texts = vec![self.number(spread.median)];
        match kind {
            Column::Plain => {}
            Column::Range => texts.extend([spread.min, spread.max].map(|value| self.number(value))),
            Column::Interval => {
                let (low, high) = median_interval(values).ok_or("too few runs for an interval")?;
                texts.extend([low, high].map(|value| self.number(value)));
            }
            Column::PlusMinus => texts.extend(spread.half_range_relative().map(percent)),
        }
        Ok(texts)
    }

    /// Formats the growth of round trips with the size.
    fn slope(&self, finding: &Finding) -> Option<Vec<String>> {
        let number = |part: &&str| {
            finding.numbers.get(&format!("rtt_slope{part}_ns_per_byte")).map(|value| self.number(*value))
        };
        match finding.kind {
            FindingKind::LatencyGrows => ["", "_min", "_max"].iter().map(number).collect(),
            FindingKind::LatencyFlat => Some(vec!["none shown".to_owned()]),
            _ => None,
        }
    }
}

/// Returns the only one of these cells; `None` without one.
fn only<'c>(cells: &[&'c CellResult]) -> Result<Option<&'c CellResult>, Error> {
    match *cells {
        [] => Ok(None),
        [cell] => Ok(Some(cell)),
        [..] => Err(format!("{} cells have these factors", cells.len()).into()),
    }
}

/// Returns a value of each run that counts; `None` if none has it.
fn of_runs(cell: &CellResult, of_run: impl Fn(&Run) -> Option<f64>) -> Option<Vec<f64>> {
    Some(cell.claimed_runs().filter_map(of_run).collect()).filter(|values: &Vec<f64>| !values.is_empty())
}

/// Returns whether two values are equal; of texts, whether their letters and digits are, as in `lifespan, 10 ms` and `lifespan-10ms`.
fn is_same(own: &Value, wanted: &Value) -> bool {
    let letters = |value: &Value| {
        value.as_str().map(|text| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>())
    };
    own == wanted || letters(own).is_some_and(|own| Some(own) == letters(wanted))
}

/// Returns the value with this name in a result.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, Error> {
    serde_json::from_value(Value::from(name)).map_err(|error| format!("`{name}`: {error}").into())
}

/// Formats a share in percent with two digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// Formats what one more adds, with its interval: as one text if it changes.
fn law(law: &GrowthLaw, number: impl Fn(f64) -> String) -> Vec<String> {
    let whole =
        |of: &GrowthEstimate| format!("{} [{}..{}]", number(of.value), number(of.low), number(of.high));
    match law {
        GrowthLaw::Linear { slope } => [slope.value, slope.low, slope.high].map(number).to_vec(),
        GrowthLaw::Bends { at, before, after } => {
            vec![format!("{} up to {at}, then {}", whole(before), whole(after))]
        }
        GrowthLaw::Power { exponent } => {
            let [value, low, high] = [exponent.value, exponent.low, exponent.high].map(format_value);
            vec![format!("N^{value} [{low}..{high}]")]
        }
        GrowthLaw::None => vec!["no law".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_by_their_letters_and_digits() {
        let is_same = |own: &str, wanted: &str| is_same(&own.into(), &wanted.into());
        assert!(is_same("lifespan-10ms", "lifespan, 10 ms"));
        assert!(!is_same("lifespan-100ms", "lifespan, 10 ms") && !is_same("none", "16"));
    }

    #[test]
    fn law_that_bends_is_one_text() {
        let of = |value| GrowthEstimate { value, low: value - 1.0, high: value + 1.0 };
        let number = |value: f64| format_value(value);
        assert_eq!(law(&GrowthLaw::Linear { slope: of(3.0) }, number), ["3.00", "2.00", "4.00"]);
        let bends = GrowthLaw::Bends { at: 8.0, before: of(30.0), after: of(60.0) };
        assert_eq!(law(&bends, number), ["30.0 [29.0..31.0] up to 8, then 60.0 [59.0..61.0]"]);
    }
}
