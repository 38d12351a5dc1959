//! Receiving: modes, groups and content filters of the subscribers, each its own, and of the publisher for echoes.

use experiment::{KeyFilter, ReaderDesign, ReceiveGroup, ReceiveMode};
use perftest::{Receive, Settings};

use super::{
    OwnPart,
    distances::Topology,
    queues::{GROUP_ALONE, group},
};
use crate::cli::cli_error::{CliError, Result};

/// Settings of receiving that a plan has.
pub struct Receiving {
    /// Settings of the first subscriber, which are those of the cell.
    pub cell: ReaderDesign,
    /// Settings of each subscriber; empty if all have those of the cell.
    pub readers: Vec<ReaderDesign>,
    /// Receive mode of publisher 0 for echoes, if it is another.
    pub echo_receive: Option<ReceiveMode>,
    /// Whether each subscriber echoes the samples that it receives.
    pub all_echo: bool,
}

impl Receiving {
    /// Returns the settings of subscribers. `is_latency`: whether one sample is in flight. `waits`: whether the driver's listener must
    /// not wait, although the first subscriber echoes latency samples of a stream.
    pub fn of(
        settings: &Settings,
        subscribers: &[&OwnPart],
        is_latency: bool,
        waits: bool,
        notes: &mut Vec<String>,
    ) -> Self {
        let mut readers: Vec<ReaderDesign> =
            subscribers.iter().map(|part| reader(settings, part, is_latency, notes)).collect();
        let first = readers.first_mut().expect("a test has a subscriber");
        if waits && first.receive == ReceiveMode::Listener {
            first.receive = ReceiveMode::Waitset;
            notes.push(
                "a listener of the driver must not wait, so the subscriber echoes latency samples from a thread that waits, \
                 as with `-useReadThread`"
                    .to_owned(),
            );
        }
        let mut cell = *first;
        if is_latency {
            // A plan has content filters of streams only.
            cell.content_filter = None;
        }
        let has_filter = readers.iter().any(|reader| reader.content_filter.is_some());
        let are_alike = readers.iter().all(|reader| *reader == cell);
        if !are_alike && readers.iter().any(|reader| reader.content_filter != cell.content_filter) {
            cell.content_filter = None;
        }
        let own = match settings.local.receive {
            Receive::Listener => ReceiveMode::Listener,
            Receive::ReadThread { .. } => ReceiveMode::Waitset,
        };
        Self {
            cell,
            all_echo: is_latency && has_filter && readers.len() > 1,
            readers: if are_alike { Vec::new() } else { readers },
            echo_receive: Some(own).filter(|own| is_latency && *own != cell.receive),
        }
    }
}

fn reader(settings: &Settings, part: &OwnPart, is_latency: bool, notes: &mut Vec<String>) -> ReaderDesign {
    let (receive, samples, us) = part.receive.unwrap_or((ReceiveMode::Listener, 1, 0));
    let mut receive_group = None;
    if samples > 1 && receive == ReceiveMode::Waitset {
        let mut of_it = Vec::new();
        let samples = if is_latency {
            of_it.push(GROUP_ALONE.to_owned());
            1
        } else {
            group(settings, samples, &mut of_it)
        };
        receive_group = (samples > 1).then(|| ReceiveGroup::new(samples, u64::from(us.max(1)) * 1000));
        of_it.retain(|note| !notes.contains(note));
        notes.extend(of_it);
    }
    ReaderDesign { receive, receive_group, content_filter: part.filter }
}

/// Rejects content filters beside echoes of a stream.
pub fn check_filters(settings: &Settings, is_latency: bool, topology: Topology) -> Result<()> {
    if is_latency && topology.publishers > 1 {
        let error =
            format!("`-cft` with `-latencyTest` is not supported with {} publishers", topology.publishers);
        return Err(CliError::usage(error, "use one publisher, or remove `-cft`"));
    }
    debug_assert!(!settings.local.pacing.throttle, "`unfit_filter` rejects it");
    Ok(())
}

/// Returns why a test cannot have this filter of a subscriber, and the next step. `alone`: whether it is the only subscriber.
pub fn unfit_filter(
    settings: &Settings,
    filter: KeyFilter,
    alone: bool,
) -> Option<(&'static str, &'static str)> {
    let shared = &settings.shared;
    let excludes_all = match shared.write_instance {
        Some(only) => !filter.includes(only),
        None => u64::from(filter.first) >= u64::from(shared.instances),
    };
    if settings.local.pacing.throttle {
        Some((
            "`-cft` is not supported with `-enableAutoThrottle`, which follows echoes",
            "remove one of them",
        ))
    } else if alone && excludes_all {
        let hint = "choose keys that `-instances` and `-writeInstance` have: they begin with 0";
        Some(("`-cft` excludes all samples", hint))
    } else {
        None
    }
}
