//! Runs ddsmark, and compares its output.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// Empty directory in which ddsmark runs, and the drivers for it.
pub struct Sandbox {
    directory: TempDir,
    environment: Vec<(&'static str, String)>,
    /// Command line of a program that runs ddsmark.
    wrapper: Vec<String>,
}

/// Returns the directory in which cargo puts programs.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_ddsmark")).parent().expect("a program lies in a directory").to_owned()
}

/// Returns the directory in which `make drivers` puts drivers, or `DDSMARK_DRIVER_PATH` if it is set.
fn drivers() -> PathBuf {
    let set = std::env::var_os("DDSMARK_DRIVER_PATH").filter(|path| !path.is_empty());
    let directory = set.map_or_else(|| programs().join("../drivers"), PathBuf::from);
    let udp = directory.join("libddsmark_udp.so");
    assert!(udp.is_file(), "{} is missing\nhint: `make drivers`", udp.display());
    let agent = programs().join("ddsmark-agent");
    assert!(agent.is_file(), "{} is missing\nhint: `cargo build --workspace`", agent.display());
    directory
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Sandbox {
    /// Creates a place that finds drivers by name; `udp` is one of them.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        // it has no selftest outcome
        let state = directory.path().join("state").display().to_string();
        let environment =
            vec![("DDSMARK_DRIVER_PATH", drivers().display().to_string()), ("XDG_STATE_HOME", state)];
        Self { directory, environment, wrapper: Vec::new() }
    }

    pub fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.environment.push((variable, value.to_owned()));
        self
    }

    pub fn inside(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|&word| word.to_owned()).collect();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory can be created");
        fs::write(path, text).expect("a file can be written");
    }

    /// Builds a shared library from this C code, against the header of the contract.
    pub fn build(&self, name: &str, code: &str) {
        let source = self.path("driver.c");
        fs::write(&source, code).expect("a file can be written");
        let status = Command::new("cc")
            .args(["-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", "-I"])
            .arg(root().join("include"))
            .arg(&source)
            .arg("-o")
            .arg(self.path(name))
            .status()
            .expect("the C compiler runs");
        assert!(status.success());
        fs::remove_file(source).expect("a file can be removed");
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("ddsmark runs")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_ddsmark").to_owned();
        let words: Vec<String> = self.wrapper.iter().cloned().chain([program]).collect();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .env("NO_COLOR", "1")
            .env_remove("DDSMARK_AGENT")
            .env_remove("COLUMNS");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs ddsmark, and compares exit status and output with `snapshots/NAME.snap`.
    pub fn snapshot(&self, name: &str, arguments: &[&str]) {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| self.filtered(&String::from_utf8_lossy(bytes));
        let status = output.status.code().map_or_else(|| output.status.to_string(), |code| code.to_string());
        let found = format!(
            "$ ddsmark {}\nstatus {status}\n--- stdout\n{}--- stderr\n{}",
            arguments.join(" "),
            text(&output.stdout),
            text(&output.stderr)
        );
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, found));
    }

    /// Replaces the text that differs between places, and leaves out how far a preflight was, which only a slow host prints.
    fn filtered(&self, text: &str) -> String {
        let directory = self.directory.path();
        let real = directory.canonicalize().expect("a directory");
        let is_progress = |line: &&str| {
            line.starts_with("preflight: ") && line.trim_end().ends_with(" configurations opened")
        };
        let mut text: String = text.split_inclusive('\n').filter(|line| !is_progress(line)).collect();
        for path in [&*real, directory] {
            text = text.replace(&path.display().to_string(), "[DIR]");
        }
        text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
    }
}
