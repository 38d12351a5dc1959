//! Checks that several targets share.

use std::{io::Cursor, path::Path};

use import::{BagChoices, ImportError, Recording, System};

/// Asserts that a source became a system whose files can be written, or an error with a hint.
pub(crate) fn check_import(read: Result<System, ImportError>) {
    match read.and_then(System::checked) {
        Ok(system) => assert!(system.files().iter().any(|file| file.path == "system.toml")),
        Err(error) => check_error(&error),
    }
}

/// Asserts that an error says what is wrong and what to do.
pub(crate) fn check_error(error: &ImportError) {
    assert!(!error.message.is_empty() && !error.hint.is_empty());
}

/// Asserts that a file of a bag became a recording whose messages have known topics, or an error with a hint.
pub(crate) fn check_recording<'b>(
    bytes: &'b [u8],
    read: impl Fn(Cursor<&'b [u8]>, &mut Recording) -> Result<(), ImportError>,
) {
    let mut recording = Recording::default();
    match read(Cursor::new(bytes), &mut recording) {
        Ok(()) => {
            let topics = recording.topics.len();
            assert!(recording.messages.iter().all(|message| (message.topic as usize) < topics));
            recording.complete_alone(Path::new("bag_0.mcap"));
            check_import(import::rosbag2(&recording, &BagChoices::default(), Vec::new()));
        }
        Err(error) => check_error(&error),
    }
}
