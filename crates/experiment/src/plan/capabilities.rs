//! Checks of an experiment file against what each driver supports.

use std::collections::BTreeMap;

use driver_abi::{
    description::{DriverDescription, Support},
    policies::{Durability, History, Policy, Qos, QosDuration, Reliability},
};

use crate::{
    factors::{
        Batching, DEFAULT_BASE, DEFAULT_PROFILE, FactorValues,
        endpoint_qos::{End, EndpointQos, support_of, without_effect},
        flow::Flow,
        flow_sizes::FlowSizes,
        policies::Policies,
        policy_values::ReliabilityChoice,
        qos::default_max_samples,
    },
    plan::{
        axes::MAX_CELLS, batches::Batch, expansion::OfDriver, queue_checks::no_policy,
        requested_transport::RequestedTransport,
    },
    syntax::{
        one_or_many::{Located, OneOrMany},
        similar,
        spanned_error::{PlanError, SpannedError, all_distinct, contradiction},
        units::{MIN_SIZE_BYTES, Size},
    },
};

/// Maximum time that a reliable write may block, in ns.
const MAX_BLOCKING_NS: u64 = 1_000_000_000;

/// Policies that a driver supports, with the resulting reliability; `None` if the middleware decides on it.
type Supported = (Policies, Option<Reliability>);

/// Policies that a driver supports, of a cell or a flow.
#[derive(Clone)]
pub(crate) struct RequestedQos {
    both: Supported,
    /// Policies of writers and of readers, if a policy is requested of one of them only.
    ends: Option<[Supported; 2]>,
}

/// Profile that a driver supports.
pub(crate) struct Profile {
    /// Name; `None` if the experiment has no profiles.
    pub(crate) name: Option<String>,
    pub(crate) of_cell: RequestedQos,
    /// Policies of each flow; `None` for a flow without policies of its own.
    of_flows: Vec<Option<RequestedQos>>,
}

impl RequestedQos {
    /// Returns the QoS for samples of this size.
    pub(crate) fn qos(&self, description: &DriverDescription, size: u64, vendor_defaults: bool) -> Qos {
        qos(description, &self.both, size, vendor_defaults)
    }

    /// Returns the QoS of each endpoint, if they differ.
    pub(crate) fn qos_of_ends(
        &self,
        description: &DriverDescription,
        size: u64,
        vendor_defaults: bool,
    ) -> Option<EndpointQos> {
        let [writer, reader] =
            self.ends.as_ref()?.each_ref().map(|of_end| qos(description, of_end, size, vendor_defaults));
        // LIFESPAN is a policy of writers, but the reader gets it too: one implementation delivers expired samples
        // to a reader that does not know it.
        let reader = Qos { lifespan_ns: writer.lifespan_ns, ..reader.of_readers() };
        Some(EndpointQos { writer: writer.of_writers(), reader })
    }
}

impl Profile {
    /// Returns the flows with their QoS.
    pub(crate) fn flows(&self, flows: &[Flow], description: &DriverDescription, shipped: bool) -> Vec<Flow> {
        let own = |(flow, own_qos): (&Flow, &Option<RequestedQos>)| Flow {
            qos: own_qos.as_ref().map(|own| own.qos(description, flow.size_bytes, shipped)),
            qos_of_ends: own_qos
                .as_ref()
                .and_then(|own| own.qos_of_ends(description, flow.size_bytes, shipped)),
            ..flow.clone()
        };
        flows.iter().zip(&self.of_flows).map(own).collect()
    }
}

impl OfDriver<'_, '_> {
    pub(crate) fn sizes(
        &mut self,
        transport: &RequestedTransport,
        requested: &OneOrMany<Size>,
    ) -> Result<Vec<u64>, SpannedError> {
        let mut sizes = Vec::new();
        for size in &requested.0 {
            let Size(bytes) = *size.get();
            if bytes < MIN_SIZE_BYTES {
                return Err(PlanError::too_small(bytes).at(size.span()));
            }
            let max = transport.max_payload_bytes;
            if bytes > max {
                let (driver, transport) = (self.driver, &transport.name);
                let cells = FactorValues::only("transport", transport.clone()).and("size", Size(bytes));
                let error = contradiction(
                    format!(
                        "size {bytes} is too large: `{transport}` of driver `{driver}` carries up to {max} bytes"
                    ),
                    format!("use sizes up to {max}, or another transport or driver"),
                );
                self.cannot(&cells, error.at(size.span()))?;
            } else {
                sizes.push(bytes);
            }
        }
        Ok(sizes)
    }

    /// Returns the profiles over each base that the driver supports, by the base as cells have it.
    pub(crate) fn bases(&mut self) -> Result<BTreeMap<Option<String>, Vec<Profile>>, SpannedError> {
        let (file, axes) = (self.all.file, self.axes);
        let mut bases = BTreeMap::new();
        for name in axes.all::<String>("base").values() {
            let policies = match file.bases.get(&Located::nowhere(name.clone())) {
                Some(base) => base.over(&file.qos),
                None => file.qos.clone(),
            };
            let profiles = self.profiles(name, &policies)?;
            bases.insert((name != DEFAULT_BASE).then(|| name.clone()), profiles);
        }
        Ok(bases)
    }

    /// Returns the profiles over a base, given with its name, that the driver supports. Rejects policies of profile and base that
    /// contradict each other.
    fn profiles(&mut self, of_base: &str, base: &Policies) -> Result<Vec<Profile>, SpannedError> {
        let mut profiles = Vec::new();
        let over_base = |name: &String| {
            let profile = self.all.file.profiles.get(&Located::nowhere(name.clone()));
            (Some(name.clone()), profile.map_or_else(|| base.clone(), |profile| profile.over(base)))
        };
        let requested = self.axes.all::<String>("profile");
        let mut all: Vec<(Option<String>, Policies)> = requested.values().map(over_base).collect();
        if all.is_empty() {
            all.push((None, base.clone()));
        }
        for (name, policies) in all {
            let profile = name.as_deref().unwrap_or(DEFAULT_PROFILE);
            let cells = FactorValues::only("profile", profile.to_owned()).and("base", of_base.to_owned());
            let ends = End::BOTH.map(|end| policies.of_end(end));
            if let Some(SpannedError { error, at }) = ends.iter().find_map(Policies::contradiction) {
                if !self.is_excluded(&cells) {
                    let words = format!("profile `{profile}` over base `{of_base}`: {error}");
                    return Err(contradiction(words, error.hint().to_owned()).at(at));
                }
                continue;
            }
            let of_cell = self.requested(&cells, &policies, "these writers and readers")?;
            let Some(of_cell) = of_cell else { continue };
            if let Some(of_flows) = self.policies_of_flows(&cells, &policies)? {
                profiles.push(Profile { name, of_cell, of_flows });
            }
        }
        Ok(profiles)
    }

    /// Returns the policies of each flow that has its own, over those of a profile; `None` if the driver does not
    /// support them.
    fn policies_of_flows(
        &mut self,
        cells: &FactorValues,
        base: &Policies,
    ) -> Result<Option<Vec<Option<RequestedQos>>>, SpannedError> {
        let mut all = Vec::new();
        for flow in &self.all.file.flows {
            let own = &flow.get().qos;
            let requested = if *own == Policies::default() {
                None
            } else {
                let who = flow.get().ends_text();
                let Some(requested) = self.requested(cells, &own.over(base), &who)? else { return Ok(None) };
                Some(requested)
            };
            all.extend(std::iter::repeat_n(requested, flow.get().number()));
        }
        Ok(Some(all))
    }

    /// Returns the policies with the resulting reliability; `None` if the driver does not support them. Rejects
    /// endpoints that never match, which `who` names.
    fn requested(
        &mut self,
        cells: &FactorValues,
        policies: &Policies,
        who: &str,
    ) -> Result<Option<RequestedQos>, SpannedError> {
        let description = self.description;
        let mut of = |policies: Policies, ends: &[End]| self.supported(cells, ends, policies);
        if !policies.has_ends() {
            return Ok(of(policies.of_both(), &End::BOTH)?.map(|both| RequestedQos { both, ends: None }));
        }
        let [writer, reader] = End::BOTH.map(|end| of(policies.of_end(end), &[end]));
        let (Some(writer), Some(reader)) = (writer?, reader?) else { return Ok(None) };
        // Both endpoints may override the policies of both.
        let requested = policies.reliability.as_ref().and_then(|choice| choice.get().kind());
        let reliability = requested.or(reader.1);
        let requested =
            RequestedQos { both: (policies.of_both(), reliability), ends: Some([writer, reader]) };
        // The payload size does not affect whether endpoints match.
        let ends = requested.qos_of_ends(description, MIN_SIZE_BYTES, true);
        ends.iter().try_for_each(|ends| policies.check_match(ends, who))?;
        Ok(Some(requested))
    }

    /// Returns the policies of the profile and base of these cells that are requested of these endpoints, with the resulting reliability; `None` if the
    /// driver does not support them.
    fn supported(
        &mut self,
        cells: &FactorValues,
        ends: &[End],
        policies: Policies,
    ) -> Result<Option<Supported>, SpannedError> {
        let Self { driver, description, .. } = *self;
        let reliable = description.support(Policy::Reliability) == Support::Enforced;
        let requested =
            policies.reliability.clone().unwrap_or_else(|| Located::nowhere(ReliabilityChoice::Strongest));
        let reliability = match *requested.get() {
            ReliabilityChoice::Strongest if reliable => Some(Reliability::Reliable),
            ReliabilityChoice::Strongest => {
                let note = format!("driver `{driver}` cannot guarantee delivery: it runs best effort");
                self.note(false, note);
                Some(Reliability::BestEffort)
            }
            ReliabilityChoice::Reliable if !reliable => {
                let error = contradiction(
                    format!("driver `{driver}` cannot guarantee delivery: reliability is unsupported"),
                    "remove `reliability` to use the strongest guarantee of each driver",
                );
                self.cannot(cells, error.at(requested.span()))?;
                return Ok(None);
            }
            choice => choice.kind(),
        };
        // The reliability kind was chosen above.
        let others = policies.set_fields().into_iter().filter(|(field, ..)| *field != "reliability");
        for (field, policy, at) in others {
            match support_of(description, policy, ends) {
                Support::Unsupported => {
                    let hint = format!(
                        "remove the policy or the driver; see {} in `ddsmark drivers info {driver}`",
                        policy.name()
                    );
                    self.cannot(cells, no_policy(driver, policy, field, hint).at(at))?;
                    return Ok(None);
                }
                Support::Ignored => {
                    self.note_ignored(without_effect(description, policy, ends));
                }
                Support::NeedsService => {
                    let note = format!(
                        "driver `{driver}`: policy {policy} acts only with a further process or store"
                    );
                    self.note(false, note);
                }
                Support::MatchedOnly | Support::Hint | Support::Enforced => {}
            }
        }
        Ok(Some((policies, reliability)))
    }

    /// Returns the component that packs samples, and the batch settings that can be measured.
    pub(crate) fn batching(&mut self) -> Result<(Batching, Vec<Batch>), SpannedError> {
        let Self { driver, description, axes, .. } = *self;
        let flows = self.all.flows;
        let batching = if description.has("native_batching") {
            Batching::Native
        } else if description.has("application_batching") {
            Batching::Application
        } else {
            Batching::None
        };
        let batches = Batch::all(axes);
        let requested: Vec<Batch> = batches.iter().map(|(batch, _)| *batch).collect();
        let batched = batches.iter().find(|(batch, _)| !batch.is_unbatched());
        if let Some((_, at)) = batches.iter().find(|(batch, _)| matches!(batch, Batch::Samples(_)))
            && flows.iter().any(|flow| flow.flow_sizes() != FlowSizes::One(flows[0].size_bytes))
        {
            let words = "a number of samples per batch is not supported with flows of different sizes";
            let hint = "use `batch_bytes`, or `batch_samples = \"turbo\"`";
            return Err(contradiction(words, hint).at(at.clone()));
        }
        let streams = axes.has_stream();
        match batched {
            Some((_, at)) if batching == Batching::None && streams => {
                if requested.contains(&Batch::Bytes(0)) {
                    let note =
                        format!("driver `{driver}` cannot batch: its throughput is measured unbatched only");
                    self.note(false, note);
                } else {
                    let words = format!("driver `{driver}` cannot batch");
                    let error = contradiction(words, "remove the driver, or use 0 to measure it unbatched");
                    self.cannot(&FactorValues::default(), error.at(at.clone()))?;
                }
                Ok((batching, requested.into_iter().filter(|batch| batch.is_unbatched()).collect()))
            }
            _ => Ok((batching, requested)),
        }
    }

    /// Returns every combination of the driver's options.
    pub(crate) fn options(&self) -> Result<Vec<BTreeMap<String, String>>, SpannedError> {
        let Self { driver, description, .. } = *self;
        let mut combinations = vec![BTreeMap::new()];
        let Some((_, options)) = self.all.file.options_of(driver) else { return Ok(combinations) };
        for (option, values) in options {
            let known = description.options.iter().map(|known| known.name.as_str());
            if !known.clone().any(|known| known == option.get()) {
                let words = format!("driver `{driver}` has no option `{}`", option.get());
                return option.refused(words, similar::one_of(option.get(), known, "available:"));
            }
            all_distinct("value of the option", values)?;
            if values.0.is_empty() {
                return Err(PlanError::nothing("values of the option").at(option.span()));
            }
            let count = combinations.len().saturating_mul(values.0.len());
            if count > MAX_CELLS {
                return Err(PlanError::too_many("cells", count, MAX_CELLS).at(option.span()));
            }
            combinations = combinations
                .into_iter()
                .flat_map(|combination: BTreeMap<String, String>| {
                    values.values().map(move |value| {
                        let mut with = combination.clone();
                        with.insert(option.get().clone(), value.0.clone());
                        with
                    })
                })
                .collect();
        }
        Ok(combinations)
    }
}

/// Returns the QoS of writers or readers of a cell. Policies that are not in the file are requested only if the
/// driver enforces them, and not at all if the middleware decides on the reliability: volatile durability, keep-all history
/// and, unless the middleware runs as shipped, queue limits. Reliable delivery then has a maximum blocking time.
fn qos(
    description: &DriverDescription,
    (policies, reliability): &Supported,
    size: u64,
    vendor_defaults: bool,
) -> Qos {
    let mut qos = Qos { reliability: *reliability, ..Qos::default() };
    if reliability.is_none() {
        policies.apply(&mut qos);
        return qos;
    }
    let has = |policy| description.support(policy) == Support::Enforced;
    if has(Policy::Durability) {
        qos.durability = Some(Durability::Volatile);
    }
    if has(Policy::History) {
        qos.history = Some(History::KeepAll);
    }
    let limits = description.support_of_ends(Policy::ResourceLimits);
    let limits = limits.contains(&Support::Enforced) && !limits.contains(&Support::Unsupported);
    if limits && !vendor_defaults {
        // The queue must hold the history that the file requests.
        let depth = policies.history_depth.as_ref().map(|depth| *depth.get());
        let each = policies.max_samples_per_instance.as_ref().map(|limit| *limit.get());
        qos.max_samples = Some(default_max_samples(size, depth, each));
    }
    if *reliability == Some(Reliability::Reliable) && !vendor_defaults {
        qos.max_blocking_ns = Some(QosDuration::Ns(MAX_BLOCKING_NS));
    }
    policies.apply(&mut qos);
    qos
}
