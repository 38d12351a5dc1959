//! Estimated time that a run takes beside its traffic.

use std::collections::BTreeSet;

use crate::{factors::flow::Flow, plan::design::RUN_OVERHEAD_NS};

/// Time for each process beyond two, and for each writer and reader, in ns: on a host with two cores, runs of systems of 2, 10 and 20
/// processes with 60, 30 and 58 of them took 1.3, 2.6 and 4.1 s beside their traffic.
const PROCESS_NS: u64 = 180_000_000;
const ENTITY_NS: u64 = 15_000_000;

/// Returns the estimated time of a run with these flows in ns, besides warm-up and measurement. Without flows it is that of a pair.
#[must_use]
pub fn run_overhead_ns(flows: &[Flow]) -> u64 {
    let (mut processes, mut entities) = (BTreeSet::new(), 0);
    for flow in flows {
        for process in flow.writing_processes().chain(flow.reading_processes()) {
            processes.insert(process);
            entities += 1;
        }
    }
    let further = processes.len().saturating_sub(2) as u64;
    RUN_OVERHEAD_NS.saturating_add(PROCESS_NS * further).saturating_add(ENTITY_NS * entities)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::load::Load;

    #[test]
    fn overhead_grows_with_processes_and_entities() {
        let flow = |from: &[&str], to: &[&str]| {
            let names = |of: &[&str]| of.iter().map(|&name| name.to_owned()).collect();
            Flow { from: names(from), to: names(to), ..Flow::new("f", 64, Load::Max) }
        };
        assert_eq!(run_overhead_ns(&[]), RUN_OVERHEAD_NS);
        assert_eq!(run_overhead_ns(&[flow(&[], &[]), flow(&[], &[])]), RUN_OVERHEAD_NS + 4 * ENTITY_NS);
        let system = [flow(&["a"], &["b", "c"]), flow(&["c"], &["a"])];
        assert_eq!(run_overhead_ns(&system), RUN_OVERHEAD_NS + PROCESS_NS + 5 * ENTITY_NS);
    }
}
