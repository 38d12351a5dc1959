//! Table of topics of any origin: a system whose files can be written, or an error with a hint.

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    crate::checks::check_import(import::table(text));
}
