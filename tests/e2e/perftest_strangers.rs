//! `ddsmark perftest` beside other programs on its topics. Needs root.

use std::{
    fs::{self, File},
    thread,
    time::{Duration, Instant},
};

use control::{Configure, Request};
use driver_host::Driver;
use experiment::{Durability, History, ParticipantSpec, Qos, Reliability};
use nix::sched::{CloneFlags, setns};
use rendezvous::{PeerAddress, PeerRole, envelope::Splitter, mailbox::agent::CONTROL_TOPIC};

use crate::{
    neighbours::{Stranger, garbage, random},
    perftest_support::{Hosts, columns, wait_for_text},
    support::{Running, drivers, programs, wait_for},
};

/// Domain of a test by default.
const DOMAIN: u32 = 1;

/// Calls a function in a thread on a host of the lab.
fn on_host<T: Send>(hosts: &Hosts, host: usize, call: impl FnOnce() -> T + Send) -> T {
    let path = format!("/run/netns/{}", hosts.lab.hosts()[host].namespace);
    thread::scope(|scope| {
        let called = scope.spawn(|| {
            let namespace = File::open(&path).expect("a namespace");
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("the namespace");
            call()
        });
        called.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn cyclonedds() -> Driver {
    Driver::load(&drivers().join("libddsmark_cyclonedds.so")).expect("the driver")
}

#[test]
fn strangers_on_the_data_topic_are_no_data() {
    let hosts = Hosts::new(2);
    let plan = hosts.scene.path("kills");
    fs::create_dir(&plan).expect("a directory");
    fs::write(plan.join("plan"), "cyclonedds writer 0 measure 0 none\n").expect("a file");
    let killing = programs().join("killing-agent");
    let variables = [("DDSMARK_KILLS", plan.as_os_str()), ("DDSMARK_AGENT", killing.as_os_str())];
    let subscriber = hosts.start(1, "-sub -noPrint");
    // A payload of 64 bytes.
    let options = "-pub -noPrint -dataLen 68 -pubRate 1000:sleep -numIter 4000 -latencyCount 200";
    let mut publisher = hosts.start_with(0, &variables, &[], options);
    let done = plan.join("done").join("cyclonedds writer 0");
    let order = wait_for("the test", || match fs::read(&done) {
        Ok(order) => Some(order),
        Err(_) if publisher.is_alive() => None,
        Err(error) => panic!("{error}"),
    });
    let Ok(Request::Configure(configure)) = serde_json::from_slice(&order) else { panic!() };
    on_host(&hosts, 1, || disturb(&configure));
    publisher.end().assert_status(0);
    let outcome = subscriber.end();
    outcome.assert_status(0);
    let rows = columns(&outcome);
    assert_eq!((rows.len(), &rows[0][..2]), (1, &["68", "4000"][..]), "{}", outcome.stdout);
    let text = " samples arrived that are not of this test, and were not counted as data";
    assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
}

/// Writes samples of another program to the topic of a writer for 2 s.
fn disturb(configure: &Configure) {
    let driver = cyclonedds();
    let writer = configure.writers.first().expect("a writer");
    let (domain, participant) = (configure.domain, &configure.participant);
    let stranger = Stranger::open(&driver, domain, participant, &writer.topic, &writer.qos);
    stranger.wait_for_reader();
    let (begin, mut noise) = (Instant::now(), 1);
    while begin.elapsed() < Duration::from_secs(2) && stranger.has_reader() {
        garbage(configure, &mut noise).iter().for_each(|sample| stranger.write(sample));
        thread::sleep(Duration::from_millis(2));
    }
    stranger.close();
}

/// Returns samples of other programs on the control topic: any bytes, and changed samples of ddsmark.
fn control_garbage(noise: &mut u64) -> Vec<Vec<u8>> {
    let address = PeerAddress::of_this_process(PeerRole::Publisher, 0).expect("random numbers");
    let sample = Splitter::new(address).split(None, b"\0{\"message\":\"invite\"}").expect("short").remove(0);
    let tagged = |sample: &[u8]| [&[7; 16], sample].concat();
    let mut all: Vec<Vec<u8>> = [1, 15, 16, 64, 4000].map(|length| random(noise, length)).into();
    all.push(tagged(&sample[..20]));
    // The bytes after those of the version.
    for at in [20, 30, 45, sample.len() - 1] {
        let mut changed = sample.clone();
        changed[at] ^= 0x55;
        all.push(tagged(&changed));
    }
    all
}

/// Opens a writer of another program on the control topic.
fn control_stranger(driver: &Driver) -> Stranger {
    let qos = Qos {
        reliability: Some(Reliability::Reliable),
        durability: Some(Durability::TransientLocal),
        history: Some(History::KeepAll),
        service_history: Some(History::KeepAll),
        ..Qos::default()
    };
    let like = ParticipantSpec {
        transport: "udp4".to_owned(),
        interface: "eth0".to_owned(),
        vendor_defaults: true,
        ..ParticipantSpec::default()
    };
    Stranger::open(driver, DOMAIN, &like, CONTROL_TOPIC, &qos)
}

#[test]
fn every_stranger_on_the_control_topic_is_counted() {
    let hosts = Hosts::new(2);
    let outcomes = on_host(&hosts, 1, || {
        let driver = cyclonedds();
        let stranger = control_stranger(&driver);
        // Too short for a tag, without a message, not of ddsmark, and too long for a message.
        let (mut noise, lengths) = (1, [1, 7, 8, 15, 64, 8_201, 20_000]);
        lengths.iter().for_each(|length| stranger.write(&random(&mut noise, *length)));
        let options = ["-pub -noPrint -dataLen 64 -numIter 2000 -latencyCount 200", "-sub -noPrint"];
        let outcomes = hosts.run(&options);
        stranger.close();
        outcomes
    });
    for outcome in &outcomes {
        outcome.assert_status(0);
        let text = "warning: 7 control samples of other programs were ignored";
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
    }
}

#[test]
fn strangers_on_the_control_topic_are_ignored() {
    let hosts = Hosts::new(2);
    let options = ["-pub -noPrint -dataLen 64 -exec 3 -latencyCount 200 -batchSize 0", "-sub -noPrint"];
    let outcomes = on_host(&hosts, 1, || {
        let driver = cyclonedds();
        let stranger = control_stranger(&driver);
        let mut noise = 1;
        // Before the processes meet, and while they do and measure.
        control_garbage(&mut noise).iter().for_each(|sample| stranger.write(sample));
        let mut running = [0, 1].map(|host| hosts.start(host, options[host]));
        while running.iter_mut().any(Running::is_alive) {
            control_garbage(&mut noise).iter().for_each(|sample| stranger.write(sample));
            thread::sleep(Duration::from_millis(100));
        }
        stranger.close();
        running.map(Running::end)
    });
    for outcome in &outcomes {
        outcome.assert_status(0);
        let text = "control samples of other programs were ignored";
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
    }
}

#[test]
fn peer_that_is_no_perftest_is_named() {
    let hosts = Hosts::new(2);
    let agent = programs().join("ddsmark-agent").display().to_string();
    let library = drivers().join("libddsmark_cyclonedds.so").display().to_string();
    let publisher = hosts.start(0, "-pub -noPrint -dataLen 64 -exec 60 -numSubscribers 2");
    wait_for_text(&hosts, 0, "Waiting to discover");
    let prefix = hosts.lab.hosts()[1].prefix();
    let words = ["test-peer", "sub", "topic", &agent, &library, "udp4", "1", "eth0"];
    let words: Vec<&str> = prefix[1..].iter().map(String::as_str).chain(words).collect();
    let stranger = hosts.scene.start(&prefix[0], &words).end();
    stranger.assert_status(1);
    let outcome = publisher.end();
    outcome.assert_status(3);
    for outcome in [&stranger, &outcome] {
        let text = "subscriber 0 on host `here` ";
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("offers what cannot be read"), "{}", outcome.stderr);
    }
}
