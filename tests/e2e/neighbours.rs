//! Other activity on the same host: foreign writers on our topic and port, and another experiment.

use std::{
    collections::BTreeSet,
    fs,
    net::UdpSocket,
    path::Path,
    time::{Duration, Instant},
};

use control::{Configure, Request};
use driver_host::{Driver, Participant, ParticipantConfig, TypeKind, Writer, WriterConfig};
use experiment::{ParticipantSpec, Qos};
use serde_json::Value;

use crate::support::{Scene, count, list, monotonic_ns, programs, runs, text, wait_for};

const SIZE: usize = 64;
/// Runs of each cell.
const RUNS: u32 = 3;

/// Writer of another program on a topic.
pub struct Stranger {
    participant: Participant,
    writer: Writer,
}

impl Stranger {
    /// Opens the writer, with the transport and interface of a participant.
    pub fn open(driver: &Driver, domain: u32, like: &ParticipantSpec, topic: &str, qos: &Qos) -> Self {
        let participant = driver
            .open(&ParticipantConfig {
                domain,
                run_name: format!("stranger-{}", std::process::id()),
                transport: Some(like.transport.clone()),
                interface: Some(like.interface.clone()),
                vendor_defaults: like.vendor_defaults,
                ..ParticipantConfig::default()
            })
            .expect("a participant");
        let config = WriterConfig {
            topic: topic.to_owned(),
            type_kind: TypeKind::Octets,
            qos: qos.clone().of_writers(),
            max_payload_bytes: 32_768,
            ..WriterConfig::default()
        };
        let writer = participant.writer(&config).expect("a writer");
        Self { participant, writer }
    }

    /// Waits until it has a reader.
    pub fn wait_for_reader(&self) {
        wait_for("a match", || self.has_reader().then_some(()));
    }

    pub fn has_reader(&self) -> bool {
        self.writer.monitor().matched().expect("a count") > 0
    }

    pub fn write(&self, sample: &[u8]) {
        self.writer.write(0, sample).expect("a write");
    }

    pub fn close(self) {
        self.writer.close().expect("closed");
        self.participant.close().expect("closed");
    }
}

/// Returns pseudo-random bytes.
pub fn random(noise: &mut u64, length: usize) -> Vec<u8> {
    let next = || {
        // xorshift64 (Marsaglia 2003)
        *noise ^= *noise << 13;
        *noise ^= *noise >> 7;
        *noise ^= *noise << 17;
        *noise as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Returns samples that are not of this run, in all known forms. The headers follow `crates/agent/src/traffic/header.rs`.
pub fn garbage(configure: &Configure, noise: &mut u64) -> Vec<Vec<u8>> {
    let mut random = |length: usize| random(noise, length);
    let header = |writer: u16, tag: u16, sent_ns: u64| {
        let mut sample = vec![0; 4];
        sample.extend(writer.to_le_bytes());
        sample.extend(tag.to_le_bytes());
        sample.extend(sent_ns.to_le_bytes());
        sample.resize(SIZE, 0xa5);
        sample
    };
    let now_ns = monotonic_ns();
    vec![
        random(SIZE),
        random(1),
        random(15),
        // of the previous run, of another writer, an hour old, and an hour in the future
        header(0, configure.run_tag.wrapping_sub(1) & 0xfff, now_ns),
        header(7, configure.run_tag, now_ns),
        header(0, configure.run_tag, now_ns.saturating_sub(3_600_000_000_000)),
        header(0, configure.run_tag, now_ns + 3_600_000_000_000),
    ]
}

/// Measures a driver. Calls `disturb` with the order `configure` of each run as soon as its warm-up starts.
fn strangers(scene: &Scene, driver: &str, mut disturb: impl FnMut(&Configure, &mut u64)) -> Value {
    let plan = scene.path("kills");
    fs::create_dir(&plan).expect("a directory");
    let roles = ["reader", "echo"];
    let lines = roles
        .iter()
        .flat_map(|role| (0..RUNS).map(move |run| format!("{driver} {role} {run} warm_up 0 none\n")));
    fs::write(plan.join("plan"), lines.collect::<String>()).expect("a file");
    let mut ddsmark = scene.start_with(
        &[
            ("DDSMARK_KILLS", plan.as_os_str()),
            ("DDSMARK_AGENT", programs().join("killing-agent").as_os_str()),
        ],
        "ddsmark",
        &[
            "characterize",
            "--driver",
            driver,
            "--size",
            &SIZE.to_string(),
            "--batch-bytes",
            "0",
            "--runs",
            &RUNS.to_string(),
            "--duration",
            "1500ms",
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--json",
            "--out",
            "result",
        ],
    );
    let mut noise = 1;
    let mut met = BTreeSet::new();
    while ddsmark.is_alive() {
        for entry in fs::read_dir(plan.join("done")).into_iter().flatten().flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && met.insert(entry.file_name()) {
                let order = fs::read(entry.path()).expect("a file");
                let Ok(Request::Configure(configure)) = serde_json::from_slice(&order) else { panic!() };
                disturb(&configure, &mut noise);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(met.len(), 2 * RUNS as usize, "each run was disturbed");
    let outcome = ddsmark.end();
    outcome.assert_status(0);
    outcome.document()
}

/// Asserts that foreign samples are counted as foreign, never as data, and that all runs are valid.
fn nothing_of_theirs_is_data(document: &Value) {
    let runs = runs(document);
    assert_eq!(runs.len(), 2 * RUNS as usize);
    for run in runs {
        assert_eq!(run["state"], "valid", "{run:#}");
        let counted = &list(&run["flows"])[0]["counted"];
        let [delivered, foreign, corrupt] =
            ["delivered", "foreign", "corrupt"].map(|name| count(&counted[name]));
        assert!(delivered > 0 && foreign > 0 && corrupt == 0, "{run:#}");
        let warned = list(&run["warnings"]).iter().any(|warning| warning["kind"] == "foreign");
        assert!(warned, "{run:#}");
    }
}

/// Returns the UDP ports that a process has bound.
fn udp_ports(pid: i32) -> Vec<u16> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let sockets: BTreeSet<String> = files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .filter_map(|file| Some(file.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = fs::read_to_string("/proc/net/udp").expect("/proc/net/udp");
    let lines = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .filter(|line| sockets.contains(line[9]))
        .filter_map(|line| u16::from_str_radix(line[1].split_once(':')?.1, 16).ok())
        .collect()
}

#[test]
fn garbage_at_our_ports_is_counted_as_foreign() {
    let scene = Scene::new();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let document = strangers(&scene, "udp", |configure, noise| {
        let ports: Vec<u16> = scene.agents().into_iter().flat_map(udp_ports).collect();
        assert!(!ports.is_empty());
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(600) {
            for sample in garbage(configure, noise) {
                for &port in &ports {
                    // fails if the port is closed by now
                    let _ = socket.send_to(&sample, ("127.0.0.1", port));
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    nothing_of_theirs_is_data(&document);
}

#[test]
fn stranger_on_our_topic_is_counted_as_foreign() {
    let scene = Scene::new();
    let file = programs().parent().expect("target").join("drivers/libddsmark_cyclonedds.so");
    let driver = Driver::load(&file).expect("the driver");
    let document = strangers(&scene, "cyclonedds", |configure, noise| {
        let reader = configure.readers.first().expect("a reader of our topic");
        let stranger =
            Stranger::open(&driver, configure.domain, &configure.participant, &reader.topic, &reader.qos);
        stranger.wait_for_reader();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(500) && stranger.has_reader() {
            garbage(configure, noise).iter().for_each(|sample| stranger.write(sample));
            std::thread::sleep(Duration::from_millis(2));
        }
        stranger.close();
    });
    nothing_of_theirs_is_data(&document);
}

/// Returns the domain that a runner has claimed, see `crates/host/src/agents/domain_claim.rs`.
fn domain(runner: u32) -> Option<String> {
    let table = fs::read_to_string("/proc/net/unix").expect("/proc/net/unix");
    let files = fs::read_dir(format!("/proc/{runner}/fd")).ok()?.flatten();
    let sockets: BTreeSet<_> = files.filter_map(|file| fs::read_link(file.path()).ok()).collect();
    let mut claims = table.lines().filter_map(|line| {
        let (rest, domain) = line.split_once("@ddsmark-domain-")?;
        let inode = rest.split_whitespace().last()?;
        sockets.contains(Path::new(&format!("socket:[{inode}]"))).then(|| domain.to_owned())
    });
    claims.next_back()
}

/// Returns the warnings about other experiments at the same time.
fn named(document: &Value) -> Vec<String> {
    let warnings = list(&document["warnings"]).iter().filter(|of| of["kind"] == "other_experiment");
    warnings.map(|warning| text(warning, "text").to_owned()).collect()
}

/// In a network namespace of its own, in which other tests announce nothing.
#[test]
fn experiment_that_is_alone_or_beside_a_killed_one_names_none() {
    let scene = Scene::new();
    let script = "ip link set lo up
        ddsmark throughput --driver udp --size 64 --runs 100 --out killed >/dev/null 2>&1 &
        other=$!
        until [ -e killed/log.json ]; do sleep 0.05; done
        sleep 0.2
        grep -q ddsmark-experiment /proc/net/unix
        kill -9 $other
        wait $other || true
        exec ddsmark throughput --driver udp --size 64 --runs 1 --duration 100ms --no-reference --set design.noise_probe=false --json --out alone";
    let outcome = scene.start("unshare", &["--map-root-user", "--net", "sh", "-ec", script]).end();
    outcome.assert_status(0);
    let document = outcome.document();
    assert_eq!(document["state"], "complete");
    assert_eq!(named(&document), [""; 0]);
    assert!(list(&document["blocks"]).iter().all(|block| block["others"].is_null()), "{document:#}");
}

#[test]
fn concurrent_experiments_do_not_interfere() {
    let scene = Scene::new();
    let mut both = ["first", "second"].map(|name| {
        let place = scene.path(name);
        fs::create_dir(&place).expect("a directory");
        let out = place.join("result").display().to_string();
        let script = "cd \"$1\" && exec ddsmark characterize --driver udp,cyclonedds --size 64 --quick --pin none \
                      --json --out \"$2\" >stdout 2>stderr";
        scene.start("sh", &["-c", script, "sh", place.to_str().expect("a path"), &out])
    });
    let pids = [both[0].id(), both[1].id()];
    let mut seen = [const { BTreeSet::new() }; 2];
    let mut together = 0;
    while both.iter_mut().any(super::support::Running::is_alive) {
        if let [Some(first), Some(second)] = [domain(both[0].id()), domain(both[1].id())] {
            assert_ne!(first, second, "one domain for two runs at once");
            together += 1;
            seen[0].insert(first);
            seen[1].insert(second);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(together > 0 && seen.iter().all(|domains| domains.len() > 1), "{seen:?}");
    for (name, running) in ["first", "second"].into_iter().zip(both) {
        let outcome = running.end();
        let stderr = fs::read_to_string(scene.path(name).join("stderr")).expect("a file");
        assert_eq!(outcome.status.code(), Some(0), "{stderr}");
        let document: Value =
            serde_json::from_slice(&fs::read(scene.path(name).join("stdout")).expect("a file"))
                .expect("JSON");
        assert_eq!(document["state"], "complete");
        // Each one names the other.
        let [_, other] = if name == "first" { pids } else { [pids[1], pids[0]] };
        let named = named(&document);
        assert!(named.iter().any(|text| text.contains(&format!(": process {other}, "))), "{name}: {named:?}");
        let result = if name == "first" { "second/result" } else { "first/result" };
        assert!(named.iter().any(|text| text.contains(result)), "{name}: {named:?}");
        for run in runs(&document) {
            assert_eq!(
                (&run["state"], &run["flows"][0]["counted"]["foreign"]),
                (&"valid".into(), &0.into()),
                "{run:#}"
            );
        }
    }
}
