//! Evaluation of runs with a schedule: metrics per flow, and exclusion of inconsistent runs.

use crate::rig::Rig;
use experiment::{Flow, Load, Rate, ReceiveGroup, Trace, Workload};
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
    let paced = run.paced.as_ref().unwrap();
    assert_eq!((paced.planned, paced.unsent, paced.spin_ns), (1000, 0, 50_000));
    assert_eq!(paced.planned_sps, Some(500_000.0));
    assert_eq!((paced.flows.len(), &paced.flows[0].latency), (1, &run.latency));
    let throughput = run.throughput.as_ref().unwrap();
    assert_eq!((throughput.offered_sps, throughput.accepted_sps), (500_000.0, 500_000.0));
    assert_eq!((throughput.delivered_sps, throughput.tail.samples), (500_000.0, 0));
    assert_eq!(run.counted[0].delivered, 1000);
    let roles: Vec<_> = run.agents.iter().map(|agent| agent.role.as_str()).collect();
    assert_eq!(roles, ["writer", "reader"]);
    // A lag of 100 ns with a period of 2 µs, and a response time of 40 µs.
    assert_eq!(kinds(&run), []);
    assert!(!paced.sender_limited);
}

#[test]
fn late_repair_is_in_the_tail_and_in_no_rate() {
    let run = measure("repair", load(1000));
    assert_eq!((run.state, kinds(&run)), (RunState::Valid, vec![WarningKind::Tail]), "{run:?}");
    let (throughput, paced) = (run.throughput.as_ref().unwrap(), run.paced.as_ref().unwrap());
    // 999 of the 1000 samples of 2 ms.
    assert!((throughput.delivered_sps - 499_500.0).abs() < 1e-6, "{throughput:?}");
    assert_eq!((throughput.delivered, throughput.tail.samples), (1000, 1));
    assert_eq!(throughput.tail.ns, 3_000_000_000 + 40_000 - 2_000);
    assert_eq!(paced.flows[0].delivered_in_time, 999);
}

#[test]
fn a_sender_that_is_late_is_told_and_the_run_is_valid() {
    let run = measure("late", load(1000));
    assert_eq!((run.state, kinds(&run)), (RunState::Valid, vec![WarningKind::SenderLimited]));
    assert!(run.paced.as_ref().unwrap().sender_limited);
    let text = &run.warnings[0].text;
    assert!(
        text.contains("99 % of the send lag is 40.0 µs, more than a tenth of the period (2.00 µs)"),
        "{text}"
    );
    assert!(text.contains("and of the median response (80.0 µs)"), "{text}");
}

/// Uses calls of 4 µs with a period of 2 µs.
#[test]
fn write_calls_take_no_more_than_the_time_in_which_they_were_made() {
    let run = measure("late\ndrag", load(1000));
    assert_eq!((run.state, kinds(&run)), (RunState::Valid, vec![WarningKind::SenderLimited]));
    let text = &run.warnings[0].text;
    assert!(text.ends_with("write calls took 100 % of the time and are 0 % of the lag"), "{text}");
}

#[test]
fn a_writer_that_its_middleware_holds_up_is_not_to_blame() {
    let held = measure("late\nheld", load(1000));
    assert_eq!((held.state, kinds(&held)), (RunState::Valid, vec![WarningKind::BackPressure]), "{held:?}");
    let paced = held.paced.as_ref().unwrap();
    assert_eq!((paced.sender_limited, paced.back_pressure), (false, true));
    assert!((paced.flows[0].lag_in_writes_pct.unwrap() - 90.0).abs() < 1e-9, "{paced:?}");
    // Unless its process has no time left.
    let busy = measure("late\nheld\nbusy", load(1000));
    assert_eq!(kinds(&busy), [WarningKind::SenderLimited]);
    // Or waited for a core.
    let starved = measure("late\nheld\nstarved", load(1000));
    assert_eq!(kinds(&starved), [WarningKind::SenderLimited]);
    let text = &starved.warnings[0].text;
    assert!(text.contains("waited for one for 90.0 % of the time"), "{text}");
    // Calls cannot have taken more than the whole lag.
    let over = measure("late\noverheld", load(1000));
    assert_eq!(over.state, RunState::Invalid);
    assert!(over.warnings.iter().any(|warning| warning.text.contains("time of write calls")), "{over:?}");
}

#[test]
fn without_intended_times_there_is_service_only() {
    // A reader with its own pace receives most samples after the 2 ms.
    let run = measure("late", Load::Max);
    assert_eq!((run.state, kinds(&run)), (RunState::Valid, vec![WarningKind::Tail]), "{run:?}");
    assert_eq!(run.latency.keys().collect::<Vec<_>>(), ["service", "write_call"]);
    let paced = run.paced.as_ref().unwrap();
    assert_eq!((paced.planned, paced.planned_sps, paced.sender_limited), (1000, None, false));
}

#[test]
fn each_flow_is_counted_and_measured_by_itself() {
    let flow = |name: &str, size_bytes| Flow {
        name: name.to_owned(),
        size_bytes,
        load: load(500),
        qos: None,
        qos_of_ends: None,
    };
    let flows = [flow("control", 64), flow("bulk", 1024)];
    let document = rig("foreign", None, &flows).execute();
    let run = &document.cells[0].runs[0];
    assert_eq!((run.state, kinds(run)), (RunState::Valid, vec![WarningKind::Foreign]), "{run:?}");
    let paced = run.paced.as_ref().unwrap();
    let told: Vec<_> =
        paced.flows.iter().map(|flow| (flow.name.as_str(), flow.size_bytes, flow.counted.sent)).collect();
    assert_eq!(told, [("control", 64, 500), ("bulk", 1024, 500)]);
    assert_eq!((run.latency["response"].n, paced.flows[1].latency["response"].n), (1000, 500));
    assert_eq!(run.counted.iter().map(|counted| counted.foreign).collect::<Vec<_>>(), [3, 0]);
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
fn qos_of_a_further_flow_is_held_against_what_was_asked() {
    let flow = |name: &str| Flow {
        name: name.to_owned(),
        size_bytes: 64,
        load: load(500),
        qos: None,
        qos_of_ends: None,
    };
    let document = rig("qos reader", None, &[flow("a"), flow("b")]).execute();
    let failure = document.cells[0].runs[0].failure.clone().unwrap();
    assert_eq!(failure.role.as_deref(), Some("reader"));
}

#[test]
fn lost_and_unsent_samples_are_told() {
    let run = measure("lose", load(1000));
    assert_eq!(kinds(&run), [WarningKind::Loss, WarningKind::BufferDrops]);
    assert_eq!((run.counted[0].delivered, run.counted[0].lost), (980, 20));

    let run = measure("unsent", load(1010));
    assert_eq!((run.state, kinds(&run)), (RunState::Valid, vec![WarningKind::Unsent]), "{run:?}");
    assert_eq!(run.paced.as_ref().unwrap().unsent, 10);
    assert!(run.warnings[0].text.starts_with("10 of 1010 planned samples (0.990 %)"), "{run:?}");

    let run = measure("unplaced", load(1000));
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    assert_eq!((run.latency["service"].n, run.latency["response"].n), (1000, 990));
}

#[test]
fn figures_that_contradict_each_other_are_left_out() {
    for (script, words) in [
        ("overrun", "only 1000 were sent"),
        ("torn", "999 samples came and 0 are missing"),
        ("miscount", "1000 samples came, but 1001 in all windows"),
        ("unplanned", "the plan has 1000 samples for the measured time, the writer had 1001"),
        ("forget", "1000 samples came, but 999 responses were recorded and 0 came too late for one"),
        ("early", "written before their intended times"),
        ("astray", "writer and reader do not follow the same plan"),
        ("deserter", "of 1 flows the writer reported 1 and the reader 0"),
    ] {
        let run = measure(script, load(1000));
        assert_eq!(run.state, RunState::Invalid, "{script}");
        assert!(run.warnings[0].text.contains(words), "{script}: {:?}", run.warnings);
    }
    assert_eq!(measure("overflow", load(1000)).state, RunState::Invalid);
}

#[test]
fn groups_are_held_against_each_flow() {
    let flow = |name: &str| Flow {
        name: name.to_owned(),
        size_bytes: 64,
        load: load(500),
        qos: None,
        qos_of_ends: None,
    };
    let grouped = |script: &str| {
        let mut rig = rig(script, None, &[flow("a"), flow("b")]);
        rig.experiment.cells[0].factors.queues.receive_group = Some(ReceiveGroup::of(8, 5_000_000));
        rig.execute().cells[0].runs[0].clone()
    };
    let run = grouped("");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let takes = run.throughput.and_then(|throughput| throughput.takes).expect("groups");
    assert_eq!((takes.groups, takes.samples, takes.max_samples), (126, 1000, 8));
    let run = grouped("hoard");
    assert_eq!(run.state, RunState::Invalid, "{run:?}");
    assert!(run.warnings[0].text.contains("flow `a`: groups of up to 8 samples"), "{run:?}");
}

#[test]
fn the_times_of_a_file_are_read_again_and_another_file_is_refused() {
    let rig = |times: &str| {
        let mut rig = rig("", None, &[]);
        let file = rig.directory.path().join("times.txt");
        let planned: String = (0..1000).map(|i| format!("0.{:09}\n", i * 2_000)).collect();
        std::fs::write(&file, if times.is_empty() { &planned } else { times }).unwrap();
        let trace = Trace {
            file: file.display().to_string(),
            sha256: sha256(planned.as_bytes()),
            samples: 1000,
            length_ns: 1_998_000,
        };
        rig.experiment.cells[0].factors.load = Some(Load::Trace { trace });
        rig
    };
    let followed = rig("");
    let run = followed.execute().cells[0].runs[0].clone();
    assert_eq!((run.state, run.paced.unwrap().planned), (RunState::Valid, 1000));
    // The result contains a copy.
    let Some(Load::Trace { trace }) = &followed.experiment.cells[0].factors.load else { panic!("a file") };
    let copy = followed.results().join("traces").join(format!("{}.txt", trace.sha256));
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&trace.file).unwrap());

    let outcome = rig("0\n").execute_with(&mut ());
    let trouble = outcome.trouble.expect("another file");
    assert!(trouble.to_string().contains("it is not the file that was planned"), "{trouble}");
    assert!(trouble.hint().is_some() && outcome.document.cells[0].runs.is_empty());
}

#[test]
fn what_left_by_multicast_is_held_against_the_samples_of_all_flows() {
    let flow = |name: &str, size_bytes| Flow {
        name: name.to_owned(),
        size_bytes,
        load: load(500),
        qos: None,
        qos_of_ends: None,
    };
    let state = |sizes: [u64; 2]| {
        let mut rig = rig("", None, &[flow("a", sizes[0]), flow("b", sizes[1])]);
        rig.experiment.cells[0].factors.multicast = true;
        rig.execute().cells[0].runs[0].state
    };
    // The fake agent's kernel counts 1000 samples of 64 bytes.
    assert_eq!((state([64, 64]), state([64, 512])), (RunState::Valid, RunState::Invalid));
}
