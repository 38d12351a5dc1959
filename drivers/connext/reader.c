/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.c
 *
 * Samples are taken as loans of Connext. Octets are passed to the sink without a copy; payloads of dynamic data are
 * available only as copies. The driver therefore does not declare reader loans.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum samples per take: enough for small samples to share its cost, few enough to stay in the cache. */
#define TAKE_SAMPLES 256
/* Initial payload buffer if the maximum size is unknown. It grows. */
#define FIRST_ROOM 65536u

struct ddsmark_reader {
  endpoint e;
  const api *api;
  const data_calls *data;
  uint32_t mode;
  void *waitset, *condition;
  space active, samples, infos;
  int32_t next, end; /* loaned samples not passed to the sink yet */
  bool more;         /* whether more samples may be available: do not wait */
  uint8_t *payload;  /* buffer for payloads of the keyed type */
  uint32_t room;
  const char *function; /* the last function of Connext that failed in take() */
};

/* Records the function if it failed, and returns its code. */
static int32_t called(ddsmark_reader *r, const char *function, int32_t code) {
  if (code != CODE_OK)
    r->function = function;
  return code;
}

/* -- open and close ------------------------------------------------------------------------------------------------ */

static ddsmark_status check(const ddsmark_participant *p, const ddsmark_reader_config *config) {
  if (config->content_filter)
    return fail(DDSMARK_UNSUPPORTED, "content filters are not supported by this driver; hint: remove `content_filter`");
  if (config->receive_mode == DDSMARK_RECEIVE_LISTENER)
    return fail(DDSMARK_UNSUPPORTED,
                "the receive mode `listener` is not supported by this driver, which has no declarations of the "
                "listener structs of Connext; hint: use `waitset` or `polling`");
  return endpoint_check(p, config->type_kind, config->topic, config->max_payload_bytes);
}

/* Creates a waitset for the reader's status DATA_AVAILABLE. A take resets the status, so a caller that leaves
 * samples behind must not wait in its next call, see `more`. */
static ddsmark_status waitset_make(ddsmark_reader *r) {
  const api *a = r->api;
  int32_t code;
  if ((r->condition = a->condition_of(r->e.entity)) == NULL)
    return fail_null("DDS_Entity_get_statuscondition", "cannot get the status condition of the reader");
  if ((r->waitset = a->waitset_new()) == NULL)
    return fail_null("DDS_WaitSet_new", "cannot create the waitset of the reader");
  if ((code = a->enable_statuses(r->condition, DATA_AVAILABLE_STATUS)))
    return fail_code(code, "DDS_StatusCondition_set_enabled_statuses", "cannot enable DATA_AVAILABLE of the reader");
  if ((code = a->waitset_attach(r->waitset, r->condition)))
    return fail_code(code, "DDS_WaitSet_attach_condition", "cannot attach the reader to its waitset");
  return DDSMARK_OK;
}

static void waitset_unmake(ddsmark_reader *r) {
  if (r->waitset == NULL)
    return;
  r->api->waitset_detach(r->waitset, r->condition);
  r->api->waitset_delete(r->waitset);
}

static void discard(ddsmark_reader *r) {
  const api *a = r->api;
  a->conditions_finalize(&r->active);
  r->data->finalize(&r->samples);
  a->infos_finalize(&r->infos);
  free(r->payload);
  free(r);
}

static ddsmark_reader *create(const api *a, bool keyed, uint64_t max_payload) {
  ddsmark_reader *r = calloc(1, sizeof *r);
  const uint32_t room = (uint32_t)(max_payload ? max_payload : FIRST_ROOM);
  uint8_t *payload = keyed ? malloc(room) : NULL;
  if (r == NULL || (keyed && payload == NULL) || !a->conditions_initialize(&r->active) ||
      !a->data[keyed].initialize(&r->samples) || !a->infos_initialize(&r->infos)) {
    free(payload);
    free(r);
    return NULL;
  }
  r->api = a;
  r->data = &a->data[keyed];
  r->e.keyed = keyed;
  r->payload = payload;
  r->room = room;
  r->more = true; /* samples may have arrived before the status was enabled */
  return r;
}

ddsmark_status reader_open(ddsmark_participant *participant, const ddsmark_reader_config *config,
                           ddsmark_reader **out) {
  ddsmark_reader_config c;
  ddsmark_qos qos;
  ddsmark_status status;
  if ((status = reader_config_in(config, &c)) || (status = check(participant, &c)) ||
      (status = qos_accept(c.qos, SIDE_READER, &qos)))
    return status;
  ddsmark_reader *r = create(participant->api, c.type_kind == DDSMARK_TYPE_KEYED, c.max_payload_bytes);
  if (r == NULL)
    return fail_memory("a reader");
  r->mode = c.receive_mode;
  r->e.participant = participant;
  const endpoint_wish wish = {.side = SIDE_READER, .qos = &qos, .max_payload = c.max_payload_bytes};
  if ((status = endpoint_open(&r->e, c.topic, &wish)) == DDSMARK_OK && r->mode == DDSMARK_RECEIVE_WAITSET &&
      (status = waitset_make(r)) != DDSMARK_OK) {
    waitset_unmake(r);
    endpoint_close(&r->e);
  }
  if (status == DDSMARK_OK)
    *out = r;
  else
    discard(r);
  return status;
}

static int32_t give_back(ddsmark_reader *r) {
  const bool lent = r->end > 0;
  r->next = r->end = 0;
  if (!lent)
    return CODE_OK;
  return called(r, r->e.keyed ? "DDS_DynamicDataReader_return_loan" : "DDS_OctetsDataReader_return_loan",
                r->data->return_loan(r->e.entity, &r->samples, &r->infos));
}

ddsmark_status reader_close(ddsmark_reader *r) {
  give_back(r);
  waitset_unmake(r);
  const ddsmark_status status = endpoint_close(&r->e);
  discard(r);
  return status;
}

/* -- the hot path -------------------------------------------------------------------------------------------------- */

/* Gets a payload that is larger than the reader's maximum. Not on the hot path of valid samples. */
static int32_t get_larger(ddsmark_reader *r, void *data, uint32_t *size) {
  int32_t code = CODE_OUT_OF_RESOURCES;
  while (code == CODE_OUT_OF_RESOURCES && r->room < UINT32_MAX / 2) {
    uint8_t *more = realloc(r->payload, 2 * (size_t)r->room);
    if (more == NULL)
      break;
    r->payload = more;
    r->room *= 2;
    *size = r->room;
    code = r->api->get_octets(data, r->payload, size, "payload", ANY_MEMBER);
  }
  return code;
}

static int32_t give_keyed(ddsmark_reader *r, void *data, ddsmark_sink sink, void *context) {
  const api *a = r->api;
  ddsmark_sample sample = {0};
  uint32_t size = r->room;
  int32_t code = a->get_octets(data, r->payload, &size, "payload", ANY_MEMBER);
  if (code == CODE_OUT_OF_RESOURCES)
    code = get_larger(r, data, &size);
  code = called(r, "DDS_DynamicData_get_octet_array", code);
  if (code == CODE_OK)
    code = called(r, "DDS_DynamicData_get_ulong", a->get_ulong(data, &sample.key, "key", ANY_MEMBER));
  if (code != CODE_OK)
    return code;
  sample.payload = r->payload;
  sample.size = size;
  sink(context, &sample);
  return CODE_OK;
}

static int32_t give_one(ddsmark_reader *r, int32_t i, ddsmark_sink sink, void *context) {
  void *data = r->data->at(&r->samples, i);
  if (r->e.keyed)
    return give_keyed(r, data, sink, context);
  const octet_data *o = data;
  const ddsmark_sample sample = {.payload = o->value, .size = (uint64_t)o->length};
  sink(context, &sample);
  return CODE_OK;
}

/* Passes loaned samples to the sink until none is left or `most` were passed; then returns the loan. */
static int32_t give(ddsmark_reader *r, uint32_t most, ddsmark_sink sink, void *context, uint32_t *given) {
  while (r->next < r->end && *given < most) {
    const int32_t i = r->next++;
    if (((const unsigned char *)r->api->info_at(&r->infos, i))[valid_data_offset] == 0)
      continue;
    const int32_t code = give_one(r, i, sink, context);
    if (code != CODE_OK)
      return code;
    ++*given;
  }
  return r->next == r->end ? give_back(r) : CODE_OK;
}

/* Takes until no sample is left or `most` were passed. Samples without data are skipped and not counted. One sample
 * more than requested is taken and kept for the next call: only this shows whether there are more. */
static int32_t take(ddsmark_reader *r, uint32_t most, ddsmark_sink sink, void *context, uint32_t *taken) {
  const data_calls *data = r->data;
  int32_t code = give(r, most, sink, context, taken);
  r->more = true;
  while (code == CODE_OK && *taken < most && r->more) {
    const uint32_t missing = most - *taken;
    const int32_t wanted = missing < TAKE_SAMPLES ? (int32_t)missing + 1 : TAKE_SAMPLES;
    code = data->take(r->e.entity, &r->samples, &r->infos, wanted, ANY_STATE, ANY_STATE, ANY_STATE);
    if (code == CODE_NO_DATA) {
      r->more = false;
      return CODE_OK;
    }
    if (code != CODE_OK)
      return called(r, r->e.keyed ? "DDS_DynamicDataReader_take" : "DDS_OctetsDataReader_take", code);
    r->next = 0;
    r->end = data->length(&r->samples);
    r->more = r->end == wanted;
    code = give(r, most, sink, context, taken);
  }
  r->more = r->more || r->next < r->end;
  return code;
}

ddsmark_status reader_receive(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                              void *context, uint32_t *taken) {
  *taken = 0;
  if (max_samples == 0)
    return DDSMARK_OK;
  if (r->mode == DDSMARK_RECEIVE_WAITSET && timeout_ns > 0 && !r->more) {
    const uint64_t sec = timeout_ns / 1000000000u;
    const duration limit = {sec < INT32_MAX ? (int32_t)sec : INT32_MAX - 1, (uint32_t)(timeout_ns % 1000000000u)};
    const int32_t code = r->api->waitset_wait(r->waitset, &r->active, &limit);
    if (code == CODE_TIMEOUT)
      return DDSMARK_OK;
    if (code != CODE_OK)
      return fail_code(code, "DDS_WaitSet_wait", "cannot wait for samples");
  }
  const int32_t code = take(r, max_samples, sink, context, taken);
  return code == CODE_OK ? DDSMARK_OK : fail_code(code, r->function, "cannot take samples");
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

ddsmark_status reader_matched(ddsmark_reader *r, ddsmark_match *out) {
  return endpoint_matched(&r->e, out);
}

ddsmark_status reader_qos(ddsmark_reader *r, ddsmark_qos *out) {
  return endpoint_qos(&r->e, out);
}

ddsmark_status reader_settings(ddsmark_reader *r, ddsmark_visitor visit, void *context) {
  char number[16];
  snprintf(number, sizeof number, "%d", TAKE_SAMPLES);
  visit(context, "receive_mode", r->mode == DDSMARK_RECEIVE_WAITSET ? "waitset" : "polling");
  visit(context, "samples_per_take", number);
  char *qos = endpoint_text(&r->e);
  element_visit(qos, "max_heartbeat_response_delay", "protocol/rtps_reliable_reader/max_heartbeat_response_delay",
                visit, context);
  free(qos);
  endpoint_settings(&r->e, visit, context);
  return DDSMARK_OK;
}

ddsmark_status reader_counters(ddsmark_reader *r, ddsmark_counters *out) {
  ddsmark_counters c = {.struct_size = sizeof c};
  counter_of_status(&c, DDSMARK_COUNTER_SAMPLES_REJECTED, &r->e, r->api->rejected);
  counter_of_status(&c, DDSMARK_COUNTER_SAMPLES_LOST, &r->e, r->api->lost);
  counter_of_status(&c, DDSMARK_COUNTER_DEADLINE_MISSED, &r->e, r->api->requested_deadline);
  counter_of_status(&c, DDSMARK_COUNTER_INCOMPATIBLE_QOS, &r->e, r->api->requested_incompatible);
  return counters_out(&c, out);
}
