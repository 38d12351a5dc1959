//! Offset between the clocks of two hosts, measured by their stewards: network namespaces, with time namespaces as known
//! clocks. Needs root.

use std::process::Command;

use control::Timeline;
use host::{ClockEnd, Site as _, SiteClock, SiteError, measure_clock};
use remote_hosts::{StewardCommand, StewardSite};
use testbed::needs_root;

use crate::support::{Scene, programs};

/// Two network namespaces with a link between them. Dropping it removes them.
struct TwoHosts {
    names: [String; 2],
}

fn ip(arguments: &str) {
    let output =
        Command::new("ip").args(arguments.split_whitespace()).output().expect("iproute2 is installed");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`ip {arguments}`, which needs root: {error}");
}

impl TwoHosts {
    fn new(name: &str) -> Self {
        needs_root();
        let hosts =
            Self { names: [1, 2].map(|number| format!("e2e-{name}-{}-{number}", std::process::id())) };
        let [one, two] = &hosts.names;
        ip(&format!("netns add {one}"));
        ip(&format!("netns add {two}"));
        ip(&format!("-n {one} link add eth0 type veth peer name eth0 netns {two}"));
        for (number, name) in (1..).zip(&hosts.names) {
            ip(&format!("-n {name} addr add 10.77.78.{number}/24 dev eth0"));
            ip(&format!("-n {name} link set eth0 up"));
            ip(&format!("-n {name} link set lo up"));
        }
        hosts
    }

    /// Starts a steward on a host whose clock is `clock_s` ahead.
    fn steward(&self, scene: &Scene, host: usize, clock_s: i64) -> StewardSite {
        let (directory, name) = (scene.directory.path().to_owned(), self.names[host].clone());
        let command = StewardCommand::new(self.names[host].clone(), move || {
            let clock = clock_s.to_string();
            let mut command = Command::new("ip");
            command.args(["netns", "exec", &name, "unshare", "--time", "--fork", "--kill-child"]);
            command.args(["--monotonic", &clock, "--boottime", &clock]).arg(programs().join("ddsmark"));
            command.arg("steward").env("DDSMARK_E2E", &directory).env_remove("DDSMARK_AGENT");
            command
        });
        StewardSite::start(command).expect("a steward")
    }
}

impl Drop for TwoHosts {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

const fn eth0(site: &StewardSite) -> ClockEnd<'_> {
    ClockEnd { site, interface: "eth0" }
}

#[test]
fn measured_offset_of_two_hosts_is_within_its_bound() {
    let scene = Scene::new();
    let hosts = TwoHosts::new("clocks");
    for clocks_s in [[0, 1_000], [70_000, 5], [3, 3]] {
        let sites = [0, 1].map(|host| hosts.steward(&scene, host, clocks_s[host]));
        let [reference, other] = [0, 1].map(|host| eth0(&sites[host]));
        // Two clocks with the same offset are in two time namespaces, so nothing says that they are equal.
        assert_eq!(Timeline::between(&sites[0].clock(), &sites[1].clock()), None);
        for _ in 0..3 {
            let offset = measure_clock(&reference, &other).expect("an exchange").offset;
            let truth_ns = (clocks_s[0] - clocks_s[1]) * 1_000_000_000;
            let error_ns = (offset.offset_ns - truth_ns).unsigned_abs();
            assert!(error_ns <= offset.error_ns, "{clocks_s:?}: {error_ns} {offset:?}");
            assert!(offset.rtt_ns > 0 && offset.rtt_ns <= offset.rtt_p50_ns, "{offset:?}");
        }
        // A run without a step.
        let mut clock = SiteClock::default();
        let run = clock.before_run(&reference, &other).expect("an exchange");
        let error = clock.after_run(&run, &reference, &other).expect("an exchange");
        assert!(error.as_ref().is_ok_and(|error_ns| *error_ns >= run.timeline.error_ns), "{error:?} {run:?}");
        // One site has one clock.
        let own = SiteClock::default().before_run(&reference, &reference).expect("no exchange is needed");
        assert_eq!(own.timeline, Timeline::IDENTITY);
    }
}

#[test]
fn clock_that_steps_between_two_measurements_is_found() {
    let scene = Scene::new();
    let hosts = TwoHosts::new("step");
    let reference = hosts.steward(&scene, 0, 0);
    let [before, after] = [1_000, 1_001].map(|clock_s| hosts.steward(&scene, 1, clock_s));
    let mut clock = SiteClock::default();
    let run = clock.before_run(&eth0(&reference), &eth0(&before)).expect("an exchange");
    let fault = clock.after_run(&run, &eth0(&reference), &eth0(&after)).expect("an exchange").unwrap_err();
    assert!(fault.to_string().starts_with("the offset of its clock changed by -"), "{fault}");
    // The next run starts with the new offset.
    let run = clock.before_run(&eth0(&reference), &eth0(&after)).expect("an exchange");
    assert!(clock.after_run(&run, &eth0(&reference), &eth0(&after)).expect("an exchange").is_ok());
}

#[test]
fn blocked_exchange_is_an_error_that_says_what_to_allow() {
    let scene = Scene::new();
    let hosts = TwoHosts::new("blocked");
    let sites = [0, 1].map(|host| hosts.steward(&scene, host, 7));
    ip(&format!("-n {} link set eth0 down", hosts.names[1]));
    let error = measure_clock(&eth0(&sites[0]), &eth0(&sites[1])).unwrap_err();
    assert!(matches!(&error, SiteError::Clock { .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("allow UDP")), "{error}");
    let missing = ClockEnd { site: &sites[0], interface: "eth9" };
    let error = measure_clock(&missing, &eth0(&sites[1])).unwrap_err();
    assert!(error.to_string().ends_with("interface `eth9` has no IP address"), "{error}");
}
