//! Destinations of ssh.

use std::fmt;

/// Destination of ssh: `[user@]host[:port]`, with an IPv6 address in brackets. Names of the user's configuration are
/// hosts, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    user: Option<String>,
    host: String,
    port: Option<u16>,
}

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

    /// Parses a destination. Returns `None` if the text is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
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
            let (host, rest) = rest.split_once(']')?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return None,
            }
        } else {
            match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            }
        };
        let port = match port {
            Some(port) => Some(port.parse().ok().filter(|port| *port > 0)?),
            None => None,
        };
        let is_valid = is_word(host) && user.is_none_or(is_word);
        is_valid.then(|| Self { user: user.map(ToOwned::to_owned), host: host.to_owned(), port })
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
            let target = Target::parse(text).expect(text);
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
            assert_eq!(Target::parse(text), None, "{text}");
        }
    }
}
