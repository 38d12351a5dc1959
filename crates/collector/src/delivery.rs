//! Samples sent by one writer and received by one reader: consistency checks of independent counts, and derived
//! counts.
//!
//! `docs/explain/reconciliation.md` lists the identities, each with the two sources that it compares.

use experiment::{Factors, History, SizeTable, entity_name};
use results::{DeliveryCounts, Received, WarningKind};
use stats::total;

use crate::{evaluation::Evaluation, reports::AgentOutcome, routes::Route};

/// Counts of both endpoints of one route.
pub(crate) struct Delivery<'a> {
    /// Prefix of each message: the names of the route if there are several.
    pub(crate) whose: &'a str,
    pub(crate) route: &'a Route<'a>,
    /// Size of each sample; `None` if all have one.
    pub(crate) sizes: Option<&'a SizeTable>,
    pub(crate) offered: u64,
    pub(crate) accepted: u64,
    /// Number of accepted samples that the filter of the reader excludes. The other numbers are without them.
    pub(crate) filtered: u64,
    /// Number of samples accepted during warm-up.
    pub(crate) warm_up: u64,
    pub(crate) write_calls: u64,
    pub(crate) received: &'a Received,
}

impl Delivery<'_> {
    /// Checks that independent counts agree.
    pub(crate) fn check(&self, evaluation: &mut Evaluation) {
        let Self { whose, offered, accepted, write_calls, received, .. } = *self;
        evaluation.check(accepted <= offered, || {
            format!("{whose}{accepted} samples were accepted of {offered} offered")
        });
        evaluation.check(write_calls >= accepted, || {
            format!("{whose}{accepted} samples were accepted in {write_calls} write calls")
        });
        evaluation.check(received.next <= accepted, || {
            format!("{whose}sample {} came, but only {accepted} were sent", received.next.saturating_sub(1))
        });
        evaluation.check(total([received.delivered, received.missing]) == received.next, || {
            format!(
                "{whose}{} samples came and {} are missing, of the first {}",
                received.delivered, received.missing, received.next
            )
        });
        let in_windows = total(received.window_delivered.iter().copied());
        evaluation.check(received.delivered == in_windows, || {
            format!("{whose}{} samples came, but {in_windows} in all windows", received.delivered)
        });
        evaluation.check(received.beyond_reach == 0, || {
            format!("{whose}{} samples came too late to tell them from duplicates", received.beyond_reach)
        });
        self.check_bytes(evaluation);
    }

    /// Checks that the bytes that came are those of the planned sizes: exactly, or within the smallest and the largest size if sizes
    /// differ and samples are missing.
    fn check_bytes(&self, evaluation: &mut Evaluation) {
        let Self { whose, accepted, received, .. } = *self;
        let Received { delivered, bytes, .. } = *received;
        let possible = match self.sizes {
            None => {
                let all = delivered.saturating_mul(self.route.stream.size_bytes);
                all..=all
            }
            Some(sizes) if delivered == accepted => {
                let all = sizes.sum(0..accepted);
                all..=all
            }
            Some(sizes) => {
                let of_each = |size: u64| delivered.saturating_mul(size);
                of_each(sizes.smallest_bytes())..=of_each(sizes.largest_bytes())
            }
        };
        evaluation.check(possible.contains(&bytes), || {
            let (least, most) = (possible.start(), possible.end());
            let planned = if least == most { least.to_string() } else { format!("{least} to {most}") };
            format!("{whose}{delivered} samples came with {bytes} bytes in all, not {planned}")
        });
    }

    /// Checks that each sample that the reader was given was classified, and that the driver gave as many.
    pub(crate) fn check_counts(&self, evaluation: &mut Evaluation) {
        let Self { whose, received, .. } = *self;
        let Received {
            given,
            delivered,
            duplicate,
            beyond_reach,
            warm_up,
            wrong_size,
            overwritten,
            foreign,
            excluded,
            ..
        } = *received;
        let told_apart =
            [delivered, duplicate, beyond_reach, warm_up, wrong_size, overwritten, foreign, excluded];
        evaluation.check(given == total(told_apart), || {
            format!("{whose}the sink was given {given} samples, and {} were told apart", total(told_apart))
        });
        evaluation.check(excluded == 0, || {
            format!("{whose}the reader was given {excluded} samples that its content filter excludes")
        });
        evaluation.check(received.taken.is_none_or(|taken| taken == given), || {
            let taken = received.taken.unwrap_or(0);
            format!("{whose}the driver says that it gave {taken} samples, and the sink was given {given}")
        });
    }

    /// Compares the counts of the agents with those of the driver. `alone`: the reporting thread is the receiving
    /// one, which means that no sample can arrive between the driver's count and the agent's.
    pub(crate) fn check_witnesses(&self, evaluation: &mut Evaluation, factors: &Factors, alone: bool) {
        let Self { whose, route, accepted, received, .. } = *self;
        let (stream, arrived) = (route.flow, route.reading.drained);
        let [of_writer, of_reader] = route.entities;
        let Received { delivered, warm_up, .. } = *received;
        self.check_counts(evaluation);
        let reliable = factors.is_reliable(stream);
        // Otherwise a driver may send while its counter is read.
        let sent = counter(route.writing, "writer", of_writer, "bytes_sent");
        if let Some(sent) = sent.filter(|_| arrived || !reliable) {
            evaluation.check(sent >= received.bytes, || {
                format!(
                    "{whose}the writer's driver says that it sent {sent} bytes, and samples of {} bytes came",
                    received.bytes
                )
            });
        }
        let came = counter(route.reading, "reader", of_reader, "bytes_received");
        let exact = alone && received.taken.is_some();
        if let Some(came) = came.filter(|_| arrived || exact) {
            let bytes = if exact { received.given_bytes } else { received.bytes };
            evaluation.check(came >= bytes, || {
                format!(
                    "{whose}the reader's driver says that it received {came} bytes, and gave samples of {bytes} bytes"
                )
            });
        }
        let not_given = total([accepted.saturating_sub(delivered), self.warm_up.saturating_sub(warm_up)]);
        let lost = counter(route.reading, "reader", of_reader, "samples_lost").unwrap_or(0);
        // The middleware counts what it lost of all writers together.
        if lost > not_given && !route.shared {
            let text = format!(
                "{whose}the middleware says that it lost {lost} samples, but of those accepted all but {not_given} came"
            );
            evaluation.warn(WarningKind::Loss, text);
        }
        if reliable {
            self.warn_of_promises(evaluation, factors);
        }
    }

    /// Warns of violations of reliability by the middleware. The metrics stay valid: they describe what was
    /// delivered.
    fn warn_of_promises(&self, evaluation: &mut Evaluation, factors: &Factors) {
        let Self { whose, route, received, .. } = *self;
        let [writer, reader] = [factors.writer_qos(route.flow), factors.reader_qos(route.flow)];
        let keeps_all = [&writer, &reader].iter().all(|qos| qos.history == Some(History::KeepAll));
        let may_drop = writer.lifespan_ns.is_some() || reader.minimum_separation_ns.is_some();
        if received.missing > 0 && keeps_all && !may_drop {
            let text = format!(
                "{whose}{} samples are missing before later ones, although the flow is reliable and keeps all: the middleware lost them",
                received.missing
            );
            evaluation.warn(WarningKind::Loss, text);
        }
        if received.duplicate > 0 {
            let text = format!(
                "{whose}{} samples came again, although the flow is reliable: the middleware repeated them",
                received.duplicate
            );
            evaluation.warn(WarningKind::Order, text);
        }
    }

    /// Returns the delivery counts. `still_owed`: accepted samples after the last received one are in transit to a
    /// reliable reader; otherwise they are lost.
    pub(crate) fn counted(&self, still_owed: bool) -> DeliveryCounts {
        let received = self.received;
        let trailing = self.accepted.saturating_sub(received.next);
        let undelivered = if still_owed { trailing } else { 0 };
        DeliveryCounts {
            sent: self.accepted,
            filtered: self.filtered,
            delivered: received.delivered,
            lost: received.missing.saturating_add(trailing - undelivered),
            undelivered,
            duplicate: received.duplicate,
            out_of_order: received.out_of_order,
            corrupt: received.corrupt,
            foreign: 0,
            checked_in_full: received.checked_in_full,
        }
    }
}

/// Returns a counter of the driver for the entity of one stream.
fn counter(agent: &AgentOutcome, entity: &str, stream: usize, name: &str) -> Option<u64> {
    let of_entity = agent.report.counters.get(&entity_name(entity, stream))?;
    of_entity.get(name).copied()
}
