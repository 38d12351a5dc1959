/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_of_policies.h: further policies that are declared and granted, but have no effect, or half of it. Part of
 * faulty_driver.c, after violations_beyond.h.
 */
VIOLATION(ignores_reliability) {
  ignores(DDSMARK_POLICY_RELIABILITY);
}
VIOLATION(ignores_durability) {
  ignores(DDSMARK_POLICY_DURABILITY);
}
VIOLATION(ignores_latency_budget) {
  ignores(DDSMARK_POLICY_LATENCY_BUDGET);
}
VIOLATION(ignores_presentation) {
  ignores(DDSMARK_POLICY_PRESENTATION);
}
VIOLATION(ignores_destination_order) {
  ignores(DDSMARK_POLICY_DESTINATION_ORDER);
}
VIOLATION(ignores_reader_data_lifecycle) {
  ignores(DDSMARK_POLICY_READER_DATA_LIFECYCLE);
}
VIOLATION(ignores_durability_service) {
  ignores(DDSMARK_POLICY_DURABILITY_SERVICE);
}

/* Keeps no sample for late joiners, whatever their number. */
static ddsmark_status open_reader_volatile_only(ddsmark_participant *p, const ddsmark_reader_config *config,
                                                ddsmark_reader **out) {
  without_effect |= UINT64_C(1) << DDSMARK_POLICY_DURABILITY;
  return open_reader_without(p, config, out);
}
VIOLATION(serves_no_history) {
  ignores(DDSMARK_POLICY_DURABILITY_SERVICE);
  lying.reader_open = open_reader_volatile_only;
}

/* Accepts `transient` as `transient_local`. */
static const ddsmark_qos *local_of(const ddsmark_qos *asked, ddsmark_qos *copy) {
  *copy = *asked;
  if (copy->durability > DDSMARK_TRANSIENT_LOCAL)
    copy->durability = DDSMARK_TRANSIENT_LOCAL;
  return copy;
}
static ddsmark_status open_writer_local(ddsmark_participant *p, const ddsmark_writer_config *config,
                                        ddsmark_writer **out) {
  ddsmark_qos qos;
  ddsmark_writer_config copy = *config;
  copy.qos = local_of(config->qos, &qos);
  return writer_open(p, &copy, out);
}
static ddsmark_status open_reader_local(ddsmark_participant *p, const ddsmark_reader_config *config,
                                        ddsmark_reader **out) {
  ddsmark_qos qos;
  ddsmark_reader_config copy = *config;
  copy.qos = local_of(config->qos, &qos);
  return reader_open(p, &copy, out);
}
VIOLATION(stores_nothing) {
  lying.writer_open = open_writer_local;
  lying.reader_open = open_reader_local;
}

/* Counts a missed deadline at the writer, never at the reader. */
static ddsmark_status counters_of_writer(ddsmark_writer *w, ddsmark_counters *out) {
  (void)w;
  count(out, DDSMARK_COUNTER_DEADLINE_MISSED, 1);
  return DDSMARK_OK;
}
VIOLATION(counts_at_one_end) {
  ignores(DDSMARK_POLICY_DEADLINE);
  lying.writer_counters = counters_of_writer;
}

/* Passes the samples on instance by instance, with and without ordered access. */
enum { MOST_GROUPED = 64 };
typedef struct grouped {
  uint32_t keys[MOST_GROUPED];
  uint8_t payloads[MOST_GROUPED][64];
  uint32_t count;
} grouped;
static void group(void *context, const ddsmark_sample *sample) {
  grouped *to = context;
  to->keys[to->count] = sample->key;
  memcpy(to->payloads[to->count++], sample->payload, sample->size);
}
static ddsmark_status receive_grouped(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                      void *context, uint32_t *taken) {
  static grouped all;
  all.count = 0;
  const ddsmark_status status =
      reader_receive(r, timeout_ns, max < MOST_GROUPED ? max : MOST_GROUPED, group, &all, taken);
  for (uint32_t key = 0; key < 3; key++)
    for (uint32_t i = 0; i < all.count; i++)
      if (all.keys[i] == key) {
        const ddsmark_sample sample = {.payload = all.payloads[i], .size = sizeof all.payloads[i], .key = key};
        sink(context, &sample);
      }
  return status;
}
VIOLATION(groups_by_instance) {
  ignores(DDSMARK_POLICY_PRESENTATION);
  lying.reader_receive = receive_grouped;
}

/* Accepts each value of a policy that it declares as unsupported, and one with an effect that it declares as ignored.
 */
VIOLATION(hides_an_effect) {
  described.policies[DDSMARK_POLICY_DURABILITY].writer = described.policies[DDSMARK_POLICY_DURABILITY].reader =
      DDSMARK_SUPPORT_IGNORED;
  lying.describe = describe_changed;
}

/* -- instances that are disposed of: first a correct implementation, which the teaching driver lacks ------------------
 */

static uint32_t autodisposes, is_purged;
static ddsmark_status open_writer_disposing(ddsmark_participant *p, const ddsmark_writer_config *config,
                                            ddsmark_writer **out) {
  autodisposes = config->qos->autodispose_unregistered;
  is_purged = 0;
  return open_writer_without(p, config, out);
}
static ddsmark_status dispose(ddsmark_writer *w, uint32_t key) {
  (void)w, (void)key;
  is_purged = 1;
  return DDSMARK_OK;
}
static ddsmark_status unregister(ddsmark_writer *w, uint32_t key) {
  return autodisposes ? dispose(w, key) : DDSMARK_OK;
}
static ddsmark_status unregister_alone(ddsmark_writer *w, uint32_t key) {
  (void)w, (void)key;
  return DDSMARK_OK;
}
static ddsmark_status receive_unpurged(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                       void *context, uint32_t *taken) {
  *taken = 0;
  return is_purged ? DDSMARK_OK : reader_receive(r, timeout_ns, max, sink, context, taken);
}
VIOLATION(disposes) {
  ignores(DDSMARK_POLICY_READER_DATA_LIFECYCLE);
  ignores(DDSMARK_POLICY_WRITER_DATA_LIFECYCLE);
  described.features |= DDSMARK_FEATURE_INSTANCES;
  lying.writer_open = open_writer_disposing;
  lying.writer_dispose = dispose;
  lying.writer_unregister = unregister;
  lying.reader_receive = receive_unpurged;
}
VIOLATION(never_autodisposes) {
  disposes();
  lying.writer_unregister = unregister_alone;
}
VIOLATION(always_autodisposes) {
  disposes();
  lying.writer_unregister = dispose;
}

/* The deadline of a disposed instance ends; its samples remain. */
static ddsmark_status counters_until_disposal(ddsmark_reader *r, ddsmark_counters *out) {
  static uint64_t missed;
  (void)r;
  missed += !is_purged;
  count(out, DDSMARK_COUNTER_DEADLINE_MISSED, missed);
  return DDSMARK_OK;
}
VIOLATION(ends_deadlines) {
  disposes();
  ignores(DDSMARK_POLICY_DEADLINE);
  lying.writer_open = open_writer_disposing;
  lying.reader_counters = counters_until_disposal;
  lying.reader_receive = reader_receive;
}
VIOLATION(keeps_deadlines) {
  ends_deadlines();
  lying.writer_unregister = unregister_alone;
}
