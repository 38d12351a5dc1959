//! Duets with real agents and drivers. The runner's API gets four cores that are mapped to the available ones: the
//! tests show the mechanism, not valid measurements.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Limits, Pin, Plan, PlanInputs, Source};
use host::{DriverFile, LocalSite, Site as _, allowed_cores};
use results::{
    Conclusion, Directory, Environment, HostRecord, Metric, Pairing, ResultDocument, ResultHeader, Run,
    RunState, Tool, VerdictKind,
};
use runner::{ExperimentRunner, Sites, StopToken, describe};

use crate::{
    quiet_host::on_quiet_host,
    support::{Scene, blocks, drivers, programs},
};

/// Runs the experiment file as duets on this host's cores. The first cell is the baseline.
fn measured(scene: &Scene, text: &str, names: &[&str]) -> ResultDocument {
    let site = LocalSite::new(programs().join("ddsmark-agent"));
    let files: BTreeMap<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), drivers().join(format!("libddsmark_{name}.so"))))
        .collect();
    let of = |(name, path): (&String, &std::path::PathBuf)| -> (String, DriverDescription) {
        let file = DriverFile { name: name.clone(), path: path.clone() };
        (name.clone(), describe(&site, &file, &Limits::default(), &StopToken::new()).expect("a driver"))
    };
    let descriptions = files.iter().map(of).collect();
    let source = Source { path: "file".to_owned(), text: text.to_owned(), sets: Vec::new() };
    let given = PlanInputs {
        name: "duet",
        descriptions: &descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin: Pin::None,
        hosts: &[],
        seed: 5,
        least_blocks: &results::least_blocks,
    };
    let mut experiment: Plan = source.read().expect("a file").plan(&given).expect("a plan");
    let cores = allowed_cores();
    let (one, two) = (cores[0], cores[1 % cores.len()]);
    experiment.design.baseline = vec![experiment.cells[0].id.clone()];
    experiment.design.duet = true;
    experiment.design.pin = Pin::Cores(vec![one, two], vec![two, one]);

    let tool = Tool { name: "test".to_owned(), version: "0".to_owned(), command_line: Vec::new() };
    let directory = Directory::create(&scene.path("result"), experiment.runs()).expect("a directory");
    let host = site.facts().expect("facts").host;
    let header = ResultHeader::new(
        tool,
        vec![HostRecord::only(host, Environment::default())],
        experiment,
        descriptions,
        Vec::new(),
    );
    let (stop, sites) = (StopToken::new(), Sites::alone(&site, files));
    let session =
        ExperimentRunner { header, sites: &sites, directory: &directory, stop: &stop, on_progress: None };
    let outcome = session.execute(&mut ());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(Directory::load(&scene.path("result")).expect("a result"), outcome.document);
    outcome.document
}

fn runs(document: &ResultDocument) -> BTreeMap<u32, &Run> {
    document.cells.iter().flat_map(|cell| &cell.runs).map(|run| (run.number, run)).collect()
}

#[test]
fn duet_of_real_middleware_runs_at_once_without_interference() {
    let scene = Scene::new();
    let text = format!(
        "question = \"?\"\nworkload = \"latency\"\n[factors]\ndriver = [\"cyclonedds\", \"udp\"]\nsize = 64\n\
         [design]\nblocks = {}\nwarm_up = \"50ms\"\nmeasure = \"500ms\"\n",
        blocks()
    );
    let document = measured(&scene, &text, &["cyclonedds", "udp"]);
    let runs = runs(&document);
    assert_eq!(runs.len(), 4 * blocks());
    let all = runs.values().filter_map(|run| Some(run.duet.as_ref()?.side_by_side_pct));
    println!("side by side for {:.1} % of the measured time at least", all.fold(100.0, f64::min));
    for run in runs.values() {
        let duet = run.duet.as_ref().expect("a duet");
        assert_eq!((run.state, &run.failure), (RunState::Valid, &None), "{run:?}");
        assert!(run.belongs_to(runs[&duet.partner]) && duet.side_by_side_pct > 50.0, "{duet:?}");
        assert!(run.counts().all(|counted| counted.foreign == 0), "{run:?}");
        let cores: Vec<usize> = run.endpoints.iter().map(|endpoint| endpoint.cpus.len()).collect();
        assert_eq!(cores, [1, 1]);
    }
}

#[test]
fn duet_finds_a_true_ratio() {
    on_quiet_host(|| {
        let scene = Scene::new();
        let text = "question = \"?\"\nworkload = \"latency\"\noptions.sim.latency = [\"1ms\", \"3ms\"]\n[factors]\n\
                driver = \"sim\"\nsize = 64\n[design]\nblocks = 10\nwarm_up = \"50ms\"\nmeasure = \"400ms\"\n";
        let document = measured(&scene, text, &["sim"]);
        let verdict = document
            .verdicts
            .iter()
            .find(|verdict| verdict.kind == VerdictKind::Comparison && verdict.metric == Metric::RttP50)
            .expect("a verdict");
        assert_eq!(verdict.pairing, Pairing::Duets);
        let answer = verdict.answer.as_ref().expect("an answer");
        assert!(matches!(answer.conclusion, Conclusion::Higher { .. }), "{}", verdict.text);
        // 10 ms and 30 ms, plus the overhead of the host
        assert!(answer.change_pct.is_some_and(|change| (100.0..250.0).contains(&change)), "{}", verdict.text);
    });
}

#[test]
fn duet_with_fewer_than_four_cores_is_rejected() {
    let scene = Scene::new();
    let core = allowed_cores()[0].to_string();
    let sets =
        ["--set", "factors.driver=udp", "--set", "factors.size=64,1024", "--set", "design.baseline.size=64"];
    let arguments =
        [&["-c", &core, "ddsmark", "run", "latency-vs-size", "--duet", "--out", "result"], &sets[..]]
            .concat();
    let outcome = scene.start("taskset", &arguments).end();
    outcome.assert_status(2);
    let expected = "a duet needs 4 cores, two for each end: none is pinned";
    assert!(
        outcome.stderr.contains(expected) && outcome.stderr.contains("\nhint: use a host with 4 cores"),
        "{outcome:?}"
    );
    assert!(outcome.stdout.is_empty() && !scene.path("result").exists());
}
