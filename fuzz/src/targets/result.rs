//! Result: one that loads can be stored, loads again unchanged, can be assembled from its runs, and can be shown.

use std::path::Path;

use results::{Assembler, Directory, Histograms, ResultDocument, ResultHeader, State};

pub fn run(file: &[u8]) {
    let path = Path::new("result.json");
    let Ok(document) = Directory::parse(path, file) else { return };
    let text = report::json(&document);
    let again = Directory::parse(path, text.as_bytes()).expect("what was written loads");
    assert_eq!(again, document);
    show(document.clone());
    show(assembled(document));
}

fn assembled(document: ResultDocument) -> ResultDocument {
    let ResultDocument { tool, hosts, experiment, drivers, warnings, cells, .. } = document;
    let mut assembler = Assembler::new(ResultHeader::new(tool, hosts, experiment, drivers, warnings));
    for run in cells.into_iter().flat_map(|cell| cell.runs) {
        assembler.add(run, &Histograms::new());
    }
    let state = if assembler.is_complete() { State::Complete } else { State::Interrupted };
    assembler.document(state)
}

fn show(mut document: ResultDocument) {
    document.findings = findings::find(&document);
    let _ = report::terminal(&document, None);
}
