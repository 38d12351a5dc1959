//! An sshd of a test, on a free port of loopback or in a host of a lab, with keys of its own.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use experiment::Target;
use hosts::{
    remote::RemoteShell,
    ssh::{SshProgram, SshShell},
};
use lab::Host;

use crate::support::{Scene, kill_alive, wait_for};

const SSHD: &str = "/usr/sbin/sshd";

/// Running sshd. Dropping it ends it with its sessions.
pub struct Sshd {
    child: Child,
    directory: PathBuf,
    mark: String,
    address: Ipv4Addr,
    port: u16,
    /// Words before those of ssh.
    prefix: Vec<String>,
}

impl Sshd {
    /// Starts an sshd on this host that accepts the key `user`. `more` are lines of its configuration.
    pub fn start(scene: &Scene, more: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.expect("a port").port();
        Self::start_at(scene, more, (Ipv4Addr::LOCALHOST, port), Command::new(SSHD), Vec::new())
    }

    /// Starts an sshd in a host of a lab. ssh starts in another one.
    pub fn start_in(scene: &Scene, host: &Host, from: &Host) -> Self {
        Self::start_at(scene, "", (host.address, 22), host.command(SSHD), from.prefix().to_vec())
    }

    /// Starts an sshd in a host of a lab whose clock is `clock_s` ahead. ssh starts in another one.
    pub fn start_with_clock(scene: &Scene, host: &Host, from: &Host, clock_s: u32) -> Self {
        let clock = clock_s.to_string();
        let mut command = host.command("unshare");
        command.args(["--time", "--fork", "--kill-child", "--monotonic", &clock, "--boottime", &clock, SSHD]);
        Self::start_at(scene, "", (host.address, 22), command, from.prefix().to_vec())
    }

    fn start_at(
        scene: &Scene,
        more: &str,
        (address, port): (Ipv4Addr, u16),
        mut sshd: Command,
        prefix: Vec<String>,
    ) -> Self {
        assert!(fs::exists(SSHD).unwrap_or(false), "{SSHD} is missing\nhint: `scripts/setup.sh tools`");
        let directory = scene.path(&format!("sshd-{address}-{port}"));
        fs::create_dir_all(&directory).expect("a directory");
        // Privileges are separated in this directory if sshd runs as root.
        let _ = fs::create_dir("/run/sshd");
        let file = |name: &str| directory.join(name).display().to_string();
        for key in ["host", "user", "stranger"] {
            let status =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &file(key)]).status();
            assert!(status.expect("ssh-keygen runs").success());
        }
        fs::copy(file("user.pub"), file("authorized")).expect("a key");
        let scratch = scene.directory.path().display();
        let mark = format!("DDSMARK_E2E={scratch}");
        let config = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\n\
             AuthenticationMethods publickey\nPermitRootLogin prohibit-password\nStrictModes no\nUsePAM no\nUseDNS no\n\
             MaxSessions 100\nMaxStartups 100\nClientAliveInterval 2\nClientAliveCountMax 3\n\
             SetEnv {mark} XDG_CACHE_HOME={scratch}/cache\n{more}\n",
            file("host"),
            file("authorized"),
        );
        fs::write(file("sshd_config"), config).expect("a file");
        let known = fs::read_to_string(file("host.pub")).expect("a key");
        let name = if port == 22 { address.to_string() } else { format!("[{address}]:{port}") };
        fs::write(file("known"), format!("{name} {known}")).expect("a file");
        fs::write(file("unknown"), "").expect("a file");
        let config = |key: &str, known: &str| {
            format!(
                "Host {address}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile none\n\
                 StrictHostKeyChecking yes\n",
                file(key),
                file(known)
            )
        };
        for (name, key, known) in [
            ("ssh", "user", "known"),
            ("wrong-key", "stranger", "known"),
            ("unknown-host", "user", "unknown"),
        ] {
            fs::write(file(name), config(key, known)).expect("a file");
        }
        let mut child = sshd
            .args(["-D", "-f", &file("sshd_config"), "-E", &file("log")])
            .env("DDSMARK_E2E", scene.directory.path())
            .stdin(Stdio::null())
            .spawn()
            .expect("sshd runs");
        wait_for("sshd", || {
            let log = fs::read_to_string(file("log")).unwrap_or_default();
            assert!(child.try_wait().expect("a child").is_none(), "{log}");
            log.contains("Server listening").then_some(())
        });
        Self { child, directory, mark, address, port, prefix }
    }

    /// Returns the destination.
    pub fn target(&self) -> Target {
        format!("{}:{}", self.address, self.port).parse().expect("a destination")
    }

    /// Returns the command of ssh with a configuration: `ssh`, `wrong-key` or `unknown-host`.
    pub fn words(&self, config: &str) -> Vec<String> {
        let config = self.directory.join(config).display().to_string();
        let words = ["env", &self.mark, "ssh", "-F", &config].map(ToOwned::to_owned);
        self.prefix.iter().cloned().chain(words).collect()
    }

    /// Returns the command of ssh that reaches this host and another one.
    pub fn words_with(&self, other: &Self) -> Vec<String> {
        let text = |sshd: &Self| fs::read_to_string(sshd.directory.join("ssh")).expect("a file");
        fs::write(self.directory.join("both"), text(self) + &text(other)).expect("a file");
        self.words("both")
    }

    /// Returns the shell of its host.
    pub fn shell(&self) -> Arc<dyn RemoteShell> {
        let program = SshProgram::new(&self.words("ssh").iter().map(String::as_str).collect::<Vec<_>>());
        Arc::new(SshShell::new(program, self.target()))
    }

    /// Returns the processes of its sessions. If it has a clock of its own, it is one of them.
    pub fn sessions(&self) -> Vec<i32> {
        let mut all = vec![self.child.id().cast_signed()];
        let mut next = 0;
        while let Some(pid) = all.get(next) {
            let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            let children = list.split_whitespace().filter_map(|pid| pid.parse().ok());
            all.extend(children.filter(|pid| name(*pid) == "sshd").collect::<Vec<i32>>());
            next += 1;
        }
        all.split_off(1)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        for session in self.sessions() {
            kill_alive(session);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the name of a process.
pub fn name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}
