/* SPDX-License-Identifier: Apache-2.0
 *
 * batches.c: samples batched by the driver.
 */
#include "harness.h"

enum { READY = 1, GO, DONE };
enum { SIZE = 200, PER_BATCH = 10 };

static ddsmark_reader *batch_reader(ddsmark_participant *p, const ddsmark_qos *q, uint32_t mode, sequence_check *c) {
  ddsmark_reader_config config = reader_config(q, mode);
  config.max_payload_bytes = SIZE;
  config.batched = 1;
  if (mode == DDSMARK_RECEIVE_LISTENER) {
    config.sink = sequence_sink;
    config.sink_context = c;
  }
  ddsmark_reader *r = NULL;
  OK(d->reader_open(p, &config, &r));
  return r;
}

static ddsmark_writer *batch_writer(ddsmark_participant *p, const ddsmark_qos *q) {
  ddsmark_writer_config config = writer_config(q);
  config.max_payload_bytes = SIZE;
  config.batch_bytes = PER_BATCH * SIZE;
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &config, &w));
  return w;
}

static void write_next(ddsmark_writer *w, uint32_t sequence) {
  uint8_t payload[SIZE];
  payload_fill(payload, sizeof payload, sequence);
  write_for_sure(w, 0, payload, sizeof payload);
}

static uint64_t of_reader(ddsmark_reader *r, uint32_t which) {
  ddsmark_counters c = {.struct_size = sizeof c};
  OK(d->reader_counters(r, &c));
  CHECK(c.valid >> which & 1);
  return c.values[which];
}

/* Takes until `count` samples have arrived. A call stops at `max_samples`, except for the rest of a batch. */
static void take(ddsmark_reader *r, uint32_t mode, sequence_check *c, uint32_t count, uint32_t max_samples) {
  const uint64_t limit = now_ns() + PATIENCE_NS, timeout = mode == DDSMARK_RECEIVE_WAITSET ? 100000000 : 0;
  while (c->received < count) {
    uint32_t taken = 0;
    CHECK(now_ns() < limit);
    if (mode == DDSMARK_RECEIVE_LISTENER)
      sleep_ms(1);
    else
      OK(d->reader_receive(r, timeout, max_samples, sequence_sink, c, &taken));
    CHECK(taken < max_samples + PER_BATCH);
  }
}

/* One topic per mode. Otherwise a new reader could count as matched with the previous writer. */
static void topic_of(uint32_t mode) {
  snprintf(test_topic, sizeof test_topic, "ddsmark_batches_%u_%u", test_domain, mode);
}

typedef struct batches_case {
  const char *transport, *type;
} batches_case;

static ddsmark_participant *open_as(const batches_case *k) {
  const ddsmark_option option = {"type", k->type};
  return participant_with(k->transport, &option, 1);
}

static void batches_child(int fd, const void *argument) {
  ddsmark_participant *p = open_as(argument);
  const ddsmark_qos q = reliable_keep_all(100);
  for (uint32_t mode = DDSMARK_RECEIVE_WAITSET; mode <= DDSMARK_RECEIVE_LISTENER; mode++) {
    sequence_check c = {.size = SIZE};
    topic_of(mode);
    ddsmark_reader *r = batch_reader(p, &q, mode, &c);
    WAIT_UNTIL(matched_writers(r) == 1);
    tell(fd, READY);
    hear_this(fd, GO); /* three samples are written and not flushed */
    uint32_t taken;
    for (int i = 0; i < 4; i++) {
      if (mode != DDSMARK_RECEIVE_LISTENER)
        OK(d->reader_receive(r, 50000000, 64, sequence_sink, &c, &taken));
      sleep_ms(50);
    }
    CHECK_U64(c.received, 0);
    tell(fd, DONE);
    take(r, mode, &c, 3, 1); /* flushed */
    CHECK_U64(c.received, 3);
    tell(fd, DONE);
    take(r, mode, &c, 5003, 64); /* samples without a flush are sent when their batch is full */
    check_sequence(&c, 5003);
    CHECK_U64(of_reader(r, DDSMARK_COUNTER_MALFORMED), 0);
    tell(fd, DONE);
    hear_this(fd, GO);
    OK(d->reader_close(r));
  }
  OK(d->participant_close(p));
}

static void over(const char *transport, const char *type) {
  const batches_case k = {transport, type};
  peer child = fork_peer(batches_child, &k);
  ddsmark_participant *p = open_as(&k);
  const ddsmark_qos q = reliable_keep_all(100);
  setting s;
  for (uint32_t mode = DDSMARK_RECEIVE_WAITSET; mode <= DDSMARK_RECEIVE_LISTENER; mode++) {
    topic_of(mode);
    ddsmark_writer *w = batch_writer(p, &q);
    CHECK(strcmp(writer_setting(w, "batching", &s), "application") == 0);
    CHECK(strcmp(writer_setting(w, "batch_bytes", &s), "2000") == 0);
    WAIT_UNTIL(matched_readers(w) == 1);
    hear_this(child.fd, READY);
    uint32_t n = 0;
    for (; n < 3; n++)
      write_next(w, n);
    tell(child.fd, GO);
    hear_this(child.fd, DONE);
    OK(d->writer_flush(w));
    OK(d->writer_flush(w)); /* without samples */
    hear_this(child.fd, DONE);
    for (; n < 5003; n++)
      write_next(w, n);
    OK(d->writer_wait_acked(w, PATIENCE_NS)); /* flushes */
    hear_this(child.fd, DONE);
    OK(d->writer_close(w));
    tell(child.fd, GO);
  }
  OK(d->participant_close(p));
  join_peer(&child);
}

void test_batches(void) {
  over("udp4", "octets");
}
void test_batches_data_sharing(void) {
  over("data_sharing", "octets");
}
void test_batches_generated(void) {
  over("udp4", "generated");
}
void test_batches_generated_data_sharing(void) {
  over("data_sharing", "generated");
}

/* A rejected batch is kept, and delivered once when there is room again. */
void test_batches_refused(void) {
  ddsmark_participant *p = participant();
  ddsmark_qos q = reliable_keep_all(20);
  q.present |= POLICY(RESOURCE_LIMITS);
  q.max_samples = q.max_samples_per_instance = 2;
  q.max_instances = 1;
  sequence_check c = {.size = SIZE};
  ddsmark_reader *r = batch_reader(p, &q, DDSMARK_RECEIVE_WAITSET, &c);
  ddsmark_writer *w = batch_writer(p, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  uint8_t payload[SIZE];
  /* A full batch is rejected with the sample that would begin the next one. Where the flush then succeeds, the host was
   * busy, and the acknowledgment of an earlier batch late. */
  uint32_t accepted = 0;
  uint64_t rejected = 0;
  for (bool has_room = true; has_room;) {
    payload_fill(payload, sizeof payload, accepted);
    const ddsmark_status status = d->writer_write(w, 0, payload, sizeof payload);
    accepted += status == DDSMARK_OK;
    CHECK(accepted < 1000);
    if (status == DDSMARK_OK)
      continue;
    CHECK(status == DDSMARK_REFUSED || status == DDSMARK_TIMED_OUT);
    CHECK_U64(accepted % PER_BATCH, 0);
    has_room = d->writer_flush(w) == DDSMARK_OK;
    rejected += has_room ? 1 : 2;
  }
  ddsmark_counters counters = {.struct_size = sizeof counters};
  OK(d->writer_counters(w, &counters));
  CHECK_U64(counters.values[DDSMARK_COUNTER_WRITE_REFUSED] + counters.values[DDSMARK_COUNTER_WRITE_TIMED_OUT],
            rejected);
  take(r, DDSMARK_RECEIVE_WAITSET, &c, accepted - PER_BATCH, 64);
  WAIT_UNTIL(d->writer_flush(w) == DDSMARK_OK);
  take(r, DDSMARK_RECEIVE_WAITSET, &c, accepted, 64);
  check_sequence(&c, accepted);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* Samples that are not batches, where batches are expected, are counted and not delivered. */
void test_no_batches(void) {
  ddsmark_participant *p = participant();
  const ddsmark_qos q = reliable_keep_all(100);
  sequence_check c = {.size = SIZE};
  ddsmark_reader *r = batch_reader(p, &q, DDSMARK_RECEIVE_WAITSET, &c);
  ddsmark_writer *w = writer(p, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  for (uint32_t n = 0; n < 5; n++)
    write_next(w, n);
  const uint64_t limit = now_ns() + PATIENCE_NS;
  while (of_reader(r, DDSMARK_COUNTER_MALFORMED) < 5) {
    uint32_t taken;
    CHECK(now_ns() < limit);
    OK(d->reader_receive(r, 1000000, 64, sequence_sink, &c, &taken));
    CHECK_U64(taken, 0);
  }
  CHECK_U64(c.received, 0);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}
