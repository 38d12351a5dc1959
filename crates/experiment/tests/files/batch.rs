//! Batches in bytes, in samples and turbo, and echo probes.

use experiment::{Batching, Load};

use crate::{ids, plan, rejected};

const STREAM: &str = r#"question = "What does batching change?"
workload = "throughput"

[factors]
driver = "dds"
size = [200, 5000]
"#;

fn stream(more: &str) -> String {
    format!("{STREAM}{more}")
}

fn paced(more: &str) -> String {
    format!("question = \"How fast?\"\nworkload = \"paced\"\n[factors]\ndriver = \"dds\"\nsize = 64\n{more}")
}

#[test]
fn a_throttled_rate_is_a_load_without_times() {
    let text = paced("rate = [\"max\", \"throttled\", \"throttled 5000\"]\n[design]\nprobe_every = 200\n");
    let experiment = plan(&text, &[]);
    assert_eq!(
        ids(&experiment),
        ["dds/udp4/paced/64/max", "dds/udp4/paced/64/throttled-4000", "dds/udp4/paced/64/throttled-5000"]
    );
    assert!(experiment.cells.iter().all(|cell| !cell.factors.load.as_ref().is_some_and(Load::has_times)));
}

#[test]
fn a_throttle_follows_the_send_queue_where_one_is_given() {
    let text = "rate = [\"throttled\", \"throttled 2500\"]\nsend_queue = [2500, 3000]\n\
                exclude = [{ rate = \"throttled\", send_queue = 3000 }]\n[design]\nprobe_every = 101\n";
    let experiment = plan(&paced(text), &[]);
    let queues: Vec<_> = experiment.cells.iter().map(|cell| &cell.factors).collect();
    let of = |factors: &experiment::Factors| (factors.queues.send_samples, factors.load.clone());
    let throttled = |send_samples, queue| (Some(send_samples), Some(Load::Throttled { queue }));
    // Two settings that mean the same batch are one cell.
    assert_eq!(
        queues.into_iter().map(of).collect::<Vec<_>>(),
        [throttled(2_500, 2_500), throttled(3_000, 2_500)]
    );
}

#[test]
fn throttle_without_effect_is_rejected() {
    let never = |more: &str, words: &str| {
        let found = rejected(&paced(&format!("{more}[design]\nprobe_every = 101\n")), &[]);
        assert!(found.0.contains(words), "{more}: {found:?}");
        found.2
    };
    let hint = never(
        "rate = \"throttled 5000\"\nsend_queue = [4000, 8000]\n",
        "a throttle at 4500 outstanding samples has no effect: the writer is limited to 4000",
    );
    assert!(hint.contains("use `throttled` without a number"), "{hint}");
    never(
        "rate = \"throttled\"\n[qos]\nmax_samples = 3600\n",
        "has no effect: the writer is limited to 3600",
    );
    let hint = never("rate = \"throttled\"\nsend_queue = 100\n", "a queue of 100 samples is too short");
    assert!(hint.contains("`send_queue = 4000`"), "{hint}");
    never("rate = \"throttled 4294967296\"\n", "`throttled 4294967296` is out of range");
    // The writer's limit is above the throttle's high mark.
    let room = paced("rate = \"throttled\"\n[qos]\nmax_samples = 3601\n[design]\nprobe_every = 200\n");
    assert_eq!(plan(&room, &[]).cells.len(), 1);
}

#[test]
fn batch_of_n_samples_has_n_times_their_size() {
    let experiment = plan(&stream("batch_samples = [1, 2, 4]\n"), &[]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/throughput/200",
            "dds/udp4/throughput/200/batch-400",
            "dds/udp4/throughput/200/batch-800",
            "dds/udp4/throughput/5000",
            "dds/udp4/throughput/5000/batch-10000",
            "dds/udp4/throughput/5000/batch-20000",
        ]
    );
    for cell in &experiment.cells {
        let samples = cell.factors.samples_per_flush();
        assert_eq!(samples.max(1), (cell.factors.batch_bytes / cell.factors.size_bytes).max(1));
        assert!(!cell.factors.batching.is_turbo());
    }
}

#[test]
fn turbo_is_who_packs_with_a_ceiling() {
    let experiment = plan(&stream("batch_bytes = 8192\nbatch_samples = [\"turbo\", \"turbo 16KiB\"]\n"), &[]);
    let turbo: Vec<_> = experiment.cells.iter().filter(|cell| cell.factors.batching.is_turbo()).collect();
    // A batch of at most 8192 bytes holds one sample of 5000.
    let ids: Vec<&str> = turbo.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "dds/udp4/throughput/200/turbo-8192",
            "dds/udp4/throughput/200/turbo-16384",
            "dds/udp4/throughput/5000/turbo-16384",
        ]
    );
    assert!(turbo.iter().all(|cell| cell.factors.batching == Batching::TurboNative));
    assert_eq!(turbo[0].factors.batch(), "turbo (native) 8192");
    // A fixed batch and a turbo batch with the same maximum are different cells.
    assert!(experiment.cells.iter().any(|cell| cell.id == "dds/udp4/throughput/200/batch-8192"));
}

#[test]
fn one_way_to_batch_is_measured_once_and_a_selection_replaces_all_of_them() {
    let experiment =
        plan(&stream("batch_bytes = [0, 400]\nbatch_samples = [1, 2]\nexclude = [{ size = 5000 }]\n"), &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/throughput/200", "dds/udp4/throughput/200/batch-400"]);
    let text = stream(
        "batch_samples = 2\nexclude = [{ size = 5000 }]\ninclude = [{ size = 200, batch_samples = \"turbo\" }]\n",
    );
    assert_eq!(
        ids(&plan(&text, &[])),
        ["dds/udp4/throughput/200/batch-400", "dds/udp4/throughput/200/turbo-8192"]
    );
    let text = stream("batch_samples = [1, \"turbo\"]\n[design]\nbaseline = { batch_samples = 1 }\n");
    assert_eq!(plan(&text, &[]).design.baseline, ["dds/udp4/throughput/200", "dds/udp4/throughput/5000"]);
}

#[test]
fn probes_are_under_one_percent_of_one_stream() {
    assert_eq!(plan(&stream("[design]\nprobe_every = 101\n"), &[]).design.probe_every, Some(101));
    assert_eq!(plan(&stream(""), &[]).design.probe_every, None);
    assert_eq!(plan(&stream("topology = \"2-3\"\n[design]\nprobe_every = 101\n"), &[]).cells.len(), 2);
    let flows = "question = \"Both?\"\nworkload = \"paced\"\nfactors.driver = \"dds\"\n\
                 flows = [{ name = \"a\", size = 64, rate = 9 }, { name = \"b\", size = 128, rate = 9 }]\n";
    let cases: &[(String, &str, &str)] = &[
        (stream("[design]\nprobe_every = 100\n"), "an echo probe in every 100 samples", "101` or more"),
        (
            stream("[design]\nprobe_every = 200\n").replace("throughput", "latency"),
            "`probe_every` has no effect on `latency`",
            "remove `probe_every`",
        ),
        (
            stream("[design]\nprobe_every = 200\n").replace("throughput", "search"),
            "`probe_every` is not supported by the workload `search`",
            "remove `probe_every`",
        ),
        (
            stream("[design]\nprobe_every = 200\n").replace("\"throughput\"", "[\"throughput\", \"search\"]"),
            "`probe_every` is not supported by the workload `search`",
            "use the workload `throughput`",
        ),
        (
            format!("{flows}design.probe_every = 200\n"),
            "echo probes are not supported with several flows",
            "a single flow",
        ),
        (format!("{flows}factors.batch_samples = 2\n"), "a number of samples per batch", "batch_bytes"),
        (paced("rate = \"throttled\"\n"), "a throttled rate needs echo probes", "probe_every = 200"),
        (
            paced("rate = \"throttled 3999\"\n[design]\nprobe_every = 200\n"),
            "a queue of 3999 samples is too short",
            "at least 20 probe distances",
        ),
        (
            paced("rate = \"throttled\"\ntopology = \"1-2\"\n[design]\nprobe_every = 200\n"),
            "a throttled rate is not supported with `topology = \"1-2\"`",
            "follows one reader",
        ),
        (stream("batch_samples = 0\n"), "`0` is not valid for `batch_samples`", "turbo"),
        (stream("batch_samples = []\n"), "no ways to batch", ""),
    ];
    for (text, error, hint) in cases {
        let found = rejected(text, &[]);
        assert!(found.0.contains(error) && found.2.contains(hint), "{text}: {found:?}");
    }
}
