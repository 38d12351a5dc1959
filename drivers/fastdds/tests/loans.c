/* SPDX-License-Identifier: Apache-2.0
 *
 * loans.c: samples of one size, loaned by the writer to be filled and by the reader to be read.
 */
#include "harness.h"

#define SIZE 5000u
#define SAMPLES 200u
enum { READY = 1, DONE };

static ddsmark_participant *open_over(const char *transport, bool plain) {
  const ddsmark_option option = {"plain", "true"};
  return participant_with(transport, &option, plain);
}

typedef struct lent {
  ddsmark_reader *reader;
  sequence_check sequence;
  uint32_t overwritten;
} lent;

static void lent_sink(void *context, const ddsmark_sample *sample) {
  lent *l = context;
  sequence_sink(&l->sequence, sample);
  l->overwritten += d->reader_sample_intact(l->reader, sample) != 1;
}

typedef struct plain_case {
  const char *transport;
  bool as_octets;
} plain_case;

static void child(int fd, const void *argument) {
  const plain_case *k = argument;
  ddsmark_participant *p = open_over(k->transport, k->as_octets);
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_reader_config c = reader_config(&q, DDSMARK_RECEIVE_WAITSET);
  c.type_kind = k->as_octets ? DDSMARK_TYPE_OCTETS : DDSMARK_TYPE_PLAIN;
  c.max_payload_bytes = SIZE;
  lent l = {.sequence.size = SIZE};
  OK(d->reader_open(p, &c, &l.reader));
  WAIT_UNTIL(matched_writers(l.reader) == 1);
  tell(fd, READY);
  const uint64_t limit = now_ns() + PATIENCE_NS;
  while (l.sequence.received < SAMPLES) {
    uint32_t taken;
    CHECK(now_ns() < limit);
    OK(d->reader_receive(l.reader, 100000000, 7, lent_sink, &l, &taken));
    CHECK(taken <= 7);
  }
  check_sequence(&l.sequence, SAMPLES);
  CHECK_U64(l.overwritten, 0);
  tell(fd, DONE);
  OK(d->reader_close(l.reader));
  OK(d->participant_close(p));
}

static void plain(const plain_case *k) {
  peer other = fork_peer(child, k);
  ddsmark_participant *p = open_over(k->transport, k->as_octets);
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer_config c = writer_config(&q);
  c.type_kind = k->as_octets ? DDSMARK_TYPE_OCTETS : DDSMARK_TYPE_PLAIN;
  c.max_payload_bytes = SIZE;
  c.loans = !k->as_octets;
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &c, &w));
  WAIT_UNTIL(matched_readers(w) == 1);
  hear_this(other.fd, READY);
  uint8_t payload[SIZE];
  for (uint32_t s = 0; s < SAMPLES; s++) {
    if (k->as_octets) {
      payload_fill(payload, SIZE, s);
      write_for_sure(w, 0, payload, SIZE);
      continue;
    }
    uint8_t *loan = NULL;
    WAIT_UNTIL(d->writer_loan(w, SIZE, &loan) == DDSMARK_OK);
    payload_fill(loan, SIZE, s);
    WAIT_UNTIL(d->writer_publish(w, 0, loan, SIZE) == DDSMARK_OK);
  }
  hear_this(other.fd, DONE);
  CHECK_FAILS(d->writer_write(w, 0, payload, SIZE - 1), DDSMARK_BAD_ARGUMENT, "plain");
  join_peer(&other);
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

void test_loans_udp4(void) {
  plain(&(plain_case){"udp4", false});
}
void test_loans_shm(void) {
  plain(&(plain_case){"shm", false});
}
void test_loans_data_sharing(void) {
  plain(&(plain_case){"data_sharing", false});
}
void test_octets_as_plain_shm(void) {
  plain(&(plain_case){"shm", true});
}
void test_octets_as_plain_data_sharing(void) {
  plain(&(plain_case){"data_sharing", true});
}
