/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: whether requested policies take effect.
 *
 * Each value differs from the usual default, so that a lost policy is detected.
 */
#include "harness.h"

#define SECOND UINT64_C(1000000000)

ddsmark_qos unusual(void) {
  return (ddsmark_qos){
      .struct_size = sizeof(ddsmark_qos),
      .reliability = DDSMARK_RELIABLE,
      .max_blocking_ns = 123456789,
      .history = DDSMARK_KEEP_LAST,
      .history_depth = 7,
      .max_samples = 1000,
      .max_instances = 10,
      .max_samples_per_instance = 100,
      .durability = DDSMARK_TRANSIENT_LOCAL,
      .service_history = DDSMARK_KEEP_LAST,
      .service_history_depth = 5,
      .service_max_samples = DDSMARK_UNLIMITED, /* as by default: not every middleware acts on these and the cleanup */
      .service_max_instances = DDSMARK_UNLIMITED,
      .service_max_samples_per_instance = DDSMARK_UNLIMITED,
      .deadline_ns = 9 * SECOND,
      .latency_budget_ns = 1000,
      .lifespan_ns = 11 * SECOND,
      .liveliness = DDSMARK_LIVELINESS_BY_TOPIC,
      .liveliness_lease_ns = 12 * SECOND,
      .ownership = DDSMARK_OWNERSHIP_EXCLUSIVE,
      .ownership_strength = 42,
      .presentation_scope = DDSMARK_SCOPE_TOPIC,
      .ordered_access = 1,
      .destination_order = DDSMARK_ORDER_BY_SOURCE,
      .transport_priority = 3,
      .minimum_separation_ns = SECOND / 2,
      .autodispose_unregistered = 0,
      .autopurge_nowriter_ns = 6 * SECOND,
      .autopurge_disposed_ns = 8 * SECOND,
      .user_data = (const uint8_t *)"us\0er",
      .user_data_size = 5,
      .topic_data = (const uint8_t *)"topic",
      .topic_data_size = 5,
      .group_data = (const uint8_t *)"group!",
      .group_data_size = 6,
  };
}

static bool same_bytes(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size) {
  return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static bool same_partitions(const ddsmark_qos *a, const ddsmark_qos *b) {
  bool same = a->partition_count == b->partition_count;
  for (uint32_t i = 0; same && i < a->partition_count; i++)
    same = strcmp(a->partitions[i], b->partitions[i]) == 0;
  return same;
}

/* Returns whether one policy has the same values in both. */
static bool same(uint32_t policy, const ddsmark_qos *a, const ddsmark_qos *b) {
#define SAME(field) (a->field == b->field)
  switch (policy) {
  case DDSMARK_POLICY_RELIABILITY:
    return SAME(reliability) && SAME(max_blocking_ns);
  case DDSMARK_POLICY_HISTORY:
    return SAME(history) && (SAME(history_depth) || a->history == DDSMARK_KEEP_ALL);
  case DDSMARK_POLICY_RESOURCE_LIMITS:
    return SAME(max_samples) && SAME(max_instances) && SAME(max_samples_per_instance);
  case DDSMARK_POLICY_DURABILITY:
    return SAME(durability);
  case DDSMARK_POLICY_DURABILITY_SERVICE:
    return SAME(service_cleanup_ns) && SAME(service_history) && SAME(service_history_depth) &&
           SAME(service_max_samples) && SAME(service_max_instances) && SAME(service_max_samples_per_instance);
  case DDSMARK_POLICY_DEADLINE:
    return SAME(deadline_ns);
  case DDSMARK_POLICY_LATENCY_BUDGET:
    return SAME(latency_budget_ns);
  case DDSMARK_POLICY_LIFESPAN:
    return SAME(lifespan_ns);
  case DDSMARK_POLICY_LIVELINESS:
    return SAME(liveliness) && SAME(liveliness_lease_ns);
  case DDSMARK_POLICY_OWNERSHIP:
    return SAME(ownership);
  case DDSMARK_POLICY_OWNERSHIP_STRENGTH:
    return SAME(ownership_strength);
  case DDSMARK_POLICY_PARTITION:
    return same_partitions(a, b);
  case DDSMARK_POLICY_PRESENTATION:
    return SAME(presentation_scope) && SAME(coherent_access) && SAME(ordered_access);
  case DDSMARK_POLICY_DESTINATION_ORDER:
    return SAME(destination_order);
  case DDSMARK_POLICY_TIME_BASED_FILTER:
    return SAME(minimum_separation_ns);
  case DDSMARK_POLICY_TRANSPORT_PRIORITY:
    return SAME(transport_priority);
  case DDSMARK_POLICY_WRITER_DATA_LIFECYCLE:
    return SAME(autodispose_unregistered);
  case DDSMARK_POLICY_READER_DATA_LIFECYCLE:
    return SAME(autopurge_nowriter_ns) && SAME(autopurge_disposed_ns);
  case DDSMARK_POLICY_USER_DATA:
    return same_bytes(a->user_data, a->user_data_size, b->user_data, b->user_data_size);
  case DDSMARK_POLICY_TOPIC_DATA:
    return same_bytes(a->topic_data, a->topic_data_size, b->topic_data, b->topic_data_size);
  case DDSMARK_POLICY_GROUP_DATA:
    return same_bytes(a->group_data, a->group_data_size, b->group_data, b->group_data_size);
  default:
    return false;
  }
#undef SAME
}

/* Reads back from a writer or reader (the other is NULL) and compares all policies present in `asked`. Each must be
 * readable, except those that the driver ignores. `defaults` must differ, otherwise the comparison shows nothing. */
void check_back(ddsmark_writer *w, ddsmark_reader *r, const ddsmark_qos *asked, const ddsmark_qos *defaults) {
  ddsmark_qos back = {.struct_size = sizeof back};
  if (w)
    OK(d->writer_qos(w, &back));
  else
    OK(d->reader_qos(r, &back));
  for (uint32_t p = 0; p < DDSMARK_POLICY_COUNT; p++) {
    if (!(asked->present >> p & 1))
      continue;
    if (support_of(d->describe()->policies, w ? SIDE_WRITER : SIDE_READER, p) ==
        DDSMARK_SUPPORT_IGNORED) { /* accepted, but never effective */
      if (back.present >> p & 1)
        FAILED("policy %u has no effect, but is read back as effective", p);
      continue;
    }
    if (!(back.present >> p & 1))
      FAILED("policy %u was set, but is not read back", p);
    ddsmark_qos expected = *asked;
    if (r) /* only a write can block */
      expected.max_blocking_ns = 0;
    if (!same(p, &back, &expected))
      FAILED("policy %u is read back with another value", p);
    if (defaults && same(p, defaults, asked))
      FAILED("policy %u was requested with its default: this tests nothing", p);
  }
}

/* Tests the policies together. Alone, each is tested by the conformance case `qos-read-back`. */
void policies_together(uint64_t policies, bool of_writer) {
  ddsmark_participant *p = participant();
  ddsmark_qos defaults = {.struct_size = sizeof defaults};
  ddsmark_writer *w = of_writer ? writer(p, NULL) : NULL;
  ddsmark_reader *r = of_writer ? NULL : reader(p, NULL);
  if (of_writer) {
    OK(d->writer_qos(w, &defaults));
    OK(d->writer_close(w));
  } else {
    OK(d->reader_qos(r, &defaults));
    OK(d->reader_close(r));
  }
  const char *const names[] = {"a", "b/*"};
  ddsmark_qos q = unusual();
  if (of_writer)
    q.reliability = DDSMARK_BEST_EFFORT;   /* reliable is the default of writers */
  if (q.durability == defaults.durability) /* also a default of some writers */
    q.durability = DDSMARK_VOLATILE;
  q.partitions = names;
  q.partition_count = 2;
  q.present = policies;
  w = of_writer ? writer(p, &q) : NULL;
  r = of_writer ? NULL : reader(p, &q);
  check_back(w, r, &q, &defaults);
  if (of_writer)
    OK(d->writer_close(w));
  else
    OK(d->reader_close(r));
  OK(d->participant_close(p));
}
