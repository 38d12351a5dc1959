/* SPDX-License-Identifier: Apache-2.0
 *
 * across.c: across <driver of the writer> <driver of the reader>
 *
 * Two middlewares on one topic, each in a process of its own, over UDP: every sample of every size arrives intact
 * and in order, also with a key.
 *
 * A match on both sides is not enough. A volatile reader of Cyclone DDS drops an incomplete sample, and acknowledges
 * it, when it receives the first heartbeat of its writer. The writer therefore sends greetings until the reader has
 * received one, and waits for their acknowledgement, which takes a heartbeat. All samples after that must arrive.
 */
#include "harness.h"

#include <poll.h>
#include <unistd.h>

enum { READY = 1, GO, DONE };

#define GREETING UINT32_MAX
#define GREETING_SIZE 16

typedef struct heard {
  bool greeted;
  sequence_check rest;
} heard;

typedef struct ends {
  const char *writer, *reader;
} ends;

static ddsmark_participant *over_udp(const char *driver) {
  load(driver);
  return participant_with("udp4", NULL, 0);
}

static void topic_for(int i) {
  snprintf(test_topic, sizeof test_topic, "ddsmark_across_%u_%d", test_domain, i);
}

static void sink(void *context, const ddsmark_sample *sample) {
  heard *h = context;
  if (sample->size == GREETING_SIZE && payload_sequence(sample->payload) == GREETING)
    h->greeted = true;
  else
    sequence_sink(&h->rest, sample);
}

/* Receives until a greeting and `count` samples have arrived. */
static void take_until(ddsmark_reader *r, heard *h, uint32_t count) {
  const uint64_t limit = now_ns() + PATIENCE_NS;
  while (!h->greeted || h->rest.received < count) {
    uint32_t taken;
    CHECK(now_ns() < limit);
    OK(d->reader_receive(r, 100000000, 64, sink, h, &taken));
  }
}

/* Sends a greeting every few milliseconds until the other process reports. */
static void greet(ddsmark_writer *w, uint8_t *payload, int fd) {
  const uint64_t limit = now_ns() + PATIENCE_NS;
  struct pollfd p = {.fd = fd, .events = POLLIN};
  payload_fill(payload, GREETING_SIZE, GREETING);
  do {
    CHECK(now_ns() < limit);
    write_for_sure(w, 7, payload, GREETING_SIZE);
  } while (poll(&p, 1, 5) == 0);
}

static void child(int fd, const void *argument) {
  ddsmark_participant *p = over_udp(((const ends *)argument)->reader);
  const ddsmark_qos q = reliable_keep_all(100);
  for (int i = 0; i < 2 * RECEIVE_SIZES; i++) {
    topic_for(i);
    const uint64_t size = receive_sizes[i / 2];
    ddsmark_reader_config c = reader_config(&q, DDSMARK_RECEIVE_WAITSET);
    c.type_kind = i % 2 ? DDSMARK_TYPE_KEYED : DDSMARK_TYPE_OCTETS;
    c.max_payload_bytes = size;
    heard h = {.rest = {.size = size}};
    ddsmark_reader *r = NULL;
    OK(d->reader_open(p, &c, &r));
    WAIT_UNTIL(matched_writers(r) == 1);
    take_until(r, &h, 0);
    tell(fd, READY);
    take_until(r, &h, receive_counts[i / 2]);
    check_sequence(&h.rest, receive_counts[i / 2]);
    tell(fd, DONE);
    hear_this(fd, GO);
    OK(d->reader_close(r));
  }
  OK(d->participant_close(p));
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s <driver of the writer> <driver of the reader>\n", argv[0]);
    return 2;
  }
  alarm(100);
  test_domain = 1 + (uint32_t)getpid() % 100;
  const ends e = {argv[1], argv[2]};
  peer other = fork_peer(child, &e);
  ddsmark_participant *p = over_udp(e.writer);
  const ddsmark_qos q = reliable_keep_all(100);
  uint8_t *payload = malloc(receive_sizes[RECEIVE_SIZES - 1]);
  for (int i = 0; i < 2 * RECEIVE_SIZES; i++) {
    topic_for(i);
    const uint64_t size = receive_sizes[i / 2];
    ddsmark_writer_config c = writer_config(&q);
    c.type_kind = i % 2 ? DDSMARK_TYPE_KEYED : DDSMARK_TYPE_OCTETS;
    c.max_payload_bytes = size;
    ddsmark_writer *w = NULL;
    OK(d->writer_open(p, &c, &w));
    WAIT_UNTIL(matched_readers(w) == 1);
    greet(w, payload, other.fd);
    hear_this(other.fd, READY);
    OK(d->writer_wait_acked(w, PATIENCE_NS));
    for (uint32_t s = 0; s < receive_counts[i / 2]; s++) {
      payload_fill(payload, size, s);
      write_for_sure(w, 7, payload, size);
    }
    hear_this(other.fd, DONE);
    OK(d->writer_wait_acked(w, PATIENCE_NS));
    OK(d->writer_close(w));
    tell(other.fd, GO);
  }
  free(payload);
  OK(d->participant_close(p));
  join_peer(&other);
  return 0;
}
