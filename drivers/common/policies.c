/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: policy names, checks of values, and QoS in the caller's struct.
 */
#include "common.h"

#include <string.h>

static const char *const policy_names[DDSMARK_POLICY_COUNT] = {"reliability",
                                                               "history",
                                                               "resource_limits",
                                                               "durability",
                                                               "durability_service",
                                                               "deadline",
                                                               "latency_budget",
                                                               "lifespan",
                                                               "liveliness",
                                                               "ownership",
                                                               "ownership_strength",
                                                               "partition",
                                                               "presentation",
                                                               "destination_order",
                                                               "time_based_filter",
                                                               "transport_priority",
                                                               "writer_data_lifecycle",
                                                               "reader_data_lifecycle",
                                                               "user_data",
                                                               "topic_data",
                                                               "group_data",
                                                               "entity_factory"};

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

/* Returns the policies of `present` that a struct of this size contains. */
static uint64_t present_within(uint64_t present, uint32_t struct_size) {
  for (uint32_t p = 0; p < DDSMARK_POLICY_COUNT; p++)
    if (policy_ends[p] > struct_size)
      present &= ~(UINT64_C(1) << p);
  return present;
}

/* -- in ------------------------------------------------------------------------------------------------------------ */

/* Returns whether the policy has the value that every middleware without the policy behaves like. */
static bool happens_anyway(uint32_t policy, const ddsmark_qos *q) {
  return (policy == DDSMARK_POLICY_DESTINATION_ORDER && q->destination_order == DDSMARK_ORDER_BY_RECEPTION) ||
         (policy == DDSMARK_POLICY_ENTITY_FACTORY && q->autoenable_created != 0);
}

static ddsmark_status check_supported(ddsmark_qos *q, side s, const ddsmark_policy_support *supports) {
  for (uint32_t p = 0; p < DDSMARK_POLICY_COUNT; p++) {
    if (!(q->present >> p & 1) || support_of(supports, s, p) != DDSMARK_SUPPORT_UNSUPPORTED)
      continue;
    if (!happens_anyway(p, q))
      return fail(DDSMARK_UNSUPPORTED,
                  "the requested value of policy `%s` is not supported: %s; hint: remove the policy from `[qos]` and "
                  "the profile",
                  policy_names[p], supports[p].note);
    q->present &= ~(UINT64_C(1) << p);
  }
  if (q->present >> DDSMARK_POLICY_COUNT)
    return fail(DDSMARK_UNSUPPORTED,
                "unknown policy in `present`: 0x%llx; hint: build the driver with the driver.h of this ddsmark",
                (unsigned long long)(q->present >> DDSMARK_POLICY_COUNT << DDSMARK_POLICY_COUNT));
  return DDSMARK_OK;
}

static bool in_range(int32_t value, int32_t last) {
  return value >= 0 && value <= last;
}

/* Returns whether a resource limit is valid: unlimited, or at least 1. */
static bool is_limit(int32_t value) {
  return value == DDSMARK_UNLIMITED || value > 0;
}

static ddsmark_status check_values(const ddsmark_qos *q) {
  const struct {
    uint32_t policy;
    bool fine;
    const char *hint;
  } ranges[] = {
      {DDSMARK_POLICY_RELIABILITY, in_range(q->reliability, DDSMARK_RELIABLE), "use `best_effort` or `reliable`"},
      {DDSMARK_POLICY_HISTORY, in_range(q->history, DDSMARK_KEEP_ALL), "use `keep_last` or `keep_all`"},
      {DDSMARK_POLICY_HISTORY, q->history == DDSMARK_KEEP_ALL || q->history_depth > 0,
       "use a `history_depth` of at least 1"},
      {DDSMARK_POLICY_RESOURCE_LIMITS,
       is_limit(q->max_samples) && is_limit(q->max_instances) && is_limit(q->max_samples_per_instance),
       "use limits of at least 1, or -1 for unlimited"},
      {DDSMARK_POLICY_DURABILITY, in_range(q->durability, DDSMARK_PERSISTENT),
       "use `volatile`, `transient_local`, `transient` or `persistent`"},
      {DDSMARK_POLICY_DURABILITY_SERVICE, in_range(q->service_history, DDSMARK_KEEP_ALL),
       "use a `service_history` of `keep_last` or `keep_all`"},
      {DDSMARK_POLICY_LIVELINESS, in_range(q->liveliness, DDSMARK_LIVELINESS_BY_TOPIC),
       "use `automatic`, `manual_by_participant` or `manual_by_topic`"},
      {DDSMARK_POLICY_OWNERSHIP, in_range(q->ownership, DDSMARK_OWNERSHIP_EXCLUSIVE), "use `shared` or `exclusive`"},
      {DDSMARK_POLICY_PRESENTATION, in_range(q->presentation_scope, DDSMARK_SCOPE_GROUP),
       "use the scope `instance`, `topic` or `group`"},
      {DDSMARK_POLICY_DESTINATION_ORDER, in_range(q->destination_order, DDSMARK_ORDER_BY_SOURCE),
       "use `by_reception_timestamp` or `by_source_timestamp`"},
      {DDSMARK_POLICY_PARTITION, q->partition_count == 0 || q->partitions != NULL, "set `partitions`"},
      {DDSMARK_POLICY_USER_DATA, q->user_data_size == 0 || q->user_data != NULL, "set `user_data`"},
      {DDSMARK_POLICY_TOPIC_DATA, q->topic_data_size == 0 || q->topic_data != NULL, "set `topic_data`"},
      {DDSMARK_POLICY_GROUP_DATA, q->group_data_size == 0 || q->group_data != NULL, "set `group_data`"},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (q->present >> ranges[i].policy & 1 && !ranges[i].fine)
      return fail(DDSMARK_BAD_ARGUMENT, "policy `%s` has an invalid value; hint: %s", policy_names[ranges[i].policy],
                  ranges[i].hint);
  return DDSMARK_OK;
}

/* DDS 1.4, sections 2.2.3.12, 2.2.3.18 and 2.2.3.19. */
static ddsmark_status check_consistent(const ddsmark_qos *q) {
  const int32_t all = q->max_samples, each = q->max_samples_per_instance;
  if (q->present & POLICY(RESOURCE_LIMITS)) {
    if (all > 0 && each > all)
      return fail(DDSMARK_INCONSISTENT,
                  "policy `resource_limits` is inconsistent: `max_samples_per_instance` is %d, and `max_samples` only "
                  "%d; hint: increase `max_samples`",
                  each, all);
    const int32_t most = each > 0 ? each : all;
    if (q->present & POLICY(HISTORY) && q->history == DDSMARK_KEEP_LAST && most > 0 && q->history_depth > most)
      return fail(DDSMARK_INCONSISTENT,
                  "policies `history` and `resource_limits` are inconsistent: `history_depth` is %d, and `%s` only %d; "
                  "hint: reduce `history_depth`",
                  q->history_depth, each > 0 ? "max_samples_per_instance" : "max_samples", most);
  }
  if (q->present & POLICY(TIME_BASED_FILTER) && q->present & POLICY(DEADLINE) &&
      q->minimum_separation_ns > q->deadline_ns)
    return fail(DDSMARK_INCONSISTENT,
                "policies `time_based_filter` and `deadline` are inconsistent: `minimum_separation` exceeds "
                "`deadline`, so that every deadline would be missed; hint: reduce `minimum_separation`");
  return DDSMARK_OK;
}

ddsmark_status qos_in(const ddsmark_qos *asked, const ddsmark_policy_support *supports, side s, uint64_t elsewhere,
                      ddsmark_qos *out) {
  const uint32_t size = asked ? asked->struct_size : 0;
  *out = (ddsmark_qos){.struct_size = sizeof *out};
  if (asked == NULL)
    return DDSMARK_OK;
  if (size < END(present))
    return fail(DDSMARK_BAD_ARGUMENT,
                "invalid `struct_size` of ddsmark_qos: %u; hint: set it to the size of the struct", size);
  copy_in(out, sizeof *out, asked, size);
  out->struct_size = sizeof *out;
  out->present = present_within(out->present, size);
  ddsmark_status status;
  if ((status = check_supported(out, s, supports)) || (status = check_values(out)))
    return status;
  out->present &= ~elsewhere;
  return check_consistent(out);
}

/* -- out ----------------------------------------------------------------------------------------------------------- */

ddsmark_status qos_out(const ddsmark_qos *from, ddsmark_qos *out) {
  const uint32_t size = out->struct_size;
  if (size < END(present))
    return fail(DDSMARK_BAD_ARGUMENT,
                "invalid `struct_size` of ddsmark_qos: %u; hint: set it to the size of the struct", size);
  ddsmark_qos q = *from;
  q.struct_size = size;
  q.present = present_within(q.present, size);
  memcpy(out, &q, size < sizeof q ? size : sizeof q);
  return DDSMARK_OK;
}
