//! Warnings of senders that did not keep their schedule.

use results::{FlowRecord, Lateness, Paced, Sender, WarningKind, format_micros, format_value};

use crate::{
    ends::Ends,
    evaluation::{Evaluation, percent},
};

/// Ratio of median service times from which on a reader gets its samples much later than another one.
const MUCH_LATER: u64 = 3;

/// Returns the number of readers of a stream.
fn readers_of(one: &Ends<'_>, ends: &[Ends<'_>]) -> usize {
    ends.iter().filter(|ends| std::ptr::eq(ends.writer, one.writer)).count()
}

/// Names the reader of a stream that gets its samples much later than all others: its queue is full, and it holds the writer
/// up. Empty if there is none.
fn slow_reader(one: &Ends<'_>, ends: &[Ends<'_>], records: &[FlowRecord]) -> String {
    let of_stream = ends.iter().zip(records).filter(|(ends, _)| std::ptr::eq(ends.writer, one.writer));
    let median = |record: &FlowRecord| record.latency.get("service")?.p50_ns;
    let mut medians: Vec<(u64, &str)> =
        of_stream.filter_map(|(_, record)| Some((median(record)?, record.reader.as_str()))).collect();
    medians.sort_unstable();
    let [.., (next_ns, _), (slow_ns, slow)] = medians[..] else { return String::new() };
    if slow_ns < MUCH_LATER * next_ns {
        return String::new();
    }
    format!(
        "; {slow} holds it up: its median service time is {} µs, that of each other reader at most {} µs",
        format_micros(slow_ns as f64),
        format_micros(next_ns as f64)
    )
}

/// Warns of senders that did not keep their schedule, or were held up by back-pressure. `writing_ns` is the writing
/// time.
pub(super) fn warn(evaluation: &mut Evaluation, writing_ns: u64, paced: &Paced, ends: &[Ends<'_>]) {
    let records = evaluation.flows.clone();
    for (one, record) in ends.iter().zip(&records).filter(|(one, _)| one.is_first_of_writer) {
        let usage = &one.route.writing.report.usage;
        let mut sender = Sender::new(record.lag_in_writes_pct.unwrap_or(0.0) / 100.0, usage);
        if let Some(thread_ns) = one.writer.thread_ns {
            sender.busy = thread_ns as f64 / usage.elapsed_ns.max(1) as f64;
        }
        if let Some(late) = Lateness::classify(one.load, &record.latency, writing_ns, sender) {
            let kind =
                if late.is_back_pressure() { WarningKind::BackPressure } else { WarningKind::SenderLimited };
            let (whose, held_by) = if late.is_back_pressure() && readers_of(one, ends) > 1 {
                (format!("{}: ", one.route.writing.endpoint.id), slow_reader(one, ends, &records))
            } else {
                (one.whose.clone(), String::new())
            };
            evaluation.warn(kind, format!("{whose}{late}{held_by}"));
        }
    }
    if paced.unsent > 0 {
        let text = format!(
            "{} of {} planned samples ({} %) were not tried before the measured time ended",
            paced.unsent,
            paced.planned,
            format_value(percent(paced.unsent, paced.planned))
        );
        evaluation.warn(WarningKind::Unsent, text);
    }
}
