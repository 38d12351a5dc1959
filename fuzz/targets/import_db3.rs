//! SQLite file of any origin: a recording whose messages have known topics, or an error with a hint.
#![no_main]

use std::io::Cursor;

use import::{BagChoices, Recording};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut recording = Recording::default();
    match import::read_db3(Cursor::new(bytes), &mut recording) {
        Ok(()) => {
            let topics = recording.topics.len();
            assert!(recording.messages.iter().all(|message| (message.topic as usize) < topics));
            let system = import::rosbag2(&recording, &BagChoices::default(), Vec::new());
            match system.and_then(import::System::checked) {
                Ok(system) => assert!(system.files().iter().any(|file| file.path == "system.toml")),
                Err(error) => assert!(!error.message.is_empty() && !error.hint.is_empty()),
            }
        }
        Err(error) => assert!(!error.message.is_empty() && !error.hint.is_empty()),
    }
});
