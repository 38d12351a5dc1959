//! Verdict on a system: what all claims about its flows say together.

use results::{Verdict, VerdictKind};

/// Returns the line about a system: better only if something is better and nothing is worse. `None` if the verdicts are not those of
/// several flows.
pub(crate) fn line(verdicts: &[&Verdict]) -> Option<String> {
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
    let (better, worse) = (names(true).join(", "), names(false).join(", "));
    Some(match (better.is_empty(), worse.is_empty()) {
        (true, true) => "System: no difference is shown.".to_owned(),
        (false, true) => format!("System: better. Better: {better}. Worse: nothing is shown."),
        (true, false) => format!("System: worse. Worse: {worse}. Better: nothing is shown."),
        (false, false) => format!("System: a trade-off. Better: {better}. Worse: {worse}."),
    })
}

#[cfg(test)]
mod tests {
    use results::{Conclusion, EffectEstimate, Metric, Pairing, VerdictSide};

    use super::*;

    fn verdict(flow: &str, conclusion: Conclusion) -> Verdict {
        let side = || VerdictSide {
            result: None,
            cell: "cell".to_owned(),
            runs: 12,
            failed: 0,
            invalid: 0,
            without_value: 0,
            unsteady: 0,
            sender_limited: 0,
            share_sps: None,
            missing_pct: 0.0,
            under_duet_interference: false,
            median: None,
            modes: Vec::new(),
            modes_by: None,
        };
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
