//! Tables, each in a scroll container of its own.

use charts::Table;
use report::parts::DataTable;

use super::markup::{Markup, escaped};

/// Number of rows from which a table is text: elements of that many rows make a page slow.
const TEXT_ROWS: usize = 3_000;

/// Writes the table of a chart.
pub(super) fn of_chart(out: &mut Markup, caption: &str, table: &Table) {
    let columns: Vec<(String, bool)> = table.head.iter().map(|head| (head.clone(), true)).collect();
    write(out, caption, &columns, &table.rows, &[]);
}

/// Writes a table of formatted values.
pub(super) fn of_data(out: &mut Markup, caption: &str, table: &DataTable) {
    if table.rows.len() >= TEXT_ROWS {
        text(out, table);
    } else {
        write(out, caption, &table.columns, &table.rows, &[]);
    }
}

/// Writes a table of formatted values that is shown when its summary is selected.
pub(super) fn folded(out: &mut Markup, summary: &str, caption: &str, table: &DataTable) {
    out.raw("<details class=\"more\">");
    out.element("summary", "", summary);
    of_data(out, caption, table);
    out.raw("</details>\n");
}

/// Writes a table of formatted values whose first entries are links to these addresses, if there are such.
pub(super) fn of_links(out: &mut Markup, caption: &str, table: &DataTable, addresses: &[Option<&str>]) {
    write(out, caption, &table.columns, &table.rows, addresses);
}

fn write(
    out: &mut Markup,
    caption: &str,
    columns: &[(String, bool)],
    rows: &[Vec<String>],
    addresses: &[Option<&str>],
) {
    out.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    out.words(caption);
    out.raw("\"><table class=\"rows\">");
    out.element("caption", "", caption);
    out.raw("<thead><tr>");
    for (index, (heading, is_number)) in columns.iter().enumerate() {
        out.element("th", &format!(" scope=\"col\"{}", class(index, *is_number)), heading);
    }
    out.raw("</tr></thead><tbody>\n");
    for (line, row) in rows.iter().enumerate() {
        out.raw("<tr>");
        let address = addresses.get(line).copied().flatten();
        for (index, (entry, (_, is_number))) in row.iter().zip(columns).enumerate() {
            if let (0, Some(address)) = (index, address) {
                out.raw("<th scope=\"row\">");
                out.element("a", &format!(" href=\"{}\"", escaped(address)), entry);
                out.raw("</th>");
            } else if index == 0 {
                out.element("th", " scope=\"row\"", entry);
            } else {
                out.code_element("td", class(index, *is_number), entry);
            }
        }
        out.raw("</tr>\n");
    }
    out.raw("</tbody></table></div>");
}

/// Returns the attribute of a column of texts; numbers are the rule.
const fn class(index: usize, is_number: bool) -> &'static str {
    if index == 0 || is_number { "" } else { " class=\"w\"" }
}

/// Writes a large table as text: one line per row, with tabs between the entries.
fn text(out: &mut Markup, table: &DataTable) {
    out.element("p", " class=\"note\"", "Tab-separated, because there are many rows.");
    out.raw("<pre class=\"scroll\" tabindex=\"0\">");
    let line = |entries: &mut dyn Iterator<Item = &String>| {
        let entries: Vec<String> = entries.map(|entry| entry.replace(['\t', '\n'], " ")).collect();
        entries.join("\t")
    };
    out.words(&line(&mut table.columns.iter().map(|(heading, _)| heading)));
    for row in &table.rows {
        out.raw("\n");
        out.words(&line(&mut row.iter()));
    }
    out.raw("</pre>");
}
