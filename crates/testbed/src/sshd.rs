//! An sshd with keys of its own.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use experiment::Target;
use lab::Host;

use crate::{Error, process, server, wait::wait_for};

/// Name of the program, and of the processes of its sessions.
const SSHD: &str = "sshd";
/// Key pairs: that of the host, that of the user, and one that the host does not accept.
const KEYS: [&str; 3] = ["host", "user", "stranger"];
/// Configurations of ssh, with the key and the known hosts of each.
const CONFIGURATIONS: [(&str, &str, &str); 3] =
    [("ssh", "user", "known"), ("wrong-key", "stranger", "known"), ("unknown-host", "user", "unknown")];

/// Options of an sshd.
#[derive(Clone, Copy, Debug)]
pub struct SshdOptions<'a> {
    /// Directory of its files. It is created.
    pub directory: &'a Path,
    /// Variables of its sessions.
    pub session: &'a [(&'a str, &'a Path)],
    /// Variables of its own.
    pub own: &'a [(&'a str, &'a Path)],
    /// Lines of its configuration in addition to the usual ones.
    pub more: &'a str,
}

/// Running sshd. Dropping it ends it with its sessions.
#[derive(Debug)]
pub struct Sshd {
    child: Child,
    directory: PathBuf,
    address: Ipv4Addr,
    port: u16,
}

impl Sshd {
    /// Starts an sshd on a free port of loopback.
    ///
    /// # Errors
    /// Returns an error if sshd is not installed, or does not start.
    pub fn start(options: &SshdOptions<'_>) -> Result<Self, Error> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        Self::start_at(options, (Ipv4Addr::LOCALHOST, port), Command::new(server(SSHD)?))
    }

    /// Starts an sshd in a host of a lab.
    ///
    /// # Errors
    /// Returns an error if sshd is not installed, or does not start.
    pub fn start_in(options: &SshdOptions<'_>, host: &Host) -> Result<Self, Error> {
        Self::start_at(options, (host.address, 22), host.command(server(SSHD)?))
    }

    /// Starts an sshd in a host of a lab whose clock is `clock_s` ahead.
    ///
    /// # Errors
    /// Returns an error if sshd is not installed, or does not start.
    pub fn start_with_clock(options: &SshdOptions<'_>, host: &Host, clock_s: u32) -> Result<Self, Error> {
        let clock = clock_s.to_string();
        let mut command = host.command("unshare");
        command.args(["--time", "--fork", "--kill-child", "--monotonic", &clock, "--boottime", &clock]);
        command.arg(server(SSHD)?);
        Self::start_at(options, (host.address, 22), command)
    }

    fn start_at(
        options: &SshdOptions<'_>,
        (address, port): (Ipv4Addr, u16),
        mut command: Command,
    ) -> Result<Self, Error> {
        let directory = options.directory.to_owned();
        fs::create_dir_all(&directory)?;
        // Privileges are separated in this directory if sshd runs as root.
        let _ = fs::create_dir("/run/sshd");
        let file = |name: &str| directory.join(name).display().to_string();
        for key in KEYS {
            let arguments = ["-q", "-t", "ed25519", "-N", "", "-f", &file(key)];
            let status = Command::new("ssh-keygen").args(arguments).status()?;
            if !status.success() {
                return Err(format!("`ssh-keygen` failed: {status}").into());
            }
        }
        fs::copy(file("user.pub"), file("authorized"))?;
        let session: Vec<String> =
            options.session.iter().map(|(name, value)| format!("{name}={}", value.display())).collect();
        let set = if session.is_empty() { String::new() } else { format!("SetEnv {}\n", session.join(" ")) };
        let configuration = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\n\
             AuthenticationMethods publickey\nPermitRootLogin prohibit-password\nStrictModes no\nUsePAM no\nUseDNS no\n\
             MaxSessions 100\nMaxStartups 100\nClientAliveInterval 2\nClientAliveCountMax 3\n{set}{}\n",
            file("host"),
            file("authorized"),
            options.more,
        );
        fs::write(file("sshd_config"), configuration)?;
        let known = fs::read_to_string(file("host.pub"))?;
        let name = if port == 22 { address.to_string() } else { format!("[{address}]:{port}") };
        fs::write(file("known"), format!("{name} {known}"))?;
        fs::write(file("unknown"), "")?;
        for (name, key, known) in CONFIGURATIONS {
            let text = format!(
                "Host {address}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile none\n\
                 StrictHostKeyChecking yes\n",
                file(key),
                file(known)
            );
            fs::write(file(name), text)?;
        }
        let child = command
            .args(["-D", "-f", &file("sshd_config"), "-E", &file("log")])
            .envs(options.own.iter().copied())
            .stdin(Stdio::null())
            .spawn()?;
        let log = file("log");
        let mut sshd = Self { child, directory, address, port };
        wait_for("sshd", || {
            let log = fs::read_to_string(&log).unwrap_or_default();
            match sshd.child.try_wait()? {
                Some(status) => Err(format!("sshd ended: {status}\n{log}").into()),
                None => Ok(log.contains("Server listening").then_some(())),
            }
        })?;
        Ok(sshd)
    }

    /// Returns the destination.
    ///
    /// # Panics
    /// Never: an address with a port is a destination.
    #[must_use]
    pub fn target(&self) -> Target {
        Target::parse(&format!("{}:{}", self.address, self.port)).expect("a destination")
    }

    /// Returns a configuration of ssh: `ssh`, `wrong-key` or `unknown-host`.
    #[must_use]
    pub fn configuration(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a configuration of ssh that reaches all of these. Returns its path.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written, or if there is no sshd.
    pub fn configuration_of<'a>(all: impl IntoIterator<Item = &'a Self>) -> Result<PathBuf, Error> {
        let (mut path, mut text) = (None, String::new());
        for sshd in all {
            text.push_str(&fs::read_to_string(sshd.configuration("ssh"))?);
            path.get_or_insert_with(|| sshd.configuration("all"));
        }
        let path = path.ok_or("no sshd")?;
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns the id of its process.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Returns the processes of its sessions. If it has a clock of its own, it is one of them.
    #[must_use]
    pub fn sessions(&self) -> Vec<i32> {
        process::descendants_named(self.id(), SSHD)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        for session in self.sessions() {
            let _ = process::kill_alive(session);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
