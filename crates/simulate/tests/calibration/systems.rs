//! Systems of twelve topics, one of which misses its deadline more often in one of two cells, by a known amount: how often the
//! verdicts of the product find it, and how often they claim something about another topic. Each run is simulated sample by sample.

use std::{collections::BTreeMap, fmt::Write as _};

use experiment::Plan;
use results::{Conclusion, Metric, ResultDocument, Verdict, VerdictKind, comparison_claims};
use simulate::{HostModel, RunVariation, Simulator, describe};

use crate::{rate::Rate, shipped::planned};

/// Topic whose samples are large, so that the bandwidth delays it.
pub const CAMERA: &str = "camera";
/// Bandwidth of the baseline. Samples of 16 bytes move in 8 ns, those of the camera in 524 µs.
pub const BASELINE: &str = "16Gbit";
/// Bandwidth at which samples of the camera take 500 µs longer, and those of 16 bytes 8 ns.
pub const SLOWER: &str = "8.19Gbit";
/// Number of topics.
const TOPICS: usize = 12;
/// Mean of the exponential latency in µs.
const LATENCY_US: u32 = 500;
/// Time that each sample has beyond its time in the server, in µs.
const SLACK_US: u32 = 1_850;
/// Probability that a sample is lost.
const LOSS: f64 = 0.005;
/// Standard deviation of the logarithm of the times of a run.
const BETWEEN: f64 = 0.03;

/// Returns the true share of samples that miss the deadline if they take `later_us` longer than in the baseline.
pub fn missed_share(later_us: f64) -> f64 {
    let in_time = 1.0 - (-(f64::from(SLACK_US) - later_us) / f64::from(LATENCY_US)).exp();
    1.0 - (1.0 - LOSS) * in_time
}

/// Claim about a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TopicClaim {
    topic: String,
    /// Whether it says that more samples missed the deadline.
    more_missed: bool,
}

/// Claims of many experiments.
#[derive(Clone, Debug)]
pub struct SystemClaims {
    /// Claims that there is a difference, of each experiment.
    claims: Vec<Vec<TopicClaim>>,
    /// Number of experiments with a claim that had too few blocks.
    pub too_few: u32,
    /// Share of the camera's samples that missed the deadline, in the baseline and in the other cell.
    pub missed: [f64; 2],
}

impl SystemClaims {
    /// Returns how often more samples of this topic are claimed to have missed the deadline.
    pub fn suffers(&self, topic: &str) -> Rate {
        self.rate(|claim| claim.topic == topic && claim.more_missed)
    }

    /// Returns how often anything is claimed about another topic than this one; without one, about any.
    pub fn another(&self, topic: Option<&str>) -> Rate {
        self.rate(|claim| Some(claim.topic.as_str()) != topic)
    }

    fn rate(&self, is_counted: impl Fn(&TopicClaim) -> bool) -> Rate {
        let times = self.claims.iter().filter(|claims| claims.iter().any(&is_counted)).count();
        Rate { times: times as u32, of: self.claims.len() as u32 }
    }
}

fn plan_of(bandwidth: &str) -> Plan {
    let mut text = format!(
        "question = \"Which topic suffers?\"\nworkload = \"paced\"\n[qos]\nreliability = \"best_effort\"\n[factors]\ndriver = \"sim\"\n[options.sim]\n\
         latency = \"gamma:{LATENCY_US}us,1\"\nloss = \"{}%\"\nbandwidth = [\"{BASELINE}\", \"{bandwidth}\"]\n[design]\n\
         warm_up = \"0s\"\nthreads = \"one\"\nmeasure = \"2s\"\nbaseline = {{ options = {{ sim = {{ bandwidth = \"{BASELINE}\" }} }} }}\n",
        100.0 * LOSS
    );
    for topic in 0..TOPICS {
        let (name, size, in_server_us) = match topic {
            0 => (CAMERA.to_owned(), 1 << 20, 524),
            _ => (format!("topic-{topic}"), 16, 0),
        };
        let _ = write!(
            text,
            "[[flows]]\nname = \"{name}\"\nsize = {size}\nrate = \"200/s\"\ndeadline = \"{}us\"\nmissed = \"5%\"\n",
            SLACK_US + in_server_us
        );
    }
    let descriptions = BTreeMap::from([("sim".to_owned(), describe("sim", false))]);
    let mut plan = planned(&text, &descriptions);
    // Windows show a steady state, and each costs more than all that is drawn for it.
    plan.design.windows = 1;
    assert_eq!((plan.cells.len(), comparison_claims(&plan).len()), (2, 3 * TOPICS));
    plan
}

/// Executes experiments from the plan to the verdicts. `bandwidth`: that of the cell that is compared.
pub fn systems(bandwidth: &str, seed: u64, experiments: u32) -> SystemClaims {
    let mut plan = plan_of(bandwidth);
    let between = RunVariation { sd: BETWEEN, ..RunVariation::default() };
    let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
    let (mut claims, mut too_few, mut missed) = (Vec::new(), 0, [(0, 0); 2]);
    for number in 0..u64::from(experiments) {
        plan.design.seed = (seed << 32) + number;
        let document = simulator.experiment(&plan).expect("options of the simulation");
        count_missed(&document, &mut missed);
        let verdicts = verdicts::judge(&document);
        let of_comparisons = verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison);
        let conclusions: Vec<(&Verdict, &Conclusion)> = of_comparisons
            .map(|verdict| (verdict, &verdict.answer.as_ref().expect("an answer").conclusion))
            .collect();
        let is_too_few = |conclusion: &Conclusion| matches!(conclusion, Conclusion::TooFew { .. });
        too_few += u32::from(conclusions.iter().any(|(_, conclusion)| is_too_few(conclusion)));
        let differing = conclusions.iter().filter(|(_, conclusion)| conclusion.differs());
        let claim = |(verdict, conclusion): &(&Verdict, &Conclusion)| TopicClaim {
            topic: verdict.flow.clone().expect("a topic"),
            more_missed: verdict.metric == Metric::Missed && matches!(conclusion, Conclusion::Higher { .. }),
        };
        claims.push(differing.map(claim).collect());
    }
    SystemClaims { claims, too_few, missed: missed.map(|(missed, planned)| missed as f64 / planned as f64) }
}

/// Adds the missed and the planned samples of the camera in each cell, the baseline first.
fn count_missed(document: &ResultDocument, missed: &mut [(u64, u64); 2]) {
    for cell in &document.cells {
        let side = usize::from(!document.experiment.is_baseline(&cell.id));
        let flows = cell.runs.iter().flat_map(|run| &run.flows).filter(|flow| flow.name == CAMERA);
        for timeliness in flows.filter_map(|flow| flow.timeliness.as_ref()) {
            missed[side].0 += timeliness.missed;
            missed[side].1 += timeliness.planned;
        }
    }
}
