//! System programs that set up a lab, and what a lab needs.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use experiment::LinkSpec;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{error::LabError, namespace::Namespace};

/// Time limit of each program.
const LIMIT: Duration = Duration::from_secs(60);

/// System program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Ip,
    Bridge,
    Tc,
    Nft,
    Ethtool,
}

impl Tool {
    const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Bridge => "bridge",
            Self::Tc => "tc",
            Self::Nft => "nft",
            Self::Ethtool => "ethtool",
        }
    }

    const fn package(self) -> &'static str {
        match self {
            Self::Ip | Self::Bridge | Self::Tc => "iproute2",
            Self::Nft => "nftables",
            Self::Ethtool => "ethtool",
        }
    }

    /// Returns the path of the program. The directories of administration are searched as well: `PATH` often lacks them.
    fn find(self) -> Result<PathBuf, LabError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let more = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from);
        std::env::split_paths(&path)
            .chain(more)
            .map(|directory| directory.join(self.name()))
            .find(|path| path.is_absolute() && path.is_file())
            .ok_or(LabError::NoTool { tool: self.name(), package: self.package() })
    }

    /// Runs the program in a namespace, with `input` as its standard input. Returns its standard output.
    pub(crate) fn run(
        self,
        namespace: Option<&Namespace>,
        action: &str,
        arguments: &[&str],
        input: &str,
    ) -> Result<String, LabError> {
        let mut command = Command::new(self.find()?);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Messages are matched, so they are in English.
        command.env("LC_ALL", "C");
        if let Some(namespace) = namespace {
            let entry = namespace.entry()?;
            // SAFETY: between fork and exec the closure only makes the system call setns, which is async-signal-safe.
            unsafe { command.pre_exec(move || entry.enter()) };
        }
        let output = finish(&mut command, input, self.name())
            .map_err(|error| error.unwrap_or_else(|| self.timed_out(action)))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(failure(action, &format!("{} exited with {}", self.name(), output.status), &output.stderr))
    }

    /// Executes the tool in a network namespace, and returns what `parse` finds in its output.
    pub(crate) fn read<T>(
        self,
        namespace: &Namespace,
        action: &str,
        arguments: &[&str],
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, LabError> {
        let text = self.run(Some(namespace), action, arguments, "")?;
        let message = || "unexpected output".to_owned();
        parse(&text).ok_or_else(|| LabError::Tool { action: action.to_owned(), message: message() })
    }

    fn timed_out(self, action: &str) -> LabError {
        LabError::TimedOut { what: format!("`{}` to {action}", self.name()), seconds: LIMIT.as_secs() }
    }
}

/// Runs a command within [`LIMIT`]. The error is `None` if the time is over.
fn finish(command: &mut Command, input: &str, name: &str) -> Result<Output, Option<LabError>> {
    let failed = |error: io::Error| Some(LabError::system(format!("run `{name}`"), error));
    let mut child = command.spawn().map_err(failed)?;
    let pid = Pid::from_raw(child.id().cast_signed());
    let (mut stdin, input) = (child.stdin.take().expect("stdin is a pipe"), input.to_owned());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // A program that fails early closes its input; its status says why.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let _ = sender.send(child.wait_with_output());
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(output) => output.map_err(failed),
        Err(_) => {
            let _ = kill(pid, Signal::SIGKILL);
            Err(None)
        }
    }
}

/// Messages that say that the kernel lacks a feature, with the feature and the module that has it.
const KERNEL_FEATURES: [(&str, &str, &str, &str); 4] = [
    ("veth", "Unknown device type", "virtual Ethernet pairs", "veth"),
    ("bridge", "Unknown device type", "bridges", "bridge"),
    ("tbf", "qdisc kind is unknown", "token bucket filter", "sch_tbf"),
    ("loss", "Operation not supported", "nftables for network devices", "nf_tables"),
];

/// Returns the error that a message of a program means.
fn failure(action: &str, status: &str, stderr: &[u8]) -> LabError {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let message = if lines.is_empty() { status.to_owned() } else { lines.join("; ") };
    let is_missing = |(word, sign, _, _): &&(&str, &str, &str, &str)| {
        message.contains(sign) && (action.contains(word) || message.contains(word))
    };
    let action = action.to_owned();
    match KERNEL_FEATURES.iter().find(is_missing) {
        Some(&(_, _, feature, module)) => LabError::Kernel { action, feature, module, message },
        None => LabError::Tool { action, message },
    }
}

/// Capabilities that a lab needs, with their numbers.
const CAPABILITIES: [(&str, u32); 2] = [("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21)];

/// Returns the names of needed capabilities that are not in the effective set of `/proc/PID/status`.
fn missing_capabilities(status: &str) -> Vec<&'static str> {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    CAPABILITIES.iter().filter(|(_, number)| set >> number & 1 == 0).map(|(name, _)| *name).collect()
}

/// Checks that this process may create a lab with such links, and that the programs for it are installed.
///
/// # Errors
/// Returns an error that names what is missing.
pub fn check(link: &LinkSpec) -> Result<(), LabError> {
    let status = fs::read_to_string("/proc/self/status")
        .map_err(|error| LabError::system("read `/proc/self/status`", error))?;
    let missing = missing_capabilities(&status);
    if !missing.is_empty() {
        return Err(LabError::Privilege { missing: missing.join(" and ") });
    }
    let mut tools = vec![Tool::Ip, Tool::Ethtool];
    tools.extend(link.rate_bit_per_s.map(|_| Tool::Tc));
    tools.extend((link.loss_ppm > 0).then_some(Tool::Nft));
    tools.into_iter().try_for_each(|tool| tool.find().map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named() {
        for (set, missing) in [
            ("000001ffffffffff", vec![]),
            ("0000000000201000", vec![]),
            ("0000000000200000", vec!["CAP_NET_ADMIN"]),
            ("0000000000001000", vec!["CAP_SYS_ADMIN"]),
            ("0000000000000000", vec!["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]),
            ("not a number", vec!["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]),
        ] {
            let status = format!("Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t{set}\n");
            assert_eq!(missing_capabilities(&status), missing, "{set}");
        }
    }

    #[test]
    fn missing_features_of_the_kernel_are_named() {
        for (action, message, module) in [
            ("create the links", "Error: Unknown device type.\nCommand failed -:1 (veth)", "veth"),
            ("set the rate (tbf)", "Error: Specified qdisc kind is unknown.", "sch_tbf"),
            ("set the loss", "Error: Could not process rule: Operation not supported", "nf_tables"),
        ] {
            let error = failure(action, "", message.as_bytes());
            assert!(matches!(&error, LabError::Kernel { module: found, .. } if *found == module), "{error}");
            assert!(error.hint().contains(&format!("modprobe {module}")));
        }
        let other = failure("create the links", "ip exited with 1", b" \n");
        assert_eq!(other.to_string(), "cannot create the links: ip exited with 1");
    }

    #[test]
    fn failing_programs_are_reported_with_their_message() {
        let error = Tool::Ip.run(None, "show a link", &["link", "show", "dev", "none-such"], "").unwrap_err();
        assert!(error.to_string().starts_with("cannot show a link: "), "{error}");
        assert!(error.to_string().contains("none-such"), "{error}");
    }
}
