//! Every input of the corpus, and a planted defect that one of them finds.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Runs a target over its corpus, in a process whose memory is limited: a length of gigabytes in an input must not be believed.
fn replay(target: &str, variables: &[(&str, &str)]) -> std::process::Output {
    let limited = ["-c", "ulimit -v 2097152 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fuzz"), target];
    let mut inputs: Vec<PathBuf> = fs::read_dir(corpus().join(target))
        .expect("a corpus")
        .map(|input| input.expect("an input").path())
        .collect();
    inputs.sort_unstable();
    assert!(!inputs.is_empty(), "{target}");
    let mut command = Command::new("sh");
    command.args(limited).args(inputs).envs(variables.iter().copied());
    command.output().expect("sh runs")
}

#[test]
fn no_input_of_the_corpus_fails() {
    for (target, _) in fuzz::TARGETS {
        let output = replay(target, &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{target}: {text}");
    }
}

#[test]
fn planted_defect_fails() {
    let output = replay("header", &[("FUZZ_PLANTED_DEFECT", "1")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("panicked at"), "{text}");
    assert!(text.contains("targets/header.rs"), "{text}");
}

#[test]
fn each_target_has_a_corpus() {
    let folders: BTreeSet<String> = fs::read_dir(corpus())
        .expect("the corpus")
        .map(|folder| folder.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(folders, fuzz::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect());
}
