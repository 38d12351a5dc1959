//! Reasons why two sides are not compared.

use experiment::Workload;
use results::{Difference, MetricSelector};

use crate::differences::covering;

/// Reason why two sides are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They differ in more than the named factors.
    #[error("the two sides differ in more than the named factors")]
    Differ(Vec<Difference>),
    /// No cell of one side has a counterpart on the other.
    #[error("no cell of `{treatment}` has a counterpart in `{baseline}`")]
    NothingToCompare {
        /// Name of the baseline side.
        baseline: String,
        /// Name of the candidate side.
        treatment: String,
    },
    /// No compared cell has the metric.
    #[error("no compared cell has the metric `{}`: their workload is {workload}", .wanted.word())]
    WrongMetric {
        /// Requested metric.
        wanted: MetricSelector,
        /// Workloads of the cells.
        workload: String,
    },
    /// The factor does not exist.
    #[error("unknown factor `{name}`: neither side has a field of that name")]
    UnknownFactor {
        /// Name as given.
        name: String,
        /// Most similar name of a field or factor, if it is similar enough.
        meant: Option<String>,
    },
}

impl CompareError {
    /// Returns the unnamed differences, one per line.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Differ(differences) => differences.iter().map(in_words).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Differ(differences) => format!(
                "if all of that is meant to differ, add `--factor {}`; or go on with `--force`, which the output will say",
                covering(differences).join(",")
            ),
            Self::NothingToCompare { .. } => {
                "name one cell of each, as in `RESULT:CELL`; `ddsmark report RESULT --json` has their ids"
                    .to_owned()
            }
            Self::WrongMetric { .. } => {
                let of = |workload: &Workload| {
                    let all = MetricSelector::all().filter(|wanted| wanted.for_workload(*workload).is_some());
                    format!("{workload} has {}", all.map(MetricSelector::word).collect::<Vec<_>>().join(", "))
                };
                Workload::ALL.iter().map(of).collect::<Vec<_>>().join("; ")
            }
            Self::UnknownFactor { meant, .. } => {
                let meant =
                    meant.as_ref().map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
                format!(
                    "{meant}a factor is a field such as `driver`, `size`, `qos.reliability`, `design.pin` or \
                     `env.net.core.rmem_max`, or a group of them such as `qos` or `env`"
                )
            }
        }
    }
}

pub(crate) fn in_words(difference: &Difference) -> String {
    let value =
        |value: &Option<String>| value.as_ref().map_or_else(|| "none".to_owned(), |v| format!("`{v}`"));
    format!("{}: {}, then {}", difference.field, value(&difference.baseline), value(&difference.treatment))
}
