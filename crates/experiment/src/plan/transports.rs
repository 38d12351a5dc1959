//! Transports of a driver that an experiment file requests.

use crate::{
    factors::{FactorValues, placement::Placement},
    plan::{expansion::OfDriver, plan_inputs::PlanInputs, requested_transport::RequestedTransport},
    syntax::{
        driver_name::drivers_of_ends,
        host_spec::HostSpec,
        one_or_many::OneOrMany,
        spanned_error::{PlanError, SpannedError, available, contradiction},
    },
};

/// Names for the transport that each driver has without a request, and for each single one of its transports.
const DEFAULT_TRANSPORT: &str = "default";
const ALL_TRANSPORTS: &str = "all";

/// Transport of a driver for those that its middleware enables by itself: `include/ddsmark/driver.h`, `ddsmark_transport_info`.
const BUILTIN_TRANSPORTS: &str = "builtin";

/// Transports between processes of one host only.
const ON_ONE_HOST: &[&str] = &["shm", "data_sharing"];

impl OfDriver<'_, '_> {
    /// Returns the requested transports. Without a request, the first one; as shipped, those that the middleware enables by itself.
    pub(crate) fn transports(&mut self) -> Result<Vec<RequestedTransport>, SpannedError> {
        let Self { driver, description, axes, .. } = *self;
        let inputs = self.all.inputs;
        let requested: OneOrMany<String> = axes.all("transport");
        let placements: OneOrMany<Placement> = axes.all("placement");
        let is_placed = placements.0.iter().any(|placement| !placement.get().entries.is_empty());
        // Others may be names of one host.
        let hosts = inputs.hosts;
        let are_virtual = hosts.len() > 1 && hosts.iter().all(|host| matches!(host.at, HostSpec::Lab(_)));
        let is_between_hosts = are_virtual && !is_placed;
        let mut transports: Vec<RequestedTransport> = Vec::new();
        let builtin = description.transport(Some(BUILTIN_TRANSPORTS));
        for transport in &requested.0 {
            let of_both = |transport| RequestedTransport::new(transport, None);
            let found: Vec<_> = match (transport.get().as_str(), builtin) {
                (ALL_TRANSPORTS, _) => {
                    let single = description.transports.iter().filter(|own| own.name != BUILTIN_TRANSPORTS);
                    single.map(of_both).collect()
                }
                (DEFAULT_TRANSPORT, Some(builtin)) => {
                    let tuned =
                        description.transport(None).map(|own| RequestedTransport::new(own, Some(false)));
                    tuned.into_iter().chain([RequestedTransport::new(builtin, Some(true))]).collect()
                }
                (DEFAULT_TRANSPORT, None) => description.transport(None).map(of_both).into_iter().collect(),
                (name, _) => description.transport(Some(name)).map(of_both).into_iter().collect(),
            };
            if found.is_empty() {
                let known: Vec<_> =
                    description.transports.iter().map(|transport| transport.name.clone()).collect();
                let error = no_transport(driver, transport.get(), inputs, &known);
                let cells = FactorValues::only("transport", transport.get().clone());
                self.cannot(&cells, error.at(transport.span()))?;
            }
            for found in found {
                if is_between_hosts && ON_ONE_HOST.contains(&found.name.as_str()) {
                    let words = format!(
                        "transport `{}` of driver `{driver}` connects processes of one host, and the endpoints are on several",
                        found.name
                    );
                    let hint = "use another transport, or place the endpoints on one host by `placement`";
                    let cells = FactorValues::only("transport", found.name.clone());
                    let error = contradiction(words, hint).at(transport.span());
                    self.cannot(&cells, error)?;
                    continue;
                }
                if let Some(known) = transports.iter_mut().find(|known| known.name == found.name) {
                    known.shipped = known.shipped.filter(|_| known.shipped == found.shipped);
                } else {
                    transports.push(found);
                }
            }
        }
        Ok(transports)
    }
}

/// Returns the error for a transport that a driver does not have, with the available ones.
fn no_transport(driver: &str, transport: &str, inputs: &PlanInputs<'_>, known: &[String]) -> PlanError {
    let of_both = drivers_of_ends(driver)
        .into_iter()
        .all(|end| inputs.descriptions.get(end).is_some_and(|end| end.transport(Some(transport)).is_some()));
    if of_both {
        let words = format!(
            "the two of `{driver}` do not understand each other over `{transport}`: each version of a middleware lays \
             out the memory that it shares in its own way"
        );
        return contradiction(words, format!("available for both: {}", known.join(", ")));
    }
    contradiction(format!("driver `{driver}` has no transport `{transport}`"), available(known))
}
