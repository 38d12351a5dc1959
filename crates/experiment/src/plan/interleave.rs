//! Interleaved comparison: the plans of two variants, joined to be measured in alternating blocks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    factors::{Aspect, aspects},
    plan::{
        duet,
        experiment::{Cell, Plan, Variants},
        experiment_file::ExperimentFile,
        plan_inputs::PlanInputs,
        published,
    },
    syntax::{source::Diagnostic, spanned_error::SpannedError},
};

/// Names of the variants, prefixes of their cells' ids.
const NAMES: [&str; 2] = ["A", "B"];

impl Diagnostic {
    /// Returns the error for variants whose design, limits or search settings differ, with the differences.
    #[must_use]
    pub fn other_design(differences: Vec<String>) -> Self {
        let hint = "give both the same `design` and `limits`".to_owned();
        Self { error: "A and B are not measured in the same way".to_owned(), excerpt: differences, hint }
    }
}

impl ExperimentFile {
    /// Removes the settings that the two variants share, so that each can be planned alone: the baseline, which is
    /// A, and duets. Returns whether there was a baseline.
    pub fn prepare_variant(&mut self) -> bool {
        self.design.duet = None;
        self.design.baseline.take().is_some()
    }

    /// Joins the plans of two variants, made from this and from another text after [`Self::prepare_variant`]. The
    /// cells of A become the baseline of their counterparts in B.
    ///
    /// # Errors
    /// Returns an error if design, limits or search settings differ, if a cell has no counterpart, or if the joint
    /// plan is rejected.
    pub fn interleave(
        &self,
        inputs: &PlanInputs<'_>,
        plans: [Plan; 2],
        arguments: [String; 2],
        duet: bool,
    ) -> Result<Plan, Diagnostic> {
        let differences = differences(&plans);
        if !differences.is_empty() {
            return Err(Diagnostic::other_design(differences));
        }
        let pairs = pairs(&plans[0].cells, &plans[1].cells).map_err(|excerpt| Diagnostic {
            error: "the cells of A and B cannot be paired".to_owned(),
            excerpt,
            hint: "give A and B the same values of each factor in which they are not meant to differ"
                .to_owned(),
        })?;
        let rejected = |error: SpannedError| Diagnostic {
            error: error.error.to_string(),
            excerpt: Vec::new(),
            hint: error.hint().to_owned(),
        };
        let [mut joint, other] = plans;
        let named = |cell: &Cell, variant: usize| format!("{}/{}", NAMES[variant], cell.id);
        let counterparts =
            pairs.iter().map(|(a, b)| (named(&other.cells[*b], 1), named(&joint.cells[*a], 0))).collect();
        let same = pairs.iter().all(|(a, b)| joint.cells[*a].factors == other.cells[*b].factors);
        joint.design.baseline = joint.cells.iter().map(|cell| named(cell, 0)).collect();
        joint.design.repeat_noisy = self.design.repeat_noisy.unwrap_or(true);
        joint.design.duet = duet;
        if joint.name != other.name {
            joint.name = format!("{}-{}", joint.name, other.name);
        }
        let [a, b] = arguments;
        joint.question = format!("How does B differ from A? A: {a}; B: {b}");
        let mut cells: Vec<Cell> = Vec::new();
        for (variant, plan) in [(0, &joint.cells), (1, &other.cells)] {
            cells.extend(
                plan.iter().map(|cell| Cell { id: named(cell, variant), factors: cell.factors.clone() }),
            );
        }
        joint.cells = cells;
        joint.published = published::of_variants([joint.published, other.published], NAMES);
        for note in other.notes {
            if !joint.notes.contains(&note) {
                joint.notes.push(note);
            }
        }
        if same {
            joint.notes.push("A and B are the same: whatever differs between them is noise".to_owned());
        }
        joint.variants = Some(Variants { a, b, counterparts });
        if duet {
            duet::check(&joint).map_err(|error| rejected(error.at(0..0)))?;
        }
        self.allot(&mut joint, inputs).map_err(rejected)?;
        Ok(joint)
    }
}

impl Plan {
    /// Returns the variant of a cell, `A` or `B`; `None` without variants.
    #[must_use]
    pub fn variant(&self, cell: &str) -> Option<&'static str> {
        let variants = self.variants.as_ref()?;
        Some(NAMES[usize::from(variants.counterparts.contains_key(cell))])
    }
}

/// Returns the differences between two plans outside their cells, as text.
fn differences([a, b]: &[Plan; 2]) -> Vec<String> {
    let fields = |plan: &Plan| {
        let parts = [
            ("design", serde_json::to_value(&plan.design)),
            ("limits", serde_json::to_value(&plan.limits)),
            ("search", serde_json::to_value(&plan.search)),
        ];
        let mut all: BTreeMap<String, Value> = BTreeMap::new();
        for (part, value) in parts {
            match value.unwrap_or_default() {
                Value::Object(fields) => {
                    all.extend(fields.into_iter().map(|(name, value)| (format!("{part}.{name}"), value)));
                }
                value => drop(all.insert(part.to_owned(), value)),
            }
        }
        all
    };
    let (a, b) = (fields(a), fields(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let text = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), Value::to_string);
    let differing = names.into_iter().filter(|name| a.get(*name) != b.get(*name));
    differing
        .map(|name| format!("{name}: A has {}, B has {}", text(a.get(name)), text(b.get(name))))
        .collect()
}

/// Pairs the cells of A with those of B, as indices. Cells are paired that agree in the workload and in every
/// factor of which the variants have a value in common. If several agree, they are paired by their order.
fn pairs(a: &[Cell], b: &[Cell]) -> Result<Vec<(usize, usize)>, Vec<String>> {
    let in_common =
        |aspect: &Aspect<'_>| a.iter().any(|a| b.iter().any(|b| aspect.same(&a.factors, &b.factors)));
    let all = aspects(&a.iter().chain(b).map(|cell| &cell.factors));
    let kept: Vec<Aspect<'_>> =
        all.into_iter().filter(|aspect| aspect.is_of_baseline() || in_common(aspect)).collect();
    let agree = |a: &Cell, b: &Cell| kept.iter().all(|aspect| aspect.same(&a.factors, &b.factors));
    // Cells that agree in all these factors are in the same order in both plans.
    let rank = |cells: &[Cell], index: usize| {
        cells[..index].iter().filter(|earlier| agree(earlier, &cells[index])).count()
    };
    let mut pairs = Vec::new();
    let mut single = Vec::new();
    for (j, after) in b.iter().enumerate() {
        let place = rank(b, j);
        match (0..a.len()).filter(|i| agree(&a[*i], after)).nth(place) {
            Some(i) => pairs.push((i, j)),
            None => single.push(format!("`{}` of B has no counterpart in A", after.id)),
        }
    }
    let unpaired = |i: &usize| !pairs.iter().any(|(before, _)| before == i);
    single
        .extend((0..a.len()).filter(unpaired).map(|i| format!("`{}` of A has no counterpart in B", a[i].id)));
    if single.is_empty() { Ok(pairs) } else { Err(single) }
}
