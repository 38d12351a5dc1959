//! SIGKILL: agents in each phase and role, and the runner in each phase.

use std::{fs, process::Command};

use testbed::needs_root;

use crate::{
    shared_memory::{Numbers, abandoned, present},
    support::{Outcome, Scene, blocks, count, list, programs, wait_for},
};

const PHASES: [&str; 8] = ["hello", "configure", "match", "warm_up", "measure", "drain", "report", "exit"];

/// Runs a campaign of kills: only the runs of killed agents may fail.
fn campaign(killed: u32) {
    let _scene = Scene::new();
    let output = Command::new(programs().join("validation"))
        .args(["kills", "--driver", "udp,cyclonedds", "--programs"])
        .arg(programs())
        .output()
        .expect("validation runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    let late = stdout
        .lines()
        .find_map(|line| line.trim().strip_suffix("agents that had just ended when they were to be killed"));
    let late = late.map_or(0, |late| late.trim().parse::<u32>().expect("a number"));
    assert!(stdout.starts_with(&format!("{} agents killed in ", killed - late)), "{stdout}");
    let zeros = stdout.lines().filter(|line| line.starts_with("     0  ")).count();
    assert_eq!(zeros, 6, "{stdout}");
}

#[test]
fn killed_agent_fails_its_run_in_any_phase_and_role() {
    campaign(64);
}

/// Kills processes on virtual hosts: nothing but their runs may be lost.
fn campaign_on_hosts(reach: &str, victims: &str, kills: u32) {
    needs_root();
    let _scene = Scene::new();
    let count = kills.to_string();
    let output = Command::new(programs().join("validation"))
        .args(["kills", "--driver", "udp", "--hosts", "2", "--reach", reach, "--victim", victims])
        .args(["--runs", &count, "--programs"])
        .arg(programs())
        .output()
        .expect("validation runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    let first = format!("{kills} processes on 2 hosts over {reach} killed in ");
    assert!(stdout.starts_with(&first), "{stdout}");
    assert_eq!(stdout.lines().filter(|line| line.starts_with("     0  ")).count(), 6, "{stdout}");
}

/// Needs root.
#[test]
fn killed_hosts_lose_no_saved_run() {
    campaign_on_hosts("netns", "agent,steward", 9);
}

/// Needs root.
#[test]
fn killed_connections_lose_no_saved_run() {
    campaign_on_hosts("ssh", "ssh,sshd", 2 * blocks() as u32);
    campaign_on_hosts("slurm", "srun", blocks() as u32);
}

#[test]
fn killed_runner_leaves_a_readable_result_and_no_agent() {
    // every other phase with the other driver
    let drivers = ["udp", "cyclonedds"];
    for first in 0..if blocks() == 1 { 1 } else { 2 } {
        let of = drivers.into_iter().cycle().skip(first);
        let roles = ["writer", "writer", "reader", "reader"].into_iter().cycle();
        for ((phase, role), driver) in PHASES.into_iter().zip(roles).zip(of) {
            let scene = Scene::new();
            let plan = scene.path("kills");
            fs::create_dir(&plan).expect("a directory");
            fs::write(plan.join("plan"), format!("{driver} {role} 1 {phase} 0 runner\n")).expect("a file");
            let ddsmark = scene.start_with(
                &[
                    ("DDSMARK_KILLS", plan.as_os_str()),
                    ("DDSMARK_AGENT", programs().join("killing-agent").as_os_str()),
                ],
                "ddsmark",
                &[
                    "characterize",
                    "--driver",
                    driver,
                    "--workload",
                    "throughput",
                    "--size",
                    "64",
                    "--batch-bytes",
                    "0",
                    "--duration",
                    "40ms",
                    "--no-reference",
                    "--set",
                    "design.noise_probe=false",
                    "--runs",
                    "3",
                    "--out",
                    "result",
                ],
            );
            let outcome = ddsmark.end();
            assert_eq!(outcome.status.code(), None, "{driver}, {phase}: {outcome:?}");
            wait_for("the end of all agents", || scene.processes().is_empty().then_some(()));
            let hit = fs::read_to_string(plan.join("done").join(format!("{driver} {role} 1")));
            assert_eq!(hit.expect("a kill"), "hit", "{driver}, {phase}");
            // the first run was saved before; the runner was killed in the second
            let again = scene.ddsmark(&["report", "result", "--json"]);
            again.assert_status(0);
            let document = again.document();
            assert_eq!(document["state"], "interrupted", "{driver}, {phase}");
            let runs = list(&document["cells"][0]["runs"]);
            assert_eq!((runs.len(), count(&runs[0]["number"])), (1, 1), "{driver}, {phase}: {document:#}");
            assert_eq!(runs[0]["state"], "valid", "{driver}, {phase}");
        }
    }
}

/// Transports for which Fast DDS creates shared memory files, under names of its own choice.
const SHARED: [&str; 2] = ["shm", "data_sharing"];

/// Returns the files that Fast DDS has created since, and that no process uses.
fn left(before: &Numbers) -> Vec<String> {
    let mut left = abandoned(before);
    left.retain(|name| name.starts_with("fast") || name.starts_with("sem.fast"));
    left
}

/// Measures over a transport, while agents and runner are killed according to the plan.
fn measure_and_kill(scene: &Scene, name: &str, plan: &str, transport: &str, runs: &str) -> Outcome {
    let kills = scene.path(&format!("{name}-kills"));
    fs::create_dir(&kills).expect("a directory");
    fs::write(kills.join("plan"), plan).expect("a file");
    let ddsmark = scene.start_with(
        &[
            ("DDSMARK_KILLS", kills.as_os_str()),
            ("DDSMARK_AGENT", programs().join("killing-agent").as_os_str()),
        ],
        "ddsmark",
        &[
            "characterize",
            "--driver",
            "fastdds",
            "--transport",
            transport,
            "--workload",
            "throughput",
            "--size",
            "64",
            "--batch-bytes",
            "0",
            "--duration",
            "40ms",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--runs",
            runs,
            "--out",
            name,
        ],
    );
    let outcome = ddsmark.end();
    wait_for("the end of all agents", || scene.processes().is_empty().then_some(()));
    outcome
}

/// Fast DDS takes 0.1 to 0.3 s to open a participant. After a kill in that time, only the kernel knows which files
/// exist.
#[test]
fn next_run_removes_shared_memory_of_a_killed_runner() {
    for transport in SHARED {
        let scene = Scene::new();
        let before = present();
        let mut leaving = 0;
        let kills = 4 * blocks() as u64;
        for delay_ms in (0..kills).map(|step| 360 / kills * step) {
            let plan = format!("fastdds writer 0 configure {} runner\n", 1000 * delay_ms);
            let killed = measure_and_kill(&scene, &format!("killed-{delay_ms}"), &plan, transport, "3");
            assert_eq!(killed.status.code(), None, "{transport}, {delay_ms} ms: {killed:?}");
            leaving += u32::from(!left(&before).is_empty());
        }
        assert!(leaving > 0, "{transport}: no kill has left anything, so nothing was tried");
        measure_and_kill(&scene, "whole", "", transport, "3").assert_status(0);
        assert_eq!(left(&before), [""; 0], "{transport}, after {leaving} of {kills} kills had left files");
    }
}

#[test]
fn killed_agent_leaves_no_shared_memory() {
    for transport in SHARED {
        let scene = Scene::new();
        let before = present();
        let kills = PHASES.iter().zip(["writer", "reader"].into_iter().cycle()).enumerate();
        let plan: String = kills
            .map(|(number, (phase, role))| format!("fastdds {role} {number} {phase} 0 agent\n"))
            .collect();
        let runs = PHASES.len().to_string();
        measure_and_kill(&scene, "killed", &plan, transport, &runs).assert_status(3);
        assert_eq!(left(&before), [""; 0], "{transport}");
    }
}
