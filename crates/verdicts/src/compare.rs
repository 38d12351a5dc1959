//! Comparison of two results, or of two cells of one result.

use std::collections::BTreeSet;

use experiment::Workload;
use results::{
    CellResult, ComparedSide, Comparison, CriterionOutcome, CriterionResult, Difference, Metric,
    MetricSelector, Pairing, ResultDocument, SCHEMA_VERSION, Verdict, VerdictKind, flows_of, metrics_of,
};
use stats::{ComparisonData, GateOutcome, Rules, judge, simultaneous_level};

use crate::{
    agreement::agreement,
    arrivals,
    criterion::Criterion,
    differences::{environment, fields_of_both, is_named, meant, unequal, unknown},
    error::CompareError,
    family::{self, Pair},
    format,
    matching::{DescribedCell, nearest},
    noise_floor, noisy,
    notes::notes,
    recorded::Source,
    sides::{CellPair, CompareOptions, CompareSide},
};

/// Compares `treatment` with `baseline`.
///
/// # Errors
/// Returns an error if nothing can be compared, or if the sides must not be compared: see [`CompareError`].
pub fn compare(
    baseline: &CompareSide<'_>,
    treatment: &CompareSide<'_>,
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    let same = baseline.document == treatment.document;
    let (pairs, unmatched) = pairs(baseline, treatment, &options.factors);
    if pairs.is_empty() {
        let (baseline, treatment) = (baseline.name.clone(), treatment.name.clone());
        return Err(CompareError::NothingToCompare { baseline, treatment });
    }
    check_metrics(&pairs, options)?;
    let differences = differences(baseline.document, treatment.document, &pairs, &options.factors)?;
    let beyond: Vec<Difference> =
        differences.iter().filter(|difference| !difference.named).cloned().collect();
    if !beyond.is_empty() && !options.force {
        return Err(CompareError::Differ(beyond));
    }

    let noisy_blocks = [noisy(baseline.document), noisy(treatment.document)];
    let [of_baseline, of_treatment] = [(baseline, &noisy_blocks[0]), (treatment, &noisy_blocks[1])]
        .map(|(side, noisy)| Source { document: side.document, noisy });
    let mut metric_pairs = Vec::new();
    for (before, after) in &pairs {
        for metric in metrics(treatment.document, after, options) {
            let pair = if same {
                Pair::in_blocks(after, before, metric, of_baseline)
            } else {
                Pair::apart((after, of_treatment), (before, of_baseline), metric, options)
            };
            metric_pairs
                .extend(flows_of(&after.factors, metric).into_iter().map(|flow| pair.clone().of_flow(flow)));
        }
    }
    let mut judged = family::judge(&metric_pairs);
    let mut arrivals = arrivals::judge(&metric_pairs);
    if !same {
        for verdict in judged.iter_mut().chain(&mut arrivals) {
            verdict.baseline.result = Some(baseline.name.clone());
            verdict.treatment.result = Some(treatment.name.clone());
        }
    }
    let criteria = criteria(&metric_pairs, &judged, &options.criteria);
    let documents = [baseline.document, treatment.document];
    let agreement = if same { None } else { agreement(documents, &pairs, &options.metrics) };
    let notes = notes(baseline, treatment, &pairs, &differences, options, &metric_pairs);
    let mut verdicts = floors(baseline, &pairs.iter().map(|(before, _)| before.id.as_str()).collect(), same);
    if !same {
        verdicts.extend(floors(treatment, &pairs.iter().map(|(_, after)| after.id.as_str()).collect(), same));
    }
    verdicts.extend(judged);
    verdicts.extend(arrivals);
    let compared = |side: &CompareSide<'_>, unmatched: &[&CellResult]| ComparedSide {
        result: side.name.clone(),
        experiment: side.document.experiment.name.clone(),
        command_line: side.document.tool.command_line.clone(),
        started_unix_ns: side.document.host().started_unix_ns,
        unmatched: unmatched.iter().map(|cell| cell.id.clone()).collect(),
    };
    Ok(Comparison {
        schema_version: SCHEMA_VERSION,
        baseline: compared(baseline, &unmatched.0),
        treatment: compared(treatment, &unmatched.1),
        factors: options.factors.clone(),
        notes,
        forced: !beyond.is_empty(),
        differences,
        agreement,
        verdicts,
        criteria,
    })
}

/// Compares variant B of a result with variant A; `None` if the result has no variants. They may differ in
/// everything in which the plan makes them differ.
///
/// # Errors
/// Returns an error if the variants must not be compared: see [`CompareError`].
pub fn compare_variants(
    path: &str,
    document: &ResultDocument,
    options: &CompareOptions,
) -> Option<Result<Comparison, CompareError>> {
    let variants = document.experiment.variants.as_ref()?;
    let cell = |id: &str| document.cells.iter().find(|cell| cell.id == id);
    let pairs: Vec<(&CellResult, &CellResult)> =
        variants.counterparts.iter().filter_map(|(b, a)| Some((cell(a)?, cell(b)?))).collect();
    let differing = |(a, b): &(&CellResult, &CellResult)| {
        let [a, b] = fields_of_both([(document, a), (document, b)]);
        unequal(&a, &b).into_iter().map(|difference| difference.field)
    };
    let factors: BTreeSet<String> = pairs.iter().flat_map(differing).collect();
    let options = CompareOptions { factors: factors.into_iter().collect(), ..options.clone() };
    let is_of_b = |cell: &&CellResult| variants.counterparts.contains_key(&cell.id);
    let (b, a): (Vec<&CellResult>, Vec<&CellResult>) = document.cells.iter().partition(is_of_b);
    // named as on the command line: both are cells of one result
    let side = |name: &str, cells| CompareSide { name: format!("{path}:{name}/*"), document, cells };
    let compared = compare(&side("A", a), &side("B", b), &options).map(|mut comparison| {
        let words = format!("A: {}; B: {}; measured in alternating blocks.", variants.a, variants.b);
        comparison.notes.insert(0, words);
        comparison
    });
    Some(compared)
}

/// Returns the pairs of cells to compare, and the cells without a counterpart.
fn pairs<'d>(
    baseline: &CompareSide<'d>,
    treatment: &CompareSide<'d>,
    named: &[String],
) -> (Vec<CellPair<'d>>, (Vec<&'d CellResult>, Vec<&'d CellResult>)) {
    let same_workload = |(before, after): &CellPair<'_>| before.factors.workload == after.factors.workload;
    // the pairs of two variants are part of the plan
    let variants = &baseline.document.experiment.variants;
    let planned = variants.as_ref().filter(|_| baseline.document == treatment.document);
    let counterpart = |after: &&'d CellResult| {
        let id = planned?.counterparts.get(&after.id)?;
        Some((*baseline.cells.iter().find(|before| before.id == *id)?, *after))
    };
    let planned: Vec<CellPair<'d>> = treatment.cells.iter().filter_map(counterpart).collect();
    let mut pairs: Vec<CellPair<'d>> = match (&baseline.cells[..], &treatment.cells[..]) {
        _ if !planned.is_empty() => planned,
        ([before], [after]) => vec![(*before, *after)],
        (befores, afters) => {
            // Of several that differ in named factors only, the one that agrees in most of these is meant: each of two
            // drivers is compared with itself.
            let described = |of: &'d ResultDocument, cells: &[&'d CellResult]| {
                cells.iter().map(|cell| DescribedCell::new(of, cell)).collect::<Vec<_>>()
            };
            let (befores, afters) =
                (described(baseline.document, befores), described(treatment.document, afters));
            let alike = |after: &DescribedCell<'d>| {
                let is_alike = |before: &&DescribedCell<'d>| {
                    before.has_workload_of(after) && before.distance(after, named) == 0
                };
                let alike: Vec<&DescribedCell<'d>> = befores.iter().filter(is_alike).collect();
                Some((nearest(after, &alike, &[])?, after.cell))
            };
            let exact: Vec<CellPair<'d>> = afters.iter().filter_map(alike).collect();
            let befores: Vec<&DescribedCell<'d>> = befores.iter().collect();
            let near = |after: &DescribedCell<'d>| Some((nearest(after, &befores, named)?, after.cell));
            if exact.is_empty() { afters.iter().filter_map(near).collect() } else { exact }
        }
    };
    pairs.retain(same_workload);
    let is_left = |cell: &&&CellResult, taken: &dyn Fn(&CellPair<'d>) -> &'d CellResult| {
        !pairs.iter().any(|pair| std::ptr::eq(taken(pair), **cell))
    };
    let befores = baseline.cells.iter().filter(|cell| is_left(cell, &|pair| pair.0)).copied().collect();
    let afters = treatment.cells.iter().filter(|cell| is_left(cell, &|pair| pair.1)).copied().collect();
    (pairs, (befores, afters))
}

/// Returns the metrics of a pair: the requested ones, or those of the workload; and those of the criteria.
fn metrics(document: &ResultDocument, cell: &CellResult, options: &CompareOptions) -> Vec<Metric> {
    let of = |wanted: MetricSelector| wanted.for_workload(cell.factors.workload);
    let mut all: BTreeSet<Metric> =
        options.criteria.iter().filter_map(|criterion| of(criterion.wanted)).collect();
    if options.metrics.is_empty() {
        all.extend(metrics_of(&document.experiment, &cell.factors));
    } else {
        all.extend(options.metrics.iter().copied().filter_map(of));
    }
    all.into_iter().collect()
}

fn check_metrics(pairs: &[CellPair<'_>], options: &CompareOptions) -> Result<(), CompareError> {
    let workloads: BTreeSet<Workload> = pairs.iter().map(|(_, after)| after.factors.workload).collect();
    let requested =
        options.metrics.iter().copied().chain(options.criteria.iter().map(|criterion| criterion.wanted));
    for wanted in requested {
        if !workloads.iter().any(|workload| wanted.for_workload(*workload).is_some()) {
            let workloads: Vec<&str> = workloads.iter().map(|workload| workload.name()).collect();
            return Err(CompareError::WrongMetric { wanted, workload: workloads.join(" and ") });
        }
    }
    Ok(())
}

/// Returns all differences between the compared cells and between their results.
fn differences(
    baseline: &ResultDocument,
    treatment: &ResultDocument,
    pairs: &[CellPair<'_>],
    named: &[String],
) -> Result<Vec<Difference>, CompareError> {
    let (before, after) = (environment(baseline), environment(treatment));
    let mut known: BTreeSet<String> = before.keys().chain(after.keys()).cloned().collect();
    let mut differences = unequal(&before, &after);
    for (before, after) in pairs {
        let measured = before.valid_runs().next().is_some() && after.valid_runs().next().is_some();
        let [before, after] = fields_of_both([(baseline, before), (treatment, after)]);
        known.extend(before.keys().chain(after.keys()).cloned());
        for difference in unequal(&before, &after) {
            // effective values are known only for valid runs
            let is_read_back =
                ["effective_qos.", "process."].iter().any(|group| difference.field.starts_with(group));
            let is_known = measured || !is_read_back;
            if is_known && !differences.contains(&difference) {
                differences.push(difference);
            }
        }
    }
    if let Some(name) = unknown(named, &known) {
        let meant = meant(name, &known).map(str::to_owned);
        return Err(CompareError::UnknownFactor { name: name.clone(), meant });
    }
    for difference in &mut differences {
        difference.named = is_named(&difference.field, named);
    }
    Ok(differences)
}

/// Returns the noise floors of the compared cells of a side, if they were measured twice in each block.
fn floors(side: &CompareSide<'_>, cells: &BTreeSet<&str>, same: bool) -> Vec<Verdict> {
    let mut floors = noise_floor(Source { document: side.document, noisy: &noisy(side.document) });
    // within one result, other baseline cells have the same noise
    floors.retain(|floor| same || cells.contains(floor.baseline.cell.as_str()));
    if !same {
        for floor in &mut floors {
            floor.baseline.result = Some(side.name.clone());
            floor.treatment.result = Some(side.name.clone());
        }
    }
    floors
}

/// Returns the outcome of each criterion for each pair that has its metric. All of them share the level.
fn criteria(metric_pairs: &[Pair<'_>], verdicts: &[Verdict], criteria: &[Criterion]) -> Vec<CriterionResult> {
    let concerned: Vec<(&Criterion, usize)> = criteria
        .iter()
        .flat_map(|criterion| {
            let with = (0..metric_pairs.len()).filter(|i| criterion.wanted.means(metric_pairs[*i].metric));
            with.map(move |i| (criterion, i))
        })
        .collect();
    let level = simultaneous_level(Rules::DEFAULT.level, concerned.len());
    let result = |(criterion, i): &(&Criterion, usize)| {
        let (pair, verdict) = (&metric_pairs[*i], &verdicts[*i]);
        let not_tested = pair.same_runs() || verdict.withheld.is_some();
        let outcome = |sides: &ComparisonData| {
            if not_tested {
                return GateOutcome::CannotTell;
            }
            judge(sides, criterion.forbidden, Rules::DEFAULT.level, concerned.len())
        };
        let sides = pair.sides(false);
        let quiet = verdict.without_noisy.is_some().then(|| outcome(&pair.sides(true)));
        // as for verdicts, an outcome between two results is dropped if quiet blocks contradict it, or have to confirm it
        let contradicted = |found| {
            let opposes = |quiet| match quiet {
                GateOutcome::TooFewBlocks { .. } => pair.needs_quiet_blocks(),
                quiet => quiet != found,
            };
            pair.pairing == Pairing::Apart && quiet.is_some_and(opposes)
        };
        let found = match outcome(&sides) {
            found @ (GateOutcome::Broken | GateOutcome::Kept) if contradicted(found) => {
                GateOutcome::CannotTell
            }
            found => found,
        };
        let quiet = quiet.map(in_result);
        let why = match (&verdict.withheld, found) {
            _ if pair.same_runs() => "both sides are the same runs".to_owned(),
            (Some(why), _) => format!("{}: no verdict: {why}", verdict.metric_name()),
            (None, GateOutcome::TooFewBlocks { needs }) => format::too_few(verdict, &sides, needs),
            (None, _) => format::change(verdict, &sides, level),
        };
        let found = in_result(found);
        let allowed = match found {
            CriterionOutcome::Broken => format!("; {} is allowed", criterion.allowed()),
            CriterionOutcome::Kept | CriterionOutcome::CannotTell => String::new(),
        };
        let noise = quiet.filter(|quiet| *quiet != found).map_or_else(String::new, |quiet| {
            format!("; without the noisy blocks: {}", outcome_in_words(quiet))
        });
        CriterionResult {
            criterion: criterion.text.clone(),
            metric: pair.metric,
            cell: verdict.treatment.cell.clone(),
            outcome: found,
            without_noisy: quiet,
            text: format!("{}: {why}{allowed}{noise}", outcome_in_words(found)),
        }
    };
    debug_assert!(verdicts.iter().all(|verdict| verdict.kind == VerdictKind::Comparison));
    concerned.iter().map(result).collect()
}

const fn in_result(outcome: GateOutcome) -> CriterionOutcome {
    match outcome {
        GateOutcome::Broken => CriterionOutcome::Broken,
        GateOutcome::Kept => CriterionOutcome::Kept,
        GateOutcome::CannotTell | GateOutcome::TooFewBlocks { .. } => CriterionOutcome::CannotTell,
    }
}

const fn outcome_in_words(outcome: CriterionOutcome) -> &'static str {
    match outcome {
        CriterionOutcome::Broken => "failed",
        CriterionOutcome::Kept => "met",
        CriterionOutcome::CannotTell => "inconclusive",
    }
}
