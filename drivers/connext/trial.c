/* SPDX-License-Identifier: Apache-2.0
 *
 * trial.c: verification of an assumption on the library before any measurement.
 *
 * One field must be read from a struct of Connext: whether a sample has data, `valid_data` of its DDS_SampleInfo.
 * RTI documents the order of the fields, but the sizes of the preceding ones may change between versions. Its offset
 * is therefore searched: a writer and a reader of the participant exchange some samples with data, and then, by
 * disposing the instances, as many without. The field is the only byte that is 1 for the former and 0 for the
 * latter. If there is no such byte, or more than one, or if the data is wrong, the participant is not opened.
 */
#include "internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

size_t valid_data_offset;

#define INSTANCES 5
/* Range of possible offsets: after three states, a time, two handles and five counts. */
#define FIRST_OFFSET 56
#define LAST_OFFSET 135
#define LIMIT_MS 5000
#define PAYLOAD 40

static void sleep_ms(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static void fill(uint8_t payload[PAYLOAD], uint32_t key) {
  for (uint32_t i = 0; i < PAYLOAD; i++)
    payload[i] = (uint8_t)(i * 7 + key);
}

/* Acknowledged samples have arrived at the reader. */
static ddsmark_status wait_arrived(const endpoint *w) {
  const int32_t code = w->participant->api->wait_acked(w->entity, &(duration){LIMIT_MS / 1000, 0});
  return code == CODE_OK ? DDSMARK_OK
                         : fail_code(code, "DDS_DataWriter_wait_for_acknowledgments",
                                     "the samples of the self-check were not acknowledged");
}

static ddsmark_status write_octets(const endpoint *w) {
  const api *a = w->participant->api;
  uint8_t payload[PAYLOAD];
  fill(payload, 0);
  const int32_t code = a->write_octets(w->entity, payload, sizeof payload, a->handle_nil);
  return code == CODE_OK
             ? wait_arrived(w)
             : fail_code(code, "DDS_OctetsDataWriter_write_octets", "cannot write the octets of the self-check");
}

static ddsmark_status write_all(const endpoint *w, void *data, bool dispose) {
  const api *a = w->participant->api;
  uint8_t payload[PAYLOAD];
  for (uint32_t key = 1; key <= INSTANCES; key++) {
    int32_t code;
    fill(payload, key);
    if ((code = a->set_ulong(data, "key", ANY_MEMBER, key)))
      return fail_code(code, "DDS_DynamicData_set_ulong", "cannot set the key of the self-check");
    if ((code = a->set_octets(data, "payload", ANY_MEMBER, sizeof payload, payload)))
      return fail_code(code, "DDS_DynamicData_set_octet_array", "cannot set the payload of the self-check");
    if ((code = (dispose ? a->dispose : a->write)(w->entity, data, a->handle_nil)))
      return fail_code(code, dispose ? "DDS_DynamicDataWriter_dispose" : "DDS_DynamicDataWriter_write",
                       "cannot write a sample of the self-check");
  }
  return wait_arrived(w);
}

/* Returns whether a sample has the written content. */
static bool as_written(const api *a, void *data) {
  uint8_t expected[PAYLOAD], found[2 * PAYLOAD];
  uint32_t size = sizeof found, key = 0;
  if (a->get_ulong(data, &key, "key", ANY_MEMBER) != CODE_OK || key < 1 || key > INSTANCES)
    return false;
  fill(expected, key);
  return a->get_octets(data, found, &size, "payload", ANY_MEMBER) == CODE_OK && size == sizeof expected &&
         memcmp(found, expected, size) == 0;
}

static bool octets_as_written(const octet_data *o) {
  uint8_t expected[PAYLOAD];
  fill(expected, 0);
  return o->length == PAYLOAD && memcmp(o->value, expected, PAYLOAD) == 0;
}

/* Excludes the offsets at which one of the taken samples does not have this value. */
static ddsmark_status examine(const api *a, space *samples, space *infos, bool with_data, bool fits[]) {
  const data_calls *data = &a->data[DATA_DYNAMIC];
  const int32_t length = data->length(samples);
  if (length != INSTANCES)
    return fail(DDSMARK_ERROR,
                "Connext %s cannot be used: the self-check of the driver received %d of %d samples; hint: install a "
                "version that drivers/connext/README.md lists",
                a->release, (int)length, INSTANCES);
  for (int32_t i = 0; i < length; i++) {
    if (with_data && !as_written(a, data->at(samples, i)))
      return fail(DDSMARK_ERROR,
                  "Connext %s cannot be used: the self-check of the driver received a changed sample; hint: install a "
                  "version that drivers/connext/README.md lists",
                  a->release);
    const unsigned char *info = a->info_at(infos, i);
    for (size_t offset = FIRST_OFFSET; offset <= LAST_OFFSET; offset++)
      fits[offset] = fits[offset] && info[offset] == with_data;
  }
  return DDSMARK_OK;
}

/* Takes the available samples and examines them. */
static ddsmark_status take_all(const endpoint *r, bool with_data, bool fits[]) {
  const api *a = r->participant->api;
  const data_calls *data = &a->data[r->keyed];
  space samples, infos;
  memset(&samples, 0, sizeof samples);
  memset(&infos, 0, sizeof infos);
  if (!data->initialize(&samples) || !a->infos_initialize(&infos))
    return fail_memory("the samples of the self-check");
  const int32_t code = data->take(r->entity, &samples, &infos, INSTANCES + 1, ANY_STATE, ANY_STATE, ANY_STATE);
  ddsmark_status status = DDSMARK_OK;
  if (code != CODE_OK)
    status = fail_code(code, r->keyed ? "DDS_DynamicDataReader_take" : "DDS_OctetsDataReader_take",
                       "cannot take the samples of the self-check");
  else if (r->keyed)
    status = examine(a, &samples, &infos, with_data, fits);
  else if (data->length(&samples) != 1 || !octets_as_written(data->at(&samples, 0)))
    status = fail(DDSMARK_ERROR,
                  "Connext %s cannot be used: the self-check of the driver received changed octets; hint: install a "
                  "version that drivers/connext/README.md lists",
                  a->release);
  if (code == CODE_OK)
    data->return_loan(r->entity, &samples, &infos);
  data->finalize(&samples);
  a->infos_finalize(&infos);
  return status;
}

static ddsmark_status wait_matched(const endpoint *w, const endpoint *r) {
  for (int waited = 0; waited < LIMIT_MS; waited++) {
    uint32_t readers = 0, writers = 0;
    ddsmark_status status;
    if ((status = endpoint_peers(w, &readers)) || (status = endpoint_peers(r, &writers)))
      return status;
    if (readers == 1 && writers == 1)
      return DDSMARK_OK;
    sleep_ms(1);
  }
  return fail(DDSMARK_ERROR,
              "Connext %s cannot be used: writer and reader of the self-check did not match within %d s; hint: see the "
              "messages of Connext in the log of the agent",
              w->participant->api->release, LIMIT_MS / 1000);
}

static ddsmark_status exchange_octets(const endpoint *w, const endpoint *r) {
  ddsmark_status status;
  if ((status = wait_matched(w, r)) || (status = write_octets(w)))
    return status;
  return take_all(r, true, NULL);
}

static ddsmark_status exchange_keyed(const endpoint *w, const endpoint *r, void *data) {
  bool fits[LAST_OFFSET + 1];
  memset(fits, true, sizeof fits);
  ddsmark_status status;
  if ((status = wait_matched(w, r)) || (status = write_all(w, data, false)) || (status = take_all(r, true, fits)) ||
      (status = write_all(w, data, true)) || (status = take_all(r, false, fits)))
    return status;
  int candidates = 0;
  for (size_t offset = FIRST_OFFSET; offset <= LAST_OFFSET; offset++) {
    if (fits[offset]) {
      valid_data_offset = offset;
      candidates++;
    }
  }
  if (candidates == 1)
    return DDSMARK_OK;
  return fail(DDSMARK_ERROR,
              "Connext %s cannot be used: the driver found %d possible offsets of `valid_data` in DDS_SampleInfo "
              "instead of 1; hint: install a version that drivers/connext/README.md lists",
              w->participant->api->release, candidates);
}

static ddsmark_status exchange(const endpoint *w, const endpoint *r) {
  const ddsmark_participant *p = w->participant;
  if (!w->keyed)
    return exchange_octets(w, r);
  void *data = p->api->create_data(p->support);
  if (data == NULL)
    return fail_null("DDS_DynamicDataTypeSupport_create_data", "cannot create a sample of the self-check");
  const ddsmark_status status = exchange_keyed(w, r, data);
  p->api->delete_data(p->support, data);
  return status;
}

static ddsmark_status with_endpoints(ddsmark_participant *p, bool keyed) {
  const ddsmark_qos qos = {.struct_size = sizeof qos,
                           .present = POLICY(RELIABILITY) | POLICY(HISTORY),
                           .reliability = DDSMARK_RELIABLE,
                           .history = DDSMARK_KEEP_ALL,
                           .max_blocking_ns = 1000000000};
  char topic[64]; /* unique on this host */
  snprintf(topic, sizeof topic, "ddsmark_trial_%ld_%d", (long)getpid(), keyed);
  endpoint w = {.participant = p, .keyed = keyed}, r = {.participant = p, .keyed = keyed};
  const endpoint_wish writes = {.side = SIDE_WRITER, .qos = &qos, .max_payload = PAYLOAD};
  const endpoint_wish reads = {.side = SIDE_READER, .qos = &qos, .max_payload = PAYLOAD};
  ddsmark_status status = endpoint_open(&w, topic, &writes);
  if (status != DDSMARK_OK)
    return status;
  if ((status = endpoint_open(&r, topic, &reads)) == DDSMARK_OK) {
    status = exchange(&w, &r);
    endpoint_close(&r);
  }
  endpoint_close(&w);
  return status;
}

ddsmark_status trial(ddsmark_participant *p) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  static bool passed;
  ddsmark_status status = DDSMARK_OK;
  pthread_mutex_lock(&once);
  if (!passed) {
    /* Trial samples must be sent and acknowledged at once, whatever the configuration. */
    const plan asked = p->plan;
    p->plan.turbo_mode = p->plan.auto_throttle = p->plan.vendor_defaults = p->plan.multicast = false;
    p->plan.base_profile[0] = '\0';
    p->plan.heartbeat_us = 10000;
    p->plan.fast_heartbeat_us = 1000;
    passed = (status = with_endpoints(p, false)) == DDSMARK_OK && (status = with_endpoints(p, true)) == DDSMARK_OK;
    p->plan = asked;
  }
  pthread_mutex_unlock(&once);
  return status;
}
