//! Completions, man pages and the reference.

use std::fs;

use crate::support::Place;

#[test]
fn completions_are_what_the_shells_understand() {
    let place = Place::new();
    for (shell, word) in
        [("bash", "complete -F"), ("zsh", "#compdef ddsmark"), ("fish", "complete -c ddsmark")]
    {
        let output = place.run(&["generate", "completions", shell]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(word) && text.contains("match-timeout"), "{shell}");
    }
}

#[test]
fn there_is_a_man_page_for_each_command() {
    let place = Place::new();
    assert!(place.run(&["generate", "man", "man"]).status.success());
    let mut pages: Vec<String> = fs::read_dir(place.path("man"))
        .expect("a directory")
        .flatten()
        .map(|page| page.file_name().to_string_lossy().into_owned())
        .collect();
    pages.sort();
    let expected = [
        "-characterize",
        "-compare",
        "-drivers-check",
        "-drivers-info",
        "-drivers-install",
        "-drivers-list",
        "-drivers-versions",
        "-drivers",
        "-recipes-list",
        "-recipes-show",
        "-recipes",
        "-report",
        "-run",
        "-selftest",
        "",
    ];
    assert_eq!(pages, expected.map(|command| format!("ddsmark{command}.1")));
    let page = fs::read_to_string(place.path("man/ddsmark-characterize.1")).expect("a page");
    assert!(
        page.contains(".TH ddsmark\\-characterize") || page.contains(".TH ddsmark-characterize"),
        "{page}"
    );
}

#[test]
fn the_reference_is_markdown() {
    let output = Place::new().run(&["generate", "reference"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("# ") && text.contains("\n## `ddsmark drivers info`\n"), "{text}");
}
