/* SPDX-License-Identifier: Apache-2.0
 *
 * writer.c
 */
#include "internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dds/ddsc/dds_statistics.h"

struct ddsmark_writer {
  endpoint e;
  bool batching;
  /* Written by the writing thread and read by the thread that reads counters; only one thread ever adds. */
  _Atomic uint64_t timed_out, refused;
};

static void count(_Atomic uint64_t *counter) {
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* -- batching ------------------------------------------------------------------------------------------------------
 *
 * Since 11 batching is a policy of the writer. Before, it is a switch of the whole process, so writers with and
 * without batching cannot coexist.
 */
#if defined(HAVE_WRITER_BATCHING_QOS)

static ddsmark_status batching_choose(bool on, dds_qos_t *qos) {
  dds_qset_writer_batching(qos, on);
  return DDSMARK_OK;
}

static void batching_release(bool on) {
  (void)on;
}

#elif defined(HAVE_WRITE_SET_BATCH)

static pthread_mutex_t batching_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t writers_of_kind[2]; /* number of writers without and with batching */

static ddsmark_status batching_choose(bool on, dds_qos_t *qos) {
  (void)qos;
  ddsmark_status status = DDSMARK_OK;
  pthread_mutex_lock(&batching_lock);
  if (writers_of_kind[!on] > 0)
    status = fail(DDSMARK_UNSUPPORTED, "this version of Cyclone DDS enables batching for all writers of a process or "
                                       "for none; hint: use Cyclone DDS 11, or do not mix batched and unbatched flows");
  else if (++writers_of_kind[on] == 1 && on)
    dds_write_set_batch(true);
  pthread_mutex_unlock(&batching_lock);
  return status;
}

static void batching_release(bool on) {
  pthread_mutex_lock(&batching_lock);
  if (--writers_of_kind[on] == 0 && on)
    dds_write_set_batch(false);
  pthread_mutex_unlock(&batching_lock);
}

#else
#error "this Cyclone DDS has neither dds_qset_writer_batching nor dds_write_set_batch"
#endif

/* -- open and close ------------------------------------------------------------------------------------------------ */

static ddsmark_status check(const ddsmark_participant *p, const ddsmark_writer_config *config) {
  if (config->async_write)
    return fail(DDSMARK_UNSUPPORTED,
                "asynchronous writing is not supported: Cyclone DDS lacks it; hint: set `latency_budget` of writer and "
                "reader above 0, and a thread of Cyclone DDS sends");
  if (config->loans)
    return fail(DDSMARK_UNSUPPORTED, "loans of a writer are not supported by this driver; hint: write without loans");
  return endpoint_check(p, config->type_kind, config->topic, config->max_payload_bytes);
}

static void on_publication_matched(dds_entity_t entity, const dds_publication_matched_status_t status, void *argument) {
  ddsmark_writer *w = argument;
  (void)entity;
  match_set(&w->e.matched, status.current_count);
}

static ddsmark_status create(ddsmark_writer *w, ddsmark_participant *participant, const ddsmark_writer_config *config,
                             const qos_set *qos) {
  ddsmark_status status = batching_choose(w->batching, qos->endpoint);
  if (status != DDSMARK_OK)
    return status;
  status = endpoint_prepare(&w->e, participant, config->type_kind, config->topic, SIDE_WRITER, qos);
  if (status == DDSMARK_OK) {
    dds_listener_t *listener = dds_create_listener(w);
    dds_lset_publication_matched(listener, on_publication_matched);
    w->e.entity = dds_create_writer(w->e.group, w->e.topic, qos->endpoint, listener);
    dds_delete_listener(listener);
    if (w->e.entity >= 0) {
      /* Created here, so that reading counters allocates nothing. */
      w->e.statistics = dds_create_statistics(w->e.entity);
      return DDSMARK_OK;
    }
    status = fail_dds(w->e.entity, "dds_create_writer", "cannot create the writer of topic `%.150s`", config->topic);
    w->e.entity = 0;
    endpoint_close(&w->e);
  }
  batching_release(w->batching);
  return status;
}

ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config,
                           ddsmark_writer **out) {
  ddsmark_writer_config c;
  ddsmark_status status;
  qos_set qos;
  if ((status = writer_config_in(config, &c)) || (status = check(participant, &c)) ||
      (status = qos_make(c.qos, SIDE_WRITER, &qos)))
    return status;
  ddsmark_writer *w = calloc(1, sizeof *w);
  if (w == NULL) {
    status = fail_memory("a writer");
  } else {
    w->batching = c.batch_bytes > 0;
    w->e.max_payload = c.max_payload_bytes ? c.max_payload_bytes : transport_infos[0].max_payload_bytes;
    status = create(w, participant, &c, &qos);
  }
  qos_free(&qos);
  if (status == DDSMARK_OK)
    *out = w;
  else
    free(w);
  return status;
}

ddsmark_status writer_close(ddsmark_writer *w) {
  const ddsmark_status status = endpoint_close(&w->e);
  batching_release(w->batching);
  free(w);
  return status;
}

/* -- the hot path -------------------------------------------------------------------------------------------------- */

static ddsmark_status written(ddsmark_writer *w, dds_return_t rc, const char *function) {
  switch (rc) {
  case DDS_RETCODE_OK:
    return DDSMARK_OK;
  case DDS_RETCODE_TIMEOUT:
    count(&w->timed_out);
    return fail(DDSMARK_TIMED_OUT,
                "the writer had no room within `max_blocking`: %s() failed: %s; hint: increase `max_blocking` or "
                "`send_queue`, or check for a slow reader",
                function, dds_strretcode(rc));
  case DDS_RETCODE_OUT_OF_RESOURCES:
    count(&w->refused);
    return fail(DDSMARK_REFUSED, "the writer has no room: %s() failed: %s; hint: increase `send_queue`", function,
                dds_strretcode(rc));
  default:
    return fail_dds(rc, function, "the writer cannot write");
  }
}

/* The sequence borrows the payload: _release is false, and Cyclone DDS serialises before dds_write returns. */
#define BORROWED(payload_, size_)                                                                                      \
  {._maximum = (uint32_t)(size_),                                                                                      \
   ._length = (uint32_t)(size_),                                                                                       \
   ._buffer = (uint8_t *)(uintptr_t)(payload_),                                                                        \
   ._release = false}

ddsmark_status writer_write(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  dds_return_t rc;
  if (size > w->e.max_payload)
    return fail_sample_size(size, w->e.max_payload);
  if (w->e.keyed) {
    const KeyedSample sample = {.key = key, .payload = BORROWED(payload, size)};
    rc = dds_write(w->e.entity, &sample);
  } else {
    const Sample sample = {.payload = BORROWED(payload, size)};
    rc = dds_write(w->e.entity, &sample);
  }
  return rc == DDS_RETCODE_OK ? DDSMARK_OK : written(w, rc, "dds_write");
}

ddsmark_status writer_flush(ddsmark_writer *w) {
  if (!w->batching)
    return DDSMARK_OK;
#ifdef HAVE_FLUSH_RESULT
  const dds_return_t rc = dds_write_flush(w->e.entity);
  return rc == DDS_RETCODE_OK ? DDSMARK_OK : fail_dds(rc, "dds_write_flush", "cannot send the batch");
#else
  dds_write_flush(w->e.entity);
  return DDSMARK_OK;
#endif
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

ddsmark_status writer_wait_acked(ddsmark_writer *w, uint64_t timeout_ns) {
  /* Samples held back by batching are never acknowledged. */
  const ddsmark_status status = writer_flush(w);
  if (status != DDSMARK_OK)
    return status;
  const dds_return_t rc = dds_wait_for_acks(w->e.entity, duration_of(timeout_ns));
  if (rc == DDS_RETCODE_TIMEOUT)
    return fail(
        DDSMARK_TIMED_OUT,
        "not all samples were acknowledged in time: dds_wait_for_acks() failed: %s; hint: check for a slow reader",
        dds_strretcode(rc));
  return rc == DDS_RETCODE_OK ? DDSMARK_OK : fail_dds(rc, "dds_wait_for_acks", "cannot wait for acknowledgments");
}

typedef dds_return_t (*instance_call)(dds_entity_t writer, const void *sample);

static ddsmark_status on_instance(ddsmark_writer *w, uint32_t key, instance_call call, const char *function) {
  dds_return_t rc;
  if (w->e.keyed) {
    const KeyedSample sample = {.key = key};
    rc = call(w->e.entity, &sample);
  } else {
    const Sample sample = {0};
    rc = call(w->e.entity, &sample);
  }
  return written(w, rc, function);
}

ddsmark_status writer_dispose(ddsmark_writer *w, uint32_t key) {
  return on_instance(w, key, dds_dispose, "dds_dispose");
}

ddsmark_status writer_unregister(ddsmark_writer *w, uint32_t key) {
  return on_instance(w, key, dds_unregister_instance, "dds_unregister_instance");
}

ddsmark_status writer_assert_liveliness(ddsmark_writer *w) {
  const dds_return_t rc = dds_assert_liveliness(w->e.entity);
  return rc == DDS_RETCODE_OK ? DDSMARK_OK
                              : fail_dds(rc, "dds_assert_liveliness", "cannot assert the liveliness of the writer");
}

ddsmark_status writer_matched(ddsmark_writer *w, ddsmark_match *out) {
  return endpoint_matched(&w->e, out);
}

ddsmark_status writer_qos(ddsmark_writer *w, ddsmark_qos *out) {
  return qos_read_back(w->e.topic, w->e.group, w->e.entity, SIDE_WRITER, &w->e.texts, out);
}

ddsmark_status writer_settings(ddsmark_writer *w, ddsmark_visitor visit, void *context) {
  bool batching = w->batching;
#if defined(HAVE_WRITER_BATCHING_QOS)
  dds_qos_t *qos = dds_create_qos();
  if (dds_get_qos(w->e.entity, qos) == DDS_RETCODE_OK)
    dds_qget_writer_batching(qos, &batching);
  dds_delete_qos(qos);
#endif
  visit(context, "batching", batching ? "native" : "none");
  if (batching)
    visit(context, "batch_limit_bytes", endpoint_batch_limit(&w->e));
  return endpoint_settings(&w->e, visit, context);
}

ddsmark_status writer_counters(ddsmark_writer *w, ddsmark_counters *out) {
  ddsmark_counters c = {.struct_size = sizeof c};
  counter_set(&c, DDSMARK_COUNTER_WRITE_TIMED_OUT, atomic_load_explicit(&w->timed_out, memory_order_relaxed));
  counter_set(&c, DDSMARK_COUNTER_WRITE_REFUSED, atomic_load_explicit(&w->refused, memory_order_relaxed));
  if (w->e.statistics && dds_refresh_statistics(w->e.statistics) == DDS_RETCODE_OK) {
    counter_from_statistic(&c, DDSMARK_COUNTER_WRITE_BLOCKED, w->e.statistics, "throttle_count");
    counter_from_statistic(&c, DDSMARK_COUNTER_WRITE_BLOCKED_NS, w->e.statistics, "time_throttle");
    counter_from_statistic(&c, DDSMARK_COUNTER_RETRANSMITTED_BYTES, w->e.statistics, "rexmit_bytes");
  }
  dds_offered_deadline_missed_status_t deadline;
  dds_liveliness_lost_status_t liveliness;
  dds_offered_incompatible_qos_status_t incompatible;
  if (dds_get_offered_deadline_missed_status(w->e.entity, &deadline) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_DEADLINE_MISSED, deadline.total_count);
  if (dds_get_liveliness_lost_status(w->e.entity, &liveliness) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_LIVELINESS_LOST, liveliness.total_count);
  if (dds_get_offered_incompatible_qos_status(w->e.entity, &incompatible) == DDS_RETCODE_OK)
    counter_set(&c, DDSMARK_COUNTER_INCOMPATIBLE_QOS, incompatible.total_count);
  return counters_out(&c, out);
}
