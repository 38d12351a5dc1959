/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.c: queues in the memory of one process, under one lock. See loop.h.
 */
#include "loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct sample {
  struct sample *next;
  uint32_t key;
  size_t size;
  uint8_t payload[];
} sample;

typedef struct queue {
  sample *first, **end;
  int length;
} queue;

typedef struct entity {
  struct entity *next;
  uint32_t domain;
  char *topic;
  loop_qos qos;
  queue queue;            /* samples that wait in a reader, or history of a transient-local writer */
  pthread_cond_t changed; /* signals a change of a reader's queue */
  loop_callback callback;
  void *context;
  loop_match matched;
} entity;

struct loop_writer {
  entity base;
  queue batch; /* samples held back by batching */
  uint64_t batch_bytes, held_bytes;
  loop_counts counts;
};
struct loop_reader {
  entity base;
};

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a callback may write */
static entity *writers, *readers;

/* -- queues -------------------------------------------------------------------------------------------------------- */

static sample *sample_new(uint32_t key, const uint8_t *payload, size_t size) {
  sample *copy = malloc(sizeof *copy + size);
  if (copy != NULL) {
    *copy = (sample){.key = key, .size = size};
    memcpy(copy->payload, payload, size);
  }
  return copy;
}

static sample *pop(queue *q) {
  sample *first = q->first;
  if (first != NULL) {
    q->first = first->next;
    if (q->first == NULL)
      q->end = &q->first;
    q->length--;
  }
  return first;
}

static void clear(queue *q) {
  for (sample *s; (s = pop(q)) != NULL;)
    free(s);
}

static void push(queue *q, sample *last) {
  *q->end = last;
  q->end = &last->next;
  q->length++;
}

static int limit_of(const loop_qos *qos) {
  return qos->keep_all ? LOOP_CAPACITY : qos->depth;
}

static struct timespec after(uint64_t ns) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const uint64_t longest = UINT64_C(365) * 86400 * 1000000000; /* the deadline must not overflow */
  ns = (ns < longest ? ns : longest) + (uint64_t)t.tv_nsec;
  t.tv_sec += (time_t)(ns / 1000000000);
  t.tv_nsec = (long)(ns % 1000000000);
  return t;
}

/* -- entities ------------------------------------------------------------------------------------------------------ */

static bool match(const entity *w, const entity *r) {
  return w->domain == r->domain && strcmp(w->topic, r->topic) == 0 && w->qos.reliable >= r->qos.reliable &&
         w->qos.transient_local >= r->qos.transient_local;
}

static bool entity_init(entity *e, uint32_t domain, const char *topic, const loop_qos *qos) {
  *e = (entity){.domain = domain, .topic = strdup(topic), .qos = *qos};
  e->queue.end = &e->queue.first;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&e->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return e->topic != NULL;
}

/* Notes in the entity and its peers that they have matched, or do no longer. The caller holds the lock. */
static void peers_change(entity *e, entity *peers, bool is_writer, bool comes) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  for (; peers != NULL; peers = peers->next) {
    if (!(is_writer ? match(e, peers) : match(peers, e)))
      continue;
    e->matched = (loop_match){e->matched.count + (comes ? 1u : -1u), now_ns};
    peers->matched = (loop_match){peers->matched.count + (comes ? 1u : -1u), now_ns};
  }
}

/* The caller holds the lock. */
static void entity_add(entity *e, entity **list, entity *peers) {
  e->next = *list;
  *list = e;
  peers_change(e, peers, list == &writers, true);
}

static void entity_free(entity *e, entity **list, entity **peers) {
  pthread_mutex_lock(&lock);
  for (entity **place = list; *place != NULL; place = &(*place)->next)
    if (*place == e) {
      *place = e->next;
      break;
    }
  peers_change(e, *peers, list == &writers, false);
  clear(&e->queue);
  pthread_cond_broadcast(&e->changed);
  pthread_mutex_unlock(&lock);
  pthread_cond_destroy(&e->changed);
  free(e->topic);
  free(e);
}

static loop_match matched(const entity *e) {
  pthread_mutex_lock(&lock);
  const loop_match state = e->matched;
  pthread_mutex_unlock(&lock);
  return state;
}

/* Delivers a sample to a reader; a full keep-last queue drops its oldest one. The caller holds the lock. */
static bool deliver(entity *r, const sample *s) {
  if (r->callback != NULL) {
    r->callback(r->context, s->key, s->payload, s->size);
    return true;
  }
  sample *copy = sample_new(s->key, s->payload, s->size);
  if (copy == NULL)
    return false;
  if (r->queue.length >= limit_of(&r->qos))
    free(pop(&r->queue)); /* keep-last: the oldest sample is dropped */
  push(&r->queue, copy);
  pthread_cond_broadcast(&r->changed);
  return true;
}

loop_writer *loop_writer_new(uint32_t domain, const char *topic, const loop_qos *qos, uint64_t batch_bytes) {
  loop_writer *writer = malloc(sizeof *writer);
  if (writer == NULL || !entity_init(&writer->base, domain, topic, qos)) {
    free(writer);
    return NULL;
  }
  writer->batch = (queue){.end = &writer->batch.first};
  writer->batch_bytes = batch_bytes;
  writer->held_bytes = 0;
  writer->counts = (loop_counts){0};
  pthread_mutex_lock(&lock);
  entity_add(&writer->base, &writers, readers);
  pthread_mutex_unlock(&lock);
  return writer;
}

loop_reader *loop_reader_new(uint32_t domain, const char *topic, const loop_qos *qos, loop_callback callback,
                             void *context) {
  loop_reader *reader = malloc(sizeof *reader);
  if (reader == NULL || !entity_init(&reader->base, domain, topic, qos)) {
    free(reader);
    return NULL;
  }
  reader->base.callback = callback;
  reader->base.context = context;
  pthread_mutex_lock(&lock);
  entity_add(&reader->base, &readers, writers);
  for (entity *w = writers; w != NULL; w = w->next)
    if (qos->transient_local && match(w, &reader->base))
      for (const sample *s = w->queue.first; s != NULL; s = s->next)
        deliver(&reader->base, s);
  pthread_mutex_unlock(&lock);
  return reader;
}

void loop_writer_free(loop_writer *writer) {
  clear(&writer->batch);
  entity_free(&writer->base, &writers, &readers);
}
void loop_reader_free(loop_reader *reader) {
  entity_free(&reader->base, &readers, &writers);
}
loop_match loop_writer_matched(loop_writer *writer) {
  return matched(&writer->base);
}
loop_match loop_reader_matched(loop_reader *reader) {
  return matched(&reader->base);
}
loop_qos loop_writer_qos(const loop_writer *writer) {
  return writer->base.qos;
}
loop_qos loop_reader_qos(const loop_reader *reader) {
  return reader->base.qos;
}
loop_counts loop_writer_counts(const loop_writer *writer) {
  pthread_mutex_lock(&lock);
  const loop_counts counts = writer->counts;
  pthread_mutex_unlock(&lock);
  return counts;
}

/* -- samples ------------------------------------------------------------------------------------------------------- */

/* Returns a keep-all reader of w without room for another sample. The caller holds the lock. */
static entity *full_reader(const entity *w) {
  for (entity *r = readers; r != NULL; r = r->next)
    if (r->qos.keep_all && r->callback == NULL && match(w, r) && r->queue.length >= LOOP_CAPACITY)
      return r;
  return NULL;
}

/* Sends to all matched readers; returns false if one had no room in time. The caller holds the lock. A sent sample
 * is moved to the history or freed. */
static bool send_sample(loop_writer *writer, sample *s) {
  entity *w = &writer->base;
  const struct timespec deadline = after(w->qos.max_blocking_ns);
  for (entity *full; w->qos.reliable && (full = full_reader(w)) != NULL;)
    if (pthread_cond_timedwait(&full->changed, &lock, &deadline) == ETIMEDOUT && full_reader(w) != NULL)
      return false;
  for (entity *r = readers; r != NULL; r = r->next)
    if (match(w, r) && (r->callback != NULL || !r->qos.keep_all || r->queue.length < LOOP_CAPACITY))
      deliver(r, s); /* else: lost, with best effort */
  writer->counts.samples++;
  writer->counts.bytes += s->size;
  if (!w->qos.transient_local) {
    free(s);
    return true;
  }
  if (w->queue.length >= limit_of(&w->qos))
    free(pop(&w->queue));
  push(&w->queue, s);
  return true;
}

/* Sends the batch. The caller holds the lock. */
static bool send_batch(loop_writer *writer) {
  queue *batch = &writer->batch;
  while (batch->first != NULL) {
    sample *first = pop(batch);
    const size_t size = first->size;
    if (!send_sample(writer, first)) {
      first->next = batch->first; /* put back as the first */
      batch->end = batch->first == NULL ? &first->next : batch->end;
      batch->first = first;
      batch->length++;
      return false;
    }
    writer->held_bytes -= size;
  }
  return true;
}

int loop_write(loop_writer *writer, uint32_t key, const uint8_t *payload, size_t size) {
  sample *s = sample_new(key, payload, size);
  if (s == NULL)
    return LOOP_NO_MEMORY;
  pthread_mutex_lock(&lock);
  bool accepted = true;
  if (writer->batch_bytes == 0) {
    accepted = send_sample(writer, s);
  } else if (writer->held_bytes + size <= writer->batch_bytes || (accepted = send_batch(writer))) {
    push(&writer->batch, s);
    writer->held_bytes += size;
  }
  writer->counts.timed_out += !accepted;
  pthread_mutex_unlock(&lock);
  if (!accepted)
    free(s);
  return accepted ? LOOP_OK : LOOP_TIMED_OUT;
}

int loop_flush(loop_writer *writer) {
  pthread_mutex_lock(&lock);
  const bool sent = send_batch(writer);
  pthread_mutex_unlock(&lock);
  return sent ? LOOP_OK : LOOP_TIMED_OUT;
}

bool loop_take(loop_reader *reader, uint64_t timeout_ns, loop_callback callback, void *context) {
  entity *r = &reader->base;
  pthread_mutex_lock(&lock);
  if (r->queue.first == NULL && timeout_ns > 0) {
    const struct timespec deadline = after(timeout_ns);
    while (r->queue.first == NULL && pthread_cond_timedwait(&r->changed, &lock, &deadline) != ETIMEDOUT) {
    }
  }
  sample *s = pop(&r->queue);
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&lock);
  if (s == NULL)
    return false;
  callback(context, s->key, s->payload, s->size); /* without the lock: the callback may write */
  free(s);
  return true;
}
