//! Pairs of results on a host that changes between and within them, compared with `verdicts::compare` on complete
//! documents, as `ddsmark compare` does.

use experiment::{Cell, Design, Plan, Workload};
use results::{Conclusion, CriterionOutcome, Metric, ResultDocument, Verdict, VerdictKind};
use simulate::{HostChange, HostModel, RunVariation, Simulator};
use verdicts::{CompareOptions, CompareSide, Criterion, compare};

use crate::{
    rate::Rate,
    rig::{MS, WINDOWS, cell, design},
};

/// Seeds, fixed before the first result.
pub const SEEDS: [u64; 3] = [59, 2024, 8101];
/// Number of blocks of each result.
pub const BLOCKS: u32 = 12;
/// True elasticities of the middleware.
#[allow(dead_code, reason = "the tests have fewer")]
pub const TRUE_ELASTICITIES: [f64; 5] = [0.0, 0.4, 1.0, 1.6, 2.0];
/// Criterion of the comparison.
const FORBIDDEN: &str = "p50 > +5%";

/// Change of the host over both results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drift {
    /// No change.
    Still,
    /// Slowdown by this relative amount from between the two results on.
    Step(f64),
    /// Slowdown by this relative amount from the middle of the first result to the middle of the second.
    Bump(f64),
    /// Slowdown by this relative amount per block, over both results and twice as many blocks between them.
    Trend(f64),
}

#[allow(dead_code, reason = "the tests have fewer")]
pub const DRIFTS: [Drift; 8] = [
    Drift::Still,
    Drift::Step(0.05),
    Drift::Step(0.3),
    Drift::Step(-0.55),
    Drift::Bump(0.2),
    Drift::Bump(-0.2),
    Drift::Trend(0.002),
    Drift::Trend(-0.01),
];

impl Drift {
    fn host(self, second: bool, elasticity: f64, reference_sd: f64) -> HostChange {
        let blocks = f64::from(BLOCKS);
        let host = HostChange {
            begins: if second { 3.0 * blocks } else { 0.0 },
            elasticity,
            reference_sd,
            ..HostChange::default()
        };
        match self {
            Self::Still => host,
            Self::Step(change) => HostChange { steps: vec![(2.0 * blocks, change.ln_1p())], ..host },
            Self::Bump(change) => {
                let log = change.ln_1p();
                HostChange { steps: vec![(0.5 * blocks, log), (3.5 * blocks, -log)], ..host }
            }
            Self::Trend(change) => HostChange { trend: change.ln_1p(), ..host },
        }
    }
}

/// Pairs of results of one cell; the RTT of the second result is longer by a true effect.
#[derive(Clone, Copy, Debug)]
pub struct Pairs {
    pub drift: Drift,
    pub elasticity: f64,
    /// True relative effect on the RTT.
    pub effect: f64,
    /// Coefficient of variation between runs.
    pub cv: f64,
    /// Standard deviation of the logarithm of a metric of one reference measurement.
    pub reference_sd: f64,
    /// Whether the rule is applied; otherwise there are no references and claims are forced.
    pub with_references: bool,
}

impl Pairs {
    pub const fn new(drift: Drift, elasticity: f64, effect: f64) -> Self {
        Self { drift, elasticity, effect, cv: 0.01, reference_sd: 0.01, with_references: true }
    }

    fn result(&self, second: bool, seed: u64) -> ResultDocument {
        let latency = 20_000.0 * if second { 1.0 + self.effect } else { 1.0 };
        // 48 round trips per run: their median scatters by 0.13 %.
        let latency = format!("lognormal:{}ns,0.01", latency.round());
        let cell = Cell {
            id: "sim/latency".to_owned(),
            ..cell(Workload::Latency, true, 0, &[("latency", latency.as_str())])
        };
        let experiment = Plan {
            name: "simulated".to_owned(),
            question: "Is it seen?".to_owned(),
            cells: vec![cell],
            design: Design {
                blocks: BLOCKS,
                seed: 2 * seed + u64::from(second),
                warm_up_ns: 0,
                windows: WINDOWS,
                reference: self.with_references,
                ..design(2 * MS)
            },
            ..Plan::default()
        };
        let host = HostModel {
            between: RunVariation { sd: self.cv, ..RunVariation::default() },
            change: self.drift.host(second, self.elasticity, self.reference_sd),
            ..HostModel::default()
        };
        Simulator::on(host).experiment(&experiment).expect("a simulated experiment")
    }

    /// Returns the verdict on the median RTT and the outcome of the criterion.
    fn compared(&self, seed: u64) -> (Verdict, CriterionOutcome) {
        let (before, after) = (self.result(false, seed), self.result(true, seed));
        let options = CompareOptions {
            factors: vec!["option".to_owned()],
            metrics: vec![Metric::RttP50.into()],
            criteria: vec![Criterion::parse(FORBIDDEN).expect("a criterion")],
            force: !self.with_references,
        };
        let compared = compare(&side("before", &before), &side("after", &after), &options);
        let mut compared = compared.unwrap_or_else(|error| panic!("{error}: {:?}", error.details()));
        compared.verdicts.retain(|verdict| verdict.kind == VerdictKind::Comparison);
        assert_eq!((compared.verdicts.len(), compared.criteria.len()), (1, 1));
        (compared.verdicts.remove(0), compared.criteria[0].outcome)
    }
}

fn side<'d>(name: &str, document: &'d ResultDocument) -> CompareSide<'d> {
    CompareSide { name: name.to_owned(), document, cells: document.cells.iter().collect() }
}

/// Rates over many pairs.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Rate of claims: with a true effect, that the RTT is higher; without, that it differs.
    pub differs: Rate,
    /// Rate of false claims: a difference without an effect, in the wrong direction, or equivalence beyond the
    /// margin.
    pub wrong: Rate,
    /// Rate of criteria falsely reported as failed or passed.
    pub wrong_criterion: Rate,
    /// Rate of printed intervals that cover the true effect.
    pub covers: Rate,
}

impl Tally {
    /// Returns the pooled counts.
    #[allow(dead_code, reason = "the tests do not join counts")]
    pub fn and(self, other: Self) -> Self {
        Self {
            differs: self.differs.and(other.differs),
            wrong: self.wrong.and(other.wrong),
            wrong_criterion: self.wrong_criterion.and(other.wrong_criterion),
            covers: self.covers.and(other.covers),
        }
    }
}

pub fn tally(pairs: Pairs, seed: u64, n: u32) -> Tally {
    let (mut differs, mut wrong, mut wrong_criterion, mut covers) = (0, 0, 0, 0);
    for pair in 0..n {
        let (verdict, outcome) = pairs.compared((seed << 32) + u64::from(pair));
        let answer = verdict.answer.as_ref().expect("an answer");
        let is_wrong = match &answer.conclusion {
            Conclusion::Higher { .. } => pairs.effect <= 0.0,
            Conclusion::Lower { .. } => pairs.effect >= 0.0,
            Conclusion::Equivalent { margin_pct } => 100.0 * pairs.effect.abs() > *margin_pct,
            Conclusion::Inconclusive { .. } => false,
            Conclusion::TooFew { .. } => panic!("{BLOCKS} blocks are enough: {}", verdict.text),
        };
        wrong += u32::from(is_wrong);
        differs += u32::from(match &answer.conclusion {
            Conclusion::Higher { .. } => true,
            Conclusion::Lower { .. } => pairs.effect == 0.0,
            _ => false,
        });
        // An effect equal to the bound counts as neither.
        wrong_criterion += u32::from(match outcome {
            CriterionOutcome::Broken => pairs.effect < 0.05,
            CriterionOutcome::Kept => pairs.effect > 0.05,
            CriterionOutcome::CannotTell => false,
        });
        let interval = answer.low_pct.zip(answer.high_pct).expect("an interval");
        covers += u32::from(interval.0 <= 100.0 * pairs.effect && 100.0 * pairs.effect <= interval.1);
    }
    let rate = |times| Rate { times, of: n };
    Tally {
        differs: rate(differs),
        wrong: rate(wrong),
        wrong_criterion: rate(wrong_criterion),
        covers: rate(covers),
    }
}
