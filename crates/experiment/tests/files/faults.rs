//! Errors in a file and in changes to it, with their positions.

use experiment::Override;

use crate::{SMALL, parts, planned, rejected, source, with};

#[test]
fn error_has_the_position_of_the_wrong_value() {
    let cases: &[(&str, &[&str], &str, &str, &str)] = &[
        ("x = ", &[], "f.toml:7:4: ", "", "TOML"),
        ("sise = 64", &[], "f.toml:7:1: unknown key `sise`", "sise", "did you mean `size`?"),
        (
            "[design]\nduration = \"1s\"",
            &[],
            "f.toml:8:1: unknown key `duration`",
            "duration",
            "did you mean `measure`?",
        ),
        (
            "receive = \"polled\"",
            &[],
            "f.toml:7:11: `polled` is not valid for `receive`",
            "\"polled\"",
            "did you mean `polling`?",
        ),
        ("batch_bytes = [0, \"8x\"]", &[], "f.toml:7:19: ", "\"8x\"", "write a size such as"),
        ("batch_bytes = \"8x\"", &[], "f.toml:7:15: ", "\"8x\"", "write a size such as"),
        ("batch_bytes = -1", &[], "f.toml:7:15: ", "-1", "write a size such as"),
        (
            "receive = [\"waitset\", \"waitset\"]",
            &[],
            "f.toml:7:23: way to receive `waitset` is given twice",
            "\"waitset\"",
            "once",
        ),
        (
            "receive = \"polling\"",
            &[],
            "f.toml:7:11: driver `dds` cannot receive by polling",
            "\"polling\"",
            "available: waitset",
        ),
        (
            "transport = \"pigeon\"",
            &[],
            "f.toml:7:13: driver `dds` has no transport `pigeon`",
            "\"pigeon\"",
            "available: udp4, shm",
        ),
        ("profile = \"x\"", &[], "f.toml:7:11: profile `x` not found", "\"x\"", "[profiles.NAME]"),
        (
            "exclude = [{ size = 33 }]",
            &[],
            "f.toml:7:12: this exclude matches no cell: no cell has size 33",
            "{ size = 33 }",
            "values of the cells: 32, 4096",
        ),
        ("exclude = [{ driver = \"dds\" }]", &[], "f.toml: no cell is left to measure", "", "exclude less"),
        (
            "[design]\nbaseline = { size = 33 }",
            &[],
            "f.toml:8:12: the baseline matches no cell: no cell has size 33",
            "{ size = 33 }",
            "values of the cells: 32, 4096",
        ),
        (
            "[design]\nblocks = 0",
            &[],
            "f.toml:8:10: 0 runs of each cell measure nothing",
            "0",
            "use 1 or more",
        ),
        (
            "[design]\nblocks = 6\nprecision = \"2%\"",
            &[],
            "f.toml:8:10: `blocks` and `precision` are both given",
            "6",
            "remove one",
        ),
        ("[design]\npilot = 5", &[], "f.toml:8:9: `pilot` has no effect without", "5", "add `precision`"),
        ("[design]\nprecision = \"2\"", &[], "f.toml:8:13: ", "\"2\"", "write a share in percent"),
        (
            "[design]\nmeasure = \"1ms\"",
            &[],
            "f.toml:8:11: the measured time of 0.001 s is out of range",
            "\"1ms\"",
            "20 ms",
        ),
        (
            "[design]\nbudget = \"10s\"",
            &[],
            "f.toml:8:10: 12 runs would take about 18s 760ms, more than the budget of 10s",
            "\"10s\"",
            "budget",
        ),
        ("[design]\npin = \"0\"", &[], "f.toml:8:7: ", "\"0\"", "0-3,4-7"),
        ("[design]\ndomain = 233", &[], "f.toml:8:10: domain 233 is out of range", "233", "from 0 to 232"),
        (
            "[design]\ndomain = 42\nduet = true",
            &[],
            "f.toml:8:10: `duet` and `domain` are both given",
            "42",
            "remove one",
        ),
        (
            "[limits]\nmatch = \"0s\"",
            &[],
            "f.toml:8:9: the limit of match of 0 s is out of range",
            "\"0s\"",
            "1 ms",
        ),
        (
            "[qos]\ndeadline = \"1s\"",
            &[],
            "f.toml:8:12: driver `dds` does not support policy deadline",
            "\"1s\"",
            "drivers info dds",
        ),
        ("[qos]\ndeadline = 5", &[], "f.toml:8:12: `5` has no unit", "5", "infinite"),
        (
            "[qos]\nhistory_depth = 5",
            &[],
            "f.toml:8:17: `history_depth = 5` has no effect without keep_last",
            "5",
            "keep_last",
        ),
        (
            "[qos]\nhistory = \"keep_last\"\nhistory_depth = 5\nmax_samples = 4",
            &[],
            "f.toml:9:17: ",
            "5",
            "2.2.3.18",
        ),
        ("[qos]\nmax_samples = 0", &[], "f.toml:8:15: `max_samples = 0` is out of range", "0", "-1"),
        (
            "[qos]\nservice_history_depth = 5",
            &[],
            "f.toml:8:25: `service_history_depth = 5` has no effect without keep_last",
            "5",
            "service_history = ",
        ),
        (
            "[qos]\nservice_max_samples = 4\nservice_max_samples_per_instance = 5",
            &[],
            "f.toml:9:36: `service_max_samples_per_instance = 5` is more than `service_max_samples = 4`",
            "5",
            "2.2.3.19",
        ),
        (
            "[options.dds]\nwidth = 1",
            &[],
            "f.toml:8:1: driver `dds` has no option `width`",
            "width",
            "available: depth",
        ),
        (
            "[options.other]\ndepth = 1",
            &[],
            "f.toml:7:10: an option was given for driver `other`",
            "other",
            "add it to `driver`",
        ),
        (
            "",
            &["factors.sise=64"],
            "--set factors.sise=64: unknown key `sise`",
            "sise",
            "did you mean `size`?",
        ),
        ("", &["factors.size=64,15"], "--set factors.size=64,15: size 15 is too small", "15", "16 or more"),
        (
            "",
            &["design.seed=7", "factors.size=65KiB"],
            "--set factors.size=65KiB: size 66560 is too large",
            "65KiB",
            "65507",
        ),
        ("", &["design.blocks=many"], "--set design.blocks=many: ", "many", "write a whole number"),
        ("", &["nonsense"], "--set nonsense: not KEY=VALUE", "", "factors.size=64,1024"),
        ("", &["a..b=1"], "--set a..b=1: no key before `=`", "", "design.blocks"),
    ];
    for &(more, sets, error, marked, hint) in cases {
        let found = rejected(&with(&format!("{more}\n")), sets);
        assert!(found.0.starts_with(error), "{more} {sets:?}: {found:?}");
        assert!(marked.is_empty() || found.1 == marked, "{more} {sets:?}: {found:?}");
        assert!(found.2.contains(hint), "{more} {sets:?}: {found:?}");
    }
    let (error, marked, _) = rejected("workload = \"latency\"\n", &[]);
    assert_eq!((error.as_str(), marked.as_str()), ("f.toml: `question` is missing", ""));
}

#[test]
fn too_many_cells_are_rejected_before_expansion() {
    let sizes: Vec<String> = (16..6_000).map(|size| size.to_string()).collect();
    let (error, ..) = rejected(SMALL, &[&format!("factors.size={}", sizes.join(","))]);
    assert_eq!(error, "f.toml: 5984 cells are more than 5000");
    let (error, ..) = rejected(SMALL, &["design.blocks=100000"]);
    assert_eq!(error, "--set design.blocks=100000: 200000 runs are more than 100000");
}

/// Errors of values say what was given, for what, and what is expected there, not the types of the program.
#[test]
fn value_of_another_kind_is_rejected_in_plain_words() {
    let list = "docs/reference/experiment-file.md";
    let in_file: &[(&str, &str, &str, &str)] = &[
        ("[design]\npin = 0", "`0` is not valid for `pin`", "0", "write `none`, `auto`, or cores"),
        ("[design]\npin = true", "`true` is not valid for `pin`", "true", "such as `0,1`"),
        (
            "[design]\nblocks = \"x\"",
            "`x` is not valid for `blocks`",
            "\"x\"",
            "a whole number from 0 on, such as `3`",
        ),
        ("[design]\nblocks = -5", "`-5` is not valid for `blocks`", "-5", "a whole number from 0 on"),
        ("[design]\nseed = 1.5", "`1.5` is not valid for `seed`", "1.5", "a whole number from 0 on"),
        ("[design]\nkeep_awake = 3", "`3` is not valid for `keep_awake`", "3", "write `true` or `false`"),
        ("[design]\nthreads = 5", "this value is not valid for `threads`", "5", list),
        ("[design]\nmeasure = true", "`true` is not valid for `measure`", "true", "such as `\"800ms\"`"),
        ("[limits]\nmatch = [1]", "a list is not valid for `match`", "[1]", "a time with its unit"),
        ("receive = 5", "`5` is not valid for `receive`", "5", "use waitset, polling"),
        ("receive = [\"waitset\", 5]", "`5` is not valid for `receive`", "5", "use waitset, polling"),
        ("batch_samples = 0.5", "`0.5` is not valid for `batch_samples`", "0.5", "such as `4`"),
        ("exclude = 5", "`5` is not valid for `exclude`", "5", "write a list in brackets"),
        ("env = 3", "`3` is not valid for `env`", "3", "a table, such as `env = { KEY = VALUE }`"),
        ("[qos]\nreliability = 1", "`1` is not valid for `reliability`", "1", "use "),
    ];
    for (more, expected, marked, hint) in in_file {
        let found = rejected(&with(more), &[]);
        assert!(found.0.contains(expected) && found.0.starts_with("f.toml:"), "{more}: {found:?}");
        assert!(found.1 == *marked && found.2.contains(hint), "{more}: {found:?}");
        assert_plain(&found);
    }
    let by_set: &[(&str, &str, &str)] = &[
        ("design=5", "`5` is not valid for `design`", "a table, such as `design = { KEY = VALUE }`"),
        ("flows=5", "`5` is not valid for `flows`", "write a list in brackets"),
        ("question=5", "`5` is not valid for `question`", "a text in quotes, such as `\"text\"`"),
        ("workload=3", "`3` is not valid for `workload`", "use latency, throughput"),
        ("design.blocks=x", "`x` is not valid for `blocks`", "such as `3`"),
    ];
    for (set, expected, hint) in by_set {
        let found = rejected(SMALL, &[set]);
        assert!(found.0 == format!("--set {set}: {expected}") && found.2.contains(hint), "{set}: {found:?}");
        assert_plain(&found);
    }
    let by_flag: &[(&str, &str, &str, &str, &str)] = &[
        ("--pin", "design.pin", "0", "`0` is not valid for `--pin`", "such as `0,1` or `0-3,4-7`"),
        ("--budget", "design.budget", "5", "`5` has no unit", "such as `800ms`, `5s` or `5m`"),
        ("--duration", "design.measure", "true", "`true` is not valid for `--duration`", "such as `800ms`"),
        ("--size", "factors.size", "64x", "`64x` is not valid for `--size`", "such as `1024` or `64KiB`"),
        ("--receive", "factors.receive", "5", "`5` is not valid for `--receive`", "use waitset, polling"),
        ("--loans", "factors.loans", "5", "`5` is not valid for `--loans`", "write `true` or `false`"),
        ("--topology", "factors.topology", "3", "`3` is not valid for `--topology`", "such as `1-3`"),
        (
            "--batch-samples",
            "factors.batch_samples",
            "x",
            "`x` is not valid for `--batch-samples`",
            "or `turbo`",
        ),
    ];
    for (flag, key, value, expected, hint) in by_flag {
        let mut changed = source(SMALL, &[]);
        changed.sets.push(Override::flag(*flag, key, value));
        let found = parts(planned(&changed).expect_err("it is refused"));
        assert!(found.0 == format!("{flag} {value}: {expected}") && found.2.contains(hint), "{found:?}");
        assert_plain(&found);
    }
    let mut changed = source(SMALL, &[]);
    changed.sets.push(Override::flag("--qos", "qos.history", "3").shown_as("--qos history=3"));
    let found = parts(planned(&changed).expect_err("it is refused"));
    assert_eq!(found.0, "--qos history=3: `3` is not valid for `history`");
}

#[track_caller]
fn assert_plain((error, _, hint): &(String, String, String)) {
    for word in [
        "invalid type",
        "invalid value",
        "integer `",
        "string \"",
        "u32",
        "struct ",
        "enum ",
        "sequence",
        "variant",
    ] {
        assert!(!error.contains(word) && !hint.contains(word), "`{word}`: {error}; {hint}");
    }
}
