//! Whole SVG elements and files.

use std::fmt::Write as _;

use crate::{
    canvas::{Anchor, Canvas, px},
    draw::{self, bar},
    model::{Chart, Estimate, Interval, Scale, Slot, better_words},
    palette::{FONT_STACK, LIGHT},
    scale::{Kind, Map},
    style::embedded,
    text::{escaped, identifier, wrap},
};

/// Space around a stand-alone drawing in px.
const PADDING: f64 = 20.0;

/// Width of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 548 px.
    Wide,
    /// 340 px.
    Narrow,
}

impl Width {
    /// Returns the width in px.
    #[must_use]
    pub const fn px(self) -> f64 {
        match self {
            Self::Wide => 548.0,
            Self::Narrow => 340.0,
        }
    }
}

/// Colours of a stand-alone SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// Light or dark, as the viewer prefers, from an embedded style.
    Preferred,
    /// Light, as literal attributes without any style: for converters to PNG.
    Light,
}

/// Height in px above which a narrow drawing does not fit beside another on a printed page.
const TALL: f64 = 640.0;

/// Draws a chart for a page with [`stylesheet`](crate::stylesheet): a `div` of class `plot` with a wide and a narrow
/// SVG, of which the style shows one. A tall one has the class `tall`, too.
///
/// `id` must differ from that of other charts of the page.
#[must_use]
pub fn plot(chart: &Chart, id: &str) -> String {
    let ((wide, _), (narrow, height)) = (drawn(chart, id, Width::Wide), drawn(chart, id, Width::Narrow));
    let class = if height > TALL { "plot tall" } else { "plot" };
    format!("<div class=\"{class}\">\n{wide}{narrow}</div>\n")
}

/// Draws a chart as one SVG element for a page with [`stylesheet`](crate::stylesheet). Title, subtitle and note are
/// not drawn: they belong around it.
///
/// `id` must differ from that of other charts of the page.
#[must_use]
pub fn svg(chart: &Chart, id: &str, width: Width) -> String {
    drawn(chart, id, width).0
}

/// Returns a chart as an SVG element, and its height in px.
fn drawn(chart: &Chart, id: &str, width: Width) -> (String, f64) {
    let class = match width {
        Width::Wide => "wd",
        Width::Narrow => "nw",
    };
    let id = format!("{}-{class}", identifier(id));
    let mut canvas = Canvas::new(width.px(), None);
    let height = draw::draw(&chart.kind, &mut canvas);
    let open = opening(chart, &id, (width.px(), height), &format!("class=\"chart {class}\""));
    (format!("{open}{}</svg>\n", canvas.body), height)
}

/// Returns the start of an SVG element, with its title and description.
fn opening(chart: &Chart, id: &str, (width, height): (f64, f64), attributes: &str) -> String {
    let (w, h) = (px(width), px(height.ceil()));
    let title = escaped(&chart.title);
    let description = escaped(&chart.description);
    format!(
        "<svg {attributes} viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
         aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{description}</desc>\n"
    )
}

/// Draws a chart as a file of its own, with title, subtitle, note and footer.
#[must_use]
pub fn standalone(chart: &Chart, width: Width, colours: Colours) -> String {
    let literal = (colours == Colours::Light).then_some(&LIGHT);
    let mut body = Canvas::new(width.px(), literal);
    let body_height = draw::draw(&chart.kind, &mut body);
    let total = width.px() + 2.0 * PADDING;
    let mut words = Canvas::new(total, literal);
    let better = chart.better.map_or_else(String::new, |better| format!("{} \u{b7} ", better_words(better)));
    let mut y = lines(&mut words, &chart.title, "head", 17.0, 22.0, 12.0);
    y = lines(&mut words, &format!("{better}{}", chart.subtitle), "sub", 13.0, 18.0, y + 2.0);
    let body_top = y + 14.0;
    y = lines(&mut words, &chart.note, "sub", 13.0, 18.0, body_top + body_height + 2.0);
    y = lines(&mut words, &chart.footer, "foot", 11.0, 15.0, y + 4.0);
    let height = y + 14.0;
    let (style, attributes) = match literal {
        None => (format!("<style>{}</style>\n", embedded()), String::new()),
        Some(_) => (String::new(), format!(" font-family=\"{}\"", escaped(FONT_STACK))),
    };
    let attributes = format!("xmlns=\"http://www.w3.org/2000/svg\"{attributes}");
    let mut file = opening(chart, "chart", (total, height), &attributes);
    let mut background = Canvas::new(total, literal);
    background.rect((0.0, 0.0), (total, height.ceil()), "bg", "");
    let top = px(body_top);
    write!(
        file,
        "{style}{}{}<g transform=\"translate({} {top})\">\n{}</g>\n</svg>\n",
        background.body,
        words.body,
        px(PADDING),
        body.body
    )
    .expect("a string grows");
    file
}

/// Writes a text in lines below `top`, and returns the lower edge of the last one.
fn lines(canvas: &mut Canvas, text: &str, class: &str, size: f64, height: f64, top: f64) -> f64 {
    let mut y = top;
    for line in wrap(text, size, canvas.width - 2.0 * PADDING) {
        y += height;
        canvas.text((PADDING, y), Anchor::Start, class, &line);
    }
    y
}

/// Draws the mark of a series, 14 by 14 px, in front of its name. It is hidden from screen readers.
#[must_use]
pub fn sign(slot: Slot) -> String {
    let mut canvas = Canvas::new(14.0, None);
    canvas.mark(slot, (7.0, 7.0), 4.0, "mk", "");
    let body = canvas.body;
    format!(
        "<svg class=\"chart sw\" viewBox=\"0 0 14 14\" width=\"14\" height=\"14\" aria-hidden=\"true\">\n{body}</svg>"
    )
}

/// Draws a dot with its interval on a line from `range.low` to `range.high`, 96 by 14 px, for a table of key figures.
///
/// It is hidden from screen readers: the table has the numbers. An interval that leaves the range ends in an arrow.
#[must_use]
pub fn key_mark(estimate: Estimate, range: Interval, slot: Slot) -> String {
    let mut canvas = Canvas::new(96.0, None);
    let map = if Kind::Linear.place(range.low).is_some() && Kind::Linear.place(range.high).is_some() {
        Map::between(Kind::Linear, (range.low, range.high), 5.0, 91.0)
    } else {
        Map::new(&Scale::FromZero, [estimate.value], 5.0, 91.0)
    };
    canvas.line((3.0, 7.0), (93.0, 7.0), "g");
    bar(&mut canvas, &map, (estimate.interval, 7.0), ("mci", slot), 3.0);
    if let Some(x) = map.at(estimate.value) {
        canvas.mark(slot, (x, 7.0), 3.6, "mk", "");
    }
    let body = canvas.body;
    format!(
        "<svg class=\"chart mini\" viewBox=\"0 0 96 14\" width=\"96\" height=\"14\" aria-hidden=\"true\">\n{body}</svg>\n"
    )
}
