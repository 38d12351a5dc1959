/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: what this driver does with each policy, what it calls it, and where it lies in a ddsmark_qos.
 */
#include "internal.h"

#ifdef HAVE_FEATURES_H
#include "dds/features.h"
#else /* without the header: built with its defaults, which have both */
#define DDS_HAS_LIFESPAN 1
#define DDS_HAS_DEADLINE_MISSED 1
#endif

#ifdef DDS_HAS_LIFESPAN
#define LIFESPAN_SUPPORT {DDSMARK_SUPPORT_ENFORCED, 0, NULL}
#else
#define LIFESPAN_SUPPORT {DDSMARK_SUPPORT_UNSUPPORTED, 0, "this Cyclone DDS was built without it"}
#endif
#ifdef DDS_HAS_DEADLINE_MISSED
#define DEADLINE_SUPPORT {DDSMARK_SUPPORT_ENFORCED, 0, NULL}
#else
#define DEADLINE_SUPPORT {DDSMARK_SUPPORT_UNSUPPORTED, 0, "this Cyclone DDS was built without it"}
#endif

/* 0.10 stores it, as tried with 0.10.2; no header tells. */
#ifdef HAVE_TIME_BASED_FILTER
#define TIME_BASED_FILTER_SUPPORT {DDSMARK_SUPPORT_ENFORCED, 0, "by source timestamp"}
#else
#define TIME_BASED_FILTER_SUPPORT {DDSMARK_SUPPORT_IGNORED, 0, "stored; this version delivers every sample"}
#endif

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_HISTORY] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {DDSMARK_SUPPORT_ENFORCED, 0,
                                        "of readers; a writer blocks by bytes instead, see the option whc_high"},
    [DDSMARK_POLICY_DURABILITY] =
        {DDSMARK_SUPPORT_ENFORCED, 0,
         "volatile and transient-local; transient and persistent are refused: no service; what "
         "a late joiner gets is set by the durability service's history"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {DDSMARK_SUPPORT_ENFORCED, 0,
                                           "its history decides what a late joiner of a transient-local writer gets; "
                                           "cleanup delay and limits are stored only"},
    [DDSMARK_POLICY_DEADLINE] = DEADLINE_SUPPORT,
    [DDSMARK_POLICY_LATENCY_BUDGET] = {DDSMARK_SUPPORT_HINT, 0,
                                       "more than 0 at the writer: a thread of the library's packs and sends"},
    [DDSMARK_POLICY_LIFESPAN] = LIFESPAN_SUPPORT,
    [DDSMARK_POLICY_LIVELINESS] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PARTITION] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PRESENTATION] = {DDSMARK_SUPPORT_MATCHED_ONLY, 0,
                                     "coherent access is refused: there are no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = TIME_BASED_FILTER_SUPPORT,
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] = {DDSMARK_SUPPORT_HINT, 0,
                                           "no DSCP; only a threshold for delivery by the receiving thread"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] = {DDSMARK_SUPPORT_IGNORED, 0, "stored; nothing is purged"},
    [DDSMARK_POLICY_USER_DATA] = {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {DDSMARK_SUPPORT_UNSUPPORTED, 0, "there is no call that sets it"},
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
