//! YAML of any origin, as producers and as metadata of a bag: a system or metadata, or an error with a hint.

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    crate::checks::check_import(import::producers(text, "producers.yaml"));
    match import::metadata(text) {
        Ok(metadata) => assert!(!metadata.files.is_empty()),
        Err(error) => crate::checks::check_error(&error),
    }
}
