//! Labs that an experiment creates, and links as factors. Needs root.

use std::fs;

use serde_json::Value;
use testbed::needs_root;

use crate::{
    experiments::plan_recipes,
    support::{Outcome, Running, Scene, count, list, number, runs, shared_library, text, wait_for},
};

/// Flags of a quick measurement.
const QUICK: [&str; 7] =
    ["--quick", "--no-reference", "--set", "design.noise_probe=false", "--json", "--out", "result"];

/// Returns what is left of the labs of a process: namespaces, records and files.
fn left_of(pid: u32) -> Vec<String> {
    let prefix = format!("ddsmark-{pid}-");
    let of = |directory: &'static str| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.map(move |name| format!("{directory}/{name}"))
    };
    let all = ["/run/netns", "/run/ddsmark/labs", "/etc/netns"].into_iter().flat_map(of);
    all.filter(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with(&prefix))).collect()
}

/// Runs a command to its end. Nothing is left of its lab.
#[track_caller]
fn finish(running: Running) -> Outcome {
    needs_root();
    let pid = running.id();
    let outcome = running.end();
    assert_eq!(left_of(pid), [""; 0], "{outcome:?}");
    outcome
}

#[track_caller]
fn measure(scene: &Scene, arguments: &[&str]) -> Outcome {
    finish(scene.start("ddsmark", &[arguments, &QUICK].concat()))
}

/// Returns the cells of a result, whose runs are all valid.
#[track_caller]
fn valid_cells(outcome: &Outcome) -> Vec<Value> {
    outcome.assert_status(0);
    let document = outcome.document();
    for run in runs(&document) {
        assert_eq!(run["state"], "valid", "{run:#}");
    }
    list(&document["cells"]).to_vec()
}

/// Returns the links of the runs of a cell, which are alike.
#[track_caller]
fn link(cell: &Value) -> (Value, u64, u64) {
    let runs = list(&cell["runs"]);
    let of_run = |run: &Value| {
        let mut link = run["link"].clone();
        // Frames and their lateness are those of each run.
        let properties = link.as_object_mut().expect("a link");
        let has_switch = !properties["rate_bit_per_s"].is_null() || count(&properties["delay_ns"]) > 0;
        let late = properties.remove("lateness");
        assert_eq!(late.is_some_and(|late| count(&late["frames"]) > 0), has_switch, "{run:#}");
        properties.remove("frames");
        link
    };
    let link = of_run(&runs[0]);
    assert!(!runs.is_empty() && runs.iter().all(|run| of_run(run) == link), "{cell:#}");
    assert_eq!(link["mtu_bytes"], 1500);
    (link["rate_bit_per_s"].clone(), count(&link["delay_ns"]), count(&link["loss_ppm"]))
}

#[test]
fn links_of_a_rate_carry_no_more_than_their_ceiling() {
    let scene = Scene::new();
    let arguments = [
        "throughput",
        "-d",
        "udp",
        "-s",
        "1472",
        "--host",
        "lab:2",
        "--link-rate",
        "10mbit,20mbit",
        "--runs",
        "3",
    ];
    let outcome = measure(&scene, &arguments);
    let cells = valid_cells(&outcome);
    for (cell, mbps) in cells.iter().zip([10.0, 20.0]) {
        assert_eq!(link(cell), (Value::from(mbps as u64 * 1_000_000), 0, 0));
        let ceiling = &cell["link_ceiling"];
        let goodput = number(&ceiling["goodput_mbps"]);
        assert!(number(&ceiling["link_mbps"]) == mbps && (goodput / mbps - 0.957).abs() < 0.001, "{ceiling}");
        for run in list(&cell["runs"]) {
            // What the queues let through at once is a few percent of so short a run.
            let share = number(&run["measured"]["throughput"]["goodput_mbps"]) / goodput;
            assert!((0.3..1.05).contains(&share), "{share} of the ceiling: {run:#}");
        }
    }
    assert_eq!(cells.len(), 2);
    let document = outcome.document();
    for host in list(&document["hosts"]) {
        assert_eq!((text(host, "at"), text(host, "interface")), ("lab:2", "eth0"));
    }
    let report = scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    for words in ["at lab:2, interface eth0 (MTU 1500)", "Link carries", "link 10mbit", "19.1"] {
        assert!(report.stdout.contains(words), "{words}: {}", report.stdout);
    }
}

#[test]
fn links_with_a_loss_lose_samples_and_the_others_none() {
    let scene = Scene::new();
    let arguments = [
        "load",
        "-d",
        "udp",
        "-s",
        "64",
        "--rate",
        "5000",
        "--host",
        "lab:2",
        "--link-loss",
        "0,10%",
        "--runs",
        "1",
    ];
    let cells = valid_cells(&measure(&scene, &arguments));
    let lost = cells.iter().map(|cell| {
        let throughput = &cell["throughput"];
        number(&throughput["lost"]) / number(&throughput["sent"])
    });
    let lost: Vec<f64> = lost.collect();
    assert_eq!(cells.iter().map(link).map(|(.., loss)| loss).collect::<Vec<_>>(), [0, 100_000]);
    assert!(lost[0] == 0.0 && (0.05..0.15).contains(&lost[1]), "{lost:?}");
    // Each sample is a frame; a link that drops nothing by itself is not counted.
    let [plain, lossy] = [0, 1].map(|cell: usize| list(&cells[cell]["runs"])[0].clone());
    assert_eq!(plain["link"].get("frames"), None, "{plain:#}");
    let frames = &lossy["link"]["frames"];
    let (sent, dropped) = (count(&frames["sent"]), count(&frames["lost"]));
    let counted = &lossy["flows"][0]["counted"];
    assert!(dropped >= count(&counted["lost"]) && sent >= count(&counted["sent"]), "{lossy:#}");
    let share = dropped as f64 / sent as f64;
    assert!((0.05..0.15).contains(&share), "{share}: {frames}");
    let report = scene.ddsmark(&["report", "result", "--full"]);
    assert!(report.stdout.contains("Links: frames per run"), "{}", report.stdout);
}

#[test]
fn links_with_a_delay_lengthen_the_round_trip_by_twice_the_delay() {
    let scene = Scene::new();
    let arguments = [
        "latency",
        "-d",
        "udp",
        "-s",
        "64",
        "--host",
        "lab:2,delay=4ms",
        "--link-delay",
        "1ms,10ms",
        "--runs",
        "3",
    ];
    let cells = valid_cells(&measure(&scene, &arguments));
    let delays: Vec<u64> = cells.iter().map(link).map(|(_, delay, _)| delay).collect();
    assert_eq!(delays, [1_000_000, 10_000_000]);
    let p50: Vec<f64> = cells.iter().map(|cell| number(&cell["latency"]["rtt"]["p50_ns"]) / 1e6).collect();
    // A round trip of the hosts alone takes some 0.1 ms.
    assert!(p50[0] >= 2.0 && p50[1] >= 20.0, "{p50:?}");
    let ratio = p50[1] / p50[0];
    assert!((5.0..10.5).contains(&ratio), "{ratio}: {p50:?}");
}

#[test]
fn lab_of_several_hosts_has_the_endpoints_of_every_driver() {
    let scene = Scene::new();
    let file = "question = \"?\"\nworkload = [\"latency\", \"throughput\"]\n[[host]]\nat = \"lab:4,rate=100mbit\"\n\
                [factors]\ndriver = [\"udp\", \"cyclonedds\", \"fastdds\"]\ntopology = \"1-3\"\nsize = 1024\n\
                multicast = true\nplacement = [\"default\", \"writer@h4,reader@h2\"]\n";
    fs::write(scene.path("fan.toml"), file).expect("a file");
    let cells = valid_cells(&measure(&scene, &["run", "fan.toml", "--runs", "1"]));
    assert_eq!(cells.len(), 12);
    for cell in &cells {
        let endpoints = list(&cell["runs"][0]["endpoints"]);
        let places: Vec<&str> = endpoints.iter().map(|endpoint| text(endpoint, "host")).collect();
        let is_named = text(cell, "id").contains("writer");
        let expected = if is_named { ["h4", "h2", "h2", "h2"] } else { ["h1", "h2", "h3", "h4"] };
        assert_eq!(places, expected, "{cell:#}");
    }
}

#[test]
fn lab_of_wrong_input_is_not_created_or_removed() {
    let scene = Scene::new();
    let fast = ["latency", "-d", "udp", "-s", "64"];
    for (flags, error, hint) in [
        (
            &["--host", "lab:2", "--host", "lab:3"][..],
            "an experiment can have one lab only",
            "such as `lab:4`",
        ),
        (&["--host", "lab:2", "--host", "a=local"], "`local` cannot be used beside a lab", "one more host"),
        (&["--host", "a=lab:2"], "a lab names its hosts h1, h2 and so on", "without a name"),
        (&["--host", "lab:1"], "invalid number of hosts `1`", "2 to 200"),
        (&["--host", "lab:2,rate=100"], "invalid rate `100`", "`100mbit`"),
        (&["--link-rate", "10mbit"], "`link_rate` needs a lab", "`--host lab:2`"),
        (&["--set", "factors.link_loss=1%"], "`link_loss` needs a lab", "`--host lab:2`"),
        (&["--host", "a=local", "--link-delay", "1ms"], "`link_delay` needs a lab", "`--host lab:2`"),
        (&["--host", "lab:2", "--link-delay", "11s"], "11s", "of at most 10s"),
        // Known only when the hosts are there.
        (&["--host", "lab:2", "--placement", "writer@h3"], "host `h3` not found", "available: h1, h2"),
        (&["--host", "lab:2", "--interface", "eth1"], "eth1", "eth0"),
    ] {
        let outcome = measure(&scene, &[&fast, flags].concat());
        outcome.assert_status(2);
        let stderr = &outcome.stderr;
        let (found, next) = stderr.split_once("\nhint: ").unwrap_or_else(|| panic!("no hint: {stderr}"));
        assert!(found.contains(error) && next.contains(hint), "{flags:?}: {stderr}");
        assert!(!scene.path("result").exists(), "{flags:?}");
    }
    for (entry, error) in [
        ("at = \"lab:2\"\nname = \"h1\"", "a lab names its hosts itself"),
        ("at = \"lab:2\"\ninterface = \"eth0\"", "has one interface to the others"),
        ("at = \"lab:2,loss=2\"", "invalid loss `2`"),
        ("at = \"local\"", "host `local` has no name"),
    ] {
        let file = format!(
            "question = \"?\"\nworkload = \"latency\"\n[[host]]\n{entry}\n[factors]\ndriver = \"udp\"\n"
        );
        fs::write(scene.path("wrong.toml"), file).expect("a file");
        let outcome = measure(&scene, &["run", "wrong.toml"]);
        outcome.assert_status(2);
        let stderr = &outcome.stderr;
        assert!(
            stderr.contains(error) && stderr.contains("wrong.toml:4:") || stderr.contains("wrong.toml:5:"),
            "{stderr}"
        );
        assert!(stderr.contains("\nhint: "), "{stderr}");
    }
    let checked = scene.ddsmark(&["hosts", "check", "lab:2"]);
    checked.assert_status(2);
    assert!(
        checked.stderr.contains("`lab:2` cannot be checked") && checked.stderr.contains("ddsmark lab up")
    );
}

#[test]
fn lab_without_privilege_is_rejected_before_anything_starts() {
    let scene = Scene::new();
    let words = [
        "--bounding-set",
        "-net_admin",
        "ddsmark",
        "latency",
        "-d",
        "no-such-driver",
        "--host",
        "lab:2",
        "--out",
        "result",
    ];
    let rejected = finish(scene.start("setpriv", &words));
    rejected.assert_status(2);
    let (error, hint) = rejected.stderr.split_once('\n').expect("two lines");
    assert_eq!(error, "error: a lab needs the privilege CAP_NET_ADMIN, which this process lacks");
    assert!(hint.starts_with("hint: run the command as root"), "{hint}");
    // A factor decides which programs are needed.
    let hide = "mount --bind /dev/null \"$(realpath \"$(command -v nft)\")\"";
    let script = format!("{hide} && exec ddsmark latency -d udp --host lab:2 --link-loss 0,1%");
    let rejected = finish(scene.start("unshare", &["--mount", "sh", "-ec", &script]));
    rejected.assert_status(2);
    assert!(rejected.stderr.starts_with("error: `nft` not found\nhint: install it: "), "{rejected:?}");
}

/// Starts a measurement in a lab, and waits for its first saved run.
fn started(scene: &Scene, more: &[&str]) -> Running {
    needs_root();
    let arguments = ["latency", "-d", "udp", "-s", "64", "--host", "lab:2,delay=1ms", "--runs", "200"];
    let mut running = scene.start("ddsmark", &[&arguments, more, &QUICK].concat());
    let first = scene.path("result/runs/0001.json");
    wait_for("the first run", || {
        assert!(running.is_alive(), "{:?}", fs::read_dir(scene.path("result")));
        first.exists().then_some(())
    });
    running
}

#[test]
fn lab_of_a_killed_runner_is_removed_by_the_next_one() {
    let scene = Scene::new();
    let running = started(&scene, &[]);
    let pid = running.id();
    assert_eq!(left_of(pid).iter().filter(|path| path.starts_with("/run/netns/")).count(), 3);
    running.signal("KILL");
    assert_eq!(running.end().status.code(), None);
    // The stewards end with their streams, and the agents with them.
    wait_for("the end of all processes", || scene.processes().is_empty().then_some(()));
    assert!(!left_of(pid).is_empty());
    fs::remove_dir_all(scene.path("result")).expect("a result");
    valid_cells(&measure(&scene, &["latency", "-d", "udp", "-s", "64", "--host", "lab:2", "--runs", "1"]));
    assert_eq!(left_of(pid), [""; 0]);
}

#[test]
fn resumed_experiment_has_the_same_lab() {
    let scene = Scene::new();
    let running = started(&scene, &["--link-delay", "0,1ms"]);
    running.signal("INT");
    let interrupted = finish(running);
    interrupted.assert_status(130);
    let plan = fs::read_to_string(scene.path("result/experiment.json")).expect("a plan");
    // Four runs more are enough.
    let runs_before = fs::read_dir(scene.path("result/runs")).expect("runs").flatten();
    let made = runs_before.filter(|run| run.path().extension().is_some_and(|end| end == "json")).count();
    assert!(plan.contains("lab:2,delay=1ms") && made >= 1);
    let resumed = scene.start("ddsmark", &["run", "--resume", "result", "--json"]);
    let pid = resumed.id();
    wait_for("more runs", || {
        let saved = |number: usize| scene.path(&format!("result/runs/{number:04}.json"));
        saved(made + 4).exists().then_some(())
    });
    assert_eq!(left_of(pid).iter().filter(|path| path.starts_with("/run/netns/")).count(), 3);
    resumed.signal("INT");
    let outcome = finish(resumed);
    outcome.assert_status(130);
    let document = outcome.document();
    assert_eq!(list(&document["resumed"]).len(), 1);
    for cell in list(&document["cells"]) {
        let delay = if text(cell, "id").ends_with("delay-0") { 0 } else { 1_000_000 };
        assert_eq!(link(cell).1, delay, "{cell:#}");
    }
}

#[test]
fn compare_names_the_links_in_which_results_differ() {
    let scene = Scene::new();
    let base = ["latency", "-d", "udp", "-s", "64", "--runs", "6", "--quick", "--out"];
    for (out, flags) in [
        ("plain", &["--host", "lab:2,rate=100mbit"][..]),
        ("slow", &["--host", "lab:2", "--link-rate", "10mbit"]),
    ] {
        finish(scene.start("ddsmark", &[&base, &[out][..], flags].concat())).assert_status(0);
    }
    let compared = scene.ddsmark(&["compare", "plain", "slow"]);
    assert!(compared.stdout.contains("link_rate") || compared.stderr.contains("link_rate"), "{compared:?}");
    for words in ["100mbit", "10mbit"] {
        assert!(format!("{compared:?}").contains(words), "{compared:?}");
    }
    let named = scene.ddsmark(&["compare", "plain", "slow", "--factor", "link_rate"]);
    named.assert_status(0);
}

#[test]
fn lab_recipes_plan_for_the_installed_drivers() {
    needs_root();
    plan_recipes(true);
}

#[test]
fn lab_recipes_measure_on_their_hosts() {
    let scene = Scene::new();
    let arguments = ["run", "two-hosts", "-d", "udp", "-s", "1024", "--runs", "1"];
    let cells = valid_cells(&measure(&scene, &arguments));
    assert_eq!(cells.len(), 4);
    fs::remove_dir_all(scene.path("result")).expect("a result");
    let arguments = [
        "run",
        "qos-cost",
        "-d",
        "cyclonedds",
        "--topology",
        "ring-3",
        "--host",
        "lab:3,rate=100mbit",
        "--runs",
        "1",
        "--set",
        "factors.profile=default,deadline-10s",
    ];
    let cells = valid_cells(&measure(&scene, &[&arguments[..], &["--set", "factors.exclude=[]"]].concat()));
    assert_eq!(cells.len(), 4);
    for cell in &cells {
        let endpoints = list(&cell["runs"][0]["endpoints"]);
        let hosts: Vec<&str> = endpoints.iter().map(|endpoint| text(endpoint, "host")).collect();
        assert_eq!(hosts, ["h1", "h2", "h3"], "{cell:#}");
    }
}

#[test]
fn seed_000_has_seven_tables_beside_its_published_figures() {
    let scene = Scene::new();
    let dry = scene.ddsmark(&["run", "seed-000", "--dry-run", "--json"]);
    dry.assert_status(0);
    let plan: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    assert!(count(&plan["expected_ns"]) < 300 * 1_000_000_000, "{}", plan["expected_ns"]);
    let figures: Vec<usize> =
        list(&plan["published"]).iter().map(|table| list(&table["figures"]).len()).collect();
    // 12 sizes, with three figures of a throughput and four of a latency
    assert_eq!(figures, [36, 48, 36, 36, 48, 36, 48]);

    let cells = valid_cells(&measure(&scene, &["run", "seed-000", "-s", "32,63000", "--runs", "1"]));
    // 63000 bytes make a batch of one sample, which is measured once
    assert_eq!(cells.len(), 13);
    for cell in &cells {
        for value in list(&cell["published"]) {
            let measured = &value["measured"];
            assert!(measured.is_null() || count(&measured["n"]) == 1, "{value:#}");
        }
        let in_both = cell["id"] == "cyclonedds/udp4/throughput/63000";
        let each = if cell["factors"]["workload"] == "latency" { 4 } else { 3 };
        assert_eq!(list(&cell["published"]).len(), if in_both { 2 * each } else { each }, "{cell:#}");
    }
    let report = scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    assert_eq!(report.stdout.matches("beside published figures of").count(), 7, "{}", report.stdout);
    for words in ["2 × 355 = 710", "raw UDP, throughput", "(here virtual (rate=100mbit))"] {
        assert!(report.stdout.contains(words), "{words}: {}", report.stdout);
    }
    let rows = scene.ddsmark(&["report", "result", "--csv"]).stdout;
    let published = rows.lines().filter(|row| row.contains(",published,"));
    assert_eq!(published.count(), 48);
}

/// Agents whose clock has half of its speed report half of the delay of the links: no run can be that fast.
#[test]
fn round_trips_below_the_delay_of_the_links_are_invalid() {
    let scene = Scene::new();
    let library = shared_library(&scene, "cc", "slow_clock.so", &["-std=c11", "slow_clock.c"]);
    let measured = |variables: &str| {
        let text = format!(
            "question = \"Is a time below the bound found?\"\nworkload = \"latency\"\n[[host]]\nat = \"lab:2,delay=40ms\"\n\
             [factors]\ndriver = \"udp\"\nsize = 64\n{variables}\n\
             [design]\nwarm_up = \"50ms\"\nmeasure = \"500ms\"\nreference = false\nnoise_probe = false\n"
        );
        fs::write(scene.path("slow.toml"), text).expect("a file");
        let _ = fs::remove_dir_all(scene.path("result"));
        finish(scene.start("ddsmark", &["run", "slow.toml", "--runs", "1", "--json", "--out", "result"]))
    };
    let outcome = measured("");
    let [cell] = &valid_cells(&outcome)[..] else { panic!("one cell: {outcome:?}") };
    assert!(count(&cell["latency"]["rtt"]["min_ns"]) >= 80_000_000, "{cell:#}");
    let outcome = measured(&format!("[factors.env]\nLD_PRELOAD = {library:?}\n"));
    outcome.assert_status(4);
    let document = outcome.document();
    let [run] = runs(&document)[..] else { panic!("one run: {document:#}") };
    assert_eq!(run["state"], "invalid", "{run:#}");
    let rtt = list(&run["warnings"])
        .iter()
        .map(|warning| text(warning, "text"))
        .find(|text| text.contains("`rtt`"));
    let rtt = rtt.unwrap_or_else(|| panic!("the bound of the RTT: {run:#}"));
    assert!(rtt.contains("at least 80000000 ns there and back over links of 40 ms"), "{rtt}");
}

#[test]
fn system_beyond_its_link_is_rejected_before_it_starts() {
    needs_root();
    let scene = Scene::new();
    // 10 Mbit/s of payload. Of a link, 1,480 bytes of each 1,538 can be payload.
    let file = "question = \"?\"\nworkload = \"paced\"\nfactors.driver = \"udp\"\n\
                [[flows]]\nname = \"camera\"\nsize = 12500\nrate = 100\n";
    fs::write(scene.path("camera.toml"), file).expect("a file");
    let plan = |link: &str, more: &[&str]| {
        let host = format!("lab:2,rate={link}");
        let run = ["run", "camera.toml", "--dry-run", "--host", &host];
        finish(scene.start("ddsmark", &[&run[..], more].concat()))
    };
    let rejected = plan("10mbit", &[]);
    rejected.assert_status(2);
    let words = "10.0 Mbit/s of payload have to reach host `h2`, and its link of 10.0 Mbit/s carries at most 9.62 Mbit/s";
    assert!(rejected.stderr.contains(words), "{}", rejected.stderr);
    assert!(rejected.stderr.contains("`scale = [0.9]`"), "{}", rejected.stderr);
    plan("11mbit", &[]).assert_status(0);
    plan("10mbit", &["--force"]).assert_status(0);
    plan("10mbit", &["--scale", "0.9"]).assert_status(0);
}
