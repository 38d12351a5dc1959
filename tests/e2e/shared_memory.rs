//! Files that the processes of a test create in `/dev/shm`, and those that they leave.
//!
//! Other processes on this host create files there, too, and a file does not show its creator. A file is ours if
//! its name contains the name of a run, with the process id of its runner. Files in a list with such a name are
//! ours, too: see section 1 of `driver.h`. A list is removed with its files, so files are watched from their
//! creation. For a list of patterns, a file is ours if it matches, is new, and is unused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Child,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

const DIRECTORY: &str = "/dev/shm";
/// Time within which a living process removes a file that it has closed.
const REMOVED_WITHIN: Duration = Duration::from_secs(2);
/// Name of a file that ends the watch when it is created in the directory of the test.
const END: &str = "end-of-watch";
/// Text before the process id of the runner, in the name of a run and of a conformance case.
const BEFORE_RUNNER: [&str; 2] = ["ddsmark-", "ddsmark-check-"];

/// Our files by name, with the inode; `None` if the name alone identifies them.
type Files = BTreeMap<String, Option<u64>>;

/// Watch of `/dev/shm`, from its start until [`left`](Self::left).
pub struct Watch {
    end: PathBuf,
    known: Arc<Watched>,
    thread: Option<JoinHandle<()>>,
}

struct Watched {
    /// Entry in the environment of each process of the test.
    mark: String,
    runners: Mutex<BTreeSet<u32>>,
    files: Mutex<Files>,
    /// Patterns of file names, from lists.
    words: Mutex<BTreeSet<String>>,
    before: Numbers,
}

/// Existing files by name, with the inode.
pub type Numbers = BTreeMap<String, u64>;

impl Watch {
    /// Starts to watch the processes with this entry in their environment. `scratch` is a directory of the test.
    pub fn begin(mark: String, scratch: &Path) -> Self {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC).expect("inotify");
        // a list may be open as long as its creator lives
        let made = AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_MOVED_TO;
        inotify.add_watch(DIRECTORY, made).expect("a watch of shared memory");
        inotify.add_watch(scratch, AddWatchFlags::IN_CREATE).expect("a watch of the test's directory");
        let known = Arc::new(Watched {
            mark,
            runners: Mutex::default(),
            files: Mutex::default(),
            words: Mutex::default(),
            before: present(),
        });
        let watcher = Arc::clone(&known);
        let thread = thread::spawn(move || {
            loop {
                for event in inotify.read_events().expect("what has happened") {
                    let name = event.name.map(|name| name.to_string_lossy().into_owned());
                    match name.as_deref() {
                        Some(END) => return,
                        Some(name) => watcher.made(name),
                        None => {}
                    }
                }
            }
        });
        Self { end: scratch.join(END), known, thread: Some(thread) }
    }

    /// Starts a process whose runs are ours. Its files are judged when its process id is known, even if it has
    /// ended by then.
    pub fn starting(&self, start: impl FnOnce() -> Child) -> Child {
        let mut runners = lock(&self.known.runners);
        let child = start();
        runners.insert(child.id());
        child
    }

    /// Returns our files seen so far.
    pub fn seen(&self) -> Vec<String> {
        lock(&self.known.files).keys().cloned().collect()
    }

    /// Ends the watch. Returns our files that still exist.
    pub fn left(&mut self) -> Vec<String> {
        // events arrive in order, so this one is the last
        let requested = fs::write(&self.end, "").is_ok();
        let ended = self.thread.take().is_some_and(|thread| requested && thread.join().is_ok());
        assert!(ended || thread::panicking(), "the watch did not last to the end");
        let files = std::mem::take(&mut *lock(&self.known.files));
        let there =
            |name: &str, was: Option<u64>| number(name).is_some_and(|is| was.is_none_or(|was| was == is));
        let mut left: BTreeSet<String> =
            files.into_iter().filter(|(name, was)| there(name, *was)).map(|(name, _)| name).collect();
        let words = std::mem::take(&mut *lock(&self.known.words));
        if !words.is_empty() {
            let is_named = |name: &String| words.iter().any(|word| means(word, name));
            // A process of another test may have closed a file that it is about to remove.
            let mut unused: BTreeSet<String> =
                abandoned(&self.known.before).into_iter().filter(is_named).collect();
            let begin = Instant::now();
            while !unused.is_empty() && begin.elapsed() < REMOVED_WITHIN {
                thread::sleep(Duration::from_millis(50));
                unused.retain(|name| number(name).is_some());
            }
            left.extend(unused);
        }
        left.into_iter().collect()
    }
}

impl Watched {
    /// Handles a file of this name that was created or written.
    fn made(&self, name: &str) {
        if !BEFORE_RUNNER.iter().any(|before| runners(name, before).any(|pid| self.is_ours(pid))) {
            return;
        }
        let mut files = lock(&self.files);
        if name.ends_with(".shared") {
            let list = fs::read_to_string(Path::new(DIRECTORY).join(name)).unwrap_or_default();
            let (names, words): (Vec<_>, Vec<_>) = list.lines().partition(|line| !line.contains(['*', ' ']));
            // a name may be reused by other runs
            let listed = names.into_iter().filter_map(|name| Some((name.to_owned(), Some(number(name)?))));
            files.extend(listed);
            lock(&self.words)
                .extend(words.into_iter().flat_map(|line| line.split(' ')).map(ToOwned::to_owned));
        }
        files.insert(name.to_owned(), None);
    }

    fn is_ours(&self, pid: u32) -> bool {
        let mut runners = lock(&self.runners);
        let environment = || fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is = runners.contains(&pid)
            || environment().split(|byte| *byte == 0).any(|one| one == self.mark.as_bytes());
        if is {
            runners.insert(pid);
        }
        is
    }
}

/// Returns the process ids in a name, each after `before` and followed by a `-`.
fn runners(name: &str, before: &str) -> impl Iterator<Item = u32> {
    let ends = name.match_indices(before).map(|(at, _)| &name[at + before.len()..]);
    ends.filter_map(|rest| rest.split_once('-')?.0.parse().ok())
}

/// Returns whether a pattern of a list matches this name.
fn means(word: &str, name: &str) -> bool {
    match word.split_once('*') {
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => word == name,
    }
}

/// Returns all files.
pub fn present() -> Numbers {
    let entries = fs::read_dir(DIRECTORY).expect("shared memory").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| number(&name).map(|number| (name, number))).collect()
}

/// Returns the files that are new and that no process has open or mapped: no living process will remove them. A
/// semaphore is open only for moments; it is in use as long as the file that it guards, which its name contains.
pub fn abandoned(before: &Numbers) -> Vec<String> {
    let mut new = present();
    new.retain(|name, number| before.get(name) != Some(number));
    let used = in_use();
    let guarded = |name: &str| {
        let name = name.strip_prefix("sem.").unwrap_or(name);
        name.strip_suffix("_mutex").unwrap_or(name).to_owned()
    };
    new.retain(|name, is| {
        !used.contains(name) && !used.contains(&guarded(name)) && number(name) == Some(*is)
    });
    new.into_keys().collect()
}

/// Returns the files that any process has open or mapped.
fn in_use() -> BTreeSet<String> {
    let mut paths = Vec::new();
    for process in fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path()) {
        // a file is mapped before it is closed: reading in that order sees it at least once
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let targets = descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
        paths.extend(targets.map(|target| target.to_string_lossy().into_owned()));
        let maps = fs::read(process.join("maps")).unwrap_or_default();
        let maps = String::from_utf8_lossy(&maps);
        paths.extend(maps.lines().filter_map(|line| Some(line[line.find('/')?..].to_owned())));
    }
    let names = paths
        .iter()
        .filter_map(|path| path.strip_prefix(DIRECTORY)?.strip_prefix('/').map(ToOwned::to_owned));
    names.collect()
}

/// Returns the inode of the file of this name.
fn number(name: &str) -> Option<u64> {
    fs::symlink_metadata(Path::new(DIRECTORY).join(name)).ok().map(|data| data.ino())
}

/// Locks a mutex, independent of the failure of another test.
fn lock<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

mod tests {
    use std::{
        fs,
        panic::{AssertUnwindSafe, catch_unwind},
        process::Command,
    };

    use super::{DIRECTORY, abandoned, present, runners};
    use crate::support::{Scene, wait_for};

    /// Returns the failure message if the end of a scene fails.
    fn failure(scene: Scene) -> Option<String> {
        let outcome = catch_unwind(AssertUnwindSafe(|| drop(scene)));
        outcome.err().map(|words| words.downcast_ref::<String>().expect("words").clone())
    }

    #[test]
    fn leftover_file_of_a_process_fails_the_test() {
        let scene = Scene::new();
        let maker = scene.start("sh", &["-c", "set -C; : >/dev/shm/ddsmark-$$-1-left"]);
        let name = format!("ddsmark-{}-1-left", maker.id());
        assert!(maker.end().status.success());
        let error = failure(scene);
        fs::remove_file(format!("{DIRECTORY}/{name}")).expect("the file");
        assert!(error.as_deref().is_some_and(|error| error.contains(&name)), "{error:?}");
    }

    #[test]
    fn leftover_file_of_a_list_fails_the_test() {
        let scene = Scene::new();
        let script = "set -C; : >/dev/shm/any-$$; echo any-$$ >/dev/shm/ddsmark-$$-1.$$.shared; while [ -f wait ]; do sleep 0.01; done; \
                      rm /dev/shm/ddsmark-$$-1.$$.shared";
        fs::write(scene.path("wait"), "").expect("a file");
        let maker = scene.start("sh", &["-c", script]);
        let name = format!("any-{}", maker.id());
        wait_for("the list", || scene.shared_memory().contains(&name).then_some(()));
        fs::remove_file(scene.path("wait")).expect("the file");
        assert!(maker.end().status.success());
        let error = failure(scene);
        fs::remove_file(format!("{DIRECTORY}/{name}")).expect("the file");
        assert!(error.as_deref().is_some_and(|error| error.contains(&name)), "{error:?}");
    }

    #[test]
    fn unused_file_that_matches_a_list_fails_the_test() {
        let scene = Scene::new();
        let script = "set -C; : >/dev/shm/any-$$-left; exec 9>/dev/shm/any-$$-used; \
                      printf 'any-%s-used\\nany-%s-*\\n' $$ $$ >/dev/shm/ddsmark-$$-1.$$.shared; \
                      while [ -f wait ]; do sleep 0.01; done; rm /dev/shm/ddsmark-$$-1.$$.shared /dev/shm/any-$$-used";
        fs::write(scene.path("wait"), "").expect("a file");
        let before = present();
        let maker = scene.start("sh", &["-c", script]);
        let name = |what: &str| format!("any-{}-{what}", maker.id());
        wait_for("the list", || scene.shared_memory().contains(&name("used")).then_some(()));
        let now = abandoned(&before);
        assert!(now.contains(&name("left")) && !now.contains(&name("used")), "{now:?}");
        let name = name("left");
        fs::remove_file(scene.path("wait")).expect("the file");
        assert!(maker.end().status.success());
        let error = failure(scene);
        fs::remove_file(format!("{DIRECTORY}/{name}")).expect("the file");
        assert!(error.as_deref().is_some_and(|error| error.contains(&name)), "{error:?}");
    }

    #[test]
    fn files_of_others_and_removed_files_pass() {
        let scene = Scene::new();
        let ours = scene
            .start("sh", &["-c", "set -C; : >/dev/shm/ddsmark-$$-1-gone; rm /dev/shm/ddsmark-$$-1-gone"]);
        assert!(ours.end().status.success());
        let stranger = "set -C; echo any-$$ >/dev/shm/ddsmark-$$-1.$$.shared; : >/dev/shm/any-$$; echo $$";
        let stranger = Command::new("sh").args(["-c", stranger]).output().expect("a shell");
        let pid = String::from_utf8(stranger.stdout).expect("a number");
        let pid = pid.trim();
        let error = failure(scene);
        for name in [format!("any-{pid}"), format!("ddsmark-{pid}-1.{pid}.shared")] {
            fs::remove_file(format!("{DIRECTORY}/{name}")).expect("the file");
        }
        assert_eq!(error, None);
    }

    #[test]
    fn file_name_contains_the_process_id_of_the_runner() {
        let of = |name: &str| runners(name, "ddsmark-").collect::<Vec<_>>();
        assert_eq!(of("sem.ddsmark-12-3-data"), [12]);
        assert_eq!(of("ddsmark-1-2-of-ddsmark-33-4"), [1, 33]);
        for name in ["ddsmark-12", "ddsmark-x-1", "fast_port7400", "ddsmark--1"] {
            assert!(of(name).is_empty(), "{name}");
        }
        assert_eq!(runners("ddsmark-check-7-delivery", "ddsmark-check-").collect::<Vec<_>>(), [7]);
    }
}
