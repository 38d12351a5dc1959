//! Publishers and subscribers of a topology: type, size, rate and QoS.

use std::{collections::BTreeMap, fmt::Display};

use super::types::{DataSize, HEADER_BYTES, data_size};
use crate::{
    document::Fields,
    error::{ImportError, Position},
    qos::{DURABILITIES, EndpointQos, HISTORIES, LIVELINESS, RELIABILITIES, kind, names},
    system::System,
};

/// Longest period in µs.
const MAX_PERIOD_US: i64 = 3_600_000_000;

/// Publisher or subscriber.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    /// Topic.
    pub(super) topic: String,
    /// Message type.
    pub(super) message_type: String,
    /// QoS.
    pub(super) qos: EndpointQos,
    /// Size and period in ns of the samples; publishers only.
    pub(super) load: Option<(u64, u64)>,
    /// Position of its topic.
    pub(super) at: Position,
}

/// Reads a publisher or a subscriber.
pub(super) fn entity(
    fields: &Fields<'_>,
    writes: bool,
    types: &BTreeMap<String, u64>,
    system: &mut System,
) -> Result<Entity, ImportError> {
    let topic = fields.required_text("topic_name")?.to_owned();
    let message_type = fields.required_text("msg_type")?.to_owned();
    let size = fields.number::<u64>("msg_size")?;
    if let (false, Some(_)) = (writes, size) {
        system.not_applied(
            "`msg_size` of subscribers",
            "the publisher decides the size, as in ros2-performance",
        );
    }
    if let Some(how) = fields.text("msg_pass_by")? {
        match how {
            "loaned_msg" => system.not_applied(
                "`msg_pass_by = loaned_msg`",
                "a factor of all topics: `--set factors.loans=true`",
            ),
            "unique_ptr" | "shared_ptr" => {
                let reason = "how a message is passed inside rclcpp; each sample is written once";
                system.not_applied(format!("`msg_pass_by = {how}`"), reason);
            }
            _ => return Err(fields.invalid("msg_pass_by", how, "unique_ptr, shared_ptr, loaned_msg")),
        }
    }
    let qos = qos(fields, system)?;
    if writes {
        // A misspelled key is reported before the missing one.
        for key in ["freq_hz", "period_ms"] {
            fields.get(key);
        }
    }
    fields.no_other()?;
    let load =
        writes.then(|| Ok((sample_bytes(fields, &message_type, size, types, system)?, period_ns(fields)?)));
    let load = load.transpose()?;
    Ok(Entity { at: fields.position("topic_name"), topic, message_type, qos, load })
}

fn sample_bytes(
    fields: &Fields<'_>,
    name: &str,
    size: Option<u64>,
    types: &BTreeMap<String, u64>,
    system: &mut System,
) -> Result<u64, ImportError> {
    let data = types.get(name).map(|bytes| DataSize::Fixed(*bytes)).or_else(|| data_size(name));
    let data = match data {
        Some(DataSize::Vector) => size.unwrap_or(0),
        Some(DataSize::Fixed(bytes)) => {
            if size.is_some() {
                let reason = "only `stamped_vector` has a size of its own, as in ros2-performance";
                system.not_applied("`msg_size` of other types", reason);
            }
            bytes
        }
        None => {
            let message = format!("the size of type `{name}` is not known");
            let hint = format!("give it: `--type {name}=BYTES`, without the header of {HEADER_BYTES} bytes");
            return Err(ImportError::new(message, hint).at(fields.position("msg_type")));
        }
    };
    const MAX_BYTES: u64 = 1 << 30;
    if data > MAX_BYTES {
        let message = format!("a sample of {data} bytes is too large");
        return Err(ImportError::new(message, "use up to 1 GiB").at(fields.position("msg_size")));
    }
    Ok(data + HEADER_BYTES)
}

/// Returns the period, cut to whole µs as in ros2-performance. `freq_hz` has priority.
#[allow(clippy::cast_possible_truncation, reason = "the original computes in `float` and cuts")]
pub(super) fn period_ns(fields: &Fields<'_>) -> Result<u64, ImportError> {
    let (frequency, period) = (fields.number::<f32>("freq_hz")?, fields.number::<f32>("period_ms")?);
    let (key, period_ms) = match (frequency, period) {
        (Some(frequency), _) => ("freq_hz", 1_000.0 / frequency),
        (None, Some(period)) => ("period_ms", period),
        (None, None) => {
            let message = "a writer has neither `period_ms` nor `freq_hz`";
            return Err(ImportError::new(message, "add one of them").at(fields.position("topic_name")));
        }
    };
    let period_us = (period_ms * 1_000.0) as i64;
    if !period_ms.is_finite() || !(1..=MAX_PERIOD_US).contains(&period_us) {
        let message = format!("`{key}` gives a period of {period_ms} ms, which is out of range");
        return Err(ImportError::new(message, "use 1 µs to 1 hour").at(fields.position(key)));
    }
    Ok(period_us as u64 * 1_000)
}

/// Reads the policies over the defaults of the RMW interface.
pub(super) fn qos(fields: &Fields<'_>, system: &mut System) -> Result<EndpointQos, ImportError> {
    let mut qos = EndpointQos::of_rmw();
    if let Some(depth) = fields.number::<u32>("qos_depth")? {
        qos.depth = Some(depth.max(1));
    }
    read_kind(fields, "qos_history", &HISTORIES, &mut qos.history, system)?;
    read_kind(fields, "qos_reliability", &RELIABILITIES, &mut qos.reliability, system)?;
    read_kind(fields, "qos_durability", &DURABILITIES, &mut qos.durability, system)?;
    read_kind(fields, "qos_liveliness", &LIVELINESS, &mut qos.liveliness, system)?;
    for key in ["qos_deadline", "qos_lifespan", "qos_liveliness_lease_duration"] {
        if let Some(value) = fields.text(key)?
            && value != "default"
        {
            return Err(fields.invalid(key, value, "default"));
        }
    }
    const CONVENTIONS: &str = "qos_avoid_ros_namespace_conventions";
    if fields.get(CONVENTIONS).is_some() {
        system.not_applied(format!("`{CONVENTIONS}`"), "topics have the names of ddsmark");
    }
    Ok(qos)
}

/// Reads the kind of a policy over its default.
fn read_kind<T: Copy + Display>(
    fields: &Fields<'_>,
    key: &str,
    kinds: &[T],
    chosen: &mut Option<T>,
    system: &mut System,
) -> Result<(), ImportError> {
    let Some(value) = fields.text(key)? else { return Ok(()) };
    match value {
        "system_default" => *chosen = None,
        "unknown" => {
            let reason = "the default of the RMW interface is requested";
            system.not_applied(format!("`{key} = unknown`"), reason);
        }
        _ => {
            let known = || format!("{}, system_default, unknown", names(kinds));
            *chosen = Some(kind(kinds, value).ok_or_else(|| fields.invalid(key, value, &known()))?);
        }
    }
    Ok(())
}
