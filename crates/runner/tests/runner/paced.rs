//! Evaluation of runs with a schedule: metrics per flow, and exclusion of inconsistent runs.

use std::fs;

use crate::rig::Rig;
use experiment::{Flow, Load, Rate, Trace, Workload};
use results::{Run, RunState, WarningKind, sha256};

/// Returns the rate that gives this number of samples in the measurement time of the rig.
fn load(samples: u64) -> Load {
    Load::Constant { rate: Rate { samples, period_ns: 2_000_000 } }
}

fn rig(script: &str, load: Option<Load>, flows: &[Flow]) -> Rig {
    let mut rig = Rig::new(&[("d", script)]).of_workload(Workload::Throughput);
    let cell = &mut rig.experiment.cells[0];
    cell.id = "d/paced".to_owned();
    cell.factors.workload = Workload::Paced;
    cell.factors.load = load;
    cell.factors.flows = flows.to_vec();
    rig
}

fn measure(script: &str, load: Load) -> Run {
    rig(script, Some(load), &[]).execute().cells[0].runs[0].clone()
}

fn kinds(run: &Run) -> Vec<WarningKind> {
    run.warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_response_is_a_send_lag_and_a_service_time() {
    let run = measure("", load(1000));
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    for (kind, ns) in [("response", 40_100), ("service", 40_000), ("send_lag", 100), ("write_call", 2_000)] {
        let latency = &run.latency[kind];
        assert_eq!((latency.n, latency.min_ns, latency.max_ns), (1000, ns, ns), "{kind}");
    }
    let paced = run.paced().unwrap();
    assert_eq!((paced.planned, paced.unsent, paced.spin_ns), (1000, 0, 50_000));
    assert_eq!(paced.planned_sps, Some(500_000.0));
    assert_eq!((run.flows.len(), &run.flows[0].latency), (1, &run.latency));
    let throughput = run.throughput().unwrap();
    assert_eq!((throughput.offered_sps, throughput.accepted_sps), (500_000.0, 500_000.0));
    assert_eq!((throughput.delivered_sps, throughput.tail.samples), (500_000.0, 0));
    assert_eq!(run.flows[0].counted.delivered, 1000);
    let roles: Vec<_> = run.endpoints.iter().map(|endpoint| endpoint.role.as_str()).collect();
    assert_eq!(roles, ["writer", "reader"]);
    // A lag of 100 ns with a period of 2 µs, and a response time of 40 µs.
    assert_eq!(kinds(&run), []);
    assert!(!paced.sender_limited);
}

#[test]
fn each_flow_is_counted_and_measured_by_itself() {
    let flow = |name: &str, size_bytes| Flow::new(name, size_bytes, load(500));
    let flows = [flow("control", 64), flow("bulk", 1024)];
    let document = rig("foreign", None, &flows).execute();
    let run = &document.cells[0].runs[0];
    assert_eq!((run.state, kinds(run)), (RunState::Valid, vec![WarningKind::Foreign]), "{run:?}");
    let summary: Vec<_> =
        run.flows.iter().map(|flow| (flow.name.as_str(), flow.size_bytes, flow.counted.sent)).collect();
    assert_eq!(summary, [("control", 64, 500), ("bulk", 1024, 500)]);
    assert_eq!((run.latency["response"].n, run.flows[1].latency["response"].n), (1000, 500));
    assert_eq!(run.counts().map(|counted| counted.foreign).collect::<Vec<_>>(), [3, 0]);
    // Both flows together, window by window.
    assert_eq!(
        document.cells[0].latency["response"].p50_ns,
        run.latency["response"].p50_ns.map(|ns| ns as f64)
    );
    assert!(document.cells[0].paced.as_ref().unwrap().flows[1].latency["response"].p50_ns.is_some());

    let document = rig("torn", None, &flows).execute();
    let text = &document.cells[0].runs[0].warnings[0].text;
    assert!(text.starts_with("flow `control`: "), "{text}");
}

#[test]
fn qos_of_a_further_flow_is_compared_with_the_request() {
    let flow = |name: &str| Flow::new(name, 64, load(500));
    let document = rig("qos reader", None, &[flow("a"), flow("b")]).execute();
    let failure = document.cells[0].runs[0].failure.clone().unwrap();
    assert_eq!(failure.endpoint.as_deref(), Some("reader"));
}

#[test]
fn trace_is_read_again_and_a_changed_file_is_rejected() {
    let rig = |times: &str| {
        let mut rig = rig("", None, &[]);
        let file = rig.directory.path().join("times.txt");
        let planned: String = (0..1000).map(|i| format!("0.{:09}\n", i * 2_000)).collect();
        fs::write(&file, if times.is_empty() { &planned } else { times }).unwrap();
        let trace = Trace {
            file: file.display().to_string(),
            sha256: sha256(planned.as_bytes()),
            samples: 1000,
            length_ns: 1_998_000,
            sizes: None,
        };
        rig.experiment.cells[0].factors.load = Some(Load::Trace { trace });
        rig
    };
    let followed = rig("");
    let run = followed.execute().cells[0].runs[0].clone();
    assert_eq!((run.state, run.paced().unwrap().planned), (RunState::Valid, 1000));
    // The result contains a copy.
    let Some(Load::Trace { trace }) = &followed.experiment.cells[0].factors.load else { panic!("a file") };
    let copy = followed.results().join("traces").join(format!("{}.txt", trace.sha256));
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&trace.file).unwrap());

    let outcome = rig("0\n").execute_with(&mut ());
    let phase_error = outcome.error.expect("another file");
    assert!(phase_error.to_string().contains("the file has changed since the plan"), "{phase_error}");
    assert!(phase_error.hint().is_some() && outcome.document.cells[0].runs.is_empty());
}

/// Returns the starts that an endpoint of the first run was asked for, in ns.
fn starts(rig: &Rig, endpoint: &str) -> Vec<u64> {
    let log = fs::read_to_string(rig.results().join(format!("logs/0001-{endpoint}.log"))).expect("a log");
    let starts = log.lines().filter_map(|line| line.strip_prefix("asked to start at ")?.parse().ok());
    starts.collect()
}

#[test]
fn missed_start_is_put_off_for_all_endpoints() {
    let rig = rig("late writer measure", Some(load(1000)), &[]);
    let run = rig.execute().cells[0].runs[0].clone();
    assert_eq!((run.state, &run.failure), (RunState::Valid, &None));
    let (writer, reader) = (starts(&rig, "writer"), starts(&rig, "reader"));
    assert!(writer.len() == 2 && writer[1] > writer[0], "{writer:?}");
    // On a busy host the reader alone may be asked again.
    assert!(reader.contains(&writer[0]) && reader.last() == writer.last(), "{writer:?} {reader:?}");
}

#[test]
fn slow_reader_puts_the_start_off_before_the_writer_is_asked() {
    let rig = rig("slow reader measure", Some(load(1000)), &[]);
    assert_eq!(rig.execute().cells[0].runs[0].state, RunState::Valid);
    let (writer, reader) = (starts(&rig, "writer"), starts(&rig, "reader"));
    assert!(reader.len() >= 2 && writer == [reader[reader.len() - 1]], "{writer:?} {reader:?}");
}

#[test]
fn writer_that_misses_every_start_is_an_error() {
    let rig = rig("tardy writer measure", Some(load(1000)), &[]);
    let run = rig.execute().cells[0].runs[0].clone();
    let failure = run.failure.expect("it failed");
    assert_eq!((failure.phase.as_str(), failure.endpoint.as_deref()), ("measure", Some("writer")));
    assert_eq!(failure.error, "the schedule started 5 ms before its writer was ready");
    assert!(failure.hint.is_some_and(|hint| hint.contains("--pin")));
    assert!((1..=3).contains(&starts(&rig, "writer").len()));
}
