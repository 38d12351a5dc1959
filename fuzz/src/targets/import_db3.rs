//! SQLite file of any origin: see [`crate::checks::check_recording`].

pub fn run(bytes: &[u8]) {
    crate::checks::check_recording(bytes, import::read_db3);
}
