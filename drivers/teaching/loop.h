/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.h: the minimal middleware of the teaching driver: queues in the memory of one process. It is independent of
 * ddsmark. A real driver uses a real middleware instead.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct loop_qos {
  bool reliable;
  bool keep_all;
  bool transient_local; /* a late reader receives the history of the writer */
  int depth;            /* with keep-last */
  uint64_t max_blocking_ns;
} loop_qos;

typedef struct loop_match {
  unsigned count;      /* matched peers */
  uint64_t changed_ns; /* CLOCK_MONOTONIC when one came or went; 0: none did */
} loop_match;

typedef struct loop_counts {
  uint64_t samples, bytes; /* samples and bytes sent */
  uint64_t timed_out;      /* writes that timed out */
} loop_counts;

enum { LOOP_OK, LOOP_TIMED_OUT, LOOP_NO_MEMORY };
enum { LOOP_CAPACITY = 256 /* samples that a queue holds with keep-all */ };

typedef struct loop_writer loop_writer;
typedef struct loop_reader loop_reader;
typedef void (*loop_callback)(void *context, uint32_t key, const uint8_t *payload, size_t size);

/* With batch_bytes above 0 a writer holds samples back until the batch would exceed that size, or until
 * loop_flush(). */
loop_writer *loop_writer_new(uint32_t domain, const char *topic, const loop_qos *qos, uint64_t batch_bytes);
void loop_writer_free(loop_writer *writer);
loop_match loop_writer_matched(loop_writer *writer);
loop_qos loop_writer_qos(const loop_writer *writer);
loop_counts loop_writer_counts(const loop_writer *writer);
int loop_write(loop_writer *writer, uint32_t key, const uint8_t *payload, size_t size);
/* Samples that cannot be sent now remain in the batch. */
int loop_flush(loop_writer *writer);

/* With a callback, the writing thread passes samples to it; otherwise loop_take() gets them. */
loop_reader *loop_reader_new(uint32_t domain, const char *topic, const loop_qos *qos, loop_callback callback,
                             void *context);
void loop_reader_free(loop_reader *reader);
loop_match loop_reader_matched(loop_reader *reader);
loop_qos loop_reader_qos(const loop_reader *reader);
/* Waits for at most timeout_ns for a sample, then calls back with the first of the queue. Returns false if there is
 * none. */
bool loop_take(loop_reader *reader, uint64_t timeout_ns, loop_callback callback, void *context);

#endif
