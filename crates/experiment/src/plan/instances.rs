//! Room of the requested limits for instances.

use crate::{
    factors::{FactorValues, endpoint_qos::End, policies::Policies},
    plan::{experiment_file::ExperimentFile, selected_policies::SelectedPolicies},
    syntax::{
        one_or_many::OneOrMany,
        spanned_error::{PlanError, SpannedError},
    },
};

/// Returns that a limit of all samples has no room for instances with as many samples as the policies may keep of each, if so.
fn fault(key: &str, limit: i64, instances: u32, policies: &Policies) -> Option<String> {
    let each = [&policies.history_depth, &policies.max_samples_per_instance];
    let each = each.into_iter().flatten().map(|samples| *samples.get()).fold(1, i32::max);
    (limit < i64::from(instances) * i64::from(each)).then(|| {
        format!("`{key} = {limit}` has no room for {instances} instances with up to {each} samples each")
    })
}

/// Returns the limit of all samples that policies request, if it is one.
fn own_limit(policies: &Policies) -> Option<i64> {
    policies.max_samples.as_ref().map(|limit| i64::from(*limit.get())).filter(|limit| *limit > 0)
}

/// Returns why a profile has no room for the instances of an experiment; `None` if it has.
pub(crate) fn lack_of_room(file: &ExperimentFile, profile: &Policies) -> Option<String> {
    let instances = file.values_of::<u32>("instances").map(|of| *of.get()).max()?;
    let policies = profile.over(&file.qos);
    End::BOTH.into_iter().find_map(|end| {
        let policies = policies.of_end(end);
        fault("max_samples", own_limit(&policies)?, instances, &policies)
    })
}

/// Rejects instances for which requested limits have no room, or for which the middleware's own limits may have none.
pub(crate) fn check_room(values: &FactorValues, file: &ExperimentFile) -> Result<(), SpannedError> {
    let all: OneOrMany<u32> = values.all("instances");
    let Some(most) = all.0.iter().max_by_key(|instances| *instances.get()).filter(|most| *most.get() > 0)
    else {
        return Ok(());
    };
    let refused = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(most.span()));
    let shipped = values.contains("vendor_defaults", &true.into());
    for SelectedPolicies { end, policies, origin } in file.all_policies() {
        if shipped && policies.max_samples.is_none() {
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
        let mut limits = limits.chain(own_limit(&policies).map(|limit| ("max_samples", limit)));
        if let Some(words) = limits.find_map(|(key, limit)| fault(key, limit, *most.get(), &policies)) {
            let hint = match origin.as_str() {
                "" => "choose a larger limit, or fewer instances",
                _ => {
                    "choose a larger limit or fewer instances, or select others with `--profile` and `--base`"
                }
            };
            return refused(format!("{words}{origin}"), hint);
        }
    }
    Ok(())
}
