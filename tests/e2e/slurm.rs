//! Nodes of an allocation of Slurm: a controller and two node daemons of the test, in the hosts of a lab. Needs root.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use host::{LocalSite, Owner, Site as _};
use lab::Lab;
use testbed::{
    needs_root,
    process::{kill_alive, name},
};

use crate::support::{MARK, Outcome, Running, Scene, list, root, runs, text, wait_for};

/// Running cluster of a test: the user and the controller on `h1`, nodes `h2` and `h3`. Dropping it ends its servers, and then
/// its lab with everything that runs there.
struct Cluster<'a> {
    scene: &'a Scene,
    cluster: testbed::Cluster,
}

impl<'a> Cluster<'a> {
    fn start(scene: &'a Scene) -> Self {
        needs_root();
        let lab = Lab::up(&"lab:3".parse().expect("a lab")).expect("a lab");
        let variables = [(MARK, scene.directory.path())];
        let cluster = testbed::Cluster::start(lab, &scene.path("slurm"), &variables);
        Self { scene, cluster: cluster.unwrap_or_else(|error| panic!("{error}")) }
    }

    /// Starts a command on the host of the controller.
    fn command(&self, program: &str, arguments: &[&str]) -> Running {
        let configuration = self.cluster.configuration();
        let cache = self.scene.path("cache");
        let variables = [("SLURM_CONF", configuration.as_os_str()), ("XDG_CACHE_HOME", cache.as_os_str())];
        let prefix = self.cluster.controller().prefix();
        let [first, rest @ ..] = &prefix;
        let words: Vec<&str> =
            rest.iter().map(String::as_str).chain([program]).chain(arguments.iter().copied()).collect();
        self.scene.start_with(&variables, first, &words)
    }

    /// Starts ddsmark in an allocation of both nodes.
    fn allocated(&self, arguments: &[&str]) -> Running {
        self.command("salloc", &[&["--quiet", "-N2", "ddsmark"], arguments].concat())
    }

    /// Returns a directory as the tasks on a node see it: a host of a lab has a `/dev/shm` of its own.
    fn on_node(&self, node: &str, path: &str) -> PathBuf {
        Path::new(&format!("/proc/{}/root{path}", self.cluster.server_on(node))).to_owned()
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.cluster.logs());
        }
    }
}

/// Returns the process of the step of a steward on a node.
fn step_on(scene: &Scene, node: &str) -> i32 {
    let leads_there = |pid: &i32| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        name(*pid) == "srun" && line.contains(&format!("\0-w\0{node}\0"))
    };
    // srun has a child of the same name, which watches it.
    wait_for("a step", || scene.processes().into_iter().filter(leads_there).min())
}

#[test]
fn pair_is_measured_on_the_nodes_of_an_allocation() {
    let scene = Scene::new();
    let cluster = Cluster::start(&scene);
    let check = cluster.allocated(&["hosts", "check", "slurm,interface=eth0", "--driver", "udp"]).end();
    check.assert_status(0);
    for (line, copy) in check.stdout.lines().zip(["h2: ready: ", "h3: ready: "]) {
        assert!(line.starts_with(copy) && line.contains(", driver udp "), "{check:?}");
    }
    assert_eq!(check.stdout.lines().count(), 2, "{check:?}");

    let flags = [
        "--driver",
        "udp",
        "--size",
        "64",
        "--quick",
        "--runs",
        "1",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
        "--json",
    ];
    let outcome = cluster.allocated(&[&["latency", "--host", "slurm"], &flags[..]].concat()).end();
    outcome.assert_status(0);
    let document = outcome.document();
    let hosts: Vec<[&str; 3]> = list(&document["hosts"])
        .iter()
        .map(|host| ["name", "at", "interface"].map(|key| text(host, key)))
        .collect();
    assert_eq!(hosts, [["h2", "slurm:h2", "eth0"], ["h3", "slurm:h3", "eth0"]]);
    let [run] = runs(&document)[..] else { panic!("one run: {document:#}") };
    assert_eq!(run["state"], "valid", "{run:#}");
    let places: Vec<[&str; 2]> = list(&run["endpoints"])
        .iter()
        .map(|endpoint| ["id", "host"].map(|key| text(endpoint, key)))
        .collect();
    assert_eq!(places, [["pinger", "h2"], ["echo", "h3"]]);
    assert!(run["latency"]["rtt"].is_object(), "{run:#}");

    // One entry of a file stands for both nodes, and the file may place endpoints on them.
    let file = "question = \"?\"\nworkload = \"latency\"\n[factors]\ndriver = \"udp\"\nsize = 64\n\
                placement = \"writer@h3,reader@h2\"\n[[host]]\nat = \"slurm\"\n";
    fs::write(scene.path("file.toml"), file).expect("a file");
    cluster.allocated(&["run", "file.toml", "--dry-run"]).end().assert_status(0);

    // Names of hosts, and a node of another job.
    let named = ["latency", "--host", "a=slurm:h3", "--host", "b=slurm:h4"];
    let rejected = cluster.allocated(&[&named, &flags[..]].concat()).end();
    rejected.assert_status(2);
    assert!(
        rejected.stderr.contains("host `b`: node `h4` does not belong to job ")
            && rejected.stderr.contains("\nhint: available: h2, h3"),
        "{rejected:?}"
    );
}

#[test]
fn killed_step_or_steward_fails_the_run_with_its_host_and_leaves_nothing() {
    let scene = Scene::new();
    let cluster = Cluster::start(&scene);
    for (victim, cause) in [("srun", "was killed by signal 9"), ("ddsmark", "exited with status 137: ")] {
        let arguments = ["latency", "--driver", "udp", "--size", "64", "--runs", "2", "--duration", "600s"];
        let hosts =
            ["--host", "slurm", "--no-reference", "--set", "design.noise_probe=false", "--out", victim];
        let running = cluster.allocated(&[&arguments[..], &hosts].concat());
        wait_for("two agents", || (scene.agents().len() == 2).then_some(()));
        let stewards: Vec<i32> =
            scene.processes().into_iter().filter(|pid| is_steward_on(*pid, "h3")).collect();
        let [steward] = stewards[..] else { panic!("one steward: {stewards:?}") };
        // What its killed steward cannot remove is removed by the next one on the node.
        let owner = Owner { pid: steward.cast_unsigned(), ..LocalSite::new("no agent").owner() };
        let left = cluster.on_node("h3", "/dev/shm").join(format!("{}-left", owner.run_name(1)));
        File::create_new(&left).expect("a file");
        thread::sleep(Duration::from_millis(300));
        assert!(kill_alive(if victim == "srun" { step_on(&scene, "h3") } else { steward }));
        let outcome = running.end();
        outcome.assert_status(3);
        assert!(outcome.stderr.contains("host `h3` is lost"), "{}", outcome.stderr);
        let saved = scene.ddsmark(&["report", victim, "--json"]).document();
        let [run] = &runs(&saved)[..] else { panic!("one run: {saved:#}") };
        assert_eq!((text(run, "state"), text(&run["failure"], "endpoint")), ("failed", "echo"));
        let error = text(&run["failure"], "error");
        assert!(error.starts_with(&format!("host `h3` is lost: `srun` {cause}")), "{run:#}");
        let of_runs =
            |pid: &i32| ["srun", "salloc", "ddsmark", "ddsmark-agent"].contains(&name(*pid).as_str());
        wait_for("the end of all steps", || (!scene.processes().iter().any(of_runs)).then_some(()));
        assert!(!left.exists(), "{victim}: {} is left", left.display());
    }
}

#[test]
fn cancelled_job_is_named_and_its_experiment_continues_in_the_next_allocation() {
    let scene = Scene::new();
    let cluster = Cluster::start(&scene);
    let flags = [
        "latency",
        "--driver",
        "udp",
        "--size",
        "64",
        "--runs",
        "20",
        "--quick",
        "--no-reference",
        "--set",
        "design.noise_probe=false",
    ];
    let running = cluster.allocated(&[&flags[..], &["--host", "slurm", "--out", "result"]].concat());
    let first = scene.path("result/runs/0001.json");
    wait_for("a saved run", || first.exists().then_some(()));
    let jobs = cluster.command("squeue", &["-h", "-o", "%i"]).end().stdout;
    cluster.command("scancel", &[jobs.trim()]).end().assert_status(0);
    let outcome = running.end();
    outcome.assert_status(3);
    let stderr = &outcome.stderr;
    assert!(stderr.contains("` is lost: Slurm cancelled its step: `srun` "), "{stderr}");
    assert!(stderr.contains("\nhint: resume with `ddsmark run --resume DIR`, in an allocation"), "{stderr}");

    let resumed = cluster.allocated(&["run", "--resume", "result", "--json"]).end();
    let document = resumed.document();
    assert_eq!((text(&document, "state"), list(&document["resumed"]).len()), ("complete", 1));
    let made = runs(&document);
    // At most the run during which the job was cancelled is without values.
    let failed = made.iter().filter(|run| run["state"] != "valid").count();
    assert!(made.len() == 20 && failed <= 1, "{document:#}");
    resumed.assert_status(if failed == 0 { 0 } else { 3 });

    // During a run, Slurm ends the agents and the steward at the same time: the run has the same cause.
    let flags = ["latency", "--driver", "udp", "--size", "64", "--runs", "2", "--duration", "600s"];
    let hosts = ["--host", "slurm", "--no-reference", "--set", "design.noise_probe=false", "--out", "during"];
    let running = cluster.allocated(&[&flags[..], &hosts].concat());
    wait_for("two agents", || (scene.agents().len() == 2).then_some(()));
    thread::sleep(Duration::from_millis(300));
    let jobs = cluster.command("squeue", &["-h", "-t", "R", "-o", "%i"]).end().stdout;
    cluster.command("scancel", &[jobs.trim()]).end().assert_status(0);
    running.end().assert_status(3);
    let saved = scene.ddsmark(&["report", "during", "--json"]).document();
    let [run] = &runs(&saved)[..] else { panic!("one run: {saved:#}") };
    let failure = &run["failure"];
    assert!(text(failure, "error").contains("` is lost: Slurm cancelled its step: `srun` "), "{run:#}");
    assert!(text(failure, "hint").starts_with("resume with "), "{run:#}");
}

#[test]
fn example_of_a_batch_script_measures_between_its_nodes() {
    let scene = Scene::new();
    let cluster = Cluster::start(&scene);
    let script = root().join("examples/slurm/latency.sbatch").display().to_string();
    let flags = ["--size", "64", "--runs", "1", "--quick"];
    let submitted =
        cluster.command("sbatch", &[&["--wait", "--parsable", &script], &flags[..]].concat()).end();
    let job = submitted.stdout.trim();
    let log = fs::read_to_string(scene.path(&format!("latency-{job}.log"))).unwrap_or_default();
    assert_eq!(submitted.status.code(), Some(0), "{submitted:?}\n{log}");
    for line in ["h2: ready: ", "h3: ready: "] {
        assert!(log.lines().any(|found| found.starts_with(line)), "{line}: {log}");
    }
    let document = scene.ddsmark(&["report", &format!("latency-{job}"), "--json"]).document();
    let measured: BTreeSet<&str> = runs(&document).iter().map(|run| text(run, "cell")).collect();
    assert_eq!(measured.len(), 2, "a cell of each driver: {document:#}");
    for run in runs(&document) {
        let places: Vec<&str> = list(&run["endpoints"]).iter().map(|of| text(of, "host")).collect();
        assert_eq!((text(run, "state"), &places[..]), ("valid", &["h2", "h3"][..]), "{run:#}");
    }
    assert!(log.contains("pinger@h2 -> echo@h3: RTT p50 "), "{log}");
}

/// Returns whether a process is a steward on a node.
fn is_steward_on(pid: i32, node: &str) -> bool {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let variable = format!("SLURMD_NODENAME={node}");
    name(pid) == "ddsmark"
        && read("cmdline").ends_with("\0steward\0")
        && read("environ").split('\0').any(|entry| entry == variable)
}

#[test]
fn nodes_without_an_allocation_are_rejected_with_the_next_step() {
    let scene = Scene::new();
    let outside = |arguments: &[&str], job: &str| -> Outcome {
        scene.start_with(&[("SLURM_JOB_ID", OsStr::new(job))], "ddsmark", arguments).end()
    };
    for arguments in [
        &["latency", "--driver", "udp", "--host", "slurm"][..],
        &["latency", "--driver", "udp", "--host", "slurm=slurm:n1"],
        &["hosts", "check", "slurm"],
    ] {
        let rejected = outside(arguments, "");
        // A check reports each host that it cannot use.
        rejected.assert_status(2);
        let expected =
            "error: host `slurm`: no allocation of Slurm: SLURM_JOB_ID is not set\nhint: allocate nodes with";
        assert!(rejected.stderr.starts_with(expected), "{rejected:?}");
    }
    let half = outside(&["hosts", "check", "slurm"], "7");
    assert!(half.stderr.contains("SLURM_JOB_NODELIST is not set"), "{half:?}");
}
