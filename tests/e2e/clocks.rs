//! The wall clock steps during a measurement: nothing in the result depends on it.

use std::{
    ffi::OsStr,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::support::{Scene, count, list, runs, shared_library};

#[test]
fn wall_clock_step_of_an_hour_changes_nothing() {
    let scene = Scene::new();
    let library = shared_library(&scene, "cc", "jumping_clock.so", &["-std=c11", "jumping_clock.c"]);
    let preload = [("LD_PRELOAD", OsStr::new(&library))];
    // the clock jumps
    let mut dates = std::collections::BTreeSet::new();
    for _ in 0..50 {
        let date = scene.start_with(&preload, "date", &["+%s"]).end();
        dates.insert(date.stdout.trim().parse::<u64>().expect("seconds") / 1800);
    }
    assert!(dates.len() > 1, "the clock does not jump: {dates:?}");

    let begin = Instant::now();
    let earliest = SystemTime::now().duration_since(UNIX_EPOCH).expect("a date");
    let outcome = scene
        .start_with(
            &preload,
            "ddsmark",
            &[
                "characterize",
                "--driver",
                "udp,cyclonedds",
                "--size",
                "64",
                "--quick",
                "--runs",
                "1",
                "--no-reference",
                "--set",
                "design.noise_probe=false",
                "--json",
                "--out",
                "result",
            ],
        )
        .end();
    let took = begin.elapsed();
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(document["state"], "complete");
    let mut runs = runs(&document);
    runs.sort_by_key(|run| count(&run["number"]));
    let mut started = Vec::new();
    for run in &runs {
        assert_eq!(run["state"], "valid", "{run:#}");
        started.push(Duration::from_nanos(count(&run["started_unix_ns"])));
        // no recorded time is of the order of a jump
        let phases = run["phases_ns"].as_object().expect("phases").values().map(count).sum::<u64>();
        assert!(Duration::from_nanos(phases) <= took, "{run:#}");
        for latency in run["latency"].as_object().expect("latencies").values() {
            assert!(Duration::from_nanos(count(&latency["max_ns"])) <= took, "{run:#}");
        }
    }
    // the date was read once: the start times keep the order and distance of the runs
    let hour = Duration::from_secs(3_600);
    assert!(started.is_sorted(), "{started:?}");
    assert!(started[0] >= earliest && started[0] <= earliest + took + hour, "{started:?}");
    assert!(started[started.len() - 1] - started[0] <= took, "{started:?}");
    for cell in list(&document["cells"]) {
        assert!(cell["latency"]["rtt"]["n"].is_u64() || cell["throughput"]["delivered"].is_u64(), "{cell:#}");
    }
}
