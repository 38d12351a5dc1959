//! SVG text: elements with fixed rounding, classes and titles.

use std::fmt::Write as _;

use crate::{
    model::Slot,
    palette::Palette,
    style::{attributes, dots, font_size},
    text::{self, escaped},
};

/// Position in px.
pub(crate) type Position = (f64, f64);

/// Position of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// SVG elements, drawn one after another.
#[derive(Debug)]
pub(crate) struct Canvas {
    /// Elements.
    pub body: String,
    /// Width in px.
    pub width: f64,
    /// Colours as attributes; without them, as classes.
    literal: Option<&'static Palette>,
}

impl Canvas {
    /// Creates an empty canvas of a width in px.
    pub fn new(width: f64, literal: Option<&'static Palette>) -> Self {
        Self { body: String::new(), width, literal }
    }

    /// Returns whether the drawing is a narrow one.
    pub fn is_narrow(&self) -> bool {
        self.width < 480.0
    }

    pub fn line(&mut self, from: Position, to: Position, class: &str) {
        self.rule(from, to, class, "");
    }

    /// Draws a line with a tooltip.
    pub fn rule(&mut self, (x1, y1): Position, (x2, y2): Position, class: &str, title: &str) {
        let (x1, y1, x2, y2) = (px(x1), px(y1), px(x2), px(y2));
        self.element("line", &format!("x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\""), class, title);
    }

    /// Draws a rectangle between two opposite corners.
    pub fn rect(&mut self, one: Position, two: Position, class: &str, title: &str) {
        self.element("rect", &between(one, two), class, title);
    }

    /// Draws a rectangle with an opacity of its own.
    pub fn field(&mut self, corners: [Position; 2], class: &str, opacity: f64, title: &str) {
        let opacity = opacity.clamp(0.0, 1.0);
        let place = format!("{} fill-opacity=\"{opacity:.2}\"", between(corners[0], corners[1]));
        self.element("rect", &place, class, title);
    }

    /// Draws a line through points; nothing if there are fewer than two.
    pub fn path(&mut self, points: &[Position], class: &str) {
        if points.len() > 1 {
            self.raw_path(&outline(points), class, "");
        }
    }

    /// Draws an area inside points; nothing if there are fewer than three.
    pub fn area(&mut self, points: &[Position], class: &str) {
        if points.len() > 2 {
            self.raw_path(&format!("{}Z", outline(points)), class, "");
        }
    }

    /// Draws separate vertical lines as one element.
    pub fn verticals(&mut self, lines: impl IntoIterator<Item = (f64, f64, f64)>, class: &str) {
        let mut d = String::new();
        for (x, from, to) in lines {
            write!(d, "M{} {}V{}", px(x), px(from), px(to)).expect("a string grows");
        }
        if !d.is_empty() {
            self.raw_path(&d, class, "");
        }
    }

    /// Draws the shape of a slot with about the radius `r`. Its bounding box has the point in its middle.
    pub fn mark(&mut self, slot: Slot, at: Position, r: f64, class: &str, title: &str) {
        let class = format!("{class} {}", slot.class());
        let (x, y) = at;
        if matches!(slot, Slot::S1 | Slot::Ink) {
            let place = format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", px(x), px(y), px(r));
            self.element("circle", &place, &class, title);
            return;
        }
        let points: Vec<Position> = shape(slot).iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect();
        self.raw_path(&format!("{}Z", outline(&points)), &class, title);
    }

    /// Draws a cross, as for a failure.
    pub fn cross(&mut self, slot: Slot, (x, y): Position, r: f64, title: &str) {
        let (left, right, top, bottom) = (px(x - r), px(x + r), px(y - r), px(y + r));
        let d = format!("M{left} {top}L{right} {bottom}M{right} {top}L{left} {bottom}");
        self.raw_path(&d, &format!("cross {}", slot.class()), title);
    }

    /// Draws an arrow head that points to `tip` from the left (`dx` = -1), the right (1), above or below (`dy`).
    pub fn arrow(&mut self, (x, y): Position, (dx, dy): Position, class: &str) {
        let (back_x, back_y) = (x + 5.0 * dx, y + 5.0 * dy);
        let (side_x, side_y) = (4.0 * dy, 4.0 * dx);
        self.path(&[(back_x + side_x, back_y + side_y), (x, y), (back_x - side_x, back_y - side_y)], class);
    }

    /// Writes a text; it is cut if it is estimated to leave the canvas.
    pub fn text(&mut self, (x, y): Position, anchor: Anchor, class: &str, text: &str) {
        let space = match anchor {
            Anchor::Start => self.width - x,
            Anchor::Middle => 2.0 * x.min(self.width - x),
            Anchor::End => x,
        };
        let text = text::fit(text, font_size(class), space + 1.0);
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let style = self.style(class);
        let (x, y, text) = (px(x), px(y), escaped(&text));
        writeln!(self.body, "<text x=\"{x}\" y=\"{y}\"{style}{anchor}>{text}</text>")
            .expect("a string grows");
    }

    /// Writes lines of text below each other, the first one at a position.
    pub fn lines(&mut self, (x, y): Position, anchor: Anchor, class: &str, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            self.text((x, y + text::LINE * index as f64), anchor, class, line);
        }
    }

    fn raw_path(&mut self, d: &str, class: &str, title: &str) {
        self.element("path", &format!("d=\"{d}\""), class, title);
    }

    fn element(&mut self, name: &str, place: &str, class: &str, title: &str) {
        let style = self.style(class);
        if title.is_empty() {
            writeln!(self.body, "<{name} {place}{style}/>").expect("a string grows");
        } else {
            let title = escaped(title);
            writeln!(self.body, "<{name} {place}{style}><title>{title}</title></{name}>")
                .expect("a string grows");
        }
    }

    fn style(&self, class: &str) -> String {
        let style = match self.literal {
            Some(palette) => attributes(class, palette),
            None => format!(" class=\"{class}\""),
        };
        style + &dots(class)
    }
}

/// Returns the corners of the shape of a slot, for the radius 1 around 0. Their bounding box has 0 in its middle.
fn shape(slot: Slot) -> &'static [Position] {
    match slot {
        Slot::S0 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Slot::S1 | Slot::Ink => &[],
        Slot::S2 => &[(0.0, -1.4), (1.4, 0.0), (0.0, 1.4), (-1.4, 0.0)],
        Slot::S3 => &[(0.0, -1.1), (1.25, 1.1), (-1.25, 1.1)],
        Slot::S4 => &[(0.0, 1.1), (1.25, -1.1), (-1.25, -1.1)],
        Slot::S5 => &[
            (-0.45, -1.4),
            (0.45, -1.4),
            (0.45, -0.45),
            (1.4, -0.45),
            (1.4, 0.45),
            (0.45, 0.45),
            (0.45, 1.4),
            (-0.45, 1.4),
            (-0.45, 0.45),
            (-1.4, 0.45),
            (-1.4, -0.45),
            (-0.45, -0.45),
        ],
        Slot::S6 => &[
            (0.0, -1.5),
            (0.4, -0.5),
            (1.5, -0.4),
            (0.65, 0.3),
            (0.95, 1.5),
            (0.0, 0.85),
            (-0.95, 1.5),
            (-0.65, 0.3),
            (-1.5, -0.4),
            (-0.4, -0.5),
        ],
        Slot::S7 => &[(-1.1, 0.0), (1.1, -1.25), (1.1, 1.25)],
        Slot::S8 => &[(1.1, 0.0), (-1.1, -1.25), (-1.1, 1.25)],
        Slot::S9 => &[(-1.5, -0.6), (1.5, -0.6), (1.5, 0.6), (-1.5, 0.6)],
        Slot::S10 => &[(-1.1, -1.3), (1.1, -1.3), (-1.1, 1.3), (1.1, 1.3)],
        Slot::S11 => &[(-0.6, -1.5), (0.6, -1.5), (0.6, 1.5), (-0.6, 1.5)],
        Slot::S12 => &[(-1.3, -1.1), (1.3, 1.1), (1.3, -1.1), (-1.3, 1.1)],
    }
}

/// Returns the place of a rectangle between two opposite corners.
fn between(one: Position, two: Position) -> String {
    let (x, y) = (tenth(one.0.min(two.0)), tenth(one.1.min(two.1)));
    let (w, h) = (tenth(one.0.max(two.0)) - x, tenth(one.1.max(two.1)) - y);
    format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", px(x), px(y), px(w), px(h))
}

fn outline(points: &[Position]) -> String {
    let mut d = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        write!(d, "{command}{} {}", px(*x), px(*y)).expect("a string grows");
    }
    d
}

fn tenth(value: f64) -> f64 {
    // Callers pass finite values; this is the last place where another could reach the file.
    let value = if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 };
    (value * 10.0).round() / 10.0
}

/// Formats a coordinate with one decimal, without trailing zeros.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{:.1}", tenth(value));
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::LIGHT;

    #[test]
    fn coordinates_have_one_decimal() {
        for (value, text) in [
            (1.0, "1"),
            (1.25, "1.3"),
            (-0.04, "0"),
            (10.05, "10.1"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (1e300, "100000"),
        ] {
            assert_eq!(px(value), text);
        }
    }

    #[test]
    fn elements_have_classes_or_literal_colours() {
        let draw = |literal| {
            let mut canvas = Canvas::new(100.0, literal);
            canvas.mark(Slot::S1, (10.0, 20.0), 3.0, "mk", "a < b");
            canvas.body
        };
        assert_eq!(
            draw(None),
            "<circle cx=\"10\" cy=\"20\" r=\"3\" class=\"mk s1\"><title>a &lt; b</title></circle>\n"
        );
        assert!(draw(Some(&LIGHT)).contains("fill=\"#0b4fb8\" stroke=\"#ffffff\""));
    }
}
