//! Two processes that share only the network: they meet through a mailbox, exchange a megabyte each way, and one is killed.

use std::{fs, net::Shutdown, os::unix::net::UnixStream, path::Path};

use testbed::process::kill_alive;

use crate::support::{Running, Scene, changed_driver, drivers, programs, reserved_domain, wait_for};

/// Process of a test, with the socket that is its standard input.
struct TestPeer {
    running: Running,
    stdin: UnixStream,
    stdout: std::path::PathBuf,
}

fn start(scene: &Scene, number: usize, arguments: &[&str]) -> TestPeer {
    let (stdin, theirs) = UnixStream::pair().expect("sockets");
    let running = scene.start_reading(theirs, &[], "test-peer", arguments);
    TestPeer { running, stdin, stdout: scene.path(&format!("stdout-{number}")) }
}

fn printed(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Starts both sides, the subscriber first or last, and waits until they have exchanged their megabytes.
fn meet(scene: &Scene, mailbox: &[&str], first: usize) -> [TestPeer; 2] {
    let roles = ["pub", "sub"];
    let mut peers = [first, 1 - first].map(|index| {
        let arguments: Vec<&str> = [roles[index]].iter().chain(mailbox).copied().collect();
        (index, start(scene, usize::from(index != first), &arguments))
    });
    peers.sort_by_key(|(index, _)| *index);
    let mut peers = peers.map(|(_, peer)| peer);
    for peer in &mut peers {
        wait_for("an exchange", || {
            let done = printed(&peer.stdout).contains("exchanged 1048576");
            (done || !peer.running.is_alive()).then_some(())
        });
        assert!(printed(&peer.stdout).contains("exchanged 1048576"), "{}", printed(&peer.stdout));
    }
    peers
}

/// Lets two pairs meet. Of the first, one side ends orderly; of the second, one side is killed.
fn meet_end_and_kill(mailbox: &[&str]) {
    let scene = Scene::new();
    let [publisher, subscriber] = meet(&scene, mailbox, 0);
    publisher.stdin.shutdown(Shutdown::Both).expect("a socket");
    for peer in [publisher, subscriber] {
        let outcome = peer.running.end();
        outcome.assert_status(0);
    }
    drop(scene);
    for (first, killed) in [(1, 1), (0, 0)] {
        let scene = Scene::new();
        let mut peers: Vec<_> = meet(&scene, mailbox, first).into();
        let victim = peers.remove(killed);
        let pid = victim.running.id();
        assert!(kill_alive(pid.cast_signed()));
        let outcome = peers.remove(0).running.end();
        outcome.assert_status(1);
        let role = ["publisher", "subscriber"][killed];
        let text = format!(
            "error: {role} 0 on host `here` (process {pid}) is lost: no sign of life for 3 s; hint: "
        );
        assert!(outcome.stderr.contains(&text), "{}", outcome.stderr);
        drop(victim);
    }
}

fn over_topic(driver: &str, transport: &str) {
    let (agent, library) = paths(driver);
    let domain = reserved_domain();
    let domain_text = domain.number.to_string();
    meet_end_and_kill(&["topic", &agent, &library, transport, &domain_text]);
}

fn paths(driver: &str) -> (String, String) {
    let agent = programs().join("ddsmark-agent").display().to_string();
    (agent, drivers().join(format!("libddsmark_{driver}.so")).display().to_string())
}

#[test]
fn processes_meet_over_a_topic_of_cyclonedds() {
    over_topic("cyclonedds", "udp4");
}

#[test]
fn processes_meet_over_a_topic_of_fastdds() {
    over_topic("fastdds", "udp4");
}

#[test]
fn processes_meet_over_tcp() {
    meet_end_and_kill(&["tcp", "127.0.0.1", "77"]);
}

/// Starts a subscriber with a driver, and asserts that it is rejected for this reason.
fn assert_rejected(scene: &Scene, number: usize, driver: &str, library: &str, reason: &str) {
    let agent = programs().join("ddsmark-agent").display().to_string();
    let arguments = ["sub", "topic", &agent, library, "udp4", "1"];
    let outcome = start(scene, number, &arguments).running.end();
    outcome.assert_status(1);
    let text = format!(
        "driver `{driver}` cannot carry control messages, which must be reliable, transient-local and keep-all: {reason}; hint: use"
    );
    assert!(outcome.stderr.contains(&text), "{}", outcome.stderr);
}

#[test]
fn driver_whose_topics_cannot_keep_samples_is_rejected_with_the_reason() {
    let scene = Scene::new();
    for (number, driver) in ["sim", "udp", "tcp"].into_iter().enumerate() {
        assert_rejected(&scene, number, driver, &paths(driver).1, "it has no discovery");
    }
    let library = changed_driver(&scene, "cyclonedds", "is_volatile");
    let reason = "the policy `durability` of its writer is Volatile, not TransientLocal";
    assert_rejected(&scene, 3, "bad", &library, reason);
}
