//! Messages of ssh and of remote shells, and what to do about them.

use crate::client::steward_command::known_message;

/// Parts of messages, the cause, and the hint.
const KNOWN: &[(&[&str], &str, &str)] = &[
    (
        &["REMOTE HOST IDENTIFICATION HAS CHANGED"],
        "its key differs from the known one",
        "make sure that it is the right host, then remove the old key with `ssh-keygen -R`",
    ),
    (
        &["Host key verification failed"],
        "its key is not known",
        "connect once with `ssh`, and accept the key of the host if it is the right one",
    ),
    (
        &["Permission denied ("],
        "it accepts none of your keys",
        "copy your key there with `ssh-copy-id`, or name it in ~/.ssh/config; no password is asked for",
    ),
    (
        &["Too many authentication failures"],
        "it accepts none of the first keys that were offered",
        "name the right key in ~/.ssh/config, with `IdentitiesOnly yes`",
    ),
    (
        &["Could not resolve hostname"],
        "its name cannot be resolved",
        "check the name, or give its address in ~/.ssh/config",
    ),
    (&["Connection refused"], "no ssh server answers there", "start sshd on the host, or give its port"),
    (&["timed out"], "it does not answer", "check whether the host is on, and its address"),
    (
        &["No route to host", "Network is unreachable"],
        "no route leads to it",
        "check its address and the network",
    ),
    (
        &["not responding"],
        "it stopped answering",
        "check the host and the link to it, then resume with `ddsmark run --resume DIR`",
    ),
    (&["No space left on device"], "its file system is full", "free some space on the host"),
    (
        &["Exec format error"],
        "it cannot execute the copied program",
        "install ddsmark on the host: it has another architecture",
    ),
    (
        &["ddsmark: not found"],
        "ddsmark was not found there",
        "check the cache directory on the host: another process may have removed it",
    ),
];

/// Returns the cause and the hint for the last lines that ssh printed, if they are known.
#[must_use]
pub fn explain(lines: &[String]) -> Option<(String, String)> {
    known_message(KNOWN, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_message_has_a_cause_and_a_hint() {
        let of = |line: &str| explain(&["other".to_owned(), line.to_owned()]);
        let (cause, hint) = of("u@pi1: Permission denied (publickey).").expect("known");
        assert!(cause.contains("keys") && hint.contains("ssh-copy-id"), "{cause} {hint}");
        let (cause, _) = of("Timeout, server pi1 not responding.").expect("known");
        assert_eq!(cause, "it stopped answering");
        let (cause, _) = of("ssh: connect to host pi1 port 22: Connection timed out").expect("known");
        assert_eq!(cause, "it does not answer");
        assert_eq!(of("Welcome"), None);
    }

    #[test]
    fn changed_key_is_not_mistaken_for_an_unknown_one() {
        let lines = ["@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", "Host key verification failed."];
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        assert_eq!(explain(&lines).expect("known").0, "its key differs from the known one");
    }
}
