//! Options that only ddsmark has.

use crate::table::row::{Kind, OptionRow, flag, option, plain};

pub(super) const ROWS: &[OptionRow] = &[
    option("driver", Kind::Text("name"), "Driver of the middleware.")
        .both(plain("").addition())
        .does("the middleware to measure: `ddsmark drivers list` shows the installed ones"),
    option("compat", Kind::Choice(&["5.1", "4.3"]), "Release to be compatible with.")
        .both(plain("4.3").addition())
        .does("options, defaults, ranges and rows of that release; also as DDSMARK_PERFTEST_COMPAT"),
    option("ddsmark-out", Kind::Text("directory"), "Directory for a result, new or empty; only of publisher 0.")
        .both(plain("").addition().of_publishers())
        .does("a result that `ddsmark report` and `ddsmark compare` read"),
    flag("ddsmark-numbers", "Print numbers also where the samples do not support them.")
        .both(plain("").addition())
        .does(
            "a number in each column, as the release prints it, for scripts that convert every column. A \
             percentile that the samples do not support has the value of the histogram instead of `n/a`; JSON \
             and the result of `-ddsmark-out` mark it as not supported. Without a value, `nan` instead of \
             `n/a` and `unknown`",
        ),
];
