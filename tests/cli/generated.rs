//! Man pages, completions and the reference.

use std::fs;

use crate::support::Sandbox;

#[test]
fn generate_share_writes_completions_of_each_shell() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&["generate", "share", "share"]).status.success());
    for (file, word) in [
        ("bash-completion/completions/ddsmark", "complete -F"),
        ("zsh/site-functions/_ddsmark", "#compdef ddsmark"),
        ("fish/vendor_completions.d/ddsmark.fish", "complete -c ddsmark"),
    ] {
        let text = fs::read_to_string(sandbox.path("share").join(file)).expect("a file");
        assert!(text.contains(word) && text.contains("match-timeout"), "{file}: {text}");
    }
}

#[test]
fn generate_share_writes_a_man_page_for_each_command() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&["generate", "share", "new/share"]).status.success());
    let pages = sandbox.path("new/share/man/man1");
    let mut names: Vec<String> = fs::read_dir(&pages)
        .expect("a directory")
        .flatten()
        .map(|page| page.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "-characterize",
        "-compare",
        "-discovery",
        "-drivers-check",
        "-drivers-info",
        "-drivers-install",
        "-drivers-list",
        "-drivers-support",
        "-drivers-versions",
        "-drivers",
        "-hosts-check",
        "-hosts",
        "-import-irobot",
        "-import-producers",
        "-import-rosbag2",
        "-import-table",
        "-import",
        "-lab-down",
        "-lab-list",
        "-lab-up",
        "-lab",
        "-latency",
        "-load",
        "-perftest",
        "-recipes-list",
        "-recipes-show",
        "-recipes",
        "-report",
        "-results",
        "-run",
        "-search",
        "-selftest",
        "-throughput",
        "",
    ];
    assert_eq!(names, expected.map(|command| format!("ddsmark{command}.1")));
    let page = fs::read_to_string(pages.join("ddsmark-characterize.1")).expect("a page");
    for words in ["Print JSON Lines: an object", "Examples:", "Exit status:"] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    assert!(
        page.contains(".TH ddsmark\\-characterize") || page.contains(".TH ddsmark-characterize"),
        "{page}"
    );
}

#[test]
fn generate_share_into_a_file_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    let output = sandbox.run(&["generate", "share", "file"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("hint: choose a writable directory"),
        "{output:?}"
    );
}

#[test]
fn generate_reference_prints_markdown() {
    let output = Sandbox::new().run(&["generate", "reference"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("# ") && text.contains("\n## `ddsmark drivers info`\n"), "{text}");
}
