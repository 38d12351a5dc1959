//! Options of receiving and of threads.

use crate::table::row::{Honouring, Kind, Limit, Need, OptionRow, ROW, key, number, plain};

use super::rejected;

/// Longest time of a receive group.
const DELAY: Limit = Limit { max: 100_000, reason: "a receive group of ddsmark waits at most 100 ms" };
/// Largest receive group.
const GROUP: Limit = Limit { max: 4096, reason: "a receive group of ddsmark has at most 4096 samples" };

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "useReadThread",
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[key("use read thread")],
        needs: Need::Waitset,
        honouring: Honouring::Honoured(
            "a thread that waits on a waitset, instead of a listener, for data and echoes; all subscribers must receive alike",
        ),
        about: "Receive in a thread, not in a callback.",
        ..ROW
    },
    OptionRow {
        name: "waitsetDelayUsec",
        kind: Kind::Integer("microseconds"),
        v5_1: Some(number("100", 0, i64::MAX)),
        v4_3: Some(number("100", 0, 10_000_000)),
        ini: &[key("waitset delay usec")],
        limit: Some(DELAY),
        honouring: Honouring::Honoured("longest wait for a group of samples; only with `-useReadThread`"),
        about: "Receive in groups, by time.",
        ..ROW
    },
    OptionRow {
        name: "waitsetEventCount",
        kind: Kind::Integer("number"),
        v5_1: Some(number("5", 1, i64::MAX)),
        v4_3: Some(number("5", 1, i64::MAX)),
        ini: &[key("waitset event count")],
        limit: Some(GROUP),
        honouring: Honouring::Honoured("samples of a group; only with `-useReadThread`"),
        about: "Receive in groups, by number.",
        ..ROW
    },
    OptionRow {
        name: "threadPriorities",
        kind: Kind::Priorities,
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured(
            "priorities of SCHED_FIFO, 1 to 99, of the thread that writes and of the thread that receives, with `-useReadThread`; h, n \
             and l are 99, 50 and 1; 0 leaves a thread as it is. Threads of the middleware stay as they are, so the last one is 0",
        ),
        about: "Priorities of threads: numbers, or h, n and l.",
        ..ROW
    },
    rejected(
        "threadCPUAffinity",
        Kind::Text("main:receive:event:database"),
        plain(""),
        "Cores of threads.",
        (
            "drivers leave the threads of the middleware on the cores of their process",
            "start the command with `taskset`",
        ),
    ),
    rejected(
        "asynchronousReceive",
        Kind::Flag,
        plain(""),
        "Receive thread of a branch for other middleware.",
        ("it is a setting of one middleware", "use `-useReadThread`"),
    ),
    rejected(
        "loaningSendReceive",
        Kind::Flag,
        plain(""),
        "Send and receive with loans.",
        ("it is the interface of one middleware", "use `-zeroCopy`"),
    ),
];
