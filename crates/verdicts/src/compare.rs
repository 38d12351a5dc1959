//! Two results, or cells of one, held against each other.

use std::collections::{BTreeMap, BTreeSet};

use experiment::Workload;
use results::{
    Cell, Compared, Comparison, CriterionOutcome, Difference, Document, Judged, Metric, Pairing,
    SCHEMA_VERSION, State, Verdict, VerdictKind,
};
use stats::{Outcome, Rules, judge_sides};

use crate::{
    Criterion,
    differences::{cell_fields, environments, is_named, unequal, unknown},
    family::{self, Pair},
    matching::{distance, nearest},
    noise_floor, noisy,
};

/// One side: a result, and those of its cells that are meant.
#[derive(Clone, Debug)]
pub struct Side<'d> {
    /// As it was named.
    pub name: String,
    /// The result.
    pub document: &'d Document,
    /// The cells.
    pub cells: Vec<&'d Cell>,
}

/// What is asked of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// In what both may differ.
    pub factors: Vec<String>,
    /// Figures to compare; those of the workload where there are none.
    pub metrics: Vec<Metric>,
    /// What may not be.
    pub criteria: Vec<Criterion>,
    /// Whether to go on where both differ in more than the named factors.
    pub force: bool,
}

/// Why two sides are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// They differ in more than what was named.
    #[error("the two sides differ in more than the named factors")]
    Differ(Vec<Difference>),
    /// No cell of one side has a counterpart on the other.
    #[error("no cell of `{treatment}` has a counterpart in `{baseline}`")]
    NothingToCompare {
        /// What was to be held against.
        baseline: String,
        /// What was to be judged.
        treatment: String,
    },
    /// A figure that none of the cells has.
    #[error("no compared cell has the metric `{}`: their workload is {workload}", .metric.name())]
    WrongMetric {
        /// The figure.
        metric: Metric,
        /// What the cells were measured with.
        workload: String,
    },
    /// A factor that is none.
    #[error("`{0}` is no factor: neither side has a field of that name")]
    UnknownFactor(String),
}

impl Refusal {
    /// The differences that were not named, one a line.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Differ(differences) => differences.iter().map(in_words).collect(),
            _ => Vec::new(),
        }
    }

    /// The next step.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Differ(_) => {
                "name what is meant to differ with `--factor FIELD`, or go on with `--force`, which \
                                the output will say"
                    .to_owned()
            }
            Self::NothingToCompare { .. } => {
                "name one cell of each, as in `RESULT:CELL`; `ddsmark report RESULT --json` has their ids"
                    .to_owned()
            }
            Self::WrongMetric { .. } => {
                let of = |workload: Workload| {
                    let all = Metric::ALL.iter().filter(|metric| metric.is_of(workload));
                    all.map(|metric| metric.name()).collect::<Vec<_>>().join(", ")
                };
                format!("latency has {}; throughput has {}", of(Workload::Latency), of(Workload::Throughput))
            }
            Self::UnknownFactor(_) => {
                "a factor is a field such as `driver`, `size`, `qos.reliability`, `design.pin` or \
                                       `env.net.core.rmem_max`, or a group of them such as `qos` or `env`"
                    .to_owned()
            }
        }
    }
}

fn in_words(difference: &Difference) -> String {
    let value =
        |value: &Option<String>| value.as_ref().map_or_else(|| "none".to_owned(), |v| format!("`{v}`"));
    format!("{}: {}, then {}", difference.field, value(&difference.baseline), value(&difference.treatment))
}

/// Holds `treatment` against `baseline`.
///
/// # Errors
/// Nothing can be compared, or it may not be: see [`Refusal`].
pub fn compare(baseline: &Side<'_>, treatment: &Side<'_>, asked: &Asked) -> Result<Comparison, Refusal> {
    let same = baseline.document == treatment.document;
    let (pairs, unmatched) = pairs(baseline, treatment, &asked.factors);
    if pairs.is_empty() {
        let (baseline, treatment) = (baseline.name.clone(), treatment.name.clone());
        return Err(Refusal::NothingToCompare { baseline, treatment });
    }
    check_metrics(&pairs, asked)?;
    let differences = differences(baseline.document, treatment.document, &pairs, &asked.factors)?;
    let beyond: Vec<Difference> =
        differences.iter().filter(|difference| !difference.named).cloned().collect();
    if !beyond.is_empty() && !asked.force {
        return Err(Refusal::Differ(beyond));
    }

    let noisy_blocks = [noisy(baseline.document), noisy(treatment.document)];
    let mut figures = Vec::new();
    for (before, after) in &pairs {
        for metric in metrics(after.factors.workload, asked) {
            figures.push(if same {
                Pair::in_blocks(after, before, metric, &noisy_blocks[0])
            } else {
                Pair::apart((after, &noisy_blocks[1]), (before, &noisy_blocks[0]), metric)
            });
        }
    }
    let mut judged = family::judge(&figures);
    if !same {
        for verdict in &mut judged {
            verdict.baseline.result = Some(baseline.name.clone());
            verdict.treatment.result = Some(treatment.name.clone());
        }
    }
    let criteria = criteria(&figures, &judged, &asked.criteria);
    let mut verdicts = floors(baseline, &pairs.iter().map(|(before, _)| before.id.as_str()).collect(), same);
    if !same {
        verdicts.extend(floors(treatment, &pairs.iter().map(|(_, after)| after.id.as_str()).collect(), same));
    }
    verdicts.extend(judged);
    let compared = |side: &Side<'_>, unmatched: &[&Cell]| Compared {
        result: side.name.clone(),
        experiment: side.document.experiment.name.clone(),
        started_unix_ns: side.document.host.started_unix_ns,
        unmatched: unmatched.iter().map(|cell| cell.id.clone()).collect(),
    };
    Ok(Comparison {
        schema_version: SCHEMA_VERSION,
        baseline: compared(baseline, &unmatched.0),
        treatment: compared(treatment, &unmatched.1),
        factors: asked.factors.clone(),
        notes: notes(baseline, treatment, &pairs, &differences, asked),
        forced: !beyond.is_empty(),
        differences,
        verdicts,
        criteria,
    })
}

/// A cell that is held against, and one that is judged.
type CellPair<'d> = (&'d Cell, &'d Cell);

/// What is held against what, and what has no counterpart.
fn pairs<'d>(
    baseline: &Side<'d>,
    treatment: &Side<'d>,
    named: &[String],
) -> (Vec<CellPair<'d>>, (Vec<&'d Cell>, Vec<&'d Cell>)) {
    let same_workload = |(before, after): &CellPair<'_>| before.factors.workload == after.factors.workload;
    let mut pairs: Vec<CellPair<'d>> = match (&baseline.cells[..], &treatment.cells[..]) {
        ([before], [after]) => vec![(*before, *after)],
        (befores, afters) => {
            let alike = |after: &&'d Cell| {
                let is_alike = |before: &&&Cell| {
                    same_workload(&(**before, *after))
                        && distance((before, baseline.document), (after, treatment.document), named) == 0
                };
                let mut alike = befores.iter().filter(is_alike);
                alike.next().filter(|_| alike.next().is_none()).map(|before| (*before, *after))
            };
            let exact: Vec<CellPair<'d>> = afters.iter().filter_map(alike).collect();
            let near = |after: &&'d Cell| {
                let before = nearest(treatment.document, after, baseline.document, befores, named);
                before.map(|before| (before, *after))
            };
            if exact.is_empty() { afters.iter().filter_map(near).collect() } else { exact }
        }
    };
    pairs.retain(same_workload);
    let is_left = |cell: &&&Cell, taken: &dyn Fn(&CellPair<'d>) -> &'d Cell| {
        !pairs.iter().any(|pair| std::ptr::eq(taken(pair), **cell))
    };
    let befores = baseline.cells.iter().filter(|cell| is_left(cell, &|pair| pair.0)).copied().collect();
    let afters = treatment.cells.iter().filter(|cell| is_left(cell, &|pair| pair.1)).copied().collect();
    (pairs, (befores, afters))
}

/// The figures of a pair: those that were asked for or else the workload's; and those that criteria are about.
fn metrics(workload: Workload, asked: &Asked) -> Vec<Metric> {
    let chosen = if asked.metrics.is_empty() { Metric::claims(workload) } else { &asked.metrics };
    let all = chosen.iter().copied().chain(asked.criteria.iter().map(|criterion| criterion.metric));
    let all: BTreeSet<Metric> = all.filter(|metric| metric.is_of(workload)).collect();
    all.into_iter().collect()
}

fn check_metrics(pairs: &[CellPair<'_>], asked: &Asked) -> Result<(), Refusal> {
    let workloads: BTreeSet<Workload> = pairs.iter().map(|(_, after)| after.factors.workload).collect();
    let asked = asked.metrics.iter().copied().chain(asked.criteria.iter().map(|criterion| criterion.metric));
    for metric in asked {
        if !workloads.iter().any(|workload| metric.is_of(*workload)) {
            let workloads: Vec<&str> = workloads.iter().map(|workload| workload.name()).collect();
            return Err(Refusal::WrongMetric { metric, workload: workloads.join(" and ") });
        }
    }
    Ok(())
}

/// Everything that the compared cells and their results differ in.
fn differences(
    baseline: &Document,
    treatment: &Document,
    pairs: &[CellPair<'_>],
    named: &[String],
) -> Result<Vec<Difference>, Refusal> {
    let (before, after) = environments(baseline, treatment);
    let mut known: BTreeSet<String> = before.keys().chain(after.keys()).cloned().collect();
    let mut differences = unequal(&before, &after);
    for (before, after) in pairs {
        let measured = before.valid_runs().next().is_some() && after.valid_runs().next().is_some();
        let (before, after) = (cell_fields(baseline, before), cell_fields(treatment, after));
        known.extend(before.keys().chain(after.keys()).cloned());
        for difference in unequal(&before, &after) {
            // what is in force is known of valid runs only
            let is_known = measured || !difference.field.starts_with("effective_qos.");
            if is_known && !differences.contains(&difference) {
                differences.push(difference);
            }
        }
    }
    if let Some(name) = unknown(named, &known) {
        return Err(Refusal::UnknownFactor(name.clone()));
    }
    for difference in &mut differences {
        difference.named = is_named(&difference.field, named);
    }
    Ok(differences)
}

/// How far the compared cells of a side differ from themselves, where they were measured twice in each block.
fn floors(side: &Side<'_>, cells: &BTreeSet<&str>, same: bool) -> Vec<Verdict> {
    let mut floors = noise_floor(side.document, &noisy(side.document));
    // in one result, other baseline cells are of the same noise
    floors.retain(|floor| same || cells.contains(floor.baseline.cell.as_str()));
    if !same {
        for floor in &mut floors {
            floor.baseline.result = Some(side.name.clone());
            floor.treatment.result = Some(side.name.clone());
        }
    }
    floors
}

fn notes(
    baseline: &Side<'_>,
    treatment: &Side<'_>,
    pairs: &[CellPair<'_>],
    differences: &[Difference],
    asked: &Asked,
) -> Vec<String> {
    let mut notes = Vec::new();
    let beyond: Vec<String> = differences.iter().filter(|d| !d.named).map(in_words).collect();
    if !beyond.is_empty() {
        notes.push(format!(
            "FORCED: the two sides differ in more than the named factors, and what is said below may come from any \
             of it: {}",
            beyond.join("; ")
        ));
    }
    if baseline.document != treatment.document {
        notes.push(
            "These are two results: their runs share no blocks. Drift between the two is not controlled; whatever \
             changed on the host meanwhile is in the difference, and no interval covers it. To control it, measure both \
             as cells of one experiment with a baseline."
                .to_owned(),
        );
    } else if pairs.iter().any(|(before, after)| before.id == after.id) {
        notes.push(
            "Both sides are the same runs. How far a cell differs from itself is shown by an experiment with a baseline."
                .to_owned(),
        );
    }
    for factor in &asked.factors {
        if !differences.iter().any(|difference| is_named(&difference.field, std::slice::from_ref(factor))) {
            notes.push(format!("The named factor `{factor}` is the same on both sides."));
        }
    }
    let named: Vec<String> = differences.iter().filter(|d| d.named).map(in_words).collect();
    if !named.is_empty() {
        notes.push(format!("Differs as named: {}.", named.join("; ")));
    }
    let mut sides = BTreeMap::from([(&baseline.name, baseline.document)]);
    sides.insert(&treatment.name, treatment.document);
    for (name, document) in sides {
        if document.state == State::Interrupted {
            notes.push(format!("`{name}` was stopped before its last run."));
        }
    }
    notes
}

/// What becomes of each criterion, for each pair that has its figure. All of them share the level.
fn criteria(figures: &[Pair<'_>], verdicts: &[Verdict], criteria: &[Criterion]) -> Vec<Judged> {
    let concerned: Vec<(&Criterion, usize)> = criteria
        .iter()
        .flat_map(|criterion| {
            let with = (0..figures.len()).filter(|i| figures[*i].metric == criterion.metric);
            with.map(move |i| (criterion, i))
        })
        .collect();
    let judge = |(criterion, i): &(&Criterion, usize)| {
        let (pair, verdict) = (&figures[*i], &verdicts[*i]);
        let outcome = |quiet_only| match verdict.withheld {
            Some(_) => (CriterionOutcome::CannotTell, None),
            None => {
                let sides = pair.sides(quiet_only);
                match judge_sides(&sides, criterion.forbidden, Rules::default().level, concerned.len()) {
                    Outcome::Broken => (CriterionOutcome::Broken, None),
                    Outcome::Kept => (CriterionOutcome::Kept, None),
                    Outcome::CannotTell => (CriterionOutcome::CannotTell, None),
                    Outcome::TooFewBlocks { needs } => (CriterionOutcome::CannotTell, Some(needs)),
                }
            }
        };
        let ((outcome, needs), quiet) =
            (outcome(false), verdict.without_noisy.is_some().then(|| outcome(true).0));
        let needs = needs.map_or_else(String::new, |needs| match pair.pairing {
            Pairing::Blocks => format!(" with fewer than {needs} blocks"),
            Pairing::Duets => format!(" with fewer than {needs} duets"),
            Pairing::Apart => format!(" with fewer than {needs} runs on each side"),
        });
        let noise = quiet.filter(|quiet| *quiet != outcome).map_or_else(String::new, |quiet| {
            format!("; without noisy blocks, ANOTHER OUTCOME: {}", outcome_in_words(quiet))
        });
        Judged {
            criterion: criterion.text.clone(),
            metric: criterion.metric,
            cell: verdict.treatment.cell.clone(),
            outcome,
            without_noisy: quiet,
            text: format!("{}{needs}: {}{noise}", outcome_in_words(outcome), verdict.text),
        }
    };
    debug_assert!(verdicts.iter().all(|verdict| verdict.kind == VerdictKind::Comparison));
    concerned.iter().map(judge).collect()
}

const fn outcome_in_words(outcome: CriterionOutcome) -> &'static str {
    match outcome {
        CriterionOutcome::Broken => "BROKEN",
        CriterionOutcome::Kept => "kept",
        CriterionOutcome::CannotTell => "the data cannot tell",
    }
}
