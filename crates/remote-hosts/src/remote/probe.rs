//! Properties of a host that decide whether the programs of this host can run there: one script, and its answer.

use std::collections::BTreeMap;

use super::elf::parse;

/// Begin of each line of the answer.
const MARK: &str = "ddsmark-probe ";
/// Longest value that is kept, in bytes.
const VALUE_BYTES: usize = 4096;
/// Space that must remain free on the host, in KiB.
const SPARE_KIB: u64 = 16 << 10;

/// Script of the probe, for any POSIX shell. It creates the cache directory, and removes copies that were interrupted
/// a day ago or earlier.
const SCRIPT: &str = r#"
p() { printf '\nddsmark-probe %s %s\n' "$1" "$2"; }
p system "$(uname -s)"
p machine "$(uname -m)"
p libc "$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"
c=${XDG_CACHE_HOME:-$HOME/.cache}/ddsmark
mkdir -p "$c" 2>/dev/null && chmod 700 "$c" 2>/dev/null
p cache "$c"
if [ -d "$c" ] && [ -w "$c" ]; then p writable yes; else p writable no; fi
p free_kib "$(df -Pk "$c" 2>/dev/null | tail -n 1 | { read -r a b d f r; echo "$f"; })"
p sha256sum "$(command -v sha256sum)"
p installed "$(ddsmark --version 2>/dev/null | head -n 1)"
p program "$(command -v ddsmark)"
find "$c" -maxdepth 1 -name 'new.*' -mtime +0 -exec rm -rf {} + 2>/dev/null
for h in HASHES; do
  if [ "$(sha256sum <"$c/$h/manifest.sha256" 2>/dev/null | cut -c1-64)" = "$h" ] &&
    (cd "$c/$h" && sha256sum -c manifest.sha256) >/dev/null 2>&1; then p "have-$h" yes; fi
done
p end yes
"#;

/// Answer of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    values: BTreeMap<String, String>,
}

/// Requirements of the programs of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Lowest version of the C library.
    pub glibc: Option<(u32, u32)>,
    /// Size of the files that are copied, in bytes.
    pub bytes: u64,
}

/// Returns the script that asks for the properties of a host, and which of these bundles it has unchanged.
pub(super) fn script(hashes: &[String]) -> String {
    SCRIPT.replace("HASHES", &hashes.join(" "))
}

impl Probe {
    /// Parses the output of the script. Other lines are those of a shell that prints a banner.
    #[must_use]
    pub fn parse(output: &str) -> Self {
        let mut values = BTreeMap::new();
        for line in output.lines() {
            let Some((key, value)) = line.strip_prefix(MARK).and_then(|rest| rest.split_once(' ')) else {
                continue;
            };
            if value.len() <= VALUE_BYTES && !value.chars().any(char::is_control) {
                values.insert(key.to_owned(), value.trim().to_owned());
            }
        }
        Self { values }
    }

    fn get(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// Returns whether the script was executed to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.get("end") == "yes"
    }

    /// Returns the architecture, as Rust names it.
    #[must_use]
    pub fn machine(&self) -> &str {
        match self.get("machine") {
            "arm64" => "aarch64",
            "i386" | "i486" | "i586" | "i686" => "x86",
            arm if arm.starts_with("armv") => "arm",
            other => other,
        }
    }

    /// Returns the C library.
    #[must_use]
    pub fn libc(&self) -> &str {
        self.get("libc")
    }

    /// Returns the directory for copies.
    #[must_use]
    pub fn cache(&self) -> &str {
        self.get("cache")
    }

    /// Returns the free space of the directory for copies, in KiB.
    #[must_use]
    pub fn free_kib(&self) -> Option<u64> {
        self.get("free_kib").parse().ok()
    }

    /// Returns the version of an installed ddsmark, and its path.
    #[must_use]
    pub fn installed(&self) -> Option<(&str, &str)> {
        let program = Some(self.get("program")).filter(|program| program.starts_with('/'))?;
        Some((self.get("installed").strip_prefix("ddsmark ")?, program))
    }

    /// Returns whether the host has an unchanged copy of a bundle.
    #[must_use]
    pub fn has(&self, hash: &str) -> bool {
        self.get(&format!("have-{hash}")) == "yes"
    }

    /// Checks that programs of this host can run there.
    ///
    /// # Errors
    /// Returns what is missing, and a hint.
    pub fn check(&self, needs: &Needs) -> Result<(), (String, String)> {
        let missing = |error: String, hint: &str| Err((error, hint.to_owned()));
        if self.get("system") != "Linux" {
            let system = self.get("system");
            return missing(format!("it runs `{system}`, and ddsmark needs Linux"), "choose another host");
        }
        let (ours, theirs) = (std::env::consts::ARCH, self.machine());
        if ours != theirs {
            let error = format!("its architecture is {theirs}, and the programs here are for {ours}");
            return missing(error, "install the same version of ddsmark on the host");
        }
        if let Some(needed) = needs.glibc {
            let found = self.libc().split_whitespace().last().and_then(parse);
            let is_glibc = ["glibc", "GLIBC", "GNU"].iter().any(|name| self.libc().contains(name));
            if !is_glibc || found.is_some_and(|found| found < needed) {
                let libc = if self.libc().is_empty() { "unknown" } else { self.libc() };
                let (major, minor) = needed;
                let error =
                    format!("its C library is `{libc}`, and the programs here need glibc {major}.{minor}");
                return missing(
                    error,
                    "install the same version of ddsmark on the host, or build ddsmark on an older system",
                );
            }
        }
        if self.get("writable") != "yes" || !self.cache().starts_with('/') {
            let error = format!("its directory `{}` is not writable", self.cache());
            return missing(error, "set XDG_CACHE_HOME on the host, or make the directory writable");
        }
        if self.get("sha256sum").is_empty() {
            return missing("it has no `sha256sum`".to_owned(), "install coreutils on the host");
        }
        let needed_kib = needs.bytes.div_ceil(1024) + SPARE_KIB;
        match self.free_kib() {
            Some(free) if needs.bytes > 0 && free < needed_kib => missing(
                format!(
                    "`{}` has {} MiB free, and {} MiB are needed",
                    self.cache(),
                    free >> 10,
                    needed_kib >> 10
                ),
                "free some space on the host, or set XDG_CACHE_HOME there",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(changes: &[(&str, &str)]) -> Probe {
        let mut probe = Probe::parse(
            "Welcome to pi1\nddsmark-probe system Linux\nddsmark-probe libc glibc 2.36\nddsmark-probe cache /c\n\
             ddsmark-probe writable yes\nddsmark-probe free_kib 1000000\nddsmark-probe sha256sum /bin/sha256sum\n\
             ddsmark-probe installed ddsmark 0.1.0\nddsmark-probe program /usr/bin/ddsmark\nddsmark-probe end yes\n",
        );
        probe.values.insert("machine".to_owned(), std::env::consts::ARCH.to_owned());
        for (key, value) in changes {
            probe.values.insert((*key).to_owned(), (*value).to_owned());
        }
        probe
    }

    const NEEDS: Needs = Needs { glibc: Some((2, 34)), bytes: 100 << 20 };

    #[test]
    fn fit_host_passes_and_tells_what_it_has() {
        let probe = answer(&[("have-abc", "yes")]);
        assert_eq!(probe.check(&NEEDS), Ok(()));
        assert!(probe.is_complete() && probe.has("abc") && !probe.has("def"));
        assert_eq!(probe.installed(), Some(("0.1.0", "/usr/bin/ddsmark")));
    }

    #[test]
    fn each_missing_property_is_named_with_a_hint() {
        for (key, value, expected) in [
            ("system", "Darwin", "it runs `Darwin`"),
            ("machine", "s390x", "its architecture is s390x"),
            ("libc", "glibc 2.31", "its C library is `glibc 2.31`, and the programs here need glibc 2.34"),
            ("libc", "musl libc (x86_64)", "its C library is `musl libc (x86_64)`"),
            ("libc", "", "its C library is `unknown`"),
            ("writable", "no", "its directory `/c` is not writable"),
            ("cache", "../c", "its directory `../c` is not writable"),
            ("sha256sum", "", "it has no `sha256sum`"),
            ("free_kib", "65536", "`/c` has 64 MiB free, and 116 MiB are needed"),
        ] {
            let (error, hint) = answer(&[(key, value)]).check(&NEEDS).unwrap_err();
            assert!(error.starts_with(expected) && !hint.is_empty(), "{error}");
        }
    }

    #[test]
    fn script_runs_in_a_shell_and_finds_an_unchanged_copy_only() {
        let home = tempfile::tempdir().expect("a directory");
        let driver = home.path().join("libddsmark_x.so");
        std::fs::write(&driver, "x").expect("a file");
        let bundle = super::super::bundle::Bundle::of_driver(&driver, &[]).expect("a bundle");
        let copy = home.path().join(".cache/ddsmark").join(bundle.hash());
        std::fs::create_dir_all(&copy).expect("a directory");
        std::fs::write(copy.join("manifest.sha256"), bundle.manifest()).expect("a file");
        let ask = || {
            let mut command = std::process::Command::new("sh");
            let script = script(&[bundle.hash(), "0".repeat(64)]);
            let output =
                command.args(["-c", &script]).env("HOME", home.path()).env_remove("XDG_CACHE_HOME").output();
            Probe::parse(&String::from_utf8_lossy(&output.expect("a shell").stdout))
        };
        assert!(!ask().has(&bundle.hash()), "a file is missing");
        std::fs::write(copy.join("libddsmark_x.so"), "x").expect("a file");
        let probe = ask();
        assert!(probe.is_complete() && probe.has(&bundle.hash()), "{probe:?}");
        assert!(!probe.has(&"0".repeat(64)));
        assert_eq!(probe.machine(), std::env::consts::ARCH);
        assert!(probe.free_kib().is_some() && probe.cache().ends_with("/.cache/ddsmark"), "{probe:?}");
        assert_eq!(probe.check(&Needs { glibc: None, bytes: 0 }), Ok(()));
        std::fs::write(copy.join("libddsmark_x.so"), "y").expect("a file");
        assert!(!ask().has(&bundle.hash()), "a file has changed");
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed(text in r"(ddsmark-probe [a-z_]{1,9} [ -~\x00-\x1f]{0,20}\n|[ -~\n]{0,20}){0,8}") {
            let probe = Probe::parse(&text);
            let _ = (probe.check(&NEEDS), probe.installed());
            prop_assert!(probe.values.values().all(|value| !value.chars().any(char::is_control)));
        }
    }
}
