//! Result directory: problems with writing are found before measuring, and saved parts load even if others are
//! missing.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};
use results::{
    Assembler, Directory, DirectoryError, IntervalLog, ResultDocument, RunState, State, WarningKind,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::sample;

/// Saves the first `runs` runs of the sample experiment. Returns the directory and the expected result.
fn measure(path: &Path, runs: usize) -> (Directory, ResultDocument) {
    let header = sample::header();
    let directory = Directory::create(path, runs).unwrap();
    directory.save_experiment(&header).unwrap();
    let all = sample::runs();
    let state = if runs >= all.len() { State::Complete } else { State::Interrupted };
    let mut assembler = Assembler::new(header);
    for (run, log) in all.into_iter().take(runs) {
        assembler.add(run.clone(), &log.merged());
        directory.save_run(&run, log).unwrap();
    }
    (directory, assembler.document(state))
}

fn temporary() -> (TempDir, PathBuf) {
    let temporary = TempDir::new().unwrap();
    let path = temporary.path().join("result");
    (temporary, path)
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn change(path: &Path, how: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    how(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[test]
fn a_complete_result_reads_back_to_the_last_digit() {
    let (_guard, path) = temporary();
    let (directory, document) = measure(&path, sample::RUNS);
    directory.save_document(&document).unwrap();
    assert_eq!(Directory::load(&path).unwrap(), document);
    assert_eq!(Directory::load(&path.join("result.json")).unwrap(), document);
    assert_eq!(names(&path), ["experiment.json", "logs", "result.json", "runs"], "nothing temporary is left");
    let runs = names(&path.join("runs"));
    assert_eq!(runs.len(), 2 * document.cells.iter().map(|cell| cell.runs.len()).sum::<usize>());
    assert_eq!(runs[..3], ["0001.hlog", "0001.json", "0002.hlog"]);
    assert_eq!(directory.log_path(7, "writer"), path.join("logs/0007-writer.log"));
}

#[test]
fn every_file_has_a_schema_version_and_other_tools_read_the_logs() {
    let (_guard, path) = temporary();
    let (directory, document) = measure(&path, 2);
    directory.save_document(&document).unwrap();
    for file in ["experiment.json", "runs/0001.json", "runs/0002.json", "result.json"] {
        let value: Value = serde_json::from_slice(&fs::read(path.join(file)).unwrap()).unwrap();
        assert_eq!(value["schema_version"], results::SCHEMA_VERSION, "{file}");
    }
    let log = fs::read_to_string(path.join("runs/0001.hlog")).unwrap();
    assert!(log.starts_with("#[Histogram log format version 1.3]\n#ddsmark run 1 cell "), "{log}");
    assert!(log.contains("\n#[StartTime: 1790000001.000 "), "{log}");
}

#[test]
fn result_without_result_file_is_assembled_as_by_the_runner() {
    let (_guard, path) = temporary();
    let (_, document) = measure(&path, sample::RUNS);
    assert_eq!(Directory::load(&path).unwrap(), document);
    assert_eq!(document.state, State::Complete);
}

#[test]
fn result_after_a_crash_loads() {
    let (_guard, path) = temporary();
    let (directory, document) = measure(&path, 5);
    // files of a process that was killed while it saved run 6 and the result
    fs::write(path.join("runs/.0006.json.tmp"), r#"{"schema_version": 1, "num"#).unwrap();
    fs::write(path.join("runs/0006.hlog"), "#[Histogram log").unwrap();
    fs::write(path.join(".result.json.tmp"), "{").unwrap();
    fs::write(directory.log_path(6, "writer"), "last line").unwrap();
    let loaded = Directory::load(&path).unwrap();
    assert_eq!(loaded, document);
    assert_eq!(loaded.state, State::Interrupted);
    assert_eq!(loaded.cells.iter().flat_map(|cell| &cell.runs).count(), 5);
}

#[test]
fn a_result_before_its_first_run_loads() {
    let (_guard, path) = temporary();
    let (_, document) = measure(&path, 0);
    assert_eq!(Directory::load(&path).unwrap(), document);
}

#[test]
fn runs_that_are_newer_than_the_whole_are_not_lost() {
    let (_guard, path) = temporary();
    let (directory, _) = measure(&path, 5);
    let before = Directory::load(&path).unwrap();
    directory.save_document(&before).unwrap();
    let (run, log) = sample::runs().remove(5);
    directory.save_run(&run, log).unwrap();
    let loaded = Directory::load(&path).unwrap();
    assert_eq!(loaded.cells.iter().flat_map(|cell| &cell.runs).count(), 6);
}

#[test]
fn result_file_alone_loads() {
    let (_guard, path) = temporary();
    let (directory, document) = measure(&path, 3);
    directory.save_document(&document).unwrap();
    fs::remove_dir_all(path.join("runs")).unwrap();
    fs::remove_file(path.join("experiment.json")).unwrap();
    assert_eq!(Directory::load(&path).unwrap(), document);
}

#[test]
fn file_with_something_else_is_not_called_damaged() {
    let (_guard, path) = temporary();
    let (directory, document) = measure(&path, 3);
    directory.save_document(&document).unwrap();
    let whole = path.join("result.json");
    let part = fs::read(&whole).unwrap();
    let file = path.join("a file");
    let record = fs::read(path.join("runs/0002.json")).unwrap();
    let others: [&[u8]; 5] = [b"", b"size,rtt\n64,12\n", b"[1, 2]", b"{\"schema_version\": {}}", &record];
    for other in others {
        fs::write(&file, other).unwrap();
        let error = Directory::load(&file).unwrap_err();
        assert!(matches!(&error, DirectoryError::NotAResult { path, .. } if *path == file), "{error}");
        assert!(error.hint().contains("`result.json`"), "{}", error.hint());
    }
    // Half of a result is one that was damaged, whatever its name is.
    fs::write(&file, &part[..part.len() / 2]).unwrap();
    let error = Directory::load(&file).unwrap_err();
    assert!(matches!(error, DirectoryError::Damaged { .. }), "{error}");
}

#[test]
fn compressed_result_is_read() {
    let (_guard, path) = temporary();
    let (directory, document) = measure(&path, 3);
    directory.save_document(&document).unwrap();
    let plain = fs::read(path.join("result.json")).unwrap();
    let file = path.join("result.json.gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&plain).unwrap();
    let compressed = encoder.finish().unwrap();
    fs::write(&file, &compressed).unwrap();
    assert_eq!(Directory::load(&file).unwrap(), document);
    fs::write(&file, &compressed[..compressed.len() / 2]).unwrap();
    let error = Directory::load(&file).unwrap_err();
    assert!(error.to_string().contains("result.json.gz"), "{error}");
}

#[test]
fn damaged_result_file_is_reassembled_with_a_note() {
    let (_guard, path) = temporary();
    let (_, document) = measure(&path, 5);
    fs::write(path.join("result.json"), "{\"schema_version\": 1").unwrap();
    let mut loaded = Directory::load(&path).unwrap();
    let warning = loaded.warnings.pop().unwrap();
    assert_eq!(warning.kind, WarningKind::Incomplete);
    assert!(warning.text.contains("result.json` is damaged"), "{}", warning.text);
    assert_eq!(loaded, document);
}

/// Path of a file, and a function that damages it.
type Damage = (&'static str, fn(&Path));

#[test]
fn a_damaged_record_is_named() {
    let damages: [Damage; 9] = [
        ("runs/0002.json", |path| fs::write(path, "").unwrap()),
        ("runs/0002.json", |path| fs::write(path, "[1, 2]").unwrap()),
        ("runs/0002.json", |path| {
            let whole = fs::read(path).unwrap();
            fs::write(path, &whole[..whole.len() / 2]).unwrap();
        }),
        ("runs/0002.json", |path| change(path, |run| run["number"] = 7.into())),
        ("runs/0002.json", |path| change(path, |run| run["cell"] = "another".into())),
        ("runs/0002.json", |path| {
            change(path, |run| {
                run.as_object_mut().unwrap().remove("state");
            });
        }),
        ("runs/0003.hlog", |path| {
            let whole = fs::read(path).unwrap();
            fs::write(path, &whole[..whole.len() - 40]).unwrap();
        }),
        ("experiment.json", |path| fs::write(path, "{}").unwrap()),
        ("experiment.json", |path| change(path, |header| header["experiment"]["cells"] = "none".into())),
    ];
    for (file, damage) in damages {
        let (_guard, path) = temporary();
        measure(&path, 5);
        damage(&path.join(file));
        let error = Directory::load(&path).unwrap_err();
        let DirectoryError::Damaged { path: named, cause } = &error else { panic!("{file}: {error}") };
        assert_eq!(named, &path.join(file));
        assert!(!cause.is_empty());
        assert!(error.hint().contains("move it away"), "{}", error.hint());
        if file.ends_with(".json") && file.starts_with("runs") {
            // the hint works
            fs::remove_file(path.join(file)).unwrap();
            assert_eq!(Directory::load(&path).unwrap().cells.iter().flat_map(|cell| &cell.runs).count(), 4);
        }
    }
}

#[test]
fn run_without_histograms_keeps_its_values() {
    let (_guard, path) = temporary();
    let (_, whole) = measure(&path, sample::RUNS);
    let victim = whole.cells.iter().find(|cell| cell.latency.contains_key("rtt")).unwrap();
    fs::remove_file(path.join(format!("runs/{:04}.hlog", victim.runs[1].number))).unwrap();
    let loaded = Directory::load(&path).unwrap();
    let cell = loaded.cells.iter().find(|cell| cell.id == victim.id).unwrap();
    assert_eq!(cell.runs, victim.runs);
    // the values of the runs stay; values that need all histograms are unknown
    let rtt = &cell.latency["rtt"];
    assert!(rtt.n == 1200 && rtt.p50_ns.is_some() && rtt.pooled.is_empty(), "{rtt:?}");
    assert!(
        cell.warnings.iter().any(|warning| warning.text.contains("hold 800 values")),
        "{:?}",
        cell.warnings
    );
}

#[test]
fn newer_schema_is_rejected() {
    for file in ["result.json", "experiment.json", "runs/0001.json"] {
        let (_guard, path) = temporary();
        let (directory, document) = measure(&path, 2);
        if file == "result.json" {
            directory.save_document(&document).unwrap();
        }
        // its other fields can be anything
        fs::write(path.join(file), r#"{"schema_version": 4, "new": true}"#).unwrap();
        let error = Directory::load(&path).unwrap_err();
        assert!(
            matches!(&error, DirectoryError::OtherVersion { path: named, found: 4 } if *named == path.join(file))
        );
        let expected = "has schema version 4; this version of ddsmark reads version 3 only";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[test]
fn failed_run_is_saved_without_histograms() {
    let (_guard, path) = temporary();
    let header = sample::header();
    let directory = Directory::create(&path, 1).unwrap();
    directory.save_experiment(&header).unwrap();
    let run = sample::failed(&sample::runs()[0].0);
    directory.save_run(&run, IntervalLog::new()).unwrap();
    assert_eq!(names(&path.join("runs")), ["0001.json"]);
    let loaded = Directory::load(&path).unwrap();
    let found: Vec<_> = loaded.cells.iter().flat_map(|cell| &cell.runs).collect();
    assert_eq!(found, [&run]);
    assert_eq!(found[0].state, RunState::Failed);
}

#[test]
fn value_that_is_not_a_number_is_not_saved() {
    let (_guard, path) = temporary();
    let (directory, _) = measure(&path, 0);
    let (mut run, log) = sample::runs().remove(0);
    run.cpu_ns_per_sample.as_mut().unwrap().reader = f64::NAN;
    let error = directory.save_run(&run, log).unwrap_err();
    assert!(matches!(error, DirectoryError::NotReadable { .. }), "{error}");
    assert!(!path.join("runs/0001.json").exists());
}

#[test]
fn missing_result_is_an_error() {
    let (guard, path) = temporary();
    assert!(matches!(Directory::load(guard.path()), Err(DirectoryError::NoResult { .. })));
    let Err(DirectoryError::Read { path: named, cause }) = Directory::load(&path) else { panic!("it loads") };
    assert_eq!((named, cause.kind()), (path, io::ErrorKind::NotFound));
}

#[test]
fn empty_directory_is_accepted_and_others_are_rejected() {
    let (guard, path) = temporary();
    fs::create_dir(&path).unwrap();
    Directory::create(&path, 1).unwrap();
    let error = Directory::create(&path, 1).unwrap_err();
    assert!(matches!(error, DirectoryError::NotEmpty { .. }), "{error}");
    assert!(error.hint().contains("--out DIR"));
    fs::write(guard.path().join("other"), "mine").unwrap();
    assert!(matches!(Directory::create(guard.path(), 1), Err(DirectoryError::NotEmpty { .. })));
    assert_eq!(names(guard.path()), ["other", "result"], "what was there is untouched");
}

#[test]
fn parents_are_made() {
    let (_guard, path) = temporary();
    Directory::create(&path.join("a/b"), 1).unwrap();
    assert_eq!(names(&path.join("a/b")), ["logs", "runs"]);
}

#[test]
fn a_file_in_place_of_the_directory_is_an_error() {
    let (guard, path) = temporary();
    fs::write(&path, "mine").unwrap();
    for target in [path.clone(), path.join("below")] {
        let error = Directory::create(&target, 1).unwrap_err();
        assert!(matches!(error, DirectoryError::Write { .. }), "{error}");
        assert!(error.to_string().contains(&format!("`{}`", target.display())), "{error}");
    }
    assert_eq!(
        (names(guard.path()), fs::read_to_string(path).unwrap()),
        (vec!["result".to_owned()], "mine".into())
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_system_that_takes_no_directories_is_an_error() {
    // not even root can create a directory there
    for place in ["/proc/ddsmark-result", "/sys/ddsmark-result"] {
        let error = Directory::create(Path::new(place), 1).unwrap_err();
        assert!(matches!(error, DirectoryError::Write { .. }), "{error}");
    }
}

/// Separate file system, unmounted on drop.
struct Mount(TempDir);

impl Mount {
    /// Mounts a tmpfs. Returns `None` and prints the reason if mounting is not permitted; root must be able to
    /// mount.
    fn new(options: &str) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(directory.path())
            .output()
            .map_err(|error| error.to_string());
        let reason = match output {
            Ok(output) if output.status.success() => return Some(Self(directory)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error,
        };
        eprintln!("skipped: no file system can be mounted here: {reason}");
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
        assert!(!(cfg!(target_os = "linux") && root), "root cannot mount: {reason}");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) {
        let status =
            Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.path()).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_read_only_directory_is_found_before_measuring() {
    let Some(mount) = Mount::new("size=4m") else { return };
    fs::create_dir(mount.path().join("empty")).unwrap();
    mount.remount("ro");
    for name in ["new", "empty"] {
        let error = Directory::create(&mount.path().join(name), 1).unwrap_err();
        let DirectoryError::Write { cause, .. } = &error else { panic!("{error}") };
        assert_eq!(cause.kind(), io::ErrorKind::ReadOnlyFilesystem, "{error}");
        assert_eq!(error.hint(), "choose a directory that can be written to with `--out DIR`");
    }
    assert_eq!(names(mount.path()), ["empty"]);
}

#[test]
fn a_full_directory_is_found_before_measuring() {
    let Some(mount) = Mount::new("size=3m") else { return };
    // 100 runs need about 12 MiB; 10 runs fit
    for name in ["new", "empty"] {
        let path = mount.path().join(name);
        if name == "empty" {
            fs::create_dir(&path).unwrap();
        }
        let error = Directory::create(&path, 100).unwrap_err();
        assert!(matches!(error, DirectoryError::NoRoom { .. }), "{error}");
        assert!(error.hint().starts_with("free about 13 MiB there"), "{}", error.hint());
    }
    assert_eq!(names(mount.path()), ["empty"], "what it made is gone again");
    assert_eq!(names(&mount.path().join("empty")), Vec::<String>::new());
    Directory::create(&mount.path().join("new"), 10).unwrap();
    assert_eq!(names(&mount.path().join("new")), ["logs", "runs"], "the probe is gone again");
}

#[test]
fn full_directory_keeps_the_saved_runs() {
    let Some(mount) = Mount::new("size=2m") else { return };
    let path = mount.path().join("result");
    let (directory, _) = measure(&path, 3);
    let before = Directory::load(&path).unwrap();
    let _ = fs::write(mount.path().join("ballast"), vec![1; 4 << 20]);
    let (run, log) = sample::runs().remove(3);
    let error = directory.save_run(&run, log).unwrap_err();
    assert!(
        matches!(&error, DirectoryError::Write { cause, .. } if cause.kind() == io::ErrorKind::StorageFull)
    );
    assert!(error.hint().starts_with("free some room"), "{}", error.hint());
    assert_eq!(Directory::load(&path).unwrap(), before);
    assert!(!names(&path.join("runs")).iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn results_of_the_fuzz_corpus_load() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/result");
    // those with a plan; the others are damaged
    let whole = |path: &PathBuf| fs::read_to_string(path).unwrap().contains("\"experiment\"");
    let paths: Vec<_> =
        fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).filter(whole).collect();
    assert!(paths.len() >= 6, "{paths:?}");
    for path in paths {
        Directory::load(&path).unwrap_or_else(|error| panic!("{error}"));
    }
}
