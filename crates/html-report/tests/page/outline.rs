//! Words of a page as text, for snapshots.

use std::fmt::Write as _;

use html_report::{Page, Words};

/// Returns what a page says, without the values of its charts and rows.
pub fn outline(page: &Page) -> String {
    let mut text = format!("{}\n# {}\n", page.eyebrow.join(" | "), page.question);
    for sentence in &page.answer {
        let words: Vec<String> = sentence
            .iter()
            .map(|words| match words {
                Words::Plain(text) => text.clone(),
                other => format!("*{}*", other.text()),
            })
            .collect();
        let _ = writeln!(text, "{}", words.concat());
    }
    let _ = writeln!(text, "\nhost: {:?}", page.fitness.grade);
    for check in &page.fitness.checks {
        let _ = writeln!(text, "  {:?} {}: {}", check.grade, check.name, check.text);
    }
    if let Some(keys) = &page.key_figures {
        let heads: Vec<String> =
            keys.columns.iter().map(|column| format!("{} ({})", column.heading, column.unit)).collect();
        let _ = writeln!(text, "\nkey figures: {}", heads.join(" | "));
        for row in &keys.rows {
            let figures: Vec<String> = row
                .figures
                .iter()
                .map(|figure| match figure {
                    Some(figure) if figure.of.is_empty() => format!("{} [{}]", figure.text, figure.interval),
                    Some(figure) => format!("{} [{}] {}", figure.text, figure.interval, figure.of),
                    None => "-".to_owned(),
                })
                .collect();
            let _ = writeln!(text, "  {} ({}): {}", row.series.name, row.detail, figures.join(" | "));
        }
    }
    for section in &page.sections {
        let _ = writeln!(text, "\n## {}", section.heading);
        for figure in &section.figures {
            let chart = &figure.chart;
            let _ = writeln!(
                text,
                "[{}] {}\n  {} · {} · {}\n  {}",
                figure.id,
                chart.title,
                chart.better.map_or("", charts::better_words),
                chart.subtitle,
                chart.footer,
                chart.note
            );
        }
    }
    let _ = writeln!(text, "\nomitted: {:?}", page.omitted);
    let lists: Vec<String> =
        page.notes.iter().map(|list| format!("{} ({})", list.heading, list.items.len())).collect();
    let _ = writeln!(text, "notes: {}", lists.join("; "));
    for (name, fact) in &page.facts {
        let _ = writeln!(text, "{name}: {fact}");
    }
    let _ = writeln!(text, "command: {}", page.command.as_deref().unwrap_or("unknown"));
    let heads: Vec<&str> = page.rows.columns.iter().map(|(heading, _)| heading.as_str()).collect();
    let _ = writeln!(text, "rows: {} of {}", page.rows.rows.len(), heads.join(" | "));
    text
}
