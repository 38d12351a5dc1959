//! Classes of marks and texts: rules of a stylesheet, or attributes with literal colours.

use std::fmt::Write as _;

use crate::{
    model::Slot,
    palette::{DARK, FONT_STACK, LIGHT, Palette},
};

/// Halo of text that may lie on marks.
const HALO: &str = "paint-order:stroke;stroke:var(--bg);stroke-width:3.5;stroke-linejoin:round";

/// Classes with their declarations. All properties exist as attributes of SVG.
const RULES: &[(&str, &str)] = &[
    // Frame.
    ("bg", "fill:var(--bg)"),
    ("g", "stroke:var(--grid);stroke-width:1"),
    ("ax", "stroke:var(--axis);stroke-width:1"),
    // Lines.
    ("ln", "fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round"),
    ("thin", "fill:none;stroke:var(--c);stroke-width:1.2"),
    ("hair", "fill:none;stroke:var(--c);stroke-width:0.8;stroke-opacity:0.38;stroke-linejoin:round"),
    ("dash", "stroke-dasharray:5 4"),
    ("law", "fill:none;stroke:var(--c);stroke-width:1.2;stroke-dasharray:9 3"),
    ("ghost", "fill:none;stroke:var(--axis);stroke-width:1.2;stroke-opacity:0.5"),
    ("ref", "stroke:var(--c);stroke-width:1.2;stroke-dasharray:7 3"),
    ("knee", "stroke:var(--c);stroke-width:1.4;stroke-dasharray:2 3"),
    ("lead", "stroke:var(--c);stroke-width:1;stroke-dasharray:1 3"),
    ("zero", "stroke:var(--ink);stroke-width:1"),
    // Intervals.
    ("band", "fill:var(--c);fill-opacity:0.15"),
    ("wh", "fill:none;stroke:var(--c);stroke-width:1.3;stroke-opacity:0.75"),
    ("whk", "fill:none;stroke:var(--ink);stroke-width:1.2"),
    ("ci", "stroke:var(--c);stroke-width:2.6;stroke-linecap:round"),
    ("mci", "stroke:var(--c);stroke-width:3;stroke-opacity:0.45;stroke-linecap:round"),
    ("arr", "fill:none;stroke:var(--c);stroke-width:2"),
    ("stem", "fill:none;stroke:var(--c);stroke-width:1;stroke-opacity:0.5"),
    // Marks.
    ("mk", "fill:var(--c);stroke:var(--bg);stroke-width:1"),
    ("hol", "fill:var(--bg);stroke:var(--c);stroke-width:1.8"),
    ("run", "fill:var(--c);fill-opacity:0.85;stroke:var(--bg);stroke-width:0.8"),
    ("second", "fill:var(--bg);stroke:var(--c);stroke-width:1.2;stroke-opacity:0.6"),
    ("cross", "fill:none;stroke:var(--c);stroke-width:2;stroke-linecap:round"),
    // Areas.
    ("noisy", "fill:var(--noise);fill-opacity:0.45"),
    ("nf", "fill:var(--noise)"),
    ("margin", "fill:var(--axis);fill-opacity:0.22"),
    ("busy", "fill:var(--care)"),
    ("bar", "fill:var(--c)"),
    ("bar2", "fill:var(--c);fill-opacity:0.5"),
    ("bar3", "fill:var(--c);fill-opacity:0.25"),
    ("field", "fill:var(--c)"),
    ("empty", "fill:none;stroke:var(--axis);stroke-width:1"),
    // Texts: ticks, words, small numbers, names, annotations.
    ("t", "fill:var(--muted);font-size:12px"),
    ("w", "fill:var(--ink);font-size:12.5px"),
    ("v", "fill:var(--muted);font-size:11px"),
    ("vh", "fill:var(--muted);font-size:11px;HALO"),
    ("f", "fill:var(--ink);font-size:12px"),
    ("b", "fill:var(--ink);font-size:13px;font-weight:650;HALO"),
    ("n", "fill:var(--c);font-size:13px;font-weight:650;HALO"),
    ("nv", "fill:var(--c);font-size:11.5px;font-weight:650;HALO"),
    ("an", "fill:var(--c);font-size:12px;HALO"),
    ("am", "fill:var(--muted);font-size:12px;HALO"),
    ("head", "fill:var(--ink);font-size:17px;font-weight:650"),
    ("sub", "fill:var(--muted);font-size:13px"),
    ("foot", "fill:var(--muted);font-size:11px"),
];

/// Beginning of a class with the number of dots between two dashes.
pub(crate) const DOTS: &str = "dots-";

/// Slots with a colour of their own.
const SLOTS: [Slot; 6] = [Slot::S0, Slot::S1, Slot::S2, Slot::S3, Slot::S4, Slot::Ink];

/// Returns the stylesheet of a page with charts.
///
/// It defines the colours of [`LIGHT`] and [`DARK`] as custom properties (`--bg`, `--panel`, `--ink`, `--muted`,
/// `--axis`, `--grid`, `--s0` to `--s4`, `--fit`, `--care`, `--unfit`, `--noise`), the light ones also for print; the
/// classes `s0` to `s4` and `ink`, which set `--c`; and all marks inside of `svg.chart`. Of the two drawings in
/// `.plot`, the narrow one is shown below 480 px.
#[must_use]
pub fn stylesheet() -> String {
    let mut css = colours(":root", true);
    css.push_str(
        ".plot{container-type:inline-size;min-width:0}\
         .plot .chart{display:block;width:100%;height:auto;overflow:visible}\
         .plot .wd{max-width:640px}.plot .nw{display:none;max-width:430px}\
         @container(max-width:479px){.plot .wd{display:none}.plot .nw{display:block}}",
    );
    css.push_str(&rules(".chart "));
    css
}

/// Returns the stylesheet inside a stand-alone SVG: light or dark as the viewer prefers.
pub(crate) fn embedded() -> String {
    colours("svg", false) + &rules("")
}

fn colours(root: &str, print: bool) -> String {
    let mut css = format!("{root}{{color-scheme:light dark;{}}}", properties(&LIGHT));
    let dark = properties(&DARK);
    write!(css, "@media(prefers-color-scheme:dark){{{root}{{{dark}}}}}").expect("a string grows");
    if print {
        let light = properties(&LIGHT);
        write!(css, "@media print{{{root}{{color-scheme:light;{light}}}}}").expect("a string grows");
    }
    for slot in SLOTS {
        write!(css, ".{0}{{--c:var(--{0})}}", slot.class()).expect("a string grows");
    }
    css
}

fn properties(palette: &Palette) -> String {
    let all: Vec<String> =
        palette.properties().iter().map(|(name, colour)| format!("--{name}:{colour}")).collect();
    all.join(";")
}

fn rules(scope: &str) -> String {
    let mut css =
        format!("{scope}text{{font-family:{FONT_STACK};font-variant-numeric:tabular-nums lining-nums}}");
    for (class, declarations) in RULES {
        let declarations = declarations.replace("HALO", HALO);
        write!(css, "{scope}.{class}{{{declarations}}}").expect("a string grows");
    }
    css
}

/// Returns the declarations of `classes`, separated by spaces, as attributes with literal colours.
pub(crate) fn attributes(classes: &str, palette: &Palette) -> String {
    let own = SLOTS.into_iter().find(|slot| classes.split(' ').any(|class| class == slot.class()));
    let mut attributes = String::new();
    for class in classes.split(' ') {
        let Some((_, declarations)) = RULES.iter().find(|(name, _)| *name == class) else { continue };
        let declarations = declarations.replace("HALO", HALO);
        for (property, value) in declarations.split(';').filter_map(|declaration| declaration.split_once(':'))
        {
            let value = match value.strip_prefix("var(--").and_then(|name| name.strip_suffix(')')) {
                Some("c") => palette.slot(own.unwrap_or(Slot::Ink)),
                Some(name) => palette
                    .properties()
                    .iter()
                    .find(|(of, _)| *of == name)
                    .map_or(palette.ink, |(_, value)| value),
                // As an attribute, converters know multiples of 100 only.
                None if value == "650" => "700",
                None => value,
            };
            write!(attributes, " {property}=\"{value}\"").expect("a string grows");
        }
    }
    attributes
}

/// Returns the dashes of a class with a number of dots as an attribute; empty for other classes.
pub(crate) fn dots(classes: &str) -> String {
    let number = classes.split(' ').find_map(|class| class.strip_prefix(DOTS)?.parse().ok());
    number.map_or_else(String::new, |dots| format!(" stroke-dasharray=\"9 3{}\"", " 2 3".repeat(dots)))
}

/// Returns the size in px of texts of a class.
pub(crate) fn font_size(class: &str) -> f64 {
    let class = class.split(' ').next().unwrap_or_default();
    let rule = RULES.iter().find(|(name, _)| *name == class).map_or("", |(_, declarations)| declarations);
    let size = rule.split(';').find_map(|declaration| declaration.strip_prefix("font-size:"));
    size.and_then(|size| size.trim_end_matches("px").parse().ok()).unwrap_or(12.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_become_attributes_with_literal_colours() {
        assert_eq!(
            attributes("ln dash s2", &LIGHT),
            " fill=\"none\" stroke=\"#b5560b\" stroke-width=\"2.2\" stroke-linejoin=\"round\" stroke-dasharray=\"5 4\""
        );
        assert_eq!(attributes("t", &DARK), " fill=\"#a3adb8\" font-size=\"12px\"");
        for (class, _) in RULES {
            assert!(!attributes(class, &LIGHT).contains("var("), "{class}");
        }
    }

    #[test]
    fn texts_know_their_size() {
        assert_eq!(font_size("n s1"), 13.0);
        assert_eq!(font_size("v"), 11.0);
    }

    #[test]
    fn the_stylesheet_has_both_palettes_and_requests_nothing() {
        let css = stylesheet();
        for part in ["--s1:#0b4fb8", "--s1:#4f9fff", "@media print", "@container", ".chart .ln{"] {
            assert!(css.contains(part), "{part}");
        }
        assert!(!css.contains("url(") && !css.contains("@import") && !css.contains('<'), "{css}");
    }
}
