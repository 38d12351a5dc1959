//! Fields of a cell in a comparison: the requested values of one factor.

use driver_abi::policies::Qos;
use serde_json::Value;

use crate::{
    factors::{Factors, endpoint_qos::EndpointQos, load::Load},
    syntax::units::short,
};

/// Names and values of fields.
pub(crate) type Fields = Vec<(String, String)>;

/// Returns policies as fields, with the names `PREFIX.POLICY`.
#[must_use]
pub fn qos_fields(qos: &Qos, prefix: &str) -> Vec<(String, String)> {
    let Ok(Value::Object(policies)) = serde_json::to_value(qos) else { return Fields::new() };
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let present = policies.into_iter().filter(|(_, value)| !value.is_null());
    present.map(|(name, value)| (format!("{prefix}.{name}"), text(value))).collect()
}

/// Returns the fields of requested QoS: common to writer and reader, or of each.
fn requested(prefix: &str, both: &Qos, ends: Option<&EndpointQos>, by_ends: bool) -> Fields {
    if !by_ends {
        return qos_fields(both, prefix);
    }
    let same = || EndpointQos { writer: both.clone(), reader: both.clone() };
    let EndpointQos { writer, reader } = ends.cloned().unwrap_or_else(same);
    let mut fields = qos_fields(&writer.of_writers(), &format!("{prefix}.writer"));
    fields.extend(qos_fields(&reader.of_readers(), &format!("{prefix}.reader")));
    fields
}

/// Formats a load. A trace is identified by its SHA-256, and a share by its percentage, without the rate that
/// follows from it.
fn load_text(load: &Load) -> String {
    match load {
        Load::Trace { trace } => format!("{load} (SHA-256 {})", trace.sha256),
        Load::Share { percent, arrival, .. } => {
            format!("{} of the maximum", Load::Share { percent: *percent, arrival: *arrival, rate: None })
        }
        _ => load.to_string(),
    }
}

pub(crate) fn of_load(cell: &Factors, _: bool) -> Fields {
    cell.load.iter().map(|load| ("load".to_owned(), load_text(load))).collect()
}

pub(crate) fn of_batch(cell: &Factors, _: bool) -> Fields {
    vec![
        ("batch_bytes".to_owned(), cell.batch_bytes.to_string()),
        ("batching".to_owned(), cell.batching.to_string()),
    ]
}

pub(crate) fn of_options(cell: &Factors, _: bool) -> Fields {
    cell.options.iter().map(|(name, value)| (format!("option.{name}"), value.clone())).collect()
}

pub(crate) fn of_env(cell: &Factors, _: bool) -> Fields {
    let field = |(name, value): (&String, &Option<String>)| {
        // A removed variable differs from an inherited one, which has no field.
        let value = match value.as_deref() {
            None => "(not set)".to_owned(),
            Some("") => "(empty)".to_owned(),
            Some(text) => text.escape_debug().to_string(),
        };
        (format!("env.{name}"), value)
    };
    cell.env.iter().map(field).collect()
}

pub(crate) fn of_flows(cell: &Factors, by_ends: bool) -> Fields {
    let mut fields = Fields::new();
    for flow in &cell.flows {
        fields.push((format!("flow.{}.size", flow.name), flow.exact_size_text()));
        if let Some(sizes) = &flow.sizes {
            fields.push((format!("flow.{}.size_seed", flow.name), sizes.seed.to_string()));
        }
        fields.push((format!("flow.{}.load", flow.name), load_text(&flow.load)));
        for (key, names) in [("from", &flow.from), ("to", &flow.to)] {
            if !names.is_empty() {
                fields.push((format!("flow.{}.{key}", flow.name), names.join(", ")));
            }
        }
        if flow.phase_ns > 0 {
            fields.push((format!("flow.{}.phase", flow.name), short(flow.phase_ns)));
        }
        if let Some(deadline) = flow.deadline {
            let limit = format!("{} for all but {}%", short(deadline.deadline_ns), deadline.limit_pct());
            fields.push((format!("flow.{}.deadline", flow.name), limit));
        }
        if let Some(qos) = &flow.qos {
            let prefix = format!("flow.{}.qos", flow.name);
            fields.extend(requested(&prefix, qos, flow.qos_of_ends.as_ref(), by_ends));
        }
    }
    fields
}

pub(crate) fn of_qos(cell: &Factors, by_ends: bool) -> Fields {
    requested("qos", &cell.qos, cell.qos_of_ends.as_ref(), by_ends)
}
