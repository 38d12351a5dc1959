//! Requests that follow from a design: the progress of the agents, and the domain of the runs.

use std::{collections::BTreeMap, sync::Mutex};

use host::{DomainClaim, Site as _};
use results::{Run, RunState, WarningKind};
use runner::{EndpointProgress, RunnerError, Sites, check_domain};

use crate::rig::{Rig, local_site};

/// Returns the states, domains and warnings of runs.
fn runs(rig: &Rig) -> Vec<(RunState, String, Vec<WarningKind>)> {
    let document = rig.execute();
    let domain = |run: &Run| run.endpoints[0].settings["participant"]["domain"].clone();
    let kinds = |run: &Run| run.warnings.iter().map(|warning| warning.kind).collect();
    document.cells[0].runs.iter().map(|run| (run.state, domain(run), kinds(run))).collect()
}

#[test]
fn domain_of_the_design_is_used_even_if_another_experiment_has_reserved_it() {
    // Above 100: experiments that request no domain, such as those of other tests, use 1 to 100.
    let mut rig = Rig::new(&[("d", "")]);
    rig.experiment.design.domain = Some(193);
    rig.experiment.design.blocks = 2;
    let free = runs(&rig);
    assert_eq!(free.len(), 2);
    for (state, domain, warnings) in &free {
        assert_eq!((*state, domain.as_str()), (RunState::Valid, "193"));
        assert!(!warnings.contains(&WarningKind::OtherExperiment), "{warnings:?}");
    }
    let mut rig = Rig::new(&[("d", "")]);
    rig.experiment.design.domain = Some(194);
    let DomainClaim::Reserved(_held) = local_site().claim_domain(194).unwrap() else { panic!("it is free") };
    for (state, domain, warnings) in runs(&rig) {
        assert_eq!((state, domain.as_str()), (RunState::Valid, "194"));
        assert!(warnings.contains(&WarningKind::OtherExperiment), "{warnings:?}");
    }
}

#[test]
fn requested_domain_of_another_experiment_is_rejected_before_the_first_run() {
    let mut rig = Rig::new(&[("d", "")]);
    let (site, files) = (local_site(), BTreeMap::new());
    let sites = Sites::alone(&site, files);
    assert!(check_domain(&sites, &rig.experiment).is_ok(), "none is requested");
    rig.experiment.design.domain = Some(195);
    assert!(check_domain(&sites, &rig.experiment).is_ok(), "it is free");
    let DomainClaim::Reserved(held) = site.claim_domain(195).unwrap() else { panic!("it is free again") };
    let error = check_domain(&sites, &rig.experiment).unwrap_err();
    let is_wrong_use = matches!(error, RunnerError::WrongUse { .. });
    assert!(is_wrong_use && error.to_string().contains("uses DDS domain 195"), "{error}");
    drop(held);
    assert!(check_domain(&sites, &rig.experiment).is_ok());
}

#[test]
fn progress_of_all_agents_is_passed_on_while_they_measure() {
    let mut rig = Rig::new(&[("d", "")]);
    rig.experiment.design.measure_ns = 1_200_000_000;
    rig.experiment.design.blocks = 1;
    let seen = Mutex::new(Vec::new());
    let on_progress = |readings: &[EndpointProgress<'_>]| {
        let of = |reading: &EndpointProgress<'_>| (reading.endpoint.to_owned(), reading.progress.elapsed_ns);
        seen.lock().unwrap().push(readings.iter().map(of).collect::<Vec<_>>());
    };
    // The design does not ask for it.
    let outcome = rig.execute_observed(&on_progress);
    assert!(outcome.error.is_none() && seen.lock().unwrap().is_empty());
    let mut rig = Rig::new(&[("d", "")]);
    rig.experiment.design.measure_ns = 1_200_000_000;
    rig.experiment.design.blocks = 1;
    rig.experiment.design.progress = true;
    let outcome = rig.execute_observed(&on_progress);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let runs = &outcome.document.cells[0].runs;
    assert!(runs.iter().all(|run| run.state == RunState::Valid), "{runs:?}");
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty());
    for readings in &*seen {
        assert!(readings.iter().all(|(_, elapsed_ns)| *elapsed_ns == 1));
        let endpoints: Vec<&str> = readings.iter().map(|(endpoint, _)| endpoint.as_str()).collect();
        assert!([["pinger", "echo"], ["writer", "reader"]].iter().any(|of| endpoints == of), "{endpoints:?}");
    }
}

#[test]
fn agent_that_ends_during_a_request_for_its_progress_fails_the_measurement() {
    let mut rig = Rig::new(&[("d", "exit echo progress")]);
    rig.experiment.design.measure_ns = 1_200_000_000;
    rig.experiment.design.blocks = 1;
    rig.experiment.design.progress = true;
    let document = rig.execute();
    let failure = document.cells[0].runs[0].failure.as_ref().expect("it failed");
    assert_eq!((failure.phase.as_str(), failure.endpoint.as_deref()), ("measure", Some("echo")));
}
