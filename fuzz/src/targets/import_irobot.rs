//! Topology of any origin: a system whose files can be written, or an error with a hint.

use import::{InputText, ProcessPer};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for per in [ProcessPer::Node, ProcessPer::File] {
        let read = import::irobot(&[InputText { name: "topology.json", text }], per, &Default::default());
        crate::checks::check_import(read);
    }
}
