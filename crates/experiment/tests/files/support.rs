//! Descriptions of drivers that do not exist.

use std::collections::BTreeMap;

use experiment::{DriverDescription, OptionInfo, Policy, PolicySupport, ReceiveMode, Support, TransportInfo};

pub fn description(name: &str, features: &[&str], enforced: &[Policy]) -> DriverDescription {
    DriverDescription {
        name: name.to_owned(),
        driver_version: "1".to_owned(),
        middleware: "M".to_owned(),
        middleware_version: "1".to_owned(),
        version_source: "library".to_owned(),
        licence: "Apache-2.0".to_owned(),
        transports: vec![
            TransportInfo { name: "udp4".to_owned(), max_payload_bytes: 65_507, note: None },
            TransportInfo { name: "shm".to_owned(), max_payload_bytes: 1_000_000, note: None },
        ],
        options: ["depth", "mode"]
            .map(|name| OptionInfo { name: name.to_owned(), default_value: None, help: String::new() })
            .to_vec(),
        receive_modes: vec![ReceiveMode::Waitset],
        type_kinds: vec!["octets".to_owned()],
        features: features.iter().map(|feature| (*feature).to_owned()).collect(),
        policies: Policy::ALL
            .iter()
            .map(|policy| {
                let support =
                    if enforced.contains(policy) { Support::Enforced } else { Support::Unsupported };
                (*policy, PolicySupport::of_both(support, None))
            })
            .collect(),
        ..DriverDescription::default()
    }
}

pub fn drivers() -> BTreeMap<String, DriverDescription> {
    let all = [Policy::Reliability, Policy::History, Policy::ResourceLimits, Policy::Durability];
    let mut plain = description("plain", &[], &all);
    plain.receive_modes.push(ReceiveMode::Polling);
    let mut dds = description("dds", &["native_batching"], &all);
    dds.type_kinds.push("keyed".to_owned());
    [("bare", description("bare", &["application_batching"], &[])), ("dds", dds), ("plain", plain)]
        .into_iter()
        .map(|(name, description)| (name.to_owned(), description))
        .collect()
}
