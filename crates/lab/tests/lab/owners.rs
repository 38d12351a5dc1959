//! Owners of labs: kills, leftovers, keepers.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
};

use lab::{Lab, LabOptions};

use crate::support::{assert_gone, up, wait_until};

/// Environment variable that makes a test of this program the owner of a lab, in another process.
const ROLE: &str = "DDSMARK_LAB_TEST_ROLE";

/// Owner of a lab in another process, for the tests below: prints its name, and waits until it is killed.
#[test]
fn owner_in_another_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (kind, name) = role.split_once(' ').unwrap();
    let spec = "2,rate=100mbit,delay=1ms,loss=1%".parse().unwrap();
    if kind == "keep" {
        lab::keep(name, &spec, |_| {
            println!("\nup {name}");
            Ok(())
        })
        .unwrap();
        return;
    }
    let lab = Lab::up_with(&LabOptions::default(), &spec).unwrap();
    let mut sleeper = lab.command("h1", "sleep").unwrap().arg("300").spawn().unwrap();
    println!("\nup {} {}", lab.name(), sleeper.id());
    sleeper.wait().unwrap();
}

/// Starts this program as the owner of a lab. Returns the words that it prints.
fn owner(role: &str) -> (Child, Vec<String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "owners::owner_in_another_process"])
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.starts_with("up ")).expect("the lab is up");
    (child, line.split(' ').skip(1).map(str::to_owned).collect())
}

#[test]
fn lab_of_a_killed_owner_is_swept_with_its_processes() {
    let (mut child, words) = owner("own -");
    let (name, sleeper) = (&words[0], &words[1]);
    assert!(name.starts_with(&format!("ddsmark-{}-", child.id())), "{name}");
    let records = lab::list().unwrap();
    let record = records.iter().find(|record| record.name == *name).unwrap();
    assert!(record.owner.is_alive() && !record.is_kept);
    // A living owner's lab stays.
    lab::sweep().unwrap();
    assert!(lab::list().unwrap().contains(record));

    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!record.owner.is_alive());
    // The next lab removes it.
    drop(up("2"));
    assert_gone(name);
    wait_until("the end of a process in a host", || {
        let stat = std::fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
}

#[test]
fn lab_of_a_killed_keeper_can_be_taken_down() {
    let name = format!("kept-{}", std::process::id());
    let (mut child, _) = owner(&format!("keep {name}"));
    let record = lab::list().unwrap().into_iter().find(|record| record.name == name).unwrap();
    assert!(record.is_kept && record.owner.is_alive() && record.owner.pid == child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lab::down(&name).unwrap().name, name);
    assert_gone(&name);
}

#[test]
fn failure_half_way_leaves_nothing() {
    // A directory of programs in which the last one fails: all namespaces and links exist by then.
    let programs = tempfile::tempdir().unwrap();
    let directory = programs.path();
    let script = "#!/bin/sh\necho 'Error: Specified qdisc kind is unknown.' >&2\nexit 2\n";
    std::fs::write(directory.join("tc"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.join("tc"), mode).unwrap();
    let name = format!("fail-{}", std::process::id());
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "owners::owner_in_another_process"])
        .env(ROLE, format!("keep {name}"))
        .env("PATH", path)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(!child.wait().unwrap().success());
    programs.close().unwrap();
    assert!(errors.contains("sch_tbf") && errors.contains("token bucket filter"), "{errors}");
    assert_gone(&name);
}
