/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver as somebody built it when the contract had version 1 and these fields: datagrams over loopback, best effort.
 * Neither this file nor the header beside it follows when include/ddsmark/driver.h moves on. It must go on working.
 */
#include <arpa/inet.h>
#include <ddsmark/driver.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_PAYLOAD = 60000 };

static _Thread_local const char *failure = "";

static ddsmark_status fail(ddsmark_status status, const char *words) {
  failure = words;
  return status;
}
static const char *last_error(void) {
  return failure;
}

static const ddsmark_transport_info transports[] = {{"udp4", MAX_PAYLOAD, "loopback"}};
static const ddsmark_description description = {
    .struct_size = sizeof description,
    .features = DDSMARK_FEATURE_LOCATORS,
    .name = "frozen",
    .driver_version = "1",
    .middleware = "datagrams",
    .middleware_version = "1",
    .version_source = "headers",
    .licence = "Apache-2.0",
    .receive_modes = 1u << DDSMARK_RECEIVE_WAITSET | 1u << DDSMARK_RECEIVE_POLLING,
    .type_kinds = 1u << DDSMARK_TYPE_OCTETS,
    .transports = transports,
    .transport_count = 1,
    .policies = {[DDSMARK_POLICY_RELIABILITY] = {.note = "best effort"}},
};
static const ddsmark_description *describe(void) {
  return &description;
}

/* -- participants -------------------------------------------------------------------------------------------------- */

struct ddsmark_participant {
  uint32_t domain;
};

static ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  if (config->transport != NULL && strcmp(config->transport, "udp4") != 0)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown transport; hint: there is only `udp4`");
  if (config->multicast)
    return fail(DDSMARK_UNSUPPORTED, "no multicast: each datagram goes to one reader");
  if (config->interface != NULL && if_nametoindex(config->interface) == 0)
    return fail(DDSMARK_BAD_ARGUMENT, "no such interface; hint: `ip -br link` lists them");
  if (config->option_count > 0)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown option; hint: there are none");
  ddsmark_participant *participant = malloc(sizeof *participant);
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
  visit(context, "transport", "udp4");
  return DDSMARK_OK;
}

/* -- writers and readers: a socket each, bound to a port of its own ------------------------------------------------ */

typedef struct endpoint {
  int descriptor;
  uint32_t matched;
  struct sockaddr_in self, peer;
  uint64_t max_payload_bytes, packets, bytes;
  uint8_t *buffer;
} endpoint;

struct ddsmark_writer {
  endpoint end;
};
struct ddsmark_reader {
  endpoint end;
  int polling;
};

static ddsmark_status check(uint32_t type_kind, const ddsmark_qos *qos, uint64_t max_payload_bytes) {
  if (type_kind != DDSMARK_TYPE_OCTETS)
    return fail(DDSMARK_UNSUPPORTED, "unknown type; hint: there are only octets");
  if (qos != NULL && ((qos->present & ~(UINT64_C(1) << DDSMARK_POLICY_RELIABILITY)) != 0 ||
                      (qos->present != 0 && qos->reliability != DDSMARK_BEST_EFFORT)))
    return fail(DDSMARK_UNSUPPORTED, "datagrams have no policies; hint: ask for best effort, and for nothing else");
  if (max_payload_bytes > MAX_PAYLOAD)
    return fail(DDSMARK_TOO_LARGE, "no datagram carries that; hint: at most 60000 B");
  return DDSMARK_OK;
}

static ddsmark_status endpoint_open(endpoint *end, uint64_t max_payload_bytes) {
  socklen_t size = sizeof end->self;
  end->max_payload_bytes = max_payload_bytes;
  end->self = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  end->descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (end->descriptor < 0)
    return fail(DDSMARK_ERROR, "no socket can be had");
  if (bind(end->descriptor, (struct sockaddr *)&end->self, size) != 0 ||
      getsockname(end->descriptor, (struct sockaddr *)&end->self, &size) != 0) {
    close(end->descriptor);
    return fail(DDSMARK_ERROR, "the socket cannot be bound to loopback");
  }
  end->buffer = malloc(MAX_PAYLOAD);
  return DDSMARK_OK;
}
static void endpoint_close(endpoint *end) {
  close(end->descriptor);
  free(end->buffer);
}
static ddsmark_status endpoint_locator(const endpoint *end, char *buffer, uint64_t capacity) {
  snprintf(buffer, capacity, "%u", ntohs(end->self.sin_port));
  return DDSMARK_OK;
}
static ddsmark_status endpoint_connect(endpoint *end, const char *locator) {
  end->peer = end->self;
  end->peer.sin_port = htons((uint16_t)atoi(locator));
  end->matched++;
  return DDSMARK_OK;
}
static ddsmark_status endpoint_qos(ddsmark_qos *out) {
  out->present = 1u << DDSMARK_POLICY_RELIABILITY;
  out->reliability = DDSMARK_BEST_EFFORT;
  return DDSMARK_OK;
}

static ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config,
                                  ddsmark_writer **out) {
  (void)participant;
  ddsmark_status status = check(config->type_kind, config->qos, config->max_payload_bytes);
  if (status == DDSMARK_OK && (config->batch_bytes > 0 || config->async_write || config->loans))
    status = fail(DDSMARK_UNSUPPORTED, "datagrams have neither batches nor loans nor a thread to write from");
  if (status != DDSMARK_OK)
    return status;
  ddsmark_writer *writer = calloc(1, sizeof *writer);
  status = endpoint_open(&writer->end, config->max_payload_bytes);
  if (status == DDSMARK_OK)
    *out = writer;
  else
    free(writer);
  return status;
}
static ddsmark_status writer_close(ddsmark_writer *writer) {
  endpoint_close(&writer->end);
  free(writer);
  return DDSMARK_OK;
}
static ddsmark_status writer_matched(ddsmark_writer *writer, uint32_t *count) {
  *count = writer->end.matched;
  return DDSMARK_OK;
}
static ddsmark_status writer_qos(ddsmark_writer *writer, ddsmark_qos *out) {
  (void)writer;
  return endpoint_qos(out);
}
static ddsmark_status writer_settings(ddsmark_writer *writer, ddsmark_visitor visit, void *context) {
  (void)writer;
  visit(context, "batching", "none");
  return DDSMARK_OK;
}
static ddsmark_status writer_counters(ddsmark_writer *writer, ddsmark_counters *out) {
  out->valid = 1u << DDSMARK_COUNTER_PACKETS_SENT | 1u << DDSMARK_COUNTER_BYTES_SENT;
  out->values[DDSMARK_COUNTER_PACKETS_SENT] = writer->end.packets;
  out->values[DDSMARK_COUNTER_BYTES_SENT] = writer->end.bytes;
  return DDSMARK_OK;
}
static ddsmark_status writer_locator(ddsmark_writer *writer, char *buffer, uint64_t capacity) {
  return endpoint_locator(&writer->end, buffer, capacity);
}
static ddsmark_status writer_connect(ddsmark_writer *writer, const char *reader_locator) {
  return endpoint_connect(&writer->end, reader_locator);
}
static ddsmark_status writer_write(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size) {
  (void)key;
  endpoint *end = &writer->end;
  if (size > end->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE, "over the size that the writer was opened for");
  if (end->matched == 0)
    return DDSMARK_OK;
  const ssize_t sent = sendto(end->descriptor, payload, size, 0, (struct sockaddr *)&end->peer, sizeof end->peer);
  if (sent < 0)
    return fail(DDSMARK_REFUSED, "the kernel takes no datagram now");
  end->packets++;
  end->bytes += size;
  return DDSMARK_OK;
}
static ddsmark_status writer_flush(ddsmark_writer *writer) {
  (void)writer;
  return DDSMARK_OK;
}

static ddsmark_status reader_open(ddsmark_participant *participant, const ddsmark_reader_config *config,
                                  ddsmark_reader **out) {
  (void)participant;
  ddsmark_status status = check(config->type_kind, config->qos, config->max_payload_bytes);
  if (status == DDSMARK_OK && (config->receive_mode == DDSMARK_RECEIVE_LISTENER || config->content_filter != NULL))
    status = fail(DDSMARK_UNSUPPORTED, "datagrams have neither listeners nor filters");
  if (status != DDSMARK_OK)
    return status;
  ddsmark_reader *reader = calloc(1, sizeof *reader);
  reader->polling = config->receive_mode == DDSMARK_RECEIVE_POLLING;
  status = endpoint_open(&reader->end, config->max_payload_bytes);
  if (status == DDSMARK_OK)
    *out = reader;
  else
    free(reader);
  return status;
}
static ddsmark_status reader_close(ddsmark_reader *reader) {
  endpoint_close(&reader->end);
  free(reader);
  return DDSMARK_OK;
}
static ddsmark_status reader_matched(ddsmark_reader *reader, uint32_t *count) {
  *count = reader->end.matched;
  return DDSMARK_OK;
}
static ddsmark_status reader_qos(ddsmark_reader *reader, ddsmark_qos *out) {
  (void)reader;
  return endpoint_qos(out);
}
static ddsmark_status reader_settings(ddsmark_reader *reader, ddsmark_visitor visit, void *context) {
  (void)reader, (void)visit, (void)context;
  return DDSMARK_OK;
}
static ddsmark_status reader_counters(ddsmark_reader *reader, ddsmark_counters *out) {
  out->valid = 1u << DDSMARK_COUNTER_PACKETS_RECEIVED;
  out->values[DDSMARK_COUNTER_PACKETS_RECEIVED] = reader->end.packets;
  return DDSMARK_OK;
}
static ddsmark_status reader_locator(ddsmark_reader *reader, char *buffer, uint64_t capacity) {
  return endpoint_locator(&reader->end, buffer, capacity);
}
static ddsmark_status reader_connect(ddsmark_reader *reader, const char *writer_locator_text) {
  return endpoint_connect(&reader->end, writer_locator_text);
}
static ddsmark_status reader_receive(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples,
                                     ddsmark_sink sink, void *context, uint32_t *taken) {
  endpoint *end = &reader->end;
  struct pollfd wait = {.fd = end->descriptor, .events = POLLIN};
  *taken = 0;
  if (!reader->polling && timeout_ns > 0)
    poll(&wait, 1, (int)((timeout_ns + 999999) / 1000000));
  while (*taken < max_samples) {
    const ssize_t size = recv(end->descriptor, end->buffer, MAX_PAYLOAD, MSG_DONTWAIT);
    if (size < 0)
      break;
    const ddsmark_sample sample = {.payload = end->buffer, .size = (uint64_t)size};
    sink(context, &sample);
    end->packets++;
    *taken += 1;
  }
  return DDSMARK_OK;
}

DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void) {
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
      .writer_locator = writer_locator,
      .writer_connect = writer_connect,
      .writer_write = writer_write,
      .writer_flush = writer_flush,
      .reader_open = reader_open,
      .reader_close = reader_close,
      .reader_matched = reader_matched,
      .reader_qos = reader_qos,
      .reader_settings = reader_settings,
      .reader_counters = reader_counters,
      .reader_locator = reader_locator,
      .reader_connect = reader_connect,
      .reader_receive = reader_receive,
  };
  return &driver;
}
