//! Names and texts that try to be markup.

use std::collections::BTreeSet;

use experiment::Workload;
use html_report::Colours;
use results::{Warning, WarningKind};

use crate::{judged, page, sample};

pub const HOSTILE: &str =
    "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u{202e}\u{1b}]]>--><style>*{}";

#[test]
fn hostile_names_are_inert() {
    let mut document = judged(sample::document());
    let driver = format!("evil{HOSTILE}");
    for cell in &mut document.cells {
        if cell.factors.driver == "dds" {
            cell.factors.driver.clone_from(&driver);
        }
        cell.warnings.push(Warning::new(WarningKind::Loss, HOSTILE).with_hint(HOSTILE));
        cell.settings.entry("writer".to_owned()).or_default().insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    }
    let description = document.drivers.remove("dds").expect("the sample has it");
    document
        .drivers
        .insert(driver, experiment::DriverDescription { middleware: HOSTILE.to_owned(), ..description });
    document.experiment.name = HOSTILE.to_owned();
    document.experiment.question = HOSTILE.to_owned();
    document.experiment.notes.push(HOSTILE.to_owned());
    document.hosts[0].properties.name = HOSTILE.to_owned();
    document.hosts[0].properties.cpu = Some(HOSTILE.to_owned());
    document.tool.command_line.push(HOSTILE.to_owned());
    document.warnings.push(Warning::new(WarningKind::Host, HOSTILE).with_hint(HOSTILE));
    document.findings.iter_mut().for_each(|finding| finding.text = format!("{HOSTILE}. "));
    let page = page(&document);
    let html = html_report::html(&page);
    assert!(!html.contains("<script>alert") && !html.contains("<img"), "a name became markup");
    assert!(!html.contains('\u{202e}') && !html.contains('\u{1b}'));
    let text = well_formed(&html);
    let parsed = roxmltree::Document::parse_with_options(&text, options()).expect("well-formed");
    let elements = |name: &str| parsed.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((elements("script"), elements("style"), elements("img")), (1, 2, 0));
    let handlers = parsed
        .descendants()
        .flat_map(|node| node.attributes().map(|attribute| attribute.name().to_owned()).collect::<Vec<_>>());
    assert_eq!(handlers.filter(|name| name.starts_with("on")).count(), 0);
    for colours in [Colours::Preferred, Colours::Light] {
        for (name, svg) in html_report::drawings(&page, colours) {
            assert!(!svg.contains("<script"), "{name}");
            roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// Returns the ids of a page, each of which occurs once.
pub fn unique_ids<'p>(parsed: &'p roxmltree::Document<'_>) -> BTreeSet<&'p str> {
    let ids: Vec<&str> = parsed.descendants().filter_map(|node| node.attribute("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "ids are unique");
    unique
}

#[test]
fn page_is_well_formed_and_requests_nothing() {
    let mut document = judged(sample::document());
    document.cells.retain(|cell| cell.factors.workload == Workload::Latency);
    let html = html_report::html(&page(&document));
    let text = well_formed(&html);
    let parsed = roxmltree::Document::parse_with_options(&text, options()).expect("well-formed");
    let ids = unique_ids(&parsed);
    for node in parsed.descendants() {
        for attribute in node.attributes() {
            if ["src", "href", "action", "data", "poster"].contains(&attribute.name()) {
                assert!(attribute.value().starts_with('#'), "{}", attribute.value());
            }
        }
        if node.has_tag_name("svg") && node.attribute("aria-hidden").is_none() {
            assert_eq!(node.attribute("role"), Some("img"));
            let child = |name| node.children().any(|child| child.tag_name().name() == name);
            assert!(child("title") && child("desc"), "a drawing has a title and a description");
        }
        if node.has_tag_name("table") {
            assert!(node.children().any(|child| child.has_tag_name("caption")));
        }
        if node.has_tag_name("th") {
            assert!(node.attribute("scope").is_some());
        }
        if let Some(target) = node.attribute("href") {
            assert!(ids.contains(&target[1..]), "{target} is on the page");
        }
    }
    for word in ["@import", "url(", "http://", "https://"] {
        let found = text.replace("http://www.w3.org/", "");
        assert!(!found.contains(word), "{word}");
    }
    assert!(html.contains("default-src 'none'") && html.contains("script-src 'sha256-"));
}

/// Returns a page as XML: the script and the styles have no markup, and are left out.
pub fn well_formed(html: &str) -> String {
    let mut text = html.to_owned();
    for name in ["script", "style"] {
        let (begin, end) = (format!("<{name}"), format!("</{name}>"));
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(start) = rest.find(&begin) {
            let (before, from) = rest.split_at(start);
            let open = from.find('>').expect("a tag ends") + 1;
            let close = from.find(&end).expect("an element ends");
            out.push_str(before);
            out.push_str(&from[..open]);
            rest = &from[close..];
            // The end tag itself, so that the search goes on behind it.
            out.push_str(&rest[..end.len()]);
            rest = &rest[end.len()..];
        }
        out.push_str(rest);
        text = out;
    }
    text
}

pub fn options<'o>() -> roxmltree::ParsingOptions<'o> {
    roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() }
}
