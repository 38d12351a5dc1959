//! An sshd of a test, on a free port of loopback or in a host of a lab.

use std::{path::Path, sync::Arc};

use experiment::Target;
use lab::Host;
use remote_hosts::{
    remote::RemoteShell,
    ssh::{SshProgram, SshShell},
};
use testbed::SshdOptions;

use crate::support::{MARK, Scene};

/// Running sshd. Dropping it ends it with its sessions.
pub struct Sshd {
    sshd: testbed::Sshd,
    mark: String,
    /// Words before those of ssh.
    prefix: Vec<String>,
}

impl Sshd {
    /// Starts an sshd on this host that accepts the key `user`. `more` are lines of its configuration.
    pub fn start(scene: &Scene, more: &str) -> Self {
        Self::with(scene, "sshd", more, Vec::new(), testbed::Sshd::start)
    }

    /// Starts an sshd in a host of a lab. ssh starts in another one.
    pub fn start_in(scene: &Scene, host: &Host, from: &Host) -> Self {
        Self::with(scene, &format!("sshd-{}", host.name), "", from.prefix().to_vec(), |options| {
            testbed::Sshd::start_in(options, host)
        })
    }

    /// Starts an sshd in a host of a lab whose clock is `clock_s` ahead. ssh starts in another one.
    pub fn start_with_clock(scene: &Scene, host: &Host, from: &Host, clock_s: u32) -> Self {
        Self::with(scene, &format!("sshd-{}", host.name), "", from.prefix().to_vec(), |options| {
            testbed::Sshd::start_with_clock(options, host, clock_s)
        })
    }

    fn with(
        scene: &Scene,
        name: &str,
        more: &str,
        prefix: Vec<String>,
        start: impl FnOnce(&SshdOptions<'_>) -> Result<testbed::Sshd, testbed::Error>,
    ) -> Self {
        let (directory, cache) = (scene.path(name), scene.path("cache"));
        let mark: (&str, &Path) = (MARK, scene.directory.path());
        let session = [mark, ("XDG_CACHE_HOME", &cache)];
        let options = SshdOptions { directory: &directory, session: &session, own: &[mark], more };
        let sshd = start(&options).unwrap_or_else(|error| panic!("{error}"));
        Self { sshd, mark: format!("{MARK}={}", scene.directory.path().display()), prefix }
    }

    /// Returns the destination.
    pub fn target(&self) -> Target {
        self.sshd.target()
    }

    /// Returns the command of ssh with a configuration: `ssh`, `wrong-key` or `unknown-host`.
    pub fn words(&self, configuration: &str) -> Vec<String> {
        self.words_of(&self.sshd.configuration(configuration))
    }

    /// Returns the command of ssh that reaches all of these hosts.
    pub fn words_to(all: &[Self]) -> Vec<String> {
        let configuration = testbed::Sshd::configuration_of(all.iter().map(|of| &of.sshd));
        all[0].words_of(&configuration.unwrap_or_else(|error| panic!("{error}")))
    }

    fn words_of(&self, configuration: &Path) -> Vec<String> {
        let configuration = configuration.display().to_string();
        let words = ["env", &self.mark, "ssh", "-F", &configuration].map(ToOwned::to_owned);
        self.prefix.iter().cloned().chain(words).collect()
    }

    /// Returns the shell of its host.
    pub fn shell(&self) -> Arc<dyn RemoteShell> {
        let program = SshProgram::new(&self.words("ssh").iter().map(String::as_str).collect::<Vec<_>>());
        Arc::new(SshShell::new(program, self.target()))
    }

    /// Returns the processes of its sessions. If it has a clock of its own, it is one of them.
    pub fn sessions(&self) -> Vec<i32> {
        self.sshd.sessions()
    }
}
