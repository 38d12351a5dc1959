//! Options that only ddsmark has.

use crate::table::row::{Fate, Kind, OptionRow, ROW, plain};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "driver",
        kind: Kind::Text("name"),
        v5_1: Some(plain("").addition()),
        v4_3: Some(plain("").addition()),
        fate: Fate::Honoured("the middleware to measure: `ddsmark drivers list` shows the installed ones"),
        about: "Driver of the middleware.",
        ..ROW
    },
    OptionRow {
        name: "compat",
        kind: Kind::Choice(&["5.1", "4.3"]),
        v5_1: Some(plain("4.3").addition()),
        v4_3: Some(plain("4.3").addition()),
        fate: Fate::Honoured(
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
        fate: Fate::Honoured("a result that `ddsmark report` and `ddsmark compare` read"),
        about: "Directory for a result, new or empty; only of publisher 0.",
        ..ROW
    },
];
