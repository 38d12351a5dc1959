/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_beyond.h: violations for features that the teaching driver lacks (loans, further policies), and memory
 * leaks. Part of faulty_driver.c.
 */
/* -- loans: first a correct implementation, which the teaching driver lacks ------------------------------------------
 */

static ddsmark_status open_with_loans(ddsmark_participant *p, const ddsmark_writer_config *config,
                                      ddsmark_writer **out) {
  ddsmark_writer_config copy = *config;
  copy.loans = 0;
  return writer_open(p, &copy, out);
}
static ddsmark_status loan_new(ddsmark_writer *w, uint64_t size, uint8_t **out) {
  if (size > w->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE, "a loan over the size of the writer");
  *out = malloc(size);
  return DDSMARK_OK;
}
static ddsmark_status loan_publish(ddsmark_writer *w, uint32_t key, uint8_t *loan, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, loan, size);
  if (status != DDSMARK_TIMED_OUT && status != DDSMARK_REFUSED)
    free(loan);
  return status;
}
static ddsmark_status loan_discard(ddsmark_writer *w, uint8_t *loan) {
  (void)w;
  free(loan);
  return DDSMARK_OK;
}
VIOLATION(lends) {
  described.features |= DDSMARK_FEATURE_WRITER_LOANS;
  lying.describe = describe_changed;
  lying.writer_open = open_with_loans;
  lying.writer_loan = loan_new;
  lying.writer_publish = loan_publish;
  lying.writer_discard = loan_discard;
}

VIOLATION(promises_loans) {
  described.features |= DDSMARK_FEATURE_WRITER_LOANS;
  lying.describe = describe_changed;
  lying.writer_open = open_with_loans;
}
VIOLATION(takes_undeclared_loans) {
  lying.writer_open = open_with_loans;
}
VIOLATION(lends_undeclared) {
  lying.writer_loan = loan_new;
  lying.writer_discard = loan_discard;
}

static ddsmark_status loan_any_size(ddsmark_writer *w, uint64_t size, uint8_t **out) {
  (void)w;
  *out = malloc(size);
  return DDSMARK_OK;
}
VIOLATION(lends_any_size) {
  lends();
  lying.writer_loan = loan_any_size;
}

static uint8_t pool[64 << 10];
static ddsmark_status keep_in_pool(ddsmark_writer *w, uint8_t *loan) {
  (void)w, (void)loan;
  return DDSMARK_OK;
}
static ddsmark_status loan_overlapping(ddsmark_writer *w, uint64_t size, uint8_t **out) {
  static uint64_t loans;
  if (size > w->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE, "a loan over the size of the writer");
  *out = pool + loans++ % 4 * size / 2;
  return DDSMARK_OK;
}
static ddsmark_status publish_from_pool(ddsmark_writer *w, uint32_t key, uint8_t *loan, uint64_t size) {
  return writer_write(w, key, loan, size);
}
VIOLATION(lends_overlapping) {
  lends();
  lying.writer_loan = loan_overlapping;
  lying.writer_publish = publish_from_pool;
  lying.writer_discard = keep_in_pool;
}

static ddsmark_status loan_sixteen(ddsmark_writer *w, uint64_t size, uint8_t **out) {
  static uint64_t loans;
  return size <= w->max_payload_bytes && ++loans > 16 ? fail(DDSMARK_REFUSED, "all are out") : loan_new(w, size, out);
}
VIOLATION(never_takes_back) {
  lends();
  lying.writer_loan = loan_sixteen;
}

static ddsmark_status publish_nothing(ddsmark_writer *w, uint32_t key, uint8_t *loan, uint64_t size) {
  (void)key, (void)size;
  return loan_discard(w, loan);
}
VIOLATION(publishes_nothing) {
  lends();
  lying.writer_publish = publish_nothing;
}

static ddsmark_status publish_damaged(ddsmark_writer *w, uint32_t key, uint8_t *loan, uint64_t size) {
  loan[size / 2] ^= 1;
  return loan_publish(w, key, loan, size);
}
VIOLATION(damages_loans) {
  lends();
  lying.writer_publish = publish_damaged;
}

/* -- policies that are declared and granted, but have no effect ---------------------------------------------------- */

static uint64_t without_effect;
static ddsmark_status open_writer_without(ddsmark_participant *p, const ddsmark_writer_config *config,
                                          ddsmark_writer **out) {
  ddsmark_qos qos = *config->qos;
  qos.present &= ~without_effect;
  ddsmark_writer_config copy = *config;
  copy.qos = &qos;
  return writer_open(p, &copy, out);
}
static ddsmark_status open_reader_without(ddsmark_participant *p, const ddsmark_reader_config *config,
                                          ddsmark_reader **out) {
  ddsmark_qos qos = *config->qos;
  qos.present &= ~without_effect;
  ddsmark_reader_config copy = *config;
  copy.qos = &qos;
  return reader_open(p, &copy, out);
}
static ddsmark_status counters_of_nothing(ddsmark_reader *r, ddsmark_counters *out) {
  (void)r;
  count(out, DDSMARK_COUNTER_DEADLINE_MISSED, 0);
  count(out, DDSMARK_COUNTER_LIVELINESS_LOST, 0);
  return DDSMARK_OK;
}
static void ignores(int policy) {
  described.policies[policy].writer = described.policies[policy].reader = DDSMARK_SUPPORT_ENFORCED;
  without_effect |= UINT64_C(1) << policy;
  lying.describe = describe_changed;
  lying.writer_open = open_writer_without;
  lying.reader_open = open_reader_without;
  lying.reader_counters = counters_of_nothing;
}
VIOLATION(ignores_deadline) {
  ignores(DDSMARK_POLICY_DEADLINE);
}
VIOLATION(ignores_lifespan) {
  ignores(DDSMARK_POLICY_LIFESPAN);
}
static ddsmark_status write_nothing(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  (void)w, (void)key, (void)payload, (void)size;
  return DDSMARK_OK;
}
VIOLATION(expires_everything) {
  ignores(DDSMARK_POLICY_LIFESPAN);
  lying.writer_write = write_nothing;
}
static uint64_t before_fresh = 3;
static ddsmark_status write_three_later(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (before_fresh == 0)
    return writer_write(w, key, payload, size);
  before_fresh--;
  return DDSMARK_OK;
}
VIOLATION(expires_three) {
  ignores(DDSMARK_POLICY_LIFESPAN);
  lying.writer_write = write_three_later;
}
VIOLATION(ignores_time_based_filter) {
  ignores(DDSMARK_POLICY_TIME_BASED_FILTER);
}
VIOLATION(ignores_partition) {
  ignores(DDSMARK_POLICY_PARTITION);
}
VIOLATION(ignores_ownership) {
  ignores(DDSMARK_POLICY_OWNERSHIP);
  ignores(DDSMARK_POLICY_OWNERSHIP_STRENGTH);
}
/* Ownership without its strength, although its case needs both. Presentation has no case. */
VIOLATION(declares_unobserved) {
  static const uint32_t policies[] = {DDSMARK_POLICY_OWNERSHIP, DDSMARK_POLICY_PRESENTATION};
  for (int i = 0; i < 2; i++)
    described.policies[policies[i]].writer = described.policies[policies[i]].reader = DDSMARK_SUPPORT_ENFORCED;
  lying.describe = describe_changed;
}
VIOLATION(ignores_liveliness) {
  ignores(DDSMARK_POLICY_LIVELINESS);
}

VIOLATION(ignores_limits) {
  ignores(DDSMARK_POLICY_RESOURCE_LIMITS);
}
/* The writer's limit, which it declares as ignored; 0 without one. */
static int32_t accepts;
static ddsmark_status open_writer_limited(ddsmark_participant *p, const ddsmark_writer_config *config,
                                          ddsmark_writer **out) {
  accepts = config->qos->present >> DDSMARK_POLICY_RESOURCE_LIMITS & 1 ? config->qos->max_samples : 0;
  return open_writer_without(p, config, out);
}
static ddsmark_status write_limited(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (accepts == 1)
    return DDSMARK_TIMED_OUT;
  accepts -= accepts > 1;
  return writer_write(w, key, payload, size);
}
VIOLATION(limits_what_it_ignores) {
  ignores_limits();
  described.policies[DDSMARK_POLICY_RESOURCE_LIMITS].writer = DDSMARK_SUPPORT_IGNORED;
  lying.writer_open = open_writer_limited;
  lying.writer_write = write_limited;
}

static ddsmark_status counters_of_much(ddsmark_reader *r, ddsmark_counters *out) {
  (void)r;
  count(out, DDSMARK_COUNTER_DEADLINE_MISSED, 7);
  count(out, DDSMARK_COUNTER_LIVELINESS_LOST, 7);
  return DDSMARK_OK;
}
VIOLATION(always_misses) {
  ignores(DDSMARK_POLICY_DEADLINE);
  ignores(DDSMARK_POLICY_LIVELINESS);
  lying.reader_counters = counters_of_much;
}

static ddsmark_status open_deep(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  ddsmark_qos qos = *config->qos;
  qos.history_depth += 1;
  ddsmark_reader_config copy = *config;
  copy.qos = &qos;
  return reader_open(p, &copy, out);
}
VIOLATION(keeps_one_more) {
  lying.reader_open = open_deep;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Bytes a sample: too many for the free heap of a process that has run other drivers before. */
#ifndef LEAK
#define LEAK 1000
#endif
static void leak(size_t size) {
  memset(malloc(size), 1, size);
}
static ddsmark_status write_leaking(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  leak(LEAK);
  return writer_write(w, key, payload, size);
}
VIOLATION(leaks_samples) {
  lying.writer_write = write_leaking;
}

static ddsmark_status close_leaking(ddsmark_reader *r) {
  leak(1000000); /* more in each series than earlier cases have freed, which malloc would use first */
  return reader_close(r);
}
VIOLATION(leaks_readers) {
  lying.reader_close = close_leaking;
}

/* -- instances ----------------------------------------------------------------------------------------------------- */

static ddsmark_status write_even_key(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return writer_write(w, key & ~UINT32_C(1), payload, size);
}
VIOLATION(rounds_keys) {
  lying.writer_write = write_even_key;
}

static ddsmark_status write_second_first(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  static uint8_t kept[64];
  if (key == 42 && ++writes == 1 && size == sizeof kept) {
    memcpy(kept, payload, size);
    return DDSMARK_OK;
  }
  const ddsmark_status status = writer_write(w, key, payload, size);
  return key == 42 && writes == 2 ? writer_write(w, key, kept, sizeof kept) : status;
}
VIOLATION(swaps_within_an_instance) {
  lying.writer_write = write_second_first;
}

/* -- content filters: first a correct implementation, which the teaching driver lacks --------------------------------
 */

static ddsmark_reader *filtered;
static uint32_t filter_first, filter_last;

static ddsmark_status open_with_filter(ddsmark_participant *p, const ddsmark_reader_config *config,
                                       ddsmark_reader **out) {
  ddsmark_reader_config copy = *config;
  copy.content_filter = NULL;
  const ddsmark_status status = reader_open(p, &copy, out);
  if (status != DDSMARK_OK || !config->content_filter)
    return status;
  filtered = *out;
  if (sscanf(config->content_filter, "key = %u", &filter_first) == 1)
    filter_last = filter_first;
  else if (sscanf(config->content_filter, "key BETWEEN %u AND %u", &filter_first, &filter_last) != 2)
    sscanf(config->content_filter, "key >= %u AND key <= %u", &filter_first, &filter_last);
  return status;
}

typedef struct filtering {
  ddsmark_sink sink;
  void *context;
  uint32_t passed;
} filtering;

static void pass_included(void *context, const ddsmark_sample *sample) {
  filtering *to = context;
  if (sample->key < filter_first || sample->key > filter_last)
    return;
  to->passed++;
  to->sink(to->context, sample);
}
static ddsmark_status receive_filtered(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                                       void *context, uint32_t *taken) {
  if (r != filtered)
    return reader_receive(r, timeout_ns, max_samples, sink, context, taken);
  filtering to = {sink, context, 0};
  const ddsmark_status status = reader_receive(r, timeout_ns, max_samples, pass_included, &to, taken);
  *taken = to.passed;
  return status;
}
VIOLATION(filters) {
  described.features |= DDSMARK_FEATURE_CONTENT_FILTER;
  lying.describe = describe_changed;
  lying.reader_open = open_with_filter;
  lying.reader_receive = receive_filtered;
}

VIOLATION(filters_undeclared) {
  lying.reader_open = open_with_filter;
}
VIOLATION(filters_nothing) {
  filters();
  lying.reader_receive = reader_receive;
}
static ddsmark_status open_with_narrow_filter(ddsmark_participant *p, const ddsmark_reader_config *config,
                                              ddsmark_reader **out) {
  const ddsmark_status status = open_with_filter(p, config, out);
  filter_last -= filter_last > filter_first;
  return status;
}
VIOLATION(filters_too_much) {
  filters();
  lying.reader_open = open_with_narrow_filter;
}
static ddsmark_status open_with_wide_filter(ddsmark_participant *p, const ddsmark_reader_config *config,
                                            ddsmark_reader **out) {
  const ddsmark_status status = open_with_filter(p, config, out);
  filter_last += filter_last == 9;
  filter_first -= filter_first == 8;
  return status;
}
VIOLATION(filters_too_little) {
  filters();
  lying.reader_open = open_with_wide_filter;
}
