//! Options of receiving and of threads.

use crate::table::row::{Kind, Limit, Need, OptionRow, flag, key, number, option, plain};

/// Longest time of a receive group.
const DELAY: Limit = Limit { max: 100_000, reason: "a receive group of ddsmark waits at most 100 ms" };
/// Largest receive group.
const GROUP: Limit = Limit { max: 4096, reason: "a receive group of ddsmark has at most 4096 samples" };

pub(super) const ROWS: &[OptionRow] = &[
    flag("useReadThread", "Receive in a thread, not in a callback.")
        .both(plain(""))
        .keys(&[key("use read thread")])
        .needs(Need::Waitset)
        .does(
            "a thread that waits on a waitset, instead of a listener, for data and echoes; all subscribers \
             must receive alike",
        ),
    option("waitsetDelayUsec", Kind::Integer("microseconds"), "Receive in groups, by time.")
        .v5_1(number("100", 0, i64::MAX))
        .v4_3(number("100", 0, 10_000_000))
        .keys(&[key("waitset delay usec")])
        .limit(DELAY)
        .does("longest wait for a group of samples; only with `-useReadThread`"),
    option("waitsetEventCount", Kind::Integer("number"), "Receive in groups, by number.")
        .both(number("5", 1, i64::MAX))
        .keys(&[key("waitset event count")])
        .limit(GROUP)
        .does("samples of a group; only with `-useReadThread`"),
    option("threadPriorities", Kind::Priorities, "Priorities of threads: numbers, or h, n and l.")
        .v4_3(plain(""))
        .does(
            "priorities of SCHED_FIFO, 1 to 99, of the thread that writes and of the thread that receives, \
             with `-useReadThread`; h, n and l are 99, 50 and 1; 0 leaves a thread as it is. Threads of the \
             middleware stay as they are, so the last one is 0",
        ),
    option("threadCPUAffinity", Kind::Text("main:receive:event:database"), "Cores of threads.")
        .v4_3(plain(""))
        .rejected((
            "drivers leave the threads of the middleware on the cores of their process",
            "start the command with `taskset`",
        )),
    flag("asynchronousReceive", "Receive thread of a branch for other middleware.")
        .v4_3(plain(""))
        .rejected(("it is a setting of one middleware", "use `-useReadThread`")),
    flag("loaningSendReceive", "Send and receive with loans.")
        .v4_3(plain(""))
        .rejected(("it is the interface of one middleware", "use `-zeroCopy`")),
];
