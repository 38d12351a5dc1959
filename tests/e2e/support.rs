//! Runs ddsmark as a user does, and checks that nothing is left behind.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use host::{Domain, Domains, LocalSite, Site};
use serde_json::Value;
use tempfile::TempDir;
use testbed::process;

use crate::shared_memory::Watch;

/// Time limit of every wait.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// Pause between two looks at what a test waits for.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Variable in the environment of all processes of a test.
pub const MARK: &str = "DDSMARK_E2E";

/// Directory of a test. When it is dropped, no process and no shared memory of ddsmark may be left. Tests that others
/// would disturb run alone, see `.config/nextest.toml`.
pub struct Scene {
    pub directory: TempDir,
    mark: String,
    shared_memory: Watch,
    started: AtomicU32,
}

/// Validator of results, which takes longer to create than to use.
static RESULT_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = fs::read(root().join("schemas/result.schema.json")).expect("the schema");
    let schema: Value = serde_json::from_slice(&schema).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
});

/// Exit status and output of a command.
#[derive(Debug)]
pub struct Outcome {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Running command.
pub struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// Returns the directory in which cargo puts programs.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_ddsmark")).parent().expect("a program lies in a directory").to_owned()
}

/// Returns the directory in which `make drivers` puts drivers.
pub fn drivers() -> PathBuf {
    programs().parent().expect("target").join("drivers")
}

/// Reserves a domain that no experiment of this host uses, until it is dropped.
pub fn reserved_domain() -> Domain {
    Domains::new().take(&[&LocalSite::new("no agent") as &dyn Site]).expect("a domain")
}

/// Returns the number of blocks of experiments whose assertions hold for each run: 1, or 3 in `make test-all`.
pub fn blocks() -> usize {
    if std::env::var_os("DDSMARK_TEST_ALL").is_some() { 3 } else { 1 }
}

/// Returns [`blocks`] as an argument.
pub fn blocks_text() -> &'static str {
    if blocks() == 1 { "1" } else { "3" }
}

/// Returns the root of the tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the tree")
}

/// Panics with a hint unless all programs and drivers of the tests are built.
fn assert_built() {
    let programs = programs();
    let drivers = drivers();
    for program in ["ddsmark", "ddsmark-agent", "killing-agent", "validation", "test-peer"] {
        let file = programs.join(program);
        assert!(
            file.is_file(),
            "{} is missing\nhint: `cargo build --workspace`, or `make test`",
            file.display()
        );
    }
    for driver in ["udp", "tcp", "shm", "cyclonedds", "fastdds", "sim"] {
        let file = drivers.join(format!("libddsmark_{driver}.so"));
        assert!(file.is_file(), "{} is missing\nhint: `make drivers`, or `make test`", file.display());
    }
}

impl Scene {
    pub fn new() -> Self {
        assert_built();
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mark = format!("{MARK}={}", directory.path().display());
        let shared_memory = Watch::begin(mark.clone(), directory.path());
        Self { directory, mark, shared_memory, started: AtomicU32::new(0) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts a command in the directory, with the programs on its path.
    pub fn start(&self, program: &str, arguments: &[&str]) -> Running {
        self.start_with(&[], program, arguments)
    }

    /// Starts a command with these variables in its environment, too.
    pub fn start_with(&self, variables: &[(&str, &OsStr)], program: &str, arguments: &[&str]) -> Running {
        self.start_on(Stdio::null(), variables, program, arguments)
    }

    /// Starts a command with the other end of a socket as its standard input.
    pub fn start_reading(
        &self,
        from: UnixStream,
        variables: &[(&str, &OsStr)],
        program: &str,
        arguments: &[&str],
    ) -> Running {
        self.start_on(OwnedFd::from(from).into(), variables, program, arguments)
    }

    fn start_on(
        &self,
        stdin: Stdio,
        variables: &[(&str, &OsStr)],
        program: &str,
        arguments: &[&str],
    ) -> Running {
        let mut path = programs().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let number = self.started.fetch_add(1, Relaxed);
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| self.path(&format!("{name}-{number}")));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env("PATH", path)
            .env("NO_COLOR", "1")
            .env(MARK, self.directory.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env_remove("DDSMARK_DRIVER_PATH")
            .env_remove("DDSMARK_AGENT")
            .env_remove("DDSMARK_ACCEPT_LICENCE")
            .envs(variables.iter().copied())
            .stdin(stdin)
            .stdout(File::create(&stdout).expect("a file"))
            .stderr(File::create(&stderr).expect("a file"));
        let spawn = || command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
        let child = self.shared_memory.starting(spawn);
        Running { child, stdout, stderr }
    }

    /// Runs ddsmark to its end.
    pub fn ddsmark(&self, arguments: &[&str]) -> Outcome {
        self.start("ddsmark", arguments).end()
    }

    /// Runs an experiment file whose assertions hold for each run: a few blocks of it, without a reference.
    pub fn run_blocks(&self, file: &str) -> Outcome {
        self.run_blocks_into("result", file)
    }

    /// Like [`Scene::run_blocks`], with another directory of the result.
    pub fn run_blocks_into(&self, out: &str, file: &str) -> Outcome {
        let few = format!("design.blocks={}", blocks());
        self.ddsmark(&[
            "run",
            file,
            "--json",
            "--out",
            out,
            "--no-reference",
            "--set",
            "design.noise_probe=false",
            "--set",
            &few,
        ])
    }

    /// Returns the process ids of this test's living agents.
    pub fn agents(&self) -> Vec<i32> {
        self.processes().into_iter().filter(|pid| process::name(*pid) == "ddsmark-agent").collect()
    }

    /// Returns the process ids of all living processes of this test.
    pub fn processes(&self) -> Vec<i32> {
        process::with_variable(&self.mark).expect("/proc")
    }

    /// Returns the files in /dev/shm that processes of this test have created so far.
    pub fn shared_memory(&self) -> Vec<String> {
        self.shared_memory.seen()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let files = self.shared_memory.left();
        if !thread::panicking() {
            let left = self.processes();
            assert!(left.is_empty(), "processes are left: {left:?}");
            assert!(files.is_empty(), "files in /dev/shm are left: {files:?}");
        }
    }
}

impl Running {
    /// Returns whether the command still runs.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the process a signal.
    pub fn signal(&self, signal: &str) {
        assert!(kill(self.child.id().cast_signed(), signal), "the command has ended");
    }

    /// Waits for the end of the command.
    pub fn end(mut self) -> Outcome {
        let status = wait_for("the end of the command", || self.child.try_wait().expect("a child"));
        let read = |file: &Path| String::from_utf8_lossy(&fs::read(file).expect("a file")).into_owned();
        Outcome { status, stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // has no effect if the command has ended, as it has unless the test failed
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outcome {
    /// Asserts the exit status; shows the output if it is another.
    #[track_caller]
    pub fn assert_status(&self, expected: i32) {
        assert_eq!(self.status.code(), Some(expected), "{}\n--\n{}", self.stdout, self.stderr);
    }

    /// Returns the output as JSON that follows the schema.
    #[track_caller]
    pub fn document(&self) -> Value {
        let document: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n--\n{}", self.stdout, self.stderr));
        let errors: Vec<_> = RESULT_SCHEMA
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        document
    }
}

/// Sends a signal by name. Returns false if the process is gone.
fn kill(pid: i32, signal: &str) -> bool {
    let kill = Command::new("kill").args(["-s", signal, &pid.to_string()]).stderr(Stdio::null()).status();
    kill.expect("kill runs").success()
}

/// Repeats the call until it returns a value.
pub fn wait_for<T>(what: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        let waited = begin.elapsed();
        assert!(waited < TIME_LIMIT, "waited {TIME_LIMIT:?} for {what}");
        // An answer may take a look at all processes of the host: a twentieth of the wait is soon enough.
        thread::sleep((waited / 20).clamp(SHORTEST_PAUSE, LONGEST_PAUSE));
    }
}

/// Compiles a shared library from sources of this directory, with these arguments for the compiler, and returns its
/// path.
pub fn shared_library(scene: &Scene, compiler: &str, name: &str, words: &[&str]) -> String {
    let library = scene.path(name).display().to_string();
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"])
        .args(words)
        .arg("-I")
        .arg(root().join("include"))
        .args(["-o", &library, "-ldl"])
        .current_dir(root().join("tests/e2e"))
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

/// Compiles the built driver `real` with one change, a function of `faulty_driver.cpp`, and returns its path.
pub fn changed_driver(scene: &Scene, real: &str, change: &str) -> String {
    let real = drivers().join(format!("libddsmark_{real}.so"));
    let defines = [format!("-DREAL=\"{}\"", real.display()), format!("-DHOW={change}")];
    let words = ["-std=c++17", &defines[0], &defines[1], "faulty_driver.cpp"];
    shared_library(scene, "c++", &format!("libddsmark_{change}.so"), &words)
}

/// Builds the teaching driver with one violation: of `crates/conformance/tests/faulty_driver.c`, or defined by `code`. The name of
/// the library selects it.
pub fn violating_driver(scene: &Scene, violation: &str, code: &str) -> String {
    let source = scene.path(&format!("{violation}.c"));
    let liar = root().join("crates/conformance/tests/faulty_driver.c");
    fs::write(&source, format!("#include \"{}\"\n{code}", liar.display())).expect("a file");
    driver_in_c(scene, violation, &source, &[])
}

/// Builds a driver from this source, and returns its path.
pub fn driver_in_c(scene: &Scene, name: &str, source: &Path, words: &[&str]) -> String {
    let source = source.display().to_string();
    let words = [&["-std=gnu11", "-D_GNU_SOURCE", &source], words].concat();
    shared_library(scene, "cc", &format!("{name}.so"), &words)
}

/// Returns the time since boot in ns, with a resolution of 10 ms. Equals `CLOCK_MONOTONIC` on a host that was never
/// suspended.
pub fn monotonic_ns() -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").expect("/proc/uptime");
    let seconds: f64 = uptime.split(' ').next().and_then(|word| word.parse().ok()).expect("seconds");
    (seconds * 1e9) as u64
}

/// Returns all runs of a result.
pub fn runs(document: &Value) -> Vec<&Value> {
    list(&document["cells"]).iter().flat_map(|cell| list(&cell["runs"])).collect()
}

/// Returns the elements of an array.
#[track_caller]
pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no array: {value}"))
}

/// Returns a text of an object.
pub fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("no text `{name}` in {value}"))
}

/// Returns a number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

/// Returns a count.
#[track_caller]
pub fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no count: {value}"))
}
