//! Writing in memory that a driver lends, with a driver compiled for the test.

use std::{path::Path, process::Command};

use driver_host::{Driver, ParticipantConfig, WriteOutcome, Writer, WriterConfig};

/// Teaching driver with one loan at a time, whose publish is not accepted at every second call. A writer with a loan does not
/// close.
const DRIVER: &str = r#"
    #include <ddsmark/driver.h>
    #include <stddef.h>
    #define ddsmark_driver_entry teaching_entry
    #include "driver.c"
    #undef ddsmark_driver_entry
    #include "loop.c"
    static ddsmark_driver table;
    static uint8_t memory[64];
    static unsigned lent, tries;
    static ddsmark_status loan(ddsmark_writer *w, uint64_t size, uint8_t **out) {
      (void)w;
      if (lent)
        return fail(DDSMARK_ERROR, "%s", "the loan is out");
      if (size == 1)
        return fail(DDSMARK_TIMED_OUT, "%s", "no loan in time");
      lent = 1;
      *out = memory;
      return DDSMARK_OK;
    }
    static ddsmark_status publish(ddsmark_writer *w, uint32_t key, uint8_t *sample, uint64_t size) {
      (void)w, (void)key, (void)sample, (void)size;
      if (++tries % 2)
        return fail(DDSMARK_REFUSED, "%s", "no room");
      lent = 0;
      return DDSMARK_OK;
    }
    static ddsmark_status discard(ddsmark_writer *w, uint8_t *sample) {
      (void)w, (void)sample;
      lent = 0;
      return DDSMARK_OK;
    }
    static ddsmark_status closed(ddsmark_writer *w) {
      return lent ? fail(DDSMARK_ERROR, "%s", "a loan is out") : writer_close(w);
    }
    DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void) {
      table = *teaching_entry();
      table.writer_loan = loan;
      table.writer_publish = publish;
      table.writer_discard = discard;
      table.writer_close = closed;
      return &table;
    }
"#;

/// Executes a test with a writer of the driver.
fn with_writer(test: impl FnOnce(Writer)) {
    let directory = tempfile::tempdir().expect("a directory");
    let [source, library] = ["lends.c", "lends.so"].map(|name| directory.path().join(name));
    std::fs::write(&source, DRIVER).expect("a file");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let status = Command::new("cc")
        .args(["-std=gnu11", "-D_GNU_SOURCE", "-pthread", "-shared", "-fPIC", "-I"])
        .arg(root.join("include"))
        .arg("-I")
        .arg(root.join("drivers/teaching"))
        .arg(&source)
        .arg("-o")
        .arg(&library)
        .status();
    assert!(status.expect("the C compiler runs").success());
    let driver = Driver::load(&library).expect("the driver loads");
    let config =
        ParticipantConfig { domain: 1, run_name: "loans".to_owned(), ..ParticipantConfig::default() };
    let participant = driver.open(&config).expect("a participant");
    let config = WriterConfig {
        topic: "loans".to_owned(),
        max_payload_bytes: 64,
        loans: false,
        ..WriterConfig::default()
    };
    test(participant.writer(&config).expect("a writer"));
    participant.close().expect("closed");
}

/// Writes a sample of this size. Returns the outcome, and how often the sample was completed.
fn write(writer: &Writer, size: usize) -> (WriteOutcome, u32) {
    let mut filled = 0;
    let outcome = writer.write_lent(0, size, |lent| {
        assert_eq!(lent.len(), size);
        filled += 1;
    });
    (outcome.expect("an outcome"), filled)
}

#[test]
fn loan_that_is_not_accepted_is_written_by_the_next_call() {
    with_writer(|writer| {
        for _ in 0..2 {
            assert_eq!(write(&writer, 64), (WriteOutcome::Refused, 1));
            // The driver has no second loan, so this is the first one.
            assert_eq!(write(&writer, 64), (WriteOutcome::Accepted, 1));
        }
        assert_eq!(write(&writer, 1), (WriteOutcome::TimedOut, 0));
        writer.close().expect("closed");
    });
}

#[test]
fn loan_that_is_not_accepted_ends_before_a_loan_of_another_size_and_before_the_close() {
    with_writer(|writer| {
        assert_eq!(write(&writer, 64), (WriteOutcome::Refused, 1));
        assert_eq!(write(&writer, 32), (WriteOutcome::Accepted, 1));
        assert_eq!(write(&writer, 32), (WriteOutcome::Refused, 1));
        writer.close().expect("closed");
    });
}

#[test]
fn loan_that_is_not_accepted_ends_with_a_writer_that_is_dropped() {
    with_writer(|writer| {
        assert_eq!(write(&writer, 64), (WriteOutcome::Refused, 1));
        drop(writer);
    });
}
