/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.c: every policy that can be set is in force afterwards, and said to be so only where it is.
 *
 * Each value differs from Cyclone's default, so that a policy that got lost on the way is noticed.
 */
#include "harness.h"

#define BIT(policy) (UINT64_C(1) << DDSMARK_POLICY_##policy)
#define SECOND UINT64_C(1000000000)
#define WRITER_ONLY                                                                                                    \
  (BIT(DURABILITY_SERVICE) | BIT(LIFESPAN) | BIT(OWNERSHIP_STRENGTH) | BIT(TRANSPORT_PRIORITY) |                       \
   BIT(WRITER_DATA_LIFECYCLE))
#define READER_ONLY (BIT(TIME_BASED_FILTER) | BIT(READER_DATA_LIFECYCLE))
#define ALL ((UINT64_C(1) << DDSMARK_POLICY_COUNT) - 1 - BIT(ENTITY_FACTORY))

static ddsmark_qos unusual(void) {
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
      .service_cleanup_ns = 3 * SECOND,
      .service_history = DDSMARK_KEEP_LAST,
      .service_history_depth = 5,
      .service_max_samples = 2000,
      .service_max_instances = 20,
      .service_max_samples_per_instance = 200,
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

/* Whether one policy has the same values in both. */
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

/* Reads back from a writer or reader (the other is NULL) and compares all that is present in `asked`, each of which
 * must have been read back, but for the one that is ignored; `defaults` must not happen to be the same, or the
 * comparison shows nothing. */
static void check_back(ddsmark_writer *w, ddsmark_reader *r, const ddsmark_qos *asked, const ddsmark_qos *defaults) {
  ddsmark_qos back = {.struct_size = sizeof back};
  if (w)
    OK(d->writer_qos(w, &back));
  else
    OK(d->reader_qos(r, &back));
  for (uint32_t p = 0; p < DDSMARK_POLICY_COUNT; p++) {
    if (!(asked->present >> p & 1))
      continue;
    if (d->describe()->policies[p].support == DDSMARK_SUPPORT_IGNORED) { /* ignored: accepted, and never in force */
      if (back.present >> p & 1)
        failed(__FILE__, __LINE__, "policy %u has no effect, and is read back as in force", p);
      continue;
    }
    if (!(back.present >> p & 1))
      failed(__FILE__, __LINE__, "policy %u was set and is not read back", p);
    ddsmark_qos expected = *asked;
    if (r) /* only a write can block */
      expected.max_blocking_ns = 0;
    if (!same(p, &back, &expected))
      failed(__FILE__, __LINE__, "policy %u is read back with another value", p);
    if (defaults && same(p, defaults, asked))
      failed(__FILE__, __LINE__, "policy %u was asked for with its default: this shows nothing", p);
  }
}

void test_unset_policies(void) {
  /* Absent bits: everything that DDS defines for the side is there to be read, with the middleware's defaults. */
  ddsmark_participant *p = participant();
  ddsmark_qos none = unusual();
  none.present = 0;
  ddsmark_writer *w = writer(p, &none);
  ddsmark_reader *r = reader(p, NULL);
  ddsmark_qos wq = {.struct_size = sizeof wq}, rq = {.struct_size = sizeof rq};
  OK(d->writer_qos(w, &wq));
  OK(d->reader_qos(r, &rq));
  CHECK_U64(wq.present & READER_ONLY, 0);
  CHECK_U64(rq.present & WRITER_ONLY, 0);
  CHECK_U64(wq.present & BIT(ENTITY_FACTORY), 0);
  CHECK_U64(wq.reliability, DDSMARK_RELIABLE); /* the defaults of DDS */
  CHECK_U64(rq.reliability, DDSMARK_BEST_EFFORT);
  CHECK_U64(wq.history, DDSMARK_KEEP_LAST);
  CHECK_U64(wq.history_depth, 1);
  CHECK_U64(wq.durability, DDSMARK_VOLATILE);
  CHECK_U64(wq.deadline_ns, DDSMARK_DURATION_INFINITE);
  CHECK_U64(wq.lifespan_ns, DDSMARK_DURATION_INFINITE);
  CHECK(wq.max_samples == DDSMARK_UNLIMITED);
  CHECK_U64(wq.partition_count, 0);
  CHECK_U64(wq.user_data_size, 0);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* Each policy alone, and then all together. */
static void each_policy(uint64_t policies, bool of_writer) {
  static char base[sizeof test_topic - 8];
  snprintf(base, sizeof base, "%.40s", test_topic);
  ddsmark_participant *p = participant();
  ddsmark_qos defaults = {.struct_size = sizeof defaults};
  ddsmark_writer *w = of_writer ? writer(p, NULL) : NULL;
  ddsmark_reader *r = of_writer ? NULL : reader(p, NULL);
  if (of_writer)
    OK(d->writer_qos(w, &defaults));
  else
    OK(d->reader_qos(r, &defaults));
  const char *const names[] = {"a", "b/*"};
  ddsmark_qos q = unusual();
  if (of_writer)
    q.reliability = DDSMARK_BEST_EFFORT; /* reliable is a writer's default */
  q.partitions = names;
  q.partition_count = 2;
  for (uint32_t i = 0; i <= DDSMARK_POLICY_COUNT; i++) {
    q.present = i < DDSMARK_POLICY_COUNT ? policies & UINT64_C(1) << i : policies;
    if (q.present == 0)
      continue;
    /* A topic has one QoS in a participant: each of these has a topic of its own. */
    snprintf(test_topic, sizeof test_topic, "%s_q%u", base, i);
    ddsmark_writer *one = of_writer ? writer(p, &q) : NULL;
    ddsmark_reader *other = of_writer ? NULL : reader(p, &q);
    check_back(one, other, &q, &defaults);
    if (of_writer)
      OK(d->writer_close(one));
    else
      OK(d->reader_close(other));
  }
  snprintf(test_topic, sizeof test_topic, "%s", base);
  if (of_writer)
    OK(d->writer_close(w));
  else
    OK(d->reader_close(r));
  OK(d->participant_close(p));
}

#define GROUP (BIT(PARTITION) | BIT(PRESENTATION) | BIT(GROUP_DATA) | BIT(TOPIC_DATA))

void test_writer_policies(void) {
  each_policy(ALL & ~READER_ONLY & ~GROUP, true);
}
void test_reader_policies(void) {
  each_policy(ALL & ~WRITER_ONLY & ~GROUP, false);
}

/* Those of publisher, subscriber and topic; and values at the edge. */
void test_group_policies(void) {
  each_policy(GROUP, true);
  each_policy(GROUP, false);

  ddsmark_participant *p = participant();
  ddsmark_qos q = unusual();
  q.present = BIT(RELIABILITY) | BIT(HISTORY) | BIT(RESOURCE_LIMITS) | BIT(DEADLINE) | BIT(LIVELINESS);
  q.history = DDSMARK_KEEP_ALL;
  q.history_depth = 0;
  q.max_samples = q.max_instances = q.max_samples_per_instance = DDSMARK_UNLIMITED;
  q.max_blocking_ns = q.deadline_ns = q.liveliness_lease_ns = DDSMARK_DURATION_INFINITE;
  ddsmark_writer *w = writer(p, &q);
  check_back(w, NULL, &q, NULL);
  OK(d->writer_close(w));
  /* A reader that is asked for the writer's policies has not got them, and does not say so. */
  q = unusual();
  q.present = BIT(LIFESPAN);
  ddsmark_reader *r = reader(p, &q);
  ddsmark_qos back = {.struct_size = sizeof back};
  OK(d->reader_qos(r, &back));
  CHECK_U64(back.present & BIT(LIFESPAN), 0);
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

/* Why the durability service counts as enforced: its depth is what a late joiner gets. */
void test_late_joiner(void) {
  for (int32_t depth = 1; depth <= 3; depth += 2) {
    ddsmark_participant *p = participant();
    ddsmark_qos q = reliable_keep_all(100);
    q.present |= BIT(DURABILITY) | BIT(DURABILITY_SERVICE);
    q.durability = DDSMARK_TRANSIENT_LOCAL;
    q.service_history = DDSMARK_KEEP_LAST;
    q.service_history_depth = depth;
    q.service_max_samples = q.service_max_instances = q.service_max_samples_per_instance = DDSMARK_UNLIMITED;
    ddsmark_writer *w = writer(p, &q);
    uint8_t payload[16];
    for (uint32_t i = 0; i < 5; i++) {
      payload_fill(payload, sizeof payload, i);
      OK(d->writer_write(w, 0, payload, sizeof payload));
    }
    ddsmark_reader *r = reader(p, &q);
    WAIT_UNTIL(matched_writers(r) == 1);
    /* The last `depth` of them, in order; and after those no more. */
    sequence_check c = {.size = sizeof payload, .received = 5 - (uint32_t)depth};
    uint32_t taken;
    const uint64_t limit = now_ns() + PATIENCE_NS;
    while (c.received < 5 && now_ns() < limit)
      OK(d->reader_receive(r, 100000000, 100, sequence_sink, &c, &taken));
    OK(d->reader_receive(r, 200000000, 100, sequence_sink, &c, &taken));
    check_sequence(&c, 5);
    OK(d->reader_close(r));
    OK(d->writer_close(w));
    OK(d->participant_close(p));
  }
}
