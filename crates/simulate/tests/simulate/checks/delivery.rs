//! Counts of one stream: identities, witnesses, and warnings about what arrived.

use collector::RunReports;
use control::{FlowReaderReport, FlowWriterReport, ReaderReport, RoleReport};
use experiment::{History, ReceiveGroup, Workload};
use results::{Distribution, Idle, Received, TakeStats, WarningKind};

use super::{DRIVING, SERVING, Subject};
use crate::rig::{MS, cell};

const OPTIONS: [(&str, &str); 2] = [("latency", "50us"), ("service", "100us")];

fn subject(reliable: bool) -> Subject {
    Subject::new(cell(Workload::Throughput, reliable, 0, &OPTIONS))
}

fn writer(reports: &mut RunReports) -> &mut FlowWriterReport {
    &mut reports.agents[DRIVING].report.writer_mut().expect("a writer").flows[0]
}

fn reader(reports: &mut RunReports) -> &mut ReaderReport {
    reports.agents[SERVING].report.reader_mut().expect("a reader")
}

fn read(reports: &mut RunReports) -> &mut FlowReaderReport {
    &mut reader(reports).flows[0]
}

fn received(reports: &mut RunReports) -> &mut Received {
    &mut read(reports).received
}

/// Sets a counter that the driver of an agent reports.
fn set_counter(reports: &mut RunReports, agent: usize, entity: &str, name: &str, value: u64) {
    let counters = &mut reports.agents[agent].report.counters;
    counters.entry(entity.to_owned()).or_default().insert(name.to_owned(), value);
}

/// Removes one received sample from all counts, which leaves a gap.
fn lose_one(reports: &mut RunReports) {
    reports.agents[SERVING].report.usage.samples -= 1;
    let received = received(reports);
    received.delivered -= 1;
    received.missing += 1;
    received.window_delivered[0] -= 1;
    received.bytes -= 1000;
    received.given -= 1;
    received.given_bytes -= 1000;
    received.taken = Some(received.given);
}

/// Adds a duplicate to all counts.
fn repeat_one(reports: &mut RunReports) {
    let received = received(reports);
    received.duplicate += 1;
    received.given += 1;
    received.taken = Some(received.given);
}

#[test]
fn counts_of_both_agents_must_agree() {
    let subject = subject(true);
    subject.contradicts("samples were accepted of", |reports| {
        let writer = writer(reports);
        writer.offered = writer.accepted - 1;
    });
    subject.contradicts("write calls", |reports| writer(reports).write_call = Distribution::default());
    subject.contradicts("were sent when measured", |reports| reports.agents[DRIVING].sent += 1);
    subject.contradicts("came, but only", |reports| {
        let received = received(reports);
        (received.next, received.missing) = (received.next + 1, 1);
    });
    subject.contradicts("and 1 are missing, of the first", |reports| received(reports).missing += 1);
    subject.contradicts("in all windows", |reports| received(reports).window_delivered[0] += 1);
    subject.contradicts("too late to tell them from duplicates", |reports| {
        let received = received(reports);
        (received.beyond_reach, received.given) = (1, received.given + 1);
        received.taken = Some(received.given);
    });
    subject.contradicts("bytes in all", |reports| received(reports).bytes -= 1);
    subject.contradicts("of 1 flows the reader reported 2", |reports| {
        let again = read(reports).clone();
        reader(reports).flows.push(again);
    });
    subject.contradicts("were taken", |reports| {
        let delivered = received(reports).delivered;
        read(reports).takes = Some(TakeStats::new(1, delivered - 1, 1, 1));
    });
    subject.contradicts("did not report what its role records", |reports| {
        reports.agents[DRIVING].report.role = RoleReport::Participant;
    });
    subject.contradicts("histograms of `write_call` cannot be read", |reports| {
        writer(reports).write_call.windows[0] = "damaged".to_owned();
    });
    for (agent, role) in [(DRIVING, "writer"), (SERVING, "reader")] {
        subject.contradicts(&format!("the {role} metered"), |reports| {
            reports.agents[agent].report.usage.samples += 1;
        });
    }
    let batched = Subject::new(cell(Workload::Throughput, true, 8_000, &OPTIONS));
    batched.contradicts("were flushed in batches", |reports| {
        writer(reports).batches.as_mut().expect("batches").samples -= 1;
    });
}

#[test]
fn witnesses_must_agree_with_the_agents() {
    let subject = subject(true);
    subject.contradicts("were told apart", |reports| {
        let received = received(reports);
        received.given += 1;
        received.taken = Some(received.given);
    });
    subject.contradicts("1 samples that its content filter excludes", |reports| {
        let received = received(reports);
        (received.excluded, received.given) = (1, received.given + 1);
        received.taken = Some(received.given);
    });
    subject.contradicts("the driver says that it gave", |reports| {
        let received = received(reports);
        received.taken = Some(received.given - 1);
    });
    subject.contradicts("the writer's driver says that it sent 1 bytes", |reports| {
        set_counter(reports, DRIVING, "writer", "bytes_sent", 1);
    });
    subject.contradicts("the reader's driver says that it received 1 bytes", |reports| {
        set_counter(reports, SERVING, "reader", "bytes_received", 1);
    });
    subject.warns(WarningKind::Loss, "the middleware says that it lost 1 samples", |reports| {
        set_counter(reports, SERVING, "reader", "samples_lost", 1);
    });
    // A driver that counts all of it agrees.
    let counted = subject.with(|reports| {
        set_counter(reports, DRIVING, "writer", "bytes_sent", u64::MAX);
        set_counter(reports, SERVING, "reader", "bytes_received", u64::MAX);
        set_counter(reports, SERVING, "reader", "samples_lost", 0);
    });
    assert_eq!((counted.state, counted.warnings), (subject.run().state, subject.run().warnings));
}

#[test]
fn promises_of_reliability_are_compared_with_what_arrived() {
    let lost = (WarningKind::Loss, "although the flow is reliable and keeps all");
    let repeated = (WarningKind::Order, "although the flow is reliable: the middleware repeated them");
    let mut keeps_all = subject(true);
    keeps_all.cell.factors.qos.history = Some(History::KeepAll);
    for agent in &mut keeps_all.reports.agents {
        for qos in agent.configured.effective_qos.values_mut() {
            qos.history = Some(History::KeepAll);
        }
    }
    keeps_all.warns(lost.0, lost.1, lose_one);
    keeps_all.warns(repeated.0, repeated.1, repeat_one);
    // Nothing else is promised.
    assert!(!super::warns(&subject(true).with(lose_one), lost.0, lost.1));
    for change in [lose_one, repeat_one] {
        let run = subject(false).with(change);
        assert!(!super::warns(&run, lost.0, lost.1) && !super::warns(&run, repeated.0, repeated.1));
    }
}

#[test]
fn damaged_and_foreign_samples_and_repeated_writes_are_reported() {
    let subject = subject(true);
    subject.contradicts("1 samples came damaged", |reports| received(reports).corrupt = 1);
    let damaged = subject.with(|reports| received(reports).corrupt = 1);
    assert!(super::warns(&damaged, WarningKind::Corrupt, "1 samples came damaged"), "{:?}", damaged.warnings);
    subject.warns(WarningKind::Foreign, "3 samples came that are not of this run", |reports| {
        reader(reports).foreign = 3;
    });
    subject.warns(WarningKind::WritesRefused, "2 writes timed out and 3 were rejected", |reports| {
        let writer = writer(reports);
        (writer.timed_out, writer.refused) = (2, 3);
    });
    subject.warns(WarningKind::Incomplete, "were not acknowledged within the time limit", |reports| {
        reports.agents[DRIVING].drained = false;
    });
    subject.warns(WarningKind::Incomplete, "samples were still under way", |reports| {
        let received = received(reports);
        received.next -= 1;
        received.delivered -= 1;
        received.window_delivered[0] -= 1;
        received.bytes -= 1000;
        received.given -= 1;
        received.taken = Some(received.given);
        reports.agents[SERVING].report.usage.samples -= 1;
        reports.agents[SERVING].drained = false;
    });
}

#[test]
fn receive_groups_must_be_as_large_as_requested() {
    let reason = "groups of up to 8 samples were asked for";
    let mut subject = subject(true);
    let delivered = received(&mut subject.reports).delivered;
    subject.cell.factors.queues.receive_group = Some(ReceiveGroup::new(8, 5 * MS));
    read(&mut subject.reports).takes = Some(TakeStats::new(delivered.div_ceil(8), delivered, 8, delivered));
    subject.contradicts(reason, |reports| read(reports).takes = None);
    subject.contradicts(reason, |reports| {
        read(reports).takes.as_mut().expect("takes").max_samples = 9;
    });
}

/// The reader uses 0.5 % of a core with traffic.
#[test]
fn idle_cost_is_subtracted_and_reported() {
    let subject = subject(true);
    let idle = |reports: &mut RunReports, used_ns| {
        let usage = &mut reports.agents[SERVING].report.usage;
        (usage.elapsed_ns, usage.user_ns) = (1_000 * MS, 5 * MS);
        usage.idle = Some(Idle { elapsed_ns: 50 * MS, used_ns, run_delay_ns: Some(0) });
    };
    let all_ns = 5.0 * MS as f64 / subject.run().flows[0].counted.delivered as f64;
    for (used_ns, text, left, idle_pct) in [
        (200_000, "80 % of its CPU time was subtracted", Some(0.2), Some(80.0)),
        (300_000, "its CPU per sample is n/a", None, None),
        (49 * MS, "waits by using its core", Some(1.0), None),
    ] {
        subject.warns(WarningKind::IdleCpu, text, |reports| idle(reports, used_ns));
        let cpu = subject.with(|reports| idle(reports, used_ns)).cpu_ns_per_sample;
        let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-6 * other,
            (one, other) => one == other,
        };
        assert!(near(cpu.as_ref().map(|cpu| cpu.reader), left.map(|left| left * all_ns)), "{text}: {cpu:?}");
        assert!(near(cpu.as_ref().and_then(|cpu| cpu.reader_idle_pct), idle_pct), "{text}: {cpu:?}");
    }
    // Up to a twentieth is negligible.
    let negligible = subject.with(|reports| idle(reports, 12_000));
    assert!(!super::warns(&negligible, WarningKind::IdleCpu, ""), "{:?}", negligible.warnings);
}
