//! Policies that the driver does not act on get no claim of cost.

use experiment::{Policy, PolicySupport, QosDuration, Support};
use results::ResultDocument;

use crate::{conclusion, latency, p50};

/// Returns a result of two cells of one driver that differ in LATENCY_BUDGET, which the driver declares as `support`; the candidate
/// is 10 % faster.
fn with_latency_budget(support: Support) -> ResultDocument {
    let mut document = latency(12, 0.9, 0.01);
    let baseline = document.cells.iter().find(|cell| cell.id.starts_with("plain")).expect("a baseline");
    let (factors, effective) = (baseline.factors.clone(), baseline.effective_qos.clone());
    for cell in document.cells.iter_mut().filter(|cell| cell.id.starts_with("dds")) {
        cell.factors = factors.clone();
        cell.effective_qos = effective.clone();
        cell.settings.clear();
        cell.factors.profile = Some("budget".to_owned());
        cell.factors.base = Some("with-budget".to_owned());
        cell.factors.qos.latency_budget_ns = Some(QosDuration::Ns(1_000_000));
    }
    document.cells.iter_mut().for_each(|cell| cell.settings.clear());
    let driver = document.drivers.get_mut(&factors.driver).expect("the driver");
    driver.policies.insert(Policy::LatencyBudget, PolicySupport::of_both(support, None));
    document
}

#[test]
fn policy_without_effect_gets_no_claim_of_cost() {
    for (support, words) in [
        (Support::Ignored, "latency_budget is ignored"),
        (Support::NeedsService, "latency_budget needs a service"),
    ] {
        let verdict = p50(&with_latency_budget(support));
        assert_eq!(verdict.answer, None);
        let why = verdict.withheld.as_deref().expect("a reason");
        assert!(why.contains(words) && why.contains("no cost to claim"), "{why}");
        assert!(verdict.text.contains(words), "{}", verdict.text);
    }
}

#[test]
fn policy_that_may_act_gets_a_claim() {
    for support in [Support::Enforced, Support::Hint, Support::MatchedOnly] {
        let verdict = p50(&with_latency_budget(support));
        assert!(conclusion(&verdict).differs(), "{support}: {}", verdict.text);
    }
}

#[test]
fn difference_in_more_than_an_ignored_policy_gets_a_claim() {
    let mut document = with_latency_budget(Support::Ignored);
    for cell in document.cells.iter_mut().filter(|cell| cell.id.starts_with("dds")) {
        cell.factors.qos.deadline_ns = Some(QosDuration::Ns(1_000_000_000));
    }
    // the driver does not declare DEADLINE: its request would have been rejected
    assert_eq!(p50(&document).withheld, None);
    let mut document = with_latency_budget(Support::Ignored);
    for cell in document.cells.iter_mut().filter(|cell| cell.id.starts_with("dds")) {
        cell.factors.transport = "shm".to_owned();
    }
    assert_eq!(p50(&document).withheld, None);
}
