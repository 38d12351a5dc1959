//! What a host can resolve is measured, kept, and told with the plan of an experiment.

use std::fs;

use crate::support::{Scene, list};

const PLAN: &str = "question = \"Which?\"\nworkload = \"latency\"\n[factors]\ndriver = \"udp\"\nsize = [64, 1024]\n\
                    [design]\nblocks = 12\npin = \"none\"\nbaseline = { size = 64 }\n";

#[test]
fn a_selftest_tells_what_can_be_seen_and_a_plan_says_it() {
    let scene = Scene::new();
    fs::write(scene.path("plan.toml"), PLAN).expect("a file");
    let unknown = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    unknown.assert_status(0);
    assert!(unknown.stdout.contains("run `ddsmark selftest --driver udp`"), "{}", unknown.stdout);

    let words = ["selftest", "--quick", "--pairs", "8", "--json", "--out", "result"];
    let outcome = scene.ddsmark(&words);
    // that something differs from itself by chance is no failure of this test
    let status = outcome.status.code().expect("a status");
    assert!([0, 1].contains(&status), "{status}\n{}\n{}", outcome.stdout, outcome.stderr);
    let said: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!((said["driver"].as_str(), said["pairs"].as_u64()), (Some("udp"), Some(8)), "{said:#}");
    // p50 and p99 RTT and goodput of two sizes
    let figures = list(&said["figures"]);
    assert_eq!(figures.len(), 6, "{said:#}");
    let mut differs = 0;
    for figure in figures {
        let number = |name: &str| figure[name].as_f64().unwrap_or_else(|| panic!("no {name}: {figure:#}"));
        assert!(number("median") > 0.0 && number("between_run_pct") > 0.0, "{figure:#}");
        assert!(number("low_pct") <= number("change_pct") && number("change_pct") <= number("high_pct"));
        let effect = |blocks: &str| figure["smallest_effect_pct"][blocks].as_f64().expect("an effect");
        assert!(effect("6") > effect("12") && effect("12") > effect("24"), "{figure:#}");
        assert_eq!(figure["differs"].as_bool(), Some(number("p_holm") <= 0.05), "{figure:#}");
        differs += u64::from(figure["differs"] == true);
    }
    assert_eq!(said["differs"].as_u64(), Some(differs));
    assert_eq!(status == 1, differs > 0);
    assert!(scene.path("result/result.json").is_file(), "it is an experiment like any other");

    let kept = scene.path("state/ddsmark/selftest.json");
    let text = fs::read_to_string(&kept).expect("the outcome is kept");
    let planned = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    planned.assert_status(0);
    for words in ["smallest effect with driver `udp`", "2 comparisons judged together", "p50 RTT"] {
        assert!(planned.stdout.contains(words), "{words}: {}", planned.stdout);
    }
    // what another host could see is not told
    let name = said["host"]["kernel"].as_str().expect("a kernel");
    fs::write(&kept, text.replace(name, "another")).expect("a file");
    let elsewhere = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    assert!(elsewhere.stdout.contains("unknown on this host"), "{}", elsewhere.stdout);
    // nor what cannot be read
    fs::write(&kept, "nothing").expect("a file");
    let damaged = scene.ddsmark(&["run", "plan.toml", "--dry-run"]);
    damaged.assert_status(0);
    assert!(damaged.stderr.contains("holds no outcomes of selftests"), "{}", damaged.stderr);
}
