//! Destinations of ssh.

use std::{fmt, str::FromStr};

/// Destination of ssh: `[user@]host[:port]`, with an IPv6 address in brackets. Names of the user's configuration are
/// hosts, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    user: Option<String>,
    host: String,
    port: Option<u16>,
}

/// Text that is not a destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid destination of ssh: [user@]host[:port] is expected")]
pub struct TargetError(String);

impl Target {
    /// Returns the arguments of ssh that select the destination.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(port) = self.port {
            arguments.extend(["-p".to_owned(), port.to_string()]);
        }
        if let Some(user) = &self.user {
            arguments.extend(["-l".to_owned(), user.clone()]);
        }
        arguments.extend(["--".to_owned(), self.host.clone()]);
        arguments
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let error = || TargetError(text.escape_debug().to_string());
        // A word that begins with `-` would be an option.
        let is_word = |word: &str| {
            !word.is_empty()
                && !word.starts_with('-')
                && word.chars().all(|c| c.is_alphanumeric() || "._-:%+~".contains(c))
        };
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, text),
        };
        let (host, port) = if let Some(rest) = place.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').ok_or_else(error)?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err(error()),
            }
        } else {
            match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            }
        };
        let port =
            port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or_else(error)).transpose()?;
        if !is_word(host) || user.is_some_and(|user| !is_word(user)) {
            return Err(error());
        }
        Ok(Self { user: user.map(ToOwned::to_owned), host: host.to_owned(), port })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            write!(f, "{}", self.host)?;
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destination_has_user_host_and_port() {
        for (text, arguments) in [
            ("pi1", "-- pi1"),
            ("user@pi1", "-l user -- pi1"),
            ("pi1.lan:2222", "-p 2222 -- pi1.lan"),
            ("u@[fe80::1%eth0]:22", "-p 22 -l u -- fe80::1%eth0"),
            ("[::1]", "-- ::1"),
        ] {
            let target: Target = text.parse().expect(text);
            assert_eq!(target.arguments().join(" "), arguments);
            assert_eq!(target.to_string(), text);
        }
    }

    #[test]
    fn invalid_destination_is_rejected() {
        for text in [
            "",
            "-oProxyCommand=x",
            "u@-oX",
            "-u@host",
            "a b",
            "h:0",
            "h:70000",
            "h:x",
            "[::1",
            "[::1]x",
            "h;x",
            "h\n",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
