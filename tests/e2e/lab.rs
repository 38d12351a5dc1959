//! Virtual hosts and links, as a user makes them. Needs root, as the command does.

use std::{ffi::OsStr, fs, thread};

use host::{DomainClaim, Site as _};
use lab::{Lab, LabOptions};
use remote_hosts::{StewardSite, lab_steward};
use serde_json::Value;
use testbed::needs_root;

use crate::{
    sshd::Sshd,
    support::{Outcome, Scene, programs, root, wait_for},
    tutorial::follow,
};

/// Lab that a test creates by the command. Dropping it removes it.
struct NamedLab<'a> {
    scene: &'a Scene,
    name: String,
}

impl<'a> NamedLab<'a> {
    /// Chooses a name that no other test has.
    fn new(scene: &'a Scene, kind: &str) -> Self {
        needs_root();
        remove_labs_of_killed_tests(scene);
        Self { scene, name: format!("e2e-{kind}-{}", std::process::id()) }
    }

    fn up(&self, arguments: &[&str]) -> Outcome {
        self.scene.ddsmark(&[&["lab", "up", "--name", &self.name], arguments].concat())
    }

    fn down(&self) -> Outcome {
        self.scene.ddsmark(&["lab", "down", &self.name])
    }

    /// Returns the record of the lab, if it is listed.
    fn record(&self) -> Option<Value> {
        let list = self.scene.ddsmark(&["lab", "list", "--json"]);
        list.assert_status(0);
        let list: Vec<Value> = serde_json::from_str(&list.stdout).expect("a list");
        list.into_iter().find(|lab| lab["name"] == self.name.as_str())
    }

    /// Returns the namespaces of the lab that exist.
    fn namespaces(&self) -> Vec<String> {
        let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut own: Vec<_> = names.filter(|name| name.starts_with(&format!("{}.", self.name))).collect();
        own.sort();
        own
    }
}

/// Removes labs that tests left which were killed: a lab outlives the command that creates it.
fn remove_labs_of_killed_tests(scene: &Scene) {
    let list = scene.ddsmark(&["lab", "list", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&list.stdout).expect("a list");
    for name in list.iter().filter_map(|lab| lab["name"].as_str()) {
        let test = name.strip_prefix("e2e-").and_then(|rest| rest.rsplit_once('-'));
        if test.is_some_and(|(_, pid)| !fs::exists(format!("/proc/{pid}")).unwrap_or(true)) {
            // Another test may be faster.
            scene.ddsmark(&["lab", "down", name]);
        }
    }
}

impl Drop for NamedLab<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.down();
        } else {
            assert_eq!(self.namespaces(), [""; 0]);
        }
    }
}

#[test]
fn lab_is_created_listed_and_removed() {
    let scene = Scene::new();
    let lab = NamedLab::new(&scene, "list");
    let up = lab.up(&["--hosts", "3", "--rate", "100mbit", "--delay", "1ms", "--loss", "0.1%"]);
    up.assert_status(0);
    let name = &lab.name;
    for text in [
        &format!("Lab `{name}`: 3 hosts, rate=100mbit,delay=1ms,loss=0.1%."),
        "95.71 Mbit/s with 1472 B",
        "Links shaped by: rate and delay by a switch of ddsmark, loss by nftables.",
        &format!("ip netns exec {name}.h1 PROGRAM"),
        &format!("ddsmark lab down {name}"),
    ] {
        assert!(up.stdout.contains(text), "{text}: {}", up.stdout);
    }
    assert_eq!(lab.namespaces(), ["h1", "h2", "h3", "switch"].map(|host| format!("{name}.{host}")));
    let list = scene.ddsmark(&["lab", "list"]);
    let line = list.stdout.lines().find(|line| line.contains(name.as_str())).expect("a line");
    assert!(line.contains("10.77.0.1 to 10.77.0.3") && !line.contains("ended"), "{line}");
    let record = lab.record().expect("it is listed");
    assert_eq!(record["hosts"][2]["address"], "10.77.0.3");
    assert_eq!(record["spec"]["link"]["rate_bit_per_s"], 100_000_000);

    // The command in its help works: a program in a host sees the host's address only.
    let inside = scene.start("ip", &["netns", "exec", &format!("{name}.h2"), "ip", "-o", "address"]).end();
    assert!(inside.stdout.contains("10.77.0.2/24") && !inside.stdout.contains("10.77.0.1/"), "{inside:?}");

    // The name is taken, and no other lab has one of a typing error.
    let again = lab.up(&[]);
    again.assert_status(2);
    assert!(again.stderr.starts_with(&format!("error: lab `{name}` is up already\nhint: ")), "{again:?}");
    let other = scene.ddsmark(&["lab", "down", "no-such-lab"]);
    other.assert_status(2);
    assert!(other.stderr.contains("lab `no-such-lab` not found") && other.stderr.contains(name.as_str()));

    let down = lab.down();
    down.assert_status(0);
    assert_eq!(down.stdout, format!("removed lab `{name}` with 3 hosts\n"));
    assert_eq!((lab.record(), lab.namespaces()), (None, vec![]));
    wait_for("the end of the keeper", || scene.processes().is_empty().then_some(()));
}

#[test]
fn lab_of_a_killed_keeper_is_removed_by_the_next_one() {
    let scene = Scene::new();
    let (left, next) = (NamedLab::new(&scene, "left"), NamedLab::new(&scene, "next"));
    left.up(&["--delay", "1ms"]).assert_status(0);
    let record = left.record().expect("it is listed");
    let keeper = record["owner"]["pid"].as_i64().expect("a process id");
    assert_eq!(scene.processes(), [i32::try_from(keeper).expect("a process id")]);
    let kill = scene.start("kill", &["-s", "KILL", &keeper.to_string()]).end();
    kill.assert_status(0);
    wait_for("the end of the keeper", || scene.processes().is_empty().then_some(()));
    // It is still listed, as what it is.
    wait_for("the mark of its end", || {
        let list = scene.ddsmark(&["lab", "list"]);
        let line = list.stdout.lines().find(|line| line.contains(&left.name)).expect("a line");
        line.contains("(ended)").then_some(())
    });
    assert_eq!(left.namespaces().len(), 3);
    next.up(&["--mtu", "9000"]).assert_status(0);
    assert_eq!((left.record(), left.namespaces()), (None, vec![]));
    assert_eq!(next.record().expect("it is listed")["hosts"][0]["mtu_bytes"], 9_000);
    next.down().assert_status(0);
    wait_for("the end of the keeper", || scene.processes().is_empty().then_some(()));
}

#[test]
fn lab_without_privilege_or_program_is_rejected_with_the_reason() {
    let scene = Scene::new();
    let lab = NamedLab::new(&scene, "rejected");
    for (set, missing) in [
        ("-net_admin", "CAP_NET_ADMIN"),
        ("-sys_admin", "CAP_SYS_ADMIN"),
        ("-net_admin,-sys_admin", "CAP_NET_ADMIN and CAP_SYS_ADMIN"),
    ] {
        let words = ["--bounding-set", set, "ddsmark", "lab", "up", "--name", &lab.name];
        let rejected = scene.start("setpriv", &words).end();
        rejected.assert_status(2);
        let (error, hint) = rejected.stderr.split_once('\n').expect("two lines");
        assert_eq!(error, format!("error: a lab needs the privilege {missing}, which this process lacks"));
        assert!(hint.starts_with("hint: run the command as root"), "{hint}");
    }
    let link = "--rate 10mbit --loss 1%";
    for (tool, package) in
        [("ip", "iproute2"), ("tc", "iproute2"), ("nft", "nftables"), ("ethtool", "ethtool")]
    {
        // In a mount namespace of its own, where a device hides the program.
        let hide = format!("mount --bind /dev/null \"$(realpath \"$(command -v {tool})\")\"");
        let script = format!("{hide} && exec ddsmark lab up --name {} {link}", lab.name);
        let rejected = scene.start("unshare", &["--mount", "sh", "-ec", &script]).end();
        rejected.assert_status(2);
        assert!(
            rejected.stderr.starts_with(&format!("error: `{tool}` not found\nhint: install it: "))
                && rejected.stderr.contains(&format!("apt-get install {package}`")),
            "{rejected:?}"
        );
    }
    for (flags, error) in [
        (["--rate", "100mbps"], "write bits per second"),
        (["--delay", "11s"], "invalid delay `11s`"),
        (["--loss", "1"], "invalid loss `1`"),
        (["--mtu", "100"], "invalid MTU `100`"),
        (["--hosts", "1"], "write a whole number, 2 to 200"),
    ] {
        let rejected = lab.up(&flags);
        rejected.assert_status(2);
        assert!(rejected.stderr.contains(error), "{rejected:?}");
    }
}

#[test]
fn steward_in_a_lab_has_the_network_of_its_host() {
    let scene = Scene::new();
    let named = NamedLab::new(&scene, "steward");
    let options = LabOptions { name: Some(named.name.clone()), ..LabOptions::default() };
    let lab = Lab::up_with(&options, &"lab:2,rate=100mbit".parse().expect("a lab")).expect("a lab");
    let start = |host| {
        let mut steward = lab_steward(lab.host(host).expect("a host"), &programs().join("ddsmark"));
        let (usual, mark) = (steward.command.clone(), scene.directory.path().to_owned());
        steward.command = std::sync::Arc::new(move || {
            let mut command = usual();
            command.env("DDSMARK_E2E", &mark).env_remove("DDSMARK_AGENT");
            command
        });
        StewardSite::start(steward).expect("a steward")
    };
    let sites = [start("h1"), start("h2")];
    assert_eq!(scene.processes().len(), 2);
    for site in &sites {
        let mut interfaces = site.facts().expect("facts").interfaces.expect("a list");
        interfaces.sort();
        assert_eq!(interfaces, ["eth0", "lo"]);
    }
    // A domain is reserved in one host, and free in the other.
    let claims = sites.each_ref().map(|site| site.claim_domain(99).expect("an answer"));
    assert!(claims.iter().all(|claim| matches!(claim, DomainClaim::Reserved(_))), "{claims:?}");
    assert!(matches!(sites[0].claim_domain(99), Ok(DomainClaim::InUse)));
    drop(claims);
    // A lab that ends takes its stewards with it.
    lab.down().expect("it is removed");
    wait_for("lost hosts", || sites.iter().all(|site| site.facts().is_err()).then_some(()));
    let lost = sites[1].facts().expect_err("a cause").to_string();
    assert!(lost.starts_with("host `h2` is lost: "), "{lost}");
}

#[test]
fn host_of_a_lab_is_checked_over_ssh() {
    let scene = Scene::new();
    let named = NamedLab::new(&scene, "ssh");
    let options = LabOptions { name: Some(named.name.clone()), ..LabOptions::default() };
    let lab = Lab::up_with(&options, &"lab:2,rate=1gbit,delay=1ms".parse().expect("a lab")).expect("a lab");
    let sshd = Sshd::start_in(&scene, lab.host("h2").expect("a host"), lab.host("h1").expect("a host"));
    let received = || lab.counters().expect("counters").hosts[1].received;
    let before = received();
    let words = sshd.words("ssh").join(" ");
    let arguments = ["hosts", "check", &format!("h2=ssh:{}", sshd.target()), "--driver", "udp"];
    let variables = [("DDSMARK_SSH", OsStr::new(&words))];
    let checked = scene.start_with(&variables, "ddsmark", &arguments).end();
    checked.assert_status(0);
    assert!(checked.stdout.starts_with("h2: ready: ") && checked.stdout.contains("ddsmark copied ("));
    assert!(checked.stdout.contains(", driver udp "), "{checked:?}");
    // The program came over the link, in frames of at most 1500 bytes.
    let copied = fs::metadata(programs().join("ddsmark")).expect("a program").len();
    assert!(received() - before > copied / 1_500, "{} frames", received() - before);
    // Without its link the host is not reached.
    let mut lab = lab;
    lab.set_link(&"loss=100%".parse().expect("a link")).expect("it changes");
    let lost = scene.start_with(&variables, "ddsmark", &arguments[..3]).end();
    lost.assert_status(3);
    assert!(lost.stderr.starts_with("error: host `h2`: it does not answer"), "{lost:?}");
    drop(sshd);
    lab.down().expect("it is removed");
}

#[test]
fn commands_of_the_page_on_virtual_hosts_succeed_in_order() {
    let page = root().join("docs/how-to/virtual-hosts.md");
    let text = fs::read_to_string(page).expect("the page");
    let scene = Scene::new();
    let lab = NamedLab::new(&scene, "page");
    assert!(text.contains("robot.h1"), "the page has a lab");
    follow(&scene, &text.replace("robot", &lab.name));
    assert_eq!(lab.record(), None);
    wait_for("the end of the keeper", || scene.processes().is_empty().then_some(()));
}
