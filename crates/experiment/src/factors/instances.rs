//! Instances of a keyed type.

use crate::{
    DriverDescription, Factor, FactorValues, Factors, OneOrMany, PlanError, Qos, SpannedError, Value,
    factors::endpoint_qos::End, plan::experiment_file::ExperimentFile,
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

/// Rejects instances for which requested limits have no room, or for which the middleware's own limits may have none.
pub(crate) fn check_room(values: &FactorValues, file: &ExperimentFile) -> Result<(), SpannedError> {
    let all: OneOrMany<u32> = values.all("instances");
    let Some(most) = all.0.iter().max_by_key(|instances| *instances.get()).filter(|most| *most.get() > 0)
    else {
        return Ok(());
    };
    let instances = *most.get();
    let refused = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(most.span()));
    let shipped = values.contains("vendor_defaults", &true.into());
    for (end, policies) in file.all_policies() {
        let requested = policies.max_samples.as_ref().map(|limit| i64::from(*limit.get()));
        if shipped && requested.is_none() {
            let words =
                "with `vendor_defaults`, the middleware may have room for a few instances only".to_owned();
            return refused(
                words,
                "add `max_samples` to `[qos]`, use `vendor_defaults = false`, or `instances = 0`",
            );
        }
        let queue = if end == End::Writer { "send_queue" } else { "receive_queue" };
        let queues = values.all::<u32>(queue);
        let limits = queues.values().map(|samples| (queue, i64::from(*samples)));
        let each = [&policies.history_depth, &policies.max_samples_per_instance];
        let each = each.into_iter().flatten().map(|samples| *samples.get()).fold(1, i32::max);
        let needed = i64::from(instances) * i64::from(each);
        for (key, limit) in
            limits.chain(requested.filter(|limit| *limit > 0).map(|limit| ("max_samples", limit)))
        {
            if limit < needed {
                let words = format!(
                    "`{key} = {limit}` has no room for {instances} instances with up to {each} samples each"
                );
                return refused(words, "choose a larger limit, or fewer instances");
            }
        }
    }
    Ok(())
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
