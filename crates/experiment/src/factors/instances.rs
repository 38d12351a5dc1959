//! Instances of a keyed type.

use crate::{
    DriverDescription, Factor, FactorValues, Factors, OneOrMany, PlanError, Qos, SpannedError, Value,
};

/// Maximum number of instances: a reader keeps the newest sequence number of each.
const MAX_INSTANCES: u32 = 100_000;

/// Rejects numbers of instances out of range.
pub(crate) fn check(_: &Factor, values: &OneOrMany<Value>, _: &FactorValues) -> Result<(), SpannedError> {
    match values.typed::<u32>().0.iter().find(|instances| *instances.get() > MAX_INSTANCES) {
        Some(many) => {
            let words = format!("`instances = {}` is out of range", many.get());
            let hint = "use 1 to 100000 instances, or 0 for a type without key";
            Err(PlanError::Contradiction { words, hint }.at(many.span()))
        }
        None => Ok(()),
    }
}

/// Returns an error for instances of a driver without a keyed type.
pub(crate) fn unsupported(driver: &str, description: &DriverDescription, value: &Value) -> Option<PlanError> {
    let missing = value.to::<u32>() > 0 && !description.type_kinds.iter().any(|kind| kind == "keyed");
    missing.then(|| {
        let words = format!("driver `{driver}` has no keyed type, so its samples have no instances");
        let hint = "use `instances = 0`, or drivers with this type: see `ddsmark drivers info D`";
        PlanError::Contradiction { words, hint }
    })
}

impl Factors {
    /// Returns the QoS with limits that have room for all instances, within the limit of samples that is requested. An
    /// implementation may have room for a few instances only by default, and may require that the limits of all
    /// instances together do not exceed that of all samples.
    pub(crate) fn with_instances(&self, qos: Qos) -> Qos {
        let Some(instances) = self.instances.and_then(|instances| i32::try_from(instances).ok()) else {
            return qos;
        };
        // Absent: the driver has no such limits.
        let Some(samples) = qos.max_samples.filter(|samples| *samples > 0) else { return qos };
        let depth = qos.history_depth.unwrap_or(1);
        let each = qos.max_samples_per_instance.unwrap_or_else(|| (samples / instances).max(depth).max(1));
        Qos {
            max_instances: qos.max_instances.or(Some(instances)),
            max_samples: Some(samples.max(instances.saturating_mul(each.max(1)))),
            max_samples_per_instance: Some(each),
            ..qos
        }
    }
}
