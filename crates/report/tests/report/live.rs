//! Values of an experiment so far.

use insta::assert_snapshot;
use report::{Live, LiveProgress};
use results::{Run, RunState};

use crate::sample;

#[test]
fn values_so_far_are_those_of_the_valid_runs() {
    let header = sample::header();
    let mut live = Live::new(&header.experiment);
    let now = "plain/udp4/latency/1024";
    let now = header.experiment.cells.iter().find(|cell| cell.id.ends_with(now)).unwrap().id.clone();
    let text = |live: &Live, lines, width| live.text(LiveProgress { cell: &now, left: "12 s", lines, width });
    assert_eq!(text(&live, 24, 200).lines().count(), header.experiment.cells.len().min(21) + 3);
    for (run, _) in sample::runs() {
        let cell = header.experiment.cells.iter().find(|cell| cell.id == run.cell).unwrap();
        live.run_finished(&run, cell);
        if run.cell == now {
            live.run_finished(&Run { state: RunState::Invalid, ..run }, cell);
        }
    }
    for block in &sample::blocks(&header.experiment) {
        live.block_finished(block);
    }
    assert_snapshot!(text(&live, 12, 120));
    let narrow = text(&live, 5, 30);
    assert!(narrow.lines().count() == 5 && narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
    // Metrics for which there is no room are left out as a whole.
    let heading = |width| text(&live, 12, width).lines().next().unwrap().trim_end().to_owned();
    assert!((56..120).all(|width| heading(120).starts_with(&heading(width))), "{}", heading(60));
    let (some, all) = (heading(70).matches('(').count(), heading(120).matches('(').count());
    assert!(some < all && heading(70).matches(')').count() == some, "{} | {}", heading(70), heading(120));
    // Lines that are cut show it.
    assert!(narrow.lines().any(|line| line.ends_with('…')), "{narrow}");
}
