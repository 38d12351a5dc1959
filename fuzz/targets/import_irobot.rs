//! Topology of any origin: a system whose files can be written, or an error with a hint.
#![no_main]

use import::{InputText, ProcessPer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for per in [ProcessPer::Node, ProcessPer::File] {
        let read = import::irobot(&[InputText { name: "topology.json", text }], per, &Default::default());
        fuzz::check_import(read);
    }
});
