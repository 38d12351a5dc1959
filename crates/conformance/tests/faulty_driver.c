/* SPDX-License-Identifier: Apache-2.0
 *
 * faulty_driver.c: the teaching driver with one violation of the contract: -DVIOLATION=<name of a function below>,
 * which changes the table of the driver. `nothing` changes nothing.
 */
#include <ddsmark/driver.h>

#define ddsmark_driver_entry honest_entry
#include "../../../drivers/teaching/driver.c"
#undef ddsmark_driver_entry
#include "../../../drivers/teaching/loop.c"

#include <fcntl.h>
#include <unistd.h>

static ddsmark_driver lying;

/* -- life ---------------------------------------------------------------------------------------------------------- */

static ddsmark_description described;
static const ddsmark_description *describe_changed(void) {
  return &described;
}
static void odd_source(void) {
  described.version_source = "hearsay";
  lying.describe = describe_changed;
}

static ddsmark_status close_leaving_descriptor(ddsmark_participant *p) {
  (void)!dup(2);
  return participant_close(p);
}
static void leaves_descriptor(void) {
  lying.participant_close = close_leaving_descriptor;
}

static ddsmark_status open_with_file(const ddsmark_participant_config *config, ddsmark_participant **out) {
  char path[256];
  snprintf(path, sizeof path, "/dev/shm/liar-%s", config->run_name);
  close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600));
  return participant_open(config, out);
}
static void leaves_file(void) {
  lying.participant_open = open_with_file;
}

static ddsmark_status open_anything(const ddsmark_participant_config *config, ddsmark_participant **out) {
  ddsmark_participant_config copy = *config;
  copy.option_count = 0;
  return participant_open(&copy, out);
}
static void takes_unknown_options(void) {
  lying.participant_open = open_anything;
}

static ddsmark_status open_halfway(const ddsmark_participant_config *config, ddsmark_participant **out) {
  const int descriptor = dup(2);
  const ddsmark_status status = participant_open(config, out);
  if (status == DDSMARK_OK)
    close(descriptor);
  return status;
}
static void fails_halfway(void) {
  lying.participant_open = open_halfway;
}

static ddsmark_status open_failing(const ddsmark_participant_config *config, ddsmark_participant **out) {
  return participant_open(config, out) == DDSMARK_OK ? DDSMARK_OK : DDSMARK_ERROR;
}
static void fails_vaguely(void) {
  lying.participant_open = open_failing;
}

static ddsmark_status write_cut(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return writer_write(w, key, payload, size < w->max_payload_bytes ? size : w->max_payload_bytes);
}
static void cuts_large_samples(void) {
  lying.writer_write = write_cut;
}

static ddsmark_status open_any_size(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  ddsmark_writer_config copy = *config;
  if (copy.max_payload_bytes > MAX_PAYLOAD)
    copy.max_payload_bytes = MAX_PAYLOAD;
  return writer_open(p, &copy, out);
}
static void promises_any_size(void) {
  lying.writer_open = open_any_size;
}

static ddsmark_status open_any_type(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  ddsmark_writer_config copy = *config;
  copy.type_kind = DDSMARK_TYPE_OCTETS;
  return writer_open(p, &copy, out);
}
static void takes_undeclared_types(void) {
  lying.writer_open = open_any_type;
}

static void hides_its_limits(void) {
  described.features &= ~DDSMARK_FEATURE_ONE_PROCESS;
  lying.describe = describe_changed;
}

static const char *silence(void) {
  return "";
}
static void says_nothing(void) {
  lying.last_error = silence;
}

/* -- matching and samples ------------------------------------------------------------------------------------------ */

static ddsmark_status always_one(ddsmark_writer *w, ddsmark_match *out) {
  (void)w;
  out->count = 1;
  return DDSMARK_OK;
}
static void matches_nobody(void) {
  lying.writer_matched = always_one;
}

static ddsmark_status most_ever(ddsmark_reader *r, ddsmark_match *out) {
  static uint32_t most;
  const ddsmark_status status = reader_matched(r, out);
  out->count = most = out->count > most ? out->count : most;
  return status;
}
static void never_unmatches(void) {
  lying.reader_matched = most_ever;
}

static ddsmark_status write_damaged(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  uint8_t *copy = malloc(size);
  memcpy(copy, payload, size);
  if (size > 60000)
    copy[size - 1] ^= 1;
  const ddsmark_status status = writer_write(w, key, copy, size);
  free(copy);
  return status;
}
static void damages_large_samples(void) {
  lying.writer_write = write_damaged;
}

static uint64_t writes;
static ddsmark_status write_most(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return ++writes == 5000 ? DDSMARK_OK : writer_write(w, key, payload, size);
}
static void loses_one(void) {
  lying.writer_write = write_most;
}

static ddsmark_status write_one_twice(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (++writes == 5000)
    writer_write(w, key, payload, size);
  return writer_write(w, key, payload, size);
}
static void doubles_one(void) {
  lying.writer_write = write_one_twice;
}

static ddsmark_status write_swapped(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  static uint8_t kept[64];
  if (++writes == 5001 && size == sizeof kept) {
    memcpy(kept, payload, size);
    return DDSMARK_OK;
  }
  const ddsmark_status status = writer_write(w, key, payload, size);
  return writes == 5002 ? writer_write(w, key, kept, sizeof kept) : status;
}
static void swaps_two(void) {
  lying.writer_write = write_swapped;
}

static ddsmark_status write_or_not(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, payload, size);
  return status == DDSMARK_TIMED_OUT ? DDSMARK_OK : status;
}
static void accepts_what_it_drops(void) {
  lying.writer_write = write_or_not;
}

static ddsmark_status write_and_fail(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, payload, size);
  return ++writes % 100 == 0 && status == DDSMARK_OK ? DDSMARK_TIMED_OUT : status;
}
static void sends_what_it_refuses(void) {
  lying.writer_write = write_and_fail;
}

/* The write of a sink waits longer than the case. */
static ddsmark_status write_waiting(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  static _Thread_local int depth;
  if (depth++ > 0)
    sleep(60);
  const ddsmark_status status = writer_write(w, key, payload, size);
  depth--;
  return status;
}
static void waits_in_a_listener(void) {
  lying.writer_write = write_waiting;
}

static ddsmark_status flush_nothing(ddsmark_writer *w) {
  (void)w;
  return DDSMARK_OK;
}
static void never_flushes(void) {
  lying.writer_flush = flush_nothing;
}

static ddsmark_status write_every_other(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return ++writes % 2 == 0 ? DDSMARK_OK : writer_write(w, key, payload, size);
}
static void acknowledges_the_lost(void) {
  lying.writer_write = write_every_other;
}

static ddsmark_status acked_never(ddsmark_writer *w, uint64_t timeout_ns) {
  (void)w, (void)timeout_ns;
  return DDSMARK_TIMED_OUT;
}
static void never_acknowledges(void) {
  lying.writer_wait_acked = acked_never;
}

static ddsmark_status write_small_key(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return writer_write(w, key & 0xff, payload, size);
}
static void shortens_keys(void) {
  lying.writer_write = write_small_key;
}

static ddsmark_status open_volatile(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  ddsmark_qos qos = *config->qos;
  qos.present &= ~(UINT64_C(1) << DDSMARK_POLICY_DURABILITY);
  ddsmark_reader_config copy = *config;
  copy.qos = &qos;
  return reader_open(p, &copy, out);
}
static void forgets_history(void) {
  lying.reader_open = open_volatile;
}

#include "violations_beyond.h"
#include "violations_of_matching.h"
#include "violations_of_participants.h"
#include "violations_of_policies.h"

/* -- receiving ----------------------------------------------------------------------------------------------------- */

static ddsmark_status receive_miscounted(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                         void *context, uint32_t *taken) {
  const ddsmark_status status = reader_receive(r, timeout_ns, max, sink, context, taken);
  *taken += 1;
  return status;
}
static void miscounts(void) {
  lying.reader_receive = receive_miscounted;
}

static ddsmark_status receive_waiting(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                      void *context, uint32_t *taken) {
  r->polling = 0;
  return reader_receive(r, timeout_ns, max, sink, context, taken);
}
static void waits_when_polled(void) {
  lying.reader_receive = receive_waiting;
}

static outlet last_listener;
static ddsmark_status close_listening_on(ddsmark_reader *r) {
  last_listener = r->listener;
  return reader_close(r);
}
static ddsmark_status write_to_the_closed(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (last_listener.sink != NULL)
    give(&last_listener, key, payload, size);
  return writer_write(w, key, payload, size);
}
static void calls_after_close(void) {
  lying.reader_close = close_listening_on;
  lying.writer_write = write_to_the_closed;
}

static ddsmark_status write_last_twice(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, payload, size);
  return ++writes == 50 ? writer_write(w, key, payload, size) : status;
}
static void doubles_heard(void) {
  lying.writer_write = write_last_twice;
}

static ddsmark_status open_deaf(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  ddsmark_reader_config copy = *config;
  copy.receive_mode = DDSMARK_RECEIVE_WAITSET;
  return reader_open(p, &copy, out);
}
static void never_listens(void) {
  lying.reader_open = open_deaf;
}

#include "violations_of_readback.h"
#include "violations_of_threads.h"

/* ------------------------------------------------------------------------------------------------------------------ */

static void nothing(void) {}

/* Refers to all of them, so that those not selected cause no warning. */
static void (*const violations[])(void) = {
    nothing,
    odd_source,
    leaves_thread,
    keeps_thread,
    keeps_two_of_a_name,
    keeps_one_more_each_time,
    keeps_another_later,
    keeps_what_it_names_not,
    keeps_a_nameless_thread,
    keeps_a_thread_of_no_such_name,
    keeps_a_thread_by_two_names,
    leaves_descriptor,
    leaves_file,
    takes_unknown_options,
    fails_halfway,
    fails_vaguely,
    cuts_large_samples,
    promises_any_size,
    takes_undeclared_types,
    says_nothing,
    hides_its_limits,
    matches_nobody,
    never_unmatches,
    times_the_open,
    times_the_query,
    moves_the_time,
    keeps_the_time,
    forgets_third_reader,
    doubles_for_second_reader,
    forgets_third_writer,
    stops_at_join,
    stops_at_leave,
    counts_the_closed,
    drops_all_at_leave,
    acknowledges_never_to_three,
    opens_only_one,
    closes_all,
    separates_participants,
    damages_large_samples,
    loses_one,
    doubles_one,
    swaps_two,
    accepts_what_it_drops,
    sends_what_it_refuses,
    waits_in_a_listener,
    never_flushes,
    acknowledges_the_lost,
    never_acknowledges,
    shortens_keys,
    rounds_keys,
    swaps_within_an_instance,
    filters,
    filters_undeclared,
    filters_nothing,
    filters_too_much,
    filters_too_little,
    forgets_history,
    lends,
    promises_loans,
    takes_undeclared_loans,
    lends_undeclared,
    lends_any_size,
    lends_overlapping,
    never_takes_back,
    publishes_nothing,
    damages_loans,
    ignores_deadline,
    ignores_lifespan,
    expires_everything,
    expires_three,
    ignores_time_based_filter,
    ignores_partition,
    ignores_ownership,
    ignores_liveliness,
    ignores_limits,
    ignores_reliability,
    ignores_durability,
    ignores_latency_budget,
    ignores_presentation,
    ignores_destination_order,
    ignores_reader_data_lifecycle,
    ignores_durability_service,
    serves_no_history,
    stores_nothing,
    counts_at_one_end,
    groups_by_instance,
    disposes,
    never_autodisposes,
    always_autodisposes,
    ends_deadlines,
    keeps_deadlines,
    hides_an_effect,
    limits_what_it_ignores,
    declares_unobserved,
    always_misses,
    keeps_one_more,
    leaks_samples,
    leaks_readers,
    miscounts,
    waits_when_polled,
    calls_after_close,
    never_listens,
    doubles_heard,
    requests_what_it_has_not,
    hides_the_transport,
    names_another_transport,
    has_another_depth,
    swallows_a_policy,
    echoes_what_it_ignores,
    counts_back,
    hides_timeouts,
    counts_no_bytes,
    takes_undeclared_multicast,
    hides_multicast,
    claims_multicast,
    always_claims_multicast,
};

static void VIOLATION(void);

const ddsmark_driver *ddsmark_driver_entry(void) {
  (void)violations;
  lying = driver;
  described = description;
  VIOLATION();
  return &lying;
}
