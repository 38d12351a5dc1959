//! Processes of `ddsmark perftest` on virtual hosts, and what they print. Needs root.

use std::{ffi::OsStr, fs, os::unix::fs::symlink, path::PathBuf};

use lab::Lab;
use serde_json::Value;
use testbed::needs_root;

use crate::support::{Outcome, Running, Scene, programs, wait_for};

/// Program of the guides, a symbolic link to `ddsmark`.
const PROGRAM: &str = "perftest_cpp";

/// Virtual hosts on which a test starts processes.
pub struct Hosts {
    pub lab: Lab,
    pub scene: Scene,
    program: PathBuf,
}

impl Hosts {
    pub fn new(count: u32) -> Self {
        needs_root();
        let lab = Lab::up(&format!("lab:{count}").parse().expect("a lab")).expect("a lab");
        let scene = Scene::new();
        let program = scene.path(PROGRAM);
        symlink(programs().join("ddsmark"), &program).expect("a link");
        Self { lab, scene, program }
    }

    /// Starts a process on a host of the lab. `$1` to `$3` in its options are the addresses of the hosts.
    pub fn start(&self, host: usize, options: &str) -> Running {
        self.start_with(host, &[], &[], options)
    }

    /// Starts a process with these variables in its environment. `before`: words of a command that executes the program.
    pub fn start_with(
        &self,
        host: usize,
        variables: &[(&str, &OsStr)],
        before: &[&str],
        options: &str,
    ) -> Running {
        let hosts = self.lab.hosts();
        let mut words: Vec<String> = hosts[host].prefix().to_vec();
        words.extend(before.iter().map(|word| (*word).to_owned()));
        words.push(self.program.display().to_string());
        for option in options.split_whitespace() {
            let mut option = option.to_owned();
            for (number, host) in (1..).zip(hosts) {
                option = option.replace(&format!("${number}"), &host.address.to_string());
            }
            words.push(option);
        }
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        // A process that is killed leaves its temporary files.
        let temporary = self.scene.path("");
        let variables = [variables, &[("TMPDIR", temporary.as_os_str())]].concat();
        self.scene.start_with(&variables, &words[0], &arguments)
    }

    /// Runs one process per host, the last one first, to their ends.
    pub fn run(&self, options: &[&str]) -> Vec<Outcome> {
        let mut running: Vec<Running> =
            (0..options.len()).rev().map(|host| self.start(host, options[host])).collect();
        running.reverse();
        running.into_iter().map(Running::end).collect()
    }
}

/// Returns the values of the rows of a process in columns.
pub fn columns(outcome: &Outcome) -> Vec<Vec<&str>> {
    let is_row = |line: &&str| line.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let lines = outcome.stdout.lines().filter(is_row);
    lines.map(|line| line.split(',').map(str::trim).collect()).collect()
}

/// Waits until the process with this number has printed a text as a message.
pub fn wait_for_text(hosts: &Hosts, number: usize, text: &str) {
    let file = hosts.scene.path(&format!("stderr-{number}"));
    wait_for(text, || fs::read_to_string(&file).unwrap_or_default().contains(text).then_some(()));
}

/// Asserts that a process failed with these texts, and with a hint.
#[track_caller]
pub fn assert_failed(outcome: &Outcome, texts: &[&str]) {
    outcome.assert_status(3);
    let is_there = |text: &&str| outcome.stderr.contains(*text);
    assert!(texts.iter().all(is_there), "{texts:?}: {}", outcome.stderr);
    assert!(outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
}

/// Asserts that options are rejected before the process meets others, with this error and this hint.
#[track_caller]
pub fn assert_rejected(scene: &Scene, options: &str, error: &str, hint: &str) {
    let words: Vec<&str> = ["perftest"].into_iter().chain(options.split_whitespace()).collect();
    let outcome = scene.ddsmark(&words);
    outcome.assert_status(2);
    let (_, told) = outcome.stderr.split_once("\nhint: ").unwrap_or_else(|| panic!("{}", outcome.stderr));
    assert!(outcome.stderr.contains(error) && told.contains(hint), "{options}: {}", outcome.stderr);
    assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("Waiting"), "{}", outcome.stderr);
}

/// Returns the JSON document that a process has printed as its only output.
#[track_caller]
pub fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n--\n{}", outcome.stdout, outcome.stderr))
}

/// Returns an effective value of the JSON document of a process that has succeeded.
#[track_caller]
pub fn effective(outcome: &Outcome, name: &str) -> Option<String> {
    outcome.assert_status(0);
    json(outcome)["configuration"]["effective"][name].as_str().map(ToOwned::to_owned)
}

/// Returns the saved result of `-ddsmark-out` with this directory.
pub fn saved_result(hosts: &Hosts, directory: &str) -> Value {
    let path = hosts.scene.path(directory).join("result.json");
    let text = fs::read_to_string(path).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

/// Asserts that all processes have succeeded.
#[track_caller]
pub fn assert_done(outcomes: &[Outcome]) {
    outcomes.iter().for_each(|outcome| outcome.assert_status(0));
}
