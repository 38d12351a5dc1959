//! What the library shows to the dynamic linker.
mod harness;

#[test]
fn only_the_entry_is_exported() {
    assert_eq!(harness::exported(harness::library()), ["ddsmark_driver_entry"]);
}
