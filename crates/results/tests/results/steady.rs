//! Steady-state classes from recorded windows, their warnings, and results without them.

use results::{
    Received, ResultDocument, RunState, SteadyClass, SteadySegment, SteadyState, WarningKind, WindowCounts,
    Windows, WritingTime, steady_latency, steady_rate,
};

use crate::sample::{self, Noise};

const WINDOWS: u32 = 100;
const WINDOW_NS: u64 = 10_000_000;
const BEGIN_NS: u64 = 7_000_000_000;
/// Time of writing of samples that arrive without delay.
const WRITING: WritingTime = WritingTime::new(BEGIN_NS, BEGIN_NS + WINDOWS as u64 * WINDOW_NS);

/// Records `in_a_window` round trips per window, slower by a factor of 1.3 from window `slower` on.
fn recorded(in_a_window: u64, slower: u64) -> Windows {
    recorded_by(in_a_window, |window| if window >= slower { 26_000 } else { 20_000 })
}

/// Records `in_a_window` round trips per window, around the typical time of the window.
fn recorded_by(in_a_window: u64, typical: impl Fn(u64) -> u64) -> Windows {
    let mut noise = Noise(5);
    let mut windows = Windows::new(WINDOWS, u64::from(WINDOWS) * WINDOW_NS);
    windows.begin(0);
    for window in 0..u64::from(WINDOWS) {
        for sample in 0..in_a_window {
            let now = window * WINDOW_NS + sample * WINDOW_NS / in_a_window;
            let typical = typical(window);
            // without a long tail, so that few values have a stable quantile
            windows.record(now, typical - typical / 8 + noise.next() % (typical / 4));
        }
    }
    windows
}

fn judged(in_a_window: u64, slower: u64) -> std::collections::BTreeMap<String, SteadyState> {
    judged_of(&recorded(in_a_window, slower))
}

fn judged_of(windows: &Windows) -> std::collections::BTreeMap<String, SteadyState> {
    let distribution = windows.distribution();
    steady_latency("rtt", &distribution.histograms().unwrap(), distribution.window_ns)
}

#[test]
fn slowing_latency_run_is_reported_with_p50_and_p99() {
    let states = judged(400, 35);
    assert_eq!(states.keys().collect::<Vec<_>>(), ["rtt_p50", "rtt_p99"]);
    for (kind, state) in &states {
        assert_eq!(state.verdict, SteadyClass::Slowdown, "{kind}: {state:?}");
        assert_eq!(state.steady_from_ns, Some(35 * WINDOW_NS), "{kind}");
    }
    let [before, after] = &states["rtt_p50"].segments[..] else { panic!("{states:?}") };
    assert_eq!((before.from_ns, before.to_ns, after.to_ns), (0, 35 * WINDOW_NS, 100 * WINDOW_NS));
    assert!((before.level_ns.unwrap() / 20_000.0 - 1.0).abs() < 0.02, "{before:?}");
    assert!((after.level_ns.unwrap() / 26_000.0 - 1.0).abs() < 0.02, "{after:?}");
    assert_eq!(before.level_sps, None);

    assert!(judged(400, 1000).values().all(|state| state.verdict == SteadyClass::Flat));
    let late = &judged(400, 80)["rtt_p50"];
    assert_eq!((late.verdict, late.steady_from_ns), (SteadyClass::NoSteadyState, None));
}

#[test]
fn windows_with_few_values_are_merged_and_too_few_are_not_classified() {
    // 99 % needs 299 values: four windows have 320
    let states = judged(80, 40);
    assert_eq!(states["rtt_p99"].verdict, SteadyClass::Slowdown);
    assert_eq!(states["rtt_p99"].segments[0].to_ns, 40 * WINDOW_NS);
    // five windows have 250
    assert_eq!(judged(50, 40).keys().collect::<Vec<_>>(), ["rtt_p50"]);
    // the median needs 6 values: three windows would do, four are merged
    assert_eq!(judged(2, 40)["rtt_p50"].segments.last().unwrap().to_ns, 100 * WINDOW_NS);
    assert!(judged(1, 40).is_empty());
}

/// Classifies runs whose windows are slower by a factor of 2 in every second half of `period`.
fn cycling(in_a_window: u64, period: u64) -> std::collections::BTreeMap<String, SteadyClass> {
    let windows =
        recorded_by(in_a_window, |window| if window % period < period / 2 { 20_000 } else { 40_000 });
    judged_of(&windows).into_iter().map(|(kind, state)| (kind, state.verdict)).collect()
}

#[test]
fn change_hidden_by_merged_windows_is_not_classified() {
    let both = |verdict| [("rtt_p50".to_owned(), verdict), ("rtt_p99".to_owned(), verdict)].into();
    assert_eq!(cycling(400, 20), both(SteadyClass::Cyclic));
    // for 99 %, four windows are merged: a segment has at least 12 windows, but half a cycle has 10
    assert_eq!(cycling(80, 20), [("rtt_p50".to_owned(), SteadyClass::Cyclic)].into());
    assert_eq!(cycling(80, 24), both(SteadyClass::Cyclic), "a half has 12");
    assert_eq!(judged(80, 1000)["rtt_p99"].verdict, SteadyClass::Flat, "nothing to hide");
    // single windows have too few values for both
    assert_eq!(cycling(2, 16), [].into());
    assert_eq!(judged(2, 1000)["rtt_p50"].verdict, SteadyClass::Flat);
}

#[test]
fn short_stall_is_not_a_level() {
    let mut windows = recorded(400, 1000).distribution();
    let empty = Windows::new(1, 1).distribution().windows[0].clone();
    for stalled in [0, 41, 42] {
        windows.windows[stalled].clone_from(&empty);
    }
    windows.n -= 3 * 400;
    let states = steady_latency("rtt", &windows.histograms().unwrap(), WINDOW_NS);
    assert_eq!(states["rtt_p50"].verdict, SteadyClass::Flat);
}

/// Creates the record of a reader: `per_window` samples per window up to `slower`, then a share of them, then a
/// tail.
fn received(per_window: u64, slower: u64, share: f64, tail: u64) -> Received {
    let mut noise = Noise(9);
    let planned_ns = u64::from(WINDOWS) * WINDOW_NS;
    let mut windows = WindowCounts::new(WINDOWS, planned_ns);
    let begin = BEGIN_NS;
    let mut now = begin;
    while now < begin + planned_ns {
        windows.count(now);
        let mean = WINDOW_NS / per_window;
        let slow = (now - begin) / WINDOW_NS >= slower;
        let period = mean / 2 + noise.next() % mean;
        now += if slow { (period as f64 / share) as u64 } else { period };
    }
    for _ in 0..tail {
        now += WINDOW_NS / per_window / 100;
        windows.count(now);
    }
    Received {
        first_ns: begin,
        last_ns: now,
        window_ns: windows.window_ns(),
        window_delivered: windows.counts(),
        ..Received::default()
    }
}

#[test]
fn falling_rate_is_a_slowdown_and_the_drain_is_not_classified() {
    let state = steady_rate(&received(1000, 30, 0.8, 0), WRITING).unwrap();
    assert_eq!((state.verdict, state.steady_from_ns), (SteadyClass::Slowdown, Some(30 * WINDOW_NS)));
    assert!((state.segments[0].level_sps.unwrap() / 100_000.0 - 1.0).abs() < 0.02, "{state:?}");
    assert!((state.segments[1].level_sps.unwrap() / 80_000.0 - 1.0).abs() < 0.02, "{state:?}");
    // 100 windows are kept by fours: the 8th has 2 at the higher rate and 2 at the lower one.
    let kept = state.windows.expect("a rate");
    assert_eq!((kept.length_ns, kept.delivered.len()), (4 * WINDOW_NS, 25));
    let [first, change, last] = [0, 7, 23].map(|index| kept.delivered[index] as f64 / 4_000.0);
    assert!(
        (first - 1.0).abs() < 0.03 && (change - 0.9).abs() < 0.03 && (last - 0.8).abs() < 0.03,
        "{kept:?}"
    );
    // a queue that drains afterwards
    let state = steady_rate(&received(1000, 1000, 1.0, 90_000), WRITING).unwrap();
    assert_eq!((state.verdict, state.segments.len()), (SteadyClass::Flat, 1));
    assert!(state.segments[0].to_ns <= 100 * WINDOW_NS);
    // one sample long after the end: the time before it is not a series of empty windows
    let mut repaired = received(1000, 1000, 1.0, 1);
    let steady = steady_rate(&repaired, WRITING).unwrap();
    repaired.last_ns += 300 * WINDOW_NS;
    assert_eq!(steady_rate(&repaired, WRITING), Some(steady));
}

#[test]
fn a_rate_of_too_few_samples_is_not_judged() {
    assert!(steady_rate(&received(20, 30, 0.5, 0), WRITING).is_some(), "five windows have over 50");
    assert_eq!(steady_rate(&received(5, 30, 0.5, 0), WRITING), None);
    assert_eq!(steady_rate(&Received::default(), WRITING), None);
}

fn state(verdict: SteadyClass, levels: &[f64], rate: bool) -> SteadyState {
    let segment = |(index, level): (usize, &f64)| SteadySegment {
        from_ns: index as u64 * WINDOW_NS,
        to_ns: (index as u64 + 1) * WINDOW_NS,
        level_ns: Some(*level).filter(|_| !rate),
        level_sps: Some(*level).filter(|_| rate),
    };
    SteadyState {
        verdict,
        steady_from_ns: None,
        segments: levels.iter().enumerate().map(segment).collect(),
        windows: None,
    }
}

/// Returns the steady-state warnings of a cell.
fn warning_texts(document: &ResultDocument, cell: &str) -> Vec<String> {
    let cell = document.cells.iter().find(|found| found.id == cell).unwrap_or_else(|| panic!("{cell}"));
    let of_kind = cell.warnings.iter().filter(|warning| warning.kind == WarningKind::NotSteady);
    of_kind.map(|warning| warning.text.clone()).collect()
}

#[test]
fn cell_has_the_warnings_of_its_runs() {
    let number = std::cell::Cell::new(0);
    let document = sample::document_with(|run| {
        run.steady_state.clear();
        if run.cell == "dds/udp4/latency/32" {
            let slow = state(SteadyClass::Slowdown, &[20_000.0, 24_000.0, 23_500.0], false);
            let flat = state(SteadyClass::Flat, &[20_000.0], false);
            number.set(if run.block == 1 { run.number } else { number.get() });
            run.steady_state.insert("rtt_p50".to_owned(), if run.block < 3 { slow } else { flat.clone() });
            run.steady_state.insert("rtt_p99".to_owned(), flat);
        } else if run.cell == "dds/udp4/throughput/32" {
            let (verdict, levels): (_, &[f64]) = match run.block {
                1 => (SteadyClass::WarmUp, &[100_000.0, 140_000.0]),
                2 => (SteadyClass::NoSteadyState, &[150_000.0, 140_000.0, 120_000.0]),
                _ => (SteadyClass::Cyclic, &[1.0, 2.0, 1.0, 2.0, 1.0]),
            };
            run.steady_state.insert("delivered".to_owned(), state(verdict, levels, true));
        }
    });
    let number = number.get();
    assert_eq!(
        warning_texts(&document, "dds/udp4/latency/32"),
        [format!(
            "2 of 3 runs slowed down while measured (median RTT from 20.0 to 23.5 µs, for example run {number})"
        )]
    );
    let [text] = &warning_texts(&document, "dds/udp4/throughput/32")[..] else {
        panic!("one warning per metric")
    };
    for part in [
        "1 of 3 runs still warmed up while measured (samples delivered from 100000 to 140000/s, run ",
        "1 of 3 runs reached no steady state while measured (samples delivered from 120000 to 150000/s, run ",
        "1 of 3 runs went up and down while measured (samples delivered from 1.00 to 2.00/s, run ",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(warning_texts(&document, "dds/udp4/latency/1024").is_empty(), "what was not judged is not told");
}

#[test]
fn invalid_runs_have_no_steady_state_warning() {
    let document = sample::document_with(|run| {
        run.state = RunState::Invalid;
        let slow = state(SteadyClass::Slowdown, &[1.0, 2.0], false);
        run.steady_state.insert("rtt_p50".to_owned(), slow);
    });
    assert!(warning_texts(&document, "dds/udp4/latency/32").is_empty());
}
