/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: a driver for learning. It adapts loop.h, a middleware of a few queues, to the contract in
 * include/ddsmark/driver.h. Read it from the end: the function table there is all that ddsmark sees.
 * docs/how-to/write-a-driver.md explains it.
 */
#include "loop.h"

#include <ddsmark/driver.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- errors: a status, and a text for the calling thread (section 4) ----------------------------------------------- */

static _Thread_local char failure[256];

__attribute__((format(printf, 2, 3))) static ddsmark_status fail(ddsmark_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
  return status;
}

static const char *last_error(void) {
  return failure;
}

/* -- description --------------------------------------------------------------------------------------------------- */

enum { MAX_PAYLOAD = 16 << 20 };

static const ddsmark_transport_info transports[] = {
    {.name = "memory", .max_payload_bytes = MAX_PAYLOAD, .note = "within one process"},
};

/* Policies that are not listed are DDSMARK_SUPPORT_UNSUPPORTED, which is 0. */
static const ddsmark_description description = {
    .struct_size = sizeof description,
    .features = DDSMARK_FEATURE_NATIVE_BATCHING | DDSMARK_FEATURE_WAIT_ACKED | DDSMARK_FEATURE_ONE_PROCESS |
                DDSMARK_FEATURE_ECHO_IN_LISTENER,
    .name = "teaching",
    .driver_version = "0.1.0",
    .middleware = "loop",
    .middleware_version = "0.1.0",
    .version_source = "headers",
    .licence = "Apache-2.0",
    .receive_modes = 1u << DDSMARK_RECEIVE_WAITSET | 1u << DDSMARK_RECEIVE_POLLING | 1u << DDSMARK_RECEIVE_LISTENER,
    .type_kinds = 1u << DDSMARK_TYPE_OCTETS | 1u << DDSMARK_TYPE_KEYED,
    .transports = transports,
    .transport_count = 1,
    .policies = {[DDSMARK_POLICY_RELIABILITY] = {.writer = DDSMARK_SUPPORT_ENFORCED,
                                                 .reader = DDSMARK_SUPPORT_ENFORCED},
                 [DDSMARK_POLICY_HISTORY] = {.writer = DDSMARK_SUPPORT_ENFORCED,
                                             .reader = DDSMARK_SUPPORT_ENFORCED,
                                             .note = "`keep_all` keeps 256 samples"},
                 [DDSMARK_POLICY_DURABILITY] = {.writer = DDSMARK_SUPPORT_ENFORCED,
                                                .reader = DDSMARK_SUPPORT_ENFORCED,
                                                .note = "`volatile` and `transient_local`"}},
};

static const ddsmark_description *describe(void) {
  return &description;
}

/* -- participants -------------------------------------------------------------------------------------------------- */

struct ddsmark_participant {
  uint32_t domain;
};

/* Checks everything before it opens anything, so that nothing must be undone (section 2). */
static ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  if (config->transport != NULL && strcmp(config->transport, transports[0].name) != 0)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown transport `%s`; hint: available: memory", config->transport);
  if (config->interface != NULL && if_nametoindex(config->interface) == 0)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` does not exist; hint: list the interfaces with `ip -br link`",
                config->interface);
  if (config->option_count > 0)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown option `%s`; hint: available: none", config->options[0].name);
  if (config->multicast)
    return fail(DDSMARK_UNSUPPORTED,
                "multicast is not supported: samples stay in memory; hint: set `multicast` to false");
  ddsmark_participant *participant = malloc(sizeof *participant);
  if (participant == NULL)
    return fail(DDSMARK_ERROR, "out of memory: cannot allocate a participant");
  participant->domain = config->domain;
  *out = participant;
  return DDSMARK_OK;
}

static ddsmark_status participant_close(ddsmark_participant *participant) {
  free(participant);
  return DDSMARK_OK;
}

static ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context) {
  (void)participant;
  visit(context, "transport", transports[0].name);
  return DDSMARK_OK;
}

/* -- quality of service: requested, rejected, read back (section 7) ------------------------------------------------ */

static const uint64_t known_policies =
    1u << DDSMARK_POLICY_RELIABILITY | 1u << DDSMARK_POLICY_HISTORY | 1u << DDSMARK_POLICY_DURABILITY;

static int has(const ddsmark_qos *qos, int policy) {
  return (qos->present >> policy & 1) != 0;
}

/* Checks what writers and readers have in common: type and size first, then each requested policy. */
static ddsmark_status entity_in(uint32_t type_kind, uint64_t max_payload_bytes, const ddsmark_qos *asked, int is_writer,
                                loop_qos *qos) {
  if ((description.type_kinds >> type_kind & 1) == 0)
    return fail(DDSMARK_UNSUPPORTED, "type kind %u is not supported; hint: see the types in `ddsmark drivers info`",
                type_kind);
  if (max_payload_bytes > MAX_PAYLOAD)
    return fail(DDSMARK_TOO_LARGE,
                "samples of %llu bytes exceed the maximum of this driver; hint: use samples of at most %d bytes",
                (unsigned long long)max_payload_bytes, MAX_PAYLOAD);
  *qos = (loop_qos){.reliable = is_writer, .depth = 1, .max_blocking_ns = 100000000};
  if (asked == NULL)
    return DDSMARK_OK;
  if ((asked->present & ~known_policies) != 0)
    return fail(
        DDSMARK_UNSUPPORTED,
        "only the policies `reliability`, `history` and `durability` are supported; hint: request no other policy");
  if (has(asked, DDSMARK_POLICY_RELIABILITY)) {
    qos->reliable = asked->reliability == DDSMARK_RELIABLE;
    qos->max_blocking_ns = asked->max_blocking_ns;
  }
  if (has(asked, DDSMARK_POLICY_HISTORY)) {
    qos->keep_all = asked->history == DDSMARK_KEEP_ALL;
    qos->depth = asked->history_depth;
    if (!qos->keep_all && qos->depth < 1)
      return fail(DDSMARK_BAD_ARGUMENT, "invalid `history_depth`: %d; hint: use at least 1", qos->depth);
  }
  if (has(asked, DDSMARK_POLICY_DURABILITY)) {
    if (asked->durability > DDSMARK_TRANSIENT_LOCAL)
      return fail(
          DDSMARK_UNSUPPORTED,
          "durability `transient` and `persistent` are not supported; hint: use `volatile` or `transient_local`");
    qos->transient_local = asked->durability == DDSMARK_TRANSIENT_LOCAL;
  }
  return DDSMARK_OK;
}

/* Converts the effective values of the middleware, not the requested ones. */
static void qos_out(const loop_qos *qos, int is_writer, ddsmark_qos *out) {
  out->present = known_policies;
  out->reliability = qos->reliable ? DDSMARK_RELIABLE : DDSMARK_BEST_EFFORT;
  out->max_blocking_ns = is_writer ? qos->max_blocking_ns : 0;
  out->history = qos->keep_all ? DDSMARK_KEEP_ALL : DDSMARK_KEEP_LAST;
  out->history_depth = qos->depth;
  out->durability = qos->transient_local ? DDSMARK_TRANSIENT_LOCAL : DDSMARK_VOLATILE;
}

/* -- writers ------------------------------------------------------------------------------------------------------- */

struct ddsmark_writer {
  loop_writer *loop;
  uint64_t max_payload_bytes;
  int batches;
};

static ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config,
                                  ddsmark_writer **out) {
  loop_qos qos;
  const ddsmark_status status = entity_in(config->type_kind, config->max_payload_bytes, config->qos, 1, &qos);
  if (status != DDSMARK_OK)
    return status;
  if (config->loans || config->async_write)
    return fail(DDSMARK_UNSUPPORTED, "loans and asynchronous writing are not supported; hint: request neither");
  ddsmark_writer *writer = malloc(sizeof *writer);
  loop_writer *loop = loop_writer_new(participant->domain, config->topic, &qos, config->batch_bytes);
  if (writer == NULL || loop == NULL) {
    if (loop != NULL)
      loop_writer_free(loop);
    free(writer);
    return fail(DDSMARK_ERROR, "out of memory: cannot allocate a writer");
  }
  *writer = (ddsmark_writer){loop, config->max_payload_bytes, config->batch_bytes > 0};
  *out = writer;
  return DDSMARK_OK;
}

static ddsmark_status writer_close(ddsmark_writer *writer) {
  loop_writer_free(writer->loop);
  free(writer);
  return DDSMARK_OK;
}

/* The middleware records when a peer comes or goes (section 6); not every one does. With a callback for it, record the
 * time there. */
static ddsmark_status writer_matched(ddsmark_writer *writer, ddsmark_match *out) {
  const loop_match match = loop_writer_matched(writer->loop);
  out->count = match.count;
  out->changed_ns = match.changed_ns;
  return DDSMARK_OK;
}

static ddsmark_status writer_qos(ddsmark_writer *writer, ddsmark_qos *out) {
  const loop_qos qos = loop_writer_qos(writer->loop);
  qos_out(&qos, 1, out);
  return DDSMARK_OK;
}

static ddsmark_status writer_settings(ddsmark_writer *writer, ddsmark_visitor visit, void *context) {
  visit(context, "batching", writer->batches ? "native" : "none");
  return DDSMARK_OK;
}

static void count(ddsmark_counters *counters, int which, uint64_t value) {
  counters->valid |= UINT64_C(1) << which;
  counters->values[which] = value;
}

static ddsmark_status writer_counters(ddsmark_writer *writer, ddsmark_counters *out) {
  const loop_counts counts = loop_writer_counts(writer->loop);
  count(out, DDSMARK_COUNTER_WRITE_TIMED_OUT, counts.timed_out);
  count(out, DDSMARK_COUNTER_PACKETS_SENT, counts.samples);
  count(out, DDSMARK_COUNTER_BYTES_SENT, counts.bytes);
  return DDSMARK_OK;
}

/* Converts a return value of the middleware into a status of the contract (section 4). */
static ddsmark_status status_of(int answer) {
  switch (answer) {
  case LOOP_OK:
    return DDSMARK_OK;
  case LOOP_TIMED_OUT:
    return fail(DDSMARK_TIMED_OUT, "the writer had no room within `max_blocking`; hint: check for a slow reader");
  default:
    return fail(DDSMARK_REFUSED, "out of memory: cannot store the sample");
  }
}

static ddsmark_status writer_write(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (size > writer->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE,
                "a sample of %llu bytes exceeds the maximum of its writer; hint: write at most %llu bytes",
                (unsigned long long)size, (unsigned long long)writer->max_payload_bytes);
  return status_of(loop_write(writer->loop, key, payload, size));
}

static ddsmark_status writer_flush(ddsmark_writer *writer) {
  return status_of(loop_flush(writer->loop));
}

/* An accepted sample is already in the reader's queue, so all are delivered once the batch is flushed. */
static ddsmark_status writer_wait_acked(ddsmark_writer *writer, uint64_t timeout_ns) {
  (void)timeout_ns;
  return writer_flush(writer);
}

/* -- readers ------------------------------------------------------------------------------------------------------- */

typedef struct outlet { /* sink of the samples */
  ddsmark_sink sink;
  void *context;
} outlet;

struct ddsmark_reader {
  loop_reader *loop;
  int polling;
  outlet listener;
};

static void give(void *context, uint32_t key, const uint8_t *payload, size_t size) {
  const outlet *to = context;
  const ddsmark_sample sample = {.payload = payload, .size = size, .key = key};
  to->sink(to->context, &sample);
}

static ddsmark_status reader_open(ddsmark_participant *participant, const ddsmark_reader_config *config,
                                  ddsmark_reader **out) {
  loop_qos qos;
  const ddsmark_status status = entity_in(config->type_kind, config->max_payload_bytes, config->qos, 0, &qos);
  if (status != DDSMARK_OK)
    return status;
  if (config->content_filter != NULL)
    return fail(DDSMARK_UNSUPPORTED, "content filters are not supported; hint: remove `content_filter`");
  ddsmark_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL)
    return fail(DDSMARK_ERROR, "out of memory: cannot allocate a reader");
  const int listens = config->receive_mode == DDSMARK_RECEIVE_LISTENER;
  reader->polling = config->receive_mode == DDSMARK_RECEIVE_POLLING;
  reader->listener = (outlet){config->sink, config->sink_context};
  reader->loop = loop_reader_new(participant->domain, config->topic, &qos, listens ? give : NULL, &reader->listener);
  if (reader->loop == NULL) {
    free(reader);
    return fail(DDSMARK_ERROR, "out of memory: cannot allocate a reader");
  }
  *out = reader;
  return DDSMARK_OK;
}

static ddsmark_status reader_close(ddsmark_reader *reader) {
  loop_reader_free(reader->loop);
  free(reader);
  return DDSMARK_OK;
}

static ddsmark_status reader_matched(ddsmark_reader *reader, ddsmark_match *out) {
  const loop_match match = loop_reader_matched(reader->loop);
  out->count = match.count;
  out->changed_ns = match.changed_ns;
  return DDSMARK_OK;
}

static ddsmark_status reader_qos(ddsmark_reader *reader, ddsmark_qos *out) {
  const loop_qos qos = loop_reader_qos(reader->loop);
  qos_out(&qos, 0, out);
  return DDSMARK_OK;
}

static ddsmark_status reader_settings(ddsmark_reader *reader, ddsmark_visitor visit, void *context) {
  (void)reader, (void)visit, (void)context; /* no such settings */
  return DDSMARK_OK;
}

static ddsmark_status reader_counters(ddsmark_reader *reader, ddsmark_counters *out) {
  (void)reader, (void)out; /* loop has no counters here: no bit is set, instead of values of 0 */
  return DDSMARK_OK;
}

static ddsmark_status reader_receive(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples,
                                     ddsmark_sink sink, void *context, uint32_t *taken) {
  outlet to = {sink, context};
  uint32_t got = 0;
  /* Wait for the first sample only. */
  while (got < max_samples && loop_take(reader->loop, got == 0 && !reader->polling ? timeout_ns : 0, give, &to))
    got++;
  *taken = got;
  return DDSMARK_OK;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

static const ddsmark_driver driver = {
    .abi_version = DDSMARK_ABI_VERSION,
    .struct_size = sizeof driver,
    .describe = describe,
    .last_error = last_error,
    .participant_open = participant_open,
    .participant_close = participant_close,
    .participant_settings = participant_settings,
    .writer_open = writer_open,
    .writer_close = writer_close,
    .writer_matched = writer_matched,
    .writer_qos = writer_qos,
    .writer_settings = writer_settings,
    .writer_counters = writer_counters,
    .writer_write = writer_write,
    .writer_flush = writer_flush,
    .writer_wait_acked = writer_wait_acked,
    .reader_open = reader_open,
    .reader_close = reader_close,
    .reader_matched = reader_matched,
    .reader_qos = reader_qos,
    .reader_settings = reader_settings,
    .reader_counters = reader_counters,
    .reader_receive = reader_receive,
};

const ddsmark_driver *ddsmark_driver_entry(void) {
  return &driver;
}
