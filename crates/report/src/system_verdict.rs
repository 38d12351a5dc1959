//! Verdict on a system: what all claims about its flows say together.

use results::{ResultDocument, Verdict, VerdictKind};

/// Summary of the verdicts on the flows of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemVerdict {
    /// Cell that is compared, by id.
    pub treatment: String,
    /// Cell that it is compared with, by id.
    pub baseline: String,
    /// Metrics of flows that are better, in the order of the verdicts.
    pub better: Vec<String>,
    /// Metrics of flows that are worse, in the order of the verdicts.
    pub worse: Vec<String>,
}

impl SystemVerdict {
    /// Returns the verdict on the pair of cells that all of these verdicts compare; `None` unless they are those of several flows.
    fn new(verdicts: &[&Verdict]) -> Option<Self> {
        let first = verdicts.first()?;
        if first.kind != VerdictKind::Comparison || verdicts.iter().all(|verdict| verdict.flow.is_none()) {
            return None;
        }
        let names = |better: bool| -> Vec<String> {
            let is_such = |verdict: &&&Verdict| {
                verdict.answer.as_ref().and_then(|answer| answer.conclusion.is_better()) == Some(better)
            };
            verdicts.iter().filter(is_such).map(|verdict| verdict.metric_name()).collect()
        };
        Some(Self {
            treatment: first.treatment.cell.clone(),
            baseline: first.baseline.cell.clone(),
            better: names(true),
            worse: names(false),
        })
    }

    /// Returns the verdict: better only if something is better and nothing is worse.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        match (self.better.is_empty(), self.worse.is_empty()) {
            (true, true) => "no difference is shown",
            (false, true) => "better",
            (true, false) => "worse",
            (false, false) => "a trade-off",
        }
    }
}

/// Returns the line about a system; `None` if the verdicts are not those of several flows.
pub(crate) fn line(verdicts: &[&Verdict]) -> Option<String> {
    let of = SystemVerdict::new(verdicts)?;
    let (better, worse, outcome) = (of.better.join(", "), of.worse.join(", "), of.outcome());
    Some(match (better.is_empty(), worse.is_empty()) {
        (true, true) => format!("System: {outcome}."),
        (false, true) => format!("System: {outcome}. Better: {better}. Worse: nothing is shown."),
        (true, false) => format!("System: {outcome}. Worse: {worse}. Better: nothing is shown."),
        (false, false) => format!("System: {outcome}. Better: {better}. Worse: {worse}."),
    })
}

/// Returns the verdicts on all pairs of systems of a result.
#[must_use]
pub fn of_document(document: &ResultDocument) -> Vec<SystemVerdict> {
    let compared = document.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison);
    let compared: Vec<&Verdict> = compared.collect();
    let sides = |verdict: &Verdict| (verdict.treatment.cell.clone(), verdict.baseline.cell.clone());
    compared.chunk_by(|left, right| sides(left) == sides(right)).filter_map(SystemVerdict::new).collect()
}

#[cfg(test)]
mod tests {
    use results::{Conclusion, EffectEstimate, Metric, Pairing, VerdictSide};

    use super::*;

    fn verdict(flow: &str, conclusion: Conclusion) -> Verdict {
        let side = || VerdictSide { cell: "cell".to_owned(), runs: 12, ..VerdictSide::default() };
        let answer = EffectEstimate {
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
            family: 3,
        };
        Verdict {
            kind: VerdictKind::Comparison,
            metric: Metric::Missed,
            flow: Some(flow.to_owned()),
            is_of_round_trips: false,
            unit: "%".to_owned(),
            treatment: side(),
            baseline: side(),
            pairing: Pairing::Blocks,
            answer: Some(answer),
            without_noisy: None,
            withheld: None,
            references: Vec::new(),
            host_explains: false,
            text: String::new(),
        }
    }

    #[test]
    fn system_is_better_only_if_nothing_is_worse() {
        let lower = |better| Conclusion::Lower { better, within_margin: false };
        let higher = Conclusion::Higher { better: false, within_margin: false };
        let (camera, imu) = (verdict("camera", lower(true)), verdict("imu", higher));
        let alike = verdict("map", Conclusion::Equivalent { margin_pct: 2.0 });
        let of = |verdicts: &[&Verdict]| line(verdicts).expect("flows");
        assert!(of(&[&camera, &alike]).starts_with("System: better. "), "{}", of(&[&camera, &alike]));
        assert!(of(&[&imu, &alike]).starts_with("System: worse. "));
        let both = of(&[&camera, &imu, &alike]);
        assert!(both.starts_with("System: a trade-off. Better: ") && both.contains("`imu`"), "{both}");
        assert_eq!(of(&[&alike]), "System: no difference is shown.");
        assert_eq!(line(&[&Verdict { flow: None, ..camera }]), None);
    }
}
