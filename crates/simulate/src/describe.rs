//! Descriptions of simulated drivers, host and tool, as in a real result.

use std::collections::BTreeMap;

use experiment::{DriverDescription, OptionInfo, Policy, PolicySupport, ReceiveMode, Support, TransportInfo};
use results::{Host, Tool};
use sim_model::OPTIONS;

use crate::host_model::HostModel;

/// Returns the description of the simulated middleware under the given name: with reliable delivery and native
/// batching; or as a bare socket, without discovery and without policies.
#[must_use]
pub fn describe(name: &str, bare_socket: bool) -> DriverDescription {
    let enforced = PolicySupport::of_both(Support::Enforced, None);
    let policies = [(Policy::Reliability, enforced)];
    let (batching, locators) = if bare_socket { ("application", Some("locators")) } else { ("native", None) };
    let option = |option: &sim_model::OptionText| OptionInfo {
        name: option.name.to_owned(),
        default_value: Some(option.default.to_owned()),
        help: option.help.to_owned(),
    };
    DriverDescription {
        name: name.to_owned(),
        driver_version: env!("CARGO_PKG_VERSION").to_owned(),
        middleware: "Simulated middleware".to_owned(),
        middleware_version: env!("CARGO_PKG_VERSION").to_owned(),
        version_source: "library".to_owned(),
        licence: "Apache-2.0".to_owned(),
        transports: vec![TransportInfo { name: "local".to_owned(), max_payload_bytes: 1 << 20, note: None }],
        options: OPTIONS.iter().map(option).collect(),
        receive_modes: vec![ReceiveMode::Waitset, ReceiveMode::Polling],
        type_kinds: ["octets", "keyed"].map(str::to_owned).into(),
        features: [Some("simulated"), locators]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .chain([format!("{batching}_batching")])
            .collect(),
        policies: if bare_socket { BTreeMap::new() } else { policies.into() },
        ..DriverDescription::default()
    }
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "simulate".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: Vec::new(),
    }
}

/// Returns the simulated host, which has no measured properties.
pub(crate) fn host<'i>(host: &HostModel, interfaces: impl Iterator<Item = &'i String>) -> Host {
    let links = interfaces.filter_map(|name| Some((name.clone(), host.link_mbps?)));
    Host {
        name: "virtual time".to_owned(),
        kernel: "none".to_owned(),
        link_mbps: links.collect(),
        ..Host::default()
    }
}
