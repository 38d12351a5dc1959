//! Options of the output.

use crate::table::row::{Honouring, Kind, OptionRow, ROW, inverted, key, number, plain};

use super::rejected;

const NO_LOG_LEVEL: Honouring = Honouring::Rejected {
    reason: "drivers leave the messages of the middleware to its configuration",
    instead: "leave it out, or set it in the configuration of the middleware",
};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "noPrintIntervals",
        aliases: &["noPrint"],
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[inverted("print intervals")],
        honouring: Honouring::Honoured("only the summary of each size"),
        about: "Print no rows during the test.",
        ..ROW
    },
    OptionRow {
        name: "outputFormat",
        kind: Kind::Choice(&["csv", "json", "legacy"]),
        v4_3: Some(plain("csv")),
        honouring: Honouring::Honoured("format of the rows; 5.1 has `legacy` only"),
        about: "Format of the output.",
        instead: "leave it out: 5.1 prints its own rows",
        ..ROW
    },
    OptionRow {
        name: "noOutputHeaders",
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured("no headings above the rows"),
        about: "Print no headings.",
        ..ROW
    },
    OptionRow {
        name: "outputFile",
        kind: Kind::Text("file"),
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured("the rows are appended to the file, and not printed"),
        about: "File for the rows.",
        instead: "redirect the output",
        ..ROW
    },
    OptionRow {
        name: "latencyFile",
        kind: Kind::Text("file"),
        v4_3: Some(plain("").of_publishers()),
        honouring: Honouring::Honoured(
            "every latency is appended to the file: its number, and RTT/2; at most the first 4000000 of each size; only with \
             `-latencyTest`",
        ),
        about: "File for all latencies.",
        ..ROW
    },
    OptionRow {
        name: "cpu",
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured(
            "a column with the CPU time of the process, in percent of all cores; in rows during the test since the row before",
        ),
        about: "Print the CPU usage.",
        ..ROW
    },
    OptionRow {
        name: "showResourceLimits",
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured("requested and effective limits in the banner"),
        about: "Print the limits of queues.",
        ..ROW
    },
    OptionRow {
        name: "verbosity",
        kind: Kind::Integer("0|1|2|3"),
        v4_3: Some(number("1", 0, 3)),
        honouring: NO_LOG_LEVEL,
        about: "Amount of messages.",
        instead: "use `-debug`",
        ..ROW
    },
    OptionRow {
        name: "debug",
        v5_1: Some(plain("")),
        ini: &[key("is debug")],
        honouring: NO_LOG_LEVEL,
        about: "Print all messages.",
        instead: "use `-verbosity 3`",
        ..ROW
    },
    rejected(
        "cacheStats",
        Kind::Flag,
        plain(""),
        "Print the fill of queues.",
        ("no driver reports it", "use `-ddsmark-out DIR`: the result has the counters of the driver"),
    ),
    rejected(
        "networkCapture",
        Kind::Flag,
        plain(""),
        "Capture the packets of the test.",
        ("it is a feature of one middleware", "use `tcpdump` beside the test"),
    ),
    OptionRow {
        only_with: "networkCapture",
        ..rejected(
            "doNotDropNetworkCapture",
            Kind::Flag,
            plain(""),
            "Keep the capture of the packets.",
            ("it is a feature of one middleware", "use `tcpdump` beside the test"),
        )
    },
];
