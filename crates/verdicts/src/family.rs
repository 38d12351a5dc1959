//! Comparison data from the runs of two cells, and verdicts for families of comparisons.

use std::collections::BTreeMap;

use experiment::Workload;
use results::{
    CellResult, Conclusion, EffectEstimate, MAX_LATENCY_LOSS_PCT, Metric, Pairing, ReferenceChange,
    ReferenceMetric, Run, UNDER_DUET_INTERFERENCE, Verdict, VerdictKind, format_value,
};
use stats::{Better, ComparisonData, Direction, Rules, compare_sides, median};

use crate::{format, part::Part, policies, recorded::Source, sides::CompareOptions};

/// Comparison of one metric of two cells.
#[derive(Clone)]
pub(crate) struct Pair<'d> {
    /// Kind of verdict.
    pub kind: VerdictKind,
    pub metric: Metric,
    /// Name of the flow, if there are several.
    pub flow: Option<&'d str>,
    /// Whether runs are compared within blocks or as two groups.
    pub pairing: Pairing,
    /// Candidate.
    pub treatment: Part<'d>,
    /// Baseline.
    pub baseline: Part<'d>,
    /// Between two results: whether claims are made without a reference.
    forced: bool,
    /// Between two results: whether a change of the host is what is compared, so the reference explains nothing.
    host_is_compared: bool,
}

/// Returns the value of a run for the comparison. A run without a value or ratio has 0, which counts as missing.
fn judged(run: &Run, metric: Metric, flow: Option<&str>) -> stats::Run {
    let value = run.value_of(metric, flow).filter(|_| run.is_side_by_side()).unwrap_or(0.0);
    stats::Run { value, steady: !run.is_unsteady(metric) }
}

impl<'d> Pair<'d> {
    /// Creates the comparison of two cells of one result.
    pub fn in_blocks(
        treatment: &'d CellResult,
        baseline: &'d CellResult,
        metric: Metric,
        source: Source<'d>,
    ) -> Self {
        let [treatment, baseline] = [treatment, baseline].map(|cell| Part::new(cell, false, source));
        Self::new(VerdictKind::Comparison, treatment, baseline, metric)
    }

    /// Creates the comparison of the two runs of one cell in each block (A/A).
    pub fn of_twins(cell: &'d CellResult, metric: Metric, source: Source<'d>) -> Self {
        let [treatment, baseline] = [true, false].map(|twin| Part::new(cell, twin, source));
        Self::new(VerdictKind::NoiseFloor, treatment, baseline, metric)
    }

    fn new(kind: VerdictKind, treatment: Part<'d>, baseline: Part<'d>, metric: Metric) -> Self {
        let is_of_duets = treatment.cell.under_duet_interference || baseline.cell.under_duet_interference;
        let (pairing, treatment, baseline) = if is_of_duets {
            let treatment = treatment.side_by_side_with(&baseline);
            let baseline = baseline.side_by_side_with(&treatment);
            (Pairing::Duets, treatment, baseline)
        } else {
            (Pairing::Blocks, treatment, baseline)
        };
        let (forced, host_is_compared) = (false, false);
        Self { kind, metric, flow: None, pairing, treatment, baseline, forced, host_is_compared }
    }

    /// Creates the comparison of cells of two results.
    pub fn apart(
        (treatment, of_treatment): (&'d CellResult, Source<'d>),
        (baseline, of_baseline): (&'d CellResult, Source<'d>),
        metric: Metric,
        options: &CompareOptions,
    ) -> Self {
        Self {
            kind: VerdictKind::Comparison,
            metric,
            flow: None,
            pairing: Pairing::Apart,
            treatment: Part::new(treatment, false, of_treatment),
            baseline: Part::new(baseline, false, of_baseline),
            forced: options.force,
            host_is_compared: options.compares_the_host(),
        }
    }

    /// Selects the flow with this name.
    pub fn of_flow(self, flow: Option<&'d str>) -> Self {
        Self { flow, ..self }
    }

    /// Returns the data to compare: all blocks, or quiet blocks only.
    pub fn sides(&self, quiet_only: bool) -> ComparisonData {
        let judge = |run: &Run| judged(run, self.metric, self.flow);
        let (treatment, baseline) = (self.treatment.judged(quiet_only), self.baseline.judged(quiet_only));
        match self.pairing {
            Pairing::Apart => {
                let metrics = match self.host_is_compared || !self.has_references() {
                    true => &[],
                    false => self.reference_metrics(quiet_only),
                };
                let referenced = |part: &Part<'d>, run: &'d Run| {
                    let references = metrics.iter().map(|metric| part.reference(run, *metric).unwrap_or(0.0));
                    stats::ReferencedRun { run: judge(run), references: references.collect() }
                };
                ComparisonData::Apart {
                    treatment: treatment.map(|run| referenced(&self.treatment, run)).collect(),
                    baseline: baseline.map(|run| referenced(&self.baseline, run)).collect(),
                }
            }
            Pairing::Blocks => {
                let nothing = stats::Block { treatment: None, baseline: None };
                let mut blocks: BTreeMap<u32, stats::Block> = BTreeMap::new();
                for run in treatment {
                    blocks.entry(run.block).or_insert(nothing).treatment = Some(judge(run));
                }
                for run in baseline {
                    blocks.entry(run.block).or_insert(nothing).baseline = Some(judge(run));
                }
                ComparisonData::Blocks(blocks.into_values().collect())
            }
            Pairing::Duets => {
                let partner = |run: &Run| self.baseline.runs().find(|other| run.belongs_to(other));
                let duet =
                    |run| stats::Block { treatment: Some(judge(run)), baseline: partner(run).map(judge) };
                ComparisonData::Blocks(treatment.map(duet).collect())
            }
        }
    }

    /// Returns the data of two results without their references; `None` within one result.
    fn sides_alone(&self) -> Option<ComparisonData> {
        let judge = |run: &Run| judged(run, self.metric, self.flow).into();
        (self.pairing == Pairing::Apart).then(|| ComparisonData::Apart {
            treatment: self.treatment.runs().map(judge).collect(),
            baseline: self.baseline.runs().map(judge).collect(),
        })
    }

    /// Returns whether both sides have runs with the metric's own reference value.
    fn has_references(&self) -> bool {
        let own = self.metric.references(false)[0];
        [&self.treatment, &self.baseline]
            .iter()
            .all(|part| part.runs().any(|run| part.reference(run, own).is_some()))
    }

    /// Returns whether this compares two results of which one has no reference.
    pub fn is_unreferenced(&self) -> bool {
        self.pairing == Pairing::Apart && !self.host_is_compared && !self.has_references()
    }

    /// Returns whether enough quiet blocks have to confirm a claim: between two results, interruptions of the host can be most of a
    /// tail.
    pub fn needs_quiet_blocks(&self) -> bool {
        self.pairing == Pairing::Apart && self.metric.is_of_the_tail() && !self.host_is_compared
    }

    /// Returns the reference values that must not explain a claim.
    fn reference_metrics(&self, quiet_only: bool) -> &'static [ReferenceMetric] {
        let least = stats::least_runs(Rules::DEFAULT.level);
        let few_are_quiet =
            [&self.treatment, &self.baseline].iter().any(|part| part.judged(true).count() < least);
        self.metric.references(!quiet_only && self.noisy_blocks() > 0 && few_are_quiet)
    }

    /// Returns the changes of the reference values between the two results.
    fn reference_changes(&self) -> Vec<ReferenceChange> {
        if self.pairing != Pairing::Apart || !self.has_references() {
            return Vec::new();
        }
        let change = |metric: &ReferenceMetric| {
            let of = |part: &Part<'d>| -> Vec<stats::Run> {
                let values = part.runs().filter_map(|run| part.reference(run, *metric));
                values.map(|value| stats::Run { value, steady: true }).collect()
            };
            let middle = |runs: &[stats::Run]| median(&runs.iter().map(|run| run.value).collect::<Vec<_>>());
            let (treatment, baseline) = (of(&self.treatment), of(&self.baseline));
            let medians = middle(&baseline).zip(middle(&treatment));
            let [treatment, baseline] =
                [treatment, baseline].map(|runs| runs.into_iter().map(Into::into).collect());
            let sides = ComparisonData::Apart { treatment, baseline };
            let interval = sides.change(Rules::DEFAULT.level).map(|(_, interval)| interval);
            let compared = compare_sides(&[sides], &Rules::DEFAULT).pop()?;
            let (baseline, treatment) = medians?;
            Some(ReferenceChange {
                metric: *metric,
                unit: metric.unit().to_owned(),
                baseline,
                treatment,
                change_pct: 100.0 * compared.change?.estimate,
                low_pct: interval.map(|interval| 100.0 * interval.low),
                high_pct: interval.map(|interval| 100.0 * interval.high),
                max_elasticity: stats::ELASTICITIES.into_iter().fold(0.0, f64::max),
            })
        };
        self.reference_metrics(false).iter().filter_map(change).collect()
    }

    /// Returns whether the two sides are the same runs.
    pub fn same_runs(&self) -> bool {
        let of = |part: &Part<'d>| part.runs().map(|run| run.number).collect::<Vec<_>>();
        self.pairing != Pairing::Apart && of(&self.treatment) == of(&self.baseline)
    }

    /// Returns the number of noisy blocks; for two results, of both.
    pub fn noisy_blocks(&self) -> usize {
        let (treatment, baseline) = (self.treatment.noisy_blocks(), self.baseline.noisy_blocks());
        match self.pairing {
            Pairing::Blocks | Pairing::Duets => treatment.union(&baseline).count(),
            Pairing::Apart => treatment.len() + baseline.len(),
        }
    }

    /// Returns why the verdict is withheld; `None` if it is not.
    pub fn withheld(&self) -> Option<String> {
        let parts = [&self.treatment, &self.baseline];
        let in_duets = parts.iter().any(|part| part.cell.under_duet_interference);
        if in_duets && (self.pairing == Pairing::Apart || parts.iter().any(|part| part.runs.is_empty())) {
            return Some(format!(
                "values {UNDER_DUET_INTERFERENCE} are compared only between runs that were made beside each other"
            ));
        }
        if self.is_unreferenced() {
            let no_quiet = parts.iter().any(|part| part.judged(true).next().is_none());
            if no_quiet && self.noisy_blocks() > 0 {
                return Some(
                    "no reference shows how the host changed, and no quiet block is left: measure both again, with \
                     their references"
                        .to_owned(),
                );
            }
            if !self.forced {
                return Some(
                    "no reference shows how the host changed between the two results: measure both again without \
                     `--no-reference`, or use `--force`"
                        .to_owned(),
                );
            }
        }
        let inert = policies::inert(&self.baseline, &self.treatment);
        if let Some(text) = inert.or_else(|| self.within_clock_error()) {
            return Some(text);
        }
        let lossy = parts
            .into_iter()
            .find(|part| self.metric.is_latency() && part.missing_pct(self.flow) > MAX_LATENCY_LOSS_PCT);
        let Some(lossy) = lossy else {
            return parts.into_iter().find_map(|part| part.withheld(self.metric, self.flow));
        };
        Some(format!(
            "{} % of the {} of `{}` did not arrive, more than {MAX_LATENCY_LOSS_PCT} %",
            format_value(lossy.missing_pct(self.flow)),
            if lossy.cell.factors.workload == Workload::Latency { "pings" } else { "samples" },
            lossy.cell.id
        ))
    }

    /// Returns that the difference of times between hosts may come from their clocks: it is below the sum of the errors of
    /// both sides.
    fn within_clock_error(&self) -> Option<String> {
        let parts = [&self.treatment, &self.baseline];
        let error_ns = parts.map(|part| part.clock_error_ns(self.metric, self.flow)).iter().sum::<u64>();
        if error_ns == 0 {
            return None;
        }
        let [treatment, baseline] = parts.map(|part| part.typical(self.metric, self.flow));
        let difference_ns = (treatment? - baseline?).abs();
        (difference_ns < error_ns as f64).then(|| {
            format!(
                "the sides differ by {} µs, and the clocks of the hosts may differ by {} µs",
                format_value(difference_ns / 1e3),
                format_value(error_ns as f64 / 1e3)
            )
        })
    }
}

/// Judges a family of comparisons. A withheld comparison claims nothing, but counts towards the family.
pub(crate) fn judge(pairs: &[Pair<'_>]) -> Vec<Verdict> {
    let given: Vec<(&Pair<'_>, Option<String>)> = pairs.iter().map(|pair| (pair, pair.withheld())).collect();
    let all = answers(&given, false);
    let is_noisy =
        |(pair, withheld): &(&Pair<'_>, Option<String>)| withheld.is_none() && pair.noisy_blocks() > 0;
    let quiet = if given.iter().any(is_noisy) { answers(&given, true) } else { vec![None; given.len()] };
    let alone = claimed_alone(&given);
    let found = all.into_iter().zip(quiet).zip(alone);
    let judged = given.into_iter().zip(found).map(|((pair, withheld), ((answer, quiet), alone))| {
        let quiet = quiet.filter(|_| pair.noisy_blocks() > 0);
        let answer = answer.map(|answer| agreed(answer, quiet.as_ref(), pair));
        let claims_nothing = answer.as_ref().is_some_and(|answer| !answer.conclusion.is_claim());
        let mut verdict = Verdict {
            kind: pair.kind,
            metric: pair.metric,
            flow: pair.flow.map(str::to_owned),
            is_of_round_trips: pair.is_of_round_trips(),
            unit: pair.metric.unit().to_owned(),
            treatment: pair.treatment.side(pair.metric, pair.flow),
            baseline: pair.baseline.side(pair.metric, pair.flow),
            pairing: pair.pairing,
            answer,
            without_noisy: quiet,
            withheld,
            references: pair.reference_changes(),
            host_explains: alone && claims_nothing && pair.has_references() && !pair.host_is_compared,
            text: String::new(),
        };
        verdict.text = format::verdict(&verdict, pair.noisy_blocks());
        verdict
    });
    judged.collect()
}

/// Returns the statistics over all blocks; between two results no claim that enough quiet blocks contradict, and none about a tail
/// that they do not confirm.
fn agreed(answer: EffectEstimate, quiet: Option<&EffectEstimate>, pair: &Pair<'_>) -> EffectEstimate {
    let opposes = |quiet: &EffectEstimate| match quiet.conclusion {
        Conclusion::TooFew { .. } => pair.needs_quiet_blocks(),
        _ => !quiet.conclusion.claims_the_same(&answer.conclusion),
    };
    if pair.pairing == Pairing::Apart && answer.conclusion.is_claim() && quiet.is_some_and(opposes) {
        return EffectEstimate {
            conclusion: Conclusion::Inconclusive { could_have_seen_pct: None },
            ..answer
        };
    }
    answer
}

/// Returns for each pair whether there would be a claim between two results without a change of the host.
fn claimed_alone(pairs: &[(&Pair<'_>, Option<String>)]) -> Vec<bool> {
    let sides = |(pair, withheld): &(&Pair<'_>, Option<String>)| match withheld {
        None => pair.sides_alone(),
        Some(_) => Some(ComparisonData::Blocks(Vec::new())),
    };
    let Some(family) = pairs.iter().map(sides).collect::<Option<Vec<ComparisonData>>>() else {
        return vec![false; pairs.len()];
    };
    let claims = |compared: stats::Comparison| {
        matches!(compared.conclusion, stats::Conclusion::Differs { .. } | stats::Conclusion::Equivalent)
    };
    compare_sides(&family, &Rules::DEFAULT).into_iter().map(claims).collect()
}

/// Returns the statistics of a family; `None` for withheld comparisons.
fn answers(pairs: &[(&Pair<'_>, Option<String>)], quiet_only: bool) -> Vec<Option<EffectEstimate>> {
    let sides = |(pair, withheld): &(&Pair<'_>, Option<String>)| match withheld {
        None => pair.sides(quiet_only),
        Some(_) => ComparisonData::Blocks(Vec::new()),
    };
    let family: Vec<ComparisonData> = pairs.iter().map(sides).collect();
    let compared = compare_sides(&family, &Rules::DEFAULT);
    let answer = |(pair, compared): (&Pair<'_>, stats::Comparison)| {
        let percent = |share: f64| 100.0 * share;
        let ends = |interval: stats::Interval| [percent(interval.low), percent(interval.high)];
        let change = compared.change;
        let interval = change.and_then(|change| change.interval);
        EffectEstimate {
            conclusion: conclusion(compared.conclusion, pair.metric),
            n: compared.blocks as u32,
            incomplete: compared.incomplete as u32,
            change_pct: change.map(|change| percent(change.estimate)),
            low_pct: interval.map(|interval| percent(interval.low)),
            high_pct: interval.map(|interval| percent(interval.high)),
            level_pct: interval.map(|interval| percent(interval.level)),
            simultaneous_pct: change.and_then(|change| change.simultaneous).map(ends),
            p: change.map(|change| change.p),
            p_adjusted: change.map(|change| change.p_adjusted),
            p_exploratory: change.map(|change| change.p_exploratory),
            family: pairs.len() as u32,
        }
    };
    let all = pairs.iter().zip(compared);
    all.map(|((pair, withheld), compared)| withheld.is_none().then(|| answer((pair, compared)))).collect()
}

fn conclusion(found: stats::Conclusion, metric: Metric) -> Conclusion {
    match found {
        stats::Conclusion::Differs { direction: Direction::Higher, within_margin } => {
            Conclusion::Higher { better: metric.better() == Better::More, within_margin }
        }
        stats::Conclusion::Differs { direction: Direction::Lower, within_margin } => {
            Conclusion::Lower { better: metric.better() == Better::Less, within_margin }
        }
        stats::Conclusion::Equivalent => Conclusion::Equivalent { margin_pct: 100.0 * Rules::DEFAULT.margin },
        stats::Conclusion::Inconclusive { could_have_seen } => {
            Conclusion::Inconclusive { could_have_seen_pct: could_have_seen.map(|share| 100.0 * share) }
        }
        stats::Conclusion::TooFewBlocks { needs } => Conclusion::TooFew { needs: needs as u32 },
    }
}
