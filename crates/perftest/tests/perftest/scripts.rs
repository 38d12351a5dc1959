//! Command lines of public scripts, guides and questions about RTI Perftest, and what becomes of each.
//!
//! `scripts.txt` has the options alone: values that a reader has to fill in are filled in.

use std::fmt::Write as _;

use perftest::Generation;

use crate::common::{able, parse, socket, text};

const LINES: &str = include_str!("scripts.txt");

#[test]
fn command_lines_of_scripts_run_or_are_rejected_with_the_reason() {
    let mut list = String::new();
    let (mut quiet, mut warned, mut rejected) = (0, 0, 0);
    for line in LINES.lines() {
        let made = parse(line, Generation::V4_3).and_then(|(mut settings, mut warnings)| {
            let driver = if settings.local.raw_transport { socket() } else { able() };
            warnings.extend(settings.adapt(&driver)?);
            Ok(warnings)
        });
        let _ = writeln!(list, "{line}");
        match made {
            Ok(warnings) if warnings.is_empty() => quiet += 1,
            Ok(warnings) => {
                warned += 1;
                warnings.iter().for_each(|warning| _ = writeln!(list, "  warning: {warning}"));
            }
            Err(error) => {
                rejected += 1;
                text(&error).lines().for_each(|line| _ = writeln!(list, "  {line}"));
            }
        }
    }
    let _ = writeln!(list, "{quiet} run, {warned} run with a warning, {rejected} are rejected");
    insta::assert_snapshot!(list);
}
