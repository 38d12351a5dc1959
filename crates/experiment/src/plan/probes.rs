//! Validation of echo probes and of throttled rates, which depend on them.

use driver_abi::description::ReceiveMode;

use crate::{
    factors::{
        FactorValues, Value, Workload,
        content_filter::FilterSpec,
        endpoint_qos::End,
        policies::Policies,
        rate::{RateSpec, THROTTLE_QUEUE},
        topology::Topology,
    },
    plan::{design::Design, expansion::OfDriver, experiment_file::ExperimentFile},
    syntax::{
        one_or_many::Located,
        spanned_error::{SpannedError, contradiction},
    },
};

/// Minimum distance of echo probes in samples: fewer than 1 % of the samples are echoed.
const MIN_EVERY: u32 = 101;

/// Minimum queue of a throttle, in probe distances. Its low mark, 10 % of the queue, then spans two probes.
const QUEUE_PROBES: u64 = 20;
/// Maximum queue in samples: RESOURCE_LIMITS of DDS are signed 32-bit numbers.
const MAX_QUEUE: u64 = i32::MAX as u64;

/// Rejects a throttle without echo probes, a queue out of range, and one whose high mark exceeds the writer's
/// limits.
fn check_throttle(
    file: &ExperimentFile,
    distance: Option<u32>,
    axes: &[&FactorValues],
) -> Result<(), SpannedError> {
    let paced = axes.iter().filter(|axes| axes.has_workload(Workload::Paced));
    for (axes, rate) in
        paced.flat_map(|axes| axes.all::<RateSpec>("rate").0.into_iter().map(move |rate| (axes, rate)))
    {
        let RateSpec::Throttled(own) = *rate.get() else { continue };
        let Some(every) = distance else {
            let words = "a throttled rate needs echo probes";
            return rate.refused(words, "add `probe_every = 200` under `[design]`");
        };
        let mut topologies = axes.all::<Topology>("topology").0.into_iter();
        if let Some(topology) = topologies.find(|topology| !topology.get().is_pair()) {
            let words = format!("a throttled rate is not supported with `topology = \"{}\"`", topology.get());
            return rate.refused(words, "use `topology = \"pair\"`: the rate follows one reader");
        }
        // Without a queue of its own, the throttle follows the send queue.
        let mut held: Vec<u64> = axes.all::<u32>("send_queue").values().copied().map(u64::from).collect();
        let queues = match own {
            Some(queue) => vec![queue],
            None if held.is_empty() => vec![THROTTLE_QUEUE],
            None => std::mem::take(&mut held),
        };
        for of_writers in file.all_policies().filter(|of| of.end == End::Writer) {
            let Policies { max_samples, max_samples_per_instance, .. } = of_writers.policies;
            let limits = [max_samples, max_samples_per_instance];
            held.extend(limits.iter().flatten().filter_map(|limit| u64::try_from(*limit.get()).ok()));
        }
        for queue in queues {
            if queue > MAX_QUEUE {
                return rate
                    .refused(format!("`throttled {queue}` is out of range"), "use up to 2147483647 samples");
            }
            if queue < QUEUE_PROBES * u64::from(every) {
                let words = format!("a queue of {queue} samples is too short for one echo probe in {every}");
                let hint = "choose a queue of at least 20 probe distances: `throttled 4000`, or `send_queue = 4000`, with \
                            `probe_every = 200`";
                return rate.refused(words, hint);
            }
            let mark = queue - queue / 10;
            if let Some(limit) = held.iter().find(|limit| **limit <= mark) {
                let words = format!(
                    "a throttle at {mark} outstanding samples has no effect: the writer is limited to {limit}"
                );
                let hint = "use `throttled` without a number, which follows `send_queue`, or a queue within the limits of the \
                            writer";
                return rate.refused(words, hint);
            }
        }
    }
    Ok(())
}

/// Rejects invalid throttles, echo probes that are too frequent, and those without exactly one stream of each writer.
pub(crate) fn check(
    file: &ExperimentFile,
    design: &Design,
    axes: &[&FactorValues],
) -> Result<(), SpannedError> {
    let distance = design.longest_probe_distance();
    check_throttle(file, distance, axes)?;
    if distance.is_none() {
        return Ok(());
    }
    let of_file = file.design.probe_every.as_ref();
    let at = of_file.map_or(0..0, Located::span);
    let refuse = |words: String, hint: &'static str| Err(contradiction(words, hint).at(at.clone()));
    if let Some(every) = of_file.map(|every| *every.get()).filter(|every| *every < MIN_EVERY) {
        let words = format!("an echo probe in every {every} samples adds load");
        return refuse(words, "use `probe_every = 101` or more: under 1 % of the samples");
    }
    if axes.iter().any(|axes| axes.has_workload(Workload::Search)) {
        let words = "`probe_every` is not supported by the workload `search`".to_owned();
        return refuse(words, "remove `probe_every`, or use the workload `throughput`");
    }
    if !axes.iter().any(|axes| axes.has_stream()) {
        let words = "`probe_every` has no effect on `latency`, where every sample is echoed".to_owned();
        return refuse(words, "use the workload `throughput` or `paced`, or remove `probe_every`");
    }
    let topologies = axes.iter().flat_map(|axes| axes.all::<Topology>("topology").0);
    if let Some(topology) = topologies.into_iter().find(|topology| topology.get().mesh().is_none()) {
        let words = format!("echo probes are not supported with `topology = \"{}\"`", topology.get());
        return refuse(words, "use `topology = \"pair\"` or one such as `1-3`, or remove `probe_every`");
    }
    let topics = axes.iter().flat_map(|axes| axes.all::<u32>("topics").0);
    if let Some(topics) = topics.into_iter().find(|topics| *topics.get() > 1) {
        let words = format!("echo probes are not supported with `topics = {}`", topics.get());
        return refuse(words, "use `topics = 1`, or remove `probe_every`");
    }
    let filters = axes.iter().flat_map(|axes| axes.all::<FilterSpec>("content_filter").0);
    if let Some(filter) = filters.into_iter().find(|filter| filter.get().0.is_some()) {
        let words = format!("echo probes are not supported with `content_filter = \"{}\"`", filter.get());
        return refuse(words, "use `content_filter = \"none\"`, or remove `probe_every`");
    }
    if file.flows.len() > 1 {
        return refuse(
            "echo probes are not supported with several flows".to_owned(),
            "measure a single flow",
        );
    }
    Ok(())
}

impl OfDriver<'_, '_> {
    /// Returns whether the driver can echo probes in this receive mode.
    pub(crate) fn can_echo(&mut self, receive: &Located<Value>) -> Result<bool, SpannedError> {
        let probed = self.axes.has_stream() && self.all.is_probed;
        let listens = *receive.get() == ReceiveMode::Listener.into();
        if !probed || !listens || self.description.echoes_probes_in_listener() {
            return Ok(true);
        }
        let driver = self.driver;
        let words = format!("a listener of driver `{driver}` must not wait, so it cannot echo all probes");
        let hint = "use `receive = \"waitset\"` or `\"polling\"`, or remove `probe_every`";
        let cells = FactorValues::only("receive", ReceiveMode::Listener);
        self.cannot(&cells, contradiction(words, hint).at(receive.span()))?;
        Ok(false)
    }
}
