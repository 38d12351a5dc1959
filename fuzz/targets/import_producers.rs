//! YAML of any origin, as producers and as metadata of a bag: a system or metadata, or an error with a hint.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    fuzz::check_import(import::producers(text, "producers.yaml"));
    match import::metadata(text) {
        Ok(metadata) => assert!(!metadata.files.is_empty()),
        Err(error) => fuzz::check_error(&error),
    }
});
