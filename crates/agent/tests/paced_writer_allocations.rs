//! The hot path of a paced writer does not allocate: the allocations of a run do not depend on its number of
//! samples.
//!
//! It is the only test of its process: a meter reading allocates for each thread, and threads of other tests come
//! and go.

#[allow(dead_code, reason = "it is shared with the tests of `paced`")]
#[path = "paced/rig.rs"]
mod rig;

use agent::{
    base::{
        clock::now_ns,
        meters::TrafficMeter,
        role::{AgentRole as _, TrafficLimit},
    },
    roles::{flow_writer::FlowWriter, paced_writer::PacedWriter},
    traffic::flow_spec::FlowSpec,
};
use allocation_counter::measure;
use control::RoleReport;

use crate::rig::{MS, configure_of_each_schedule, pair, participant};

#[test]
fn writing_by_a_plan_allocates_nothing() {
    let configure = configure_of_each_schedule();
    let participant = participant("allocations");
    let (mut flows, mut readers) = (Vec::new(), Vec::new());
    for spec in &configure.writers {
        let plan = FlowSpec::new(&configure, &spec.stream).expect("a plan");
        let (writer, reader) = pair(&participant, &format!("allocations-{}", spec.stream.writer), true);
        readers.push(reader);
        flows.push(FlowWriter::new(&configure, spec, plan, writer, None));
    }
    let mut role = PacedWriter::new(&configure, flows, false, None, None);
    role.run(TrafficLimit::of_time(MS), None).expect("warm");
    let mut allocations = |duration_ns| {
        let mut sent = 0;
        let counted = measure(|| {
            let begin_ns = Some(now_ns() + 500 * MS);
            let mut meter = TrafficMeter::new("lo", duration_ns, begin_ns);
            let limit = TrafficLimit { begin_ns, ..TrafficLimit::of_time(duration_ns) };
            role.run(limit, Some(&mut meter)).expect("measured");
            sent = role.recorded();
        });
        (sent, counted.count_total)
    };
    // not counted: the warm-up has already prepared this run
    allocations(MS);
    // repeated until the host allows enough samples
    let found = (0..10).map(|_| [allocations(10 * MS), allocations(100 * MS)]);
    let [(few, of_few), (many, of_many)] =
        found.into_iter().find(|[few, many]| few.0 > 0 && many.0 > 2 * few.0).expect("one of ten");
    assert_eq!(of_many, of_few, "for {many} samples, and for {few}");
    let RoleReport::Writer(written) = role.report().expect("a report") else { panic!("of a writer") };
    assert_eq!(written.flows.iter().map(|flow| flow.accepted).sum::<u64>(), many);
}
