//! QoS from a driver to the host.
use std::{
    ffi::{CString, c_char},
    ptr,
};

use driver_abi as abi;

use super::{Policy, Qos};
use crate::error::{Error, Result};

/// QoS for the host, with the storage of its strings: the pointers of `ddsmark_qos` are valid as long as this.
pub(crate) struct QosReport {
    qos: Qos,
    _partitions: Vec<CString>,
    partition_pointers: Vec<*const c_char>,
}

// SAFETY: the pointers refer to the heap memory of `_partitions`, which never changes.
unsafe impl Send for QosReport {}

impl QosReport {
    pub(crate) fn new(qos: Qos) -> Result<Self> {
        let partitions = qos
            .partitions
            .iter()
            .flatten()
            .map(|name| CString::new(name.as_str()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| Error::failed("an effective partition name contains a NUL byte"))?;
        let partition_pointers = partitions.iter().map(|name| name.as_ptr()).collect();
        Ok(Self { qos, _partitions: partitions, partition_pointers })
    }

    pub(crate) fn to_abi(&self) -> abi::Qos {
        let qos = &self.qos;
        let mut raw = empty();
        raw.present = Policy::ALL.iter().filter(|p| qos.has(**p)).map(|p| p.bit()).sum();
        if let Some(value) = qos.reliability {
            raw.reliability = value.to_abi();
            raw.max_blocking_ns = qos.max_blocking_ns.unwrap_or(0);
        }
        if let Some(value) = qos.history {
            (raw.history, raw.history_depth) = value.to_abi();
        }
        if let Some(value) = qos.resource_limits {
            raw.max_samples = value.max_samples;
            raw.max_instances = value.max_instances;
            raw.max_samples_per_instance = value.max_samples_per_instance;
        }
        if let Some(value) = qos.durability {
            raw.durability = value.to_abi();
        }
        if let Some(value) = qos.durability_service {
            raw.service_cleanup_ns = value.cleanup_ns;
            (raw.service_history, raw.service_history_depth) = value.history.to_abi();
            raw.service_max_samples = value.limits.max_samples;
            raw.service_max_instances = value.limits.max_instances;
            raw.service_max_samples_per_instance = value.limits.max_samples_per_instance;
        }
        raw.deadline_ns = qos.deadline_ns.unwrap_or(0);
        raw.latency_budget_ns = qos.latency_budget_ns.unwrap_or(0);
        raw.lifespan_ns = qos.lifespan_ns.unwrap_or(0);
        if let Some(value) = qos.liveliness {
            raw.liveliness = value.kind.to_abi();
            raw.liveliness_lease_ns = value.lease_ns;
        }
        if let Some(value) = qos.ownership {
            raw.ownership = value.to_abi();
        }
        raw.ownership_strength = qos.ownership_strength.unwrap_or(0);
        if let Some(value) = qos.presentation {
            raw.presentation_scope = value.scope.to_abi();
            raw.coherent_access = u32::from(value.coherent);
            raw.ordered_access = u32::from(value.ordered);
        }
        if let Some(value) = qos.destination_order {
            raw.destination_order = value.to_abi();
        }
        raw.minimum_separation_ns = qos.minimum_separation_ns.unwrap_or(0);
        raw.transport_priority = qos.transport_priority.unwrap_or(0);
        raw.autodispose_unregistered = u32::from(qos.autodispose_unregistered.unwrap_or(false));
        if let Some(value) = qos.reader_data_lifecycle {
            raw.autopurge_nowriter_ns = value.autopurge_nowriter_ns;
            raw.autopurge_disposed_ns = value.autopurge_disposed_ns;
        }
        raw.autoenable_created = u32::from(qos.autoenable_created.unwrap_or(false));
        if !self.partition_pointers.is_empty() {
            raw.partitions = self.partition_pointers.as_ptr();
            raw.partition_count = count(&self.partition_pointers);
        }
        (raw.user_data, raw.user_data_size) = octets(qos.user_data.as_ref());
        (raw.topic_data, raw.topic_data_size) = octets(qos.topic_data.as_ref());
        (raw.group_data, raw.group_data_size) = octets(qos.group_data.as_ref());
        raw
    }
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

fn octets(data: Option<&Vec<u8>>) -> (*const u8, u32) {
    data.filter(|data| !data.is_empty()).map_or((ptr::null(), 0), |data| (data.as_ptr(), count(data)))
}

/// Returns a struct without any policy.
pub(crate) fn empty() -> abi::Qos {
    abi::Qos {
        struct_size: size_of::<abi::Qos>() as u32,
        reserved: 0,
        present: 0,
        reliability: 0,
        history: 0,
        max_blocking_ns: 0,
        history_depth: 0,
        max_samples: 0,
        max_instances: 0,
        max_samples_per_instance: 0,
        durability: 0,
        service_history: 0,
        service_cleanup_ns: 0,
        service_history_depth: 0,
        service_max_samples: 0,
        service_max_instances: 0,
        service_max_samples_per_instance: 0,
        deadline_ns: 0,
        latency_budget_ns: 0,
        lifespan_ns: 0,
        liveliness_lease_ns: 0,
        liveliness: 0,
        ownership: 0,
        ownership_strength: 0,
        presentation_scope: 0,
        coherent_access: 0,
        ordered_access: 0,
        destination_order: 0,
        transport_priority: 0,
        minimum_separation_ns: 0,
        autodispose_unregistered: 0,
        autoenable_created: 0,
        autopurge_nowriter_ns: 0,
        autopurge_disposed_ns: 0,
        partitions: ptr::null(),
        user_data: ptr::null(),
        topic_data: ptr::null(),
        group_data: ptr::null(),
        partition_count: 0,
        user_data_size: 0,
        topic_data_size: 0,
        group_data_size: 0,
    }
}
