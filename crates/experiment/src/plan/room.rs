//! Room of the limits that policies request for instances.

use crate::{
    factors::{endpoint_qos::End, policies::Policies},
    plan::experiment_file::ExperimentFile,
};

/// Returns that a limit of all samples has no room for instances with as many samples as the policies may keep of each, if so.
pub(crate) fn fault(key: &str, limit: i64, instances: u32, policies: &Policies) -> Option<String> {
    let each = [&policies.history_depth, &policies.max_samples_per_instance];
    let each = each.into_iter().flatten().map(|samples| *samples.get()).fold(1, i32::max);
    (limit < i64::from(instances) * i64::from(each)).then(|| {
        format!("`{key} = {limit}` has no room for {instances} instances with up to {each} samples each")
    })
}

/// Returns the limit of all samples that policies request, if it is one.
pub(crate) fn own_limit(policies: &Policies) -> Option<i64> {
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
