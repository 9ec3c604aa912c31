//! Every plot with its curves and their words: what is measured, and for each curve what keeps it
//! from growing and why it would. Which of the two is said follows from the points.

/// A plot: curves over the same axis.
pub(in super::super) struct Plot {
    /// The name of its file.
    pub(in super::super) file: &'static str,
    pub(in super::super) title: &'static str,
    /// What a point of it is.
    pub(in super::super) measured: &'static str,
    pub(in super::super) along: &'static str,
    pub(in super::super) unit: &'static str,
    pub(in super::super) curves: &'static [Curve],
}

/// One curve, by its name in the figures.
pub(in super::super) struct Curve {
    pub(in super::super) name: &'static str,
    pub(in super::super) title: &'static str,
    /// Whether the figure is of all that stands on the axis, and is told for each.
    pub(in super::super) each: bool,
    /// What keeps it from growing.
    pub(in super::super) stays: &'static str,
    /// Why it grows.
    pub(in super::super) grows: &'static str,
}

/// A curve that need not grow.
pub(super) const fn stays(name: &'static str, title: &'static str, why: &'static str) -> Curve {
    Curve { name, title, each: false, stays: why, grows: "" }
}

/// A curve that may have to.
const fn grows(
    name: &'static str,
    title: &'static str,
    stays: &'static str,
    grows: &'static str,
) -> Curve {
    Curve { name, title, each: false, stays, grows }
}

/// A curve of all that stands on the axis, told for each.
pub(super) const fn each(name: &'static str, title: &'static str, grows: &'static str) -> Curve {
    Curve { name, title, each: true, stays: "", grows }
}

/// All plots, in the order of the page.
pub(in super::super) const PLOTS: &[Plot] = &[
    Plot {
        file: "tools",
        title: "A call by the number of tools",
        measured: "One call through a guard that has so many tools, or one list of them, in \
                   instructions.",
        along: "tools",
        unit: "instructions",
        curves: &[
            stays("tools find", "found", "it is one look into a table"),
            grows(
                "tools unknown",
                "unknown, with suggestions",
                "names that cannot be near are passed over",
                "the letters of every name of about the same length are looked at, and names that could be near compared; here all names have nearly the same letters, which is the worst case",
            ),
            each("tools list", "listed, for each tool", "a list names every tool"),
        ],
    },
    Plot {
        file: "errors",
        title: "Failures recorded in memory",
        measured: "A guard whose tools have failed so often: the median of failures with their \
                   calls, taken by the hundred, and of 25 questions to its journal.",
        along: "failures recorded",
        unit: "µs",
        curves: &[
            stays(
                "errors: one more",
                "one more, with its call",
                "a failure is a count and a place among the newest",
            ),
            stays(
                "errors: summary",
                "summary",
                "it has a line for each tool and type, however many failures there were",
            ),
            stays(
                "errors: query",
                "samples of a tool",
                "the samples are looked through; there are a thousand at most",
            ),
        ],
    },
    Plot {
        file: "hostile-errors",
        title: "Failures recorded, none of the same tool and type",
        measured: "The same where every second call invents a tool and every other an error's \
                   type, each 200 bytes long.",
        along: "failures recorded",
        unit: "µs",
        curves: &[
            stays(
                "hostile errors: one more",
                "one more, with its call",
                "a failure is a count and a place among the newest",
            ),
            stays(
                "hostile errors: summary",
                "summary",
                "names beyond a fixed number of bytes are counted together",
            ),
            stays("hostile errors: query", "samples of a tool", "the samples are bounded"),
        ],
    },
    Plot {
        file: "memory",
        title: "Memory that recorded failures hold",
        measured: "Bytes of the heap that the guard holds more than before the first failure, \
                   counted by the allocator.",
        along: "failures recorded",
        unit: "MiB",
        curves: &[
            stays(
                "errors: memory",
                "40 tools, a few types",
                "the samples and the counts are bounded",
            ),
            stays(
                "hostile errors: memory",
                "each another tool or type",
                "the names that are told apart are bounded in number and in bytes",
            ),
        ],
    },
    Plot {
        file: "records",
        title: "Failures kept in SQLite",
        measured: "The median of nine questions to a file that keeps so many.",
        along: "failures kept",
        unit: "ms",
        curves: &[
            grows(
                "records: groups",
                "what failed, in groups",
                "rows are kept by group and hour, not by failure",
                "there are more hours and runs to add up",
            ),
            stays("records: samples", "samples of a group", "they are found by an index"),
        ],
    },
    Plot {
        file: "text",
        title: "A call by the length of its text",
        measured: "One call whose tool fails with so many bytes of text, or answers with them, in \
                   instructions.",
        along: "bytes of text",
        unit: "instructions",
        curves: &[
            grows(
                "text failure",
                "a failure",
                "only head and tail of a long text are looked at",
                "secrets are removed from a text before it is cut, because a key cut in the middle no longer looks like one; beyond that the text is copied by the tool",
            ),
            grows(
                "text success",
                "a success",
                "what is looked at is bounded",
                "the text is copied by the tool, and looked through for what would hide in it; beyond 100 KiB it is cut",
            ),
        ],
    },
    Plot {
        file: "concurrency",
        title: "A call by how many come at once",
        measured: "One batch of so many calls, in instructions for each of them.",
        along: "calls at once",
        unit: "instructions for each",
        curves: &[each("batch calls", "in one batch", "each call is made")],
    },
    Plot {
        file: "tasks",
        title: "A call by how many tasks make one",
        measured: "So many tasks that make a call each, whose tool waits for a turn of the \
                   runtime: the median of 15 rounds, for each of them.",
        along: "tasks",
        unit: "µs for each",
        curves: &[
            stays("tasks: guarded", "guarded", "no lock is held while a tool runs"),
            stays("tasks: bare", "a task without a call", "for comparison"),
        ],
    },
    Plot {
        file: "upstreams",
        title: "A call by the number of servers behind the guard",
        measured: "One call at a time to the first of so many servers.",
        along: "servers",
        unit: "ms (p50)",
        curves: &[stays(
            "upstreams: p50",
            "p50",
            "a name leads to its server; the others are not asked",
        )],
    },
    Plot {
        file: "upstreams-memory",
        title: "Memory of the guard by the number of servers",
        measured: "What the guard holds in memory with so many servers up.",
        along: "servers",
        unit: "MiB",
        curves: &[grows(
            "upstreams: memory",
            "resident",
            "a server adds little to the program itself",
            "each server has its pipes, its tools and what it said last",
        )],
    },
    Plot {
        file: "history",
        title: "A conversation by its length",
        measured: "A turn with a call in a conversation that has so many messages, or a repair of \
                   all of them, in instructions. What the model is sent is not in it.",
        along: "messages",
        unit: "instructions",
        curves: &[
            each(
                "history repair",
                "repaired, for each message",
                "the whole history is looked through, once: when it comes from elsewhere",
            ),
            stays(
                "history turn",
                "a turn with a call",
                "what was repaired before is not looked at again",
            ),
        ],
    },
];
