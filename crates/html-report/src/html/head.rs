//! Question, answer, fitness of the host, and key figures.

use charts::{key_mark, prose};

use super::{markup::Markup, tables};
use crate::page::{Grade, KeyFigure, KeyFigures, Page, Sentence, Words, class};

/// Writes the head of the page.
pub(super) fn head(out: &mut Markup, page: &Page) {
    out.raw("<header class=\"head\"><div>");
    words(out, &page.eyebrow, &page.question, &page.answer);
    out.raw("</div>\n");
    fitness(out, page);
    out.raw("</header>\n");
}

/// Writes the line above the question, the question and the answer.
pub(super) fn words(out: &mut Markup, eyebrow: &[String], question: &str, answer: &[Sentence]) {
    out.raw("<p class=\"eyebrow\">");
    eyebrow.iter().for_each(|part| out.element("span", "", part));
    out.raw("</p>\n");
    out.element("h1", "", question);
    out.raw("\n<p class=\"answer\">");
    for (index, sentence) in answer.iter().enumerate() {
        if index > 0 {
            out.raw(" ");
        }
        for words in sentence {
            match words {
                Words::Plain(text) => out.code_words(&unbroken(text)),
                Words::Strong(text) => out.element("b", "", &unbroken(text)),
                Words::Name(series) => {
                    out.element("b", &format!(" class=\"name {}\"", series.slot.class()), &series.name);
                }
            }
        }
    }
    out.raw("</p>");
}

/// Returns a text whose numbers stay on a line with their units, and whose dates are not divided.
fn unbroken(text: &str) -> String {
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let is_of_date =
            letter == '-' && before.is_ascii_digit() && letters.peek().is_some_and(char::is_ascii_digit);
        shown.push(if is_of_date { '\u{2011}' } else { letter });
        before = letter;
    }
    prose(&shown)
}

fn fitness(out: &mut Markup, page: &Page) {
    let grade = page.fitness.grade;
    let heading = match grade {
        Grade::Fit => "Host: fit",
        Grade::Care => "Host: fit with care",
        Grade::Unfit => "Host: unfit for small differences",
    };
    out.raw(&format!(
        "<section class=\"fitness {}\" aria-labelledby=\"fitness\"><h2 id=\"fitness\">",
        class(grade)
    ));
    sign(out, grade);
    out.raw(" ");
    out.words(heading);
    out.raw("</h2><ul>");
    for check in &page.fitness.checks {
        let word = match check.grade {
            Grade::Fit => "fit",
            Grade::Care => "with care",
            Grade::Unfit => "unfit",
        };
        out.raw(&format!("<li class=\"{}\">", class(check.grade)));
        sign(out, check.grade);
        out.element("b", "", check.name);
        out.element("span", " class=\"vh\"", &format!(" ({word})"));
        out.raw(" ");
        out.code_words(&check.text);
        out.raw("</li>");
    }
    out.raw("</ul></section>\n");
}

fn sign(out: &mut Markup, grade: Grade) {
    let sign = match grade {
        Grade::Fit => "\u{2713}",
        Grade::Care => "!",
        Grade::Unfit => "\u{2717}",
    };
    out.element("span", " class=\"sign\" aria-hidden=\"true\"", sign);
}

/// Writes the key figures.
pub(super) fn key_figures(out: &mut Markup, page: &Page) {
    let Some(KeyFigures { columns, rows, part }) = &page.key_figures else { return };
    out.raw("<section class=\"keys\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Key figures\">");
    out.raw("<table class=\"key\"><caption class=\"vh\">Key figures</caption><thead><tr><td></td>");
    for column in columns {
        out.raw("<th scope=\"col\">");
        out.words(&column.heading);
        out.element("small", "", &column.unit);
        out.raw("</th>");
    }
    out.raw("</tr></thead><tbody>\n");
    let length = |figure: &KeyFigure| figure.text.chars().count();
    let in_column = |index: usize| rows.iter().filter_map(move |row| row.figures.get(index)?.as_ref());
    let widest: Vec<usize> =
        (0..columns.len()).map(|index| in_column(index).map(length).max().unwrap_or(0)).collect();
    for row in rows {
        let series = &row.series;
        out.raw(&format!("<tr><th scope=\"row\">{} ", charts::sign(series.slot)));
        out.words(&series.name);
        out.element("small", "", &row.detail);
        out.raw("</th>");
        for ((column, figure), widest) in columns.iter().zip(&row.figures).zip(&widest) {
            out.raw("<td data-l=\"");
            out.words(&format!("{}, {}", column.heading, column.unit));
            out.raw("\">");
            match figure {
                Some(figure) => {
                    // The marks of a column begin below each other.
                    let width = format!(" class=\"v\" style=\"min-width:{widest}ch\"");
                    out.element("span", &width, &figure.text);
                    out.raw(&key_mark(figure.estimate, column.range, series.slot));
                    out.element("span", " class=\"r\"", &figure.interval);
                    if !figure.of.is_empty() {
                        out.element("span", " class=\"r\"", &figure.of);
                    }
                }
                None => out.raw("<span class=\"v\">\u{2013}</span>"),
            }
            out.raw("</td>");
        }
        out.raw("</tr>\n");
    }
    out.raw("</tbody></table></div>");
    let note = "Dot: median of the runs, on an axis from 0. Bar: its 95 % interval from 6 runs on, else the range of the runs. Arrow: it goes on.";
    out.element("p", " class=\"note\"", &format!("{note}{part}"));
    out.raw("</section>\n");
}

/// Writes the topics of systems that suffer first.
pub(super) fn topics(out: &mut Markup, page: &Page) {
    let Some(table) = &page.topics else { return };
    out.section("topics", "", "Which topics suffer first?", "Topics");
    tables::of_data(out, "Missed deadlines and response times of topics", table);
    if !table.title.is_empty() {
        out.element("p", " class=\"note\"", &table.title);
    }
    out.section_end();
}

#[cfg(test)]
mod tests {
    use super::unbroken;

    #[test]
    fn dates_and_shares_are_not_divided() {
        assert_eq!(
            unbroken("ring-2 from 2026-11-27, 5.1 % (--pin=-1)"),
            "ring-2 from 2026\u{2011}11\u{2011}27, 5.1\u{a0}% (--pin=-1)"
        );
    }
}
