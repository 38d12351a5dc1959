//! Instances of a keyed type.

use experiment::{Qos, RunTopology};

use crate::{ids, plan, rejected, with};

/// Returns the limits of all samples, of instances, and of the samples of each.
fn limits(qos: &Qos) -> [Option<i32>; 3] {
    [qos.max_samples, qos.max_instances, qos.max_samples_per_instance]
}

#[test]
fn limits_of_a_queue_are_divided_among_the_instances() {
    let experiment = plan(&with("instances = [0, 1, 100, 10_000]\n"), &["factors.size=64"]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/latency/64",
            "dds/udp4/latency/64/instances-1",
            "dds/udp4/latency/64/instances-100",
            "dds/udp4/latency/64/instances-10000",
        ]
    );
    let all: Vec<_> = experiment.cells.iter().map(|cell| limits(&cell.factors.writer_qos(0))).collect();
    assert_eq!(
        all,
        [
            [Some(10_000), None, None],
            [Some(10_000), Some(1), Some(10_000)],
            [Some(10_000), Some(100), Some(100)],
            [Some(10_000), Some(10_000), Some(1)],
        ]
    );
    // Large samples have short queues, but each instance has room for one sample.
    let large = plan(&with("instances = 10_000\n"), &["factors.size=60000"]);
    assert_eq!(limits(&large.cells[0].factors.reader_qos(0)), [Some(10_000), Some(10_000), Some(1)]);
    // Requested limits hold.
    let queues =
        ["factors.size=64", "factors.send_queue=500", "qos.history=keep_last", "qos.history_depth=2"];
    let own = plan(&with("instances = 100\n"), &queues);
    assert_eq!(limits(&own.cells[0].factors.writer_qos(0)), [Some(500), Some(100), Some(5)]);
}

#[test]
fn every_stream_of_a_cell_has_its_instances() {
    let experiment = plan(&with("instances = [0, 100]\ntopology = \"1-2\"\n"), &["factors.size=64"]);
    for (cell, instances) in [(0, None), (1, Some(100))] {
        let topology = RunTopology::of(&experiment.cells[cell].factors, &experiment.design);
        for endpoint in &topology.endpoints {
            let expected = endpoint.readers.iter().flat_map(|reader| &reader.streams);
            let streams = endpoint.writers.iter().map(|writer| &writer.stream).chain(expected);
            assert!(streams.into_iter().all(|stream| stream.instances == instances), "{endpoint:?}");
        }
    }
}

#[test]
fn instances_without_a_keyed_type_or_without_room_are_rejected() {
    for (more, set, error, hint) in [
        (
            "instances = 100",
            "factors.driver=bare",
            "f.toml:7:13: driver `bare` has no keyed type",
            "drivers info",
        ),
        (
            "instances = 100001",
            "factors.size=64",
            "f.toml:7:13: `instances = 100001` is out of range",
            "100000",
        ),
        ("instances = []", "factors.size=64", "f.toml: no numbers of instances given", "name at least one"),
        ("instances = -1", "factors.size=64", "f.toml:7:13: ", ""),
        (
            "instances = 100",
            "factors.send_queue=99",
            "f.toml:7:13: `send_queue = 99` has no room for 100 instances with up to 1 samples each",
            "fewer instances",
        ),
        (
            "instances = 100",
            "qos={ history = \"keep_last\", history_depth = 3, max_samples = 200 }",
            "f.toml:7:13: `max_samples = 200` has no room for 100 instances with up to 3 samples each",
            "fewer instances",
        ),
        (
            "instances = 100",
            "factors.vendor_defaults=true",
            "f.toml:7:13: with `vendor_defaults`, the middleware may have room",
            "max_samples",
        ),
    ] {
        let found = rejected(&with(&format!("{more}\n")), &[set]);
        assert!(found.0.starts_with(error), "{more}, {set}: {found:?}");
        assert!(found.0.contains(hint) || found.2.contains(hint), "{more}, {set}: {found:?}");
    }
    let shipped = plan(
        &with("instances = 100\nvendor_defaults = true\n[qos]\nmax_samples = 1000\n"),
        &["factors.size=64"],
    );
    assert_eq!(limits(&shipped.cells[0].factors.writer_qos(0)), [Some(1000), Some(100), Some(10)]);
}

/// Only selected profiles and bases have limits that matter.
#[test]
fn limits_of_unselected_profiles_do_not_count() {
    let text = with("instances = 100\n[profiles.tight]\nmax_samples = 5\n[bases.tight]\nmax_samples = 5\n");
    let full = "`max_samples = 5` has no room for 100 instances with up to 1 samples each";
    let cells = |set: &[&str]| plan(&text, &[&["factors.size=64"], set].concat()).cells.len();
    assert_eq!(cells(&["factors.profile=default"]), 1, "without `base`, no base is selected");
    assert_eq!(cells(&["factors.profile=default", "factors.base=default"]), 1);
    for (profile, base, of) in
        [("tight", "default", "(profile `tight`)"), ("default", "tight", "(base `tight`)")]
    {
        let select = [format!("factors.profile={profile}"), format!("factors.base={base}")];
        let (error, _, hint) = rejected(&text, &["factors.size=64", &select[0], &select[1]]);
        assert!(error.contains(&format!("{full} {of}")), "{error}");
        assert!(format!("{error}{hint}").contains("`--profile` and `--base`"), "{error} {hint}");
    }
}

/// If no profile is named, all are selected; the others are measured without the one that has no room.
#[test]
fn unnamed_profile_without_room_is_left_out_with_a_note() {
    let text =
        with("instances = 100\n[profiles.tight]\nmax_samples = 5\n[profiles.wide]\nmax_samples = 500\n");
    let experiment = plan(&text, &["factors.size=64"]);
    let profiles: Vec<_> = experiment.cells.iter().map(|cell| cell.factors.profile.as_deref()).collect();
    assert_eq!(profiles, [Some("default"), Some("wide")]);
    let note = "the profile `tight` is left out: `max_samples = 5` has no room for 100 instances with up to 1 samples each";
    assert!(experiment.notes.iter().any(|found| found == note), "{:?}", experiment.notes);
}
