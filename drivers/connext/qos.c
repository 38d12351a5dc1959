/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.c: which policies are accepted.
 *
 * Connext tells of a QoS that it cannot have no more than that nothing was made, with its reason in the log. So what
 * DDS 1.4 calls inconsistent is found here, before.
 */
#include "internal.h"

#define WRITER_ONLY                                                                                                    \
  (BIT(DURABILITY_SERVICE) | BIT(LIFESPAN) | BIT(OWNERSHIP_STRENGTH) | BIT(TRANSPORT_PRIORITY) |                       \
   BIT(WRITER_DATA_LIFECYCLE))
#define READER_ONLY (BIT(TIME_BASED_FILTER) | BIT(READER_DATA_LIFECYCLE))

static bool in_range(int32_t value, int32_t last) {
  return value >= 0 && value <= last;
}

/* A limit of resources: unlimited, or at least 1. */
static bool is_limit(int32_t value) {
  return value == DDSMARK_UNLIMITED || value > 0;
}

static ddsmark_status check_values(const ddsmark_qos *q) {
  const struct {
    uint32_t policy;
    bool fine;
  } ranges[] = {
      {DDSMARK_POLICY_RELIABILITY, in_range(q->reliability, DDSMARK_RELIABLE)},
      {DDSMARK_POLICY_HISTORY, in_range(q->history, DDSMARK_KEEP_ALL)},
      {DDSMARK_POLICY_HISTORY, q->history == DDSMARK_KEEP_ALL || q->history_depth > 0},
      {DDSMARK_POLICY_RESOURCE_LIMITS,
       is_limit(q->max_samples) && is_limit(q->max_instances) && is_limit(q->max_samples_per_instance)},
      {DDSMARK_POLICY_DURABILITY, in_range(q->durability, DDSMARK_PERSISTENT)},
      {DDSMARK_POLICY_DURABILITY_SERVICE, in_range(q->service_history, DDSMARK_KEEP_ALL)},
      {DDSMARK_POLICY_LIVELINESS, in_range(q->liveliness, DDSMARK_LIVELINESS_BY_TOPIC)},
      {DDSMARK_POLICY_OWNERSHIP, in_range(q->ownership, DDSMARK_OWNERSHIP_EXCLUSIVE)},
      {DDSMARK_POLICY_PRESENTATION, in_range(q->presentation_scope, DDSMARK_SCOPE_GROUP)},
      {DDSMARK_POLICY_DESTINATION_ORDER, in_range(q->destination_order, DDSMARK_ORDER_BY_SOURCE)},
      {DDSMARK_POLICY_PARTITION, q->partition_count == 0 || q->partitions != NULL},
      {DDSMARK_POLICY_USER_DATA, q->user_data_size == 0 || q->user_data != NULL},
      {DDSMARK_POLICY_TOPIC_DATA, q->topic_data_size == 0 || q->topic_data != NULL},
      {DDSMARK_POLICY_GROUP_DATA, q->group_data_size == 0 || q->group_data != NULL},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (q->present >> ranges[i].policy & 1 && !ranges[i].fine)
      return fail(DDSMARK_BAD_ARGUMENT, "policy `%s` has a value out of range", policy_names[ranges[i].policy]);
  return DDSMARK_OK;
}

static ddsmark_status check_support(const ddsmark_qos *q) {
  if (q->present >> DDSMARK_POLICY_COUNT)
    return fail(DDSMARK_UNSUPPORTED, "a policy is asked for that this driver does not know (present is 0x%llx)",
                (unsigned long long)q->present);
  if (q->present & BIT(ENTITY_FACTORY) && !q->autoenable_created)
    return fail(DDSMARK_UNSUPPORTED, "policy `entity factory` cannot be set: %s",
                policy_supports[DDSMARK_POLICY_ENTITY_FACTORY].note);
  if (q->present & BIT(PRESENTATION) && q->coherent_access)
    return fail(DDSMARK_UNSUPPORTED,
                "coherent access cannot be set: the contract has no coherent sets; hint: ordered access it has");
  return DDSMARK_OK;
}

/* DDS 1.4 sections 2.2.3.12, 2.2.3.18 and 2.2.3.19. */
static ddsmark_status check_consistent(const ddsmark_qos *q) {
  if (q->present & BIT(RESOURCE_LIMITS)) {
    const int32_t each = q->max_samples_per_instance;
    if (q->max_samples > 0 && each > q->max_samples)
      return fail(DDSMARK_INCONSISTENT, "max_samples is %d, and max_samples_per_instance is %d, which is more",
                  q->max_samples, each);
    if (q->present & BIT(HISTORY) && q->history == DDSMARK_KEEP_LAST && each > 0 && q->history_depth > each)
      return fail(DDSMARK_INCONSISTENT, "a history of depth %d does not fit into max_samples_per_instance, %d",
                  q->history_depth, each);
  }
  if (q->present & BIT(TIME_BASED_FILTER) && q->present & BIT(DEADLINE) && q->minimum_separation_ns > q->deadline_ns)
    return fail(
        DDSMARK_INCONSISTENT,
        "the minimum separation of the time-based filter is longer than the deadline: every one would be missed");
  return DDSMARK_OK;
}

ddsmark_status qos_accept(const ddsmark_qos *asked, side s, ddsmark_qos *out) {
  ddsmark_qos q = {.struct_size = sizeof q};
  if (asked) {
    if (asked->struct_size < END(present))
      return fail(DDSMARK_BAD_ARGUMENT, "the QoS has a struct_size of %u, which holds nothing", asked->struct_size);
    copy_in(&q, sizeof q, asked, asked->struct_size);
    q.struct_size = sizeof q;
    q.present = present_within(q.present, asked->struct_size);
    ddsmark_status status;
    if ((status = check_support(&q)) || (status = check_values(&q)))
      return status;
    q.present &= ~(s == SIDE_WRITER ? READER_ONLY : WRITER_ONLY);
    if ((status = check_consistent(&q)))
      return status;
  }
  *out = q;
  return DDSMARK_OK;
}
