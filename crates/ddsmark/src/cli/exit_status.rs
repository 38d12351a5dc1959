//! Exit statuses, as the help lists them.

/// Text of the help about exit statuses.
pub const EXIT_STATUS: &str = "\
Exit status:
  0    done
  1    a driver violates its contract, a criterion (`--fail-if`) failed, a cell differs from itself
       (`selftest`), a level changed (`report --fail-on-change`), or a part of a system is not
       applied (`import --strict`)
  2    invalid arguments or unsupported request; nothing was measured
  3    a driver, the host or an agent failed; finished runs are saved
  4    measured, but a consistency check failed, or a criterion is inconclusive
  130  interrupted; finished runs are saved";
