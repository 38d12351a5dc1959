//! Factors of the workload `discovery`: endpoints of a participant, and when participants join.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Factor, FactorValues, OneOrMany, PlanError, SpannedError, Topology, Value, Workload, syntax::named::named,
};

/// Maximum number of writers, and of readers, of a participant.
const MAX_ENDPOINTS: u32 = 100;

/// Time at which the participants of a run join.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// All at the same instant.
    #[default]
    Together,
    /// The last one, when all others are matched.
    Late,
}

named!(Join { Together = "together", Late = "late" });

/// Endpoints of each participant, and when participants join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Discovery {
    /// Number of writers of each participant, and of its readers.
    pub endpoints: u32,
    /// Time at which the participants join.
    pub join: Join,
}

impl Default for Discovery {
    fn default() -> Self {
        Self { endpoints: 1, join: Join::Together }
    }
}

impl Discovery {
    /// Returns whether it is the default.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Rejects the workload `discovery` with a topology that has no participants, and together with other workloads.
pub(crate) fn check_workload(
    _: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    let workloads: OneOrMany<Workload> = values.typed();
    let Some(discovery) = workloads.0.iter().find(|of| *of.get() == Workload::Discovery) else {
        return Ok(());
    };
    let refused = |words: &str, hint| {
        Err(PlanError::Contradiction { words: words.to_owned(), hint }.at(discovery.span()))
    };
    if workloads.0.len() > 1 {
        let words = "the workload `discovery` has a topology that no other workload has";
        return refused(words, "measure `discovery` in an experiment of its own");
    }
    let topologies = all.all::<Topology>("topology");
    if topologies.0.is_empty() || topologies.values().any(|of| !matches!(of, Topology::FullMesh { .. })) {
        let words = "the workload `discovery` needs a number of participants";
        return refused(words, "use `topology = \"full-mesh-10\"` for 10 participants");
    }
    Ok(())
}

/// Rejects numbers of endpoints out of range, and those without effect.
pub(crate) fn check_endpoints(
    row: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    for endpoints in &values.typed::<u32>().0 {
        let refused =
            |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(endpoints.span()));
        if !(1..=MAX_ENDPOINTS).contains(endpoints.get()) {
            let words = format!("`{} = {}` is out of range", row.key, endpoints.get());
            return refused(words, "use 1 to 100 writers and as many readers for each participant");
        }
        if *endpoints.get() > 1 && !all.has_workload(Workload::Discovery) {
            let words =
                format!("`{} = {}` has an effect on the workload `discovery` only", row.key, endpoints.get());
            return refused(words, "use `ddsmark discovery`, or remove it");
        }
    }
    Ok(())
}

/// Rejects a late join without the workload `discovery`.
pub(crate) fn check_join(
    _: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    let late = values.typed::<Join>().0.into_iter().find(|join| *join.get() == Join::Late);
    match late {
        Some(late) if !all.has_workload(Workload::Discovery) => {
            let words = "`join = \"late\"` has an effect on the workload `discovery` only".to_owned();
            Err(PlanError::Contradiction { words, hint: "use `ddsmark discovery`, or remove it" }
                .at(late.span()))
        }
        _ => Ok(()),
    }
}

/// Returns the error for a driver without discovery.
pub(crate) fn no_discovery(driver: &str) -> PlanError {
    PlanError::Contradiction {
        words: format!("driver `{driver}` has no discovery: ddsmark passes it the locators of its peers"),
        hint: "use a driver of DDS middleware; `ddsmark drivers list` shows those that are installed",
    }
}
