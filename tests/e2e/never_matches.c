/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver whose writers and readers never match. Everything else works, so that nothing but this can be the cause. */
#include <ddsmark/driver.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Handles are never looked into: any address will do. */
static char something;

static const ddsmark_transport_info transports[] = {{"udp4", 65000, NULL}};
static const ddsmark_description description = {
    .struct_size = sizeof description,
    .name = "never_matches",
    .driver_version = "1",
    .middleware = "nothing",
    .middleware_version = "1",
    .version_source = "headers",
    .licence = "Apache-2.0",
    .receive_modes = 1u << DDSMARK_RECEIVE_WAITSET,
    .type_kinds = 1u << DDSMARK_TYPE_OCTETS,
    .transports = transports,
    .transport_count = 1,
};

static const ddsmark_description *describe(void) {
  return &description;
}

static const char *last_error(void) {
  return "";
}

static ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  (void)config;
  *out = (ddsmark_participant *)&something;
  return DDSMARK_OK;
}

static ddsmark_status participant_close(ddsmark_participant *participant) {
  (void)participant;
  return DDSMARK_OK;
}

static ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context) {
  (void)participant;
  visit(context, "transport", "udp4");
  return DDSMARK_OK;
}

static ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config,
                                  ddsmark_writer **out) {
  (void)participant, (void)config;
  *out = (ddsmark_writer *)&something;
  return DDSMARK_OK;
}

static ddsmark_status writer_close(ddsmark_writer *writer) {
  (void)writer;
  return DDSMARK_OK;
}

static ddsmark_status writer_matched(ddsmark_writer *writer, uint32_t *count) {
  (void)writer;
  *count = 0;
  return DDSMARK_OK;
}

/* What is asked for by default of a driver that enforces no policy: best effort. */
static void best_effort(ddsmark_qos *out) {
  out->present = 1u << DDSMARK_POLICY_RELIABILITY;
  out->reliability = DDSMARK_BEST_EFFORT;
}

static ddsmark_status writer_qos(ddsmark_writer *writer, ddsmark_qos *out) {
  (void)writer;
  best_effort(out);
  return DDSMARK_OK;
}

static ddsmark_status writer_settings(ddsmark_writer *writer, ddsmark_visitor visit, void *context) {
  (void)writer;
  visit(context, "batching", "none");
  return DDSMARK_OK;
}

static ddsmark_status writer_counters(ddsmark_writer *writer, ddsmark_counters *out) {
  (void)writer;
  out->valid = 0;
  return DDSMARK_OK;
}

static ddsmark_status writer_write(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size) {
  (void)writer, (void)key, (void)payload, (void)size;
  return DDSMARK_OK;
}

static ddsmark_status writer_flush(ddsmark_writer *writer) {
  (void)writer;
  return DDSMARK_OK;
}

static ddsmark_status reader_open(ddsmark_participant *participant, const ddsmark_reader_config *config,
                                  ddsmark_reader **out) {
  (void)participant, (void)config;
  *out = (ddsmark_reader *)&something;
  return DDSMARK_OK;
}

static ddsmark_status reader_close(ddsmark_reader *reader) {
  (void)reader;
  return DDSMARK_OK;
}

static ddsmark_status reader_matched(ddsmark_reader *reader, uint32_t *count) {
  (void)reader;
  *count = 0;
  return DDSMARK_OK;
}

static ddsmark_status reader_qos(ddsmark_reader *reader, ddsmark_qos *out) {
  (void)reader;
  best_effort(out);
  return DDSMARK_OK;
}

static ddsmark_status reader_settings(ddsmark_reader *reader, ddsmark_visitor visit, void *context) {
  (void)reader, (void)visit, (void)context;
  return DDSMARK_OK;
}

static ddsmark_status reader_counters(ddsmark_reader *reader, ddsmark_counters *out) {
  (void)reader;
  out->valid = 0;
  return DDSMARK_OK;
}

static ddsmark_status reader_receive(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples,
                                     ddsmark_sink sink, void *context, uint32_t *taken) {
  (void)reader, (void)max_samples, (void)sink, (void)context;
  struct timespec pause = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
  nanosleep(&pause, NULL);
  *taken = 0;
  return DDSMARK_OK;
}

const ddsmark_driver *ddsmark_driver_entry(void) {
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
      .reader_open = reader_open,
      .reader_close = reader_close,
      .reader_matched = reader_matched,
      .reader_qos = reader_qos,
      .reader_settings = reader_settings,
      .reader_counters = reader_counters,
      .reader_receive = reader_receive,
  };
  return &driver;
}
