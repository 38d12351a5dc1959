//! Agreement of the verdicts of two results: what one repeats of the other.

use results::{
    AgreementCounts, AgreementGroup, AgreementOutcome, CellResult, Conclusion, EffectEstimate,
    MetricSelector, RepeatedClaim, ResultDocument, Verdict, VerdictAgreement, VerdictKind,
};
use stats::correlation;

use crate::{judge, sides::CellPair};

/// Returns whether the verdicts of two results agree, each against the baseline of its own result; `None` unless both have such
/// verdicts. `metrics`: the selected ones; all if empty.
pub(crate) fn agreement(
    [baseline, treatment]: [&ResultDocument; 2],
    pairs: &[CellPair<'_>],
    metrics: &[MetricSelector],
) -> Option<VerdictAgreement> {
    // judged now, so that both have the rules of this version
    let [before, after] = [baseline, treatment].map(|document| {
        let mut verdicts = judge(document);
        let is_selected = |metric| metrics.is_empty() || metrics.iter().any(|wanted| wanted.means(metric));
        verdicts.retain(|verdict| verdict.kind == VerdictKind::Comparison && is_selected(verdict.metric));
        verdicts
    });
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let mut agreement = VerdictAgreement::default();
    let mut groups: Vec<(AgreementGroup, Vec<(f64, f64)>)> = Vec::new();
    for (cell, counterpart) in pairs {
        for claim in claims(&before, &after, cell, counterpart) {
            let changes = claim.map(|verdict| verdict?.answer.as_ref()?.change_pct);
            let Some(any) = claim[1].or(claim[0]) else { continue };
            let outcome = outcome(claim.map(|verdict| verdict?.answer.as_ref()));
            agreement.all.add(outcome);
            let (driver, metric) = (&counterpart.factors.driver, any.metric);
            let known = groups.iter().position(|(of, _)| of.driver == *driver && of.metric == metric);
            let index = known.unwrap_or(groups.len());
            if known.is_none() {
                let (driver, counts) = (driver.clone(), AgreementCounts::default());
                groups.push((AgreementGroup { driver, metric, counts, estimates: 0, r: None }, Vec::new()));
            }
            let (group, estimates) = &mut groups[index];
            group.counts.add(outcome);
            estimates.extend(changes[0].zip(changes[1]));
            agreement.claims.push(RepeatedClaim {
                cell: counterpart.id.clone(),
                metric,
                flow: any.flow.clone(),
                outcome,
                baseline: claim[0].map(Verdict::headline),
                treatment: claim[1].map(Verdict::headline),
                baseline_change_pct: changes[0],
                treatment_change_pct: changes[1],
            });
        }
    }
    let with_estimates = |(group, estimates): (AgreementGroup, Vec<(f64, f64)>)| AgreementGroup {
        estimates: estimates.len() as u32,
        r: correlation(&estimates),
        ..group
    };
    agreement.groups = groups.into_iter().map(with_estimates).collect();
    (agreement.all.claims > 0).then_some(agreement)
}

/// Returns the claims about a pair of cells, each with the verdicts of both results: those of the candidate, then those that only the
/// baseline side has.
fn claims<'v>(
    before: &'v [Verdict],
    after: &'v [Verdict],
    cell: &CellResult,
    counterpart: &CellResult,
) -> Vec<[Option<&'v Verdict>; 2]> {
    let of = |verdicts: &'v [Verdict], id: &str| -> Vec<&'v Verdict> {
        verdicts.iter().filter(|verdict| verdict.treatment.cell == id).collect()
    };
    let (mut before, after) = (of(before, &cell.id), of(after, &counterpart.id));
    let mut all: Vec<[Option<&Verdict>; 2]> = Vec::new();
    for verdict in after {
        let same = |other: &&Verdict| (other.metric, &other.flow) == (verdict.metric, &verdict.flow);
        let earlier = before.iter().position(same).map(|index| before.remove(index));
        all.push([earlier, Some(verdict)]);
    }
    all.extend(before.into_iter().map(|verdict| [Some(verdict), None]));
    // the same cell against another baseline is another claim
    all.retain(|claim| match claim {
        [Some(before), Some(after)] if cell.id == counterpart.id => {
            before.baseline.cell == after.baseline.cell
        }
        _ => true,
    });
    all
}

/// Returns whether two answers agree. A difference that is shown to be within the margin does not contradict an equivalence.
fn outcome(answers: [Option<&EffectEstimate>; 2]) -> AgreementOutcome {
    use Conclusion::{Equivalent, Higher, Lower};
    let decided =
        answers.map(|answer| answer.map(|of| &of.conclusion).filter(|conclusion| conclusion.is_claim()));
    match decided {
        [None, None] => AgreementOutcome::Undecided,
        [Some(_), None] | [None, Some(_)] => AgreementOutcome::Weaker,
        [Some(Higher { .. }), Some(Higher { .. })]
        | [Some(Lower { .. }), Some(Lower { .. })]
        | [Some(Equivalent { .. }), Some(Equivalent { .. })]
        | [
            Some(Equivalent { .. }),
            Some(Higher { within_margin: true, .. } | Lower { within_margin: true, .. }),
        ]
        | [
            Some(Higher { within_margin: true, .. } | Lower { within_margin: true, .. }),
            Some(Equivalent { .. }),
        ] => AgreementOutcome::Agree,
        [Some(_), Some(_)] => AgreementOutcome::Contradict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn answer(conclusion: Conclusion) -> EffectEstimate {
        EffectEstimate {
            conclusion,
            n: 12,
            incomplete: 0,
            change_pct: None,
            low_pct: None,
            high_pct: None,
            level_pct: None,
            simultaneous_pct: None,
            p: None,
            p_adjusted: None,
            p_exploratory: None,
            family: 1,
        }
    }

    #[test]
    fn every_pair_of_conclusions_has_its_outcome() {
        use AgreementOutcome::{Agree, Contradict, Undecided, Weaker};
        let higher = |within_margin| Some(answer(Conclusion::Higher { better: false, within_margin }));
        let lower = |within_margin| Some(answer(Conclusion::Lower { better: true, within_margin }));
        let equivalent = || Some(answer(Conclusion::Equivalent { margin_pct: 2.0 }));
        let open = || Some(answer(Conclusion::Inconclusive { could_have_seen_pct: None }));
        let few = || Some(answer(Conclusion::TooFew { needs: 9 }));
        for (one, other, expected) in [
            (higher(false), higher(false), Agree),
            (higher(false), higher(true), Agree),
            (lower(true), lower(false), Agree),
            (equivalent(), equivalent(), Agree),
            (equivalent(), higher(true), Agree),
            (equivalent(), lower(true), Agree),
            (higher(false), lower(false), Contradict),
            (higher(true), lower(true), Contradict),
            (equivalent(), higher(false), Contradict),
            (equivalent(), lower(false), Contradict),
            (equivalent(), open(), Weaker),
            (higher(false), few(), Weaker),
            (lower(true), None, Weaker),
            (open(), few(), Undecided),
            (open(), None, Undecided),
        ] {
            for pair in [[&one, &other], [&other, &one]] {
                assert_eq!(outcome(pair.map(Option::as_ref)), expected, "{pair:?}");
            }
        }
    }
}
