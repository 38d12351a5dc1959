//! Reader of drawings: elements, numbers, and the values at positions.

use charts::{Colours, Width, standalone, svg};
use roxmltree::{Document, Node};

/// Checks what holds for every drawing of a chart: well-formed, named, no number that is none, nothing outside of the
/// view box, no script.
pub fn check(chart: &charts::Chart) {
    for width in [Width::Wide, Width::Narrow] {
        check_text(&svg(chart, "c", width));
        for colours in [Colours::Preferred, Colours::Light] {
            check_text(&standalone(chart, width, colours));
        }
    }
}

fn check_text(text: &str) {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    for id in root.attribute("aria-labelledby").expect("names").split(' ') {
        assert!(document.descendants().any(|node| node.attribute("id") == Some(id)), "{id}");
    }
    let view: Vec<f64> = numbers(root.attribute("viewBox").expect("a view box"));
    let known = ["svg", "title", "desc", "style", "g", "line", "rect", "path", "circle", "text"];
    for node in document.descendants().filter(Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{}", node.tag_name().name());
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"), "{}", attribute.name());
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{}={value}", attribute.name());
        }
        let shift =
            node.ancestors().find_map(|parent| parent.attribute("transform")).map_or([0.0, 0.0], |text| {
                let numbers = numbers(text);
                [numbers[0], numbers[1]]
            });
        for (x, y) in positions(node) {
            let (x, y) = (x + shift[0], y + shift[1]);
            let (low, high) = extent(node, x);
            assert!(low >= -2.0 && high <= view[2] + 2.0, "{low} to {high} of {}", &text[node.range()]);
            assert!((-1.0..=view[2] + 1.0).contains(&x), "x = {x} of {}", &text[node.range()]);
            assert!((-1.0..=view[3] + 1.0).contains(&y), "y = {y} of {}", &text[node.range()]);
        }
    }
}

/// Returns where an element at `x` begins and ends: a text has at least the width that narrow letters have.
fn extent(node: Node<'_, '_>, x: f64) -> (f64, f64) {
    let letters =
        node.text().filter(|_| node.tag_name().name() == "text").map_or(0, |text| text.chars().count());
    let width = 3.3 * letters as f64;
    match node.attribute("text-anchor") {
        Some("end") => (x - width, x),
        Some("middle") => (x - width / 2.0, x + width / 2.0),
        _ => (x, x + width),
    }
}

/// Returns the numbers of a text.
fn numbers(text: &str) -> Vec<f64> {
    let parts =
        text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().expect("a number")).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).map_or(0.0, |text| text.parse().expect("a number"))
}

/// Returns the corners of an element.
pub fn positions(node: Node<'_, '_>) -> Vec<(f64, f64)> {
    let get = |name| number(node, name);
    match node.tag_name().name() {
        "line" => vec![(get("x1"), get("y1")), (get("x2"), get("y2"))],
        "rect" => {
            assert!(get("width") >= 0.0 && get("height") >= 0.0, "{node:?}");
            vec![(get("x"), get("y")), (get("x") + get("width"), get("y") + get("height"))]
        }
        "circle" => vec![(get("cx"), get("cy"))],
        "text" => vec![(get("x"), get("y"))],
        "path" => path(node.attribute("d").expect("a path")),
        _ => vec![],
    }
}

/// Returns the points of a path of absolute `M`, `L` and `V`.
fn path(d: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let starts: Vec<usize> = d.match_indices(['M', 'L', 'V']).map(|(at, _)| at).collect();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(d.len());
        let numbers = numbers(&d[start + 1..end]);
        match numbers.as_slice() {
            [x, y] => points.push((*x, *y)),
            [y] => points.push((points.last().expect("a point").0, *y)),
            _ => panic!("{d}"),
        }
    }
    points
}

/// Returns the middle of an element.
pub fn middle(node: Node<'_, '_>) -> (f64, f64) {
    let points = positions(node);
    let fold = |of: fn(&(f64, f64)) -> f64| {
        let values = points.iter().map(of);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        f64::midpoint(low, values.fold(f64::NEG_INFINITY, f64::max))
    };
    (fold(|point| point.0), fold(|point| point.1))
}

/// Returns whether an element has a class.
pub fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|own| own == class))
}

/// Returns the elements of a class.
pub fn of_class<'a, 'i>(document: &'a Document<'i>, class: &str) -> Vec<Node<'a, 'i>> {
    document.descendants().filter(|node| has_class(*node, class)).collect()
}
