//! Options of the output.

use crate::table::row::{Kind, OptionRow, flag, inverted, key, number, option, plain};

const NO_LOG_LEVEL: (&str, &str) = (
    "drivers leave the messages of the middleware to its configuration",
    "leave it out, or set it in the configuration of the middleware",
);

pub(super) const ROWS: &[OptionRow] = &[
    flag("noPrintIntervals", "Print no rows during the test.")
        .both(plain(""))
        .aliases(&["noPrint"])
        .keys(&[inverted("print intervals")])
        .does("only the summary of each size"),
    option("outputFormat", Kind::Choice(&["csv", "json", "legacy"]), "Format of the output.")
        .v4_3(plain("csv"))
        .instead("leave it out: 5.1 prints its own rows")
        .does("format of the rows; 5.1 has `legacy` only"),
    flag("noOutputHeaders", "Print no headings.").v4_3(plain("")).does("no headings above the rows"),
    option("outputFile", Kind::Text("file"), "File for the rows.")
        .v4_3(plain(""))
        .instead("redirect the output")
        .does("the rows are appended to the file, and not printed"),
    option("latencyFile", Kind::Text("file"), "File for all latencies.")
        .v4_3(plain("").of_publishers())
        .does(
            "every latency is appended to the file: its number, and RTT/2; at most the first 4000000 of each \
             size; only with `-latencyTest`",
        ),
    flag("cpu", "Print the CPU usage.").v4_3(plain("")).does(
        "a column with the CPU time of the process, in percent of all cores; in rows during the test \
             since the row before",
    ),
    flag("showResourceLimits", "Print the limits of queues.")
        .v4_3(plain(""))
        .does("requested and effective limits in the banner"),
    option("verbosity", Kind::Integer("0|1|2|3"), "Amount of messages.")
        .v4_3(number("1", 0, 3))
        .instead("use `-debug`")
        .rejected(NO_LOG_LEVEL),
    flag("debug", "Print all messages.")
        .v5_1(plain(""))
        .keys(&[key("is debug")])
        .instead("use `-verbosity 3`")
        .rejected(NO_LOG_LEVEL),
    flag("cacheStats", "Print the fill of queues.").v4_3(plain("")).rejected((
        "no driver reports it",
        "use `-ddsmark-out DIR`: the result has the counters of the driver",
    )),
    flag("networkCapture", "Capture the packets of the test.")
        .v4_3(plain(""))
        .rejected(("it is a feature of one middleware", "use `tcpdump` beside the test")),
    flag("doNotDropNetworkCapture", "Keep the capture of the packets.")
        .v4_3(plain(""))
        .only_with("networkCapture")
        .rejected(("it is a feature of one middleware", "use `tcpdump` beside the test")),
];
