//! Instances of a keyed type, and filters of their keys.

use driver_abi::{description::DriverDescription, policies::Qos};

use crate::{
    factors::{
        Factors, Workload,
        content_filter::FilterSpec,
        discovery::Join,
        table::{Factor, out_of_range},
        value::Value,
        values::FactorValues,
    },
    syntax::spanned_error::{PlanError, contradiction, fault},
};

/// Maximum number of instances: a reader keeps the newest sequence number of each.
pub const MAX_INSTANCES: u32 = 100_000;

/// Rejects numbers of instances out of range.
pub(crate) fn check(row: &Factor, value: &Value, _: &FactorValues) -> Option<PlanError> {
    let number: u32 = value.to();
    if number > MAX_INSTANCES {
        return out_of_range(row, number, "use 1 to 100000 instances, or 0 for a type without key");
    }
    None
}

/// Returns an error for instances of a driver without a keyed type.
pub(crate) fn unsupported(driver: &str, description: &DriverDescription, value: &Value) -> Option<PlanError> {
    let missing = value.to::<u32>() > 0 && !description.type_kinds.iter().any(|kind| kind == "keyed");
    missing.then(|| {
        let words = format!("driver `{driver}` has no keyed type, so its samples have no instances");
        contradiction(words, "use `instances = 0`, or drivers with this type: see `ddsmark drivers info D`")
    })
}

/// Rejects filters without keys, those that include no key that is written, and those with a late reader.
pub(crate) fn check_filter(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let keys = value.to::<FilterSpec>().0?;
    let counts = all.all::<u32>("instances");
    if !counts.values().any(|count| *count > 0) {
        return fault(
            "`content_filter` needs samples with keys",
            "set `instances`, or remove `content_filter`",
        );
    }
    if let Some(count) = counts.values().find(|count| (1..=keys.first).contains(*count)) {
        let words = format!("`{keys}` includes no key of {count} instances, which have the keys from 0");
        return fault(words, "use more `instances`, or a filter with lower keys");
    }
    if ![Workload::Throughput, Workload::Paced].iter().any(|workload| all.has_workload(*workload)) {
        let words = "`content_filter` has an effect on `throughput` and `paced` only";
        return fault(words, "use one of these workloads, or remove `content_filter`");
    }
    if all.contains("join", &Join::Late.into()) {
        return fault("`content_filter` is not supported with `join = \"late\"`", "remove one of them");
    }
    None
}

/// Returns an error for filters of a driver without them.
pub(crate) fn filter_unsupported(
    driver: &str,
    description: &DriverDescription,
    value: &Value,
) -> Option<PlanError> {
    let missing = value.to::<FilterSpec>().0.is_some() && !description.has("content_filter");
    missing.then(|| {
        let words = format!("driver `{driver}` has no content filter");
        let hint = "remove `content_filter`, or use drivers with this feature: see `ddsmark drivers info D`";
        contradiction(words, hint)
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
