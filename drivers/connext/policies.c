/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: what this driver does with each policy, what it calls it, and where it lies in a ddsmark_qos.
 */
#include "internal.h"

#define ENFORCED DDSMARK_SUPPORT_ENFORCED
#define HINT DDSMARK_SUPPORT_HINT

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_HISTORY] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {ENFORCED, 0,
                                        "of writers and readers; a reliable writer also blocks by the "
                                        "option send_window"},
    [DDSMARK_POLICY_DURABILITY] = {ENFORCED, 0,
                                   "transient and persistent outlive their writer only with RTI Persistence Service"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {DDSMARK_SUPPORT_NEEDS_SERVICE, 0, "RTI Persistence Service reads it"},
    [DDSMARK_POLICY_DEADLINE] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_LATENCY_BUDGET] = {HINT, 0,
                                       "orders what asynchronous writers send, with flow controllers that look "
                                       "at it"},
    [DDSMARK_POLICY_LIFESPAN] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_LIVELINESS] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PARTITION] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PRESENTATION] = {HINT, 0, "coherent access is refused: the contract has no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] = {HINT, 0, "no DSCP unless a transport's priority mask is set as a property"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] = {ENFORCED, 0, "as documented; samples without data are not given here"},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] = {ENFORCED, 0, "as documented; samples without data are not given here"},
    [DDSMARK_POLICY_USER_DATA] = {ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {DDSMARK_SUPPORT_UNSUPPORTED, 0, "what is not enabled could not be used here"},
};

const char *const policy_names[DDSMARK_POLICY_COUNT] = {"reliability",
                                                        "history",
                                                        "resource limits",
                                                        "durability",
                                                        "durability service",
                                                        "deadline",
                                                        "latency budget",
                                                        "lifespan",
                                                        "liveliness",
                                                        "ownership",
                                                        "ownership strength",
                                                        "partition",
                                                        "presentation",
                                                        "destination order",
                                                        "time-based filter",
                                                        "transport priority",
                                                        "writer data lifecycle",
                                                        "reader data lifecycle",
                                                        "user data",
                                                        "topic data",
                                                        "group data",
                                                        "entity factory"};

static const uint32_t policy_ends[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = END(max_blocking_ns),
    [DDSMARK_POLICY_HISTORY] = END(history_depth),
    [DDSMARK_POLICY_RESOURCE_LIMITS] = END(max_samples_per_instance),
    [DDSMARK_POLICY_DURABILITY] = END(durability),
    [DDSMARK_POLICY_DURABILITY_SERVICE] = END(service_max_samples_per_instance),
    [DDSMARK_POLICY_DEADLINE] = END(deadline_ns),
    [DDSMARK_POLICY_LATENCY_BUDGET] = END(latency_budget_ns),
    [DDSMARK_POLICY_LIFESPAN] = END(lifespan_ns),
    [DDSMARK_POLICY_LIVELINESS] = END(liveliness),
    [DDSMARK_POLICY_OWNERSHIP] = END(ownership),
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = END(ownership_strength),
    [DDSMARK_POLICY_PARTITION] = END(partition_count),
    [DDSMARK_POLICY_PRESENTATION] = END(ordered_access),
    [DDSMARK_POLICY_DESTINATION_ORDER] = END(destination_order),
    [DDSMARK_POLICY_TIME_BASED_FILTER] = END(minimum_separation_ns),
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] = END(transport_priority),
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] = END(autodispose_unregistered),
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] = END(autopurge_disposed_ns),
    [DDSMARK_POLICY_USER_DATA] = END(user_data_size),
    [DDSMARK_POLICY_TOPIC_DATA] = END(topic_data_size),
    [DDSMARK_POLICY_GROUP_DATA] = END(group_data_size),
    [DDSMARK_POLICY_ENTITY_FACTORY] = END(autoenable_created),
};

uint64_t present_within(uint64_t present, uint32_t struct_size) {
  for (uint32_t p = 0; p < DDSMARK_POLICY_COUNT; p++)
    if (policy_ends[p] > struct_size)
      present &= ~(UINT64_C(1) << p);
  return present;
}
