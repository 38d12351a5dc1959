//! A result as a page.

use charts::prose;
use report::parts::{self, DataTable, NoteList};
use results::{ResultDocument, State};

use crate::{
    answer, figures, fitness, key_figures,
    page::{Page, Words},
    rows,
    scene::{RunWindows, Scene},
    values::LEAST_FOR_INTERVAL,
};

/// Maximum number of comparisons that are a list of sentences; more are a table.
const MOST_VERDICTS: usize = 12;
/// Name of the fact about the design.
const DESIGN: &str = "Design";

/// Returns the page about a result.
#[must_use]
pub fn page(document: &ResultDocument, windows: &RunWindows<'_>) -> Page {
    let scene = Scene::new(document, windows);
    let (sections, omitted) = figures::sections(&scene);
    let question = question(document);
    let (answer, published) = answer::answer(&scene);
    let published = published.map(|sentence| sentence.iter().map(Words::text).collect());
    // The design in full, instead of its short form.
    let facts = parts::facts(document).into_iter().filter(|fact| fact.name != DESIGN);
    let facts = facts.map(|fact| (fact.name, fact.text));
    let conditions = (DESIGN.to_owned(), parts::conditions(document));
    let verdict_rows = parts::verdict_table(document);
    let is_long = verdict_rows.rows.len() > MOST_VERDICTS;
    let lists = [
        parts::failures(document),
        parts::costs(document),
        if is_long { parts::verdicts_in_brief(document) } else { parts::verdicts(document) },
        parts::findings(document),
        parts::warnings(document),
    ];
    Page {
        title: format!("{question} ddsmark, {}", document.experiment.name),
        eyebrow: eyebrow(document),
        question,
        answer,
        fitness: fitness::fitness(document),
        key_figures: key_figures::key_figures(&scene),
        topics: parts::topics_in_brief(document),
        origin: scene.origin.clone(),
        sections,
        omitted,
        notes: lists.into_iter().filter(|list| !list.items.is_empty()).map(typeset).collect(),
        verdicts: is_long.then(|| in_prose(verdict_rows)),
        facts: facts.chain([conditions]).collect(),
        settings: parts::settings_groups(document),
        policies: parts::policies(document),
        links: parts::link_tables(document),
        published: published.into_iter().chain(parts::published(document)).collect(),
        command: parts::command(document),
        cells: parts::tables(document),
        rows: rows::rows(document),
        legend: parts::legend(document),
        footer: format!(
            "Median: of the values of the runs. Interval: 95 % interval of the median, by order statistics, from \
             {LEAST_FOR_INTERVAL} runs on; with fewer, the range from the smallest to the largest run. A verdict covers future \
             runs; a chart and a finding describe these runs."
        ),
    }
}

fn in_prose(table: DataTable) -> DataTable {
    let row = |row: Vec<String>| row.iter().map(|entry| prose(entry)).collect();
    DataTable { rows: table.rows.into_iter().map(row).collect(), ..table }
}

fn typeset(list: NoteList) -> NoteList {
    let items = list.items.into_iter().map(|(text, hint)| (prose(&text), hint));
    NoteList { items: items.collect(), ..list }
}

/// Returns the question of the experiment; without one, a question with its name.
pub(crate) fn question(document: &ResultDocument) -> String {
    match document.experiment.question.trim() {
        "" => format!("What does `{}` show?", document.experiment.name),
        question => question.to_owned(),
    }
}

/// Returns tool, date, hosts and state.
fn eyebrow(document: &ResultDocument) -> Vec<String> {
    let date = parts::date(document.host().started_unix_ns);
    let hosts = match &document.hosts[..] {
        [] => "unknown host".to_owned(),
        [host] => match host.properties.name.as_str() {
            "" => "one host".to_owned(),
            name => format!("one host, {name}"),
        },
        several => parts::count(several.len(), "host"),
    };
    let mut parts = vec![
        format!("{} {} report", document.tool.name, document.tool.version),
        document.experiment.name.clone(),
        date.replace('T', " ").replace('Z', " UTC"),
        hosts,
    ];
    if document.state == State::Interrupted {
        parts.push("interrupted".to_owned());
    }
    parts
}
