//! Different QoS of writers and readers.

use std::collections::BTreeMap;

use experiment::{EndpointQos, History, Pin, Plan, Policy, PolicySupport, QosDuration, Reliability, Support};

use crate::{parts, plan, planned_with, source, support::description, with};

/// Plans with a driver that supports every policy; returns the error and the marked text otherwise.
fn tried(text: &str) -> Result<Plan, (String, String)> {
    let descriptions = BTreeMap::from([("dds".to_owned(), description("dds", &[], Policy::ALL))]);
    let source = source(&with(text), &["factors.driver=dds", "factors.size=32"]);
    planned_with(&source, &descriptions).map_err(|fault| {
        let (error, marked, _) = parts(fault);
        // The text after the position.
        let error = error.split_once(": ").map_or(error.as_str(), |(_, error)| error).to_owned();
        (error, marked)
    })
}

fn ends(experiment: &Plan, cell: usize) -> &EndpointQos {
    experiment.cells[cell].factors.qos_of_ends.as_ref().expect("ends")
}

#[test]
fn policy_of_one_endpoint_overrides_the_common_one() {
    let text = "[qos]\ndeadline = \"1s\"\nhistory = \"keep_all\"\n[qos.reader]\nreliability = \"best_effort\"\n\
                history = \"keep_last\"\nhistory_depth = 1\nminimum_separation = \"1ms\"\n[qos.writer]\nlifespan = \"2s\"\n";
    let experiment = tried(text).expect("a plan");
    let EndpointQos { writer, reader } = ends(&experiment, 0);
    assert_eq!(
        (writer.reliability, reader.reliability),
        (Some(Reliability::Reliable), Some(Reliability::BestEffort))
    );
    assert_eq!((writer.history, reader.history), (Some(History::KeepAll), Some(History::KeepLast)));
    assert_eq!((writer.history_depth, reader.history_depth), (None, Some(1)));
    let [second, millisecond] = [1_000_000_000, 1_000_000].map(|ns| Some(QosDuration::Ns(ns)));
    assert_eq!((writer.deadline_ns, reader.deadline_ns), (second, second));
    assert_eq!((writer.minimum_separation_ns, reader.minimum_separation_ns), (None, millisecond));
    // Some readers need the lifespan too.
    let two_seconds = Some(QosDuration::Ns(2_000_000_000));
    assert_eq!((writer.lifespan_ns, reader.lifespan_ns), (two_seconds, two_seconds));
    // Only a write can block.
    assert!(writer.max_blocking_ns.is_some() && reader.max_blocking_ns.is_none());
    let factors = &experiment.cells[0].factors;
    assert!(!factors.is_reliable(0));
    assert_eq!(factors.writer_qos(0), *writer);
    assert_eq!(factors.reader_qos(0), *reader);
    // Without different policies there is no QoS per endpoint.
    assert!(plan(&with("[qos]\ndurability = \"volatile\"\n"), &[]).cells[0].factors.qos_of_ends.is_none());
}

#[test]
fn common_policy_is_checked_at_endpoints_that_have_it() {
    // Only readers have a minimum separation, and it must not exceed their deadline.
    let experiment =
        tried("[qos]\nminimum_separation = \"1s\"\ndeadline = \"2s\"\n[qos.writer]\ndeadline = \"500ms\"\n");
    let experiment = experiment.expect("a plan");
    let EndpointQos { writer, reader } = ends(&experiment, 0);
    assert!(writer.minimum_separation_ns.is_none() && reader.minimum_separation_ns.is_some());
    tried("[qos]\ndeadline = \"500ms\"\nminimum_separation = \"1s\"\n[qos.reader]\ndeadline = \"2s\"\n")
        .expect("a plan");
    // The depth applies to the endpoint with keep-last.
    let experiment =
        tried("[qos]\nhistory = \"keep_last\"\nhistory_depth = 5\n[qos.writer]\nhistory = \"keep_all\"\n");
    let experiment = experiment.expect("a plan");
    let EndpointQos { writer, reader } = ends(&experiment, 0);
    assert_eq!((writer.history_depth, reader.history_depth), (None, Some(5)));
    // No endpoint requests reliable delivery, so a driver without it is accepted.
    let bare = BTreeMap::from([("bare".to_owned(), description("bare", &[], &[]))]);
    let text = "[qos]\nreliability = \"reliable\"\n[qos.writer]\nreliability = \"best_effort\"\n\
                [qos.reader]\nreliability = \"best_effort\"\n";
    let experiment = planned_with(&source(&with(text), &["factors.driver=bare", "factors.size=32"]), &bare);
    let experiment = experiment.map_err(parts).expect("a plan");
    assert_eq!(ends(&experiment, 0).writer.reliability, Some(Reliability::BestEffort));
}

#[test]
fn policy_is_noted_and_rejected_for_the_endpoints_that_it_is_requested_of() {
    let planned = |text: &str, writers, readers| {
        let mut driver = description("dds", &[], Policy::ALL);
        driver.policies.insert(Policy::ResourceLimits, PolicySupport::of_ends(writers, readers, None));
        let source = source(&with(text), &["factors.driver=dds", "factors.size=32"]);
        planned_with(&source, &BTreeMap::from([("dds".to_owned(), driver)])).map_err(parts)
    };
    let notes = |text: &str, writers, readers| planned(text, writers, readers).expect("a plan").notes;
    let (reader, writer) = ("[qos.reader]\nmax_samples = 100\n", "[qos.writer]\nmax_samples = 100\n");
    let both = "[qos]\nmax_samples = 100\n";
    let (ignored, enforced) = (Support::Ignored, Support::Enforced);
    assert_eq!(notes(reader, ignored, enforced), [""; 0]);
    let of_writers = ["driver `dds` accepts policy resource_limits of writers without effect"];
    assert_eq!(notes(writer, ignored, enforced), of_writers);
    assert_eq!(notes(both, ignored, enforced), of_writers);
    let of_both = ["driver `dds` accepts policy resource_limits without effect"];
    assert_eq!(notes(reader, ignored, ignored), of_both);
    // What the other endpoint does not support does not matter.
    assert_eq!(notes(reader, Support::Unsupported, enforced), [""; 0]);
    assert!(planned(writer, Support::Unsupported, enforced).is_err());
    assert!(planned(both, Support::Unsupported, enforced).is_err());
}

#[test]
fn profile_overrides_endpoint_policies_of_the_file() {
    let text = "profile = [\"open\", \"kept\"]\n[qos.reader]\nreliability = \"best_effort\"\n[qos.writer]\nlifespan = \"2s\"\n\
                [profiles.open]\nwriter = { transport_priority = 3 }\n[profiles.kept]\nreliability = \"reliable\"\n";
    let experiment = tried(text).expect("a plan");
    let [open, kept] = [0, 1].map(|cell| ends(&experiment, cell));
    assert_eq!(open.reader.reliability, Some(Reliability::BestEffort));
    assert_eq!((open.writer.transport_priority, kept.writer.transport_priority), (Some(3), None));
    assert_eq!(kept.reader.reliability, Some(Reliability::Reliable));
    let lifespan = Some(QosDuration::Ns(2_000_000_000));
    assert_eq!((open.writer.lifespan_ns, kept.writer.lifespan_ns), (lifespan, lifespan));
    assert_eq!(experiment.design.pin, Pin::None);
}

#[test]
fn policy_of_the_other_endpoint_is_rejected_with_its_position() {
    for (text, error, marked) in [
        ("[qos.reader]\nlifespan = \"1s\"\n", "readers have no lifespan", "\"1s\""),
        ("[qos.reader]\nownership_strength = 4\n", "readers have no ownership_strength", "4"),
        ("[qos.reader]\nmax_blocking = \"3s\"\n", "readers have no max_blocking", "\"3s\""),
        ("[qos.writer]\nminimum_separation = \"1s\"\n", "writers have no minimum_separation", "\"1s\""),
        (
            "[profiles.p]\nwriter.autopurge_disposed = \"5s\"\n",
            "writers have no autopurge_disposed",
            "\"5s\"",
        ),
    ] {
        assert_eq!(tried(text).expect_err("it is refused"), (error.to_owned(), marked.to_owned()));
    }
    let (error, _) = tried("[qos.reader.reader]\ndeadline = \"1s\"\n").expect_err("it is refused");
    assert!(error.contains("`writer` and `reader` are not valid in the policies of one endpoint"), "{error}");
    // Each endpoint is checked with the policies of both.
    let (error, marked) = tried("[qos]\ndeadline = \"1ms\"\n[qos.reader]\nminimum_separation = \"1s\"\n")
        .expect_err("it is refused");
    assert!(error.contains("shorter than the minimum separation") && marked == "\"1ms\"", "{error} {marked}");
}

#[test]
fn incompatible_endpoints_are_rejected_and_compatible_ones_are_not() {
    // By DDS 1.4 section 2.2.3: an offer that does not match, and one that does.
    for (offered, requested, meets) in [
        ("reliability = \"best_effort\"", "reliability = \"reliable\"", "reliability = \"best_effort\""),
        ("durability = \"volatile\"", "durability = \"transient_local\"", "durability = \"volatile\""),
        (
            "presentation = { scope = \"topic\", coherent_access = false, ordered_access = true }",
            "presentation = { scope = \"group\", coherent_access = false, ordered_access = true }",
            "presentation = { scope = \"instance\", coherent_access = false, ordered_access = false }",
        ),
        (
            "presentation = { scope = \"group\", coherent_access = false, ordered_access = true }",
            "presentation = { scope = \"group\", coherent_access = true, ordered_access = true }",
            "presentation = { scope = \"group\", coherent_access = false, ordered_access = false }",
        ),
        ("deadline = \"2s\"", "deadline = \"1s\"", "deadline = \"2s\""),
        ("latency_budget = \"2ms\"", "latency_budget = \"1ms\"", "latency_budget = \"3ms\""),
        ("ownership = \"shared\"", "ownership = \"exclusive\"", "ownership = \"shared\""),
        ("ownership = \"exclusive\"", "ownership = \"shared\"", "ownership = \"exclusive\""),
        ("liveliness = \"automatic\"", "liveliness = \"manual_by_topic\"", "liveliness = \"automatic\""),
        ("liveliness_lease = \"2s\"", "liveliness_lease = \"1s\"", "liveliness_lease = \"infinite\""),
        (
            "destination_order = \"by_reception_timestamp\"",
            "destination_order = \"by_source_timestamp\"",
            "destination_order = \"by_reception_timestamp\"",
        ),
        ("partitions = [\"a\"]", "partitions = [\"b\"]", "partitions = [\"b\", \"a\"]"),
        ("partitions = [\"a\"]", "partitions = []", "partitions = [\"?\"]"),
    ] {
        let file = |requested: &str| format!("[qos.writer]\n{offered}\n[qos.reader]\n{requested}\n");
        let (error, marked) = tried(&file(requested)).expect_err("it is refused");
        let (policy, value) = requested.split_once(" = ").expect("a value");
        assert!(error.starts_with("these writers and readers never match: "), "{error}");
        assert!(error.contains(policy), "{error}");
        assert_eq!(marked, value, "{error}");
        tried(&file(meets)).unwrap_or_else(|error| panic!("{offered}, {meets}: {error:?}"));
    }
    // A policy of one endpoint is compared with the standard's default of the other.
    let (error, _) = tried("[qos.reader]\ndeadline = \"1s\"\n").expect_err("it is refused");
    assert!(error.ends_with("deadline infinite offered, 1s requested"), "{error}");
    let (error, _) = tried("[qos.writer]\npartitions = [\"a\"]\n").expect_err("it is refused");
    assert!(error.ends_with("partitions [\"a\"] offered, [] requested"), "{error}");
    tried("[qos.writer]\ndeadline = \"1s\"\ndurability = \"transient_local\"\n").expect("more is offered");
}

#[test]
fn queue_is_checked_against_its_endpoint() {
    let queue = |queue: &str| format!("{queue} = 100\n[qos.reader]\nmax_samples = 50\n");
    let (error, _) = tried(&queue("receive_queue")).expect_err("it is refused");
    assert!(error.contains("`receive_queue` and the policy `max_samples` are the same limit"), "{error}");
    let experiment = tried(&queue("send_queue")).expect("a plan");
    let factors = &experiment.cells[0].factors;
    assert_eq!((factors.writer_qos(0).max_samples, factors.reader_qos(0).max_samples), (Some(100), Some(50)));
}
