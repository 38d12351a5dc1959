//! Modes of runs, and the fields that are associated with them.

use experiment::Workload;
use results::{Run, RunState, TypicalValue};

use crate::{p50, result, rtt, sample};

#[test]
fn modes_are_reported_with_locations_and_shares() {
    let grouped = |apart: f64| {
        p50(&result(Workload::Latency, 20, |run| {
            rtt(run, 1.0, 0.01);
            let rtt = run.latency.get_mut("rtt").expect("a latency run");
            if run.cell.starts_with("dds") && run.block % 5 < 2 {
                rtt.p50_ns = rtt.p50_ns.map(|ns| (ns as f64 * apart) as u64);
            }
        }))
    };
    let (one, two) = (grouped(1.0), grouped(1.5));
    assert!(one.treatment.modes.is_empty() && !one.text.contains("multi-modal"), "{}", one.text);
    assert!(two.text.contains("; multi-modal: 60.0 % near 100 µs, 40.0 % near 150 µs"), "{}", two.text);
    assert!(two.baseline.modes.is_empty() && !two.text.contains("baseline multi-modal"), "{}", two.text);
}

#[test]
fn field_that_separates_modes_is_named() {
    let is_slow = |run: &Run| run.block % 5 < 2;
    let plain = result(Workload::Latency, 20, |run| {
        rtt(run, 1.0, 0.01);
        let slow = run.cell.starts_with("dds") && is_slow(run);
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        rtt.p50_ns = rtt.p50_ns.map(|ns| if slow { ns * 3 / 2 } else { ns });
        let mut noise = sample::Noise(900 + u64::from(run.number));
        run.environment_padding_bytes = Some((noise.next() % 4096) as u32);
        for agent in &mut run.processes {
            agent.usage.involuntary_switches = noise.next() % 20;
            agent.usage.core = Some((noise.next() % 2) as u32);
        }
    });
    let outcomes = |record: &dyn Fn(&mut Run)| {
        let mut document = plain.clone();
        document.cells.iter_mut().flat_map(|cell| &mut cell.runs).for_each(record);
        let verdict = p50(&document);
        (verdict.treatment.modes_by.clone().expect("groups"), verdict.text)
    };
    let (by, text) = outcomes(&|_| {});
    assert!(by.separating.is_empty() && by.enough_runs && by.tested >= 5, "{by:?}");
    assert!(text.ends_with(&format!(", told apart by none of {} recorded fields", by.tested)), "{text}");

    let (by, text) = outcomes(&|run| run.processes[1].usage.core = Some(u32::from(is_slow(run))));
    assert_eq!(by.separating.len(), 1, "{by:?}");
    assert!(by.separating[0].field == "core of the echo" && by.separating[0].p_adjusted < 0.01, "{by:?}");
    assert!(text.ends_with(", told apart by core of the echo (0, then 1)"), "{text}");

    let (by, text) = outcomes(&|run| run.udp_buffer_drops = Some(if is_slow(run) { 312 } else { 0 }));
    assert_eq!(by.separating[0].typical, [TypicalValue::Number(0.0), TypicalValue::Number(312.0)].map(Some));
    assert!(text.ends_with(", told apart by UDP buffer drops (0, then 312)"), "{text}");

    // 12 runs cannot show an association if many fields are tested
    let (by, text) = outcomes(&|run| {
        if run.block > 12 {
            run.state = RunState::Failed;
        }
        for number in 0..30 {
            let word = sample::Noise(u64::from(run.number * 100 + number)).next() % 2;
            let settings = run.endpoints[0].settings.entry("reader".to_owned()).or_default();
            settings.insert(format!("setting{number}"), word.to_string());
        }
    });
    assert!(!by.enough_runs && by.separating.is_empty() && by.tested > 30, "{by:?}");
    let words = format!(", with too few runs to tell by which of {} recorded fields", by.tested);
    assert!(text.contains(&words), "{text}");
}
