//! Texts: escaping, and estimates of their width.

use crate::prose::kept_together;

/// Width of an average character in em, on the safe side of the fonts of [`crate::palette::FONT_STACK`].
const NARROW_EM: f64 = 0.62;
/// Width of a capital letter or digit in em.
const WIDE_EM: f64 = 0.66;
/// Width of a character of scripts with square characters in em.
const SQUARE_EM: f64 = 1.05;

/// Returns text that XML and HTML show as it is, in elements and in attributes with either quote.
///
/// Line ends and tabs become spaces. Characters that XML forbids, that control a device or that change the direction
/// of text become U+FFFD.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            c if is_forbidden(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Returns an identifier of XML made of `id`: other characters become `-`.
pub(crate) fn identifier(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let id: String = id.chars().map(safe).collect();
    if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id } else { format!("c{id}") }
}

/// Returns the space in px that a text of `size` px needs at most in common fonts.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| em(c) * size).sum()
}

fn em(c: char) -> f64 {
    match c {
        ' ' | '\u{a0}' | '\u{202f}' | '.' | ',' | ':' | ';' | 'i' | 'j' | 'l' | '|' | '\'' => 0.34,
        'f' | 'r' | 't' | '-' | '(' | ')' => 0.43,
        '%' | 'm' | 'M' | 'W' | 'w' | '@' => 0.95,
        'A'..='Z' | '\u{2190}'..='\u{21ff}' => WIDE_EM + 0.06,
        '0'..='9' | '\u{2212}' | '+' => 0.64,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{ffef}' => SQUARE_EM,
        c if u32::from(c) >= 0x1_0000 => SQUARE_EM,
        c if c.is_ascii() => NARROW_EM,
        _ => WIDE_EM,
    }
}

/// Width of bold text, as a multiple of that of other text.
pub(crate) const BOLD: f64 = 1.12;

/// Returns the text, with an ellipsis in its middle if it needs more than `space` px; nothing if there is no space for
/// a character. Names often differ at their end, so both ends stay.
pub(crate) fn fit(text: &str, size: f64, space: f64) -> String {
    if width(text, size) <= space {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut free = space - width("\u{2026}", size);
    let (mut head, mut tail) = (0, characters.len());
    while head < tail {
        // Two at the start for each one at the end.
        let is_head = head <= 2 * (characters.len() - tail);
        free -= em(characters[if is_head { head } else { tail - 1 }]) * size;
        if free < 0.0 {
            break;
        }
        if is_head { head += 1 } else { tail -= 1 }
    }
    if head == 0 {
        return String::new();
    }
    let [head, tail]: [String; 2] =
        [characters[..head].iter().collect(), characters[tail..].iter().collect()];
    format!("{}\u{2026}{}", head.trim_end(), tail.trim_start())
}

/// Height of a line of a text in px.
pub(crate) const LINE: f64 = 14.0;

/// Divides a text into lines of at most `space` px: behind spaces, but not those between a number and its unit; else behind signs such
/// as hyphens, else anywhere.
pub(crate) fn wrap(text: &str, size: f64, space: f64) -> Vec<String> {
    let text = kept_together(text);
    let mut lines: Vec<String> = vec![String::new()];
    let mut push = |part: &str, is_word: bool| {
        let line = lines.last_mut().expect("there is a line");
        let fits = width(line, size) + width(part.trim_end(), size) <= space;
        let is_start = line.is_empty();
        if fits || (is_start && !is_word) {
            line.push_str(part);
            return true;
        }
        if !is_start && (!is_word || width(part.trim_end(), size) <= space) {
            lines.push(part.to_owned());
            return true;
        }
        false
    };
    for word in text.split_inclusive([' ', '\n', '\t', '\r']) {
        if push(word, true) {
            continue;
        }
        for piece in word.split_inclusive(['-', '/', ',', ':', ';', '_', '=', '+', '&']) {
            if !push(piece, true) {
                let mut letter = [0; 4];
                piece.chars().for_each(|c| _ = push(c.encode_utf8(&mut letter), false));
            }
        }
    }
    lines.iter_mut().for_each(|line| *line = line.trim().to_owned());
    lines.retain(|line| !line.is_empty());
    lines
}

/// Returns each name in at most `most` lines of at most `space` px.
///
/// A longer name has an ellipsis in its middle. Names that would then be alike have their numbers in front.
pub(crate) fn wrap_names(names: &[&str], size: f64, space: f64, most: usize) -> Vec<Vec<String>> {
    let within = |name: &str| {
        let (mut lines, mut room) = (wrap(name, size, space), most as f64 * space);
        while lines.len() > most {
            lines = wrap(&fit(name, size, room), size, space);
            room *= 0.92;
        }
        lines
    };
    let shown: Vec<Vec<String>> = names.iter().map(|name| within(name)).collect();
    let lines = |(index, name): (usize, &&str)| {
        let alike = |other: &(&&str, &Vec<String>)| *other.1 == shown[index];
        let is_alike = names.iter().zip(&shown).filter(alike).any(|(other, _)| other != name);
        // A name that occurs again has the same number.
        let number = 1 + names.iter().position(|other| other == name).unwrap_or(index);
        if is_alike { within(&format!("{number}: {name}")) } else { shown[index].clone() }
    };
    names.iter().enumerate().map(lines).collect()
}

/// Returns the width of the widest line in px.
pub(crate) fn widest<'t>(lines: impl IntoIterator<Item = &'t String>, size: f64) -> f64 {
    lines.into_iter().map(|line| width(line, size)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_characters_are_inert() {
        assert_eq!(
            escaped("<script>alert(\"1\" & '2')</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"
        );
        assert_eq!(
            escaped("a\nb\u{0}\u{1b}[31m\u{202e}\u{ffff}\u{85}"),
            "a b\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(escaped("größe µs ≥ 1 → ok"), "größe µs ≥ 1 → ok");
    }

    #[test]
    fn identifiers_are_plain() {
        assert_eq!(identifier("rtt_64"), "rtt_64");
        assert_eq!(identifier("\"><x"), "c---x");
        assert_eq!(identifier("64 B"), "c64-B");
        assert_eq!(identifier(""), "c");
    }

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        assert_eq!(fit("short", 12.0, 100.0), "short");
        assert_eq!(fit("short", 12.0, 9.0), "");
        let cut = fit("a long name of a series that does not fit", 12.0, 80.0);
        assert_eq!(cut, "a long n\u{2026}fit");
        assert!(width(&cut, 12.0) <= 80.0, "{cut}");
        assert_eq!(wrap("short", 12.0, 100.0), ["short"]);
        assert_eq!(
            wrap("in-flight-16 deadline-10ms", 12.0, 100.0),
            ["in-flight-16", "deadline-10ms"],
            "a space is left out, a hyphen stays"
        );
        assert_eq!(wrap("time-based-filter-10ms", 12.0, 100.0), ["time-based-", "filter-10ms"]);
        assert_eq!(wrap("withoutanybreak", 12.0, 60.0).concat(), "withoutanybreak");
        assert_eq!(wrap("wide", 12.0, 0.0), ["w", "i", "d", "e"], "a line has a letter at least");
        let lines = wrap("one two three four five six seven", 13.0, 90.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 13.0) <= 90.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six seven");
        assert_eq!(wrap("", 13.0, 90.0), Vec::<String>::new());
        let (size, space) = (12.0, width("at a deadline of 10", 12.0));
        assert_eq!(wrap("at a deadline of 10 ms", size, space), ["at a deadline of", "10\u{a0}ms"]);
        assert_eq!(
            wrap("at a deadline of 63\u{202f}000 B", size, space),
            ["at a deadline of", "63\u{202f}000\u{a0}B"]
        );
    }

    #[test]
    fn names_that_are_cut_are_told_apart() {
        let long = |middle: &str| format!("{0} {middle} {0}", "abcdefghij".repeat(20));
        let (one, two) = (long("one"), long("two"));
        let shown = wrap_names(&[&one, &two, "c", &one], 12.0, 80.0, 3);
        assert!(shown[0] != shown[1] && shown[0][0].starts_with("1: ") && shown[1][0].starts_with("2: "));
        assert_eq!((&shown[2], &shown[3]), (&vec!["c".to_owned()], &shown[0]));
        assert!(shown.iter().all(|lines| lines.len() <= 3 && widest(lines, 12.0) <= 80.0), "{shown:?}");
    }
}
