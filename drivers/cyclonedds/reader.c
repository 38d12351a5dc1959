/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.c
 *
 * Samples are taken into memory of the reader, allocated once: the sequences have the maximum payload size, and
 * Cyclone DDS reuses them. With loans it would allocate, in 11, whenever a take yields more samples than the
 * previous one.
 */
#include "internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dds/ddsc/dds_statistics.h"

/* Maximum samples and bytes per take: enough for small samples to share its cost, few enough to stay in the cache. */
#define TAKE_SAMPLES 256u
#define TAKE_BYTES (4u << 20)

struct ddsmark_reader {
  endpoint e;
  uint32_t mode;
  uint32_t capacity; /* length of the three arrays */
  void *samples;     /* array of Sample or KeyedSample */
  void **pointers;   /* pointers to the samples, for dds_take() */
  dds_sample_info_t *infos;
  dds_entity_t waitset;
  uint32_t next, end; /* taken samples not passed to the sink yet */
  bool filters;       /* whether it has a content filter */
  key_filter filter;
  bool more;         /* whether more samples may be available: do not wait */
  ddsmark_sink sink; /* with DDSMARK_RECEIVE_LISTENER */
  void *sink_context;
  _Atomic uint64_t not_alive; /* writers reported as not alive */
};

/* -- the memory of samples ----------------------------------------------------------------------------------------- */

static size_t sample_size(const ddsmark_reader *r) {
  return r->e.keyed ? sizeof(KeyedSample) : sizeof(Sample);
}

static void samples_free(ddsmark_reader *r) {
  for (uint32_t i = 0; r->pointers && i < r->capacity; i++)
    dds_sample_free(r->pointers[i], r->e.keyed ? &KeyedSample_desc : &Sample_desc, DDS_FREE_CONTENTS);
  free(r->samples);
  free(r->pointers);
  free(r->infos);
}

static bool samples_make(ddsmark_reader *r, uint64_t max_payload) {
  const uint64_t fit = max_payload ? TAKE_BYTES / max_payload : TAKE_SAMPLES;
  r->capacity = fit < 1 ? 1 : fit > TAKE_SAMPLES ? TAKE_SAMPLES : (uint32_t)fit;
  r->samples = calloc(r->capacity, sample_size(r));
  r->infos = calloc(r->capacity, sizeof *r->infos);
  void **pointers = calloc(r->capacity, sizeof *pointers);
  if (r->samples == NULL || r->infos == NULL || pointers == NULL) {
    free(pointers);
    return false;
  }
  for (uint32_t i = 0; i < r->capacity; i++) {
    pointers[i] = (char *)r->samples + i * sample_size(r);
    if (max_payload == 0)
      continue;
    dds_sequence_octet *payload = r->e.keyed ? (dds_sequence_octet *)&((KeyedSample *)pointers[i])->payload
                                             : (dds_sequence_octet *)&((Sample *)pointers[i])->payload;
    payload->_buffer = dds_alloc(max_payload);
    payload->_maximum = (uint32_t)max_payload;
    payload->_release = true;
  }
  r->pointers = pointers;
  return true;
}

/* -- taking -------------------------------------------------------------------------------------------------------- */

/* Passes taken samples to the sink until none is left or `max_samples` were passed. */
static uint32_t give(ddsmark_reader *r, uint32_t max_samples, ddsmark_sink sink, void *context) {
  uint32_t given = 0;
  while (r->next < r->end && given < max_samples) {
    const uint32_t i = r->next++;
    if (!r->infos[i].valid_data)
      continue;
    ddsmark_sample sample = {0};
    if (r->e.keyed) {
      const KeyedSample *s = r->pointers[i];
      sample.payload = s->payload._buffer;
      sample.size = s->payload._length;
      sample.key = s->key;
    } else {
      const Sample *s = r->pointers[i];
      sample.payload = s->payload._buffer;
      sample.size = s->payload._length;
    }
    sink(context, &sample);
    given++;
  }
  return given;
}

/* Takes until no sample is left or `max_samples` were passed. Invalid samples are skipped and not counted. `entity`
 * is a parameter because the listener may run before dds_create_reader() has returned it. One sample more than
 * requested is taken and kept for the next call: only this shows whether there are more. */
static dds_return_t take(ddsmark_reader *r, dds_entity_t entity, uint32_t max_samples, ddsmark_sink sink, void *context,
                         uint32_t *taken) {
  uint32_t given = give(r, max_samples, sink, context);
  r->more = true;
  while (given < max_samples && r->more) {
    const uint32_t missing = max_samples - given;
    const uint32_t wanted = missing < r->capacity ? missing + 1 : r->capacity;
    const dds_return_t n = dds_take(entity, r->pointers, r->infos, r->capacity, wanted);
    if (n < 0)
      return n;
    r->next = 0;
    r->end = (uint32_t)n;
    r->more = r->end == wanted;
    given += give(r, missing, sink, context);
    *taken = given;
  }
  r->more = r->more || r->next < r->end;
  *taken = given;
  return DDS_RETCODE_OK;
}

ddsmark_status reader_receive(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                              void *context, uint32_t *taken) {
  *taken = 0;
  if (r->mode == DDSMARK_RECEIVE_LISTENER)
    return fail(DDSMARK_BAD_ARGUMENT, "reader_receive() was called on a reader with a listener; hint: open the reader "
                                      "with the receive mode `waitset` or `polling`");
  if (max_samples == 0)
    return DDSMARK_OK;
  if (r->mode == DDSMARK_RECEIVE_WAITSET && timeout_ns > 0 && !r->more) {
    const dds_return_t rc = dds_waitset_wait(r->waitset, NULL, 0, duration_of(timeout_ns));
    if (rc == 0)
      return DDSMARK_OK;
    if (rc < 0)
      return fail_dds(rc, "dds_waitset_wait", "cannot wait for samples");
  }
  const dds_return_t rc = take(r, r->e.entity, max_samples, sink, context, taken);
  return rc == DDS_RETCODE_OK ? DDSMARK_OK : fail_dds(rc, "dds_take", "cannot take samples");
}

static void on_data_available(dds_entity_t entity, void *argument) {
  ddsmark_reader *r = argument;
  uint32_t taken;
  /* An error cannot be reported here; samples that it loses appear in the host's counts. */
  (void)take(r, entity, UINT32_MAX, r->sink, r->sink_context, &taken);
}

/* Cyclone DDS counts the writers that are currently not alive; ddsmark counts how often one became so. */
static void on_liveliness_changed(dds_entity_t entity, const dds_liveliness_changed_status_t status, void *argument) {
  ddsmark_reader *r = argument;
  (void)entity;
  if (status.not_alive_count_change > 0)
    atomic_fetch_add_explicit(&r->not_alive, (uint64_t)status.not_alive_count_change, memory_order_relaxed);
}

static void on_subscription_matched(dds_entity_t entity, const dds_subscription_matched_status_t status,
                                    void *argument) {
  ddsmark_reader *r = argument;
  (void)entity;
  match_set(&r->e.matched, status.current_count);
}

/* -- open and close ------------------------------------------------------------------------------------------------ */

static ddsmark_status check(const ddsmark_participant *p, const ddsmark_reader_config *config) {
  key_filter filter;
  if (config->content_filter) {
    const ddsmark_status status = filter_read(config->content_filter, config->type_kind == DDSMARK_TYPE_KEYED, &filter);
    if (status != DDSMARK_OK)
      return status;
  }
  return endpoint_check(p, config->type_kind, config->topic, config->max_payload_bytes);
}

/* Creates a waitset for the reader's status DATA_AVAILABLE. A read condition would also work, but Cyclone DDS
 * evaluates it for each sample that it stores and takes, which cost a tenth of a small sample's round trip. A take
 * resets the status first, so a caller that leaves samples behind must not wait in its next call, see `more`. */
static ddsmark_status waitset_make(ddsmark_reader *r) {
  dds_return_t rc;
  r->more = true; /* samples may have arrived before the status was enabled */
  if ((rc = r->waitset = dds_create_waitset(r->e.participant->entity)) < 0)
    return fail_dds(rc, "dds_create_waitset", "cannot create the waitset of the reader");
  if ((rc = dds_set_status_mask(r->e.entity, DDS_DATA_AVAILABLE_STATUS)) < 0)
    return fail_dds(rc, "dds_set_status_mask", "cannot enable DATA_AVAILABLE of the reader");
  if ((rc = dds_waitset_attach(r->waitset, r->e.entity, 1)) < 0)
    return fail_dds(rc, "dds_waitset_attach", "cannot attach the reader to its waitset");
  return DDSMARK_OK;
}

static ddsmark_status create(ddsmark_reader *r, ddsmark_participant *participant, const ddsmark_reader_config *config,
                             const qos_set *qos) {
  ddsmark_status status = endpoint_prepare(&r->e, participant, config->type_kind, config->topic, SIDE_READER, qos);
  if (status != DDSMARK_OK)
    return status;
  if (r->filters && (status = filter_set(r->e.topic, &r->filter)) != DDSMARK_OK) {
    endpoint_close(&r->e);
    return status;
  }
  dds_listener_t *listener = dds_create_listener(r);
  dds_lset_liveliness_changed(listener, on_liveliness_changed);
  dds_lset_subscription_matched(listener, on_subscription_matched);
  if (r->mode == DDSMARK_RECEIVE_LISTENER)
    dds_lset_data_available(listener, on_data_available);
  const dds_entity_t entity = dds_create_reader(r->e.group, r->e.topic, qos->endpoint, listener);
  dds_delete_listener(listener);
  if (entity < 0) {
    status = fail_dds(entity, "dds_create_reader", "cannot create the reader of topic `%.150s`", config->topic);
  } else {
    r->e.entity = entity;
    r->e.statistics = dds_create_statistics(entity);
    if (r->mode == DDSMARK_RECEIVE_WAITSET)
      status = waitset_make(r);
  }
  if (status != DDSMARK_OK) {
    if (r->waitset > 0)
      dds_delete(r->waitset);
    endpoint_close(&r->e);
  }
  return status;
}

ddsmark_status reader_open(ddsmark_participant *participant, const ddsmark_reader_config *config,
                           ddsmark_reader **out) {
  ddsmark_reader_config c;
  ddsmark_status status;
  qos_set qos;
  if ((status = reader_config_in(config, &c)) || (status = check(participant, &c)) ||
      (status = qos_make(c.qos, SIDE_READER, &qos)))
    return status;
  ddsmark_reader *r = calloc(1, sizeof *r);
  if (r != NULL) {
    r->mode = c.receive_mode;
    r->sink = c.sink;
    r->sink_context = c.sink_context;
    r->e.keyed = c.type_kind == DDSMARK_TYPE_KEYED;
    r->e.max_payload = c.max_payload_bytes;
    r->filters = c.content_filter != NULL;
    if (r->filters)
      filter_read(c.content_filter, r->e.keyed, &r->filter);
  }
  if (r == NULL || !samples_make(r, c.max_payload_bytes))
    status = fail_memory("the samples of a reader");
  else
    status = create(r, participant, &c, &qos);
  qos_free(&qos);
  if (status == DDSMARK_OK) {
    *out = r;
  } else if (r) {
    samples_free(r);
    free(r);
  }
  return status;
}

ddsmark_status reader_close(ddsmark_reader *r) {
  /* Deleting the reader waits for a running listener. */
  if (r->waitset > 0)
    dds_delete(r->waitset);
  const ddsmark_status status = endpoint_close(&r->e);
  samples_free(r);
  free(r);
  return status;
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

ddsmark_status reader_matched(ddsmark_reader *r, ddsmark_match *out) {
  return endpoint_matched(&r->e, out);
}

ddsmark_status reader_qos(ddsmark_reader *r, ddsmark_qos *out) {
  return qos_read_back(r->e.topic, r->e.group, r->e.entity, SIDE_READER, &r->e.texts, out);
}

ddsmark_status reader_settings(ddsmark_reader *r, ddsmark_visitor visit, void *context) {
  static const char *const modes[] = {"waitset", "polling", "listener"};
  char number[16];
  snprintf(number, sizeof number, "%u", r->capacity);
  visit(context, "receive_mode", modes[r->mode]);
  visit(context, "samples_per_take", number);
  if (r->filters) {
    char filter[64];
    snprintf(filter, sizeof filter, "key BETWEEN %u AND %u", r->filter.first, r->filter.last);
    visit(context, "content_filter", filter);
  }
  return endpoint_settings(&r->e, visit, context);
}

ddsmark_status reader_counters(ddsmark_reader *r, ddsmark_counters *out) {
  ddsmark_counters c = {.struct_size = sizeof c};
  if (r->e.statistics && dds_refresh_statistics(r->e.statistics) == DDS_RETCODE_OK)
    counter_from_statistic(&c, DDSMARK_COUNTER_BYTES_DISCARDED, r->e.statistics, "discarded_bytes");
  dds_sample_rejected_status_t rejected;
  dds_sample_lost_status_t lost;
  dds_requested_deadline_missed_status_t deadline;
  dds_requested_incompatible_qos_status_t incompatible;
  if (dds_get_sample_rejected_status(r->e.entity, &rejected) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_SAMPLES_REJECTED, rejected.total_count);
  if (dds_get_sample_lost_status(r->e.entity, &lost) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_SAMPLES_LOST, lost.total_count);
  if (dds_get_requested_deadline_missed_status(r->e.entity, &deadline) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_DEADLINE_MISSED, deadline.total_count);
  if (dds_get_requested_incompatible_qos_status(r->e.entity, &incompatible) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_INCOMPATIBLE_QOS, incompatible.total_count);
  counter_set(&c, DDSMARK_COUNTER_LIVELINESS_LOST, atomic_load_explicit(&r->not_alive, memory_order_relaxed));
  return counters_out(&c, out);
}
