//! Checks of queues and receive groups that need the policies, the size of samples or the driver.

use driver_abi::{
    description::{DriverDescription, Support},
    policies::Policy,
};

use crate::{
    factors::{
        FactorValues,
        endpoint_qos::{End, without_effect},
        group::GroupSpec,
    },
    plan::{experiment_file::ExperimentFile, selected_policies::SelectedPolicies},
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError, contradiction},
    },
};

/// Returns the queues of samples: key, endpoint and values of each.
fn sample_queues(values: &FactorValues) -> Vec<(&'static str, End, OneOrMany<u32>)> {
    let both = [("send_queue", End::Writer), ("receive_queue", End::Reader)];
    both.into_iter()
        .map(|(key, end)| (key, end, values.all(key)))
        .filter(|(.., all)| !all.0.is_empty())
        .collect()
}

/// Rejects queues that contradict the requested policies.
pub(crate) fn check_policies(values: &FactorValues, file: &ExperimentFile) -> Result<(), SpannedError> {
    for (key, end, queue) in sample_queues(values) {
        for samples in &queue.0 {
            let limit = i32::try_from(*samples.get()).unwrap_or(i32::MAX);
            for SelectedPolicies { policies, .. } in file.all_policies().filter(|of| of.end == end) {
                if policies.max_samples.is_some() {
                    let words = format!("`{key}` and the policy `max_samples` are the same limit");
                    return samples.refused(words, "remove one of them");
                }
                let least = [&policies.history_depth, &policies.max_samples_per_instance];
                if let Some(more) =
                    least.into_iter().flatten().map(Located::get).find(|least| **least > limit)
                {
                    let words =
                        format!("`{key} = {limit}` has no room for the {more} samples of the policies");
                    return samples
                        .refused(words, "choose a larger `max_samples` (DDS 1.4 section 2.2.3.19)");
                }
            }
        }
    }
    Ok(())
}

/// Rejects groups that are too large for samples of this size.
pub(crate) fn have_room(values: &FactorValues, size_bytes: u64) -> Result<(), SpannedError> {
    for group in &values.all::<GroupSpec>("receive_group").0 {
        if let Some(words) = group.get().fault(size_bytes) {
            return group.refused(words, "use a smaller group, or measure large samples in another file");
        }
    }
    Ok(())
}

/// Checks the queues against the driver's support. Returns the policy that the driver accepts without effect, if any.
pub(crate) fn check_support(
    values: &FactorValues,
    driver: &str,
    description: &DriverDescription,
) -> Result<Option<String>, SpannedError> {
    let policy = Policy::ResourceLimits;
    let [of_writers, of_readers] = description.support_of_ends(policy);
    let mut ignored = None;
    for (field, end, queue) in sample_queues(values) {
        match if end == End::Writer { of_writers } else { of_readers } {
            Support::Unsupported => {
                let at = queue.0.first().map_or(0..0, Located::span);
                let hint = format!(
                    "set the socket buffer of `{driver}` with `{}`, or remove the driver",
                    field.replace("queue", "buffer")
                );
                return Err(no_policy(driver, policy, field, hint).at(at));
            }
            // A writer gets the queue in bytes, too, which its driver applies or rejects.
            Support::Ignored if end == End::Reader => {
                ignored = Some(without_effect(description, policy, &[end]));
            }
            _ => {}
        }
    }
    Ok(ignored)
}

/// Returns the error of a policy that a driver does not support, which this key requests.
pub(crate) fn no_policy(driver: &str, policy: Policy, key: &str, hint: String) -> PlanError {
    let policy = policy.name();
    let words = format!("driver `{driver}` does not support policy {policy}: `{key}` cannot be requested");
    contradiction(words, hint)
}
