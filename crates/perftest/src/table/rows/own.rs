//! Options that only ddsmark has.

use crate::table::row::{Honouring, Kind, OptionRow, ROW, plain};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "driver",
        kind: Kind::Text("name"),
        v5_1: Some(plain("").addition()),
        v4_3: Some(plain("").addition()),
        honouring: Honouring::Honoured(
            "the middleware to measure: `ddsmark drivers list` shows the installed ones",
        ),
        about: "Driver of the middleware.",
        ..ROW
    },
    OptionRow {
        name: "compat",
        kind: Kind::Choice(&["5.1", "4.3"]),
        v5_1: Some(plain("4.3").addition()),
        v4_3: Some(plain("4.3").addition()),
        honouring: Honouring::Honoured(
            "options, defaults, ranges and rows of that release; also as DDSMARK_PERFTEST_COMPAT",
        ),
        about: "Release to be compatible with.",
        ..ROW
    },
    OptionRow {
        name: "ddsmark-out",
        kind: Kind::Text("directory"),
        v5_1: Some(plain("").addition().of_publishers()),
        v4_3: Some(plain("").addition().of_publishers()),
        honouring: Honouring::Honoured("a result that `ddsmark report` and `ddsmark compare` read"),
        about: "Directory for a result, new or empty; only of publisher 0.",
        ..ROW
    },
    OptionRow {
        name: "ddsmark-numbers",
        v5_1: Some(plain("").addition()),
        v4_3: Some(plain("").addition()),
        honouring: Honouring::Honoured(
            "a number in each column, as the release prints it, for scripts that convert every column. A percentile that the samples do \
             not support has the value of the histogram instead of `n/a`; JSON and the result of `-ddsmark-out` mark it as not supported. \
             Without a value, `nan` instead of `n/a` and `unknown`",
        ),
        about: "Print numbers also where the samples do not support them.",
        ..ROW
    },
];
