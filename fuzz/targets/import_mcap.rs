//! MCAP file of any origin: see [`fuzz::check_recording`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::check_recording(bytes, import::read_mcap));
