//! Losses of several readers, by name.

use std::collections::BTreeMap;

use stats::{format_value, total};

use crate::{schema::FlowRecord, values::rules::percent};

/// Maximum number of readers that are named.
const NAMED: usize = 3;

/// Returns the readers that lost the most, as the end of a sentence; empty with only one reader.
#[must_use]
pub fn losses_by_reader<'f>(flows: impl IntoIterator<Item = &'f FlowRecord>) -> String {
    let mut readers: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for flow in flows {
        let (lost, sent) = readers.entry(&flow.reader).or_default();
        (*lost, *sent) = (lost.saturating_add(flow.counted.lost), sent.saturating_add(flow.counted.sent));
    }
    let mut losing: Vec<(u64, u64, &str)> = readers
        .iter()
        .filter(|(_, (lost, _))| *lost > 0)
        .map(|(id, (lost, sent))| (*lost, *sent, *id))
        .collect();
    if readers.len() < 2 || losing.is_empty() {
        return String::new();
    }
    losing.sort_by_key(|(lost, _, id)| (std::cmp::Reverse(*lost), *id));
    let (named, rest) = losing.split_at(losing.len().min(NAMED));
    let mut texts: Vec<String> = named
        .iter()
        .map(|(lost, sent, id)| {
            format!("{id} lost {lost} of {sent} ({} %)", format_value(percent(*lost, *sent)))
        })
        .collect();
    if !rest.is_empty() {
        let lost = total(rest.iter().map(|(lost, ..)| *lost));
        texts.push(format!("{} other readers lost {lost}", rest.len()));
    }
    if readers.len() > losing.len() {
        texts.push("the others lost none".to_owned());
    }
    format!(": {}", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::DeliveryCounts;

    fn flows(lost: &[(&str, u64)]) -> String {
        let flow = |(reader, lost): &(&str, u64)| FlowRecord {
            reader: (*reader).to_owned(),
            counted: DeliveryCounts { sent: 1_000, lost: *lost, ..DeliveryCounts::default() },
            ..FlowRecord::default()
        };
        losses_by_reader(&lost.iter().map(flow).collect::<Vec<_>>())
    }

    #[test]
    fn readers_are_named_by_their_losses() {
        assert_eq!(flows(&[("reader", 10)]), "");
        assert_eq!(flows(&[("reader-1", 0), ("reader-2", 0)]), "");
        assert_eq!(
            flows(&[("reader-1", 0), ("reader-2", 900), ("reader-2", 100)]),
            ": reader-2 lost 1000 of 2000 (50.0 %), the others lost none"
        );
        assert_eq!(
            flows(&[("a", 1), ("b", 2), ("c", 4), ("d", 3), ("e", 1)]),
            ": c lost 4 of 1000 (0.400 %), d lost 3 of 1000 (0.300 %), b lost 2 of 1000 (0.200 %), 2 other readers lost 2"
        );
    }
}
