//! Other hosts: agents behind stewards, reached over ssh.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    path::PathBuf,
    process::Command,
    thread,
    time::Duration,
};

use experiment::{HostSpec, Limits, Pin, Plan, PlanInputs, PlannedHost, Source};
use host::{AgentCommand, AgentLog, DomainClaim, DriverFile, LocalSite, Site, SiteError};
use remote_hosts::{
    StewardCommand, StewardSite,
    remote::{bundle::Bundle, deploy},
};
use results::{Directory, Environment, HostRecord, NoiseRule, ResultHeader, Run, RunState, Tool};
use runner::{ExperimentOutcome, ExperimentRunner, SiteHost, Sites, StopToken, describe};
use testbed::process::{kill_alive, name};

use crate::{
    sshd::Sshd,
    support::{Scene, drivers, programs, wait_for},
};

/// Way to start a steward without ssh: its process is a child of this one.
fn beside(scene: &Scene) -> StewardCommand {
    let directory = scene.directory.path().to_owned();
    StewardCommand::new("beside", move || {
        let mut command = Command::new(programs().join("ddsmark"));
        command.arg("steward").env("DDSMARK_E2E", &directory).env_remove("DDSMARK_AGENT");
        command
    })
}

fn driver(name: &str) -> DriverFile {
    let path = drivers().join(format!("libddsmark_{name}.so"));
    DriverFile { name: name.to_owned(), path: path.canonicalize().expect("a driver") }
}

fn of_all(files: &[DriverFile]) -> BTreeMap<String, PathBuf> {
    files.iter().map(|file| (file.name.clone(), file.path.clone())).collect()
}

/// Plans and executes an experiment on a site.
fn measure(
    scene: &Scene,
    out: &str,
    sites: &[&StewardSite],
    files: &[DriverFile],
    measure: &str,
) -> ExperimentOutcome {
    let named: Vec<(String, &StewardSite)> =
        (1..).map(|n| format!("h{n}")).zip(sites.iter().copied()).collect();
    let host = |(name, _): &(String, &StewardSite)| PlannedHost {
        name: name.clone(),
        at: HostSpec::Local,
        interface: Some("lo".to_owned()),
        addresses: BTreeMap::new(),
        ipv6_addresses: BTreeMap::new(),
        pin: None,
        priorities: None,
        spin: None,
    };
    let planned: Vec<PlannedHost> = named.iter().map(host).collect();
    let site = sites[0];
    let names: Vec<String> = files.iter().map(|file| format!("{:?}", file.name)).collect();
    let text = format!(
        "question = \"?\"\nworkload = \"latency\"\n[factors]\ndriver = [{}]\nsize = 64\n[design]\nblocks = 1\n\
         warm_up = \"10ms\"\nmeasure = \"{measure}\"\nreference = false\n",
        names.join(", ")
    );
    let stop = StopToken::new();
    let describe = |file: &DriverFile| {
        (file.name.clone(), describe(site, file, &Limits::default(), &stop).expect("a description"))
    };
    let descriptions: BTreeMap<_, _> = files.iter().map(describe).collect();
    let source = Source { path: "file".to_owned(), text, sets: Vec::new() };
    let inputs = PlanInputs {
        name: "hosts",
        descriptions: &descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin: Pin::None,
        hosts: &planned,
        seed: 5,
        least_blocks: &results::least_blocks,
    };
    let plan: Plan = source.read().expect("a file").plan(&inputs).expect("a plan");
    let tool = Tool { name: "test".to_owned(), version: "0".to_owned(), command_line: Vec::new() };
    let directory = Directory::create(&scene.path(out), plan.runs()).expect("a directory");
    let record = |(name, site): &(String, &StewardSite)| HostRecord {
        name: name.clone(),
        ..HostRecord::only(site.facts().expect("facts").host, Environment::default())
    };
    let header = ResultHeader::new(tool, named.iter().map(record).collect(), plan, descriptions, Vec::new());
    // Both stewards are in the network of this host.
    let hosts = named.iter().map(|(name, site)| SiteHost {
        name: name.clone(),
        site: *site,
        files: of_all(files),
        network: site.facts().expect("facts").network,
    });
    let sites = Sites::new(hosts.collect());
    ExperimentRunner { header, sites: &sites, directory: &directory, stop: &stop, on_progress: None }
        .execute(&mut ())
}

fn runs(outcome: &ExperimentOutcome) -> Vec<&Run> {
    outcome.document.cells.iter().flat_map(|cell| &cell.runs).collect()
}

/// Returns the only process of a scene with this name.
fn process(scene: &Scene, wanted: &str) -> i32 {
    wait_for(wanted, || scene.processes().into_iter().find(|pid| name(*pid) == wanted))
}

#[test]
fn every_method_of_a_site_is_answered_by_a_steward() {
    let scene = Scene::new();
    let site = StewardSite::start(beside(&scene)).expect("a steward");
    let here = LocalSite::new(programs().join("ddsmark-agent"));
    assert_eq!(site.owner().pid, process(&scene, "ddsmark").cast_unsigned());
    assert_eq!((site.owner().boot, site.clock()), (here.owner().boot, here.clock()));
    let (facts, local) = (site.facts().expect("facts"), here.facts().expect("facts"));
    assert_eq!((&facts.host.kernel, &facts.cores), (&local.host.kernel, &local.cores));
    assert_eq!(facts.interfaces, local.interfaces);
    assert_eq!(
        site.missing_file("file:///nowhere/x.xml").expect("an answer"),
        Some(PathBuf::from("/nowhere/x.xml"))
    );
    assert_eq!(site.missing_file("plain").expect("an answer"), None);
    let rule = NoiseRule::new(20_000_000, false);
    let probe = site.probe(&facts.cores, &rule).expect("an answer").expect("a probe");
    assert_eq!(probe.cores.len(), facts.cores.len());
    assert_eq!(site.probe(&[4711], &rule).expect("an answer"), None);
    let before = site.counters(&facts.cores).expect("counters");
    assert!(site.counters(&facts.cores).expect("counters").since(&before).udp_in_errors.is_some());
    site.reference(&[], &[], 20_000_000).expect("a reference");
    let unknown = |site: &dyn Site| site.reference(&[4711], &[4711], 1_000_000).unwrap_err();
    assert_eq!(unknown(&site), unknown(&here));
    drop(site.keep_awake());

    // A domain is reserved in the network of the host until the reservation is dropped.
    let number = (101..).find(|number| matches!(here.claim_domain(*number), Ok(DomainClaim::Reserved(_))));
    let number = number.expect("a free domain");
    let claim = site.claim_domain(number).expect("an answer");
    assert!(matches!(claim, DomainClaim::Reserved(_)), "{claim:?}");
    assert!(matches!(here.claim_domain(number), Ok(DomainClaim::InUse)));
    assert!(matches!(site.claim_domain(number), Ok(DomainClaim::InUse)));
    drop(claim);
    wait_for("a released domain", || {
        matches!(here.claim_domain(number), Ok(DomainClaim::Reserved(_))).then_some(())
    });

    // A name without an owner: the test would otherwise wait for its end.
    let file = format!("/dev/shm/{}-data", site.owner().run_name(7));
    File::create_new(&file).expect("a file");
    site.sweep();
    assert!(fs::exists(&file).expect("an answer"), "its owner lives");
    site.clean(&site.owner().run_name(7));
    assert!(!fs::exists(&file).expect("an answer"));
    File::create_new(&file).expect("a file");
    drop(site);
    assert!(!fs::exists(&file).expect("an answer"), "a steward that ends removes its files");
}

#[test]
fn output_and_errors_of_an_agent_arrive_over_a_steward() {
    let scene = Scene::new();
    let site = StewardSite::start(beside(&scene)).expect("a steward");
    let broken = scene.path("libddsmark_broken.so");
    fs::write(&broken, "no library").expect("a file");
    let file = DriverFile { name: "broken".to_owned(), path: broken };
    let local = LocalSite::new(programs().join("ddsmark-agent"));
    let error = |site: &dyn Site| {
        describe(site, &file, &Limits::default(), &StopToken::new()).unwrap_err().to_string()
    };
    assert_eq!(error(&site), error(&local));
    let log = AgentLog::in_file(scene.path("agent.log")).expect("a log");
    let command = AgentCommand { driver: file, variables: BTreeMap::new(), padding_bytes: 0, channels: 1 };
    let mut agent = site.launch(&command, log, Box::new(|_, _| {})).expect("an agent");
    let exit = agent.end(Duration::from_secs(60));
    assert!(exit.to_string().starts_with("exited with status"), "{exit}");
    let lines = agent.last_log_lines();
    assert!(lines.iter().any(|line| line.contains("libddsmark_broken.so")), "{lines:?}");
    assert_eq!(
        fs::read_to_string(scene.path("agent.log")).expect("a log").lines().collect::<Vec<_>>(),
        lines
    );
}

#[test]
fn steward_without_agent_or_of_another_version_is_an_error() {
    let scene = Scene::new();
    let mut without = beside(&scene);
    let usual = without.command.clone();
    without.command = std::sync::Arc::new(move || {
        let mut command = usual();
        command.env("DDSMARK_AGENT", "/nowhere/ddsmark-agent");
        command
    });
    let Err(error) = StewardSite::start(without) else { panic!("there is no agent") };
    assert_eq!(error.to_string(), "host `beside`: agent program `/nowhere/ddsmark-agent` not found");
    // A planted steward of a later version, in a shell that prints a banner.
    let hello = r#"{"versions":{"protocol":99,"ddsmark":"9.8.7"},"later":[]}"#;
    let script = format!(
        "echo Welcome; printf '\\000\\001ddsmark steward\\002\\n\\001\\{:03o}\\000\\000\\000'; printf %s '{hello}'; cat",
        hello.len()
    );
    let other = StewardCommand::new("other", move || {
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        command
    });
    let Err(error) = StewardSite::start(other) else { panic!("the version differs") };
    assert!(
        error.to_string().contains("9.8.7 (protocol 99)")
            && error.to_string().contains(env!("CARGO_PKG_VERSION")),
        "{error}"
    );
    // A command without a steward.
    let none = StewardCommand::new("none", || {
        let mut command = Command::new("sh");
        command.args(["-c", "echo Welcome; echo broken >&2; exit 7"]);
        command
    });
    let Err(error) = StewardSite::start(none) else { panic!("it has no greeting") };
    let text = "host `none`: the stream ended before a greeting: `sh` exited with status 7: broken / Welcome";
    assert_eq!(error.to_string(), text);
}

#[test]
fn silent_steward_is_given_up() {
    let scene = Scene::new();
    let mut steward = beside(&scene);
    steward.timeouts.silence = Duration::from_secs(3);
    let site = StewardSite::start(steward).expect("a steward");
    let pid = process(&scene, "ddsmark");
    assert!(Command::new("kill").args(["-s", "STOP", &pid.to_string()]).status().expect("kill").success());
    let error = site.facts().unwrap_err();
    let SiteError::Lost { host, error, .. } = &error else { panic!("{error}") };
    assert!(host == "beside" && error.starts_with("no sign of life for "), "{error}");
    // Other calls fail at once, and the process is gone.
    assert!(matches!(site.claim_domain(1), Err(SiteError::Lost { .. })));
    assert!(matches!(site.facts(), Err(SiteError::Lost { .. })));
}

/// Copies the programs and drivers to the host of an sshd. Returns how to start a steward there, and the drivers.
fn deployed(sshd: &Sshd, names: &[&str]) -> (StewardCommand, Vec<DriverFile>) {
    let agent = programs().join("ddsmark-agent");
    let local = LocalSite::new(&agent);
    let program = Bundle::of_programs(&programs().join("ddsmark"), &agent).expect("programs");
    let bundle = |name: &&str| {
        let path = runner::DriverSearchPath::new(vec![drivers()]);
        let stop = StopToken::new();
        let (file, (_, libraries)) =
            runner::inspect_named(&local, &path, name, &Limits::default(), &stop).expect("a driver");
        ((*name).to_owned(), Bundle::of_driver(&file.path, &libraries).expect("files"))
    };
    let bundles: BTreeMap<String, Bundle> = names.iter().map(bundle).collect();
    let deployment = deploy("there", &sshd.shell(), &program, &bundles).expect("a deployment");
    assert!(deployment.copied_bytes.is_some_and(|bytes| bytes > 0));
    let again = deploy("there", &sshd.shell(), &program, &bundles).expect("a deployment");
    assert_eq!(again.copied_bytes, Some(0), "unchanged copies are used again");
    (deployment.steward, deployment.drivers.into_values().collect())
}

#[test]
fn pair_is_measured_over_ssh_through_two_stewards() {
    let scene = Scene::new();
    let sshd = Sshd::start(&scene, "");
    let (steward, files) = deployed(&sshd, &["cyclonedds", "udp"]);
    // The library that the driver needs was copied with it, under the name that the driver asks for.
    let beside = |name: &str| files[0].path.with_file_name(name).is_file();
    assert!(beside("libddsc.so.11") && beside("manifest.sha256") && !beside("libc.so.6"), "{files:?}");
    let start = || StewardSite::start(steward.clone()).expect("a steward");
    let sites = [start(), start()];
    let outcome = measure(&scene, "result", &sites.each_ref(), &files, "50ms");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(runs(&outcome).len(), 2);
    for run in runs(&outcome) {
        assert_eq!((run.state, &run.failure), (RunState::Valid, &None), "{run:?}");
        assert_eq!(run.endpoints.len(), 2);
        assert!(run.latency.contains_key("rtt"), "{run:?}");
    }
    drop(sites);
    wait_for("the end of the sessions", || sshd.sessions().is_empty().then_some(()));
}

#[test]
fn killed_ssh_session_steward_or_agent_fails_the_run_with_its_host() {
    let scene = Scene::new();
    let sshd = Sshd::start(&scene, "");
    let (steward, files) = deployed(&sshd, &["udp"]);
    for (index, victim) in ["ssh", "sshd", "ddsmark", "ddsmark-agent"].into_iter().enumerate() {
        let site = StewardSite::start(steward.clone()).expect("a steward");
        let file = format!("/dev/shm/{}-left", site.owner().run_name(1));
        let outcome = thread::scope(|scope| {
            let run = scope.spawn(|| measure(&scene, &format!("result-{index}"), &[&site], &files, "600s"));
            wait_for("two agents", || (scene.agents().len() == 2).then_some(()));
            thread::sleep(Duration::from_millis(300));
            File::create_new(&file).expect("a file");
            let killed = match victim {
                "sshd" => sshd.sessions(),
                name => vec![process(&scene, name)],
            };
            // Without root, the process of a session outlives the one that watches it.
            let killed: Vec<bool> = killed.into_iter().map(kill_alive).collect();
            assert!(killed.contains(&true), "{victim}");
            run.join().expect("an outcome")
        });
        let [run] = runs(&outcome)[..] else { panic!("one run") };
        let failure = run.failure.as_ref().expect("a failure");
        assert_eq!(
            (run.state, failure.endpoint.is_some()),
            (RunState::Failed, true),
            "{victim}: {failure:?}"
        );
        if victim == "ddsmark-agent" {
            assert!(failure.error.contains("was killed by signal 9"), "{failure:?}");
            assert!(outcome.error.is_none(), "the host can still be used: {:?}", outcome.error);
        } else {
            assert!(failure.error.starts_with("host `there` is lost: `env` "), "{failure:?}");
            let cause = if victim == "ssh" { "was killed by signal 9" } else { "exited with status 255" };
            assert!(failure.error.contains(cause) && failure.hint.is_some(), "{failure:?}");
            let ended = outcome.error.expect("the experiment ends with the host").to_string();
            assert!(ended.contains("host `there` is lost"), "{ended}");
        }
        drop(site);
        // Whatever was killed, the steward or its successor removes the files.
        let left = || scene.processes().into_iter().filter(|pid| name(*pid) != "sshd").collect::<Vec<_>>();
        wait_for("the end of all processes", || left().is_empty().then_some(()));
        assert!(!fs::exists(&file).expect("an answer"), "{victim}: {file} is left");
    }
}

#[test]
fn random_kills_neither_hang_nor_leave_anything() {
    const KILLS: u64 = 30;
    let scene = Scene::new();
    let (mut failed, mut seed) = (0, 0x2545_f491_4f6c_dd1d_u64);
    let mut random = |below: u64| {
        // xorshift64
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for kill in 0..KILLS {
        let delay = Duration::from_millis(random(250));
        let victim = ["ddsmark", "ddsmark-agent"][random(2) as usize];
        let site = StewardSite::start(beside(&scene)).expect("a steward");
        thread::scope(|scope| {
            let work = scope.spawn(|| {
                let command = AgentCommand {
                    driver: driver("udp"),
                    variables: BTreeMap::new(),
                    padding_bytes: 0,
                    channels: 1,
                };
                let log = AgentLog::in_memory().expect("a log");
                let mut agents = Vec::new();
                let mut sites = 0;
                // Agents are started, asked and ended until something is killed.
                loop {
                    sites += 1;
                    let launched =
                        site.launch(&command, AgentLog::in_memory().expect("a log"), Box::new(|_, _| {}));
                    let (Ok(agent), Ok(_)) = (launched, site.facts()) else { break };
                    agents.push(agent);
                    if agents.len() > 2 {
                        let exit = agents.remove(0).end(Duration::from_secs(5));
                        if exit == host::ProcessExit::Signal(9) || sites > 200 {
                            break;
                        }
                    }
                }
                drop(log);
                agents.iter_mut().map(|agent| agent.end(Duration::from_secs(5))).collect::<Vec<_>>()
            });
            thread::sleep(delay);
            let alive = || scene.processes().into_iter().find(|pid| name(*pid) == victim);
            failed += u32::from(wait_for(victim, || alive().map(kill_alive)));
            if victim == "ddsmark-agent" {
                // The steward lives, and ends the others.
                let steward = process(&scene, "ddsmark");
                thread::sleep(Duration::from_millis(random(20)));
                failed += u32::from(kill_alive(steward));
            }
            work.join().expect("no hang");
        });
        let lost = site.facts().expect_err("the steward was killed").to_string();
        assert!(lost.starts_with("host `beside` is lost: "), "kill {kill}: {lost}");
        drop(site);
        wait_for("the end of all processes", || scene.processes().is_empty().then_some(()));
    }
    assert!(u64::from(failed) >= KILLS, "{failed} processes were killed");
}

#[test]
fn check_of_hosts_says_in_one_line_what_is_missing() {
    let scene = Scene::new();
    let banner = "ForceCommand sh -c 'echo Welcome; exec sh -c \"$SSH_ORIGINAL_COMMAND\"'";
    let sshd = Sshd::start(&scene, banner);
    let temporary = scene.path("tmp");
    fs::create_dir(&temporary).expect("a directory");
    let host = format!("there=ssh:{}", sshd.target());
    let check = |config: &str, host: &str, more: &[&str]| {
        let words = sshd.words(config).join(" ");
        let variables = [("DDSMARK_SSH", OsStr::new(&words)), ("TMPDIR", temporary.as_os_str())];
        scene.start_with(&variables, "ddsmark", &[&["hosts", "check", host], more].concat()).end()
    };
    let ready = check("ssh", &host, &["--driver", "udp"]);
    ready.assert_status(0);
    assert!(
        ready.stdout.starts_with("there: ready: ") && ready.stdout.contains("ddsmark copied ("),
        "{ready:?}"
    );
    assert!(
        ready.stdout.contains(", driver udp ")
            && ready.stderr.contains("prints text, which is skipped: `Welcome`")
    );
    let again = check("ssh", &host, &[]);
    again.assert_status(0);
    assert!(again.stdout.contains("ddsmark in its cache"), "{again:?}");
    let closed = "gone=ssh:127.0.0.1:1";
    for (config, host, cause, hint) in [
        ("wrong-key", host.as_str(), "host `there`: it accepts none of your keys", "ssh-copy-id"),
        ("unknown-host", &host, "host `there`: its key is not known", "connect once with `ssh`"),
        ("ssh", closed, "host `gone`: no ssh server answers there", "start sshd"),
    ] {
        let outcome = check(config, host, &[]);
        outcome.assert_status(3);
        let (error, rest) = outcome.stderr.split_once('\n').expect("a line");
        assert!(error.starts_with(&format!("error: {cause}")), "{error}");
        assert!(rest.starts_with("hint: ") && rest.contains(hint), "{rest}");
    }
    let left: Vec<_> = fs::read_dir(&temporary).expect("a directory").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    // What is left of an interrupted copy is not used.
    let cache = scene.path("cache/ddsmark");
    let names = || fs::read_dir(&cache).expect("a directory").flatten().map(|entry| entry.file_name());
    assert!(names().all(|name| name.len() == 64), "{:?}", names().collect::<Vec<_>>());
}
