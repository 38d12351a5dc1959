//! Table of topics of any origin: a system whose files can be written, or an error with a hint.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match import::table(text).and_then(import::System::checked) {
        Ok(system) => assert!(system.files().iter().any(|file| file.path == "system.toml")),
        Err(error) => assert!(!error.message.is_empty() && !error.hint.is_empty()),
    }
});
