/* SPDX-License-Identifier: Apache-2.0
 *
 * receive.c: samples within a process and between two processes; keys.
 */
#include "harness.h"

enum { READY = 1, GO, DONE };
const uint64_t receive_sizes[RECEIVE_SIZES] = {16, 63000, 2000000};
const uint32_t receive_counts[RECEIVE_SIZES] = {3000, 200, 8};

/* -- one writer, one reader, every mode and size ------------------------------------------------------------------- */

ddsmark_reader *mode_reader(ddsmark_participant *p, uint32_t mode, uint64_t size, sequence_check *c) {
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_reader_config config = reader_config(&q, mode);
  config.max_payload_bytes = size + 100; /* more than arrive */
  if (mode == DDSMARK_RECEIVE_LISTENER) {
    config.sink = sequence_sink;
    config.sink_context = c;
  }
  ddsmark_reader *r = NULL;
  OK(d->reader_open(p, &config, &r));
  return r;
}

static ddsmark_participant *case_participant(const receive_case *k) {
  ddsmark_participant_config c = participant_config();
  c.transport = k->transport;
  c.multicast = k->multicast;
  c.options = k->options;
  c.option_count = k->option_count;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  return p;
}

/* One topic per size. Otherwise a new reader could count as matched with the previous writer, whose end its process
 * has not detected yet, and miss the first samples. */
static void case_topic(int i) {
  static char base[sizeof test_topic - 16];
  if (base[0] == '\0')
    snprintf(base, sizeof base, "%.40s", test_topic);
  snprintf(test_topic, sizeof test_topic, "%s_%d", base, i);
}

static void receive_child(int fd, const void *argument) {
  const receive_case *k = argument;
  ddsmark_participant *p = case_participant(k);
  for (int i = 0; i < RECEIVE_SIZES; i++) {
    case_topic(i);
    sequence_check c = {.size = receive_sizes[i]};
    ddsmark_reader *r = mode_reader(p, k->mode, receive_sizes[i], &c);
    WAIT_UNTIL(matched_writers(r) == 1);
    tell(fd, READY);
    receive_all(r, k->mode, &c, receive_counts[i]);
    check_sequence(&c, receive_counts[i]);
    tell(fd, DONE);
    hear_this(fd, GO);
    OK(d->reader_close(r));
  }
  OK(d->participant_close(p));
}

void receive(const receive_case *k) {
  peer child = fork_peer(receive_child, k);
  ddsmark_participant *p = case_participant(k);
  const ddsmark_qos q = reliable_keep_all(100);
  uint8_t *payload = malloc(receive_sizes[RECEIVE_SIZES - 1]);
  for (int i = 0; i < RECEIVE_SIZES; i++) {
    case_topic(i);
    ddsmark_writer_config config = writer_config(&q);
    config.max_payload_bytes = receive_sizes[i];
    ddsmark_writer *w = NULL;
    OK(d->writer_open(p, &config, &w));
    hear_this(child.fd, READY);
    WAIT_UNTIL(matched_readers(w) == 1);
    for (uint32_t s = 0; s < receive_counts[i]; s++) {
      payload_fill(payload, receive_sizes[i], s);
      write_for_sure(w, 0, payload, receive_sizes[i]);
    }
    hear_this(child.fd, DONE);
    OK(d->writer_wait_acked(w, PATIENCE_NS));
    OK(d->writer_close(w));
    tell(child.fd, GO);
  }
  free(payload);
  OK(d->participant_close(p));
  join_peer(&child);
}

/* Timeouts, and the maximum number of samples per call. */
void test_receive_limits(void) {
  ddsmark_participant *p = participant();
  const ddsmark_qos q = reliable_keep_all(1000);
  ddsmark_writer *w = writer(p, &q);
  ddsmark_reader *r = reader(p, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  sequence_check c = {.size = 16};
  uint32_t taken = 99;
  OK(d->reader_receive(r, 0, 10, sequence_sink, &c, &taken));
  CHECK_U64(taken, 0);
  const uint64_t start = now_ns();
  taken = 99;
  OK(d->reader_receive(r, 50000000, 10, sequence_sink, &c, &taken));
  CHECK_U64(taken, 0);
  CHECK(now_ns() - start > 40000000); /* the call waited */
  uint8_t payload[16];
  for (uint32_t s = 0; s < 700; s++) {
    payload_fill(payload, sizeof payload, s);
    OK(d->writer_write(w, 0, payload, sizeof payload));
  }
  OK(d->reader_receive(r, 100000000, 3, sequence_sink, &c, &taken));
  CHECK_U64(taken, 3);
  OK(d->reader_receive(r, 100000000, 600, sequence_sink, &c, &taken)); /* more than one receive call */
  CHECK_U64(taken, 600);
  OK(d->reader_receive(r, 0, 600, sequence_sink, &c, &taken));
  CHECK_U64(taken, 97);
  check_sequence(&c, 700);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* -- keys ---------------------------------------------------------------------------------------------------------- */

typedef struct key_check {
  uint32_t received, wrong, by_key[4];
} key_check;

static void key_sink(void *context, const ddsmark_sample *sample) {
  key_check *c = context;
  c->received++;
  if (sample->key < 100 || sample->key >= 104 || sample->size != 40 ||
      !payload_intact(sample->payload, sample->size, sample->key * 1000 + c->by_key[sample->key - 100]))
    c->wrong++;
  else
    c->by_key[sample->key - 100]++;
}

static void key_child(int fd, const void *argument) {
  (void)argument;
  ddsmark_participant *p = participant();
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_reader_config config = reader_config(&q, DDSMARK_RECEIVE_WAITSET);
  config.type_kind = DDSMARK_TYPE_KEYED;
  config.max_payload_bytes = 64;
  ddsmark_reader *r = NULL;
  OK(d->reader_open(p, &config, &r));
  WAIT_UNTIL(matched_writers(r) == 1);
  tell(fd, READY);
  key_check c = {0};
  uint32_t taken;
  const uint64_t limit = now_ns() + PATIENCE_NS;
  while (c.received < 400) {
    CHECK(now_ns() < limit);
    OK(d->reader_receive(r, 100000000, 50, key_sink, &c, &taken));
  }
  /* Disposing and unregistering yield no sample; a sample written after them arrives. */
  tell(fd, DONE);
  while (c.received < 401) {
    CHECK(now_ns() < limit);
    OK(d->reader_receive(r, 100000000, 50, key_sink, &c, &taken));
  }
  CHECK_U64(c.wrong, 0);
  CHECK_U64(c.by_key[0], 101);
  CHECK_U64(c.by_key[1], 100);
  CHECK_U64(c.by_key[2], 100);
  CHECK_U64(c.by_key[3], 100);
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

void test_keys(void) {
  peer child = fork_peer(key_child, NULL);
  ddsmark_participant *p = participant();
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer_config config = writer_config(&q);
  config.type_kind = DDSMARK_TYPE_KEYED;
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &config, &w));
  WAIT_UNTIL(matched_readers(w) == 1);
  hear_this(child.fd, READY);
  uint8_t payload[40];
  for (uint32_t i = 0; i < 400; i++) {
    const uint32_t key = 100 + i % 4;
    payload_fill(payload, sizeof payload, key * 1000 + i / 4);
    write_for_sure(w, key, payload, sizeof payload);
  }
  hear_this(child.fd, DONE);
  OK(d->writer_dispose(w, 100));
  OK(d->writer_unregister(w, 101));
  payload_fill(payload, sizeof payload, 100 * 1000 + 100);
  write_for_sure(w, 100, payload, sizeof payload);
  join_peer(&child);
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}
