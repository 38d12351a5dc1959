/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: a driver to learn from. It adapts loop.h, a middleware of some queues, to the contract in
 * include/ddsmark/driver.h. Read it from the bottom: the table at the end is all that ddsmark sees.
 * docs/how-to/write-a-driver.md walks through it.
 */
#include "loop.h"

#include <ddsmark/driver.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- failures: a status, and words for the calling thread (section 4) ---------------------------------------------- */

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

/* -- what this driver is ------------------------------------------------------------------------------------------- */

enum { MAX_PAYLOAD = 16 << 20 };

static const ddsmark_transport_info transports[] = {
    {.name = "memory", .max_payload_bytes = MAX_PAYLOAD, .note = "within one process"},
};

/* What is not named is DDSMARK_SUPPORT_UNSUPPORTED, which is 0. */
static const ddsmark_description description = {
    .struct_size = sizeof description,
    .features = DDSMARK_FEATURE_APPLICATION_BATCHING | DDSMARK_FEATURE_WAIT_ACKED | DDSMARK_FEATURE_ONE_PROCESS,
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
    .policies = {[DDSMARK_POLICY_RELIABILITY] = {.support = DDSMARK_SUPPORT_ENFORCED},
                 [DDSMARK_POLICY_HISTORY] = {.support = DDSMARK_SUPPORT_ENFORCED, .note = "keep-all: 256 samples"},
                 [DDSMARK_POLICY_DURABILITY] = {.support = DDSMARK_SUPPORT_ENFORCED, .note = "up to transient-local"}},
};

static const ddsmark_description *describe(void) {
  return &description;
}

/* -- participants -------------------------------------------------------------------------------------------------- */

struct ddsmark_participant {
  uint32_t domain;
};

/* Everything is checked before anything is opened: then there is nothing to undo (section 2). */
static ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  if (config->transport != NULL && strcmp(config->transport, transports[0].name) != 0)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown transport `%s`; hint: there is only `memory`", config->transport);
  if (config->interface != NULL && if_nametoindex(config->interface) == 0)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` does not exist; hint: `ip -br link` lists them",
                config->interface);
  if (config->option_count > 0)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown option `%s`; hint: there are none", config->options[0].name);
  if (config->multicast)
    return fail(DDSMARK_UNSUPPORTED, "no multicast: samples stay in memory");
  ddsmark_participant *participant = malloc(sizeof *participant);
  if (participant == NULL)
    return fail(DDSMARK_ERROR, "out of memory");
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

/* -- quality of service: asked for, refused, read back (section 7) ------------------------------------------------- */

static int has(const ddsmark_qos *qos, int policy) {
  return (qos->present >> policy & 1) != 0;
}

/* A policy that the middleware has not, asked for with another value than what happens anyway. */
static const char *unsupported(const ddsmark_qos *q) {
  const struct {
    int policy;
    int other;
    const char *name;
  } table[] = {
      {DDSMARK_POLICY_RESOURCE_LIMITS,
       q->max_samples != -1 || q->max_instances != -1 || q->max_samples_per_instance != -1, "RESOURCE_LIMITS"},
      {DDSMARK_POLICY_DURABILITY_SERVICE, 1, "DURABILITY_SERVICE"},
      {DDSMARK_POLICY_DEADLINE, q->deadline_ns != DDSMARK_DURATION_INFINITE, "DEADLINE"},
      {DDSMARK_POLICY_LATENCY_BUDGET, q->latency_budget_ns != 0, "LATENCY_BUDGET"},
      {DDSMARK_POLICY_LIFESPAN, q->lifespan_ns != DDSMARK_DURATION_INFINITE, "LIFESPAN"},
      {DDSMARK_POLICY_LIVELINESS, q->liveliness != 0 || q->liveliness_lease_ns != DDSMARK_DURATION_INFINITE,
       "LIVELINESS"},
      {DDSMARK_POLICY_OWNERSHIP, q->ownership != DDSMARK_OWNERSHIP_SHARED, "OWNERSHIP"},
      {DDSMARK_POLICY_OWNERSHIP_STRENGTH, q->ownership_strength != 0, "OWNERSHIP_STRENGTH"},
      {DDSMARK_POLICY_PARTITION, q->partition_count != 0, "PARTITION"},
      {DDSMARK_POLICY_PRESENTATION, q->presentation_scope != 0 || q->coherent_access || q->ordered_access,
       "PRESENTATION"},
      {DDSMARK_POLICY_DESTINATION_ORDER, q->destination_order != 0, "DESTINATION_ORDER"},
      {DDSMARK_POLICY_TIME_BASED_FILTER, q->minimum_separation_ns != 0, "TIME_BASED_FILTER"},
      {DDSMARK_POLICY_TRANSPORT_PRIORITY, q->transport_priority != 0, "TRANSPORT_PRIORITY"},
      {DDSMARK_POLICY_WRITER_DATA_LIFECYCLE, q->autodispose_unregistered != 1, "WRITER_DATA_LIFECYCLE"},
      {DDSMARK_POLICY_READER_DATA_LIFECYCLE,
       q->autopurge_nowriter_ns != DDSMARK_DURATION_INFINITE || q->autopurge_disposed_ns != DDSMARK_DURATION_INFINITE,
       "READER_DATA_LIFECYCLE"},
      {DDSMARK_POLICY_USER_DATA, q->user_data_size != 0, "USER_DATA"},
      {DDSMARK_POLICY_TOPIC_DATA, q->topic_data_size != 0, "TOPIC_DATA"},
      {DDSMARK_POLICY_GROUP_DATA, q->group_data_size != 0, "GROUP_DATA"},
      {DDSMARK_POLICY_ENTITY_FACTORY, q->autoenable_created != 1, "ENTITY_FACTORY"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (has(q, table[i].policy) && table[i].other)
      return table[i].name;
  return NULL;
}

static ddsmark_status qos_in(const ddsmark_qos *asked, int is_writer, loop_qos *qos) {
  *qos = (loop_qos){.reliable = is_writer, .depth = 1, .max_blocking_ns = 100000000};
  if (asked == NULL)
    return DDSMARK_OK;
  const char *name = unsupported(asked);
  if (name != NULL)
    return fail(DDSMARK_UNSUPPORTED, "loop has no policy %s; hint: leave it at its default", name);
  if (has(asked, DDSMARK_POLICY_RELIABILITY)) {
    qos->reliable = asked->reliability == DDSMARK_RELIABLE;
    qos->max_blocking_ns = asked->max_blocking_ns;
  }
  if (has(asked, DDSMARK_POLICY_HISTORY)) {
    qos->keep_all = asked->history == DDSMARK_KEEP_ALL;
    qos->depth = asked->history_depth;
    if (!qos->keep_all && qos->depth < 1)
      return fail(DDSMARK_BAD_ARGUMENT, "a history depth of %d; hint: at least 1", qos->depth);
  }
  if (has(asked, DDSMARK_POLICY_DURABILITY)) {
    if (asked->durability > DDSMARK_TRANSIENT_LOCAL)
      return fail(DDSMARK_UNSUPPORTED, "loop stores nothing; hint: ask for transient-local durability at most");
    qos->transient_local = asked->durability == DDSMARK_TRANSIENT_LOCAL;
  }
  return DDSMARK_OK;
}

/* From what the middleware says, not from what was asked for. */
static void qos_out(const loop_qos *qos, int is_writer, ddsmark_qos *out) {
  out->present = 1u << DDSMARK_POLICY_RELIABILITY | 1u << DDSMARK_POLICY_HISTORY | 1u << DDSMARK_POLICY_DURABILITY;
  out->reliability = qos->reliable ? DDSMARK_RELIABLE : DDSMARK_BEST_EFFORT;
  out->max_blocking_ns = is_writer ? qos->max_blocking_ns : 0;
  out->history = qos->keep_all ? DDSMARK_KEEP_ALL : DDSMARK_KEEP_LAST;
  out->history_depth = qos->depth;
  out->durability = qos->transient_local ? DDSMARK_TRANSIENT_LOCAL : DDSMARK_VOLATILE;
}

static ddsmark_status check_entity(uint32_t type_kind, uint64_t max_payload_bytes) {
  if ((description.type_kinds >> type_kind & 1) == 0)
    return fail(DDSMARK_UNSUPPORTED, "type kind %u; hint: see `ddsmark drivers info`", type_kind);
  if (max_payload_bytes > MAX_PAYLOAD)
    return fail(DDSMARK_TOO_LARGE, "payloads of %llu B; hint: at most %d B", (unsigned long long)max_payload_bytes,
                MAX_PAYLOAD);
  return DDSMARK_OK;
}

/* -- writers ------------------------------------------------------------------------------------------------------- */

typedef struct held_sample {
  uint32_t key;
  uint32_t size;
} held_sample;

struct ddsmark_writer {
  loop_writer *loop;
  uint64_t max_payload_bytes;
  uint64_t timed_out, sent, bytes;
  uint8_t *batch; /* samples held back, each behind its held_sample; NULL: no batching */
  uint64_t capacity, held, sent_of_held;
};

static ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config,
                                  ddsmark_writer **out) {
  loop_qos qos;
  ddsmark_status status = check_entity(config->type_kind, config->max_payload_bytes);
  if (status == DDSMARK_OK)
    status = qos_in(config->qos, 1, &qos);
  if (status != DDSMARK_OK)
    return status;
  if (config->loans || config->async_write)
    return fail(DDSMARK_UNSUPPORTED, "loop has neither loans nor a thread to write from");
  ddsmark_writer *writer = calloc(1, sizeof *writer);
  if (writer != NULL) {
    writer->max_payload_bytes = config->max_payload_bytes;
    if (config->batch_bytes > 0) /* one byte is the smallest sample */
      writer->capacity = config->batch_bytes * (1 + sizeof(held_sample)) + config->max_payload_bytes;
    writer->batch = writer->capacity > 0 ? malloc(writer->capacity) : NULL;
    writer->loop = loop_writer_new(participant->domain, config->topic, &qos);
  }
  if (writer == NULL || writer->loop == NULL || (writer->capacity > 0 && writer->batch == NULL)) {
    if (writer != NULL && writer->loop != NULL)
      loop_writer_free(writer->loop);
    free(writer != NULL ? writer->batch : NULL);
    free(writer);
    return fail(DDSMARK_ERROR, "out of memory");
  }
  *out = writer;
  return DDSMARK_OK;
}

static ddsmark_status writer_close(ddsmark_writer *writer) {
  loop_writer_free(writer->loop);
  free(writer->batch);
  free(writer);
  return DDSMARK_OK;
}

static ddsmark_status writer_matched(ddsmark_writer *writer, uint32_t *count) {
  *count = loop_writer_matched(writer->loop);
  return DDSMARK_OK;
}

static ddsmark_status writer_qos(ddsmark_writer *writer, ddsmark_qos *out) {
  const loop_qos qos = loop_writer_qos(writer->loop);
  qos_out(&qos, 1, out);
  return DDSMARK_OK;
}

static ddsmark_status writer_settings(ddsmark_writer *writer, ddsmark_visitor visit, void *context) {
  visit(context, "batching", writer->batch != NULL ? "application" : "none");
  return DDSMARK_OK;
}

static void count(ddsmark_counters *counters, int which, uint64_t value) {
  counters->valid |= UINT64_C(1) << which;
  counters->values[which] = value;
}

static ddsmark_status writer_counters(ddsmark_writer *writer, ddsmark_counters *out) {
  count(out, DDSMARK_COUNTER_WRITE_TIMED_OUT, writer->timed_out);
  count(out, DDSMARK_COUNTER_PACKETS_SENT, writer->sent);
  count(out, DDSMARK_COUNTER_BYTES_SENT, writer->bytes);
  return DDSMARK_OK;
}

static ddsmark_status send_one(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size) {
  switch (loop_write(writer->loop, key, payload, size)) {
  case LOOP_OK:
    writer->sent++;
    writer->bytes += size;
    return DDSMARK_OK;
  case LOOP_TIMED_OUT:
    return fail(DDSMARK_TIMED_OUT, "no room within the time that a write may block; hint: a reader is slow");
  default:
    return fail(DDSMARK_REFUSED, "out of memory");
  }
}

/* What cannot be sent now stays held back: the host flushes again. */
static ddsmark_status writer_flush(ddsmark_writer *writer) {
  while (writer->sent_of_held < writer->held) {
    held_sample head;
    memcpy(&head, writer->batch + writer->sent_of_held, sizeof head);
    const uint8_t *payload = writer->batch + writer->sent_of_held + sizeof head;
    const ddsmark_status status = send_one(writer, head.key, payload, head.size);
    if (status != DDSMARK_OK)
      return status;
    writer->sent_of_held += sizeof head + head.size;
  }
  writer->held = writer->sent_of_held = 0;
  return DDSMARK_OK;
}

static ddsmark_status writer_write(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (size > writer->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE, "a sample of %llu B; hint: the writer was opened for %llu B",
                (unsigned long long)size, (unsigned long long)writer->max_payload_bytes);
  ddsmark_status status = DDSMARK_OK;
  const held_sample head = {.key = key, .size = (uint32_t)size};
  if (writer->batch == NULL)
    status = send_one(writer, key, payload, size);
  else if (writer->held + sizeof head + size > writer->capacity)
    status = writer_flush(writer);
  if (status == DDSMARK_TIMED_OUT)
    writer->timed_out++;
  if (status == DDSMARK_OK && writer->batch != NULL) {
    memcpy(writer->batch + writer->held, &head, sizeof head);
    memcpy(writer->batch + writer->held + sizeof head, payload, size);
    writer->held += sizeof head + size;
  }
  return status;
}

/* A sample that loop has accepted lies in the queue of the reader. So all is there when nothing is held back. */
static ddsmark_status writer_wait_acked(ddsmark_writer *writer, uint64_t timeout_ns) {
  (void)timeout_ns;
  return writer_flush(writer);
}

/* -- readers ------------------------------------------------------------------------------------------------------- */

typedef struct outlet { /* where samples go */
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
  ddsmark_status status = check_entity(config->type_kind, config->max_payload_bytes);
  if (status == DDSMARK_OK)
    status = qos_in(config->qos, 0, &qos);
  if (status != DDSMARK_OK)
    return status;
  if (config->content_filter != NULL)
    return fail(DDSMARK_UNSUPPORTED, "loop has no content filters");
  ddsmark_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL)
    return fail(DDSMARK_ERROR, "out of memory");
  const int listens = config->receive_mode == DDSMARK_RECEIVE_LISTENER;
  reader->polling = config->receive_mode == DDSMARK_RECEIVE_POLLING;
  reader->listener = (outlet){config->sink, config->sink_context};
  reader->loop = loop_reader_new(participant->domain, config->topic, &qos, listens ? give : NULL, &reader->listener);
  if (reader->loop == NULL) {
    free(reader);
    return fail(DDSMARK_ERROR, "out of memory");
  }
  *out = reader;
  return DDSMARK_OK;
}

static ddsmark_status reader_close(ddsmark_reader *reader) {
  loop_reader_free(reader->loop);
  free(reader);
  return DDSMARK_OK;
}

static ddsmark_status reader_matched(ddsmark_reader *reader, uint32_t *out) {
  *out = loop_reader_matched(reader->loop);
  return DDSMARK_OK;
}

static ddsmark_status reader_qos(ddsmark_reader *reader, ddsmark_qos *out) {
  const loop_qos qos = loop_reader_qos(reader->loop);
  qos_out(&qos, 0, out);
  return DDSMARK_OK;
}

static ddsmark_status reader_settings(ddsmark_reader *reader, ddsmark_visitor visit, void *context) {
  (void)reader, (void)visit, (void)context; /* there are none */
  return DDSMARK_OK;
}

static ddsmark_status reader_counters(ddsmark_reader *reader, ddsmark_counters *out) {
  (void)reader, (void)out; /* loop counts nothing here: no bit is set, rather than a value of 0 given */
  return DDSMARK_OK;
}

static ddsmark_status reader_receive(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples,
                                     ddsmark_sink sink, void *context, uint32_t *taken) {
  outlet to = {sink, context};
  uint32_t got = 0;
  /* Waits for the first one only. */
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
