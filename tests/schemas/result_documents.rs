//! The schemas of results and selftests accept written documents, and reject broken ones.

use jsonschema::Validator;
use results::{
    Assembler, Block, BlockHost, CoreNoise, HostNoise, KeptSelfTests, NoiseProbe, SelfTest, State,
};
use serde_json::{Value, json};

use crate::{errors, sample, schema};

fn validator() -> Validator {
    schema("result")
}

fn document() -> Value {
    serde_json::to_value(sample::document()).unwrap()
}

#[test]
fn assembled_document_follows_the_schema() {
    assert_eq!(errors(&validator(), &document()), Vec::<String>::new());
}

#[test]
fn document_with_failed_runs_follows_the_schema() {
    let document = sample::document_with(|run| {
        if run.block == 2 {
            *run = sample::failed(run);
        }
    });
    assert_eq!(errors(&validator(), &serde_json::to_value(document).unwrap()), Vec::<String>::new());
}

#[test]
fn broken_document_violates_the_schema() {
    /// Description of a defect, and a function that causes it.
    type Break = (&'static str, fn(&mut Value));
    let breaks: [Break; 9] = [
        ("a count as text", |d| d["cells"][0]["latency"]["rtt"]["n"] = json!("400")),
        ("a negative time", |d| d["cells"][0]["latency"]["rtt"]["min_ns"] = json!(-1)),
        ("no p50_ns", |d| {
            d["cells"][0]["latency"]["rtt"].as_object_mut().unwrap().remove("p50_ns");
        }),
        ("an unknown workload", |d| d["cells"][0]["factors"]["workload"] = json!("fast")),
        ("an unknown warning", |d| d["warnings"] = json!([{"kind": "bad_luck", "text": ""}])),
        ("no schema_version", |d| {
            d.as_object_mut().unwrap().remove("schema_version");
        }),
        ("a state of its own", |d| d["state"] = json!("half")),
        ("runs as a map", |d| d["cells"][0]["runs"] = json!({})),
        ("no findings", |d| {
            d.as_object_mut().unwrap().remove("findings");
        }),
    ];
    let (validator, whole) = (validator(), document());
    for (what, how) in breaks {
        let mut document = whole.clone();
        how(&mut document);
        assert!(!errors(&validator, &document).is_empty(), "{what} passes");
    }
}

/// Returns the selftest of the sample with every cell measured twice in each block, and two blocks with probes.
fn selftests() -> Value {
    let mut header = sample::header();
    header.experiment.design.baseline = header.experiment.cells.iter().map(|cell| cell.id.clone()).collect();
    let runs = sample::runs_of(&header.experiment);
    let mut assembler = Assembler::new(header);
    for (run, log) in runs {
        assembler.add(run, &log.merged());
    }
    let mut document = assembler.document(State::Complete);
    let core =
        |stolen_pct| CoreNoise { core: 0, gaps: 3, max_gap_ns: 90_000, stolen_pct, longer: vec![3, 1] };
    let probe = |stolen_pct| NoiseProbe { length_ns: 100_000_000, cores: vec![core(stolen_pct), core(0.1)] };
    let block = |number, before, after| Block {
        number,
        repeats: None,
        noisy: number == 2,
        reasons: Vec::new(),
        first_run: 1,
        complete: true,
        took_ns: Some(1),
        hosts: vec![BlockHost {
            host: "local".to_owned(),
            before: Some(probe(before)),
            after: Some(probe(after)),
            counters: Some(HostNoise { steal_pct: Some(before), ..HostNoise::default() }),
            ..BlockHost::default()
        }],
        others: Vec::new(),
    };
    document.blocks = vec![block(1, 0.5, 1.0), block(2, 1.0, 4.0)];
    let outcome = SelfTest::from_document("plain", &document);
    serde_json::to_value(KeptSelfTests::from([("plain".to_owned(), outcome)])).unwrap()
}

#[test]
fn saved_selftests_follow_their_schema_and_broken_ones_do_not() {
    let (validator, kept) = (schema("selftest"), selftests());
    assert_eq!(errors(&validator, &kept), Vec::<String>::new());
    assert_eq!(errors(&validator, &json!({})), Vec::<String>::new());
    let entry = &kept["plain"]["metrics"][0];
    assert!(entry["pairs"].as_u64() > Some(0) && entry["median"].is_number(), "{entry:#}");
    type Break = (&'static str, fn(&mut Value));
    let breaks: [Break; 5] = [
        ("a list", |kept| *kept = json!([kept.clone()])),
        ("pairs as text", |kept| kept["plain"]["pairs"] = json!("8")),
        ("no host", |kept| {
            kept["plain"].as_object_mut().unwrap().remove("host");
        }),
        ("noise as text", |kept| kept["plain"]["noise"] = json!("quiet")),
        ("an unknown metric", |kept| kept["plain"]["metrics"][0]["metric"] = json!("speed")),
    ];
    for (what, how) in breaks {
        let mut broken = kept.clone();
        how(&mut broken);
        assert!(!errors(&validator, &broken).is_empty(), "{what} passes");
    }
}

/// Three probes: the one between two blocks counts once.
#[test]
fn selftest_noise_summarizes_its_blocks() {
    let noise = &selftests()["plain"]["noise"];
    let expected = json!({
        "blocks": 2, "noisy_blocks": 1, "stolen_pct": 1.0, "worst_stolen_pct": 4.0, "max_gap_ns": 90_000,
        "max_steal_pct": 1.0,
    });
    assert_eq!(noise, &expected);
}
