//! Policies in which two cells differ, and which have no effect in their middleware.

use experiment::{DriverDescription, Qos, Support, distinct};

use crate::{
    differences::{fields_of_both, unequal},
    part::Part,
};

/// Returns the reason to claim no cost of a policy: the cells differ in policies only, and the driver acts on none of them.
pub(crate) fn inert(baseline: &Part<'_>, treatment: &Part<'_>) -> Option<String> {
    let [before, after] =
        fields_of_both([(baseline.document(), baseline.cell), (treatment.document(), treatment.cell)]);
    // profiles and bases are names of policies
    let is_name = |field: &str| ["profile", "base"].contains(&field);
    let differing = unequal(&before, &after).into_iter().filter(|difference| !is_name(&difference.field));
    let fields: Vec<String> = differing.map(|difference| difference.field).collect();
    let driver = &treatment.cell.factors.driver;
    let description = treatment.document().drivers.get(driver)?;
    let reasons = fields.iter().map(|field| without_effect(description, field));
    let reasons = distinct(reasons.collect::<Option<Vec<String>>>()?);
    (!reasons.is_empty()).then(|| {
        format!(
            "the cells differ only in what `{driver}` does not act on, so there is no cost to claim: {}",
            reasons.join(", ")
        )
    })
}

/// Returns that a requested policy has no effect at any endpoint of which it is requested; `None` if it has, or if the field is not
/// that of a requested policy.
fn without_effect(driver: &DriverDescription, field: &str) -> Option<String> {
    let field = field.strip_prefix("qos.").or_else(|| Some(field.split_once(".qos.")?.1))?;
    let (ends, field) = match field.split_once('.') {
        Some(("writer", field)) => ([true, false], field),
        Some(("reader", field)) => ([false, true], field),
        _ => ([true, true], field),
    };
    let policy = Qos::policy_of(field)?;
    let support = driver.support_of_ends(policy);
    let levels: Vec<Support> =
        support.into_iter().zip(ends).filter_map(|(support, is_of)| is_of.then_some(support)).collect();
    if levels.iter().any(|support| !matches!(support, Support::Ignored | Support::NeedsService)) {
        return None;
    }
    let state = if levels.contains(&Support::NeedsService) { "needs a service" } else { "is ignored" };
    Some(format!("{policy} {state}"))
}
