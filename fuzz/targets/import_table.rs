//! Table of topics of any origin: a system whose files can be written, or an error with a hint.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    fuzz::check_import(import::table(text));
});
