//! What one writer sent and one reader got of it: counts that must agree, and what they say together.

use results::{Counted, Received};
use stats::total;

use super::Figures;

/// Both ends of one stream of samples.
pub(super) struct Delivery<'a> {
    /// Begins each sentence: names the stream where there are several.
    pub(super) whose: &'a str,
    pub(super) size_bytes: u64,
    pub(super) offered: u64,
    pub(super) accepted: u64,
    pub(super) write_calls: u64,
    pub(super) received: &'a Received,
}

impl Delivery<'_> {
    /// Independent counts that must agree.
    pub(super) fn check(&self, figures: &mut Figures) {
        let Self { whose, size_bytes, offered, accepted, write_calls, received } = *self;
        figures.check(accepted <= offered, || {
            format!("{whose}{accepted} samples were accepted of {offered} offered")
        });
        figures.check(write_calls >= accepted, || {
            format!("{whose}{accepted} samples were accepted in {write_calls} write calls")
        });
        figures.check(received.next <= accepted, || {
            format!("{whose}sample {} came, but only {accepted} were sent", received.next.saturating_sub(1))
        });
        figures.check(total([received.delivered, received.missing]) == received.next, || {
            format!(
                "{whose}{} samples came and {} are missing, of the first {}",
                received.delivered, received.missing, received.next
            )
        });
        let in_windows = total(received.window_delivered.iter().copied());
        figures.check(received.delivered == in_windows, || {
            format!("{whose}{} samples came, but {in_windows} in all windows", received.delivered)
        });
        figures.check(received.beyond_reach == 0, || {
            format!("{whose}{} samples came too late to tell them from duplicates", received.beyond_reach)
        });
        figures.check(received.bytes == received.delivered.saturating_mul(size_bytes), || {
            format!(
                "{whose}{} samples of {size_bytes} bytes came, with {} bytes in all",
                received.delivered, received.bytes
            )
        });
    }

    /// What became of the samples that were accepted. `still_owed`: those behind the last one that came are under way to a
    /// reliable reader; else they are lost.
    pub(super) fn counted(&self, figures: &mut Figures, still_owed: bool) -> Counted {
        let received = self.received;
        let trailing = self.accepted.saturating_sub(received.next);
        let undelivered = if still_owed { trailing } else { 0 };
        let counted = Counted {
            writer: received.writer,
            reader: 0,
            sent: self.accepted,
            delivered: received.delivered,
            lost: received.missing.saturating_add(trailing - undelivered),
            undelivered,
            duplicate: received.duplicate,
            out_of_order: received.out_of_order,
            corrupt: received.corrupt,
            foreign: 0,
            checked_in_full: received.checked_in_full,
        };
        let Counted { sent, delivered, lost, .. } = counted;
        figures.check(sent == total([delivered, lost, undelivered]), || {
            format!(
                "{}{sent} samples were sent, but {delivered} delivered, {lost} lost and {undelivered} still owed",
                self.whose
            )
        });
        counted
    }
}
