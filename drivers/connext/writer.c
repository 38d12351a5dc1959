/* SPDX-License-Identifier: Apache-2.0
 *
 * writer.c
 *
 * Without a key a sample is octets, a built-in type of Connext that is serialised from the caller's memory. With a
 * key it is an object of dynamic data, created once: a write sets its octets, which copies them, and then serialises
 * the object.
 */
#include "internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ddsmark_writer {
  endpoint e;
  const api *api;
  void *data;     /* sample of the keyed type, reused */
  uint64_t limit; /* maximum payload in bytes */
  bool batches;   /* batching by size, by turbo mode or by the base profile */
  /* Written by the writing thread and read by the thread that reads counters; only one thread ever adds. */
  _Atomic uint64_t timed_out, refused;
};

static void count(_Atomic uint64_t *counter) {
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* -- open and close ------------------------------------------------------------------------------------------------ */

static ddsmark_status check(const ddsmark_participant *p, const ddsmark_writer_config *config) {
  if (config->loans)
    return fail(DDSMARK_UNSUPPORTED, "loans of a writer are not supported by this driver: they need code that "
                                     "rtiddsgen generates; hint: write without loans");
  if (config->batch_bytes && p->plan.turbo_mode)
    return fail(DDSMARK_INCONSISTENT, "option `turbo_mode` sets the batch size itself, and cannot be combined with "
                                      "`batch_bytes`; hint: remove `turbo_mode`, or `batch_bytes` and `batch_samples`");
  return endpoint_check(p, config->type_kind, config->topic, config->max_payload_bytes);
}

static bool batches_by_profile(const endpoint *e) {
  char batches[16], *qos = endpoint_text(e);
  const bool does = qos && element_text(qos, "batch/enable", 0, batches, sizeof batches) && !strcmp(batches, "true");
  free(qos);
  return does;
}

ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config,
                           ddsmark_writer **out) {
  ddsmark_writer_config c;
  ddsmark_qos qos;
  ddsmark_status status;
  if ((status = writer_config_in(config, &c)) || (status = check(participant, &c)) ||
      (status = qos_accept(c.qos, SIDE_WRITER, &qos)))
    return status;
  ddsmark_writer *w = calloc(1, sizeof *w);
  if (w == NULL)
    return fail_memory("a writer");
  w->api = participant->api;
  w->limit = c.max_payload_bytes ? c.max_payload_bytes : transport_infos[participant->plan.transport].max_payload_bytes;
  w->batches = c.batch_bytes > 0 || participant->plan.turbo_mode;
  w->e.participant = participant;
  w->e.keyed = c.type_kind == DDSMARK_TYPE_KEYED;
  /* Connext sends reliable fragments only from a thread of its own. */
  const endpoint_wish wish = {.side = SIDE_WRITER,
                              .qos = &qos,
                              .max_payload = c.max_payload_bytes,
                              .batch_bytes = c.batch_bytes,
                              .asynchronous = c.async_write || w->limit > plan_message_payload(&participant->plan)};
  status = endpoint_open(&w->e, c.topic, &wish);
  if (status == DDSMARK_OK)
    w->batches |= batches_by_profile(&w->e);
  if (status == DDSMARK_OK && w->e.keyed && (w->data = w->api->create_data(participant->support)) == NULL) {
    status = fail_null("DDS_DynamicDataTypeSupport_create_data", "cannot create a sample of the writer");
    endpoint_close(&w->e);
  }
  if (status == DDSMARK_OK)
    *out = w;
  else
    free(w);
  return status;
}

ddsmark_status writer_close(ddsmark_writer *w) {
  if (w->data)
    w->api->delete_data(w->e.participant->support, w->data);
  const ddsmark_status status = endpoint_close(&w->e);
  free(w);
  return status;
}

/* -- the hot path -------------------------------------------------------------------------------------------------- */

static ddsmark_status written(ddsmark_writer *w, const char *function, int32_t code) {
  switch (code) {
  case CODE_OK:
    return DDSMARK_OK;
  case CODE_TIMEOUT:
    count(&w->timed_out);
    return fail(DDSMARK_TIMED_OUT,
                "the writer had no room within `max_blocking`: %s() failed: %s; hint: increase `max_blocking` or the "
                "option `send_window`, or check for a slow reader",
                function, code_name(CODE_TIMEOUT));
  case CODE_OUT_OF_RESOURCES:
    count(&w->refused);
    return fail(DDSMARK_REFUSED, "the writer has no room: %s() failed: %s; hint: increase `send_queue`", function,
                code_name(CODE_OUT_OF_RESOURCES));
  default:
    return fail_code(code, function, "the writer cannot write");
  }
}

static ddsmark_status write_keyed(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const api *a = w->api;
  int32_t code = a->set_ulong(w->data, "key", ANY_MEMBER, key);
  if (code != CODE_OK)
    return written(w, "DDS_DynamicData_set_ulong", code);
  code = a->set_octets(w->data, "payload", ANY_MEMBER, (uint32_t)size, payload);
  if (code != CODE_OK)
    return written(w, "DDS_DynamicData_set_octet_array", code);
  return written(w, "DDS_DynamicDataWriter_write", a->write(w->e.entity, w->data, a->handle_nil));
}

ddsmark_status writer_write(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (size > w->limit)
    return fail_sample_size(size, w->limit);
  if (w->e.keyed)
    return write_keyed(w, key, payload, size);
  return written(w, "DDS_OctetsDataWriter_write_octets",
                 w->api->write_octets(w->e.entity, payload, (int)size, w->api->handle_nil));
}

ddsmark_status writer_flush(ddsmark_writer *w) {
  if (!w->batches)
    return DDSMARK_OK;
  return written(w, "DDS_DataWriter_flush", w->api->flush(w->e.entity));
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

ddsmark_status writer_wait_acked(ddsmark_writer *w, uint64_t timeout_ns) {
  /* Samples held back by batching are never acknowledged. */
  const ddsmark_status status = writer_flush(w);
  if (status != DDSMARK_OK)
    return status;
  const uint64_t sec = timeout_ns / 1000000000u;
  const duration limit = {sec < INT32_MAX ? (int32_t)sec : INT32_MAX - 1, (uint32_t)(timeout_ns % 1000000000u)};
  const int32_t code = w->api->wait_acked(w->e.entity, &limit);
  if (code == CODE_TIMEOUT)
    return fail(DDSMARK_TIMED_OUT,
                "not all samples were acknowledged in time: DDS_DataWriter_wait_for_acknowledgments() failed: %s; "
                "hint: check for a slow reader",
                code_name(CODE_TIMEOUT));
  return code == CODE_OK
             ? DDSMARK_OK
             : fail_code(code, "DDS_DataWriter_wait_for_acknowledgments", "cannot wait for acknowledgments");
}

typedef int32_t (*instance_call)(void *writer, const void *data, const void *handle);

static ddsmark_status on_instance(ddsmark_writer *w, uint32_t key, instance_call call, const char *function) {
  if (!w->e.keyed)
    return fail(DDSMARK_UNSUPPORTED, "instances require the type `keyed`: the type of this writer has no key; hint: "
                                     "open the writer with the type `keyed`");
  const int32_t code = w->api->set_ulong(w->data, "key", ANY_MEMBER, key);
  if (code != CODE_OK)
    return written(w, "DDS_DynamicData_set_ulong", code);
  return written(w, function, call(w->e.entity, w->data, w->api->handle_nil));
}

ddsmark_status writer_dispose(ddsmark_writer *w, uint32_t key) {
  return on_instance(w, key, w->api->dispose, "DDS_DynamicDataWriter_dispose");
}

ddsmark_status writer_unregister(ddsmark_writer *w, uint32_t key) {
  return on_instance(w, key, w->api->unregister, "DDS_DynamicDataWriter_unregister_instance");
}

ddsmark_status writer_assert_liveliness(ddsmark_writer *w) {
  const int32_t code = w->api->assert_liveliness(w->e.entity);
  return code == CODE_OK
             ? DDSMARK_OK
             : fail_code(code, "DDS_DataWriter_assert_liveliness", "cannot assert the liveliness of the writer");
}

ddsmark_status writer_matched(ddsmark_writer *w, ddsmark_match *out) {
  return endpoint_matched(&w->e, out);
}

ddsmark_status writer_qos(ddsmark_writer *w, ddsmark_qos *out) {
  return endpoint_qos(&w->e, out);
}

ddsmark_status writer_settings(ddsmark_writer *w, ddsmark_visitor visit, void *context) {
  char batches[16], *qos = endpoint_text(&w->e);
  if (qos == NULL || !element_text(qos, "batch/enable", 0, batches, sizeof batches))
    visit(context, "batching", "unknown");
  else
    visit(context, "batching", strcmp(batches, "true") == 0 || w->batches ? "native" : "none");
  const plan *p = &w->e.participant->plan;
  property_visit(qos, "turbo_mode", "dds.data_writer.enable_turbo_mode", p->turbo_mode, visit, context);
  property_visit(qos, "auto_throttle", "dds.data_writer.auto_throttle.enable", p->auto_throttle, visit, context);
  if (w->batches) {
    element_visit(qos, "batch_limit_bytes", "batch/max_data_bytes", visit, context);
    element_visit(qos, "batch_limit_samples", "batch/max_samples", visit, context);
    element_visit(qos, "batch_flush_delay", "batch/max_flush_delay", visit, context);
  }
  element_visit(qos, "publish_mode", "publish_mode/kind", visit, context);
  if (w->e.asynchronous)
    element_visit(qos, "flow_controller", "publish_mode/flow_controller_name", visit, context);
  element_visit(qos, "send_window", "protocol/rtps_reliable_writer/max_send_window_size", visit, context);
  element_visit(qos, "heartbeat_period", "protocol/rtps_reliable_writer/heartbeat_period", visit, context);
  element_visit(qos, "fast_heartbeat_period", "protocol/rtps_reliable_writer/fast_heartbeat_period", visit, context);
  free(qos);
  endpoint_settings(&w->e, visit, context);
  return DDSMARK_OK;
}

ddsmark_status writer_counters(ddsmark_writer *w, ddsmark_counters *out) {
  ddsmark_counters c = {.struct_size = sizeof c};
  counter_set(&c, DDSMARK_COUNTER_WRITE_TIMED_OUT, atomic_load_explicit(&w->timed_out, memory_order_relaxed));
  counter_set(&c, DDSMARK_COUNTER_WRITE_REFUSED, atomic_load_explicit(&w->refused, memory_order_relaxed));
  counter_of_status(&c, DDSMARK_COUNTER_DEADLINE_MISSED, &w->e, w->api->offered_deadline);
  counter_of_status(&c, DDSMARK_COUNTER_LIVELINESS_LOST, &w->e, w->api->liveliness_lost);
  counter_of_status(&c, DDSMARK_COUNTER_INCOMPATIBLE_QOS, &w->e, w->api->offered_incompatible);
  return counters_out(&c, out);
}
