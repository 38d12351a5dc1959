//! Writes all types of charts, with synthetic data, as one HTML page, and each as SVG files beside it.
//!
//! Usage: `cargo run -p charts --example gallery -- [DIRECTORY]`; the directory is `target/charts` by default.

mod samples;

use std::{fmt::Write as _, fs, io, path::PathBuf};

use charts::{
    Chart, Colours, Width, better_words, escaped, palette::FONT_STACK, plot, standalone, stylesheet, table,
};

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/charts"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Charts</title>\
         <style>{}body{{margin:0 auto;max-width:1264px;padding:0 32px;background:var(--bg);color:var(--ink);\
         font:16px/1.5 {FONT_STACK}}}\
         .grid{{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:24px 40px}}\
         figure{{margin:0;min-width:0}}h2{{font-size:17px;line-height:1.3;margin:0 0 4px}}\
         p{{font-size:13px;color:var(--muted);margin:4px 0 10px}}table{{font-size:12px;border-collapse:collapse}}\
         td,th{{padding:2px 10px 2px 0;text-align:right}}.scroll{{overflow-x:auto}}</style></head><body>\
         <h1>Charts with synthetic data</h1><div class=\"grid\">\n",
        stylesheet()
    );
    for (id, chart) in samples::all() {
        page.push_str(&figure(id, &chart));
        for (name, width) in [("wide", Width::Wide), ("narrow", Width::Narrow)] {
            for (colours, suffix) in [(Colours::Preferred, ""), (Colours::Light, "-light")] {
                let file = directory.join(format!("{id}-{name}{suffix}.svg"));
                fs::write(file, standalone(&chart, width, colours))?;
            }
        }
    }
    page.push_str("</div></body></html>\n");
    let file = directory.join("gallery.html");
    fs::write(&file, page)?;
    println!("{}", file.display());
    Ok(())
}

fn figure(id: &str, chart: &Chart) -> String {
    let better =
        chart.better.map_or_else(String::new, |better| format!("<b>{}</b> \u{b7} ", better_words(better)));
    let mut figure = format!(
        "<figure><figcaption><h2>{}</h2><p>{better}{}</p></figcaption>{}<p>{}</p><details><summary>Table</summary>\
         <div class=\"scroll\"><table><tr>",
        escaped(&chart.title),
        escaped(&chart.subtitle),
        plot(chart, id),
        escaped(&chart.note)
    );
    let table = table(chart);
    for cell in &table.head {
        write!(figure, "<th>{}</th>", escaped(cell)).expect("a string grows");
    }
    for row in &table.rows {
        figure.push_str("</tr>\n<tr>");
        for cell in row {
            write!(figure, "<td>{}</td>", escaped(cell)).expect("a string grows");
        }
    }
    figure.push_str("</tr></table></div></details></figure>\n");
    figure
}
