//! YAML of any origin, as producers and as metadata of a bag: a system or metadata, or an error with a hint.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match import::producers(text, "producers.yaml").and_then(import::System::checked) {
        Ok(system) => assert!(system.files().iter().any(|file| file.path == "system.toml")),
        Err(error) => assert!(!error.message.is_empty() && !error.hint.is_empty()),
    }
    match import::metadata(text) {
        Ok(metadata) => assert!(!metadata.files.is_empty()),
        Err(error) => assert!(!error.message.is_empty() && !error.hint.is_empty()),
    }
});
