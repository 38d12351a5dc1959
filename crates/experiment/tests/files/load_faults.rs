//! Invalid loads and flows.

use crate::{
    paced::{FLOWS, paced},
    plan, rejected,
};

#[test]
fn invalid_load_is_rejected_with_its_position() {
    let rate = |value: &str| paced(&format!("rate = {value}\n"));
    let cases: &[(String, &[&str], &str, &str, &str)] = &[
        (paced(""), &[], "f.toml:2:12: the workload `paced` needs a rate", "\"paced\"", "`rate` or `trace`"),
        (
            rate("\"1000+3000\"\ntopology = \"3-1\""),
            &[],
            "f.toml:7:8: `1000/s+3000/s` has the rates of 2 writers, and `topology = \"3-1\"` other ones",
            "\"1000+3000\"",
            "as many rates as the topology has writers",
        ),
        (
            rate("\"1000+3000\"\ntopology = [\"2-1\", \"pair\"]"),
            &[],
            "f.toml:7:8: `1000/s+3000/s` has the rates of 2 writers, and `topology = \"pair\"` other ones",
            "\"1000+3000\"",
            "as many rates as the topology has writers",
        ),
        (
            rate("\"1000+50%\"\ntopology = \"2-1\""),
            &[],
            "f.toml:7:8: `50%` of one of several writers is not supported",
            "\"1000+50%\"",
            "a rate such as `1000`, or `max`",
        ),
        (
            rate("\"1000+200M/s\"\ntopology = \"2-1\""),
            &[],
            "f.toml:7:8: the rate `200000000/s` is out of range",
            "\"1000+200M/s\"",
            "up to 100M",
        ),
        (
            FLOWS.replace("\"1/ms\"", "\"1/ms+max\""),
            &[],
            "f.toml:8:8: flow `control` has different rates of its writers",
            "\"1/ms+max\"",
            "give each flow one rate",
        ),
        (rate("[]"), &[], "f.toml:2:12: the workload `paced` needs a rate", "\"paced\"", "`rate` or `trace`"),
        (
            rate("\"1000\""),
            &["workload=latency"],
            "f.toml:7:8: `rate` has no effect without",
            "\"1000\"",
            "use the workload `paced`",
        ),
        (
            paced("arrival = \"burst\"\n"),
            &[],
            "f.toml:7:11: `arrival` has no effect without `rate`",
            "\"burst\"",
            "add `rate`",
        ),
        (rate("0"), &[], "f.toml:7:8: the rate `0/s` is out of range", "0", "up to 100M"),
        (rate("-5"), &[], "f.toml:7:8: ", "-5", "write a rate in whole numbers"),
        (rate("0.5"), &[], "f.toml:7:8: ", "0.5", "write a rate in whole numbers"),
        (
            rate("[1, \"1/day or so\"]"),
            &[],
            "f.toml:7:12: ",
            "\"1/day or so\"",
            "write a rate in whole numbers",
        ),
        (
            rate("\"200M/s\""),
            &[],
            "f.toml:7:8: the rate `200000000/s` is out of range",
            "\"200M/s\"",
            "up to 100M",
        ),
        (rate("\"250%\""), &[], "f.toml:7:8: the rate `250%` is out of range", "\"250%\"", "to 200%"),
        (rate("\"0%\""), &[], "f.toml:7:8: the rate `0%` is out of range", "\"0%\"", "0.01%"),
        (rate("\"1.234%\""), &[], "f.toml:7:8: ", "\"1.234%\"", "write a rate in whole numbers"),
        (rate("[\"50%\", \"50.0%\"]"), &[], "f.toml:7:16: rate `50%` is given twice", "\"50.0%\"", "once"),
        (
            rate("\"50%\"\narrival = \"burst\""),
            &[],
            "f.toml:7:8: the rate `50%` has no number of",
            "\"50%\"",
            "10/100ms",
        ),
        (
            FLOWS.replace("\"1/ms\"", "\"50%\""),
            &[],
            "f.toml:8:8: flow `control` at 50%",
            "\"50%\"",
            "a rate in samples/s",
        ),
        (rate("\"1/2h\""), &[], "f.toml:7:8: the rate `1/2h` is out of range", "\"1/2h\"", "an hour"),
        (
            rate("\"1Gbit/s\""),
            &["factors.size=16", "factors.rate=100000Mbit/s"],
            "--set factors.rate=100000Mbit/s: the rate `100Gbit/s` is out of range, for samples of 16 bytes",
            "100000Mbit/s",
            "up to 100M",
        ),
        (rate("[5, 6, 5]"), &[], "f.toml:7:15: rate `5/s` is given twice", "5", "once"),
        (
            rate("\"1Mbit/s\"\narrival = \"burst\""),
            &[],
            "f.toml:7:8: the rate `1Mbit/s` has no number of",
            "\"1Mbit/s\"",
            "10/100ms",
        ),
        (
            rate("5\narrival = \"bursty\""),
            &[],
            "f.toml:8:11: `bursty` is not valid for `arrival`",
            "\"bursty\"",
            "did you mean `burst`?",
        ),
        (
            rate("5\nexclude = [{ rate = 6 }]"),
            &[],
            "f.toml:8:12: this exclude matches no cell: no cell has rate 6",
            "{ rate = 6 }",
            "--dry-run",
        ),
        (
            paced("trace = \"wrong.txt\"\n"),
            &[],
            "f.toml:7:9: trace `wrong.txt`: 2:5: `0.1s` is not a time",
            "\"wrong.txt\"",
            "write one time in seconds",
        ),
        (
            paced("trace = \"late.txt\"\n"),
            &[],
            "f.toml:7:9: trace `late.txt` has its last sample at 0.8 s, after the measured time of 0.8 s",
            "\"late.txt\"",
            "`measure`",
        ),
        (
            paced("trace = \"none.txt\"\n"),
            &[],
            "f.toml:7:9: trace `none.txt` was not read",
            "\"none.txt\"",
            "there",
        ),
        (
            paced("[design]\nspin = true\n"),
            &["workload=latency"],
            "f.toml:8:8: `spin` has no effect without",
            "true",
            "use the workload `paced`",
        ),
        (
            FLOWS.replace("\"control\"", "\"a b\""),
            &[],
            "f.toml:6:8: `a b` cannot be the name of a flow",
            "\"a b\"",
            "letters",
        ),
        (
            FLOWS.replace("\"control\"", "\"video\""),
            &[],
            "f.toml:11:8: flow `video` is given twice",
            "\"video\"",
            "once",
        ),
        (
            FLOWS.replace("size = 64", "size = 15"),
            &[],
            "f.toml:7:8: size 15 is too small",
            "15",
            "16 or more",
        ),
        (
            FLOWS.replace("size = 64", ""),
            &[],
            "f.toml:6:8: flow `control` has no `size`",
            "\"control\"",
            "add for example `size = 1024`",
        ),
        (
            FLOWS.replace("\"1/ms\"", "\"max\""),
            &[],
            "f.toml:8:8: flow `control` at `max` is not supported",
            "\"max\"",
            "give each flow a rate",
        ),
        (
            FLOWS.replace("trace = \"all.txt\"", ""),
            &[],
            "f.toml:17:8: flow `seen` needs one of",
            "\"seen\"",
            "rate = 1000",
        ),
        (
            FLOWS.replace("trace = \"all.txt\"", "trace = \"all.txt\"\nrate = 5"),
            &[],
            "f.toml:17:8: flow `seen` needs one of",
            "\"seen\"",
            "rate = 1000",
        ),
        (
            FLOWS.replace("trace = \"all.txt\"", "trace = \"all.txt\"\narrival = \"poisson\""),
            &[],
            "f.toml:20:11: `arrival` has no effect on a trace",
            "\"poisson\"",
            "remove",
        ),
        (
            FLOWS.to_owned(),
            &["factors.size=64"],
            "--set factors.size=64: `size` is given both",
            "64",
            "remove it",
        ),
        (
            FLOWS.to_owned(),
            &["factors.rate=64"],
            "--set factors.rate=64: `rate` is given both",
            "64",
            "remove it",
        ),
        (
            FLOWS.to_owned(),
            &["factors.include=[{ size = 64 }]"],
            "--set factors.include=[{ size = 64 }]: `size` is given both",
            "64",
            "remove it",
        ),
        (
            FLOWS.to_owned(),
            &["workload=paced,latency"],
            "--set workload=paced,latency: flows are supported by the workloads `paced` and `search` only",
            "paced,latency",
            "another file",
        ),
        (
            FLOWS.to_owned(),
            &["workload=latency"],
            "f.toml:5:1: `flows` has no effect without",
            "[[flows]]",
            "use the workload `paced`",
        ),
    ];
    for (text, sets, error, marked, hint) in cases {
        let found = rejected(text, sets);
        assert!(found.0.starts_with(error), "{text} {sets:?}: {found:?}");
        assert!(marked.is_empty() || found.1 == *marked, "{text} {sets:?}: {found:?}");
        assert!(found.2.contains(hint), "{text} {sets:?}: {found:?}");
    }
}

#[test]
fn more_than_a_thousand_flows_are_rejected() {
    let flow = |number: usize| {
        format!("{{ name = \"f{number}\", size = 64, rate = 50, qos = {{ history = \"keep_all\" }} }}")
    };
    let flows: Vec<String> = (0..1_001).map(flow).collect();
    let text = format!(
        "question = \"?\"\nworkload = \"paced\"\nfactors.driver = \"dds\"\nflows = [{}]\n",
        flows.join(", ")
    );
    let (error, marked, _) = rejected(&text, &[]);
    assert!(error.contains("1001 flows") && marked.contains("f1000"), "{error}: {marked}");
}

#[test]
fn flows_of_the_command_line_replace_the_stream_of_the_file() {
    let text = paced("rate = [\"10%\", \"50%\"]\n");
    let flows = "flows=[{ name = \"a\", size = 64, rate = 9 }, { name = \"b\", size = 128, rate = 9 }]";
    let experiment = plan(&text, &[flows]);
    assert_eq!(experiment.cells.len(), 1);
    assert_eq!(experiment.cells[0].factors.flows.len(), 2);
    let (error, ..) = rejected(&text, &[flows, "factors.size=32"]);
    assert!(error.contains("size"), "{error}");
}
